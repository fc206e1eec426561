//! Values at run time: CEL's own and those that Kubernetes adds, with cel-go's equality and order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::budget::Budget;
use super::device::{DeviceData, DomainKind};
use super::functions::format::NamedFormat;
use super::functions::net::Cidr;
use super::functions::url::Url;
use super::time::Timestamp;
use crate::quantity::Quantity;
use crate::semver::Version;

/// A value. Cheap to clone: whatever is large is shared.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<Vec<Value>>),
    Map(Arc<Map>),
    Optional(Option<Arc<Value>>),
    /// A type, by its run-time name.
    Type(&'static str),
    /// Nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    Quantity(Arc<Quantity>),
    Semver(Arc<Version>),
    Url(Arc<Url>),
    Ip(IpAddr),
    Cidr(Cidr),
    Format(&'static NamedFormat),
    /// The variable `device`.
    Device(Arc<DeviceData>),
    /// `device.attributes` or `device.capacity`: any domain is there, unknown ones are empty.
    Domains(DomainKind, Arc<DeviceData>),
}

/// A map. The order of keys is ours (Go's is random): iteration is reproducible.
pub(crate) type Map = BTreeMap<Key, Value>;

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(Arc<str>),
}

/// Why an evaluation went wrong.
#[derive(Clone, Debug)]
pub(crate) enum Fail {
    /// A limit was exceeded. Unlike an error it cannot be absorbed by `&&` and `||`.
    Cancelled,
    /// What makes cel-go itself panic, with the text of that: it ends the evaluation as well.
    Panicked(&'static str),
    /// No overload fits the arguments; the call adds its name.
    NoOverload,
    /// cel-go's text.
    Error(Arc<str>),
}

impl Fail {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Fail::Error(Arc::from(text.as_ref()))
    }

    pub(crate) fn no_such_overload() -> Self {
        Fail::new("no such overload")
    }
}

/// Result of an evaluation step.
pub(crate) type Outcome = Result<Value, Fail>;

impl Value {
    pub(crate) fn string(text: impl AsRef<str>) -> Self {
        Value::String(Arc::from(text.as_ref()))
    }

    pub(crate) fn list(values: Vec<Value>) -> Self {
        Value::List(Arc::new(values))
    }

    pub(crate) fn some(value: Value) -> Self {
        Value::Optional(Some(Arc::new(value)))
    }

    /// cel-go's run-time type name.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            // `device` is a map of upstream's, whatever its static type says.
            Value::Map(_) | Value::Domains(..) | Value::Device(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Semver(_) => "kubernetes.Semver",
            Value::Url(_) => "kubernetes.URL",
            Value::Ip(_) => "net.IP",
            Value::Cidr(_) => "net.CIDR",
            Value::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// The Go type that cel-go names when it cannot iterate.
    pub(crate) fn go_type(&self) -> &'static str {
        match self {
            Value::Null => "types.Null",
            Value::Bool(_) => "types.Bool",
            Value::Int(_) => "types.Int",
            Value::Uint(_) => "types.Uint",
            Value::Double(_) => "types.Double",
            Value::String(_) => "types.String",
            Value::Bytes(_) => "types.Bytes",
            Value::Duration(_) => "types.Duration",
            Value::Timestamp(_) => "types.Timestamp",
            Value::Optional(_) => "*types.Optional",
            Value::Semver(_) => "cel.Semver",
            Value::Quantity(_) => "cel.Quantity",
            _ => "*types.Type",
        }
    }

    /// Number of elements, characters or bytes; 1 for scalars. It is what costs are computed from.
    pub(crate) fn size(&self) -> u64 {
        let size = match self {
            Value::String(text) => char_count(text),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Domains(kind, device) => device.domains(*kind).len(),
            Value::Ip(IpAddr::V4(_)) => 4,
            Value::Ip(IpAddr::V6(_)) => 16,
            Value::Cidr(cidr) => usize::from(cidr.prefix_length()),
            Value::Optional(Some(value)) => return value.size(),
            _ => 1,
        };
        size as u64
    }

    /// The key that it is in a map, if it can be one.
    pub(crate) fn to_key(&self) -> Option<Key> {
        match self {
            Value::Bool(b) => Some(Key::Bool(*b)),
            Value::Int(i) => Some(Key::Int(*i)),
            Value::Uint(u) => Some(Key::Uint(*u)),
            Value::String(s) => Some(Key::String(s.clone())),
            Value::Double(d) => int_of(*d)
                .map(Key::Int)
                .or_else(|| uint_of(*d).map(Key::Uint)),
            _ => None,
        }
    }
}

impl Key {
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Key::Bool(b) => Value::Bool(*b),
            Key::Int(i) => Value::Int(*i),
            Key::Uint(u) => Value::Uint(*u),
            Key::String(s) => Value::String(s.clone()),
        }
    }
}

/// As cel-go prints it in `no such key: K`.
impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Bool(b) => write!(f, "{b}"),
            Key::Int(i) => write!(f, "{i}"),
            Key::Uint(u) => write!(f, "{u}"),
            Key::String(s) => f.write_str(s),
        }
    }
}

/// Looks up a key; integers of both signednesses find each other.
pub(crate) fn find<'m>(map: &'m Map, key: &Key) -> Option<&'m Value> {
    map.get(key).or_else(|| match key {
        Key::Int(i) => map.get(&Key::Uint(u64::try_from(*i).ok()?)),
        Key::Uint(u) => map.get(&Key::Int(i64::try_from(*u).ok()?)),
        _ => None,
    })
}

/// `a == b`. Values of Kubernetes' own types make it an error if the right-hand side is of another type.
pub(crate) fn equal(a: &Value, b: &Value, budget: &mut Budget) -> Result<bool, Fail> {
    budget.work(1)?;
    Ok(match (a, b) {
        (Value::Null, _) | (_, Value::Null) => matches!((a, b), (Value::Null, Value::Null)),
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => compare_numbers(a, b) == Some(Ordering::Equal),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => {
            budget.work(a.len() as u64 / 16)?;
            a == b
        }
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && all_equal(a.iter().zip(b.iter()), budget)?
        }
        (Value::Map(a), Value::Map(b)) => maps_equal(a, b, budget)?,
        (Value::Domains(kind, device), _) => {
            maps_equal(&device.outer_map(*kind), &outer(b)?, budget)?
        }
        (Value::Map(a), Value::Domains(kind, device)) => {
            maps_equal(a, &device.outer_map(*kind), budget)?
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => equal(a, b, budget)?,
            (a, b) => a.is_none() && b.is_none(),
        },
        (Value::Quantity(a), Value::Quantity(b)) => budget.quantity(a) == budget.quantity(b),
        (Value::Semver(a), Value::Semver(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Format(a), Value::Format(b)) => std::ptr::eq(*a, *b),
        (Value::Device(a), Value::Device(b)) => Arc::ptr_eq(a, b),
        (
            Value::Quantity(_)
            | Value::Semver(_)
            | Value::Url(_)
            | Value::Ip(_)
            | Value::Cidr(_)
            | Value::Format(_),
            _,
        ) => return Err(Fail::no_such_overload()),
        _ => false,
    })
}

fn outer(value: &Value) -> Result<Map, Fail> {
    match value {
        Value::Domains(kind, device) => Ok(device.outer_map(*kind)),
        Value::Map(map) => Ok(Map::clone(map)),
        _ => Ok(Map::new()),
    }
}

fn all_equal<'v>(
    mut pairs: impl Iterator<Item = (&'v Value, &'v Value)>,
    budget: &mut Budget,
) -> Result<bool, Fail> {
    pairs.try_fold(true, |all, (a, b)| Ok(all && equal(a, b, budget)?))
}

fn maps_equal(a: &Map, b: &Map, budget: &mut Budget) -> Result<bool, Fail> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a {
        match find(b, key) {
            Some(other) if equal(value, other, budget)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Order of two values that `<` and its like accept; `None` if there is no such overload, or for NaN.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Some(a.cmp(b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Some(a.cmp(b)),
        _ => compare_numbers(a, b),
    }
}

/// Order of two numbers of any type, exact; `None` for NaN and for anything else than numbers.
pub(crate) fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Int(a), Value::Double(b)) => compare_to_double(i128::from(*a), *b),
        (Value::Uint(a), Value::Double(b)) => compare_to_double(i128::from(*a), *b),
        (Value::Double(a), Value::Int(b)) => {
            compare_to_double(i128::from(*b), *a).map(Ordering::reverse)
        }
        (Value::Double(a), Value::Uint(b)) => {
            compare_to_double(i128::from(*b), *a).map(Ordering::reverse)
        }
        _ => None,
    }
}

fn compare_to_double(a: i128, b: f64) -> Option<Ordering> {
    if b.is_nan() {
        return None;
    }
    // Saturates far outside of both integer types, so the truncation is exact where it matters.
    let whole = b.trunc() as i128;
    Some(a.cmp(&whole).then_with(|| {
        let fraction = b - b.trunc();
        0.0f64.partial_cmp(&fraction).unwrap_or(Ordering::Equal)
    }))
}

/// Characters of a string; strings are mostly ASCII.
pub(crate) fn char_count(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

/// The integer that a double is, if it is one.
pub(crate) fn int_of(d: f64) -> Option<i64> {
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    (range.contains(&d) && d.fract() == 0.0).then_some(d as i64)
}

/// The unsigned integer that a double is, if it is one.
pub(crate) fn uint_of(d: f64) -> Option<u64> {
    let range = 0.0..18_446_744_073_709_551_616.0;
    (range.contains(&d) && d.fract() == 0.0).then_some(d as u64)
}
