//! Which pods are this scheduler's business, and which of them can be queued.

use std::collections::BTreeMap;

use crate::filters::{Held, held, not_imitated};
use crate::object::Object;
use crate::plugin::{Code, ObjectEvent, Status};

/// What to do with a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intake {
    /// Bound, finished or being deleted.
    NotPending,
    /// It stays out of the queue for good.
    Refused(Status),
    /// It goes into the queue.
    Pending,
}

/// Whether a pod has ended.
fn is_finished(pod: &Object) -> bool {
    matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"))
}

/// Whether a pod ended with this event.
pub fn ends(event: &ObjectEvent) -> bool {
    let (Some(old), Some(new)) = (&event.old, &event.new) else {
        return false;
    };
    !is_finished(old) && is_finished(new)
}

/// Whether a pod waits for a node.
pub fn is_pending(pod: &Object) -> bool {
    let finished = is_finished(pod);
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
    match held(pod) {
        Some(other @ Held::OtherScheduler(_)) => {
            Intake::Refused(Status::new(Code::Unschedulable, other.to_string()))
        }
        // Gates are opened by whoever put them there, so the pod waits in the queue.
        Some(Held::Gates(_)) | None => Intake::Pending,
    }
}

/// The refusal of upstream's plugin `SchedulingGates`, if the pod has gates.
pub fn scheduling_gates(pod: &Object) -> Option<Status> {
    let gates = held(pod).filter(|held| matches!(held, Held::Gates(_)))?;
    Some(Status::new(
        Code::UnschedulableAndUnresolvable,
        gates.to_string(),
    ))
}

/// What a real scheduler would heed and this one does not.
pub fn warnings(pod: &Object) -> Vec<String> {
    not_imitated(pod)
}
