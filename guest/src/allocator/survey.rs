//! A look at all devices of a node, for those who ask why: what keeps each of them from each request (spec sections 9.1 to
//! 9.5, without the order in which upstream stops). It decides nothing: whatever the search does not look at is looked at
//! here, and an error is one device's reason and not the end.

use std::collections::BTreeSet;

use super::inventory::Inventory;
use super::pools::{Candidate, NodePools};
pub(crate) use super::pools::{PoolFacts, PoolState};
use super::requests::{MAX_RESULTS, Request};
use super::selectors::{DeviceRef, SelectorError, Selectors};
use crate::api::{Device, DeviceTaint, Node, ResourceSlice};
use crate::profile::Profile;

mod constraints;
mod counters;
mod questions;
mod together;

pub(crate) use super::counters::Fault;
pub(crate) use constraints::{Conflict, text_of};
pub(crate) use questions::{ClaimQuestions, Question};
pub(crate) use together::{Asked, Together};

/// Most devices that one claim may get.
pub(crate) const MOST_DEVICES: i64 = MAX_RESULTS;

/// What keeps a device from a request: the first that applies, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing but other requests and constraints.
    Free,
    /// It has no content.
    ContentMissing,
    /// It is for other nodes.
    OtherNodes,
    /// This selector of the request's chain is false.
    Selector(usize),
    /// This selector of the request's chain failed, with upstream's text.
    SelectorError(usize, String),
    PoolIncomplete,
    PoolInvalid,
    /// The first taint that is not tolerated, by its place in [`Survey::taints_of`].
    Taint(usize),
    InUse,
    /// The first counter of which too little is left, and what it takes of it.
    Counter(u32, i128),
    /// It has no value for this constraint of the claim.
    ConstraintAlone(usize),
}

impl Fate {
    /// What it takes of a counter of which too little is left.
    pub(crate) fn needed(&self) -> Option<i128> {
        match self {
            Fate::Counter(_, needed) => Some(*needed),
            _ => None,
        }
    }

    /// Whether all selectors took the device.
    pub(crate) fn matches(&self) -> bool {
        match self {
            Fate::ContentMissing
            | Fate::OtherNodes
            | Fate::Selector(_)
            | Fate::SelectorError(..) => false,
            Fate::Free
            | Fate::PoolIncomplete
            | Fate::PoolInvalid
            | Fate::Taint(_)
            | Fate::InUse
            | Fate::Counter(..)
            | Fate::ConstraintAlone(_) => true,
        }
    }
}

/// What a request finds on a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// By device, in visiting order.
    pub fates: Vec<Fate>,
    pub matching: usize,
    pub free: usize,
    /// How many devices it lacks, see the schema of explain.
    pub missing: u64,
    /// How many devices the claim gets by it.
    pub takes: u64,
    /// `All`: devices that are wanted and cannot be had.
    pub spoilers: Vec<usize>,
    /// `All`: a pool that is not to be used, `driver/pool`.
    pub bad_pool: Option<String>,
}

/// The devices of one node after another.
pub(crate) struct Survey {
    pools: NodePools,
    /// Whether results of admin requests hold their device (D6).
    admin_holds: bool,
    /// In 1.31 `All` requests leave out devices in use, whatever else there is about them (D2).
    leaves_out: bool,
}

/// A device that a survey looks at.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub slice: &'a ResourceSlice,
    pub device: &'a Device,
}

impl Survey {
    pub(crate) fn new(profile: &Profile) -> Self {
        let mut pools = NodePools::default();
        pools.keeps_bad = true;
        Self {
            pools,
            admin_holds: !profile.admin_access_in_results(),
            leaves_out: !profile.all_mode_refuses_devices_in_use(),
        }
    }

    /// Turns to a node. The error is that of a slice that nobody can place; then there are no devices.
    pub(crate) fn gather(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        profile: &Profile,
    ) -> Result<(), String> {
        self.pools.gather(node, inventory, profile)
    }

    /// How many devices there are, those for other nodes included.
    pub(crate) fn looked(&self) -> usize {
        self.pools.candidates.len()
    }

    /// What the node reaches.
    pub(crate) fn pools(&self, inventory: &Inventory, profile: &Profile) -> Vec<PoolFacts> {
        self.pools.facts(inventory, profile)
    }

    /// A device by its place in the visiting order.
    pub(crate) fn found<'a>(&self, position: usize, inventory: &'a Inventory) -> Found<'a> {
        let candidate = &self.pools.candidates[position];
        Found {
            slice: &inventory.entry(candidate.slot).slice,
            device: candidate.device(inventory),
        }
    }

    /// Taints of a device that prevent allocation.
    pub(crate) fn taints_of(&self, position: usize) -> &[DeviceTaint] {
        self.pools.taints_of(position)
    }

    /// What keeps each device from a request of a claim.
    pub(crate) fn answer(
        &self,
        claim: &ClaimQuestions,
        question: &Question,
        inventory: &Inventory,
        selectors: &mut dyn Selectors,
        profile: &Profile,
    ) -> Answer {
        let Ok(request) = &question.request else {
            return Answer {
                missing: question.count.map_or(1, |count| count.max(0) as u64),
                ..Answer::default()
            };
        };
        let mut answer = Answer::default();
        let mut verdicts: Vec<Result<(), Fate>> = Vec::with_capacity(self.looked());
        for pool in &self.pools.pools {
            let is_for_all = question.count.is_none();
            let skips = profile.exact_count_skips_bad_pools() || is_for_all;
            let bad = match (pool.incomplete && skips, pool.invalid && skips) {
                (true, _) => Some(Fate::PoolIncomplete),
                (false, true) => Some(Fate::PoolInvalid),
                (false, false) => None,
            };
            if bad.is_some() && is_for_all && answer.bad_pool.is_none() {
                answer.bad_pool = Some(self.pools.name_of(pool, inventory));
            }
            for position in pool.candidates.clone() {
                let verdict = self.verdict(request, position, &verdicts, inventory, selectors);
                let fate = match (&verdict, &bad) {
                    (Err(fate), _) => fate.clone(),
                    (Ok(()), Some(bad)) => bad.clone(),
                    (Ok(()), None) => self.fate(claim, request, position, inventory),
                };
                verdicts.push(verdict);
                answer.fates.push(fate);
            }
        }
        self.sum_up(request, &mut answer, profile);
        answer
    }

    /// Whether content, place and selectors let the request have the device.
    fn verdict(
        &self,
        request: &Request,
        position: usize,
        before: &[Result<(), Fate>],
        inventory: &Inventory,
        selectors: &mut dyn Selectors,
    ) -> Result<(), Fate> {
        let candidate = &self.pools.candidates[position];
        if !candidate.device(inventory).usable {
            return Err(Fate::ContentMissing);
        }
        // Of a repeated device the first verdict counts, also for the others.
        if candidate.first as usize != position {
            let mut others = self.pools.candidates.iter().zip(before);
            let known = others.find(|(other, verdict)| {
                let is_known = !matches!(verdict, Err(Fate::ContentMissing | Fate::OtherNodes));
                other.first == candidate.first && is_known
            });
            if let Some((_, verdict)) = known {
                return verdict.clone();
            }
        }
        // The selectors of devices for other nodes are evaluated all the same, and may fail.
        let elsewhere = self
            .pools
            .is_elsewhere(position)
            .then_some(Fate::OtherNodes);
        for index in 0..request.selectors.len() {
            match select(request, index, candidate, inventory, selectors) {
                Ok(true) => {}
                Ok(false) => return Err(elsewhere.unwrap_or(Fate::Selector(index))),
                Err(text) => return Err(Fate::SelectorError(index, text)),
            }
        }
        elsewhere.map_or(Ok(()), Err)
    }

    /// What keeps a device that matches from being picked.
    fn fate(
        &self,
        claim: &ClaimQuestions,
        request: &Request,
        position: usize,
        inventory: &Inventory,
    ) -> Fate {
        let candidate = &self.pools.candidates[position];
        let tolerates = |taint: &DeviceTaint| {
            let mut tolerations = request.tolerations.iter();
            tolerations.any(|toleration| toleration.tolerates(taint))
        };
        let is_held = !request.admin && inventory.is_held(candidate.device, self.admin_holds);
        if is_held && self.leaves_out && request.count.is_none() {
            return Fate::InUse;
        }
        if let Some(index) = self
            .taints_of(position)
            .iter()
            .position(|taint| !tolerates(taint))
        {
            return Fate::Taint(index);
        }
        if is_held {
            return Fate::InUse;
        }
        let counters = &self.pools.counters;
        let mut needed = counters.needed_by(position).iter();
        let short =
            |(counter, amount): &&(u32, i128)| counters.available[*counter as usize] < *amount;
        if let Some((counter, amount)) = needed.find(short) {
            return Fate::Counter(*counter, *amount);
        }
        match claim.refusing(request, self.found(position, inventory)) {
            Some(constraint) => Fate::ConstraintAlone(constraint),
            None => Fate::Free,
        }
    }

    /// What keeps a tainted device from a request beside the taint that was told: other taints, and that it is in use.
    pub(crate) fn beside(
        &self,
        question: &Question,
        position: usize,
        told: usize,
        inventory: &Inventory,
    ) -> Vec<Fate> {
        let Ok(request) = &question.request else {
            return Vec::new();
        };
        let tolerates = |taint: &DeviceTaint| {
            let mut tolerations = request.tolerations.iter();
            tolerations.any(|toleration| toleration.tolerates(taint))
        };
        let taints = self.taints_of(position).iter().enumerate();
        let mut fates: Vec<Fate> = taints
            .filter(|(index, taint)| *index != told && !tolerates(taint))
            .map(|(index, _)| Fate::Taint(index))
            .collect();
        let device = self.pools.candidates[position].device;
        if !request.admin && inventory.is_held(device, self.admin_holds) {
            fates.push(Fate::InUse);
        }
        fates
    }

    fn sum_up(&self, request: &Request, answer: &mut Answer, profile: &Profile) {
        let fates = &answer.fates;
        answer.matching = fates.iter().filter(|fate| fate.matches()).count();
        answer.free = fates.iter().filter(|fate| **fate == Fate::Free).count();
        let Some(count) = request.count else {
            return self.sum_up_all(answer, profile);
        };
        let wanted = count.max(0) as u64;
        answer.takes = wanted;
        // In 1.31 an admin request may pick the same device again (D7).
        let may_repeat = request.admin && !profile.admin_access_excludes_own_devices();
        answer.missing = match (may_repeat, answer.free) {
            (true, 1..) => 0,
            _ => wanted.saturating_sub(answer.free as u64),
        };
    }

    fn sum_up_all(&self, answer: &mut Answer, profile: &Profile) {
        let fates = answer.fates.iter().enumerate();
        let wanted = fates.filter(|(_, fate)| fate.matches());
        let wanted: Vec<usize> = wanted.map(|(position, _)| position).collect();
        // In 1.31 devices that are in use or picked for the pod are left out (D2), so that none is sure to be wanted.
        if !self.leaves_out {
            let spoils = |position: &usize| answer.fates[*position] != Fate::Free;
            answer.spoilers = wanted.iter().copied().filter(spoils).collect();
            // A device that is there twice is picked once.
            let firsts = wanted.iter();
            let firsts = firsts.map(|position| self.pools.candidates[*position].first);
            answer.takes = firsts.collect::<BTreeSet<_>>().len() as u64;
        }
        let is_empty = answer.matching == 0 && profile.all_mode_needs_a_device();
        let spoiled = !answer.spoilers.is_empty() || answer.bad_pool.is_some();
        answer.missing = u64::from(spoiled || is_empty);
    }
}

/// How many devices a claim gets at least: of alternatives the smallest.
pub(crate) fn least(claim: &ClaimQuestions, answers: &[Answer]) -> u64 {
    let asked: Vec<_> = claim.requests.iter().zip(answers).collect();
    let groups = asked.chunk_by(|a, b| a.0.group == b.0.group);
    let least = groups.map(|group| {
        let needed = group.iter().map(|(question, answer)| match question.count {
            Some(count) => count.max(0) as u64,
            None => answer.matching as u64,
        });
        needed.min().unwrap_or(0)
    });
    least.fold(0, u64::saturating_add)
}

fn select(
    request: &Request,
    index: usize,
    candidate: &Candidate,
    inventory: &Inventory,
    selectors: &mut dyn Selectors,
) -> Result<bool, String> {
    let Some(expression) = request.selectors[index].expression else {
        return Err("CEL expression empty (unsupported selector type?)".into());
    };
    let entry = inventory.entry(candidate.slot);
    let device = DeviceRef {
        slot: candidate.slot,
        content: entry.contents[candidate.index as usize],
        index: candidate.index,
        driver: &entry.slice.driver,
        device: candidate.device(inventory),
    };
    selectors
        .matches(expression, device)
        .map_err(|error| match error {
            SelectorError::Compile(text) => format!("CEL compile error: {text}"),
            SelectorError::Runtime(text) => format!("CEL runtime error: {text}"),
        })
}

/// `driver/pool/device`.
impl std::fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Found { slice, device } = self;
        write!(f, "{}/{}/{}", slice.driver, slice.pool, device.name)
    }
}
