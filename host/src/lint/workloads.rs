//! Findings about pods that were made from a workload are findings about its template, and told once.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Subject};
use crate::manifest::Input;
use crate::object::Object;
use crate::workloads::path_of;

/// Which pods stand for which workload.
#[derive(Debug, Default)]
pub struct Templates {
    by_pod: BTreeMap<(String, String), Subject>,
    /// Objects that were read.
    pub objects: usize,
}

impl Templates {
    /// Objects of the input before its workloads are expanded.
    pub fn before(input: &Input) -> BTreeSet<Subject> {
        input
            .objects
            .iter()
            .map(|object| Subject::of(object.id()))
            .collect()
    }

    /// Compares with the input after that.
    pub fn after(input: &Input, before: &BTreeSet<Subject>) -> Self {
        let made = input.objects.iter().filter(|object| {
            object.id().kind.as_str() == "Pod" && !before.contains(&Subject::of(object.id()))
        });
        let entry = |pod: &Object| {
            let text = |key: &str| {
                pod.text(&format!("/metadata/ownerReferences/0/{key}"))
                    .map(str::to_owned)
            };
            let namespace = pod.id().namespace.to_string();
            let workload = Subject {
                kind: text("kind")?,
                namespace: namespace.clone(),
                name: text("name")?,
            };
            Some(((namespace, pod.id().name.to_string()), workload))
        };
        Self {
            by_pod: made.filter_map(entry).collect(),
            objects: before.len() + input.object_errors.len(),
        }
    }

    /// Moves a finding about a made pod to its template.
    pub(super) fn put_in_place(&self, finding: &mut Finding) {
        if finding.object.kind != "Pod" {
            return;
        }
        let key = (
            finding.object.namespace.clone(),
            finding.object.name.clone(),
        );
        if let Some(workload) = self.by_pod.get(&key) {
            finding.object = workload.clone();
            finding.path = format!("{}.{}", path_of(&workload.kind), finding.path)
                .trim_end_matches('.')
                .to_owned();
        }
    }
}
