//! What keeps a pod from being scheduled here at all, and constraints that the host does not imitate.

use std::fmt;

use serde_json::Value;

use super::fields::{is_set, list_at, list_in, text_at};
use crate::object::Object;

/// Name of the scheduler that the host stands for.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Why a pod is reported but not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// `spec.schedulingGates`, which only their owners remove.
    Gates(Vec<String>),
    /// Another scheduler places it.
    OtherScheduler(String),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gates(names) => write!(f, "waiting for scheduling gates: [{}]", names.join(" ")),
            Self::OtherScheduler(name) => write!(f, "left to scheduler {name}"),
        }
    }
}

/// Whether a pod is not to be placed at all.
pub fn held(pod: &Object) -> Option<Held> {
    let scheduler = pod.text("/spec/schedulerName").unwrap_or_default();
    if !scheduler.is_empty() && scheduler != DEFAULT_SCHEDULER {
        return Some(Held::OtherScheduler(scheduler.to_owned()));
    }
    let gates = list_at(pod.value(), "/spec/schedulingGates");
    let names: Vec<_> = gates
        .iter()
        .map(|gate| text_at(gate, "name").to_owned())
        .collect();
    if names.is_empty() {
        None
    } else {
        Some(Held::Gates(names))
    }
}

/// Constraints of a pod that a real scheduler would heed and the host does not.
pub fn not_imitated(pod: &Object) -> Vec<String> {
    let value = pod.value();
    let mut warnings = Vec::new();
    let mut warn = |field: &str, what: &str| {
        warnings.push(format!("{field} is not imitated: {what}"));
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let field = format!("spec.affinity.{kind}.requiredDuringSchedulingIgnoredDuringExecution");
        if !list_at(value, &format!("/{}", field.replace('.', "/"))).is_empty() {
            warn(
                &field,
                "a real scheduler may refuse nodes because of the pods there",
            );
        }
    }
    let spread = list_at(value, "/spec/topologySpreadConstraints");
    if spread
        .iter()
        .any(|constraint| text_at(constraint, "whenUnsatisfiable") != "ScheduleAnyway")
    {
        warn(
            "spec.topologySpreadConstraints",
            "a real scheduler may refuse nodes to keep pods spread",
        );
    }
    if list_at(value, "/spec/volumes").iter().any(needs_volume) {
        warn(
            "spec.volumes",
            "a real scheduler may refuse nodes that the volumes cannot be attached to",
        );
    }
    if uses_host_ports(value) {
        warn(
            "hostPort",
            "a real scheduler may refuse nodes where the port is taken",
        );
    }
    warnings
}

/// Whether a volume binds its pod to certain nodes.
fn needs_volume(volume: &Value) -> bool {
    [
        "persistentVolumeClaim",
        "ephemeral",
        "awsElasticBlockStore",
        "gcePersistentDisk",
        "azureDisk",
        "iscsi",
        "rbd",
    ]
    .iter()
    .any(|kind| is_set(volume, &format!("/{kind}")))
}

fn uses_host_ports(pod: &Value) -> bool {
    let on_host = pod
        .pointer("/spec/hostNetwork")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    let is_host_port = |port: &Value| {
        let number = |key: &str| port.get(key).and_then(Value::as_i64).unwrap_or_default();
        // In the host's network every port of a container is one of the host.
        number("hostPort") > 0 || (on_host && number("containerPort") > 0)
    };
    ["/spec/containers", "/spec/initContainers"]
        .iter()
        .flat_map(|pointer| list_at(pod, pointer))
        .flat_map(|container| list_in(container, "ports"))
        .any(is_host_port)
}

/// Warning for a pod that found no node, if a real scheduler might have made room for it. `lowest` is the lowest priority of
/// a pod that has a node.
pub fn no_preemption(pod: &Object, priority: i64, lowest: Option<i64>) -> Option<String> {
    let may = pod.text("/spec/preemptionPolicy") != Some("Never")
        && lowest.is_some_and(|lowest| lowest < priority);
    let message = "preemption is not imitated: a real scheduler may evict pods of lower priority to make room";
    may.then(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(spec: Value) -> Object {
        Object::from_value(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}),
        )
        .expect("a pod")
    }

    #[test]
    fn gates_and_other_schedulers_hold_a_pod() {
        for (spec, expected) in [
            (json!({}), None),
            (json!({"schedulerName": ""}), None),
            (
                json!({"schedulerName": "default-scheduler", "schedulingGates": []}),
                None,
            ),
            (
                json!({"schedulerName": "volcano"}),
                Some("left to scheduler volcano"),
            ),
            (
                json!({"schedulingGates": [{"name": "a/x"}, {"name": "b"}]}),
                Some("waiting for scheduling gates: [a/x b]"),
            ),
        ] {
            assert_eq!(
                held(&pod(spec)).map(|held| held.to_string()).as_deref(),
                expected
            );
        }
    }

    #[test]
    fn constraints_that_are_not_imitated_are_named() {
        let term = json!([{"topologyKey": "zone"}]);
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        for (spec, expected) in [
            (json!({}), &[][..]),
            (
                json!({"affinity": {"podAffinity": {required: term}}}),
                &["spec.affinity.podAffinity."],
            ),
            (
                json!({"affinity": {"podAntiAffinity": {required: term}}}),
                &["spec.affinity.podAntiAffinity."],
            ),
            (
                json!({"affinity": {"podAntiAffinity": {preferred: term, required: []}}}),
                &[],
            ),
            (
                json!({"topologySpreadConstraints": [{"whenUnsatisfiable": "ScheduleAnyway"}]}),
                &[],
            ),
            (
                json!({"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}]}),
                &["spec.topologySpreadConstraints"],
            ),
            (
                json!({"volumes": [{"name": "v", "emptyDir": {}}, {"name": "c", "configMap": {}}]}),
                &[],
            ),
            (
                json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}),
                &["spec.volumes"],
            ),
            (
                json!({"volumes": [{"name": "v", "ephemeral": {}}]}),
                &["spec.volumes"],
            ),
            (
                json!({"containers": [{"ports": [{"containerPort": 80}]}]}),
                &[],
            ),
            (
                json!({"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]}),
                &["hostPort"],
            ),
            (
                json!({"hostNetwork": true, "containers": [{"ports": [{"containerPort": 80}]}]}),
                &["hostPort"],
            ),
        ] {
            let warnings = not_imitated(&pod(spec.clone()));
            assert_eq!(warnings.len(), expected.len(), "{spec}: {warnings:?}");
            for (warning, start) in warnings.iter().zip(expected) {
                assert!(warning.starts_with(start), "{spec}: {warning}");
            }
        }
    }

    #[test]
    fn preemption_is_mentioned_where_it_could_help() {
        let plain = pod(json!({}));
        assert!(no_preemption(&plain, 10, Some(5)).is_some());
        assert!(no_preemption(&plain, 10, Some(10)).is_none());
        assert!(no_preemption(&plain, 10, None).is_none());
        assert!(no_preemption(&pod(json!({"preemptionPolicy": "Never"})), 10, Some(5)).is_none());
    }
}
