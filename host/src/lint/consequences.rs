//! Findings that only follow from another one: one cause is told once.

use std::collections::BTreeSet;

use super::{Finding, Subject};
use crate::manifest::ObjectError;

/// Removes what follows from objects that could not be used, and from keys of containers that are misspelled.
pub(super) fn remove(findings: &mut Vec<Finding>, broken: &[ObjectError]) {
    let names: BTreeSet<String> = broken
        .iter()
        .filter(|error| !error.object.name.is_empty())
        .flat_map(|error| {
            let subject = Subject::of(&error.object);
            let full = format!("{}/{}", subject.namespace, subject.name);
            [subject.name, full]
        })
        .collect();
    let misspelled: BTreeSet<Subject> = findings
        .iter()
        .filter(|finding| {
            finding.message.starts_with("unknown field")
                && finding.path.contains("ontainers[")
                && finding.remedy.contains("claims")
        })
        .map(|finding| finding.object.clone())
        .collect();
    findings.retain(|finding| {
        let is_broken = missing(&finding.message).is_some_and(|name| names.contains(name));
        let is_unused = finding.message.starts_with("no container uses the claim");
        !is_broken && !(is_unused && misspelled.contains(&finding.object))
    });
}

/// The name in `there is no KIND NAME`.
fn missing(message: &str) -> Option<&str> {
    let (_, rest) = message.strip_prefix("there is no ")?.split_once(' ')?;
    let end = rest.find([' ', ',']).unwrap_or(rest.len());
    Some(rest[..end].trim_matches('"'))
}
