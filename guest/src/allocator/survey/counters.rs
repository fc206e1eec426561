//! Counters by name, and who takes of them (KEP 4815).

use std::sync::Arc;

use super::Survey;
use crate::allocator::inventory::Inventory;

/// A counter of a pool that the node reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CounterFacts {
    /// `driver/pool`.
    pub pool: String,
    pub set: Arc<str>,
    pub name: Arc<str>,
    /// In billionths.
    pub total: i128,
    /// In billionths; `None`: it is not known, so that nothing may be given out.
    pub left: Option<i128>,
    /// Devices that are held and take something of it: driver, pool, name.
    pub held: Vec<[Arc<str>; 3]>,
}

impl Survey {
    /// The counter with this number on the node.
    pub(crate) fn counter(&self, number: u32, inventory: &Inventory) -> Option<CounterFacts> {
        let mut first = 0;
        for pool in &self.pools.pools {
            let key = self.pools.key_of(pool, inventory);
            if !inventory.totals(key).has_counters() {
                continue;
            }
            let layout = inventory.counters(key);
            let here = number - first;
            if (here as usize) >= layout.totals().len() {
                first += layout.totals().len() as u32;
                continue;
            }
            let totals = inventory.totals(key);
            let newest = totals.newest()?;
            let entries = totals.slices().map(|slot| inventory.entry(slot));
            let entries = entries.filter(|entry| entry.slice.generation == newest);
            let sets = entries.clone().flat_map(|entry| &entry.slice.counters);
            let mut names =
                sets.flat_map(|set| set.counters.iter().map(|(name, _)| (&set.name, name)));
            let (set, name) = names.nth(here as usize)?;
            let mut held = Vec::new();
            for entry in entries {
                for (device, key) in entry.slice.devices.iter().zip(&entry.devices) {
                    if layout.takes(*key, here) && inventory.is_held(*key, false) {
                        let slice = &entry.slice;
                        held.push([
                            slice.driver.clone(),
                            slice.pool.clone(),
                            device.name.clone(),
                        ]);
                    }
                }
            }
            return Some(CounterFacts {
                pool: self.pools.name_of(pool, inventory),
                set: set.clone(),
                name: name.clone(),
                total: layout.totals()[here as usize],
                left: inventory
                    .available_counters(key)
                    .map(|left| left[here as usize]),
                held,
            });
        }
        None
    }
}
