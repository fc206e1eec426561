//! `matchAttribute`: all devices that a constraint covers have one attribute with equal values (spec section 9.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lists::Want;
use super::names::LayoutKey;
use super::search::Search;
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

    /// Index of the attribute in the device: the one with the full name, or else with the bare id if the domain is the
    /// device's driver (T16).
    pub(crate) fn find(&self, driver: &Arc<str>, device: &Device) -> Option<usize> {
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

fn find(device: &Device, name: &Arc<str>) -> Option<usize> {
    device
        .attributes
        .iter()
        .position(|(candidate, _)| candidate == name)
}

/// What the constraints have accepted so far, on one node.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    /// By constraint: number of candidates that were accepted.
    accepted: Vec<u32>,
    words: usize,
    /// By constraint: the candidates that agree with what was accepted. Meaningless while nothing was, and for candidates
    /// that were not free then.
    agreeing: Vec<u64>,
    /// By constraint: where the attribute was found last. Neighbours mostly have the same layout.
    latest: Vec<Option<Place>>,
    /// Of the inventory, when that was noted.
    version: u64,
}

/// Where an attribute is in devices with some layout.
#[derive(Clone, Copy, Debug)]
struct Place {
    layout: LayoutKey,
    index: Option<usize>,
}

impl Bindings {
    /// Makes ready for a node with sets of this many words. Layout numbers hold for one version of the inventory.
    pub(crate) fn start(&mut self, constraints: usize, words: usize, version: u64) {
        self.accepted.clear();
        self.accepted.resize(constraints, 0);
        self.words = words;
        self.agreeing.clear();
        self.agreeing.resize(constraints * words, 0);
        if self.version != version {
            self.latest.clear();
        }
        self.latest.resize(constraints, None);
        self.version = version;
    }

    /// A word of the set of candidates that a constraint may still accept, as far as that is known.
    fn agreeing(&self, constraint: usize, word: usize) -> u64 {
        match self.accepted[constraint] {
            0 => u64::MAX,
            _ => self.agreeing[constraint * self.words + word],
        }
    }
}

impl<'a> Search<'a, '_> {
    /// A word of the set of candidates that the constraints of a want may still accept, as far as that is known.
    pub(crate) fn agreeing(&self, want: Want, word: usize) -> u64 {
        let mut set = u64::MAX;
        self.each_constraint(want, |constraint| {
            set &= self.lists.bindings.agreeing(constraint, word)
        });
        set
    }

    /// Whether all constraints that cover the want accept the candidate.
    pub(crate) fn is_accepted(&mut self, want: Want, position: usize) -> bool {
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        plan.constraints_of(want.request as usize).all(|i| {
            !plan.constraints[i].covers(request.name_id)
                || match self.lists.bindings.accepted[i] {
                    0 => self.value(i, position).is_some(),
                    _ => self.lists.bindings.agreeing(i, position / 64) >> (position % 64) & 1 != 0,
                }
        })
    }

    /// Adds an accepted candidate to the constraints that cover the want.
    pub(crate) fn bind(&mut self, want: Want, position: usize) {
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        for i in plan.constraints_of(want.request as usize) {
            if plan.constraints[i].covers(request.name_id) {
                if self.lists.bindings.accepted[i] == 0 {
                    self.find_agreeing(i, position);
                }
                self.lists.bindings.accepted[i] += 1;
            }
        }
    }

    /// Takes a candidate back from the constraints that cover the want.
    pub(crate) fn unbind(&mut self, want: Want) {
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        for i in plan.constraints_of(want.request as usize) {
            if plan.constraints[i].covers(request.name_id) {
                self.lists.bindings.accepted[i] -= 1;
            }
        }
    }

    /// Finds which candidates have the same value as the one that binds a constraint.
    fn find_agreeing(&mut self, constraint: usize, reference: usize) {
        let reference = self.value(constraint, reference);
        for word in 0..self.lists.bindings.words {
            // Only devices that are free now can come up while the constraint is bound; for admin requests all can.
            let mut left = if self.plan.has_admin {
                u64::MAX
            } else {
                self.lists.free[word]
            };
            let mut agreeing = 0;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let position = word * 64 + bit;
                if position >= self.pools.candidates.len() {
                    break;
                }
                let value = self.value(constraint, position);
                if reference
                    .is_some_and(|reference| value.is_some_and(|value| equal(reference, value)))
                {
                    agreeing |= 1 << bit;
                }
            }
            let words = self.lists.bindings.words;
            self.lists.bindings.agreeing[constraint * words + word] = agreeing;
        }
    }

    /// Value of a constraint's attribute in a candidate.
    pub(crate) fn value(&mut self, constraint: usize, position: usize) -> Option<&'a Attribute> {
        let candidate = &self.pools.candidates[position];
        let entry = self.inventory.entry(candidate.slot);
        let device = &entry.slice.devices[candidate.index as usize];
        let layout = entry.layouts[candidate.index as usize];
        let index = match self.lists.bindings.latest[constraint] {
            Some(place) if place.layout == layout => place.index,
            _ => {
                let index = self.plan.constraints[constraint].find(&entry.slice.driver, device);
                self.lists.bindings.latest[constraint] = Some(Place { layout, index });
                index
            }
        };
        index.map(|index| &device.attributes[index].1)
    }

    fn each_constraint(&self, want: Want, mut call: impl FnMut(usize)) {
        let request = &self.plan.requests[want.request as usize];
        for i in self.plan.constraints_of(want.request as usize) {
            if self.plan.constraints[i].covers(request.name_id) {
                call(i);
            }
        }
    }
}

/// Equal in kind and value; versions are compared as they are written. A value of unknown kind equals nothing.
fn equal(a: &Attribute, b: &Attribute) -> bool {
    !matches!(a, Attribute::Unknown) && a == b
}

#[cfg(test)]
mod tests;
