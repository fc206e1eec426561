//! Slices by node and by pool, change by change.

use std::collections::BTreeSet;

use super::sites::FEW_SLICES;
use super::{DeviceReach, Entry, Inventory};
use crate::allocator::names::{DeviceKey, PoolKey};
use crate::allocator::totals::PoolTotals;
use crate::api::{Reach, ResourceSlice};

impl Inventory {
    /// Numbers of the nodes for which alone the slice is; to be given back with it. None for a shared one.
    pub(super) fn acquire_nodes(&mut self, reach: &Reach, reaches: &[DeviceReach]) -> Box<[u32]> {
        let names: BTreeSet<&str> = match reach {
            Reach::NodeName(name) => [name.as_str()].into(),
            Reach::PerDevice => {
                // Devices that are not bound to one node make the slice a shared one.
                let names = reaches.iter().filter_map(|reach| match reach {
                    DeviceReach::Node(name) => Some(Some(name.as_str())),
                    DeviceReach::All | DeviceReach::Selected(_) => Some(None),
                    DeviceReach::Nowhere => None,
                });
                names.collect::<Option<_>>().unwrap_or_default()
            }
            _ => BTreeSet::new(),
        };
        let numbers = names.into_iter().map(|name| self.acquire_node(name));
        numbers.collect()
    }

    /// Calls for each list of the index in which a slice belongs: those of its nodes, or that of the shared ones.
    fn each_bucket(&mut self, nodes: &[u32], mut call: impl FnMut(&Self, &mut Vec<u32>)) {
        if nodes.is_empty() {
            let mut shared = std::mem::take(&mut self.shared);
            call(self, &mut shared);
            self.shared = shared;
        }
        for &number in nodes {
            let mut bucket = self.by_node.take(number);
            call(self, &mut bucket);
            self.by_node.put(number, bucket);
        }
        self.sites.forget(nodes);
    }

    pub(super) fn link(&mut self, slot: u32, nodes: &[u32]) {
        self.each_bucket(nodes, |inventory, bucket| {
            let at = bucket.partition_point(|other| inventory.compare(*other, slot).is_lt());
            bucket.insert(at, slot);
        });
    }

    pub(super) fn unlink(&mut self, slot: u32, nodes: &[u32]) {
        self.each_bucket(nodes, |_, bucket| bucket.retain(|other| *other != slot));
    }

    pub(super) fn publish(
        &mut self,
        pool: PoolKey,
        slot: u32,
        slice: &ResourceSlice,
        devices: &[DeviceKey],
    ) {
        if pool.index() >= self.pools.len() {
            self.pools
                .resize_with(pool.index() + 1, PoolTotals::default);
        }
        let totals = &mut self.pools[pool.index()];
        totals.add(slot, slice);
        for device in devices {
            if device.index() >= self.published.len() {
                self.published.resize(device.index() + 1, 0);
            }
            let count = &mut self.published[device.index()];
            *count += 1;
            totals.duplicates += u32::from(*count == 2);
        }
        self.forget_sites_of(pool, slot);
    }

    pub(super) fn withdraw(&mut self, slot: u32, entry: &Entry) {
        let totals = &mut self.pools[entry.pool.index()];
        totals.remove(slot, &entry.slice);
        for device in &entry.devices {
            let count = &mut self.published[device.index()];
            *count -= 1;
            totals.duplicates -= u32::from(*count == 1);
        }
        self.forget_sites_of(entry.pool, slot);
    }
    /// Other devices are held now.
    pub(super) fn forget_available(&mut self) {
        for pool in self.allocated.take_touched() {
            let Some(totals) = self.pools.get_mut(pool.index()) else {
                continue;
            };
            totals.forget_available();
            for slot in few_slices(totals) {
                if let Some(Some(entry)) = self.entries.get(slot as usize) {
                    self.sites.forget_free(&entry.nodes);
                }
            }
        }
    }

    /// A slice came or went, in whose pool others are.
    fn forget_sites_of(&mut self, pool: PoolKey, changed: u32) {
        for slot in few_slices(&self.pools[pool.index()]).filter(|slot| *slot != changed) {
            if let Some(Some(entry)) = self.entries.get(slot as usize) {
                self.sites.forget(&entry.nodes);
            }
        }
    }
}

/// The slices of a pool that sites may have, or may have had before one was added.
fn few_slices(totals: &PoolTotals) -> impl Iterator<Item = u32> + '_ {
    let few = totals.slices().len() <= FEW_SLICES + 1;
    totals.slices().take(if few { usize::MAX } else { 0 })
}
