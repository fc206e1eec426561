//! What the allocator knows about the cluster: the ResourceSlices, indexed by the nodes that can reach them so that one node
//! costs only what it can reach, and the devices that claims hold.
//!
//! Kept up to date change by change; the numbers (slots) of slices are the host's. Both parts share the numbers of devices,
//! which is why they are one object. Gathering the pools of a node is `pools.rs`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::allocated::Allocated;
use super::names::{DeviceKey, FixedHasher, LayoutKey, Names, PoolKey};
use crate::api::{AllocationResult, Node, Reach, ResourceSlice};
use crate::node_selector::NodeSelector;

/// Slices and devices in use. A slot is a small number that the host gave to a slice.
#[derive(Debug, Default)]
pub struct Inventory {
    names: Names,
    allocated: Allocated,
    /// By slot.
    entries: Vec<Option<Entry>>,
    /// Slots of the slices of one node, sorted as the allocator visits them.
    by_node: HashMap<Arc<str>, Vec<u32>, FixedHasher>,
    /// Slots of the slices that are not bound to one node, sorted in the same way.
    shared: Vec<u32>,
    /// Slices whose node selector does not parse, by object name and slot: the parse error.
    broken: BTreeMap<(String, u32), String>,
    /// Slots that cannot be used as they were given.
    invalid: BTreeMap<u32, Invalid>,
    /// By pool number.
    pools: Vec<PoolTotals>,
    /// By device number: how many times slices publish it.
    published: Vec<u32>,
    version: u64,
}

/// A slice and what was derived from it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub slice: ResourceSlice,
    pub pool: PoolKey,
    /// One for each device.
    pub devices: Box<[DeviceKey]>,
    /// One for each device.
    pub layouts: Box<[LayoutKey]>,
    /// Changes with each `put`, over all slots.
    pub version: u64,
    /// The parsed node selector of a slice that has one.
    pub selector: Option<NodeSelector>,
    /// Some device has no content.
    pub has_unusable: bool,
}

/// Over all slices of a pool, whoever can reach them.
#[derive(Debug, Default)]
pub(crate) struct PoolTotals {
    /// (generation, number of slices), sorted.
    generations: Vec<(i64, u32)>,
    /// Number of devices that are published more than once.
    pub duplicates: u32,
}

impl PoolTotals {
    /// The newest generation that any slice has.
    pub(crate) fn newest(&self) -> Option<i64> {
        self.generations.last().map(|(generation, _)| *generation)
    }

    /// How many slices have this generation.
    pub(crate) fn slices_of(&self, generation: i64) -> u32 {
        match self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            Ok(i) => self.generations[i].1,
            Err(_) => 0,
        }
    }

    fn add(&mut self, generation: i64) {
        match self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            Ok(i) => self.generations[i].1 += 1,
            Err(i) => self.generations.insert(i, (generation, 1)),
        }
    }

    fn remove(&mut self, generation: i64) {
        if let Ok(i) = self
            .generations
            .binary_search_by_key(&generation, |entry| entry.0)
        {
            self.generations[i].1 -= 1;
            if self.generations[i].1 == 0 {
                self.generations.remove(i);
            }
        }
    }
}

#[derive(Debug)]
struct Invalid {
    reach: InvalidReach,
    message: String,
}

#[derive(Debug)]
enum InvalidReach {
    Node(String),
    /// Also for a selector that does not parse: nobody knows which nodes it means.
    Everywhere,
    Selected(NodeSelector),
    Nowhere,
}

impl Inventory {
    /// Adds a slice, or replaces the one in that slot.
    pub fn put(&mut self, slot: u32, mut slice: ResourceSlice) {
        self.remove(slot);
        self.names.share(&mut slice.driver);
        self.names.share(&mut slice.pool);
        self.names.share_strings(&mut slice.devices);
        slice.devices.shrink_to_fit();
        let pool = self.names.acquire_pool(&slice.driver, &slice.pool);
        let devices: Box<[_]> = slice
            .devices
            .iter()
            .map(|device| self.names.acquire_device_of(pool, &device.name))
            .collect();
        let layouts = self.names.acquire_layouts(&slice.driver, &slice.devices);
        let mut selector = None;
        if let Reach::NodeSelector(given) = &slice.reach {
            match NodeSelector::parse(given) {
                Ok(parsed) => selector = Some(parsed),
                Err(error) => {
                    self.broken.insert((slice.name.clone(), slot), error);
                }
            }
        }
        self.version += 1;
        self.publish(pool, slice.generation, &devices);
        let index = slot as usize;
        if index >= self.entries.len() {
            self.entries.resize_with(index + 1, || None);
        }
        let reachable = match &slice.reach {
            Reach::NodeName(_) | Reach::AllNodes => true,
            Reach::NodeSelector(_) => selector.is_some(),
            Reach::Nowhere => false,
        };
        self.entries[index] = Some(Entry {
            has_unusable: slice.devices.iter().any(|device| !device.usable),
            slice,
            pool,
            devices,
            layouts,
            version: self.version,
            selector,
        });
        if reachable {
            self.link(slot);
        }
    }

    /// Notes that the object in that slot cannot be used: nodes that can reach it get the message instead of a decision.
    pub fn put_invalid(&mut self, slot: u32, reach: &Reach, message: String) {
        self.remove(slot);
        let reach = match reach {
            Reach::NodeName(name) => InvalidReach::Node(name.clone()),
            Reach::AllNodes => InvalidReach::Everywhere,
            Reach::NodeSelector(selector) => NodeSelector::parse(selector)
                .map_or(InvalidReach::Everywhere, InvalidReach::Selected),
            Reach::Nowhere => InvalidReach::Nowhere,
        };
        self.invalid.insert(slot, Invalid { reach, message });
    }

    /// Removes what is in that slot, if anything.
    pub fn remove(&mut self, slot: u32) {
        self.invalid.remove(&slot);
        if self.entries.get(slot as usize).is_none_or(Option::is_none) {
            return;
        }
        self.unlink(slot);
        let Some(entry) = self.entries[slot as usize].take() else {
            return;
        };
        self.broken.remove(&(entry.slice.name, slot));
        self.withdraw(entry.pool, entry.slice.generation, &entry.devices);
        for device in &entry.devices {
            self.names.release_device(*device);
        }
        self.names.release_layouts(&entry.layouts);
        self.names.release_pool(entry.pool);
    }

    /// Removes all slices, also those that cannot be used.
    pub fn clear_slices(&mut self) {
        // Emptied first, so that no removal has to search them.
        self.by_node.clear();
        self.shared.clear();
        self.invalid.clear();
        for slot in 0..self.entries.len() {
            self.remove(slot as u32);
        }
    }

    /// The claim cache has the claim, with this allocation (spec section 9.6).
    pub fn set_stored(&mut self, uid: &str, allocation: Option<&AllocationResult>) {
        self.allocated.set_stored(&mut self.names, uid, allocation);
    }

    /// The claim cache no longer has the claim.
    pub fn remove_stored(&mut self, uid: &str) {
        self.allocated.remove_stored(&mut self.names, uid);
    }

    /// The claim cache has no claims.
    pub fn clear_stored(&mut self) {
        self.allocated.clear_stored(&mut self.names);
    }

    /// The claim is in flight with this allocation, which replaces the stored one; it counts only while the claim cache
    /// has the claim.
    pub fn set_in_flight(&mut self, uid: &str, allocation: &AllocationResult) {
        self.allocated
            .set_in_flight(&mut self.names, uid, allocation);
    }

    /// The claim is no longer in flight.
    pub fn remove_in_flight(&mut self, uid: &str) {
        self.allocated.remove_in_flight(&mut self.names, uid);
    }

    /// No claim is in flight.
    pub fn clear_in_flight(&mut self) {
        self.allocated.clear_in_flight(&mut self.names);
    }

    /// Whether a claim holds the device. `admin_holds`: results marked as admin access hold their device too (D6).
    pub(crate) fn is_held(&self, device: DeviceKey, admin_holds: bool) -> bool {
        self.allocated.holds(device, admin_holds)
    }

    /// Why a decision about this node is impossible, if it is: the message given for the lowest slot.
    pub(crate) fn invalid_for(&self, node: &Node) -> Option<&str> {
        let reaches = |invalid: &Invalid| match &invalid.reach {
            InvalidReach::Node(name) => *name == node.name,
            InvalidReach::Everywhere => true,
            InvalidReach::Selected(selector) => selector.matches(node),
            InvalidReach::Nowhere => false,
        };
        self.invalid
            .values()
            .find(|invalid| reaches(invalid))
            .map(|invalid| invalid.message.as_str())
    }

    /// The first slice, in list order, whose node selector does not parse: (slice, error).
    pub(crate) fn broken(&self) -> Option<(&str, &str)> {
        self.broken
            .first_key_value()
            .map(|((slice, _), error)| (slice.as_str(), error.as_str()))
    }

    /// Slots of the node's own slices, in visiting order.
    pub(crate) fn of_node(&self, node: &str) -> &[u32] {
        self.by_node.get(node).map_or(&[], Vec::as_slice)
    }

    /// Slots of the slices for all nodes or for selected ones, in visiting order.
    pub(crate) fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// A slice that is known to be there.
    pub(crate) fn entry(&self, slot: u32) -> &Entry {
        match &self.entries[slot as usize] {
            Some(entry) => entry,
            None => unreachable!("indexes name only slots that are filled"),
        }
    }

    /// Changes with each slice that comes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Totals of a pool that has at least one slice.
    pub(crate) fn totals(&self, pool: PoolKey) -> &PoolTotals {
        &self.pools[pool.index()]
    }

    /// Visiting order: driver, pool, object name (L6, spec 9.1.5), and the slot among equals.
    pub(crate) fn compare(&self, a: u32, b: u32) -> Ordering {
        let (left, right) = (&self.entry(a).slice, &self.entry(b).slice);
        (&left.driver, &left.pool, &left.name, a).cmp(&(&right.driver, &right.pool, &right.name, b))
    }

    fn link(&mut self, slot: u32) {
        let bucket = match &self.entry(slot).slice.reach {
            Reach::NodeName(name) => self
                .by_node
                .get(name.as_str())
                .map_or(&[][..], Vec::as_slice),
            _ => &self.shared,
        };
        let at = bucket.partition_point(|other| self.compare(*other, slot).is_lt());
        match &self.entry(slot).slice.reach {
            Reach::NodeName(name) => {
                let name: Arc<str> = name.as_str().into();
                self.by_node.entry(name).or_default().insert(at, slot);
            }
            _ => self.shared.insert(at, slot),
        }
    }

    fn unlink(&mut self, slot: u32) {
        match &self.entry(slot).slice.reach {
            Reach::NodeName(name) => {
                let name = name.clone();
                if let Some(bucket) = self.by_node.get_mut(name.as_str()) {
                    bucket.retain(|other| *other != slot);
                    if bucket.is_empty() {
                        self.by_node.remove(name.as_str());
                    }
                }
            }
            _ => self.shared.retain(|other| *other != slot),
        }
    }

    fn publish(&mut self, pool: PoolKey, generation: i64, devices: &[DeviceKey]) {
        if pool.index() >= self.pools.len() {
            self.pools
                .resize_with(pool.index() + 1, PoolTotals::default);
        }
        let totals = &mut self.pools[pool.index()];
        totals.add(generation);
        for device in devices {
            if device.index() >= self.published.len() {
                self.published.resize(device.index() + 1, 0);
            }
            let count = &mut self.published[device.index()];
            *count += 1;
            totals.duplicates += u32::from(*count == 2);
        }
    }

    fn withdraw(&mut self, pool: PoolKey, generation: i64, devices: &[DeviceKey]) {
        let totals = &mut self.pools[pool.index()];
        totals.remove(generation);
        for device in devices {
            let count = &mut self.published[device.index()];
            *count -= 1;
            totals.duplicates -= u32::from(*count == 1);
        }
    }
}

#[cfg(test)]
mod tests;
