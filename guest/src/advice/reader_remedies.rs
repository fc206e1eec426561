//! What to do about an object that cannot be read: one remedy for each kind of complaint of the reader.

use serde_json::Value;

use crate::api::wire::Problem;
use crate::nearest::{meant, quantity_meant};

/// For a complaint that does not say it itself.
pub(super) fn remedy_for(problem: &Problem, object: &Value) -> String {
    if let Some(gate) = problem.gate {
        return format!(
            "use --feature {gate}=true if the cluster has that feature on, or remove the field"
        );
    }
    let says = |part: &str| problem.message.contains(part);
    let text = at(object, &problem.path).and_then(Value::as_str);
    if says("expected an object") {
        return shape_of(&problem.path).to_owned();
    }
    if says("expected a list") {
        return match text {
            Some(text) if text.len() < 64 => format!("write it as a list: [{text}]"),
            _ => "put a dash before each entry".to_owned(),
        };
    }
    if says("missing or empty") || says("required, but missing") {
        let name = problem
            .path
            .rsplit(['.', ']'])
            .find(|name| !name.is_empty());
        return format!("set {}", name.unwrap_or("it"));
    }
    if says("integer") {
        return integer(text, at(object, &problem.path));
    }
    if says("expected a boolean") {
        return match text {
            Some("true" | "false") => "remove the quotes".to_owned(),
            _ => "write true or false".to_owned(),
        };
    }
    if says("expected a string") {
        return match at(object, &problem.path) {
            Some(Value::Number(number)) if problem.path.ends_with(".version") => {
                version(&number.to_string())
            }
            Some(Value::Number(_) | Value::Bool(_)) => "put it in quotes".to_owned(),
            _ => "write one string".to_owned(),
        };
    }
    if says("quantity") {
        let nearest = text.and_then(quantity_meant);
        return nearest.map_or_else(
            || "write a quantity, for example 40Gi".to_owned(),
            |meant| format!("write {meant}"),
        );
    }
    // The values that are allowed stand in the message.
    let words = problem.message.split([' ', ',', '.', '"']);
    let allowed = words.filter(|word| word.starts_with(char::is_uppercase));
    let nearest = text.and_then(|text| meant(text, allowed.filter(|word| *word != text)));
    match nearest {
        Some(nearest) => format!("write {nearest}"),
        None if says("found") => "write one of these".to_owned(),
        None if says("at most") => "remove some".to_owned(),
        None => "correct it".to_owned(),
    }
}

/// A whole number, of 64 bits. Zeros in front are octal for `kubectl`, and none here.
fn integer(text: Option<&str>, value: Option<&Value>) -> String {
    if let Some(Ok(number)) = text.map(str::parse::<i64>) {
        let is_plain = text.is_some_and(|text| text == number.to_string());
        return match is_plain {
            true => "remove the quotes".to_owned(),
            false => format!("write {number}, without quotes"),
        };
    }
    // Numbers beyond those of 64 bits are read as floating point ones.
    let is_large = |value: &Value| {
        value.is_u64()
            || value
                .as_f64()
                .is_some_and(|float| float.abs() >= i64::MAX as f64)
    };
    match value.is_some_and(is_large) {
        true => format!("write a number from {} to {}", i64::MIN, i64::MAX),
        false => "write a whole number".to_owned(),
    }
}

/// A version that was written as a number: quotes alone make no version of `1.2`.
fn version(number: &str) -> String {
    let parts = number.split('.').count();
    let is_plain = number.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    match is_plain && parts <= 2 {
        true => format!("write \"{number}{}\", in quotes", ".0".repeat(3 - parts)),
        false => "write MAJOR.MINOR.PATCH in quotes, for example \"1.2.0\"".to_owned(),
    }
}

/// What an object at this place looks like.
fn shape_of(path: &str) -> &'static str {
    let is_last = |list: &str| {
        path.rsplit_once(list)
            .is_some_and(|(_, rest)| !rest.contains("]."))
    };
    if path.ends_with("].cel") || is_last("selectors[") {
        "write the expression as {cel: {expression: \"...\"}}"
    } else if is_last("attributes[") {
        "name the type of the value, for example {string: \"...\"} or {int: 1}"
    } else if is_last("capacity[") || is_last("counters[") {
        "write the amount as {value: 40Gi}"
    } else {
        "write KEY: VALUE on a line each, indented below it"
    }
}

/// The value at a path in Kubernetes' notation.
pub(super) fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = object;
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(inner) = rest.strip_prefix('[') {
            let (key, after) = inner.split_once(']')?;
            value = match value {
                Value::Array(list) => list.get(key.parse::<usize>().ok()?)?,
                other => other.get(key)?,
            };
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            value = value.get(&rest[..end])?;
            rest = &rest[end..];
        }
    }
    Some(value)
}
