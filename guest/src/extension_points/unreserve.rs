//! Unreserve: takes back what Reserve and PreBind did (spec 7.9). May be repeated; cannot fail.

use crate::api::{Pod, edit};
use crate::claims;
use crate::host::{Host, Level, ObjectRef, kinds};
use crate::plan::{Json, Plan, PlannedClaim};
use crate::plugin::Instance;
use crate::scheduling_context;

/// Undoes the plan; without one, what the cache shows of the pod's claims.
pub fn unreserve(instance: &Instance, host: &dyn Host, pod: &Pod, plan: Option<Plan>) {
    let mut plan = plan.unwrap_or_else(|| plan_of_cache(instance, host, pod));
    let Plan {
        context,
        edits,
        claims,
    } = &mut plan;
    if let Err(error) =
        scheduling_context::publish(host, instance.profile(), pod, context.as_ref(), edits)
    {
        host.log(
            Level::Error,
            "publish PodSchedulingContext",
            &[("err", &error)],
        );
    }
    for planned in claims {
        release(instance, host, pod, planned);
    }
}

fn release(instance: &Instance, host: &dyn Host, pod: &Pod, planned: &PlannedClaim) {
    let claim = &match planned.claim.read() {
        Ok(claim) => claim,
        Err(error) => {
            let error = error.to_string();
            return host.log(
                Level::Error,
                "claim in the binding plan",
                &[("err", &error)],
            );
        }
    };
    if planned.structured {
        let wake = instance.profile().unreserve_wakes_waiting_pods();
        // Only the owner of the entry restores (D16).
        if host.remove_in_flight(kinds::RESOURCE_CLAIM, edit::uid(claim), wake) {
            host.restore(
                kinds::RESOURCE_CLAIM,
                edit::namespace(claim),
                edit::name(claim),
            );
        }
    }
    if edit::is_allocated(claim) && edit::is_reserved_for(claim, &pod.meta.uid) {
        let target = ObjectRef {
            kind: kinds::RESOURCE_CLAIM.into(),
            namespace: edit::namespace(claim).into(),
            name: edit::name(claim).into(),
            uid: edit::uid(claim).into(),
        };
        let patch = edit::unreserve_patch(&target.uid, &pod.meta.uid);
        if let Err(error) = host.api_patch_status_strategic(&target, patch.as_bytes()) {
            host.log(
                Level::Error,
                "unreserve",
                &[("resourceclaim", &target.name), ("err", &error.message)],
            );
        }
    }
}

/// Reserve was never reached: the claims are those of the cache, and none is in flight for this pod. Upstream still takes
/// the pod out of `reservedFor`.
fn plan_of_cache(instance: &Instance, host: &dyn Host, pod: &Pod) -> Plan {
    let Ok(resolved) = claims::pod_claims(pod, instance.profile(), |namespace, name| {
        instance.claim_from_cache(host, namespace, name)
    }) else {
        return Plan::default();
    };
    let plan = resolved.into_iter().filter_map(|resolved| {
        let meta = &resolved.claim.meta;
        let cached = host
            .cached(kinds::RESOURCE_CLAIM, &meta.namespace, &meta.name)
            .ok()?;
        let claim = Json::new(&cached.json).ok()?;
        let structured = match &resolved.claim.allocation {
            Some(allocation) => allocation.controller.is_empty(),
            None => resolved.claim.controller.is_empty(),
        };
        Some(PlannedClaim {
            claim,
            structured,
            allocation: None,
        })
    });
    Plan {
        claims: plan.collect(),
        ..Plan::default()
    }
}
