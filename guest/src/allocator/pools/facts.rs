//! What is told about the pools of a node, also of those that no device is taken from (spec section 9.1).

use std::sync::Arc;

use super::{NodePools, Pool, deciding_slice};
use crate::allocator::counters::Fault;
use crate::allocator::inventory::Inventory;
use crate::allocator::names::PoolKey;
use crate::api::DeviceTaint;
use crate::profile::Profile;

/// Whether a pool can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolState {
    Usable,
    /// Slices are missing.
    Incomplete,
    /// Its content contradicts itself.
    Invalid,
    /// The node reaches only slices of older generations.
    Stale,
}

/// A pool that a node reaches.
#[derive(Clone, Debug)]
pub(crate) struct PoolFacts {
    pub driver: Arc<str>,
    pub pool: Arc<str>,
    /// Of the slices that count.
    pub generation: i64,
    /// How many slices of that generation are there.
    pub slices: usize,
    /// How many there should be.
    pub expected: i64,
    /// Slices of older generations that the node reaches.
    pub stale: Vec<String>,
    /// That the node reaches.
    pub devices: usize,
    pub state: PoolState,
    /// A device name that is there twice.
    pub repeated: Option<Arc<str>>,
    /// What is wrong with its counters.
    pub fault: Option<Fault>,
    /// Its slices give different numbers of slices.
    pub disagrees: bool,
}

impl NodePools {
    /// Taints of a candidate that prevent allocation.
    pub(crate) fn taints_of(&self, position: usize) -> &[DeviceTaint] {
        let position = position as u32;
        let tainted = &self.tainted;
        match tainted.binary_search_by_key(&position, |entry| entry.0) {
            Ok(i) => &tainted[i].1,
            Err(_) => &[],
        }
    }

    /// Number of a pool.
    pub(crate) fn key_of(&self, pool: &Pool, inventory: &Inventory) -> PoolKey {
        inventory.entry(self.slices[pool.slices.start]).pool
    }

    /// The pools that were gathered, and those that were left out because all that the node reaches of them is obsolete.
    pub(crate) fn facts(&self, inventory: &Inventory, profile: &Profile) -> Vec<PoolFacts> {
        let pool_of = |slot: u32| inventory.entry(slot).pool;
        let mut kept = 0;
        let groups = self.reached.chunk_by(|a, b| pool_of(*a) == pool_of(*b));
        let facts = groups.map(|group| {
            let key = pool_of(group[0]);
            let is_kept = self
                .pools
                .get(kept)
                .is_some_and(|pool| self.key_of(pool, inventory) == key);
            if is_kept {
                kept += 1;
                self.facts_of(kept - 1, group, inventory, profile)
            } else {
                obsolete(group, inventory)
            }
        });
        facts.collect()
    }

    fn facts_of(
        &self,
        index: usize,
        group: &[u32],
        inventory: &Inventory,
        profile: &Profile,
    ) -> PoolFacts {
        let pool = &self.pools[index];
        let slices = &self.slices[pool.slices.clone()];
        let slice = &inventory.entry(slices[0]).slice;
        let totals = inventory.totals(inventory.entry(slices[0]).pool);
        let generation = slice.generation;
        let elsewhere = |position: &usize| self.is_elsewhere(*position);
        let repeats = |position: usize| {
            let candidate = &self.candidates[position];
            let is_repeated = candidate.first as usize != position;
            is_repeated.then(|| candidate.device(inventory).name.clone())
        };
        PoolFacts {
            driver: slice.driver.clone(),
            pool: slice.pool.clone(),
            generation,
            slices: match profile.completeness_over_whole_pool() {
                true => totals.slices_of(generation) as usize,
                false => slices.len(),
            },
            expected: inventory
                .entry(deciding_slice(slices, inventory, profile))
                .slice
                .resource_slice_count,
            stale: older_than(generation, group, inventory),
            devices: pool.candidates.len() - pool.candidates.clone().filter(elsewhere).count(),
            state: match (pool.incomplete, pool.invalid) {
                (true, _) => PoolState::Incomplete,
                (false, true) => PoolState::Invalid,
                (false, false) => PoolState::Usable,
            },
            repeated: pool.candidates.clone().find_map(repeats),
            fault: pool
                .counted
                .and_then(|key| inventory.counters(key).fault().cloned()),
            disagrees: profile.disagreeing_counts_invalidate_pool() && totals.disagrees(generation),
        }
    }
}

fn older_than(generation: i64, group: &[u32], inventory: &Inventory) -> Vec<String> {
    let slices = group.iter().map(|slot| &inventory.entry(*slot).slice);
    let older = slices.filter(|slice| slice.generation < generation);
    older.map(|slice| slice.name.clone()).collect()
}

fn obsolete(group: &[u32], inventory: &Inventory) -> PoolFacts {
    let entry = inventory.entry(group[0]);
    let totals = inventory.totals(entry.pool);
    let generation = totals.newest().unwrap_or_default();
    let mut slices = totals.slices().map(|slot| &inventory.entry(slot).slice);
    let newest = slices.find(|slice| slice.generation == generation);
    PoolFacts {
        driver: entry.slice.driver.clone(),
        pool: entry.slice.pool.clone(),
        generation,
        slices: totals.slices_of(generation) as usize,
        expected: newest.map_or(0, |slice| slice.resource_slice_count),
        stale: older_than(generation, group, inventory),
        devices: 0,
        state: PoolState::Stale,
        repeated: None,
        fault: None,
        disagrees: false,
    }
}
