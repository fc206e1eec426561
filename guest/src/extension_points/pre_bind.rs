//! PreBind: makes the plan true in the API (spec 7.7).

use crate::api::{Pod, edit};
use crate::binding::bind_claim;
use crate::host::Host;
use crate::plan::Plan;
use crate::plugin::Instance;
use crate::scheduling_context;
use crate::status::{Code, Status};

/// Writes what the plan says, and keeps in it what was written.
pub fn pre_bind(instance: &Instance, host: &dyn Host, pod: &Pod, plan: &mut Plan) -> Status {
    if plan.edits.is_dirty() {
        // Instead of binding claims: the drivers have to answer first (trap T8).
        let Plan { context, edits, .. } = plan;
        return match scheduling_context::publish(
            host,
            instance.profile(),
            pod,
            context.as_ref(),
            edits,
        ) {
            Ok(()) => Status::new(Code::Pending, "waiting for resource driver"),
            Err(text) => Status::error(text),
        };
    }
    for planned in &mut plan.claims {
        let claim = match planned.claim.read() {
            Ok(claim) => claim,
            Err(error) => return Status::error(format!("claim in the binding plan: {error}")),
        };
        // The cached view decides, not the API's (trap T20).
        if edit::is_reserved_for(&claim, &pod.meta.uid) {
            continue;
        }
        if let Err(text) = bind_claim(host, instance.profile(), pod, claim, planned) {
            return Status::error(text);
        }
    }
    Status::success()
}
