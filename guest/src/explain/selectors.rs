//! Why a selector refused devices: the part that was false or failed, what it saw, and what may help.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::allocator::Inventory;
use crate::allocator::survey::{Found, Survey};
use crate::cel::{Access, Environment, Field, Part, Seen};

use super::report::{Hint, Saw, Values};
use super::words;

/// Distinct combinations of values that are told.
const MOST_VALUES: usize = 8;
/// Hints of one reason.
const MOST_HINTS: usize = 8;
/// Devices whose names and values count as published.
const MOST_PUBLISHED: usize = 4_096;

/// Expressions taken apart, each once.
#[derive(Default)]
pub struct Expressions {
    parts: BTreeMap<Arc<str>, Vec<Part>>,
    /// On the node at work: which part refused a device, given its place.
    refused: BTreeMap<(Arc<str>, usize), Option<usize>>,
}

impl Expressions {
    /// Another node comes.
    pub fn turn(&mut self) {
        self.refused.clear();
    }

    /// The part that was false for a device, or the one that failed.
    pub fn refusing(
        &mut self,
        environment: &Environment,
        expression: &Arc<str>,
        (position, found): (usize, Found<'_>),
        failed: bool,
    ) -> Option<usize> {
        let parts = self
            .parts
            .entry(expression.clone())
            .or_insert_with(|| environment.parts(expression));
        if parts.len() < 2 {
            return (!parts.is_empty()).then_some(0);
        }
        let key = (expression.clone(), position);
        *self.refused.entry(key).or_insert_with(|| {
            let device = environment.device(&found.slice.driver, found.device);
            let wanted = if failed { None } else { Some(false) };
            parts
                .iter()
                .position(|part| part.verdict(&device) == wanted)
        })
    }

    /// A part that was found.
    pub fn part(&self, expression: &Arc<str>, index: usize) -> Option<&Part> {
        self.parts.get(expression)?.get(index)
    }
}

/// What the devices of a node publish, looked up once.
pub struct Published<'a> {
    survey: &'a Survey,
    inventory: &'a Inventory,
    attributes: OnceCell<Names<'a>>,
    capacities: OnceCell<Names<'a>>,
    values: RefCell<BTreeMap<Access, Rc<BTreeSet<String>>>>,
}

/// Names with their domains.
type Names<'a> = BTreeSet<(&'a str, &'a str)>;

impl<'a> Published<'a> {
    pub fn new(survey: &'a Survey, inventory: &'a Inventory) -> Self {
        Self {
            survey,
            inventory,
            attributes: OnceCell::new(),
            capacities: OnceCell::new(),
            values: RefCell::default(),
        }
    }

    /// What a part saw, by distinct combination, the most frequent first.
    pub fn seen_by(&self, part: &Part, positions: &[usize]) -> Vec<Values> {
        if part.accesses.is_empty() {
            return Vec::new();
        }
        let mut counts: BTreeMap<Vec<Option<String>>, (usize, usize)> = BTreeMap::new();
        for &position in positions {
            let found = self.survey.found(position, self.inventory);
            let accesses = part.accesses.iter();
            let saw = accesses.map(|access| seen(access, found)).collect();
            counts.entry(saw).or_insert((0, position)).0 += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, (count, first))| (usize::MAX - count, *first));
        counts.truncate(MOST_VALUES);
        let values = counts.into_iter().map(|(saw, (count, first))| {
            let accesses = part.accesses.iter().zip(saw);
            let saw = accesses.map(|(access, value)| Saw {
                expression: words::name(&access.to_string()),
                value,
            });
            Values {
                saw: saw.collect(),
                count,
                device: words::name(&self.survey.found(first, self.inventory).to_string()),
            }
        });
        values.collect()
    }

    /// What may help against a part that was false, or failed, for these devices.
    pub fn hints(&self, part: &Part, positions: &[usize], failed: bool) -> Vec<Hint> {
        let mut hints = Vec::new();
        let drivers = self.drivers(positions);
        for access in &part.accesses {
            let lacks = |position: &usize| {
                let found = self.survey.found(*position, self.inventory);
                access.find(&found.slice.driver, found.device).is_none()
            };
            if !positions.iter().any(lacks) {
                continue;
            }
            if failed && let Some(guard) = access.guard() {
                hints.push(Hint {
                    kind: "guard",
                    guard: Some(words::name(&guard)),
                    ..Hint::default()
                });
            }
            let known = concrete(access, &drivers);
            hints.extend(known.filter_map(|access| self.unknown(&access)));
        }
        let mut told = BTreeSet::new();
        for (access, _) in &part.wanted {
            if told.insert(access) {
                let known = concrete(access, &drivers);
                hints.extend(known.filter_map(|known| self.other_values(&known, access, part)));
            }
        }
        hints.truncate(MOST_HINTS);
        hints
    }

    /// Of these devices, each once.
    fn drivers(&self, positions: &[usize]) -> BTreeSet<Arc<str>> {
        let of = |position: &usize| self.survey.found(*position, self.inventory).slice;
        positions.iter().map(|at| of(at).driver.clone()).collect()
    }

    fn all(&self) -> impl Iterator<Item = Found<'a>> {
        let (survey, inventory) = (self.survey, self.inventory);
        let positions = 0..survey.looked().min(MOST_PUBLISHED);
        positions.map(move |position| survey.found(position, inventory))
    }

    fn names(&self, field: Field) -> Option<&Names<'a>> {
        fn qualified<'n>(driver: &'n str, name: &'n str) -> (&'n str, &'n str) {
            name.split_once('/').unwrap_or((driver, name))
        }
        match field {
            Field::Driver => None,
            Field::Attribute => Some(self.attributes.get_or_init(|| {
                let names = self.all().flat_map(|Found { slice, device }| {
                    let names = device.attributes.iter();
                    names.map(|(name, _)| qualified(&slice.driver, name))
                });
                names.collect()
            })),
            Field::Capacity => Some(self.capacities.get_or_init(|| {
                let names = self.all().flat_map(|Found { slice, device }| {
                    let names = device.capacity.iter();
                    names.map(|(name, _)| qualified(&slice.driver, name))
                });
                names.collect()
            })),
        }
    }

    /// If nothing has this name: those that are nearest.
    fn unknown(&self, access: &Access) -> Option<Hint> {
        let (domain, name) = (access.domain.as_deref()?, &*access.name);
        let names = self.names(access.field)?;
        if names.contains(&(domain, name)) {
            return None;
        }
        let in_domain = names.iter().filter(|(known, _)| *known == domain);
        let in_domain: Vec<&str> = in_domain.map(|(_, name)| *name).collect();
        Some(if in_domain.is_empty() {
            let domains: BTreeSet<&str> = names.iter().map(|(domain, _)| *domain).collect();
            Hint {
                kind: "unknown-domain",
                name: words::name(domain),
                nearest: words::nearest(domain, domains.into_iter()),
                guard: None,
            }
        } else {
            Hint {
                kind: "unknown-attribute",
                name: words::name(name),
                nearest: words::nearest(name, in_domain.into_iter()),
                guard: None,
            }
        })
    }

    /// If no device has any of the values that the part wants: those that there are.
    fn other_values(&self, known: &Access, access: &Access, part: &Part) -> Option<Hint> {
        let values = self.values_of(known);
        let wanted = part.wanted.iter().filter(|(of, _)| of == access);
        let mut wanted = wanted.map(|(_, text)| text);
        if values.is_empty() || wanted.clone().any(|text| values.contains(text)) {
            return None;
        }
        let first = wanted.next()?;
        Some(Hint {
            kind: "near-value",
            name: words::name(first),
            nearest: words::nearest(first, values.iter().map(String::as_str)),
            guard: None,
        })
    }

    fn values_of(&self, access: &Access) -> Rc<BTreeSet<String>> {
        if let Some(values) = self.values.borrow().get(access) {
            return Rc::clone(values);
        }
        let values = self.all().filter_map(|found| seen(access, found));
        let values = Rc::new(values.collect::<BTreeSet<_>>());
        self.values
            .borrow_mut()
            .insert(access.clone(), Rc::clone(&values));
        values
    }
}

/// An access by the domains that it means for devices of these drivers.
fn concrete(access: &Access, drivers: &BTreeSet<Arc<str>>) -> impl Iterator<Item = Access> {
    let is_own = access.domain.is_none() && access.field != Field::Driver;
    let each = drivers.iter().filter(move |_| is_own);
    let own = each.map(|driver| access.within(driver));
    own.chain((!is_own).then(|| access.clone()))
}

fn seen(access: &Access, found: Found<'_>) -> Option<String> {
    let seen = access.find(&found.slice.driver, found.device)?;
    Some(match seen {
        Seen::Driver(driver) => words::name(&crate::go_quote::quoted(driver)),
        Seen::Attribute(value) => words::value(value),
        Seen::Capacity(text) => {
            words::name(&format!("quantity({})", crate::go_quote::quoted(text)))
        }
    })
}
