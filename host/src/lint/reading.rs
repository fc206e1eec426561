//! What the reader noticed, and API versions that are mixed.

use std::collections::BTreeMap;

use super::{Finding, Subject};
use crate::manifest::{Input, ObjectError};
use crate::object::Object;
use crate::plugin::Severity;

/// Kinds that are not in all versions of their group.
const PARTIAL: [&str; 2] = ["DeviceTaintRule", "PodSchedulingContext"];

/// Errors and warnings of the reader.
pub fn noticed(input: &Input) -> Vec<Finding> {
    // `tolerations` judges those, and knows operators that the filter does not imitate.
    let is_ours = |error: &&ObjectError| !path_in(&error.message).contains("tolerations[");
    let errors = input.object_errors.iter().filter(is_ours).map(|error| {
        let path = path_in(&error.message);
        let subject = Subject::of(&error.object);
        let mut finding = Finding::from_message(Severity::Error, subject, path, &error.message);
        // A name may be there twice; this is the place of the one that is meant.
        finding.origin = Some(error.origin.to_string());
        if finding.remedy.is_empty() {
            finding.remedy = remedy_for(&finding.message).to_owned();
        }
        finding
    });
    let warnings = input.warnings.iter().map(|warning| {
        let path = path_in(&warning.message);
        let mut finding = Finding::from_message(
            Severity::Warning,
            Subject::from_text(&warning.object),
            path,
            &warning.message,
        );
        // After the semicolon these say what was done, not what to do.
        finding.message = warning.message.clone();
        finding.remedy = match path {
            "apiVersion" => "add it",
            _ => remedy_for(&warning.message),
        }
        .to_owned();
        finding
    });
    errors.chain(warnings).collect()
}

/// The field that a message of the reader begins with, for example `key spec.NodeName is in the wrong case`.
fn path_in(message: &str) -> &str {
    let (message, nameless) = match message.split_once(" without metadata.name") {
        Some((_, rest)) => (rest.trim_start_matches(": "), "metadata.name"),
        None => (message, ""),
    };
    let key = message.strip_prefix("key ");
    let is_key = key.is_some();
    let message = key.unwrap_or(message);
    let first = message.split(' ').next().unwrap_or_default();
    let root = first.split(['.', '[']).next().unwrap_or_default();
    let roots = ["apiversion", "kind", "metadata", "spec", "status"];
    match is_key || roots.contains(&root.to_ascii_lowercase().as_str()) {
        true => first.trim_end_matches(':'),
        false => nameless,
    }
}

/// What to do about a message that does not say so: the part by which it is known, and the remedy.
const REMEDIES: [(&str, &str); 12] = [
    (
        "duplicate key \"apiVersion\"",
        "put --- between two objects",
    ),
    ("duplicate key", "remove one of the two"),
    ("tabs disallowed", "indent with spaces"),
    (
        "mapping values are not allowed",
        "put the value in quotes, or indent the line like its neighbours",
    ),
    (
        "invalid trailing content",
        "put the whole value in quotes, single ones if it has double ones inside",
    ),
    ("not valid", "correct the syntax there"),
    ("spec.template", "write the pod's template there"),
    (
        "is not a whole number",
        "write a whole number, or leave it out",
    ),
    ("defined more than once", "remove one of the definitions"),
    (
        "this name was made for it",
        "nothing, or a name of its own if others refer to it",
    ),
    ("too large", "write less"),
    ("", "correct it"),
];

fn remedy_for(message: &str) -> &'static str {
    let mut known = REMEDIES.iter();
    let found = known.find(|(part, _)| message.contains(part));
    found.map_or("", |(_, remedy)| remedy)
}

/// Kinds of one group in several versions: nothing is wrong with that, but it is rarely meant.
pub fn mixed_versions(objects: &[Object]) -> Vec<Finding> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, Vec<&Object>>> = BTreeMap::new();
    // Not every kind is in every version: its own may be the only one that there is.
    let is_elsewhere = |object: &&Object| !PARTIAL.contains(&object.id().kind.short());
    for object in objects.iter().filter(is_elsewhere) {
        if let Some((group, version)) = object.api_version().split_once('/') {
            groups
                .entry(group)
                .or_default()
                .entry(version)
                .or_default()
                .push(object);
        }
    }
    let mut findings = Vec::new();
    for (group, versions) in groups
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
    {
        let most = versions
            .iter()
            .max_by_key(|(version, objects)| (objects.len(), **version));
        let Some((usual, others)) = most.map(|(version, objects)| (*version, objects.len())) else {
            continue;
        };
        for (version, objects) in versions.iter().filter(|(version, _)| **version != usual) {
            let more = match objects.len() {
                1 => String::new(),
                count => format!(", like {} more", count - 1),
            };
            findings.push(Finding::from_message(
                Severity::Hint,
                Subject::of(objects[0].id()),
                "apiVersion",
                &format!("the object is in {group}/{version}{more}, {others} of the group are in {usual}; use one version"),
            ));
        }
    }
    findings
}
