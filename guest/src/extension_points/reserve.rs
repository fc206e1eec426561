//! Reserve: decides for a node, without writing to the API (spec 7.6).

use std::rc::Rc;

use crate::allocator::Outcome;
use crate::api::{Pod, edit};
use crate::cycle::State;
use crate::host::{Host, InFlight, ObjectRef, Slot, kinds};
use crate::plan::{Json, Plan, PlannedClaim};
use crate::plugin::Instance;
use crate::scheduling_context;
use crate::status::{Code, Status};

/// The status, and the plan that says what to write or to undo.
pub fn reserve(
    instance: &mut Instance,
    host: &dyn Host,
    pod: &Pod,
    state: &mut State,
    node: Slot,
) -> (Status, Plan) {
    if state.claims.is_empty() {
        return (Status::success(), Plan::default());
    }
    let mut plan = match new_plan(host, pod, state) {
        Ok(plan) => plan,
        Err(text) => return (Status::error(text), Plan::default()),
    };
    let status = decide(instance, host, pod, state, node, &mut plan).unwrap_or_else(Status::error);
    plan.edits = state.context.edits.clone();
    (status, plan)
}

/// The pod's claims as the cache shows them. Within a cycle that is what PreFilter saw.
fn new_plan(host: &dyn Host, pod: &Pod, state: &State) -> Result<Plan, String> {
    let mut claims = Vec::with_capacity(state.claims.len());
    for info in &state.claims {
        let meta = &info.claim.meta;
        let cached = host
            .cached(kinds::RESOURCE_CLAIM, &meta.namespace, &meta.name)
            .map_err(|error| error.message)?;
        let claim = Json::new(&cached.json)
            .map_err(|error| format!("claim {}/{}: {error}", meta.namespace, meta.name))?;
        claims.push(PlannedClaim {
            claim,
            structured: info.structured,
            allocation: None,
        });
    }
    let context = scheduling_context::known_json(host, pod, &state.context);
    Ok(Plan {
        claims,
        context,
        ..Plan::default()
    })
}

/// How many unallocated claims there are of each sort.
struct Counts {
    structured: usize,
    classic: usize,
    classic_with_information: usize,
}

fn count(state: &State) -> Counts {
    let mut counts = Counts {
        structured: 0,
        classic: 0,
        classic_with_information: 0,
    };
    for info in state
        .claims
        .iter()
        .filter(|info| info.claim.allocation.is_none())
    {
        if info.structured {
            counts.structured += 1;
            continue;
        }
        counts.classic += 1;
        if state.context.unsuitable_nodes(&info.entry).is_some() {
            counts.classic_with_information += 1;
        }
    }
    counts
}

fn decide(
    instance: &mut Instance,
    host: &dyn Host,
    pod: &Pod,
    state: &mut State,
    node: Slot,
    plan: &mut Plan,
) -> Result<Status, String> {
    let counts = count(state);
    if counts.classic == 0 && counts.structured == 0 {
        return Ok(Status::success());
    }
    let node_name = instance
        .view
        .node(node)
        .map(|node| node.name.clone())
        .unwrap_or_default();
    // PreScore is skipped when one node is left (trap T10).
    if !state.pre_scored && counts.classic > 0 && !state.context.has_potential_node(&node_name) {
        state.context.edits.potential_nodes = Some(vec![node_name.clone()]);
    }
    if state.allocator.is_some() {
        put_in_flight(instance, host, pod, state, node, counts.structured, plan)?;
    }
    if selects_node(instance, &counts) && state.context.selected_node() != node_name {
        // Success although the pod cannot be bound yet (trap T9): PreBind publishes instead of binding.
        state.context.edits.selected_node = Some(node_name);
        return Ok(Status::success());
    }
    if state.context.edits.is_dirty() || counts.classic == 0 {
        return Ok(Status::success());
    }
    Ok(Status::new(
        Code::Pending,
        "waiting for resource driver to provide information",
    ))
}

/// Whether the drivers know enough for a node to be selected. D11: upstream's formula counts structured claims as
/// information.
fn selects_node(instance: &Instance, counts: &Counts) -> bool {
    let Counts {
        structured,
        classic,
        classic_with_information,
    } = *counts;
    if classic == 1 && structured == 0 {
        return true;
    }
    match instance
        .profile()
        .node_selection_counts_classic_claims_only()
    {
        true => classic > 0 && classic_with_information == classic,
        false => classic_with_information + structured == classic && structured < classic,
    }
}

/// Step 5: the results for the node go into the ledger, all or none.
fn put_in_flight(
    instance: &mut Instance,
    host: &dyn Host,
    pod: &Pod,
    state: &mut State,
    node: Slot,
    wanted: usize,
    plan: &mut Plan,
) -> Result<(), String> {
    let Some(allocator) = &mut state.allocator else {
        return Ok(());
    };
    if !state.node_allocations.contains(node) {
        return Err("claim allocation not found for node".into());
    }
    let Outcome::Allocated(results) = instance.allocate(allocator, node) else {
        return Err("claim allocation not found for node".into());
    };
    let to_allocate = allocator.claims().to_vec();
    if results.len() != to_allocate.len() || results.len() != wanted {
        return Err(format!(
            "internal error, have {} allocations, {} claims to allocate, want {wanted} claims",
            results.len(),
            to_allocate.len()
        ));
    }
    let mut entries = Vec::with_capacity(results.len());
    for (claim, result) in to_allocate.iter().zip(results) {
        let Some(index) = state
            .claims
            .iter()
            .position(|info| Rc::ptr_eq(&info.claim, claim))
        else {
            return Err(format!(
                "internal error, claim {} with allocation not found",
                claim.meta.name
            ));
        };
        let allocation = edit::allocation_json(claim.version, &result);
        let mut object = plan.claims[index].claim.read().map_err(|error| {
            let meta = &claim.meta;
            format!("claim {}/{}: {error}", meta.namespace, meta.name)
        })?;
        edit::add_finalizer(&mut object);
        edit::insert_allocation(&mut object, allocation.clone());
        entries.push(InFlight {
            target: ObjectRef {
                kind: kinds::RESOURCE_CLAIM.into(),
                namespace: claim.meta.namespace.clone(),
                name: claim.meta.name.clone(),
                uid: claim.meta.uid.clone(),
            },
            holder: pod.meta.uid.clone(),
            json: edit::to_bytes(&object),
        });
        plan.claims[index].allocation = Some(allocation);
        state.claims[index].allocation = Some(result);
    }
    host.put_in_flight(&entries).map_err(|error| error.message)
}
