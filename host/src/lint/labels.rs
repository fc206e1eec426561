//! Metadata: syntax of names, and of labels' and annotations' keys and values.
//!
//! Upstream: `ValidateLabels`, `ValidateAnnotations`, `IsQualifiedName` and `IsValidLabelValue` of apimachinery.

use serde_json::Value;

use super::core_fields::Walk;

/// Longest name of a key, and longest value.
const LONGEST: usize = 63;
/// Longest prefix of a key.
const LONGEST_PREFIX: usize = 253;

/// Name, labels and annotations of an object or template.
pub(super) fn check(metadata: &Value, path: &str, walk: &mut Walk) {
    let path_of = |map: &str| format!("{path}.{map}");
    let name = metadata["name"].as_str().unwrap_or_default();
    if !name.is_empty() && !is_domain(name) {
        walk.error(
            path_of("name"),
            format!("{:?} is not a DNS subdomain", brief(name)),
            "use at most 253 lower case letters, digits, dashes and dots, with a letter or digit around each dot",
        );
    }
    pairs(&metadata["labels"], &path_of("labels"), walk);
    let annotations = &metadata["annotations"];
    if not_a_map(annotations, &path_of("annotations"), walk) {
        return;
    }
    for (key, value) in annotations.as_object().into_iter().flatten() {
        let path = format!("{path}.annotations[{key}]");
        // Upstream looks at the key in lower case here.
        if let Some(problem) = wrong_key(&key.to_ascii_lowercase()) {
            walk.error(&path, problem, KEY_REMEDY);
        }
        not_a_text(value, &path, walk);
    }
}

/// A map of labels, such as a node selector.
pub(super) fn pairs(map: &Value, path: &str, walk: &mut Walk) {
    if not_a_map(map, path, walk) {
        return;
    }
    for (key, value) in map.as_object().into_iter().flatten() {
        let path = format!("{path}[{key}]");
        if let Some(problem) = wrong_key(key) {
            walk.error(&path, problem, KEY_REMEDY);
        }
        if !not_a_text(value, &path, walk)
            && let Some(problem) = value.as_str().and_then(wrong_value)
        {
            walk.error(&path, problem, VALUE_REMEDY);
        }
    }
}

/// What to do about a key.
pub(super) const KEY_REMEDY: &str = "write NAME or DOMAIN/NAME; a name has at most 63 letters, digits, -, _ and ., and begins and ends with a letter or digit";
/// What to do about a value.
pub(super) const VALUE_REMEDY: &str =
    "use at most 63 letters, digits, -, _ and ., with a letter or digit at both ends";

/// What is wrong with the key of a label or taint.
pub(super) fn wrong_key(key: &str) -> Option<String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_wrong = !is_name(name) || prefix.is_some_and(|prefix| !is_domain(prefix));
    is_wrong.then(|| format!("{:?} is no label key", brief(key)))
}

/// What is wrong with the value of a label or taint.
pub(super) fn wrong_value(value: &str) -> Option<String> {
    let is_right = value.is_empty() || is_name(value);
    (!is_right).then(|| format!("{:?} is no label value", brief(value)))
}

/// Complains about a value that is no string.
pub(super) fn not_a_text(value: &Value, path: &str, walk: &mut Walk) -> bool {
    let (what, remedy) = match value {
        Value::String(_) | Value::Null => return false,
        Value::Bool(bool) => ("a boolean", format!("put it in quotes: \"{bool}\"")),
        Value::Number(number) => ("a number", format!("put it in quotes: \"{number}\"")),
        Value::Array(_) => ("a list", "write one string".to_owned()),
        Value::Object(_) => ("a mapping", "write one string".to_owned()),
    };
    walk.error(path, format!("the value is {what}, not a string"), remedy);
    true
}

/// Complains about something that is there and no mapping.
pub(super) fn not_a_map(value: &Value, path: &str, walk: &mut Walk) -> bool {
    let what = match value {
        Value::Object(_) | Value::Null => return false,
        Value::Array(_) => "a list",
        _ => "a single value",
    };
    let remedy = "write KEY: VALUE on a line each, without dashes";
    walk.error(path, format!("this is {what}, not a mapping"), remedy);
    true
}

/// Complains about something that is there and no list.
pub(super) fn not_a_list(value: &Value, path: &str, walk: &mut Walk) -> bool {
    let what = match value {
        Value::Array(_) | Value::Null => return false,
        Value::Object(_) => "a mapping",
        _ => "a single value",
    };
    walk.error(
        path,
        format!("this is {what}, not a list"),
        "put a dash before each entry",
    );
    true
}

fn is_name(name: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= LONGEST
        && edge(name.chars().next())
        && edge(name.chars().next_back())
        && name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || [b'-', b'_', b'.'].contains(&c))
}

/// RFC 1123.
fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-')
    };
    domain.len() <= LONGEST_PREFIX && domain.split('.').all(is_label)
}

fn brief(text: &str) -> String {
    text.chars().take(LONGEST + LONGEST).collect()
}
