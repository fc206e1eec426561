//! PostBind: removes the scheduling context of a bound pod (spec 7.10).

use crate::api::Pod;
use crate::host::{Host, Level, ObjectRef, kinds};
use crate::plan::Plan;

/// Deletes it for every pod with claims, classic or not, gate or not (trap T11).
pub fn post_bind(host: &dyn Host, pod: &Pod, plan: &Plan) {
    if plan.claims.is_empty() {
        return;
    }
    let target = ObjectRef {
        kind: kinds::POD_SCHEDULING_CONTEXT.into(),
        namespace: pod.meta.namespace.clone(),
        name: pod.meta.name.clone(),
        uid: String::new(),
    };
    if let Err(error) = host.api_delete(&target) {
        host.log(
            Level::Debug,
            "delete PodSchedulingContext",
            &[("err", &error.message)],
        );
    }
}
