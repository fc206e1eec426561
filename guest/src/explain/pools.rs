//! The pools of a node, what is wrong with them, and slices that the node does not reach (spec section 9.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::Inventory;
use crate::allocator::survey::{Fault, PoolFacts, PoolState};
use crate::api::{Reach, ResourceSlice};

use super::report::{Cause, Pool, Unreachable};
use super::words;

/// Slices of a pool that are named.
const MOST_SLICES: usize = 8;

/// A pool by name.
pub fn told(facts: &PoolFacts) -> Pool {
    let stale = facts.stale.iter().take(MOST_SLICES);
    Pool {
        driver: words::name(&facts.driver),
        pool: words::name(&facts.pool),
        generation: facts.generation,
        slices: facts.slices,
        expected: facts.expected,
        stale: stale.map(|name| words::name(name)).collect(),
        devices: facts.devices,
        state: match facts.state {
            PoolState::Usable => "usable",
            PoolState::Incomplete => "incomplete",
            PoolState::Invalid => "invalid",
            PoolState::Stale => "stale",
        },
        repeated: facts.repeated.as_deref().map(words::name),
        cause: invalid(facts),
    }
}

/// Why a pool cannot be used.
fn invalid(facts: &PoolFacts) -> Option<Cause> {
    let name = |text: &Arc<str>| Some(words::name(text));
    if facts.state != PoolState::Invalid {
        return None;
    }
    let nothing = Cause::default();
    let cause = match (&facts.fault, &facts.repeated) {
        (Some(Fault::SetTwice(set)), _) => Cause {
            kind: "counter-set-twice",
            set: name(set),
            ..nothing
        },
        (Some(Fault::NoSet(device, set)), _) => Cause {
            kind: "counter-set-missing",
            device: name(device),
            set: name(set),
            ..nothing
        },
        (Some(Fault::NoCounter(device, set, counter)), _) => Cause {
            kind: "counter-missing",
            device: name(device),
            set: name(set),
            counter: name(counter),
        },
        (None, Some(device)) => Cause {
            kind: "device-twice",
            device: name(device),
            ..nothing
        },
        (None, None) if facts.disagrees => Cause {
            kind: "slice-counts-differ",
            ..nothing
        },
        (None, None) => return None,
    };
    Some(cause)
}

/// For each driver what is to be told to a node that reaches none of its slices.
pub fn drivers(inventory: &Inventory) -> BTreeMap<Arc<str>, Vec<Unreachable>> {
    let mut drivers: BTreeMap<Arc<str>, Vec<Unreachable>> = BTreeMap::new();
    for slice in inventory.slices() {
        let (cause, nodes) = cause(slice);
        let told = drivers.entry(slice.driver.clone()).or_default();
        match told.iter_mut().find(|told| told.cause == cause) {
            Some(told) => {
                told.slices += 1;
                told.devices += slice.devices.len();
            }
            None => told.push(Unreachable {
                driver: words::name(&slice.driver),
                cause,
                slices: 1,
                devices: slice.devices.len(),
                example: words::name(&slice.name),
                nodes,
            }),
        }
    }
    drivers
}

fn cause(slice: &ResourceSlice) -> (&'static str, Option<String>) {
    match &slice.reach {
        Reach::NodeName(name) => ("other-node", Some(words::name(name))),
        Reach::NodeSelector(selector) => ("selector", Some(words::selector(selector))),
        Reach::PerDevice => ("device-nodes", None),
        Reach::AllNodes | Reach::Nowhere => ("nowhere", None),
    }
}
