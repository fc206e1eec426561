//! Devices as CEL sees them, made once per filling of a slot (spec section 10.2).

use crate::allocator::selectors::DeviceRef;
use crate::cel::{DeviceValue, Environment};

/// Devices that are kept at most: each takes one or two KiB. Of more, the first ones are.
const DEVICES_LIMIT: usize = 10_000;

/// Converted devices by slot and index.
#[derive(Default)]
pub(super) struct DeviceValues {
    slots: Vec<Slot>,
    pub(super) kept: usize,
    /// The device that was asked about last: class and request selectors come in a row.
    latest: Option<((u32, u64, u32), DeviceValue)>,
    /// How many were made.
    pub(super) made: u64,
}

#[derive(Default)]
struct Slot {
    version: u64,
    values: Vec<Option<DeviceValue>>,
}

impl DeviceValues {
    /// The device, converted now or before.
    pub(super) fn get(&mut self, environment: &Environment, device: &DeviceRef<'_>) -> DeviceValue {
        let key = (device.slot, device.version, device.index);
        if let Some((latest, value)) = &self.latest
            && *latest == key
        {
            return value.clone();
        }
        let value = self.kept(environment, device);
        self.latest = Some((key, value.clone()));
        value
    }

    fn kept(&mut self, environment: &Environment, device: &DeviceRef<'_>) -> DeviceValue {
        let (slot, index) = (device.slot as usize, device.index as usize);
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        if self.slots[slot].version != device.version {
            self.forget(device.slot);
            self.slots[slot].version = device.version;
        }
        let values = &mut self.slots[slot].values;
        if let Some(Some(value)) = values.get(index) {
            return value.clone();
        }
        let value = environment.device(device.driver, device.device);
        self.made += 1;
        if self.kept < DEVICES_LIMIT {
            if values.len() <= index {
                values.resize(index + 1, None);
            }
            values[index] = Some(value.clone());
            self.kept += 1;
        }
        value
    }

    /// The slot has another slice now.
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            self.kept -= slot.values.iter().flatten().count();
            *slot = Slot::default();
        }
        self.latest = None;
    }
}
