//! The allocator once more, written to be obvious: the text of spec section 9 as a recursive function, without indexes, caches
//! across nodes, pruning or undo lists. Only the answer, and what is evaluated in which order, count.

mod devices;
mod pools;
mod requests;
mod search;

use std::collections::{BTreeMap, BTreeSet};

use super::support::{Cluster, Evaluation, evaluate, short};
use crate::allocator::DEFAULT_STEPS;
use crate::allocator::selectors::SelectorError;
use crate::api::{
    Attribute, CounterSet, Device, DeviceConstraint, DeviceResult, DeviceToleration, ExactRequest,
    Node, Reach, RequestBody, ResourceSlice, TaintEffect,
};
use crate::node_selector::NodeSelector;
use crate::profile::Profile;

/// (driver, pool, device).
type Id = (String, String, String);

struct Pool {
    /// Slots of the kept slices, in order; in 1.31 a slot may be there twice (D3).
    slices: Vec<usize>,
    name: String,
    incomplete: bool,
    invalid: bool,
}

/// A device that was picked.
#[derive(Clone)]
struct Pick {
    claim: usize,
    request: usize,
    /// Index among the alternatives; 0 for a request without.
    alternative: usize,
    slot: usize,
    index: usize,
}

/// Claim, request, alternative.
type Asked = (usize, usize, usize);

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Yes,
    No,
    /// The claim would get too many devices, whatever is picked for what comes before in it.
    TooMany,
}

pub struct Oracle<'a> {
    cluster: &'a Cluster,
    profile: &'a Profile,
    pools: Vec<Pool>,
    known: BTreeMap<(Asked, Id), bool>,
    /// The devices of All requests.
    all: BTreeMap<Asked, Vec<(usize, usize)>>,
    picks: Vec<Pick>,
    pub log: Vec<Evaluation>,
    /// Devices looked at.
    pub visits: u64,
    limit: u64,
}

/// The answer in the short form of [`super::support::short`], what was evaluated, and how many devices were looked at. `None`
/// if that would be more than `limit`.
pub fn answer(
    cluster: &Cluster,
    profile: &Profile,
    limit: u64,
) -> Option<(String, Vec<Evaluation>, u64)> {
    let mut oracle = Oracle {
        cluster,
        profile,
        pools: Vec::new(),
        known: BTreeMap::new(),
        all: BTreeMap::new(),
        picks: Vec::new(),
        log: Vec::new(),
        visits: 0,
        limit,
    };
    let answer = match oracle.run() {
        Err(_) if oracle.visits > limit => return None,
        Err(error) => format!("error: {error}"),
        Ok(false) if oracle.pools.iter().any(|pool| pool.invalid) => "invalid pools".into(),
        Ok(false) => "does not fit".into(),
        Ok(true) => oracle.describe(),
    };
    Some((answer, oracle.log, oracle.visits))
}

/// That the search gives the oracle's answer, and evaluates the same in the same order: the answer, how many devices the
/// oracle looked at, and how many the search. `None` as for [`answer`].
#[track_caller]
pub fn compare(
    cluster: &Cluster,
    profile: &Profile,
    limit: u64,
    seed: u64,
) -> Option<(String, u64, u64)> {
    let (expected, evaluations, visits) = answer(cluster, profile, limit)?;
    let (outcome, log, steps) = cluster.run(profile, DEFAULT_STEPS);
    let case = format!("seed {seed}, minor {}", profile.minor());
    assert_eq!(short(&outcome), expected, "{case}: {cluster:#?}");
    assert_eq!(log, evaluations, "evaluations of {case}: {cluster:#?}");
    Some((expected, visits, steps))
}

impl<'a> Oracle<'a> {
    fn run(&mut self) -> Result<bool, String> {
        self.gather()?;
        self.check_claims()?;
        self.known.clear();
        Ok(self.solve(0, 0)? == Found::Yes)
    }

    fn describe(&self) -> String {
        let claims = 0..self.cluster.claims.len();
        let of_claim = |claim: usize| {
            let picks = self.picks.iter().filter(|pick| pick.claim == claim);
            let text = picks.map(|pick| {
                let request = self.names(pick.claim, pick.request, pick.alternative).1;
                format!(
                    "{request}:{}/{}",
                    self.slice(pick.slot).pool,
                    self.device(pick.slot, pick.index).name
                )
            });
            text.collect::<Vec<_>>().join(" ")
        };
        claims.map(of_claim).collect::<Vec<_>>().join(" | ")
    }

    fn request(&self, (c, r, a): Asked) -> &'a ExactRequest {
        let cluster = self.cluster;
        match &cluster.claims[c].requests[r].body {
            RequestBody::Exactly(exact) => exact,
            RequestBody::FirstAvailable(alternatives) => &alternatives[a].1,
        }
    }

    fn alternatives(&self, c: usize, r: usize) -> usize {
        match &self.cluster.claims[c].requests[r].body {
            RequestBody::Exactly(_) => 1,
            RequestBody::FirstAvailable(alternatives) => alternatives.len(),
        }
    }

    /// The name for messages, and the one for results.
    fn names(&self, c: usize, r: usize, a: usize) -> (String, String) {
        let request = &self.cluster.claims[c].requests[r];
        match &request.body {
            RequestBody::Exactly(_) => (request.name.clone(), request.name.clone()),
            RequestBody::FirstAvailable(alternatives) => {
                let name = &alternatives[a].0;
                (name.clone(), format!("{}/{name}", request.name))
            }
        }
    }

    fn slice(&self, slot: usize) -> &ResourceSlice {
        &self.cluster.slices[slot]
    }

    fn device(&self, slot: usize, index: usize) -> &Device {
        &self.cluster.slices[slot].devices[index]
    }

    fn id(&self, slot: usize, index: usize) -> Id {
        let slice = self.slice(slot);
        (
            slice.driver.to_string(),
            slice.pool.to_string(),
            slice.devices[index].name.to_string(),
        )
    }
}

fn consumed(device: &Device) -> &[CounterSet] {
    device.extra.as_ref().map_or(&[], |extra| &extra.consumes)
}

fn is_for(device: &Device, node: &Node) -> Result<bool, String> {
    let reach = device.extra.as_ref().and_then(|extra| extra.reach.as_ref());
    includes(reach.unwrap_or(&Reach::Nowhere), node)
}

fn includes(reach: &Reach, node: &Node) -> Result<bool, String> {
    match reach {
        Reach::NodeName(name) => Ok(*name == node.name),
        Reach::AllNodes => Ok(true),
        Reach::NodeSelector(selector) => Ok(NodeSelector::parse(selector)?.matches(node)),
        Reach::PerDevice | Reach::Nowhere => Ok(false),
    }
}
