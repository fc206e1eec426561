//! What a pod asks for, read from its claims in any API version.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::object::Object;
use crate::report::claims::{self, Entry};

use super::phrase::{Phrase, counted, some_of};
use super::reasons::how;

/// How many names a sentence shows.
const SHOWN: usize = 3;

/// One claim of the pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Need {
    /// The pod's name for it.
    pub name: String,
    /// The object as `namespace/name`, if its name is known.
    pub claim: Option<String>,
    /// Template that it is generated from.
    pub template: Option<String>,
    /// Whether claim, and template if there is no claim yet, exist.
    pub exists: bool,
    /// What is asked for.
    pub requests: Vec<RequestNeed>,
    /// What ties the devices together.
    pub constraints: Vec<ConstraintNeed>,
}

/// One request, or one alternative of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestNeed {
    /// Name; `parent/name` for an alternative.
    pub name: String,
    /// Class.
    pub class: String,
    /// How many; null for all that match.
    pub count: Option<u64>,
    /// Whether devices in use will do as well.
    pub admin_access: bool,
    /// Expressions.
    pub selectors: Vec<String>,
}

/// One constraint.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConstraintNeed {
    /// Attribute.
    pub attribute: String,
    /// Values must differ, not be the same.
    pub distinct: bool,
    /// Requests that it covers; all if empty.
    pub requests: Vec<String>,
}

/// The claims of a pod.
pub fn of(pod: &Object, cluster: &Cluster) -> Vec<Need> {
    claims::entries_of(pod, cluster)
        .into_iter()
        .map(|entry| need(pod, &entry))
        .collect()
}

fn need(pod: &Object, entry: &Entry<'_>) -> Need {
    let devices = entry.object.and_then(|object| {
        ["/spec/devices", "/spec/spec/devices"]
            .iter()
            .find_map(|path| object.value().pointer(path))
    });
    let list = |key: &str| {
        let list = devices.and_then(|devices| devices.get(key)?.as_array());
        list.map_or(&[][..], Vec::as_slice)
    };
    Need {
        name: entry.name.clone(),
        claim: entry
            .claim
            .as_ref()
            .map(|name| format!("{}/{name}", pod.id().namespace)),
        template: entry.template.clone(),
        exists: entry.object.is_some(),
        requests: list("requests").iter().flat_map(requests).collect(),
        constraints: list("constraints").iter().map(constraint).collect(),
    }
}

fn requests(request: &Value) -> Vec<RequestNeed> {
    let name = text(request, "name");
    if let Some(alternatives) = request.get("firstAvailable").and_then(Value::as_array) {
        let each = alternatives.iter();
        return each
            .map(|one| form(format!("{name}/{}", text(one, "name")), one))
            .collect();
    }
    vec![form(name, request.get("exactly").unwrap_or(request))]
}

fn form(name: String, form: &Value) -> RequestNeed {
    let all = text(form, "allocationMode") == "All";
    let selectors = form.get("selectors").and_then(Value::as_array);
    let expressions = selectors
        .into_iter()
        .flatten()
        .filter_map(|selector| selector.pointer("/cel/expression")?.as_str());
    RequestNeed {
        name,
        class: text(form, "deviceClassName"),
        count: (!all).then(|| form.get("count").and_then(Value::as_u64).unwrap_or(1)),
        admin_access: form.get("adminAccess").and_then(Value::as_bool) == Some(true),
        selectors: expressions.map(str::to_owned).collect(),
    }
}

fn constraint(constraint: &Value) -> ConstraintNeed {
    let requests = constraint.get("requests").and_then(Value::as_array);
    let requests = requests.into_iter().flatten().filter_map(Value::as_str);
    let distinct = constraint.get("distinctAttribute").and_then(Value::as_str);
    let attribute = distinct.map_or_else(|| text(constraint, "matchAttribute"), str::to_owned);
    ConstraintNeed {
        attribute,
        distinct: distinct.is_some(),
        requests: requests.map(str::to_owned).collect(),
    }
}

fn text(value: &Value, key: &str) -> String {
    let text = value.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// All of it in words: `2 devices of class gpu.example.com with equal model on one node`.
pub fn sentence(needs: &[Need]) -> Option<String> {
    let claims: Vec<String> = needs.iter().filter_map(of_claim).collect();
    let known = needs.iter().any(|need| !need.requests.is_empty());
    known.then(|| join(&claims, ", and "))
}

fn of_claim(need: &Need) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(request) = need.requests.get(at) {
        let parent = request.name.split_once('/').map(|(parent, _)| parent);
        let same = |other: &&RequestNeed| {
            parent.is_some() && other.name.split_once('/').map(|(parent, _)| parent) == parent
        };
        let others = need.requests[at + 1..].iter().take_while(same).count();
        let forms = need.requests[at..=at + others].iter().map(devices);
        let forms = forms.collect::<Vec<_>>().join(" or else ");
        let is_one_of_several = others > 0 && others + 1 < need.requests.len();
        parts.push(match is_one_of_several {
            true => format!("({forms})"),
            false => forms,
        });
        at += 1 + others;
    }
    let devices = match parts.as_slice() {
        [] => return None,
        // Ten equal requests are ten of the same.
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|part| part == first) => {
            format!("{} times {first}", parts.len())
        }
        parts => join(parts, " and "),
    };
    let constraints = need.constraints.iter().map(|one| tie(need, one));
    let constraints: Vec<String> = constraints.collect();
    Some(match constraints.is_empty() {
        true => devices,
        false => format!("{devices} with {}", join(&constraints, " and ")),
    })
}

/// `equal example.com/root of a and b`
pub fn tie(need: &Need, constraint: &ConstraintNeed) -> String {
    let of = format!("{} {}", how(constraint.distinct), constraint.attribute);
    of + &covered(need, constraint)
}

/// Which requests a constraint covers, if not all of them.
fn covered(need: &Need, constraint: &ConstraintNeed) -> String {
    let covers = |request: &RequestNeed| {
        let parent = request.name.split('/').next();
        let mut names = constraint.requests.iter();
        names.any(|name| *name == request.name || parent == Some(name))
    };
    let all = need.requests.iter().all(covers);
    let any = need.requests.iter().any(covers);
    match (all || constraint.requests.is_empty(), any) {
        (true, _) => String::new(),
        (false, true) => format!(" of {}", join(&constraint.requests, " and ")),
        (false, false) => format!(
            " of {}, which is no request of the claim (it has {})",
            join(&constraint.requests, " and "),
            some_of(&names(need), SHOWN, need.requests.len())
        ),
    }
}

fn names(need: &Need) -> Vec<&str> {
    let names = need.requests.iter().map(|request| request.name.as_str());
    names.collect()
}

/// The same in a few words: how many requests, in how many claims.
pub fn in_short(needs: &[Need]) -> String {
    let parents = |need: &Need| {
        let names = need.requests.iter().map(|one| one.name.split('/').next());
        names.collect::<BTreeSet<_>>().len()
    };
    let requests = needs.iter().map(parents).sum::<usize>();
    let classes = needs.iter().flat_map(|need| &need.requests);
    let classes: BTreeSet<&str> = classes.map(|one| one.class.as_str()).collect();
    let classes: Vec<&str> = classes.into_iter().collect();
    let claims = match needs.len() {
        1 => String::new(),
        count => format!(" in {count} claims"),
    };
    format!(
        "devices of class {} for {}{claims}",
        some_of(&classes, SHOWN, classes.len()),
        counted(requests as u64, "request", "requests"),
    )
}

fn devices(request: &RequestNeed) -> String {
    let what = match request.count {
        Some(count) => counted(count, "device", "devices"),
        None => "all devices".to_owned(),
    };
    let admin = if request.admin_access {
        " (admin access)"
    } else {
        ""
    };
    match request.class.as_str() {
        "" => format!("{what}{admin}"),
        class => format!("{what} of class {class}{admin}"),
    }
}

/// The same with a comma where there are more than two.
pub fn join(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{}{last}{end}", first.join(", ")),
    }
}

/// What is missing of claims before anybody looks at nodes.
pub fn missing(need: &Need) -> Option<Phrase> {
    if need.exists {
        return None;
    }
    Some(match (&need.template, &need.claim) {
        (Some(template), None) => Phrase::of(format!(
            "the claim {} does not exist yet: ResourceClaimTemplate {template} is not there to make it from",
            need.name
        )),
        (_, Some(claim)) => Phrase::of(format!("ResourceClaim {claim} does not exist")),
        (None, None) => Phrase::of(format!(
            "its entry {} names neither a claim nor a template",
            need.name
        )),
    })
}
