//! Findings that only follow from another one: one cause is told once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Subject};
use crate::manifest::ObjectError;
use crate::plugin::Severity;

/// Removes what follows from objects that could not be used, from keys that are misspelled or misplaced, and from scalars
/// that `kubectl` reads otherwise.
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
    let misspelled = subjects(findings, |finding| {
        finding.message.starts_with("unknown field")
            && finding.path.contains("ontainers[")
            && finding.remedy.contains("claims")
    });
    let unknown: BTreeSet<(Subject, String)> = findings
        .iter()
        .filter(|finding| finding.message.starts_with("unknown field"))
        .filter_map(|finding| {
            let (place, _) = finding.path.rsplit_once('.')?;
            Some((finding.object.clone(), place.to_owned()))
        })
        .collect();
    let without_claims = subjects(findings, |finding| {
        finding.message.starts_with("unknown field")
            && (finding.remedy == "write \"resourceClaims\""
                || finding.remedy.ends_with("spec.resourceClaims"))
    });
    let without_template = subjects(findings, |finding| {
        finding.message.starts_with("unknown field")
            && ["write \"template\"", "write \"spec\""].contains(&finding.remedy.as_str())
    });
    let mut scalars: BTreeMap<Subject, Vec<String>> = BTreeMap::new();
    let otherwise = |finding: &&Finding| finding.message.starts_with("kubectl reads ");
    for finding in findings.iter().filter(otherwise) {
        let paths = scalars.entry(finding.object.clone()).or_default();
        paths.push(finding.path.clone());
    }
    let templates = subjects(findings, |finding| {
        finding.severity == Severity::Error && finding.path.starts_with("spec.template.")
    });
    let lacks_slices = broken
        .iter()
        .any(|error| error.object.kind.short() == "ResourceSlice");
    findings.retain(|finding| {
        let says = |beginning: &str| finding.message.starts_with(beginning);
        let is_broken = missing(&finding.message).is_some_and(|name| names.contains(name));
        let is_unused = says("no container uses the claim");
        let is_incomplete = says("the entry names neither a claim nor a template");
        let is_of_template = says("spec.template makes no good pod");
        let is_of_key = says("spec.template is missing");
        let is_of_list = says("the pod has no claim");
        let is_of_scalar = says("expected a")
            && scalars
                .get(&finding.object)
                .is_some_and(|seen| seen.contains(&finding.path));
        let is_of_slices = lacks_slices && says("there is no device in the input");
        !(is_broken
            || is_of_slices
            || is_of_list && without_claims.contains(&finding.object)
            || is_of_key && without_template.contains(&finding.object)
            || is_of_scalar
            || is_unused && misspelled.contains(&finding.object)
            || is_incomplete && unknown.contains(&(finding.object.clone(), finding.path.clone()))
            || is_of_template && templates.contains(&finding.object))
    });
}

/// What the findings are about for which something holds.
fn subjects(findings: &[Finding], holds: impl Fn(&Finding) -> bool) -> BTreeSet<Subject> {
    let wanted = findings.iter().filter(|finding| holds(finding));
    wanted.map(|finding| finding.object.clone()).collect()
}

/// The name in `there is no KIND NAME`.
fn missing(message: &str) -> Option<&str> {
    let (_, rest) = message.strip_prefix("there is no ")?.split_once(' ')?;
    let end = rest.find([' ', ',']).unwrap_or(rest.len());
    Some(rest[..end].trim_matches('"'))
}
