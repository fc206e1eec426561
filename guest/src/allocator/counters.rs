//! Counters that the devices of a pool share, whatever slices and nodes they belong to: KEP 4815, upstream's
//! `checkAvailableCounters` and the validation in `buildPool`.
//!
//! What a pool has is worked out when it is asked for and kept until one of its slices, or who holds its devices, changes. A
//! search copies what is left for its node, takes and gives back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::inventory::{Entry, Inventory};
use super::names::{DeviceKey, FixedHasher, PoolKey};

/// Counter and amount.
pub(crate) type Amount = (u32, i128);

/// Counter sets and consumers of one generation of a pool.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Totals of all counters of all sets.
    totals: Vec<i128>,
    /// What a device takes, if it takes anything.
    consumers: HashMap<DeviceKey, Box<[Amount]>, FixedHasher>,
    /// All devices of the generation.
    devices: BTreeSet<DeviceKey>,
    /// A name that is given twice, or not at all.
    fault: Option<Fault>,
}

/// What is wrong with the counters of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Two counter sets have this name.
    SetTwice(Arc<str>),
    /// A device names a counter set that is not there: device, set.
    NoSet(Arc<str>, Arc<str>),
    /// A device names a counter that its set does not have: device, set, counter.
    NoCounter(Arc<str>, Arc<str>, Arc<str>),
}

impl Layout {
    /// From the slices of a pool.
    pub(crate) fn new<'a>(
        generation: i64,
        entries: impl Iterator<Item = &'a Entry> + Clone,
    ) -> Self {
        let mut layout = Self::default();
        let mut sets: BTreeMap<&Arc<str>, BTreeMap<&Arc<str>, u32>> = BTreeMap::new();
        let entries = entries.filter(|entry| entry.slice.generation == generation);
        for set in entries.clone().flat_map(|entry| &entry.slice.counters) {
            let first = layout.totals.len() as u32;
            let names = set.counters.iter().map(|(name, _)| name);
            layout
                .totals
                .extend(set.counters.iter().map(|(_, total)| total));
            let known = sets.insert(&set.name, names.zip(first..).collect());
            if known.is_some() {
                layout
                    .fault
                    .get_or_insert_with(|| Fault::SetTwice(set.name.clone()));
            }
        }
        for entry in entries {
            layout.devices.extend(&entry.devices);
            for (device, key) in entry.slice.devices.iter().zip(&entry.devices) {
                let Some(extra) = &device.extra else { continue };
                let mut amounts: BTreeMap<u32, i128> = BTreeMap::new();
                for consumed in &extra.consumes {
                    for (name, amount) in &consumed.counters {
                        let counter = sets.get(&consumed.name).and_then(|set| set.get(name));
                        match counter {
                            Some(counter) => *amounts.entry(*counter).or_default() += amount,
                            None if !sets.contains_key(&consumed.name) => {}
                            None => {
                                let names = [&device.name, &consumed.name, name].map(Arc::clone);
                                let [device, set, counter] = names;
                                let fault = Fault::NoCounter(device, set, counter);
                                layout.fault.get_or_insert(fault);
                            }
                        }
                    }
                    if !sets.contains_key(&consumed.name) {
                        let names = [&device.name, &consumed.name].map(Arc::clone);
                        let [device, set] = names;
                        layout.fault.get_or_insert(Fault::NoSet(device, set));
                    }
                }
                if !extra.consumes.is_empty() {
                    layout.consumers.insert(*key, amounts.into_iter().collect());
                }
            }
        }
        layout
    }

    /// What is wrong with names.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// Totals of all counters.
    pub(crate) fn totals(&self) -> &[i128] {
        &self.totals
    }

    /// Whether a device takes something of a counter.
    pub(crate) fn takes(&self, device: DeviceKey, counter: u32) -> bool {
        let amounts = self.consumers.get(&device);
        let mut amounts = amounts.into_iter().flatten();
        amounts.any(|(taken, _)| *taken == counter)
    }

    /// What is left when the devices that are held took theirs. `None`: nothing may be given out, because more was taken than
    /// there is, or a device is held that nobody publishes, so that it is not known what it took.
    pub(crate) fn available(&self, inventory: &Inventory, pool: PoolKey) -> Option<Vec<i128>> {
        let mut available = self.totals.clone();
        let mut held = 0;
        for device in self
            .devices
            .iter()
            .filter(|device| inventory.is_held(**device, false))
        {
            held += 1;
            for (counter, amount) in self.consumers.get(device).into_iter().flatten() {
                available[*counter as usize] -= amount;
            }
        }
        let all_known = held == inventory.held_in(pool);
        (all_known && available.iter().all(|left| *left >= 0)).then_some(available)
    }
}

/// Counters of the pools that a node can reach.
#[derive(Debug, Default)]
pub(crate) struct NodeCounters {
    /// What is left of each.
    pub available: Vec<i128>,
    /// By candidate: its part of the amounts. Empty if no pool has counters.
    needed: Vec<Range<u32>>,
    amounts: Vec<Amount>,
}

impl NodeCounters {
    pub(crate) fn clear(&mut self) {
        self.available.clear();
        self.needed.clear();
        self.amounts.clear();
    }

    /// Forgets the candidates from `first` on.
    pub(crate) fn truncate(&mut self, first: usize) {
        self.needed.truncate(first);
    }

    /// What a candidate takes.
    pub(crate) fn needed_by(&self, position: usize) -> &[Amount] {
        match self.needed.get(position) {
            Some(range) => &self.amounts[range.start as usize..range.end as usize],
            None => &[],
        }
    }

    /// Adds the devices of a pool that has counters, which are the candidates from `first` on. `false`: the pool is invalid.
    pub(crate) fn add(
        &mut self,
        pool: PoolKey,
        first: usize,
        devices: impl Iterator<Item = DeviceKey>,
        inventory: &Inventory,
    ) -> bool {
        let layout = inventory.counters(pool);
        let start = self.available.len() as u32;
        match inventory.available_counters(pool) {
            Some(available) => self.available.extend_from_slice(available),
            // Not even nothing can be taken.
            None => self
                .available
                .resize(self.available.len() + layout.totals.len(), -1),
        }
        self.needed.resize(first, 0..0);
        for device in devices {
            let from = self.amounts.len() as u32;
            if let Some(amounts) = layout.consumers.get(&device) {
                let moved = amounts
                    .iter()
                    .map(|(counter, amount)| (start + counter, *amount));
                self.amounts.extend(moved);
            }
            self.needed.push(from..self.amounts.len() as u32);
        }
        layout.fault.is_none()
    }
}
