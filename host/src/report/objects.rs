//! `-o yaml`: the claims and pods as they are at the end, ready for `kubectl diff`.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::object::Object;
use crate::scheduler::outcome::PodOutcome;

use super::claims::objects_of;
use super::yaml;

/// Writes each pod that was pending, after its claims; a shared claim once. Uids that are not in `known` were made up here and are
/// left out, like every `resourceVersion`: both would make the API server refuse the object.
pub fn write(
    outcomes: &[PodOutcome],
    cluster: &Cluster,
    known: &BTreeSet<Arc<str>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut written: BTreeSet<Arc<str>> = BTreeSet::new();
    for outcome in outcomes {
        let pod = current(&outcome.pod, cluster);
        for object in objects_of(pod, cluster).chain([pod]) {
            if written.insert(object.id().uid.clone()) {
                if written.len() > 1 {
                    writeln!(out, "---")?;
                }
                yaml::write(&presentable(object, known), out)?;
            }
        }
    }
    Ok(())
}

fn current<'a>(pod: &'a Object, cluster: &'a Cluster) -> &'a Object {
    let id = pod.id();
    cluster
        .entry(&id.kind, &id.namespace, &id.name)
        .map_or(pod, |entry| &entry.object)
}

fn presentable(object: &Object, known: &BTreeSet<Arc<str>>) -> Value {
    let mut value = object.value().clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("resourceVersion");
        if !known.contains(&object.id().uid) {
            metadata.shift_remove("uid");
        }
    }
    value
}
