//! Small integers for pools and devices, and one copy of each string.
//!
//! Slices of one driver repeat the same attribute names and values thousands of times, and a device is looked up by
//! (driver, pool, name) in every search: interning both is what keeps a large cluster small and the search free of strings.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};
use std::sync::Arc;

use super::selectors::Content;
use crate::api::{Attribute, Device};

/// A hasher with fixed keys: the component has no source of randomness, and equal runs must be equal.
pub(crate) type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// Number of a pool, that is, of a (driver, pool name) pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PoolKey(u32);

/// Number of a layout: a driver and the names of a device's attributes, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LayoutKey(u32);

/// Number of a device, that is, of a (driver, pool name, device name) triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DeviceKey(u32);

impl PoolKey {
    /// For dense tables.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl DeviceKey {
    /// For dense tables.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A driver, and the names of a device's attributes.
type Layout = (Arc<str>, Box<[Arc<str>]>);

/// The tables. A number is valid while somebody who acquired it has not released it.
#[derive(Debug, Default)]
pub(crate) struct Names {
    strings: Strings,
    nodes: Interner<Arc<str>>,
    pools: Interner<(Arc<str>, Arc<str>)>,
    devices: Interner<(PoolKey, Arc<str>)>,
    layouts: Interner<Layout>,
    contents: Interner<ContentOf>,
    /// By number of a content: which one of those that had the number it is.
    births: Vec<u32>,
    last_birth: u32,
}

/// What a selector can see of a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ContentOf {
    driver: Arc<str>,
    attributes: Arc<[(Arc<str>, Attribute)]>,
    capacity: Arc<[(Arc<str>, Arc<str>)]>,
}

impl Names {
    /// The number of a node's name; to be released once.
    pub(crate) fn acquire_node(&mut self, name: &str) -> u32 {
        match self.node(name) {
            Some(number) => {
                self.nodes.acquire_again(number);
                number
            }
            None => self.nodes.acquire(name.into()).0,
        }
    }

    /// The number of a node's name, if it has one.
    pub(crate) fn node(&self, name: &str) -> Option<u32> {
        self.nodes.numbers.get(name).copied()
    }

    /// Takes back one [`Self::acquire_node`].
    pub(crate) fn release_node(&mut self, number: u32) {
        self.nodes.release(number);
    }

    /// The number of a device; to be released once. Names need not be published by any slice.
    pub(crate) fn acquire_device(
        &mut self,
        driver: &Arc<str>,
        pool: &Arc<str>,
        device: &Arc<str>,
    ) -> DeviceKey {
        let pool = self.acquire_pool(driver, pool);
        let key = self.acquire_device_of(pool, device);
        self.release_pool(pool);
        key
    }

    /// As [`Self::acquire_device`]; the device keeps its pool's number alive.
    pub(crate) fn acquire_device_of(&mut self, pool: PoolKey, device: &Arc<str>) -> DeviceKey {
        let device = self.strings.shared(device);
        let (number, new) = self.devices.acquire((pool, device));
        if new {
            self.pools.acquire_again(pool.0);
        }
        DeviceKey(number)
    }

    /// The pool of a device that has a number.
    pub(crate) fn pool_of(&self, device: DeviceKey) -> PoolKey {
        self.devices.entries[device.index()].0.0
    }

    /// Takes back one [`Self::acquire_device`].
    pub(crate) fn release_device(&mut self, key: DeviceKey) {
        if let Some((pool, _)) = self.devices.release(key.0) {
            self.release_pool(pool);
        }
    }

    /// The number of a pool; to be released once.
    pub(crate) fn acquire_pool(&mut self, driver: &Arc<str>, pool: &Arc<str>) -> PoolKey {
        let key = (self.strings.shared(driver), self.strings.shared(pool));
        PoolKey(self.pools.acquire(key).0)
    }

    /// Takes back one [`Self::acquire_pool`].
    pub(crate) fn release_pool(&mut self, key: PoolKey) {
        self.pools.release(key.0);
    }

    /// Replaces every string of a slice's devices by the shared copy of it.
    pub(crate) fn share_strings(&mut self, devices: &mut [Device]) {
        let mut rest = devices;
        let mut before: Option<&Device> = None;
        while let Some((device, later)) = rest.split_first_mut() {
            self.share_strings_of(device, before);
            before = Some(device);
            rest = later;
        }
    }

    /// Neighbours mostly have the same attributes, often with the same values: looking there first saves the hashing.
    fn share_strings_of(&mut self, device: &mut Device, before: Option<&Device>) {
        self.share(&mut device.name);
        let attributes = Arc::make_mut(&mut device.attributes).iter_mut();
        for (i, (name, value)) in attributes.enumerate() {
            let like = before.and_then(|before| before.attributes.get(i));
            self.share_like(name, like.map(|(name, _)| name));
            if let Attribute::String(text) | Attribute::Version(text) = value {
                self.share_like(
                    text,
                    match like {
                        Some((_, Attribute::String(text) | Attribute::Version(text))) => Some(text),
                        _ => None,
                    },
                );
            }
        }
        let capacity = Arc::make_mut(&mut device.capacity).iter_mut();
        for (i, (name, quantity)) in capacity.enumerate() {
            let like = before.and_then(|before| before.capacity.get(i));
            self.share_like(name, like.map(|(name, _)| name));
            self.share_like(quantity, like.map(|(_, quantity)| quantity));
        }
    }

    fn share_like(&mut self, text: &mut Arc<str>, shared: Option<&Arc<str>>) {
        match shared {
            Some(shared) if shared == text => *text = shared.clone(),
            _ => self.share(text),
        }
    }

    /// The numbers of the layouts of a slice's devices, whose strings are shared; each to be released once.
    pub(crate) fn acquire_layouts(
        &mut self,
        driver: &Arc<str>,
        devices: &[Device],
    ) -> Box<[LayoutKey]> {
        let mut before: Option<(&Device, u32)> = None;
        let layouts = devices.iter().map(|device| {
            let names = || device.attributes.iter().map(|(name, _)| name);
            let number = match before {
                Some((like, number))
                    if names().eq(like.attributes.iter().map(|(name, _)| name)) =>
                {
                    self.layouts.acquire_again(number);
                    number
                }
                _ => {
                    self.layouts
                        .acquire((driver.clone(), names().cloned().collect()))
                        .0
                }
            };
            before = Some((device, number));
            LayoutKey(number)
        });
        layouts.collect()
    }

    /// Takes back [`Self::acquire_layouts`].
    pub(crate) fn release_layouts(&mut self, layouts: &[LayoutKey]) {
        for layout in layouts {
            self.layouts.release(layout.0);
        }
    }

    /// The numbers of the contents of a slice's devices, whose strings are shared; each to be released once. Devices with equal
    /// contents share them from now on.
    pub(crate) fn acquire_contents(
        &mut self,
        driver: &Arc<str>,
        devices: &mut [Device],
    ) -> Box<[Content]> {
        let contents = devices.iter_mut().map(|device| {
            let (number, is_new) = self.contents.acquire(ContentOf {
                driver: driver.clone(),
                attributes: device.attributes.clone(),
                capacity: device.capacity.clone(),
            });
            let index = number as usize;
            if is_new {
                self.last_birth = self.last_birth.wrapping_add(1);
                if self.births.len() <= index {
                    self.births.resize(index + 1, 0);
                }
                self.births[index] = self.last_birth;
            } else {
                let known = &self.contents.entries[index].0;
                device.attributes = known.attributes.clone();
                device.capacity = known.capacity.clone();
            }
            Content {
                number,
                birth: self.births[index],
            }
        });
        contents.collect()
    }

    /// The attributes of a content that has a number, which are those of its devices.
    pub(crate) fn attributes(&self, content: Content) -> &[(Arc<str>, Attribute)] {
        &self.contents.entries[content.number as usize].0.attributes
    }

    /// Takes back [`Self::acquire_contents`].
    pub(crate) fn release_contents(&mut self, contents: &[Content]) {
        for content in contents {
            self.contents.release(content.number);
        }
    }

    /// Replaces a string by the shared copy of it.
    pub(crate) fn share(&mut self, text: &mut Arc<str>) {
        *text = self.strings.shared(text);
    }

    /// How many nodes, pools, devices, layouts and contents have a number.
    #[cfg(test)]
    pub(crate) fn live(&self) -> [usize; 5] {
        [
            self.nodes.numbers.len(),
            self.pools.numbers.len(),
            self.devices.numbers.len(),
            self.layouts.numbers.len(),
            self.contents.numbers.len(),
        ]
    }
}

/// One copy of each string that is in use somewhere.
#[derive(Debug, Default)]
struct Strings {
    all: HashSet<Arc<str>, FixedHasher>,
    purge_at: usize,
}

/// Below this many strings nobody looks for unused ones.
const PURGE_FLOOR: usize = 4096;

impl Strings {
    fn shared(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some(shared) = self.all.get(text) {
            return shared.clone();
        }
        if self.all.len() >= self.purge_at.max(PURGE_FLOOR) {
            self.all.retain(|text| Arc::strong_count(text) > 1);
            self.purge_at = self.all.len() * 2;
        }
        self.all.insert(text.clone());
        text.clone()
    }
}

/// Dense numbers for keys, with reference counts; numbers of keys without references are given out again.
#[derive(Debug)]
struct Interner<K> {
    numbers: HashMap<K, u32, FixedHasher>,
    entries: Vec<(K, u32)>,
    free: Vec<u32>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Self {
            numbers: HashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<K: Clone + Eq + Hash> Interner<K> {
    /// The number, and whether this is its first reference.
    fn acquire(&mut self, key: K) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(&key) {
            self.acquire_again(number);
            return (number, false);
        }
        let number = match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = (key.clone(), 1);
                number
            }
            None => {
                self.entries.push((key.clone(), 1));
                (self.entries.len() - 1) as u32
            }
        };
        self.numbers.insert(key, number);
        (number, true)
    }

    fn acquire_again(&mut self, number: u32) {
        self.entries[number as usize].1 += 1;
    }

    /// The key, if that was the last reference.
    fn release(&mut self, number: u32) -> Option<K> {
        let (key, references) = &mut self.entries[number as usize];
        *references -= 1;
        if *references > 0 {
            return None;
        }
        let key = key.clone();
        self.numbers.remove(&key);
        self.free.push(number);
        Some(key)
    }
}
