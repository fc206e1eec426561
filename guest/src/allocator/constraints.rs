//! `matchAttribute`: all devices that a constraint covers have one attribute with equal values (spec section 9.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{Attribute, Device, DeviceConstraint};

/// A constraint of a claim.
#[derive(Debug)]
pub(crate) struct Constraint {
    /// The attribute's fully qualified name.
    attribute: Arc<str>,
    /// The name as (domain, id), if it has a domain.
    parts: Option<(Arc<str>, Arc<str>)>,
    /// Numbers of the names of the requests that it covers, sorted; `None` covers all.
    requests: Option<Vec<u32>>,
}

impl Constraint {
    /// `name_ids` are the numbers of the names of the claim's requests. `None`: a constraint of an unsupported type.
    pub(crate) fn new(given: &DeviceConstraint, name_ids: &BTreeMap<&str, u32>) -> Option<Self> {
        let attribute = given.match_attribute.as_deref()?;
        let requests = (!given.requests.is_empty()).then(|| {
            let mut ids: Vec<u32> = given
                .requests
                .iter()
                .filter_map(|name| name_ids.get(name.as_str()).copied())
                .collect();
            ids.sort_unstable();
            ids
        });
        Some(Self {
            attribute: attribute.into(),
            parts: attribute
                .split_once('/')
                .map(|(domain, id)| (domain.into(), id.into())),
            requests,
        })
    }

    /// Whether the devices of a request are covered.
    pub(crate) fn covers(&self, name_id: u32) -> bool {
        self.requests
            .as_ref()
            .is_none_or(|requests| requests.binary_search(&name_id).is_ok())
    }

    /// The device's value: that of the full name, or else that of the bare id if the domain is the device's driver (T16).
    pub(crate) fn value<'a>(&self, driver: &Arc<str>, device: &'a Device) -> Option<&'a Attribute> {
        find(device, &self.attribute).or_else(|| {
            let (domain, id) = self.parts.as_ref()?;
            if domain == driver {
                find(device, id)
            } else {
                None
            }
        })
    }
}

fn find<'a>(device: &'a Device, name: &Arc<str>) -> Option<&'a Attribute> {
    device
        .attributes
        .iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

/// Which devices a constraint has accepted so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConstraintState<'a> {
    /// Value of the first accepted device; meaningless while there is none.
    reference: Option<&'a Attribute>,
    accepted: u32,
}

impl<'a> ConstraintState<'a> {
    /// Accepts a device with this value, or refuses it.
    pub(crate) fn add(&mut self, value: Option<&'a Attribute>) -> bool {
        let Some(value) = value else { return false };
        if self.accepted == 0 {
            self.reference = Some(value);
        } else if self
            .reference
            .is_none_or(|reference| !equal(reference, value))
        {
            return false;
        }
        self.accepted += 1;
        true
    }

    /// Takes back one accepted device.
    pub(crate) fn remove(&mut self) {
        self.accepted -= 1;
    }
}

/// Equal in kind and value; versions are compared as they are written. A value of unknown kind equals nothing.
fn equal(a: &Attribute, b: &Attribute) -> bool {
    !matches!(a, Attribute::Unknown) && a == b
}

#[cfg(test)]
mod tests;
