//! Why a selector refused devices: the part that was false or failed, what it saw, and what may help.

use std::collections::{BTreeMap, BTreeSet};
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
}

impl Expressions {
    /// The part that was false for a device, or the one that failed.
    pub fn refusing(
        &mut self,
        environment: &Environment,
        expression: &Arc<str>,
        found: Found<'_>,
        failed: bool,
    ) -> Option<usize> {
        let parts = self
            .parts
            .entry(expression.clone())
            .or_insert_with(|| environment.parts(expression));
        if parts.len() < 2 {
            return (!parts.is_empty()).then_some(0);
        }
        let device = environment.device(&found.slice.driver, found.device);
        let wanted = if failed { None } else { Some(false) };
        parts
            .iter()
            .position(|part| part.verdict(&device) == wanted)
    }

    /// A part that was found.
    pub fn part(&self, expression: &Arc<str>, index: usize) -> Option<&Part> {
        self.parts.get(expression)?.get(index)
    }
}

/// What a part saw, by distinct combination, the most frequent first.
pub fn values(
    part: &Part,
    positions: &[usize],
    survey: &Survey,
    inventory: &Inventory,
) -> Vec<Values> {
    if part.accesses.is_empty() {
        return Vec::new();
    }
    let mut counts: BTreeMap<Vec<Option<String>>, (usize, usize)> = BTreeMap::new();
    for &position in positions {
        let found = survey.found(position, inventory);
        let saw = part
            .accesses
            .iter()
            .map(|access| seen(access, found))
            .collect();
        counts.entry(saw).or_insert((0, position)).0 += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, first))| (usize::MAX - count, *first));
    counts.truncate(MOST_VALUES);
    let values = counts.into_iter().map(|(saw, (count, first))| {
        let accesses = part.accesses.iter().zip(saw);
        Values {
            saw: accesses
                .map(|(access, value)| Saw {
                    expression: words::name(&access.to_string()),
                    value,
                })
                .collect(),
            count,
            device: words::name(&survey.found(first, inventory).to_string()),
        }
    });
    values.collect()
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

/// What may help against a part that was false, or failed, for these devices.
pub fn hints(
    part: &Part,
    positions: &[usize],
    failed: bool,
    survey: &Survey,
    inventory: &Inventory,
) -> Vec<Hint> {
    let published = Published { survey, inventory };
    let mut hints = Vec::new();
    for access in part
        .accesses
        .iter()
        .filter(|access| access.field != Field::Driver)
    {
        let lacks = |position: &&usize| {
            let found = survey.found(**position, inventory);
            access.find(&found.slice.driver, found.device).is_none()
        };
        if positions.iter().find(lacks).is_none() {
            continue;
        }
        if failed && let Some(guard) = access.guard() {
            hints.push(Hint {
                kind: "guard",
                guard: Some(words::name(&guard)),
                ..Hint::default()
            });
        }
        hints.extend(published.unknown(access));
    }
    let mut told = BTreeSet::new();
    for (access, _) in &part.wanted {
        if told.insert(access) {
            hints.extend(published.other_values(access, part));
        }
    }
    hints.truncate(MOST_HINTS);
    hints
}

/// What the devices of a node publish.
struct Published<'a> {
    survey: &'a Survey,
    inventory: &'a Inventory,
}

impl<'a> Published<'a> {
    fn all(&self) -> impl Iterator<Item = Found<'a>> {
        let (survey, inventory) = (self.survey, self.inventory);
        (0..survey.looked().min(MOST_PUBLISHED))
            .map(move |position| survey.found(position, inventory))
    }

    /// Names with their domains.
    fn names(&self, field: Field) -> BTreeSet<(&'a str, &'a str)> {
        let mut names = BTreeSet::new();
        for Found { slice, device } in self.all() {
            let driver = &*slice.driver;
            let mut add = |name: &'a str| {
                names.insert(name.split_once('/').unwrap_or((driver, name)));
            };
            match field {
                Field::Driver => {}
                Field::Attribute => device.attributes.iter().for_each(|(name, _)| add(name)),
                Field::Capacity => device.capacity.iter().for_each(|(name, _)| add(name)),
            }
        }
        names
    }

    /// If nothing has this name: those that are nearest.
    fn unknown(&self, access: &Access) -> Option<Hint> {
        let (domain, name) = (&*access.domain, &*access.name);
        let names = self.names(access.field);
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
    fn other_values(&self, access: &Access, part: &Part) -> Option<Hint> {
        let values: BTreeSet<String> = self.all().filter_map(|found| seen(access, found)).collect();
        let mut wanted = part
            .wanted
            .iter()
            .filter(|(of, _)| of == access)
            .map(|(_, text)| text);
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
}
