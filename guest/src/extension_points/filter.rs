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
    answers.verdicts.reserve_exact(nodes.len());
    // Nearly all nodes get one of two answers, and comparing texts costs more than a search that ends at once.
    let mut usual = [None; 2];
    let allocates_only = allocates_only(state);
    for &slot in nodes {
        let verdict = match allocates_only {
            true => allocate(instance, host, state, slot, &mut ()),
            false => judge(instance, host, state, slot, &mut ()),
        };
        let kind = match verdict {
            Ok(()) => Some(0),
            Err(Refusal::DoesNotFit) => Some(1),
            Err(Refusal::Because(_)) => None,
        };
        if let Some(index) = kind.and_then(|kind: usize| usual[kind]) {
            answers.verdicts.push(index);
            continue;
        }
        let status = Status::from(verdict);
        let ends_cycle = status.code == Code::Error;
        answers.push(status);
        if let Some(kind) = kind {
            usual[kind] = answers.verdicts.last().copied();
        }
        if ends_cycle {
            let verdict = answers.verdicts.last().copied().unwrap_or_default();
            answers.verdicts.resize(nodes.len(), verdict);
            break;
        }
    }
    answers
}

/// Why a node is refused.
enum Refusal {
    /// Nothing was found.
    DoesNotFit,
    Because(Status),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Because(status)
    }
}

impl From<Result<(), Refusal>> for Status {
    fn from(verdict: Result<(), Refusal>) -> Self {
        match verdict {
            Ok(()) => Self::success(),
            Err(Refusal::DoesNotFit) => Self::unresolvable("cannot allocate all claims"),
            Err(Refusal::Because(status)) => status,
        }
    }
}

/// The answer for one node.
pub fn filter_node<O: Observer>(
    instance: &mut Instance,
    host: &dyn Host,
    state: &mut State,
    slot: Slot,
    observer: &mut O,
) -> Status {
    judge(instance, host, state, slot, observer).into()
}

fn judge<O: Observer>(
    instance: &mut Instance,
    host: &dyn Host,
    state: &mut State,
    slot: Slot,
    observer: &mut O,
) -> Result<(), Refusal> {
    if state.claims.is_empty() {
        return Ok(());
    }
    let Some(node) = instance.view.node(slot) else {
        return Err(Status::error(format!("node with slot {slot} is not known")).into());
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
        } else {
            check_classic(info, node)?;
        }
    }
    if unavailable.is_empty() {
        return allocate(instance, host, state, slot, observer);
    }
    if let Some(allocator) = &mut state.allocator {
        let found = instance.fits(host, allocator, slot, observer);
        found.map_err(refusal)?;
    }
    state.unavailable.extend(unavailable);
    Err(Status::unresolvable("resourceclaim not available on the node").into())
}

/// Whether no claim of the pod restricts its nodes by itself: only the allocator, which knows the node, has to be asked.
fn allocates_only(state: &State) -> bool {
    let is_free = |info: &ClaimInfo| {
        info.claim.allocation.is_none()
            && !info.claim.deallocation_requested
            && info.available_on_nodes.is_empty()
            && info.unsuitable_nodes.is_none()
    };
    state.allocator.is_some() && !state.claims.is_empty() && state.claims.iter().all(is_free)
}

/// Looks for devices for the claims that need some.
#[inline]
fn allocate<O: Observer>(
    instance: &mut Instance,
    host: &dyn Host,
    state: &mut State,
    slot: Slot,
    observer: &mut O,
) -> Result<(), Refusal> {
    let Some(allocator) = &mut state.allocator else {
        return Ok(());
    };
    let score = instance
        .fits(host, allocator, slot, observer)
        .map_err(refusal)?;
    state.node_allocations.insert(slot);
    if score != 0 {
        state.scores.insert(slot, score);
    }
    Ok(())
}

/// For a node on which the allocator found nothing.
fn refusal(outcome: Outcome) -> Refusal {
    let status = match outcome {
        Outcome::DoesNotFit => return Refusal::DoesNotFit,
        Outcome::Allocated(_) => Status::success(),
        Outcome::InvalidPools => Status::unresolvable(INVALID_POOLS),
        Outcome::BudgetExhausted(text) | Outcome::BadPool(text) => Status::unresolvable(text),
        Outcome::InvalidObject(text) => Status::new(Code::InvalidObject, text),
        Outcome::Error(text) => Status::error(text),
    };
    status.into()
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
