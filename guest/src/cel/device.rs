//! The variable `device` (spec section 10.2): built once per device, shared by all evaluations.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{Key, Map, Value};
use crate::api;
use crate::go_quote::quoted;
use crate::quantity::Quantity;
use crate::semver::Version;

/// A device as CEL sees it, or why it cannot be seen: then every expression fails, `true` included.
#[derive(Clone, Debug)]
pub struct DeviceValue {
    pub(super) data: Result<Arc<DeviceData>, Arc<str>>,
}

/// An attribute's value; lists exist behind the gate DRAListTypeAttributes only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    /// One value.
    Scalar(api::Attribute),
    /// `bools`, `ints`, `strings` or `versions`.
    List(Vec<api::Attribute>),
}

/// What `device` is made from.
#[derive(Clone, Debug, Default)]
pub struct DeviceInput<'a> {
    /// Driver of the slice.
    pub driver: &'a str,
    /// Attributes by name, with or without a domain.
    pub attributes: Vec<(&'a str, AttributeValue)>,
    /// Capacities by name: quantities as written.
    pub capacity: Vec<(&'a str, &'a str)>,
    /// `allowMultipleAllocations`.
    pub allow_multiple_allocations: bool,
}

/// Which of the two maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DomainKind {
    Attributes,
    Capacity,
}

/// The converted device.
#[derive(Debug, Default)]
pub(crate) struct DeviceData {
    pub(crate) driver: Arc<str>,
    pub(crate) allow_multiple_allocations: bool,
    attributes: BTreeMap<Arc<str>, Arc<Map>>,
    capacity: BTreeMap<Arc<str>, Arc<Map>>,
    /// What an unknown domain gives.
    empty: Arc<Map>,
}

impl DeviceData {
    /// The real domains.
    pub(crate) fn domains(&self, kind: DomainKind) -> &BTreeMap<Arc<str>, Arc<Map>> {
        match kind {
            DomainKind::Attributes => &self.attributes,
            DomainKind::Capacity => &self.capacity,
        }
    }

    /// Attributes or capacities of a domain; empty if there is no such domain.
    pub(crate) fn domain(&self, kind: DomainKind, name: &str) -> Value {
        Value::Map(self.domains(kind).get(name).unwrap_or(&self.empty).clone())
    }

    /// The whole map, for what is not a lookup.
    pub(crate) fn outer_map(&self, kind: DomainKind) -> Map {
        self.domains(kind)
            .iter()
            .map(|(name, map)| (Key::String(name.clone()), Value::Map(map.clone())))
            .collect()
    }
}

/// How many problems of one device are told.
const SHOWN_PROBLEMS: usize = 4;

/// How much of a bad value is told.
const SHOWN_CHARACTERS: usize = 64;

/// Why a device cannot be converted, if so, without converting it: a malformed one fails every expression, also those that
/// would not look at it.
pub fn malformed(device: &api::Device) -> Option<String> {
    let attribute = |(name, value): &(Arc<str>, api::Attribute)| {
        let one = match value {
            api::Attribute::List(values) => values
                .iter()
                .find(|value| scalar(value).is_err())
                .unwrap_or(&api::Attribute::Bool(true)),
            other => other,
        };
        let problem = match one {
            api::Attribute::Version(text) => {
                let problem = Version::parse(text).err()?;
                format!("{} is not a semantic version ({problem})", shown(text))
            }
            api::Attribute::Unknown => "has no value of a known kind".to_owned(),
            api::Attribute::Int(_)
            | api::Attribute::Bool(_)
            | api::Attribute::String(_)
            | api::Attribute::List(_) => return None,
        };
        Some(format!("attribute {name}: {problem}"))
    };
    let capacity = |(name, text): &(Arc<str>, Arc<str>)| {
        let problem = Quantity::parse(text).err()?;
        let text = shown(text);
        Some(format!(
            "capacity {name}: {text} is not a quantity ({problem})"
        ))
    };
    let attributes = device.attributes.iter().filter_map(attribute);
    let all = attributes.chain(device.capacity.iter().filter_map(capacity));
    let first: Vec<String> = all.take(SHOWN_PROBLEMS).collect();
    (!first.is_empty()).then(|| first.join(", "))
}

/// The text in quotes, its beginning if it is long.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => quoted(&text[..end]) + "...",
        None => quoted(text),
    }
}

impl DeviceValue {
    /// Converts a device. The driver is the domain of names without one; `driver/ID` wins over a bare `ID`.
    pub(super) fn new(input: &DeviceInput<'_>) -> Self {
        Self {
            data: convert(input).map(Arc::new).map_err(Arc::from),
        }
    }

    /// The driver's name, unless the device is malformed.
    pub fn driver(&self) -> Option<&str> {
        self.data.as_ref().ok().map(|data| &*data.driver)
    }
}

impl<'a> DeviceInput<'a> {
    /// From the model.
    pub fn from_device(driver: &'a str, device: &'a api::Device) -> Self {
        Self {
            driver,
            attributes: device
                .attributes
                .iter()
                .map(|(name, value)| (&**name, AttributeValue::from(value)))
                .collect(),
            capacity: device
                .capacity
                .iter()
                .map(|(name, quantity)| (&**name, &**quantity))
                .collect(),
            allow_multiple_allocations: false,
        }
    }
}

impl From<&api::Attribute> for AttributeValue {
    fn from(value: &api::Attribute) -> Self {
        match value {
            api::Attribute::List(values) => Self::List(values.to_vec()),
            scalar => Self::Scalar(scalar.clone()),
        }
    }
}

fn convert(input: &DeviceInput<'_>) -> Result<DeviceData, String> {
    let attributes = input
        .attributes
        .iter()
        .map(|(name, value)| match attribute(value) {
            Ok(value) => Ok((*name, value)),
            Err(error) => Err(format!("attribute {name}: {error}")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let capacity = input
        .capacity
        .iter()
        .map(|(name, text)| match Quantity::parse(text) {
            Ok(quantity) => Ok((*name, Value::Quantity(Arc::new(quantity)))),
            Err(error) => Err(format!("capacity {name}: {error}")),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(DeviceData {
        driver: Arc::from(input.driver),
        allow_multiple_allocations: input.allow_multiple_allocations,
        attributes: by_domain(input.driver, attributes),
        capacity: by_domain(input.driver, capacity),
        empty: Arc::new(Map::new()),
    })
}

fn attribute(value: &AttributeValue) -> Result<Value, String> {
    match value {
        AttributeValue::Scalar(value) => scalar(value),
        AttributeValue::List(values) => values
            .iter()
            .map(scalar)
            .collect::<Result<Vec<_>, _>>()
            .map(Value::list),
    }
}

fn scalar(value: &api::Attribute) -> Result<Value, String> {
    match value {
        api::Attribute::Int(i) => Ok(Value::Int(*i)),
        api::Attribute::Bool(b) => Ok(Value::Bool(*b)),
        api::Attribute::String(s) => Ok(Value::String(s.clone())),
        api::Attribute::Version(text) => match Version::parse(text) {
            Ok(version) => Ok(Value::Semver(Arc::new(version))),
            Err(error) => Err(format!("parse semantic version: {error}")),
        },
        api::Attribute::List(_) | api::Attribute::Unknown => {
            Err("unsupported attribute value".to_string())
        }
    }
}

/// Groups by domain; qualified names come last and so replace bare ones.
fn by_domain(driver: &str, mut named: Vec<(&str, Value)>) -> BTreeMap<Arc<str>, Arc<Map>> {
    named.sort_by_key(|(name, _)| name.contains('/'));
    let mut domains: BTreeMap<Arc<str>, Map> = BTreeMap::new();
    for (name, value) in named {
        let (domain, id) = name.split_once('/').unwrap_or((driver, name));
        let id = Key::String(Arc::from(id));
        match domains.get_mut(domain) {
            Some(map) => {
                map.insert(id, value);
            }
            None => {
                domains.insert(Arc::from(domain), Map::from([(id, value)]));
            }
        }
    }
    domains
        .into_iter()
        .map(|(name, map)| (name, Arc::new(map)))
        .collect()
}
