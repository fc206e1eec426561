//! What a claim, a template or a class says, against the API's rules and the other objects: names, limits, counts,
//! constraints, classes.

use std::collections::BTreeSet;

use super::Severity;
use super::findings::{About, some_of};
use super::limits::MOST_OF_CLAIM;
use super::names::Syntax;
use super::pools::Gaps;
use super::published::Published;
use crate::api::{
    ApiVersion, DeviceClass, DeviceConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector,
    ExactRequest, RequestBody, ResourceClaim,
};
use crate::nearest::{meant, meant_qualified};

/// What claims are compared with.
pub(super) struct Surroundings<'a> {
    pub published: &'a Published,
    pub gaps: &'a Gaps<'a>,
    pub classes: BTreeSet<&'a str>,
    /// Those that some selector names.
    pub drivers: BTreeSet<String>,
    /// There are nodes or slices, which nobody writes by hand: the dump of a cluster, whose classes are all there. Manifests
    /// use classes that other packages bring.
    pub is_cluster: bool,
}

/// A request for devices of one class, and where it stands.
pub(super) struct Place<'a> {
    pub path: String,
    pub exact: &'a ExactRequest,
}

/// All requests for one class, with their paths; `root` is `spec` or, in a template, `spec.spec`.
pub(super) fn places<'a>(claim: &'a ResourceClaim, root: &str) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    for (i, request) in claim.requests.iter().enumerate() {
        let path = format!("{root}.devices.requests[{i}]");
        match &request.body {
            RequestBody::Exactly(exact) => places.push(Place {
                path: match claim.version {
                    ApiVersion::V1Alpha3 | ApiVersion::V1Beta1 => path,
                    ApiVersion::V1Beta2 | ApiVersion::V1 => format!("{path}.exactly"),
                },
                exact,
            }),
            RequestBody::FirstAvailable(alternatives) => {
                let alternatives = alternatives.iter().enumerate();
                places.extend(alternatives.map(|(j, (_, exact))| Place {
                    path: format!("{path}.firstAvailable[{j}]"),
                    exact,
                }));
            }
        }
    }
    places
}

/// Everything but the selectors' meaning.
pub(super) fn check(
    claim: &ResourceClaim,
    root: &str,
    is_waiting: bool,
    around: &Surroundings<'_>,
    about: &mut About<'_>,
) {
    let devices = format!("{root}.devices");
    if claim.requests.is_empty() && claim.controller.is_empty() {
        about.lacking_perhaps(
            format!("{devices}.requests"),
            "the claim requests nothing",
            "add a request, or remove the claim",
        );
    }
    names(&claim.requests, &devices, about);
    for place in places(claim, root) {
        // What is allocated stays so, whatever became of the class.
        if claim.allocation.is_none() {
            class_exists(place.exact, &place.path, around, about);
        }
        exact(&place, about);
    }
    devices_in_all(&claim.requests, &devices, about);
    let known = known_names(&claim.requests);
    for (i, constraint) in claim.constraints.iter().enumerate() {
        let path = format!("{devices}.constraints[{i}]");
        requests_exist(&constraint.requests, &known, &path, about);
        self::constraint(constraint, &path, is_waiting, around, about);
    }
    for (i, config) in claim.config.iter().enumerate() {
        let path = format!("{devices}.config[{i}]");
        requests_exist(&config.requests, &known, &path, about);
        self::config(config, &path, around, about);
    }
}

/// A class by itself.
pub(super) fn class(class: &DeviceClass, around: &Surroundings<'_>, about: &mut About<'_>) {
    self::selectors(&class.selectors, "spec", about);
    for (i, config) in class.config.iter().enumerate() {
        self::config(config, &format!("spec.config[{i}]"), around, about);
    }
}

fn names(requests: &[DeviceRequest], devices: &str, about: &mut About<'_>) {
    let mut name = |name: &str, path: &str| {
        if name.is_empty() {
            about.lacking(
                format!("{path}.name"),
                "the request has no name",
                "give it one that is unique in its list",
            );
        }
    };
    for (i, request) in requests.iter().enumerate() {
        let path = format!("{devices}.requests[{i}]");
        name(&request.name, &path);
        if let RequestBody::FirstAvailable(alternatives) = &request.body {
            for (j, (alternative, _)) in alternatives.iter().enumerate() {
                name(alternative, &format!("{path}.firstAvailable[{j}]"));
            }
        }
    }
    for (i, request) in requests.iter().enumerate() {
        if matches!(&request.body, RequestBody::FirstAvailable(list) if list.is_empty()) {
            about.lacking(
                format!("{devices}.requests[{i}]"),
                "the request asks for nothing",
                "add exactly or firstAvailable",
            );
        }
    }
}

/// Requests that are small each and too many together.
fn devices_in_all(requests: &[DeviceRequest], devices: &str, about: &mut About<'_>) {
    // How many devices a request for all of them gets depends on the node.
    let least = |exact: &ExactRequest| match (exact.allocation_mode.as_str(), exact.count) {
        ("All", _) => 0,
        (_, count) => usize::try_from(count).unwrap_or_default().max(1),
    };
    let each = requests.iter().map(|request| match &request.body {
        RequestBody::Exactly(exact) => least(exact),
        RequestBody::FirstAvailable(alternatives) => {
            let alternatives = alternatives.iter().map(|(_, exact)| least(exact));
            alternatives.min().unwrap_or_default()
        }
    });
    let each: Vec<usize> = each.collect();
    let all: usize = each.iter().sum();
    // One that is too large by itself, or too many requests, were told.
    let is_told = each.len() > MOST_OF_CLAIM || each.iter().any(|one| *one > MOST_OF_CLAIM);
    if all > MOST_OF_CLAIM && !is_told {
        about.error(
            format!("{devices}.requests"),
            format!(
                "the requests ask for {all} devices together, at most {MOST_OF_CLAIM} are allocated for a claim"
            ),
            "ask for fewer, or use several claims",
        );
    }
}

fn exact(place: &Place<'_>, about: &mut About<'_>) {
    let Place { path, exact } = place;
    selectors(&exact.selectors, path, about);
    match exact.allocation_mode.as_str() {
        "" | "ExactCount" if exact.count < 0 => about.error(
            format!("{path}.count"),
            format!("the count is {}", exact.count),
            "ask for at least one device",
        ),
        "" | "ExactCount" => about.at_most(
            &format!("{path}.count"),
            "devices",
            usize::try_from(exact.count).unwrap_or(usize::MAX),
            MOST_OF_CLAIM,
            "ask for fewer, or use several claims",
        ),
        "All" if exact.count != 0 => about.error(
            format!("{path}.count"),
            "a request for all devices has no count",
            "remove count, or use the allocation mode ExactCount",
        ),
        "All" => {}
        other => about.error(
            format!("{path}.allocationMode"),
            format!("unknown allocation mode {other:?}"),
            "use ExactCount or All",
        ),
    }
}

fn class_exists(
    exact: &ExactRequest,
    path: &str,
    around: &Surroundings<'_>,
    about: &mut About<'_>,
) {
    let path = format!("{path}.deviceClassName");
    let name = exact.device_class_name.as_str();
    if name.is_empty() {
        return about.lacking(
            path,
            "the request names no device class",
            "set deviceClassName",
        );
    }
    // That it is no name is told by itself.
    if around.classes.contains(name) || Syntax::Subdomain.wrong(name).is_some() {
        return;
    }
    let classes = || around.classes.iter().copied();
    let nearest = meant_qualified(name, classes());
    let remedy = match nearest {
        Some(nearest) => format!("did you mean {nearest:?}?"),
        None if around.classes.is_empty() => {
            "create it, or install the driver that brings it".to_owned()
        }
        None => format!("create it, or use one of {}", some_of(classes())),
    };
    let message = format!("there is no DeviceClass {name:?}");
    match around.is_cluster || nearest.is_some() {
        true => about.error(path, message, remedy),
        false => about.once(
            Severity::Hint,
            path,
            format!("{message} in the input"),
            "add the classes of the cluster to the input",
        ),
    }
}

fn selectors(selectors: &[DeviceSelector], path: &str, about: &mut About<'_>) {
    for (i, selector) in selectors.iter().enumerate() {
        let path = format!("{path}.selectors[{i}].cel");
        match &selector.cel {
            None => about.lacking(
                path,
                "the selector has no content: cel is missing or null",
                "write the expression below cel.expression",
            ),
            Some(text) if text.is_empty() => about.lacking(
                format!("{path}.expression"),
                "the expression is empty",
                "write one that is true for the devices wanted, or remove the selector",
            ),
            Some(_) => {}
        }
    }
}

/// Names by which constraints and config may refer to requests.
pub(super) fn known_names(requests: &[DeviceRequest]) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for request in requests {
        known.insert(request.name.clone());
        if let RequestBody::FirstAvailable(alternatives) = &request.body {
            let full = |(name, _): &(String, ExactRequest)| format!("{}/{name}", request.name);
            known.extend(alternatives.iter().map(full));
            // Alternatives that are missing have names that nobody knows.
            if alternatives.is_empty() {
                known.insert(String::new());
            }
        }
    }
    known
}

/// Whether there are requests, and all have names that others can refer to.
pub(super) fn are_sound(known: &BTreeSet<String>) -> bool {
    let is_name = |name: &str| !name.is_empty() && Syntax::Label.wrong(name).is_none();
    !known.is_empty() && known.iter().all(|name| name.split('/').all(is_name))
}

fn requests_exist(names: &[String], known: &BTreeSet<String>, path: &str, about: &mut About<'_>) {
    // A list that is misspelt, and names that are none, are told at their own place.
    if !are_sound(known) {
        return;
    }
    for (i, name) in names.iter().enumerate() {
        if !known.contains(name) {
            let remedy = match meant(name, known.iter().map(String::as_str)) {
                Some(nearest) => format!("did you mean {nearest:?}?"),
                None => format!("the claim's requests are {}", some_of(known)),
            };
            let message = format!("the claim has no request {name:?}");
            about.error(format!("{path}.requests[{i}]"), message, remedy);
        }
    }
}

fn constraint(
    constraint: &DeviceConstraint,
    path: &str,
    is_waiting: bool,
    around: &Surroundings<'_>,
    about: &mut About<'_>,
) {
    let published = around.published;
    let (field, attribute) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
        (Some(attribute), _) => ("matchAttribute", attribute),
        (None, Some(attribute)) => ("distinctAttribute", attribute),
        (None, None) => {
            return about.lacking(
                path,
                "the constraint says nothing",
                "set matchAttribute to the qualified name of an attribute, or remove it",
            );
        }
    };
    let path = format!("{path}.{field}");
    let Some((domain, id)) = attribute.split_once('/') else {
        let remedy = match published.domains_of(attribute).first() {
            Some(domain) => format!("write {domain}/{attribute}"),
            None => format!("put the domain in front, for example DRIVER/{attribute}"),
        };
        let message = format!("the name {attribute:?} has no domain");
        return about.error(path, message, remedy);
    };
    if let Some((message, remedy)) = Syntax::FullAttribute.wrong(attribute) {
        return about.error(path, message, remedy);
    }
    let Some(unknown) = published.unknown(false, domain, Some(id)) else {
        return;
    };
    let drivers = BTreeSet::from([domain.to_owned()]);
    if around.gaps.hide(&drivers)
        || around.gaps.hidden().next().is_some() && !published.knows(domain)
    {
        return;
    }
    // An alternative that cannot be had leaves the others.
    let is_strict = constraint.requests.iter().all(|name| !name.contains('/'));
    let is_slip = unknown.is_slip || published.knows(domain);
    let is_hopeless = is_waiting && is_slip && !around.gaps.concern(&drivers);
    match (is_strict && is_hopeless, is_slip) {
        (true, _) => about.error(path, unknown.message, unknown.remedy),
        (false, true) => about.warning(path, unknown.message, unknown.remedy),
        // Devices of another driver, which the input does not show.
        (false, false) => about.hint(path, unknown.message, unknown.remedy),
    }
}

fn config(
    config: &DeviceConfiguration,
    path: &str,
    around: &Surroundings<'_>,
    about: &mut About<'_>,
) {
    let Some(opaque) = &config.opaque else {
        return about.lacking(
            path,
            "the entry configures nothing",
            "add opaque with driver and parameters, or remove it",
        );
    };
    let driver = opaque.get("driver").and_then(serde_json::Value::as_str);
    match driver.unwrap_or_default() {
        "" => about.lacking(
            format!("{path}.opaque.driver"),
            "the configuration is for no driver",
            "name the driver that reads it",
        ),
        driver => driver_exists(driver, format!("{path}.opaque.driver"), around, about),
    }
    match opaque.get("parameters") {
        Some(serde_json::Value::Object(_)) => {}
        _ => about.lacking(
            format!("{path}.opaque.parameters"),
            "the parameters are no object",
            "write the driver's parameters as an object",
        ),
    }
}

/// A driver that nobody publishes devices of and that no selector names reads no configuration.
fn driver_exists(driver: &str, path: String, around: &Surroundings<'_>, about: &mut About<'_>) {
    let published = &around.published.drivers;
    let known = || published.iter().chain(&around.drivers).map(String::as_str);
    let mut hidden = around.gaps.hidden();
    if known().any(|known| known == driver)
        || hidden.any(|hidden| hidden.is_empty() || hidden == driver)
    {
        return;
    }
    let message = format!(
        "no slice is of the driver {driver:?}, and no selector names it: nobody reads this"
    );
    match meant_qualified(driver, known()) {
        Some(nearest) => about.warning(path, message, format!("did you mean {nearest:?}?")),
        None if published.is_empty() => {}
        None => about.hint(
            path,
            message,
            format!("drivers that publish are {}", some_of(published)),
        ),
    }
}
