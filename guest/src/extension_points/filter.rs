//! Filter: whether the pod's claims can be used or allocated on a node (spec 7.3).

use crate::allocator::{INVALID_POOLS, Observer, Outcome};
use crate::cycle::{Answers, ClaimInfo, State};
use crate::host::{Host, Slot};
use crate::plugin::Instance;
use crate::status::{Code, Status};

/// Answers for a batch. After the first error the rest gets the same answer: it ends the cycle.
pub fn filter(
    instance: &mut Instance,
    host: &dyn Host,
    state: &mut State,
    nodes: &[Slot],
) -> Answers {
    let mut answers = Answers::default();
    for &slot in nodes {
        let status = filter_node(instance, host, state, slot, &mut ());
        let ends_cycle = status.code == Code::Error;
        answers.push(status);
        if ends_cycle {
            let verdict = answers.verdicts.last().copied().unwrap_or_default();
            answers.verdicts.resize(nodes.len(), verdict);
            break;
        }
    }
    answers
}

/// The answer for one node.
pub fn filter_node<O: Observer>(
    instance: &mut Instance,
    host: &dyn Host,
    state: &mut State,
    slot: Slot,
    observer: &mut O,
) -> Status {
    if state.claims.is_empty() {
        return Status::success();
    }
    let Some(node) = instance.view.node(slot) else {
        return Status::error(format!("node with slot {slot} is not known"));
    };
    let mut unavailable = Vec::new();
    for (index, info) in state.claims.iter().enumerate() {
        if info.claim.allocation.is_some() {
            // Does not end the walk, and the allocator still runs (trap T1).
            if info
                .available_on_nodes
                .values()
                .any(|selector| !selector.matches(node))
            {
                unavailable.push(index);
            }
        } else if let Err(status) = check_classic(info, node) {
            return status;
        }
    }
    let mut score = 0;
    if let Some(allocator) = &mut state.allocator {
        match instance.fits(host, allocator, slot, observer) {
            Ok(found) => score = found,
            Err(outcome) => return refusal(outcome),
        }
    }
    if !unavailable.is_empty() {
        state.unavailable.extend(unavailable);
        return Status::unresolvable("resourceclaim not available on the node");
    }
    if state.allocator.is_some() {
        state.node_allocations.insert(slot);
        if score != 0 {
            state.scores.insert(slot, score);
        }
    }
    Status::success()
}

/// The status for a node on which the allocator found nothing.
fn refusal(outcome: Outcome) -> Status {
    match outcome {
        Outcome::Allocated(_) => Status::success(),
        Outcome::DoesNotFit => Status::unresolvable("cannot allocate all claims"),
        Outcome::InvalidPools => Status::unresolvable(INVALID_POOLS),
        Outcome::BudgetExhausted(text) | Outcome::BadPool(text) => Status::unresolvable(text),
        Outcome::InvalidObject(text) => Status::new(Code::InvalidObject, text),
        Outcome::Error(text) => Status::error(text),
    }
}

/// Steps b to d: an unallocated claim.
fn check_classic(info: &ClaimInfo, node: &crate::api::Node) -> Result<(), Status> {
    if info.claim.deallocation_requested {
        return Err(Status::unresolvable("resourceclaim must be reallocated"));
    }
    if info
        .available_on_nodes
        .values()
        .any(|selector| !selector.matches(node))
    {
        return Err(Status::unresolvable("excluded by device class node filter"));
    }
    if info
        .unsuitable_nodes
        .as_ref()
        .is_some_and(|nodes| nodes.contains(&node.name))
    {
        return Err(Status::unresolvable(
            "resourceclaim cannot be allocated for the node (unsuitable)",
        ));
    }
    Ok(())
}
