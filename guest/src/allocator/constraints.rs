//! `matchAttribute`: all devices that a constraint covers have one attribute with equal values (spec section 9.5), or with a
//! value in common where values are lists (KEP 5491). `distinctAttribute`: the values are pairwise different, lists disjoint
//! (KEP 5075).

use std::sync::Arc;

use super::lists::{Want, from};
use super::names::LayoutKey;
use super::requests::NameIds;
use super::search::Search;
use super::selectors::Selectors;
use crate::api::{Attribute, Device, DeviceConstraint};

/// A constraint of a claim.
#[derive(Debug)]
pub(crate) struct Constraint {
    /// Values have to be different instead of equal.
    distinct: bool,
    /// The attribute's fully qualified name.
    attribute: Arc<str>,
    /// The name as (domain, id), if it has a domain.
    parts: Option<(Arc<str>, Arc<str>)>,
    /// Numbers of the names of the requests that it covers, sorted; `None` covers all.
    requests: Option<Vec<u32>>,
}

impl Constraint {
    /// `name_ids` are the numbers of the names of the claim's requests. `None`: a constraint of an unsupported type.
    pub(crate) fn new(given: &DeviceConstraint, name_ids: &NameIds) -> Option<Self> {
        let (distinct, attribute) = match (&given.match_attribute, &given.distinct_attribute) {
            (Some(attribute), _) => (false, attribute.as_str()),
            (None, Some(attribute)) => (true, attribute.as_str()),
            (None, None) => return None,
        };
        let requests = (!given.requests.is_empty()).then(|| {
            let mut ids: Vec<u32> = given
                .requests
                .iter()
                .filter_map(|name| name_ids.get(name))
                .collect();
            ids.sort_unstable();
            ids
        });
        Some(Self {
            distinct,
            attribute: attribute.into(),
            parts: attribute
                .split_once('/')
                .map(|(domain, id)| (domain.into(), id.into())),
            requests,
        })
    }

    /// Whether values have to be different.
    pub(crate) fn is_distinct(&self) -> bool {
        self.distinct
    }

    /// The attribute's name.
    pub(crate) fn attribute(&self) -> &Arc<str> {
        &self.attribute
    }

    /// Whether the devices of a request are covered: by its name, or by that of the alternative.
    pub(crate) fn covers(&self, name_ids: [u32; 2]) -> bool {
        self.requests.as_ref().is_none_or(|requests| {
            let mut names = name_ids.iter();
            names.any(|id| requests.binary_search(id).is_ok())
        })
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
    /// By constraint for equal values: those that all accepted candidates have in common, if the first one has several.
    common: Vec<Vec<Attribute>>,
    /// By constraint for equal values, once it was asked: 1 + number of its row in `set_of`.
    row_of: Vec<u32>,
    /// In a row, by candidate: 1 + number of its set in `sets`, once it was asked for.
    set_of: Vec<u32>,
    /// The candidates whose value is equal to one value, or a list with it. Those of one value ask for the same set, and a
    /// search picks them again and again.
    sets: Vec<u64>,
    /// What was before a pick changed a set of agreeing candidates, the newest last.
    narrowed: Vec<Narrowed>,
    /// Sets for that.
    saved: Vec<u64>,
    /// By constraint: where the attribute was found last. Neighbours mostly have the same layout.
    latest: Vec<Option<Place>>,
    /// Of the inventory, when that was noted.
    version: u64,
}

/// What a constraint looked like before a pick after the first one.
#[derive(Debug)]
struct Narrowed {
    constraint: usize,
    /// Number of accepted candidates, the pick included.
    accepted: u32,
    /// Start of the set in [`Bindings::saved`].
    saved: usize,
    common: Vec<Attribute>,
}

/// Where an attribute is in devices with some layout.
#[derive(Clone, Copy, Debug)]
struct Place {
    layout: LayoutKey,
    index: Option<usize>,
}

impl Bindings {
    /// Makes ready for a node with this many candidates. Layout numbers hold for one version of the inventory.
    pub(crate) fn start(&mut self, constraints: usize, candidates: usize, version: u64) {
        let words = candidates.div_ceil(64);
        self.row_of.clear();
        self.row_of.resize(constraints, 0);
        self.set_of.clear();
        self.sets.clear();
        self.accepted.clear();
        self.accepted.resize(constraints, 0);
        self.words = words;
        self.agreeing.clear();
        self.agreeing.resize(constraints * words, 0);
        self.common.resize(constraints, Vec::new());
        self.narrowed.clear();
        self.saved.clear();
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

    /// Remembers the set and the common values of a constraint that a pick is about to change.
    fn save(&mut self, constraint: usize) {
        let set = constraint * self.words..(constraint + 1) * self.words;
        self.narrowed.push(Narrowed {
            constraint,
            accepted: self.accepted[constraint] + 1,
            saved: self.saved.len(),
            common: self.common[constraint].clone(),
        });
        self.saved.extend_from_slice(&self.agreeing[set]);
    }

    /// Takes back the latest pick of a constraint.
    fn release(&mut self, constraint: usize) {
        let changed = |narrowed: &mut Narrowed| {
            narrowed.constraint == constraint && narrowed.accepted == self.accepted[constraint]
        };
        if let Some(before) = self.narrowed.pop_if(changed) {
            let set = constraint * self.words..(constraint + 1) * self.words;
            self.agreeing[set].copy_from_slice(&self.saved[before.saved..]);
            self.saved.truncate(before.saved);
            self.common[constraint] = before.common;
        }
        self.accepted[constraint] -= 1;
    }
}

impl<'a, S: Selectors> Search<'a, '_, S> {
    /// A word of the set of candidates that the constraints of a want may still accept, as far as that is known.
    pub(crate) fn agreeing(&self, want: Want, word: usize) -> u64 {
        let covering = self.covering(want).iter();
        covering.fold(u64::MAX, |set, constraint| {
            set & self.lists.bindings.agreeing(*constraint, word)
        })
    }

    /// The constraints that cover a want.
    fn covering(&self, want: Want) -> &'a [usize] {
        &self.plan.requests[want.request as usize].covered_by
    }

    /// Whether all constraints that cover the want accept the candidate.
    pub(crate) fn is_accepted(&mut self, want: Want, position: usize) -> bool {
        let plan = self.plan;
        self.covering(want)
            .iter()
            .all(|&i| match self.lists.bindings.accepted[i] {
                // Whether a value of unknown kind is different from others nobody can tell.
                0 => self.value(i, position).is_some_and(|value| {
                    !plan.constraints[i].distinct || *value != Attribute::Unknown
                }),
                _ => self.lists.bindings.agreeing(i, position / 64) >> (position % 64) & 1 != 0,
            })
    }

    /// Adds an accepted candidate to the constraints that cover the want.
    pub(crate) fn bind(&mut self, want: Want, position: usize) {
        for &i in self.covering(want) {
            self.narrow(i, position);
            self.lists.bindings.accepted[i] += 1;
        }
    }

    /// Takes a candidate back from the constraints that cover the want.
    pub(crate) fn unbind(&mut self, want: Want) {
        for &i in self.covering(want).iter().rev() {
            self.lists.bindings.release(i);
        }
    }

    /// Works out which candidates a constraint may accept after this one.
    fn narrow(&mut self, constraint: usize, position: usize) {
        let is_first = self.lists.bindings.accepted[constraint] == 0;
        let distinct = self.plan.constraints[constraint].distinct;
        // Equal to a single value there is nothing but that value.
        if !is_first && !distinct && self.lists.bindings.common[constraint].len() <= 1 {
            return;
        }
        let picked = self.value(constraint, position).map_or(&[][..], values);
        if distinct {
            if !is_first {
                self.lists.bindings.save(constraint);
            }
            return self.find_agreeing(constraint, is_first, |value| is_disjoint(value, picked));
        }
        if is_first {
            match picked {
                [picked] => self.find_equal(constraint, position, picked),
                _ => self.find_agreeing(constraint, true, |value| intersects(value, picked)),
            }
            let common = &mut self.lists.bindings.common[constraint];
            common.clear();
            // A single value stays what it is.
            if picked.len() > 1 {
                common.extend_from_slice(picked);
            }
            return;
        }
        let common = &self.lists.bindings.common[constraint];
        if common.iter().all(|value| picked.contains(value)) {
            return;
        }
        self.lists.bindings.save(constraint);
        let mut common = std::mem::take(&mut self.lists.bindings.common[constraint]);
        common.retain(|value| picked.contains(value));
        self.find_agreeing(constraint, false, |value| intersects(value, &common));
        self.lists.bindings.common[constraint] = common;
    }

    /// Finds the candidates that agree with a single value, which is that of the candidate at `position`.
    fn find_equal(&mut self, constraint: usize, position: usize, picked: &Attribute) {
        let bindings = &mut self.lists.bindings;
        let (words, candidates) = (bindings.words, self.pools.candidates.len());
        if bindings.row_of[constraint] == 0 {
            bindings.row_of[constraint] = (bindings.set_of.len() / candidates + 1) as u32;
            bindings
                .set_of
                .resize(bindings.set_of.len() + candidates, 0);
        }
        let first = (bindings.row_of[constraint] as usize - 1) * candidates;
        if self.lists.bindings.set_of[first + position] == 0 {
            let number = (self.lists.bindings.sets.len() / words + 1) as u32;
            self.lists.bindings.set_of[first + position] = number;
            for word in 0..words {
                let mut left = self.could_agree(word);
                let mut equal = 0;
                while left != 0 {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    let Some(value) = self.value(constraint, word * 64 + bit) else {
                        continue;
                    };
                    if value == picked {
                        self.lists.bindings.set_of[first + word * 64 + bit] = number;
                        equal |= 1 << bit;
                    } else if intersects(value, std::slice::from_ref(picked)) {
                        equal |= 1 << bit;
                    }
                }
                self.lists.bindings.sets.push(equal);
            }
        }
        let bindings = &mut self.lists.bindings;
        let set = (bindings.set_of[first + position] as usize - 1) * words;
        bindings.agreeing[constraint * words..][..words]
            .copy_from_slice(&bindings.sets[set..set + words]);
    }

    /// A word of the set of candidates that can come up while a constraint is bound: those that were free at first; for admin
    /// requests all.
    fn could_agree(&self, word: usize) -> u64 {
        if !self.plan.has_admin {
            return self.lists.free_at_first[word];
        }
        let candidates = self.pools.candidates.len();
        !from(candidates, word)
    }

    /// Finds the candidates whose values agree: among all, or among those that did before.
    fn find_agreeing(
        &mut self,
        constraint: usize,
        among_all: bool,
        agrees: impl Fn(&Attribute) -> bool,
    ) {
        let words = self.lists.bindings.words;
        for word in 0..words {
            let mut left = if among_all {
                self.could_agree(word)
            } else {
                self.lists.bindings.agreeing[constraint * words + word]
            };
            let mut agreeing = 0;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                if self.value(constraint, word * 64 + bit).is_some_and(&agrees) {
                    agreeing |= 1 << bit;
                }
            }
            self.lists.bindings.agreeing[constraint * words + word] = agreeing;
        }
    }

    /// Value of a constraint's attribute in a candidate.
    #[inline]
    pub(crate) fn value(&mut self, constraint: usize, position: usize) -> Option<&'a Attribute> {
        let candidate = &self.pools.candidates[position];
        let entry = self.inventory.entry(candidate.slot);
        let layout = entry.layouts[candidate.index as usize];
        // Devices lie far apart in memory; what they have in common is near at hand.
        let content = entry.contents[candidate.index as usize];
        let attributes = self.inventory.names.attributes(content);
        let index = match self.lists.bindings.latest[constraint] {
            Some(place) if place.layout == layout => place.index,
            _ => {
                let device = candidate.device(self.inventory);
                let index = self.plan.constraints[constraint].find(&entry.slice.driver, device);
                self.lists.bindings.latest[constraint] = Some(Place { layout, index });
                index
            }
        };
        index.map(|index| &attributes[index].1)
    }
}

/// A single value as a list of one; versions are compared as they are written. A value of unknown kind has none.
fn values(attribute: &Attribute) -> &[Attribute] {
    match attribute {
        Attribute::Unknown => &[],
        Attribute::List(values) => values,
        _ => std::slice::from_ref(attribute),
    }
}

fn intersects(attribute: &Attribute, others: &[Attribute]) -> bool {
    if let ([other], false) = (others, matches!(attribute, Attribute::List(_))) {
        return attribute == other;
    }
    values(attribute).iter().any(|value| others.contains(value))
}

/// One of unknown kind is different from none.
fn is_disjoint(attribute: &Attribute, others: &[Attribute]) -> bool {
    *attribute != Attribute::Unknown && !intersects(attribute, others)
}

#[cfg(test)]
mod tests;
