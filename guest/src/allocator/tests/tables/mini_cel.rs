//! Just enough of CEL for the expressions in the allocator tables; everything else panics, so that nothing is judged by
//! accident. The real thing has its own tables.

use crate::allocator::selectors::SelectorError;
use crate::api::{Attribute, Device};

type Verdict = Result<bool, String>;

pub fn matches(expression: &str, driver: &str, device: &Device) -> Result<bool, SelectorError> {
    if expression.contains("noSuchVar") {
        return Err(SelectorError::Compile("compilation failed: ".into()));
    }
    if device
        .attributes
        .iter()
        .any(|(_, value)| *value == Attribute::Unknown)
    {
        let name = device
            .attributes
            .iter()
            .find(|(_, value)| *value == Attribute::Unknown)
            .map(|(name, _)| name);
        return Err(SelectorError::Runtime(format!(
            "attribute {}: unsupported attribute value",
            name.expect("found before")
        )));
    }
    evaluate(expression, &Input { driver, device }).map_err(SelectorError::Runtime)
}

struct Input<'a> {
    driver: &'a str,
    device: &'a Device,
}

/// A value that an attribute or a capacity can have.
#[derive(PartialEq)]
enum Value {
    Int(i64),
    Bool(bool),
    Text(String),
    Version([u64; 3]),
    Quantity(i128),
}

impl Input<'_> {
    /// The entry of `device.<kind>["<domain>"]`; names without a domain belong to the driver's.
    fn find(&self, kind: &str, domain: &str, id: &str) -> Option<Value> {
        let is_it = |name: &str| match name.split_once('/') {
            Some(parts) => parts == (domain, id),
            None => (self.driver, name) == (domain, id),
        };
        if kind == "capacity" {
            let (_, quantity) = self.device.capacity.iter().find(|(name, _)| is_it(name))?;
            return Some(Value::Quantity(quantity_of(quantity)));
        }
        let (_, value) = self
            .device
            .attributes
            .iter()
            .find(|(name, _)| is_it(name))?;
        Some(match value {
            Attribute::Int(value) => Value::Int(*value),
            Attribute::Bool(value) => Value::Bool(*value),
            Attribute::String(value) => Value::Text(value.to_string()),
            Attribute::Version(value) => Value::Version(version_of(value)),
            Attribute::Unknown => panic!("refused before"),
        })
    }
}

/// `||` and `&&` absorb an error of one side if the other side decides.
fn evaluate(expression: &str, input: &Input<'_>) -> Verdict {
    if let Some((left, right)) = expression.split_once(" || ") {
        return match (evaluate(left, input), evaluate(right, input)) {
            (Ok(true), _) | (_, Ok(true)) => Ok(true),
            (left, right) => left.and(right),
        };
    }
    if let Some((left, right)) = expression.split_once(" && ") {
        return match (evaluate(left, input), evaluate(right, input)) {
            (Ok(false), _) | (_, Ok(false)) => Ok(false),
            (left, right) => left.and(right),
        };
    }
    if let Some(inner) = expression
        .strip_prefix("!(")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return evaluate(inner, input).map(|value| !value);
    }
    atom(expression, input)
}

fn atom(expression: &str, input: &Input<'_>) -> Verdict {
    if let Some(driver) = expression.strip_prefix("device.driver == ") {
        return Ok(unquoted(driver) == input.driver);
    }
    if let Some(domain) = expression.strip_suffix(" in device.attributes") {
        let has_own = input
            .device
            .attributes
            .iter()
            .any(|(name, _)| !name.contains('/'));
        let prefix = format!("{}/", unquoted(domain));
        let named = input
            .device
            .attributes
            .iter()
            .any(|(name, _)| name.starts_with(&prefix));
        return Ok(named || (has_own && unquoted(domain) == input.driver));
    }
    if let Some((id, map)) = expression.split_once(" in device.") {
        let (kind, domain, _) = map_of(map);
        return Ok(input.find(kind, domain, unquoted(id)).is_some());
    }
    if let Some(path) = expression
        .strip_prefix("has(device.")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        let (kind, domain, rest) = map_of(path);
        return Ok(input.find(kind, domain, &rest[1..]).is_some());
    }
    let (kind, domain, rest) = map_of(
        expression
            .strip_prefix("device.")
            .unwrap_or_else(|| panic!("{expression}")),
    );
    if let Some(id) = rest
        .strip_prefix(".exists(x, x == ")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return Ok(input.find(kind, domain, unquoted(id)).is_some());
    }
    let rest = &rest[1..];
    let end = rest
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(rest.len());
    let (id, operation) = rest.split_at(end);
    let value = input
        .find(kind, domain, id)
        .ok_or_else(|| format!("no such key: {id}"))?;
    Ok(apply(&value, operation).unwrap_or_else(|| panic!("{expression}")))
}

/// Splits `kind["domain"]rest`.
fn map_of(text: &str) -> (&str, &str, &str) {
    let (kind, rest) = text.split_once("[\"").unwrap_or_else(|| panic!("{text}"));
    let (domain, rest) = rest.split_once("\"]").unwrap_or_else(|| panic!("{text}"));
    (kind, domain, rest)
}

fn apply(value: &Value, operation: &str) -> Option<bool> {
    if operation.is_empty() {
        return if let Value::Bool(value) = value {
            Some(*value)
        } else {
            None
        };
    }
    if let Some(list) = operation.strip_prefix(" in [") {
        let Value::Text(text) = value else {
            return None;
        };
        return Some(
            list.strip_suffix(']')?
                .split(',')
                .any(|item| unquoted(item) == text),
        );
    }
    if let (Some(right), Value::Int(value)) = (operation.strip_prefix(" % 2 == "), value) {
        return Some(value % 2 == right.parse::<i64>().ok()?);
    }
    if let (Some(right), Value::Int(value)) = (operation.strip_prefix(" <= "), value) {
        return Some(*value <= right.parse().ok()?);
    }
    if let Some(right) = operation.strip_prefix(" == ") {
        return Some(*value == literal(right)?);
    }
    if let Some(right) = operation.strip_prefix(" != ") {
        return Some(*value != literal(right)?);
    }
    let (method, argument) = operation.split_once('(')?;
    let (argument, after) = argument.rsplit_once("))")?;
    let (function, argument) = argument.split_once('(')?;
    let order = match (value, function) {
        (Value::Quantity(value), "quantity") => value.cmp(&quantity_of(unquoted(argument))),
        (Value::Version(value), "semver") => value.cmp(&version_of(unquoted(argument))),
        _ => return None,
    };
    match (method, after) {
        (".isLessThan", "") => Some(order.is_lt()),
        (".isGreaterThan", "") => Some(order.is_gt()),
        (".compareTo", " >= 0") => Some(order.is_ge()),
        _ => None,
    }
}

fn literal(text: &str) -> Option<Value> {
    if text.starts_with('"') {
        Some(Value::Text(unquoted(text).into()))
    } else {
        text.parse().ok().map(Value::Int)
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

fn quantity_of(text: &str) -> i128 {
    let units = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("", 1),
    ];
    let (digits, unit) = units
        .iter()
        .find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, *unit)))
        .expect("a unit");
    digits.parse::<i128>().unwrap_or_else(|_| panic!("{text}")) * unit
}

fn version_of(text: &str) -> [u64; 3] {
    let mut parts = text
        .split('.')
        .map(|part| part.parse().unwrap_or_else(|_| panic!("{text}")));
    std::array::from_fn(|_| parts.next().expect("three numbers"))
}
