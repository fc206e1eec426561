//! What makes an object unusable before anybody asks what it says: keys in the wrong case, metadata of a wrong form or size.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::kinds::{self, KeyTable};
use crate::object::tree::type_name;
use crate::object::{Kind, ObjectRef};

/// Longest name that an API server takes.
const MAX_NAME_BYTES: usize = 253;

/// A name that is too long to be one is cut, so that messages stay readable.
pub(super) fn with_short_name(mut id: ObjectRef) -> ObjectRef {
    id.name = brief(&id.name).into();
    id.namespace = brief(&id.namespace).into();
    id.kind = Kind::new(&brief(id.kind.as_str()));
    id
}

/// Enough of a text to tell what is meant.
pub(super) fn brief(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_NAME_BYTES {
        return text.into();
    }
    let start: String = text.chars().take(MAX_NAME_BYTES / 4).collect();
    format!("{start}...").into()
}

/// What makes the object unusable whatever its kind, and for core kinds what the host itself reads.
pub(crate) fn problem_of(map: &Map<String, Value>, kind: &Kind) -> Option<String> {
    let root = kinds::KEYS_OF_ALL.iter().chain(kinds::keys_of(kind));
    for table in root {
        if let Some(problem) = wrong_case(map, table) {
            return Some(problem);
        }
    }
    metadata_problem(map)
        .or_else(|| {
            kinds::MAPPINGS
                .iter()
                .find_map(|key| not_a_mapping(map, key))
        })
        .or_else(|| kinds::shape_problem(map, kind))
}

fn not_a_mapping(map: &Map<String, Value>, key: &str) -> Option<String> {
    let value = map
        .get(key)
        .filter(|value| !value.is_object() && !value.is_null())?;
    Some(format!("{key} is {}, not a mapping", type_name(value)))
}

/// A key of the table that is missing while one in the wrong case is there.
fn wrong_case(map: &Map<String, Value>, table: &KeyTable) -> Option<String> {
    let mut at = map;
    for step in table.path {
        at = at.get(*step)?.as_object()?;
    }
    for (found, _) in at {
        let Some(right) = table
            .keys
            .iter()
            .find(|key| key.eq_ignore_ascii_case(found))
        else {
            continue;
        };
        if found != right && !at.contains_key(*right) {
            let path: String = table.path.iter().map(|step| format!("{step}.")).collect();
            return Some(format!(
                "key {path}{found} is in the wrong case; write {right}"
            ));
        }
    }
    None
}

fn metadata_problem(map: &Map<String, Value>) -> Option<String> {
    let metadata = match map.get("metadata") {
        None | Some(Value::Null) => return None,
        Some(Value::Object(metadata)) => metadata,
        Some(other) => return Some(format!("metadata is {}, not a mapping", type_name(other))),
    };
    for key in [
        "name",
        "namespace",
        "generateName",
        "uid",
        "resourceVersion",
    ] {
        match metadata.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.len() > MAX_NAME_BYTES => {
                return Some(format!(
                    "metadata.{key} has {} bytes; at most {MAX_NAME_BYTES} are allowed",
                    text.len()
                ));
            }
            Some(Value::String(_)) => {}
            Some(other) => {
                return Some(format!(
                    "metadata.{key} is {}; put it in quotes",
                    type_name(other)
                ));
            }
        }
    }
    for key in ["labels", "annotations"] {
        let entries = match metadata.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(entries)) => entries,
            Some(other) => {
                return Some(format!(
                    "metadata.{key} is {}, not a mapping",
                    type_name(other)
                ));
            }
        };
        if let Some((name, value)) = entries.iter().find(|(_, value)| !value.is_string()) {
            return Some(format!(
                "metadata.{key}[{name}] is {}; put it in quotes",
                type_name(value)
            ));
        }
    }
    None
}
