//! Devices as CEL sees them, made once per content (spec section 10.2).

use crate::allocator::selectors::{Content, DeviceRef};
use crate::cel::{DeviceValue, Environment};

/// Contents that are kept: those with the lowest numbers, which live longest. Each takes one or two KiB.
const CONTENTS_LIMIT: usize = 4_096;

/// Converted devices by number of their content.
#[derive(Default)]
pub(super) struct DeviceValues {
    values: Vec<Option<(u32, DeviceValue)>>,
    /// The device that was asked about last: class and request selectors come in a row.
    latest: Option<(Content, DeviceValue)>,
    /// How many were made.
    pub(super) made: u64,
}

impl DeviceValues {
    /// The device, converted now or, if values are to be remembered, before.
    pub(super) fn get(
        &mut self,
        environment: &Environment,
        device: &DeviceRef<'_>,
        remembers: bool,
    ) -> DeviceValue {
        if !remembers {
            return environment.device(device.driver, device.device);
        }
        if let Some((latest, value)) = &self.latest
            && *latest == device.content
        {
            return value.clone();
        }
        let value = self.kept(environment, device);
        self.latest = Some((device.content, value.clone()));
        value
    }

    fn kept(&mut self, environment: &Environment, device: &DeviceRef<'_>) -> DeviceValue {
        let Content { number, birth } = device.content;
        let index = number as usize;
        if let Some(Some((of, value))) = self.values.get(index)
            && *of == birth
        {
            return value.clone();
        }
        let value = environment.device(device.driver, device.device);
        self.made += 1;
        if index < CONTENTS_LIMIT {
            if self.values.len() <= index {
                self.values.resize(index + 1, None);
            }
            self.values[index] = Some((birth, value.clone()));
        }
        value
    }

    /// How many are kept.
    #[cfg(test)]
    pub(super) fn kept_now(&self) -> usize {
        self.values.iter().flatten().count()
    }
}
