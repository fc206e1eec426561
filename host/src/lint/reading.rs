//! What the reader noticed, and API versions that are mixed.

use std::collections::BTreeMap;

use super::{Finding, Subject};
use crate::manifest::Input;
use crate::object::Object;
use crate::plugin::Severity;

/// Kinds that are not in all versions of their group.
const PARTIAL: [&str; 2] = ["DeviceTaintRule", "PodSchedulingContext"];

/// Errors and warnings of the reader.
pub fn noticed(input: &Input) -> Vec<Finding> {
    let errors = input.object_errors.iter().map(|error| {
        let path = path_in(&error.message);
        let subject = Subject::of(&error.object);
        let mut finding = Finding::from_message(Severity::Error, subject, path, &error.message);
        // A name may be there twice; this is the place of the one that is meant.
        finding.origin = Some(error.origin.to_string());
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
            "apiVersion" => "add it".to_owned(),
            _ => String::new(),
        };
        finding
    });
    errors.chain(warnings).collect()
}

/// The field that a message of the reader begins with, for example `key spec.NodeName is in the wrong case`.
fn path_in(message: &str) -> &str {
    let message = message.strip_prefix("key ").unwrap_or(message);
    let first = message.split(' ').next().unwrap_or_default();
    let root = first.split(['.', '[']).next().unwrap_or_default();
    let roots = ["apiversion", "kind", "metadata", "spec", "status"];
    match roots.contains(&root.to_ascii_lowercase().as_str()) {
        true => first,
        false => "",
    }
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
