//! The pools that one node can reach, and their devices in visiting order: spec section 9.1, upstream's `GatherPools`.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::counters::NodeCounters;
use super::inventory::Inventory;
use super::names::{DeviceKey, PoolKey};
use super::rules;
use crate::api::{Device, DeviceTaint, DeviceToleration, Node, Reach};
use crate::profile::Profile;

mod facts;

pub(crate) use facts::{PoolFacts, PoolState};

/// What a node can reach. The lists are reused from node to node.
#[derive(Debug, Default)]
pub(crate) struct NodePools {
    /// In the order of driver and pool name.
    pub pools: Vec<Pool>,
    /// Devices in visiting order; those of pools that the profile never takes from are left out.
    pub candidates: Vec<Candidate>,
    /// Some device is there twice.
    pub has_repeats: bool,
    /// Positions of the candidates without content, which are never selected.
    pub unusable: Vec<u32>,
    /// Positions of the candidates that are for other nodes, in order: their selectors are evaluated all the same.
    elsewhere: Vec<u32>,
    /// Candidates with taints that prevent allocation, in order.
    tainted: Vec<(u32, Arc<[DeviceTaint]>)>,
    pub counters: NodeCounters,
    /// Also those of pools that are not to be used, for those who only look.
    pub keeps_bad: bool,
    /// Kept slices of all pools.
    slices: Vec<u32>,
    /// Slices that the node can reach, before old generations are dropped.
    reached: Vec<u32>,
}

/// A pool as the node sees it.
#[derive(Debug)]
pub(crate) struct Pool {
    slices: Range<usize>,
    /// Its devices in [`NodePools::candidates`].
    pub candidates: Range<usize>,
    /// Slices are missing.
    pub incomplete: bool,
    /// A device name is repeated (D5).
    pub invalid: bool,
    /// Candidates may repeat a device.
    repeats: bool,
    /// Its number, if counters matter.
    counted: Option<PoolKey>,
}

/// A device that may be picked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub device: DeviceKey,
    pub slot: u32,
    /// Position in its slice.
    pub index: u32,
    /// Position of the first candidate that is the same device, which is nearly always its own.
    pub first: u32,
}

impl NodePools {
    /// Gathers the pools of a node. The error is that of a slice with a broken node selector, reachable or not.
    pub(crate) fn gather(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        profile: &Profile,
    ) -> Result<(), String> {
        self.pools.clear();
        self.candidates.clear();
        self.slices.clear();
        self.has_repeats = false;
        self.unusable.clear();
        self.elsewhere.clear();
        self.tainted.clear();
        self.counters.clear();
        if let Some((slice, error)) = inventory.broken() {
            return Err(format!(
                "gather pool information: node selector in resource slice {slice}: {error}"
            ));
        }
        let mut reached = std::mem::take(&mut self.reached);
        reach(node, inventory, &mut reached);
        for group in reached.chunk_by(|a, b| inventory.entry(*a).pool == inventory.entry(*b).pool) {
            self.add_pool(group, inventory, profile);
        }
        self.reached = reached;
        self.add_candidates(node, inventory, profile);
        Ok(())
    }

    /// Whether nothing but selectors, constraints and other claims keeps a pod from any of the node's devices, which are
    /// this many.
    pub(crate) fn are_simple(&self, devices: usize) -> bool {
        let is_simple = |pool: &Pool| !(pool.incomplete || pool.invalid || pool.counted.is_some());
        self.candidates.len() == devices
            && self.pools.iter().all(is_simple)
            && self.unusable.is_empty()
            && !self.has_repeats
            && !self.has_barred()
    }

    /// `<driver>/<pool>`, for messages.
    pub(crate) fn name_of(&self, pool: &Pool, inventory: &Inventory) -> String {
        let slice = &inventory.entry(self.slices[pool.slices.start]).slice;
        format!("{}/{}", slice.driver, slice.pool)
    }

    /// Calls for each candidate that is the same device as this one, itself included.
    pub(crate) fn each_same(&self, position: usize, mut call: impl FnMut(usize)) {
        if !self.has_repeats {
            return call(position);
        }
        let first = self.candidates[position].first;
        for (other, candidate) in self.candidates.iter().enumerate() {
            if candidate.first == first {
                call(other);
            }
        }
    }

    /// Whether there are candidates that some requests may not get.
    pub(crate) fn has_barred(&self) -> bool {
        !self.elsewhere.is_empty() || !self.tainted.is_empty()
    }

    /// Calls for each candidate that a request with these tolerations may not get.
    pub(crate) fn each_barred(
        &self,
        tolerations: &[DeviceToleration],
        mut call: impl FnMut(usize),
    ) {
        for &position in &self.elsewhere {
            call(position as usize);
        }
        for (position, taints) in &self.tainted {
            if !rules::tolerated(taints, tolerations) {
                call(*position as usize);
            }
        }
    }

    /// Whether the candidate is for other nodes.
    pub(crate) fn is_elsewhere(&self, position: usize) -> bool {
        self.elsewhere.binary_search(&(position as u32)).is_ok()
    }

    /// Whether a request with these tolerations tolerates the candidate's taints.
    pub(crate) fn tolerated(&self, position: usize, tolerations: &[DeviceToleration]) -> bool {
        let position = position as u32;
        match self
            .tainted
            .binary_search_by_key(&position, |entry| entry.0)
        {
            Ok(i) => rules::tolerated(&self.tainted[i].1, tolerations),
            Err(_) => true,
        }
    }

    fn add_pool(&mut self, group: &[u32], inventory: &Inventory, profile: &Profile) {
        let start = self.slices.len();
        let key = inventory.entry(group[0]).pool;
        let totals = inventory.totals(key);
        let mut doubled = false;
        let generation_of = |slot: u32| inventory.entry(slot).slice.generation;
        for &slot in group {
            let newest = self.slices.get(start).map(|kept| generation_of(*kept));
            match newest.map_or(Ordering::Equal, |newest| generation_of(slot).cmp(&newest)) {
                Ordering::Less => continue,
                Ordering::Equal => {}
                Ordering::Greater => {
                    self.slices.truncate(start);
                    doubled = !profile.newer_generation_stored_once();
                    if doubled {
                        self.slices.push(slot);
                    }
                }
            }
            self.slices.push(slot);
        }
        let kept = &self.slices[start..];
        let generation = generation_of(kept[0]);
        // The counters are those of the newest generation, whatever the node can reach.
        let is_obsolete = totals.newest().is_some_and(|newest| newest > generation);
        if is_obsolete && totals.has_counters() {
            self.slices.truncate(start);
            return;
        }
        let wanted = inventory
            .entry(deciding_slice(kept, inventory, profile))
            .slice
            .resource_slice_count;
        let mut incomplete = kept.len() as i64 != wanted;
        if incomplete && profile.completeness_over_whole_pool() {
            if is_obsolete {
                self.slices.truncate(start);
                return;
            }
            incomplete = i64::from(totals.slices_of(generation)) != wanted;
        }
        let repeats = doubled || totals.duplicates > 0;
        self.pools.push(Pool {
            slices: start..self.slices.len(),
            candidates: 0..0,
            incomplete,
            invalid: profile.disagreeing_counts_invalidate_pool() && totals.disagrees(generation),
            repeats,
            counted: totals.has_counters().then_some(key),
        });
    }

    fn add_candidates(&mut self, node: &Node, inventory: &Inventory, profile: &Profile) {
        for pool in &mut self.pools {
            let start = self.candidates.len();
            for &slot in &self.slices[pool.slices.clone()] {
                let entry = inventory.entry(slot);
                let first = self.candidates.len() as u32;
                if !entry.taints.is_empty() {
                    let moved =
                        |(position, taints): &(u32, _)| (first + position, Arc::clone(taints));
                    self.tainted.extend(entry.taints.iter().map(moved));
                }
                if !entry.reaches.is_empty() {
                    let elsewhere = (first..).zip(&entry.reaches);
                    let elsewhere = elsewhere.filter(|(_, reach)| !reach.includes(node));
                    self.elsewhere
                        .extend(elsewhere.map(|(position, _)| position));
                }
                let devices = (0..).zip(&entry.devices);
                self.candidates
                    .extend(devices.map(|(index, &device)| Candidate {
                        device,
                        slot,
                        index,
                        first: first + index,
                    }));
                if entry.has_unusable {
                    let devices = (first..).zip(&entry.slice.devices);
                    let unusable = devices.filter(|(_, device)| !device.usable);
                    self.unusable.extend(unusable.map(|(position, _)| position));
                }
            }
            if pool.repeats && find_repeats(&mut self.candidates, start) {
                self.has_repeats = true;
                pool.invalid |= profile.duplicate_devices_invalidate_pool();
            }
            if let Some(key) = pool.counted {
                let devices = self.candidates[start..]
                    .iter()
                    .map(|candidate| candidate.device);
                let is_valid = self.counters.add(key, start, devices, inventory);
                pool.invalid |= !is_valid;
            }
            let is_bad = pool.incomplete || pool.invalid;
            if is_bad && profile.exact_count_skips_bad_pools() && !self.keeps_bad {
                self.candidates.truncate(start);
                let before = |position: &u32| (*position as usize) < start;
                self.elsewhere.retain(before);
                self.tainted.retain(|(position, _)| before(position));
                self.unusable.retain(before);
                self.counters.truncate(start);
            }
            pool.candidates = start..self.candidates.len();
        }
    }
}

impl Candidate {
    /// The device itself.
    pub(crate) fn device<'a>(&self, inventory: &'a Inventory) -> &'a Device {
        &inventory.entry(self.slot).slice.devices[self.index as usize]
    }
}

/// Merges the node's own slices with those of the shared ones that select the node.
fn reach(node: &Node, inventory: &Inventory, reached: &mut Vec<u32>) {
    reached.clear();
    let mut own = inventory.of_node(node).iter().copied().peekable();
    let selects = |slot: &u32| inventory.entry(*slot).is_for(node);
    for shared in inventory.shared().iter().copied().filter(selects) {
        while let Some(slot) = own.next_if(|slot| inventory.compare(*slot, shared).is_lt()) {
            reached.push(slot);
        }
        reached.push(shared);
    }
    reached.extend(own);
}

/// The slice whose `resourceSliceCount` counts: the first one, and since 1.35 the node's own ones come first.
fn deciding_slice(kept: &[u32], inventory: &Inventory, profile: &Profile) -> u32 {
    let is_own = |slot: &&u32| matches!(inventory.entry(**slot).slice.reach, Reach::NodeName(_));
    let own = if profile.completeness_over_whole_pool() {
        kept.iter().find(is_own)
    } else {
        None
    };
    *own.unwrap_or(&kept[0])
}

/// Points each candidate from `start` on to the first one that is the same device; whether any was repeated.
fn find_repeats(candidates: &mut [Candidate], start: usize) -> bool {
    let mut order: Vec<usize> = (start..candidates.len()).collect();
    order.sort_by_key(|&i| (candidates[i].device, i));
    let mut repeated = false;
    for pair in order.windows(2) {
        if candidates[pair[0]].device == candidates[pair[1]].device {
            candidates[pair[1]].first = candidates[pair[0]].first;
            repeated = true;
        }
    }
    repeated
}
