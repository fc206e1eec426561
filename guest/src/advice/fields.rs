//! What can be said of an object from its keys alone, and why it cannot be read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::findings::{About, Findings, count, parent};
use super::limits;
use super::reader_remedies::{at, remedy_for};
use crate::api::wire::{self, Belongs, Problem, Stray};
use crate::host::{Object, kinds};
use crate::profile::{Feature, Profile};

/// Keys that the object's version does not have; the same slip in many entries of a list is told once.
pub(super) fn check(
    object: &Object,
    problem: Option<&Problem>,
    profile: &Profile,
    findings: &mut Findings,
) {
    let kind = object.id.kind.split('.').next().unwrap_or_default();
    let value = serde_json::from_slice::<Value>(&object.json).unwrap_or_default();
    let strays = wire::strays(kind, &value);
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for stray in &strays {
        *alike.entry(without_indexes(&stray.path)).or_default() += 1;
    }
    let version = value
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut about = findings.about(&object.id);
    for stray in &strays {
        let Some(number) = alike.remove(&without_indexes(&stray.path)) else {
            continue;
        };
        let (is_sure, mut message, remedy) = describe(stray, version);
        if number > 1 {
            message.push_str(&format!(
                " (as in {} of this object)",
                count(number - 1, "other place")
            ));
        }
        match is_sure {
            true => about.error(&stray.path, message, remedy),
            false => about.warning(&stray.path, message, remedy),
        }
    }
    excuse(&strays, &value, &mut about);
    limits::check(&object.id.kind, &value, &mut about);
    served(&object.id.kind, version, profile, &mut about);
    // The reader complains about some of these keys too.
    let told = |problem: &&Problem| {
        let is_misspelt = |stray: &Stray| match stray.belongs {
            Belongs::Spelled(right, _) => problem.message.contains(right),
            _ => false,
        };
        problem.message.starts_with("unknown field")
            || strays.iter().any(is_misspelt)
            || strays.iter().any(|stray| {
                stray.path == problem.path || target(stray).as_ref() == Some(&problem.path)
            })
            || (problem.message.starts_with("required, but missing")
                && strays.iter().any(|stray| {
                    let outer = parent(&problem.path);
                    [&problem.path, outer].contains(&parent(&stray.path))
                        || target(stray).is_some_and(|place| place == outer)
                }))
    };
    if let Some(problem) = problem.filter(|problem| !told(problem)) {
        if let Some(gate) = problem.gate.filter(|gate| !helps(gate, problem, profile)) {
            let what = problem.message.split(" are not supported").next();
            let message = format!(
                "{} are not implemented here (gate {gate}), so the {kind} is not judged",
                what.unwrap_or_default()
            );
            let remedy = "leave it as it is if the cluster has the feature; its placement is to be tried there";
            return about.warning(&problem.path, message, remedy);
        }
        let (message, remedy) = match problem.message.split_once("; ") {
            Some((message, remedy)) => (message, remedy.to_owned()),
            None => (problem.message.as_str(), remedy_for(problem, &value)),
        };
        let path = match message.starts_with("this version is not supported") {
            true => "apiVersion",
            false => problem.path.as_str(),
        };
        // Whether the cluster has a feature on is not known here.
        match problem.gate {
            Some(_) => about.warning(path, message, remedy),
            None => about.error(path, message, remedy),
        }
    }
}

/// What is missing because of strays is not told again.
fn excuse(strays: &[Stray], object: &Value, about: &mut About<'_>) {
    for stray in strays {
        about.excuse(parent(&stray.path));
        if let Some(place) = target(stray) {
            let has_content =
                at(object, &stray.path).is_some_and(|value| value.is_object() || value.is_array());
            match has_content {
                true => about.excuse_below(place),
                false => about.excuse(place),
            }
        }
    }
}

/// Where something is missing because it stands at the stray's place.
fn target(stray: &Stray) -> Option<String> {
    match &stray.belongs {
        Belongs::At(place) => Some(place.clone()),
        Belongs::Spelled(right, _) => match parent(&stray.path) {
            "" => Some((*right).to_owned()),
            outer => Some(format!("{outer}.{right}")),
        },
        Belongs::OtherVersion(_) | Belongs::Unknown(_) => None,
    }
}

/// Kinds that came to a version later than others, with the minor version of Kubernetes.
const SINCE: [(&str, &str, u32, &str); 1] = [(
    kinds::DEVICE_TAINT_RULE,
    "resource.k8s.io/v1",
    37,
    "write resource.k8s.io/v1beta2, or v1alpha3 before Kubernetes 1.36; from 1.37 on it may stay",
)];

/// Warns of a version in which the Kubernetes that is meant does not serve the kind.
fn served(kind: &str, version: &str, profile: &Profile, about: &mut About<'_>) {
    let mut late = SINCE.iter().filter(|(late, in_version, since, _)| {
        *late == kind && *in_version == version && *since > profile.minor()
    });
    if let Some((_, _, since, remedy)) = late.next() {
        let message = format!(
            "{version} has this kind since Kubernetes 1.{since}, and what is meant here is 1.{}",
            profile.minor()
        );
        about.warning("apiVersion", message, *remedy);
    }
}

/// Whether the field would be understood if the gate were on.
fn helps(gate: &str, problem: &Problem, profile: &Profile) -> bool {
    let mut known = Feature::ALL.into_iter();
    known
        .find(|feature| feature.name() == gate)
        .is_some_and(|feature| {
            !profile.enabled(feature)
                && (feature != Feature::DraConsumableCapacity
                    || problem.path.ends_with("distinctAttribute"))
        })
}

/// Whether it surely is a mistake, what it is, and what to do.
fn describe(stray: &Stray, version: &str) -> (bool, String, String) {
    let key = &stray.key;
    let unknown = format!("unknown field {key:?}");
    // No alternative has what the request around it may have.
    if key == "adminAccess" && stray.path.contains("firstAvailable[") {
        let message = "no alternative of firstAvailable can have adminAccess".to_owned();
        return (
            true,
            message,
            "use a request of its own for admin access, or remove it".into(),
        );
    }
    if key == "exactly" && stray.path.contains("firstAvailable[") {
        let message = format!("{unknown} at this place: an alternative has no exactly");
        return (true, message, "move its fields up, beside name".into());
    }
    if ["nodeSelector", "nodeAffinity"].contains(&key.as_str()) && stray.path.contains(".requests[")
    {
        let message = format!("{unknown}: a request does not choose nodes");
        return (
            true,
            message,
            "move it to the pod: spec.nodeSelector or spec.affinity.nodeAffinity".into(),
        );
    }
    match &stray.belongs {
        Belongs::Spelled(right, true) => (
            true,
            format!("field {key:?} is in the wrong case"),
            format!("write {right:?}"),
        ),
        Belongs::Spelled(right, false) => (true, unknown, format!("write {right:?}")),
        // One level too many.
        Belongs::At(place) if stray.path.starts_with(&format!("{place}.")) => (
            true,
            format!("{unknown} at this place"),
            format!("move what is in it up, right below {place}"),
        ),
        Belongs::At(place) => (
            true,
            format!("{unknown} at this place"),
            format!("move it to {place}"),
        ),
        Belongs::OtherVersion(other) => (
            true,
            format!("{version} has no field {key:?}, resource.k8s.io/{other} has"),
            other_version(key, other),
        ),
        // Every other selector has this name.
        Belongs::Unknown(known) if key == "selector" && known.contains(&"deviceSelector") => {
            (true, unknown, "write \"deviceSelector\"".to_owned())
        }
        Belongs::Unknown(known) => (
            false,
            unknown,
            match known.len() {
                0..=12 => format!("remove it; known here are {}", known.join(", ")),
                _ => "remove it".to_owned(),
            },
        ),
    }
}

fn other_version(key: &str, other: &str) -> String {
    match key {
        "exactly" | "basic" => {
            format!("move what is in it one level up, or use resource.k8s.io/{other}")
        }
        _ => format!("use resource.k8s.io/{other}, or remove it"),
    }
}

/// `a[0].b[1]` as `a[].b[]`.
fn without_indexes(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut inside = false;
    for c in path.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ if inside => continue,
            _ => {}
        }
        out.push(c);
    }
    out
}
