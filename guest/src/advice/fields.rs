//! What can be said of an object from its keys alone, and why it cannot be read.

use std::collections::BTreeMap;

use serde_json::Value;

use super::findings::{Findings, count, parent};
use crate::api::wire::{self, Belongs, Problem, Stray};
use crate::host::Object;
use crate::nearest::{meant, quantity_meant};
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
    for stray in &strays {
        places_of(stray).for_each(|place| about.excuse(place));
    }
    // The reader complains about some of these keys too.
    let told = |problem: &&Problem| {
        problem.message.starts_with("unknown field")
            || strays.iter().any(|stray| stray.path == problem.path)
            || (problem.message.starts_with("required, but missing")
                && strays.iter().any(|stray| {
                    places_of(stray)
                        .any(|place| place == problem.path || place == parent(&problem.path))
                }))
    };
    if let Some(problem) = problem.filter(|problem| !told(problem)) {
        if let Some(gate) = problem.gate.filter(|gate| !helps(gate, problem, profile)) {
            let what = problem.message.split(" are not supported").next();
            let message = format!(
                "{} are not implemented here (gate {gate}), so the {kind} is not judged",
                what.unwrap_or_default()
            );
            return about.warning(&problem.path, message, "");
        }
        let (message, remedy) = match problem.message.split_once("; ") {
            Some((message, remedy)) => (message, remedy.to_owned()),
            None => (problem.message.as_str(), remedy_for(problem, &value)),
        };
        let path = match message.starts_with("this version is not supported") {
            true => "apiVersion",
            false => problem.path.as_str(),
        };
        about.error(path, message, remedy);
    }
}

/// Where something is missing because it stands at the stray's place.
fn places_of(stray: &Stray) -> impl Iterator<Item = &str> {
    let target = match &stray.belongs {
        Belongs::At(place) => Some(place.as_str()),
        _ => None,
    };
    std::iter::once(parent(&stray.path)).chain(target)
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

fn remedy_for(problem: &Problem, object: &Value) -> String {
    if let Some(gate) = problem.gate {
        return format!(
            "remove the field; or use --feature {gate}=true, where the plugin has that feature and the cluster has it on"
        );
    }
    let found = at(object, &problem.path);
    match found {
        Some(Value::String(text)) if problem.message.contains("an integer") => {
            match text.parse::<i64>() {
                Ok(_) => "remove the quotes".to_owned(),
                Err(_) => "write a whole number".to_owned(),
            }
        }
        Some(Value::String(text)) if problem.message.contains("a boolean") => match text.as_str() {
            "true" | "false" => "remove the quotes".to_owned(),
            _ => "write true or false".to_owned(),
        },
        Some(Value::Number(_) | Value::Bool(_)) if problem.message.contains("a string") => {
            "put it in quotes".to_owned()
        }
        Some(Value::String(text)) if problem.message.contains("quantity") => {
            quantity_meant(text).map_or_else(String::new, |meant| format!("write {meant}"))
        }
        Some(Value::String(text)) => {
            // The values that are allowed stand in the message.
            let words = problem.message.split([' ', ',', '.']);
            let nearest = meant(
                text,
                words.filter(|word| word.starts_with(char::is_uppercase)),
            );
            nearest.map_or_else(String::new, |nearest| format!("write {nearest}"))
        }
        _ => String::new(),
    }
}

/// The value at a path in Kubernetes' notation.
fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = object;
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[') {
            let (key, after) = inner.split_once(']')?;
            value = match value {
                Value::Array(list) => list.get(key.parse::<usize>().ok()?)?,
                other => other.get(key)?,
            };
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            value = value.get(&rest[..end])?;
            rest = &rest[end..];
        }
    }
    Some(value)
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
