//! What all devices publish together: names and values of attributes, names of capacities, by domain.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::some_of;
use crate::api::{Attribute, Device, ResourceSlice};
use crate::nearest::{meant, meant_qualified};

/// Distinct values that are kept of one attribute.
const MOST_VALUES: usize = 200;

/// Names and values; empty if there is no device.
#[derive(Default)]
pub(super) struct Published {
    /// By domain and name.
    attributes: BTreeMap<String, BTreeMap<String, Values>>,
    capacity: BTreeMap<String, BTreeMap<String, Values>>,
    pub devices: usize,
    /// Those that have a slice.
    pub drivers: BTreeSet<String>,
}

/// Values of one name, as CEL writes them.
#[derive(Default)]
pub(super) struct Values {
    pub texts: BTreeSet<String>,
    /// Types in which it is published.
    pub types: BTreeSet<Type>,
    /// More than are kept.
    pub is_cut: bool,
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Int,
    Bool,
    Text,
    Version,
    Quantity,
    List,
}

/// A name that nobody publishes.
pub(super) struct Unknown {
    pub message: String,
    pub remedy: String,
    /// Something published is so near that this one must be a slip.
    pub is_slip: bool,
}

impl Published {
    pub(super) fn of<'a>(slices: impl Iterator<Item = &'a ResourceSlice>) -> Self {
        let mut published = Self::default();
        for slice in slices {
            if !published.drivers.contains(&*slice.driver) {
                published.drivers.insert(slice.driver.to_string());
            }
            for device in &slice.devices {
                published.add(&slice.driver, device);
            }
        }
        published
    }

    fn add(&mut self, driver: &str, device: &Device) {
        self.devices += 1;
        for (name, value) in device.attributes.iter() {
            let values = values(&mut self.attributes, driver, name);
            match value {
                Attribute::List(list) => {
                    values.types.insert(Type::List);
                    list.iter().for_each(|value| values.insert_text(value));
                }
                value => values.insert(value),
            }
        }
        for (name, quantity) in device.capacity.iter() {
            let values = values(&mut self.capacity, driver, name);
            values.types.insert(Type::Quantity);
            values.insert_text(&Attribute::Version(quantity.clone()));
        }
    }

    /// Domains in which some device has this name, sorted.
    pub(super) fn domains_of(&self, id: &str) -> Vec<&str> {
        let domains = self.attributes.iter();
        let has = domains.filter(|(_, names)| names.contains_key(id));
        has.map(|(domain, _)| domain.as_str()).collect()
    }

    /// Values of a name, if some device has it.
    pub(super) fn values(&self, capacity: bool, domain: &str, id: &str) -> Option<&Values> {
        self.kind(capacity).get(domain)?.get(id)
    }

    /// Whether some slice or some name is of this driver or domain.
    pub(super) fn knows(&self, domain: &str) -> bool {
        self.drivers.contains(domain)
            || self.attributes.contains_key(domain)
            || self.capacity.contains_key(domain)
    }

    /// What to say of a name that no device has. Nothing, if one has it or there are no devices.
    pub(super) fn unknown(
        &self,
        capacity: bool,
        domain: &str,
        id: Option<&str>,
    ) -> Option<Unknown> {
        if self.devices == 0 {
            return None;
        }
        let noun = if capacity { "capacity" } else { "attribute" };
        let domains = self.kind(capacity);
        if let Some(id) = id.filter(|id| {
            self.values(capacity, domain, id).is_none()
                && self.values(!capacity, domain, id).is_some()
        }) {
            let (other, map) = match capacity {
                true => ("an attribute", "attributes"),
                false => ("a capacity", "capacity"),
            };
            return Some(Unknown {
                message: format!("no published device has the {noun} {domain}/{id}"),
                remedy: format!("it is {other}: selectors look it up in device.{map}"),
                is_slip: true,
            });
        }
        let Some(names) = domains.get(domain) else {
            let candidates = || domains.keys().map(String::as_str);
            let by_id =
                id.and_then(|id| candidates().find(|domain| domains[*domain].contains_key(id)));
            let nearest = meant_qualified(domain, candidates()).or(by_id);
            return Some(Unknown {
                is_slip: nearest.is_some(),
                message: match id {
                    Some(id) => format!(
                        "no published device has the {noun} {domain}/{id}: the domain {domain:?} is unknown"
                    ),
                    None => {
                        format!("no published device has {noun} names in the domain {domain:?}")
                    }
                },
                remedy: match nearest {
                    Some(nearest) => format!("did you mean the domain {nearest:?}?"),
                    None if domains.is_empty() => "no name of any domain is published".to_owned(),
                    None => format!("domains that are published: {}", some_of(candidates())),
                },
            });
        };
        let id = id.filter(|id| !names.contains_key(*id))?;
        let candidates = || names.keys().map(String::as_str);
        let elsewhere = domains.iter().find(|(_, names)| names.contains_key(id));
        Some(Unknown {
            is_slip: true,
            message: format!("no published device has the {noun} {domain}/{id}"),
            remedy: match (meant(id, candidates()), elsewhere) {
                (Some(nearest), _) => format!("did you mean {nearest:?}?"),
                (None, Some((other, _))) => format!("did you mean {other}/{id}?"),
                (None, None) => format!("the domain has {}", some_of(candidates())),
            },
        })
    }

    /// An attribute that an expression, as it is written, looks for among the capacities.
    pub(super) fn taken_for_capacity(&self, source: &str) -> Option<String> {
        let names = self.attributes.iter().flat_map(|(domain, names)| {
            let ids = names.keys().map(String::as_str);
            ids.map(move |id| (domain.as_str(), id))
        });
        let mut strange = names.filter(|(domain, id)| self.values(true, domain, id).is_none());
        let is_meant = |(domain, id): &(&str, &str)| {
            ['"', '\''].into_iter().any(|quote| {
                let look_up = format!("device.capacity[{quote}{domain}{quote}].{id}");
                let mut rests = source.split(look_up.as_str()).skip(1);
                rests.any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
        };
        let (domain, id) = strange.find(is_meant)?;
        Some(format!(
            "{domain}/{id} is an attribute: selectors look it up in device.attributes"
        ))
    }

    fn kind(&self, capacity: bool) -> &BTreeMap<String, BTreeMap<String, Values>> {
        match capacity {
            true => &self.capacity,
            false => &self.attributes,
        }
    }
}

fn values<'a>(
    domains: &'a mut BTreeMap<String, BTreeMap<String, Values>>,
    driver: &str,
    name: &str,
) -> &'a mut Values {
    let (domain, id) = name.split_once('/').unwrap_or((driver, name));
    let names = entry(domains, domain);
    entry(names, id)
}

/// The value of a key, which is copied only when it is new.
fn entry<'a, V: Default>(map: &'a mut BTreeMap<String, V>, key: &str) -> &'a mut V {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), V::default());
    }
    // The borrow checker knows no way to look once and return what was found.
    map.entry(key.to_owned()).or_default()
}

impl Values {
    fn insert(&mut self, value: &Attribute) {
        let kind = match value {
            Attribute::Int(_) => Type::Int,
            Attribute::Bool(_) => Type::Bool,
            Attribute::String(_) => Type::Text,
            Attribute::Version(_) => Type::Version,
            Attribute::List(_) | Attribute::Unknown => return,
        };
        self.types.insert(kind);
        self.insert_text(value);
    }

    fn insert_text(&mut self, value: &Attribute) {
        if self.is_cut {
            return;
        }
        let text = match value {
            Attribute::Int(int) => int.to_string(),
            Attribute::Bool(bool) => bool.to_string(),
            Attribute::String(text) => format!("{text:?}"),
            Attribute::Version(text) => text.to_string(),
            Attribute::List(_) | Attribute::Unknown => return,
        };
        if self.texts.len() < MOST_VALUES {
            self.texts.insert(text);
        } else if !self.texts.contains(&text) {
            self.is_cut = true;
        }
    }
}
