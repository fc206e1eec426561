//! PreEnqueue: whether the pod's claims are there (spec 7.1).

use crate::api::Pod;
use crate::claims::{self, Unresolved};
use crate::host::Host;
use crate::plugin::Instance;
use crate::status::{Code, Status};

/// Success, or why the pod has to stay outside the queue.
pub fn pre_enqueue(instance: &Instance, host: &dyn Host, pod: &Pod) -> Status {
    match claims::pod_claims(pod, instance.profile(), |namespace, name| {
        instance.claim(host, namespace, name)
    }) {
        Ok(_) => Status::success(),
        Err(unresolved) => rejection(unresolved),
    }
}

/// The status of a pod whose claims cannot be resolved.
pub fn rejection(unresolved: Unresolved) -> Status {
    match unresolved {
        Unresolved::Refused(text) => Status::unresolvable(text),
        Unresolved::Invalid(problem) => Status::new(Code::InvalidObject, problem),
    }
}
