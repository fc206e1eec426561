//! What the allocator knows about the cluster: the ResourceSlices, indexed by the nodes that can reach them so that one node
//! costs only what it can reach, and the devices that claims hold.
//!
//! Kept up to date change by change; the numbers (slots) of slices are the host's. Both parts share the numbers of devices,
//! which is why they are one object. Gathering the pools of a node is `pools.rs`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::allocated::Allocated;
use super::by_node::ByNode;
use super::counters::Layout;
use super::names::{DeviceKey, LayoutKey, Names, PoolKey};
use super::rules;
use super::selectors::Content;
use super::totals::PoolTotals;
use crate::api::{
    AllocationResult, Device, DeviceTaint, DeviceTaintRule, Node, Reach, ResourceSlice,
};
use crate::node_selector::NodeSelector;

mod index;
pub(crate) mod sites;

use sites::Sites;

/// Slices and devices in use. A slot is a small number that the host gave to a slice.
#[derive(Debug, Default)]
pub struct Inventory {
    pub(super) names: Names,
    allocated: Allocated,
    /// By slot.
    entries: Vec<Option<Entry>>,
    /// Slots of the slices that are bound to one node.
    by_node: ByNode,
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
    /// DeviceTaintRules by slot.
    rules: BTreeMap<u32, DeviceTaintRule>,
    sites: Sites,
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
    /// One for each device.
    pub contents: Box<[Content]>,
    /// The parsed node selector of a slice that has one.
    pub selector: Option<NodeSelector>,
    /// Some device has no content.
    pub has_unusable: bool,
    /// Where the slice leaves it to them: which nodes each of the devices is for. Otherwise empty.
    pub reaches: Box<[DeviceReach]>,
    /// Numbers of the nodes for which alone it is; empty for a shared one.
    nodes: Box<[u32]>,
    /// Positions of the devices with taints that prevent allocation, from the slice or from a rule.
    pub taints: Vec<(u32, Arc<[DeviceTaint]>)>,
}

/// Which nodes a device is for.
#[derive(Debug)]
pub(crate) enum DeviceReach {
    Node(String),
    All,
    Selected(NodeSelector),
    Nowhere,
}

impl DeviceReach {
    /// The error is that of a selector which does not parse.
    fn new(device: &Device) -> Result<Self, String> {
        let reach = device.extra.as_ref().and_then(|extra| extra.reach.as_ref());
        Ok(match reach {
            Some(Reach::NodeName(name)) => Self::Node(name.clone()),
            Some(Reach::AllNodes) => Self::All,
            Some(Reach::NodeSelector(selector)) => Self::Selected(NodeSelector::parse(selector)?),
            Some(Reach::PerDevice | Reach::Nowhere) | None => Self::Nowhere,
        })
    }

    pub(crate) fn includes(&self, node: &Node) -> bool {
        match self {
            Self::Node(name) => *name == node.name,
            Self::All => true,
            Self::Selected(selector) => selector.matches(node),
            Self::Nowhere => false,
        }
    }
}

impl Entry {
    /// Whether a node can reach the slice, which is not bound to one node as a whole.
    pub(crate) fn is_for(&self, node: &Node) -> bool {
        match (&self.selector, &self.slice.reach) {
            (Some(selector), _) => selector.matches(node),
            (None, Reach::PerDevice) => self.reaches.iter().any(|reach| reach.includes(node)),
            (None, _) => true,
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
        let contents = self
            .names
            .acquire_contents(&slice.driver, &mut slice.devices);
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
        let reaches = match &slice.reach {
            Reach::PerDevice => self.device_reaches(&slice, slot),
            _ => Some(Box::default()),
        };
        self.version += 1;
        self.publish(pool, slot, &slice, &devices);
        let index = slot as usize;
        if index >= self.entries.len() {
            self.entries.resize_with(index + 1, || None);
        }
        let reachable = match &slice.reach {
            Reach::NodeName(_) | Reach::AllNodes => true,
            Reach::NodeSelector(_) => selector.is_some(),
            Reach::PerDevice => reaches.as_ref().is_some_and(|reaches| !reaches.is_empty()),
            Reach::Nowhere => false,
        };
        let reaches = reaches.unwrap_or_default();
        let nodes = self.acquire_nodes(&slice.reach, &reaches);
        self.entries[index] = Some(Entry {
            has_unusable: slice.devices.iter().any(|device| !device.usable),
            taints: rules::taints(&slice, self.rules.values()),
            reaches,
            nodes: nodes.clone(),
            slice,
            pool,
            devices,
            layouts,
            contents,
            selector,
        });
        if reachable {
            self.link(slot, &nodes);
        }
    }

    /// `None`, and noted as broken, if a selector does not parse.
    fn device_reaches(&mut self, slice: &ResourceSlice, slot: u32) -> Option<Box<[DeviceReach]>> {
        match slice.devices.iter().map(DeviceReach::new).collect() {
            Ok(reaches) => Some(reaches),
            Err(error) => {
                self.broken.insert((slice.name.clone(), slot), error);
                None
            }
        }
    }

    /// Notes that the object in that slot cannot be used: nodes that can reach it get the message instead of a decision.
    pub fn put_invalid(&mut self, slot: u32, reach: &Reach, message: String) {
        self.remove(slot);
        let reach = match reach {
            Reach::NodeName(name) => InvalidReach::Node(name.clone()),
            Reach::AllNodes | Reach::PerDevice => InvalidReach::Everywhere,
            Reach::NodeSelector(selector) => NodeSelector::parse(selector)
                .map_or(InvalidReach::Everywhere, InvalidReach::Selected),
            Reach::Nowhere => InvalidReach::Nowhere,
        };
        self.invalid.insert(slot, Invalid { reach, message });
    }

    /// Removes what is in that slot, if anything.
    pub fn remove(&mut self, slot: u32) {
        self.invalid.remove(&slot);
        let Some(entry) = self.entries.get_mut(slot as usize).and_then(Option::take) else {
            return;
        };
        self.unlink(slot, &entry.nodes);
        for number in &entry.nodes {
            self.names.release_node(*number);
        }
        self.broken.remove(&(entry.slice.name.clone(), slot));
        self.withdraw(slot, &entry);
        for device in &entry.devices {
            self.names.release_device(*device);
        }
        self.names.release_layouts(&entry.layouts);
        self.names.release_contents(&entry.contents);
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

    /// Adds a rule, or replaces the one in that slot.
    pub fn put_taint_rule(&mut self, slot: u32, rule: DeviceTaintRule) {
        let before = self.rules.insert(slot, rule);
        self.taint_again(before, slot);
    }

    /// Removes the rule in that slot, if there is one.
    pub fn remove_taint_rule(&mut self, slot: u32) {
        if let Some(before) = self.rules.remove(&slot) {
            self.taint_again(Some(before), slot);
        }
    }

    /// Works out the taints of the slices that a rule selects, or selected before.
    fn taint_again(&mut self, before: Option<DeviceTaintRule>, slot: u32) {
        let rules: Vec<_> = before.iter().chain(self.rules.get(&slot)).collect();
        for entry in self.entries.iter_mut().flatten() {
            if rules.iter().any(|rule| rules::concerns(rule, &entry.slice)) {
                entry.taints = rules::taints(&entry.slice, self.rules.values());
                self.sites.forget(&entry.nodes);
            }
        }
    }

    /// The claim cache has the claim, with this allocation (spec section 9.6).
    pub fn set_stored(&mut self, uid: &str, allocation: Option<&AllocationResult>) {
        self.allocated.set_stored(&mut self.names, uid, allocation);
        self.forget_available();
    }

    /// The claim cache no longer has the claim.
    pub fn remove_stored(&mut self, uid: &str) {
        self.allocated.remove_stored(&mut self.names, uid);
        self.forget_available();
    }

    /// The claim cache has no claims.
    pub fn clear_stored(&mut self) {
        self.allocated.clear_stored(&mut self.names);
        self.forget_available();
    }

    /// The claim is in flight with this allocation, which replaces the stored one; it counts only while the claim cache
    /// has the claim.
    pub fn set_in_flight(&mut self, uid: &str, allocation: &AllocationResult) {
        self.allocated
            .set_in_flight(&mut self.names, uid, allocation);
        self.forget_available();
    }

    /// The claim is no longer in flight.
    pub fn remove_in_flight(&mut self, uid: &str) {
        self.allocated.remove_in_flight(&mut self.names, uid);
        self.forget_available();
    }

    /// No claim is in flight.
    pub fn clear_in_flight(&mut self) {
        self.allocated.clear_in_flight(&mut self.names);
        self.forget_available();
    }

    /// Whether a claim holds the device. `admin_holds`: results marked as admin access hold their device too (D6).
    pub(crate) fn is_held(&self, device: DeviceKey, admin_holds: bool) -> bool {
        self.allocated.holds(device, admin_holds)
    }

    /// How many devices of a pool are held, published or not, other than by results marked as admin access.
    pub(crate) fn held_in(&self, pool: PoolKey) -> u32 {
        self.allocated.held_in(pool)
    }

    /// Counters and their consumers in the newest generation of a pool that has any.
    pub(crate) fn counters(&self, pool: PoolKey) -> &Layout {
        let totals = self.totals(pool);
        let entries = totals.slices().map(|slot| self.entry(slot));
        totals.layout(entries)
    }

    /// What is left of these counters. `None`: nothing may be given out.
    pub(crate) fn available_counters(&self, pool: PoolKey) -> Option<&[i128]> {
        self.totals(pool)
            .available(|| self.counters(pool).available(self, pool))
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
    pub(crate) fn of_node(&self, node: &Node) -> &[u32] {
        let number = self.number_of(node);
        number.map_or(&[], |number| self.by_node.of(number))
    }

    /// The number of the node's name, if it has one.
    pub(super) fn number_of(&self, node: &Node) -> Option<u32> {
        node.number.or_else(|| self.names.node(&node.name))
    }

    /// A number for [`Node::number`], valid until it is taken back.
    pub fn acquire_node(&mut self, name: &str) -> u32 {
        let number = self.names.acquire_node(name);
        self.sites.make_room(number);
        number
    }

    /// Takes back one [`Self::acquire_node`].
    pub fn release_node(&mut self, number: u32) {
        self.names.release_node(number);
    }

    /// Slots of the slices for all nodes or for selected ones, in visiting order.
    pub(crate) fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// All slices that can be used.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &ResourceSlice> {
        self.entries.iter().flatten().map(|entry| &entry.slice)
    }

    /// Name of the rule that a device's taint comes from; `None`: it is the slice's own.
    pub(crate) fn rule_of(
        &self,
        taint: &DeviceTaint,
        slice: &ResourceSlice,
        device: &Device,
    ) -> Option<&str> {
        let mut own = device.extra.iter().flat_map(|extra| &extra.taints);
        if own.any(|own| own == taint) {
            return None;
        }
        let mut rules = self.rules.values();
        let rule =
            rules.find(|rule| rule.taint == *taint && rules::taints_device(rule, slice, device))?;
        Some(&rule.name)
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
}

#[cfg(test)]
mod tests;
