//! What to do about an object that cannot be read: one remedy for each kind of complaint of the reader.

use serde_json::Value;

use crate::api::wire::Problem;
use crate::nearest::{meant, quantity_meant};

/// For a complaint that does not say it itself.
pub(super) fn remedy_for(problem: &Problem, object: &Value) -> String {
    if let Some(gate) = problem.gate {
        return format!(
            "remove the field; or use --feature {gate}=true, where the plugin has that feature and the cluster has it on"
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
        return match text.map(str::parse::<i64>) {
            Some(Ok(_)) => "remove the quotes".to_owned(),
            _ => "write a whole number".to_owned(),
        };
    }
    if says("expected a boolean") {
        return match text {
            Some("true" | "false") => "remove the quotes".to_owned(),
            _ => "write true or false".to_owned(),
        };
    }
    if says("expected a string") {
        return match at(object, &problem.path) {
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
