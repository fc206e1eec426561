//! The slow second look at an object that could not be read, or that lacks a key: walks it beside its schema and finds
//! the first value of a wrong type and the first key written in the wrong case.

use serde_json::{Map, Value};

use super::fault::{Fault, join};
use super::schema::{Field, Need, Shape};
use super::text::{MAX_TEXT_BYTES, brief, too_long};

/// First fault in the order of the schema; depth is that of the schema, not of the input.
pub(super) fn check(value: &Value, shape: &Shape, path: &str) -> Result<(), Fault> {
    match shape {
        Shape::Anything => Ok(()),
        Shape::Text => expect(value.is_string(), value, "a string", path).and(short(value, path)),
        Shape::Integer => expect(value.is_i64(), value, integer_noun(value), path),
        Shape::Boolean => expect(value.is_boolean(), value, "a boolean", path),
        Shape::Quantity => {
            expect(is_quantity(value), value, "a quantity", path).and(short(value, path))
        }
        Shape::WrappedQuantity => wrapped_quantity(value, path),
        Shape::List(element) => list(value, element, path),
        Shape::Map(entry) => object(value, path)?
            .iter()
            .try_for_each(|(key, value)| check(value, entry, &format!("{path}[{}]", brief(key)))),
        Shape::Object(fields) => fields_of(object(value, path)?, fields, path),
    }
}

/// What a value is called in messages.
pub(super) fn noun(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "a boolean".into(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn integer_noun(value: &Value) -> &'static str {
    if value.is_number() {
        "a 64-bit integer"
    } else {
        "an integer"
    }
}

fn expect(right: bool, value: &Value, expected: &str, path: &str) -> Result<(), Fault> {
    if right {
        Ok(())
    } else {
        Err(wrong_type(value, expected, path))
    }
}

fn short(value: &Value, path: &str) -> Result<(), Fault> {
    match value.as_str().filter(|text| text.len() > MAX_TEXT_BYTES) {
        Some(text) => Err(Fault::new(path, too_long(text))),
        None => Ok(()),
    }
}

fn wrong_type(value: &Value, expected: &str, path: &str) -> Fault {
    Fault::new(path, format!("expected {expected}, found {}", noun(value)))
}

fn object<'a>(value: &'a Value, path: &str) -> Result<&'a Map<String, Value>, Fault> {
    value
        .as_object()
        .ok_or_else(|| wrong_type(value, "an object", path))
}

fn list(value: &Value, element: &Shape, path: &str) -> Result<(), Fault> {
    let Some(values) = value.as_array() else {
        return Err(wrong_type(value, "a list", path));
    };
    values
        .iter()
        .enumerate()
        .try_for_each(|(i, value)| check(value, element, &format!("{path}[{i}]")))
}

fn is_quantity(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

fn wrapped_quantity(value: &Value, path: &str) -> Result<(), Fault> {
    let Some(object) = value.as_object() else {
        return Err(wrong_type(value, "an object with the key \"value\"", path));
    };
    fields_of(
        object,
        &[Field {
            key: "value",
            need: Need::Yes,
            shape: &Shape::Quantity,
        }],
        path,
    )
}

fn fields_of(object: &Map<String, Value>, fields: &[Field], path: &str) -> Result<(), Fault> {
    let present = |field: &Field| object.get(field.key).filter(|value| !value.is_null());
    let one_is_there = fields
        .iter()
        .any(|f| f.need == Need::OneOf && present(f).is_some());
    for field in fields {
        if let Some(value) = present(field) {
            check(value, field.shape, &join(path, field.key))?;
            continue;
        }
        let missed = match field.need {
            Need::No => false,
            Need::Yes => true,
            Need::OneOf => !one_is_there,
        };
        if missed && let Some(other) = in_another_case(object, field.key) {
            let message = format!("unknown field {other:?}, did you mean {:?}", field.key);
            return Err(Fault::new(path, message));
        }
    }
    Ok(())
}

fn in_another_case<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object
        .keys()
        .map(String::as_str)
        .find(|other| *other != key && other.eq_ignore_ascii_case(key))
}
