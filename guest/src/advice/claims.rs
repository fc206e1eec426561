//! What a claim, a template or a class says, against the API's rules and the other objects: names, limits, counts,
//! constraints, classes.

use std::collections::BTreeSet;

use super::findings::{About, some_of};
use super::published::Published;
use crate::api::{
    ApiVersion, DeviceConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector, ExactRequest,
    RequestBody, ResourceClaim,
};
use crate::nearest::{meant, meant_qualified};

/// Most requests, and most of several other lists, of a claim.
const MOST_OF_CLAIM: usize = 32;
const MOST_SELECTORS: usize = 32;
const MOST_TOLERATIONS: usize = 16;
/// Longest label, and with it longest name of a request or device.
pub(super) const LONGEST_LABEL: usize = 63;
/// Longest CEL expression in bytes.
pub(super) const LONGEST_EXPRESSION: usize = 10 << 10;
/// Longest name of an attribute within its domain.
pub(super) const LONGEST_ID: usize = 32;

/// What claims are compared with.
pub(super) struct Surroundings<'a> {
    pub published: &'a Published,
    pub classes: BTreeSet<&'a str>,
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
    around: &Surroundings<'_>,
    about: &mut About<'_>,
) {
    let devices = format!("{root}.devices");
    let lists = [
        ("requests", claim.requests.len()),
        ("constraints", claim.constraints.len()),
        ("config", claim.config.len()),
    ];
    for (list, length) in lists {
        about.at_most(&format!("{devices}.{list}"), list, length, MOST_OF_CLAIM);
    }
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
    let known = known_names(&claim.requests);
    for (i, constraint) in claim.constraints.iter().enumerate() {
        let path = format!("{devices}.constraints[{i}]");
        requests_exist(&constraint.requests, &known, &path, about);
        self::constraint(constraint, &path, around.published, about);
    }
    for (i, config) in claim.config.iter().enumerate() {
        let path = format!("{devices}.config[{i}]");
        requests_exist(&config.requests, &known, &path, about);
        self::config(config, &path, about);
    }
}

/// A class by itself.
pub(super) fn class(
    selectors: &[DeviceSelector],
    config: &[DeviceConfiguration],
    about: &mut About<'_>,
) {
    self::selectors(selectors, "spec", about);
    about.at_most("spec.config", "config entries", config.len(), MOST_OF_CLAIM);
    for (i, config) in config.iter().enumerate() {
        self::config(config, &format!("spec.config[{i}]"), about);
    }
}

fn names(requests: &[DeviceRequest], devices: &str, about: &mut About<'_>) {
    let mut seen = BTreeSet::new();
    for (i, request) in requests.iter().enumerate() {
        let path = format!("{devices}.requests[{i}]");
        name(&request.name, &path, &mut seen, about);
        if let RequestBody::FirstAvailable(alternatives) = &request.body {
            if alternatives.is_empty() {
                about.lacking(
                    &path,
                    "the request asks for nothing",
                    "add exactly or firstAvailable",
                );
            }
            let mut seen = BTreeSet::new();
            for (j, (alternative, _)) in alternatives.iter().enumerate() {
                name(
                    alternative,
                    &format!("{path}.firstAvailable[{j}]"),
                    &mut seen,
                    about,
                );
            }
        }
    }
}

fn name<'a>(name: &'a str, path: &str, seen: &mut BTreeSet<&'a str>, about: &mut About<'_>) {
    let path = format!("{path}.name");
    if name.is_empty() {
        about.lacking(
            path,
            "the request has no name",
            "give it one that is unique in its list",
        );
    } else if !seen.insert(name) {
        about.error(
            path,
            format!("the name {name:?} is used twice"),
            "give each request a name of its own",
        );
    } else if !is_label(name) {
        about.error(
            path,
            format!("{name:?} is not a DNS label"),
            "use at most 63 lower case letters, digits and dashes",
        );
    }
}

/// RFC 1123.
pub(super) fn is_label(name: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !name.is_empty()
        && name.len() <= LONGEST_LABEL
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn exact(place: &Place<'_>, about: &mut About<'_>) {
    let Place { path, exact } = place;
    selectors(&exact.selectors, path, about);
    about.at_most(
        &format!("{path}.tolerations"),
        "tolerations",
        exact.tolerations.len(),
        MOST_TOLERATIONS,
    );
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
    if around.classes.contains(name) {
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
        false => about.hint(
            path,
            format!("{message} in the input"),
            "add the classes of the cluster to the input",
        ),
    }
}

fn selectors(selectors: &[DeviceSelector], path: &str, about: &mut About<'_>) {
    about.at_most(
        &format!("{path}.selectors"),
        "selectors",
        selectors.len(),
        MOST_SELECTORS,
    );
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
            Some(text) => about.at_most(
                &format!("{path}.expression"),
                "bytes",
                text.len(),
                LONGEST_EXPRESSION,
            ),
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
        }
    }
    known
}

fn requests_exist(names: &[String], known: &BTreeSet<String>, path: &str, about: &mut About<'_>) {
    about.at_most(
        &format!("{path}.requests"),
        "requests",
        names.len(),
        MOST_OF_CLAIM,
    );
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
    published: &Published,
    about: &mut About<'_>,
) {
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
    if let Some(unknown) = published.unknown(false, domain, Some(id)) {
        about.warning(path, unknown.message, unknown.remedy);
    }
}

fn config(config: &DeviceConfiguration, path: &str, about: &mut About<'_>) {
    let Some(opaque) = &config.opaque else {
        return about.lacking(
            path,
            "the entry configures nothing",
            "add opaque with driver and parameters, or remove it",
        );
    };
    if opaque
        .get("driver")
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
        .is_empty()
    {
        about.lacking(
            format!("{path}.opaque.driver"),
            "the configuration is for no driver",
            "name the driver that reads it",
        );
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
