//! Mistakes in manifests and dumps: what the reader noticed, what can be said of core kinds, and what the plugin says of the
//! objects that it knows. Everything becomes a [`Finding`]; `dractl lint` prints them.

mod affinity;
mod consequences;
mod core_fields;
mod labels;
mod meant;
mod namespaces;
mod promises;
mod quantities;
mod reading;
mod text;
mod tolerations;
mod versions;
mod workloads;
mod yaml_flow;
mod yaml_slips;

use std::collections::HashMap;

use serde::Serialize;

use crate::manifest::{Input, ObjectError, Origin};
use crate::object::{Object, ObjectRef};
use crate::plugin::{Finding as PluginFinding, Severity};
use crate::stand_ins::schema::cluster_scoped_by_name;

pub use namespaces::Namespaces;
pub use promises::Promises;
pub use reading::{mixed_versions, noticed};
pub(crate) use text::summary;
pub use text::write;
pub use versions::KnownKinds;
pub use workloads::Templates;
pub use yaml_slips::Slips;

/// Findings that a report shows at most.
const MOST: usize = 50_000;

/// What a finding is about. All of it empty: the input, or what stands at the origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Subject {
    /// Without the group; empty for a file.
    pub kind: String,
    /// Empty for kinds without a namespace.
    pub namespace: String,
    /// Empty for all objects of the kind.
    pub name: String,
}

/// Something that is wrong, or looks so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    #[serde(serialize_with = "severity_name")]
    pub severity: Severity,
    /// What it is about.
    pub object: Subject,
    /// File and line where the object starts; null if it was in no file.
    pub origin: Option<String>,
    /// Where in it; empty for all of it.
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What to do; may be empty.
    pub remedy: String,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// By object, then by path.
    pub findings: Vec<Finding>,
    /// How many there are.
    pub summary: Summary,
}

/// Numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Objects that were looked at.
    pub objects: usize,
    /// Findings with which an object cannot work.
    pub errors: usize,
    /// Findings with which it probably does not do what was meant.
    pub warnings: usize,
    /// Findings that are worth knowing.
    pub hints: usize,
}

impl Subject {
    /// The object with this reference. Without a namespace it is in `default`, if its kind has namespaces.
    pub fn of(id: &ObjectRef) -> Self {
        let namespace = match &*id.namespace {
            "" if !id.name.is_empty() && !cluster_scoped_by_name(id.kind.short()) => "default",
            namespace => namespace,
        };
        Self {
            kind: id.kind.short().to_owned(),
            namespace: namespace.to_owned(),
            name: id.name.to_string(),
        }
    }

    /// From `Kind namespace/name` or `Kind name`, as messages name objects; anything else is a file.
    pub fn from_text(text: &str) -> Self {
        let Some((kind, rest)) = text
            .split_once(' ')
            .filter(|(kind, _)| kind.starts_with(|c: char| c.is_ascii_uppercase()))
        else {
            return Self {
                name: text.to_owned(),
                ..Self::default()
            };
        };
        let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
        Self {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Equal for both names of one object: without a namespace it is in `default`.
    fn key(&self) -> [&str; 3] {
        [&self.kind, without_default(&self.namespace), &self.name]
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [self.namespace.as_str(), self.name.as_str()];
        let name = parts.iter().filter(|part| !part.is_empty());
        let name = name.copied().collect::<Vec<_>>().join("/");
        match (self.kind.is_empty(), name.is_empty()) {
            (true, _) => f.write_str(&name),
            (false, true) => f.write_str(&self.kind),
            (false, false) => write!(f, "{} {name}", self.kind),
        }
    }
}

impl Finding {
    /// What a plugin said.
    pub fn of_plugin(finding: PluginFinding) -> Self {
        Self {
            severity: finding.severity,
            object: Subject::of(&finding.object),
            origin: None,
            path: finding.path,
            message: finding.message,
            remedy: finding.remedy,
        }
    }

    /// From a message that says after a semicolon what to do.
    fn from_message(severity: Severity, object: Subject, path: &str, message: &str) -> Self {
        let (message, remedy) = message.split_once("; ").unwrap_or((message, ""));
        Self {
            severity,
            object,
            origin: None,
            path: path.to_owned(),
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        }
    }
}

impl Report {
    /// Sorts, adds where the objects stand, and counts. Of very many findings the worst stay.
    pub fn new(mut findings: Vec<Finding>, places: &Places, templates: &Templates) -> Self {
        let origins = places.by_name();
        for finding in &mut findings {
            templates.put_in_place(finding);
            if finding.origin.is_none() {
                let key = finding.object.key();
                let origin = origins
                    .get(&key)
                    .filter(|_| !finding.object.name.is_empty());
                finding.origin = origin.map(ToString::to_string);
            }
        }
        consequences::remove(&mut findings, &places.broken);
        // Those of several pods of one workload are the same.
        let key = |finding: &Finding| {
            let place = (finding.object.clone(), natural(&finding.path));
            (place, finding.message.clone())
        };
        findings.sort_by_cached_key(key);
        findings.dedup();
        let count = |severity| {
            findings
                .iter()
                .filter(|finding| finding.severity == severity)
                .count()
        };
        let summary = Summary {
            objects: templates.objects,
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            hints: count(Severity::Hint),
        };
        Self {
            findings: shortened(findings),
            summary,
        }
    }
}

/// Leaves off what nobody reads on to, and says so.
fn shortened(mut findings: Vec<Finding>) -> Vec<Finding> {
    let more = findings.len().saturating_sub(MOST);
    if more == 0 {
        return findings;
    }
    let mut left = [Severity::Error, Severity::Warning, Severity::Hint].map(|severity| {
        let same = findings
            .iter()
            .filter(|finding| finding.severity == severity);
        (severity, same.count())
    });
    let mut room = MOST;
    for (_, count) in &mut left {
        *count = room.min(*count);
        room -= *count;
    }
    findings.retain(|finding| {
        let counted = left
            .iter_mut()
            .find(|(severity, _)| *severity == finding.severity);
        counted.is_some_and(|(_, count)| {
            let stays = *count > 0;
            *count = count.saturating_sub(1);
            stays
        })
    });
    findings.push(Finding {
        severity: Severity::Warning,
        object: Subject::default(),
        origin: None,
        path: String::new(),
        message: format!("{more} more findings are left off, none of them worse than those shown"),
        remedy: "correct what is shown, or look at fewer objects at a time".to_owned(),
    });
    findings
}

/// Where objects stand, without the objects themselves: they take memory, and change hands.
#[derive(Debug)]
pub struct Places {
    read: Vec<(ObjectRef, Origin)>,
    /// Those that could not be used.
    broken: Vec<ObjectError>,
}

impl Places {
    /// All objects of the input.
    pub fn of(input: &Input) -> Self {
        let ids = input.objects.iter().map(|object| object.id().clone());
        Self {
            read: ids.zip(input.origins.iter().cloned()).collect(),
            broken: input.object_errors.clone(),
        }
    }

    /// What could not be used in the end.
    pub fn add_errors(&mut self, input: &Input) {
        self.broken.clone_from(&input.object_errors);
    }

    /// By kind, namespace and name; `default` and no namespace are the same.
    fn by_name(&self) -> HashMap<[&str; 3], &Origin> {
        let read = self.read.iter().map(|(id, origin)| (id, origin));
        let broken = self.broken.iter();
        let broken = broken.map(|error| (&error.object, &error.origin));
        read.chain(broken)
            .map(|(id, origin)| {
                let key = [id.kind.short(), without_default(&id.namespace), &*id.name];
                (key, origin)
            })
            .collect()
    }
}

fn without_default(namespace: &str) -> &str {
    match namespace {
        "default" => "",
        namespace => namespace,
    }
}

/// A path in pieces that sort as people count: `[9]` before `[10]`.
fn natural(path: &str) -> Vec<(String, u64)> {
    let pieces = path.split('[').map(|piece| {
        let (number, rest) = piece.split_once(']').unwrap_or(("", piece));
        match number.parse() {
            Ok(number) => (rest.to_owned(), number),
            Err(_) => (piece.to_owned(), 0),
        }
    });
    // The index comes first within its piece.
    let mut out = Vec::new();
    for (text, number) in pieces {
        out.push((String::new(), number));
        out.push((text, 0));
    }
    out
}

/// As the JSON output names it.
pub fn name_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "hint",
    }
}

fn severity_name<S: serde::Serializer>(
    severity: &Severity,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name_of(*severity))
}

/// A finding from a message that says after a semicolon what to do.
pub fn finding(severity: Severity, object: Subject, path: &str, message: &str) -> Finding {
    Finding::from_message(severity, object, path, message)
}

/// What the host itself says of the objects of core kinds, the reader aside.
pub fn core_kinds(objects: &[Object]) -> Vec<Finding> {
    objects.iter().flat_map(core_fields::check).collect()
}

#[cfg(test)]
mod tests;
