//! PreScore: tells classic drivers which nodes are worth asking about (spec 7.5).

use crate::cycle::State;
use crate::host::{Host, Slot};
use crate::plugin::Instance;
use crate::scheduling_context::choose_potential_nodes;
use crate::status::Status;

/// Notes the potential nodes; Reserve decides, PreBind writes.
pub fn pre_score(
    instance: &Instance,
    host: &dyn Host,
    state: &mut State,
    nodes: &[Slot],
) -> Status {
    // Set even when there is nothing to do (trap T10).
    state.pre_scored = true;
    if !state
        .claims
        .iter()
        .any(|info| info.claim.allocation.is_none() && !info.structured)
    {
        return Status::success();
    }
    let names: Vec<String> = nodes
        .iter()
        .filter_map(|slot| instance.view.node(*slot))
        .map(|node| node.name.clone())
        .collect();
    // A superset is fine: a change would only make the drivers work again.
    if state.context.known.is_some()
        && names
            .iter()
            .all(|name| state.context.has_potential_node(name))
    {
        return Status::success();
    }
    state.context.edits.potential_nodes = Some(choose_potential_nodes(host, names));
    Status::success()
}
