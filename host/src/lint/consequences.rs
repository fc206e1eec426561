//! Findings that only follow from another one: one cause is told once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Subject};
use crate::manifest::ObjectError;
use crate::nearest::meant;
use crate::plugin::Severity;
use crate::workloads::path_of;

/// What is told of things that are not published: slices that cannot be used may publish them.
const OF_SLICES: [&str; 11] = [
    "there is no device in the input",
    "is true for none of",
    " selects none of",
    "no published device has",
    "no slice is of the driver",
    "no slice publishes",
    " is incomplete: ",
    " has no counter set",
    "the rule taints no device",
    "satisfies any of the alternatives",
    "the request is for ",
];

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
    // Any object may stand in what cannot be read, and any of a kind may be the one without a name.
    let hides_all = broken.iter().any(|error| {
        error.object.kind.as_str().is_empty() || error.message.contains(" cannot be read ")
    });
    let of_metadata = findings.iter().filter(|finding| {
        let is_name = finding
            .path
            .strip_prefix("metadata.name")
            .is_some_and(str::is_empty);
        is_name && finding.severity == Severity::Error
    });
    let unnamed = of_metadata.map(|finding| finding.object.kind.clone());
    let nameless = broken.iter().filter(|error| error.object.name.is_empty());
    let nameless = nameless.map(|error| error.object.kind.short().to_owned());
    let nameless: BTreeSet<String> = nameless.chain(unnamed).collect();
    // What stands in another namespace than was meant.
    let misplaced: BTreeSet<[String; 2]> = findings
        .iter()
        .filter(|finding| {
            let key = finding.path.strip_prefix("metadata.");
            key.is_some_and(|key| {
                meant(key, ["namespace"].into_iter()).is_some()
                    || key.eq_ignore_ascii_case("namespace")
            })
        })
        .map(|finding| [finding.object.kind.clone(), finding.object.name.clone()])
        .collect();
    let misspelled = subjects(findings, |finding| {
        finding.severity == Severity::Error
            && finding.path.contains("ontainers[")
            && ["claims", "esourc"]
                .iter()
                .any(|part| finding.path.contains(part) || finding.remedy.contains(part))
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
        finding.severity == Severity::Error && finding.path.contains("emplate.")
    });
    let lacks_slices = broken
        .iter()
        .any(|error| error.object.kind.short() == "ResourceSlice");
    findings.retain(|finding| {
        let says = |beginning: &str| finding.message.starts_with(beginning);
        let is_broken = missing(&finding.message).is_some_and(|(kind, name)| {
            let short = name.rsplit('/').next().unwrap_or(name);
            names.contains(name)
                || hides_all
                || nameless.contains(kind)
                || misplaced.contains(&[kind.to_owned(), short.to_owned()])
        });
        let is_unused = says("no container uses the claim");
        let is_incomplete = says("the entry names neither a claim nor a template");
        let is_unnamed = says("the entry has no name") && {
            let entry = finding.path.strip_suffix(".name").unwrap_or(&finding.path);
            unknown.contains(&(finding.object.clone(), entry.to_owned()))
        };
        let says_of_template = |what: &str| {
            let (path, rest) = finding.message.split_once(' ').unwrap_or_default();
            path == path_of(&finding.object.kind) && rest.starts_with(what)
        };
        let is_of_template = says_of_template("makes no good pod");
        let is_of_key = says_of_template("is missing");
        let is_of_list = says("the pod has no claim");
        let is_of_scalar = says("expected a")
            && scalars
                .get(&finding.object)
                .is_some_and(|seen| seen.contains(&finding.path));
        let is_of_slices = (lacks_slices || hides_all)
            && OF_SLICES.iter().any(|part| finding.message.contains(part));
        !(is_broken
            || is_of_slices
            || is_unnamed
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

/// Kind and name in `there is no KIND NAME`.
fn missing(message: &str) -> Option<(&str, &str)> {
    let (kind, rest) = message.strip_prefix("there is no ")?.split_once(' ')?;
    let end = rest.find([' ', ',']).unwrap_or(rest.len());
    Some((kind, rest[..end].trim_matches('"')))
}
