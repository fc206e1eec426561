//! Which pods are this scheduler's business, and which of them can be queued.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::Object;
use crate::plugin::{Code, Status};

/// The only scheduler name that is imitated.
const SCHEDULER_NAME: &str = "default-scheduler";

/// What to do with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intake {
    /// Bound, finished or being deleted.
    NotPending,
    /// It stays out of the queue for good.
    Refused(Status),
    /// It goes into the queue.
    Pending {
        /// `spec.priority`.
        priority: i64,
    },
}

/// Whether a pod waits for a node.
pub fn is_pending(pod: &Object) -> bool {
    let finished = matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"));
    let deleted = pod.text("/metadata/deletionTimestamp").is_some();
    pod.text("/spec/nodeName").unwrap_or_default().is_empty() && !finished && !deleted
}

/// Decides about a pod that is new.
pub fn sort(pod: &Object, input_errors: &BTreeMap<String, String>) -> Intake {
    if !is_pending(pod) {
        return Intake::NotPending;
    }
    if let Some(message) = input_errors.get(&format!("{}/{}", pod.id().namespace, pod.id().name)) {
        return Intake::Refused(Status::new(Code::InvalidObject, message));
    }
    match pod.text("/spec/schedulerName") {
        None | Some("" | SCHEDULER_NAME) => {}
        Some(other) => {
            let message = format!("the pod is for the scheduler {other}, which is not imitated");
            return Intake::Refused(Status::new(Code::Unschedulable, message));
        }
    }
    let priority = pod
        .value()
        .pointer("/spec/priority")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    Intake::Pending { priority }
}

/// The refusal of upstream's plugin `SchedulingGates`, if the pod has gates.
pub fn scheduling_gates(pod: &Object) -> Option<Status> {
    let gates = pod
        .value()
        .pointer("/spec/schedulingGates")
        .and_then(Value::as_array)
        .filter(|gates| !gates.is_empty())?;
    let names: Vec<&str> = gates
        .iter()
        .filter_map(|gate| gate.get("name").and_then(Value::as_str))
        .collect();
    let message = format!("waiting for scheduling gates: [{}]", names.join(" "));
    Some(Status::new(Code::UnschedulableAndUnresolvable, message))
}
