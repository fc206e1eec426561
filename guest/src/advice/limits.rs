//! Limits and syntax of `resource.k8s.io` that the API server enforces: tables of places and of what must hold there, and the
//! walk over an object's keys that applies them. Absence, types and meaning are other modules' business.
//!
//! Upstream: the constants of `k8s.io/api/resource/v1`, and the package `validation` of `resource.k8s.io`.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::findings::About;
use super::names::{Syntax, shown};
use crate::nearest::meant;

mod policy;
mod rules;
mod together;

/// Most requests, and most of several other lists, of a claim; most devices that are allocated for it.
pub(super) const MOST_OF_CLAIM: usize = 32;
/// Longest CEL expression in bytes, and longest parameters of a driver.
pub(super) const LONGEST_EXPRESSION: usize = 10 << 10;

/// What must hold at a place.
enum Must {
    /// A list or a map of these has at most so many entries.
    Most(&'static str, usize),
    /// A text has at most so many bytes.
    Bytes(usize),
    /// A text, or each text of a list, has this syntax.
    Be(Syntax),
    /// Each key of a map has this syntax.
    Keys(Syntax),
    /// A text, or each text of a list, is one of these.
    OneOf(&'static [&'static str]),
    /// No two entries of a list have the same value of this key; without a key, no two are equal.
    Differ(&'static str),
    /// An object has these keys, and they are not empty.
    Have(&'static [&'static str]),
    /// An object has no other keys.
    Only(&'static [&'static str]),
    /// A switch that is off is left out.
    True,
    /// An object may have only so many bytes as JSON.
    Json(usize),
    /// What no other variant says.
    Satisfy(fn(&Value, &str, &mut About<'_>)),
}

/// Rules below some places.
struct Table {
    /// Paths from the object on. `a[]` stands for each entry of a list, `a{}` for each value of a map with free keys, and
    /// `a?` for `a` where it is there and for nothing elsewhere: some versions have one level more.
    below: &'static [&'static str],
    /// Each with a path from there on.
    rules: &'static [(&'static str, Must)],
}

/// Applies everything that concerns a kind.
pub(super) fn check(kind: &str, object: &Value, about: &mut About<'_>) {
    let mut path = String::new();
    for table in rules::of_kind(kind) {
        for below in table.below {
            walk(object, below, &mut path, &mut |value, path| {
                for (at, must) in table.rules {
                    walk(value, at, path, &mut |value, path| {
                        must.check(value, path, about);
                    });
                }
            });
        }
    }
}

/// Calls `found` for each value at a place. Depth is that of the pattern, not of the input.
fn walk<'v>(
    value: &'v Value,
    pattern: &str,
    path: &mut String,
    found: &mut dyn FnMut(&'v Value, &mut String),
) {
    if pattern.is_empty() {
        return found(value, path);
    }
    let (step, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    let key = step.trim_end_matches(['[', ']', '{', '}', '?']);
    let Some(inner) = value.get(key).filter(|inner| !inner.is_null()) else {
        if step.ends_with('?') {
            walk(value, rest, path, found);
        }
        return;
    };
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(key);
    let inside = path.len();
    match (&step[key.len()..], inner) {
        ("[]", Value::Array(entries)) => {
            for (i, entry) in entries.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(path, "[{i}]");
                walk(entry, rest, path, found);
                path.truncate(inside);
            }
        }
        ("{}", Value::Object(entries)) => {
            for (key, entry) in entries {
                path.push('[');
                path.push_str(brief(key));
                path.push(']');
                walk(entry, rest, path, found);
                path.truncate(inside);
            }
        }
        ("" | "?", _) => walk(inner, rest, path, found),
        _ => {}
    }
    path.truncate(length);
}

impl Must {
    /// A value of another type is told by those who read it.
    fn check(&self, value: &Value, path: &str, about: &mut About<'_>) {
        match (self, value) {
            (Self::Most(what, most), Value::Array(list)) => {
                about.at_most(path, what, list.len(), *most, fewer(what));
            }
            (Self::Most(what, most), Value::Object(map)) => {
                about.at_most(path, what, map.len(), *most, fewer(what));
            }
            (Self::Bytes(most), Value::String(text)) if text.len() > *most => about.error(
                path,
                format!("{} bytes, at most {most} are allowed", text.len()),
                "shorten it",
            ),
            (Self::Be(syntax), Value::String(text)) => {
                if let Some((message, remedy)) = syntax.wrong(text) {
                    about.error(path, message, remedy);
                }
            }
            (Self::Be(_) | Self::OneOf(_), Value::Array(list)) => {
                for (i, entry) in list
                    .iter()
                    .enumerate()
                    .filter(|(_, entry)| entry.is_string())
                {
                    self.check(entry, &format!("{path}[{i}]"), about);
                }
            }
            (Self::Keys(syntax), Value::Object(map)) => {
                for (key, (message, remedy)) in
                    map.keys().filter_map(|key| Some((key, syntax.wrong(key)?)))
                {
                    about.error(format!("{path}[{}]", brief(key)), message, remedy);
                }
            }
            (Self::OneOf(known), Value::String(text)) => one_of(text, known, path, about),
            (Self::Differ(key), Value::Array(list)) => differ(list, key, path, about),
            (Self::Have(keys), Value::Object(_)) => {
                for key in keys.iter().filter(|key| is_nothing(&value[**key])) {
                    let remedy = format!("set {key}");
                    about.lacking(format!("{path}.{key}"), format!("{key} is missing"), remedy);
                }
            }
            (Self::Only(keys), Value::Object(map)) => {
                for key in map.keys().filter(|key| !keys.contains(&key.as_str())) {
                    let remedy = match meant(key, keys.iter().copied()) {
                        Some(nearest) => format!("write {nearest:?}"),
                        None => format!("remove it; only {} may stand here", keys.join(" and ")),
                    };
                    let message = format!("field {:?} may not be set here", brief(key));
                    about.error(format!("{path}.{}", brief(key)), message, remedy);
                }
            }
            (Self::True, Value::Bool(false)) => {
                about.error(
                    path,
                    "false is not allowed here",
                    "write true, or leave it out",
                );
            }
            (Self::Json(most), Value::Object(_)) => {
                let bytes = value.to_string().len();
                if bytes > *most {
                    let message = format!("{bytes} bytes of JSON, at most {most} are allowed");
                    about.error(path, message, "shorten it, or refer to a ConfigMap");
                }
            }
            (Self::Satisfy(rule), value) => rule(value, path, about),
            _ => {}
        }
    }
}

/// How to have fewer of these.
pub(super) fn fewer(what: &str) -> &'static str {
    const WAYS: [(&str, &str); 8] = [
        ("constraints", "use several claims, or remove some"),
        (
            "config entries",
            "join those for the same driver, or remove some",
        ),
        ("counter sets", "put some into another slice of the pool"),
        (
            "devices",
            "put some into another slice of the pool, which resourceSliceCount counts",
        ),
        (
            "request names",
            "name fewer; without the list all requests are meant",
        ),
        ("requests", "use several claims, or remove some"),
        ("selectors", "join some with && in one expression"),
        (
            "tolerations",
            "join some: operator Exists tolerates every value of a key",
        ),
    ];
    let mut known = WAYS.iter().filter(|(known, _)| *known == what);
    known.next().map_or("remove some", |(_, way)| way)
}

fn one_of(text: &str, known: &[&str], path: &str, about: &mut About<'_>) {
    if text.is_empty() || known.contains(&text) {
        return;
    }
    let remedy = match meant(text, known.iter().copied()) {
        Some(nearest) => format!("write {nearest}"),
        None => format!("write one of {}", known.join(", ")),
    };
    about.error(path, format!("unknown value {}", shown(text)), remedy);
}

fn differ(list: &[Value], key: &str, path: &str, about: &mut About<'_>) {
    let mut seen = BTreeSet::new();
    for (i, entry) in list.iter().enumerate() {
        let value = if key.is_empty() { entry } else { &entry[key] };
        let Some(text) = value.as_str().filter(|text| !text.is_empty()) else {
            continue;
        };
        if !seen.insert(text) {
            let dot = if key.is_empty() { "" } else { "." };
            let what = if key.is_empty() { "entry" } else { key };
            about.error(
                format!("{path}[{i}]{dot}{key}"),
                format!("the {what} {} is used twice", shown(text)),
                match key {
                    "name" => "give each entry a name of its own",
                    _ => "remove one of the two",
                },
            );
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// As much of a key as a path shows.
fn brief(key: &str) -> &str {
    const LONGEST: usize = 128;
    match key.char_indices().nth(LONGEST) {
        Some((end, _)) => &key[..end],
        None => key,
    }
}
