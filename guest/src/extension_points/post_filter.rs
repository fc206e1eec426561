//! PostFilter: frees a claim that is allocated where the pod cannot run (spec 7.4).

use crate::api::{Pod, edit};
use crate::cycle::State;
use crate::host::{Host, kinds};
use crate::plugin::Instance;
use crate::scheduling_context;
use crate::status::Status;

/// At most one claim per cycle, by a single write (trap T13).
pub fn post_filter(instance: &Instance, host: &dyn Host, pod: &Pod, state: &mut State) -> Status {
    if state.claims.is_empty() {
        return Status::unschedulable("no new claims to deallocate");
    }
    // In random order, so that pods which wait for each other's claims do not keep freeing the same one.
    let mut indices: Vec<usize> = state.unavailable.iter().copied().collect();
    while !indices.is_empty() {
        let chosen = usize::try_from(host.random() % indices.len() as u64).unwrap_or(0);
        let index = indices.swap_remove(chosen);
        let reserved_for = &state.claims[index].claim.reserved_for;
        let only_for_pod = match reserved_for.as_slice() {
            [] => true,
            [consumer] => consumer.uid == pod.meta.uid,
            _ => false,
        };
        if only_for_pod {
            return match deallocate(instance, host, pod, state, index) {
                Ok(()) => Status::unschedulable("deallocation of ResourceClaim completed"),
                Err(text) => Status::error(text),
            };
        }
    }
    Status::unschedulable("still not schedulable")
}

fn deallocate(
    instance: &Instance,
    host: &dyn Host,
    pod: &Pod,
    state: &mut State,
    index: usize,
) -> Result<(), String> {
    let clear = state.claims[index].structured;
    if !clear && !state.context.selected_node().is_empty() {
        state.context.edits.selected_node = Some(String::new());
        let known = scheduling_context::known_json(host, pod, &state.context);
        scheduling_context::publish(
            host,
            instance.profile(),
            pod,
            known.as_ref(),
            &mut state.context.edits,
        )?;
    }
    let meta = &state.claims[index].claim.meta;
    let cached = host
        .cached(kinds::RESOURCE_CLAIM, &meta.namespace, &meta.name)
        .map_err(|error| error.message)?;
    let mut claim = serde_json::from_slice(&cached.json)
        .map_err(|error| format!("claim {}/{}: {error}", meta.namespace, meta.name))?;
    edit::clear_reserved_for(&mut claim);
    match clear {
        true => edit::clear_allocation(&mut claim),
        false => edit::request_deallocation(&mut claim),
    }
    host.api_update_status(&edit::to_bytes(&claim))
        .map_err(|error| error.message)?;
    Ok(())
}
