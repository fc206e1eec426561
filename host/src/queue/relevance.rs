//! Which changes of an object can matter to scheduling at all.

use serde_json::Value;

use crate::object::Object;
use crate::plugin::ObjectEvent;

/// Parts of a pod; upstream's `isPodUpdated`. Of its status only generated claims.
const OF_PODS: [&str; 6] = [
    "/spec",
    "/metadata/labels",
    "/metadata/annotations",
    "/metadata/deletionTimestamp",
    "/metadata/ownerReferences",
    "/status/resourceClaimStatuses",
];

/// Parts of a node; upstream's `nodeSchedulingPropertiesChange`. The heartbeats of conditions do not count.
const OF_NODES: [&str; 5] = [
    "/spec/unschedulable",
    "/spec/taints",
    "/status/allocatable",
    "/metadata/labels",
    "/metadata/annotations",
];

/// Whether a pod changed in more than bookkeeping.
pub(super) fn pod_changed(old: &Object, new: &Object) -> bool {
    differ(old, new, &OF_PODS)
}

/// Whether an event is more than a node's sign of life.
pub(super) fn node_changed(event: &ObjectEvent) -> bool {
    match (event.kind.as_str(), &event.old, &event.new) {
        ("Node", Some(old), Some(new)) => {
            differ(old, new, &OF_NODES) || conditions(old) != conditions(new)
        }
        _ => true,
    }
}

fn differ(old: &Object, new: &Object, parts: &[&str]) -> bool {
    let mut parts = parts.iter();
    parts.any(|part| old.value().pointer(part) != new.value().pointer(part))
}

/// Types and statuses.
fn conditions(node: &Object) -> Vec<(&str, &str)> {
    let conditions = node
        .value()
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .map(|condition| {
            let text = |key: &str| {
                condition
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            (text("type"), text("status"))
        })
        .collect()
}
