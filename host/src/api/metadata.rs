//! The part of an object that belongs to the server: uid, versions, timestamps, and what readers are spared.

use serde_json::{Map, Value, json};

use crate::object::{Kind, Object};

/// Annotation in which `kubectl apply` keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Fields that a client cannot change by a write.
const OF_THE_SERVER: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// Versions at or above are not taken over: counting on from them could leave the range of an int64.
const LARGEST_GIVEN_VERSION: u64 = 1 << 62;

/// A number for the n-th object with this name: the same in every run, and another one for each n.
pub(crate) fn identity(kind: &Kind, namespace: &str, name: &str, birth: u32) -> u128 {
    let birth = birth.to_string();
    // FNV-1a with 128 bits: not cryptographic, which a uid need not be, but stable across machines and releases.
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in [kind.as_str(), namespace, name, &birth] {
        // A byte that no UTF-8 text contains keeps neighbouring parts apart.
        for byte in part.bytes().chain([0xff]) {
            hash =
                (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    hash
}

/// The number as a uid.
pub(crate) fn uid(identity: u128) -> String {
    let hex = format!("{identity:032x}");
    // Version 8 and variant 8: a UUID whose content the maker chose.
    format!(
        "{}-{}-8{}-8{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )
}

/// The resourceVersion of an object that was read from a file, if the server can go on counting from it.
pub(crate) fn given_version(metadata: &Value) -> Result<Option<u64>, String> {
    let text = match metadata.get("resourceVersion") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match text.parse::<u64>() {
        Ok(0) => Ok(None),
        Ok(version) if version < LARGEST_GIVEN_VERSION => Ok(Some(version)),
        _ if text.is_empty() => Ok(None),
        _ => Err(text),
    }
}

/// `metadata`, made if there is none.
pub(crate) fn metadata(value: &mut Value) -> &mut Map<String, Value> {
    child(value, "metadata")
}

/// A field that holds a map, made if it is missing or something else.
pub(crate) fn child<'a>(value: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    as_map(as_map(value).entry(field).or_insert(Value::Null))
}

/// The value as a map; anything else is replaced by an empty one.
pub(crate) fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value was just made a map"),
    }
}

/// Sets a field, or removes it, without moving its neighbours.
pub(crate) fn set(map: &mut Map<String, Value>, field: &str, value: Option<&Value>) {
    match value {
        Some(value) => _ = map.insert(field.to_owned(), value.clone()),
        None => _ = map.shift_remove(field),
    }
}

/// Puts the server's own fields of the stored object into what a client sent.
pub(crate) fn keep_server_fields(sent: &mut Value, stored: &Value) {
    let stored = stored.get("metadata");
    let sent = metadata(sent);
    for field in OF_THE_SERVER {
        set(sent, field, stored.and_then(|metadata| metadata.get(field)));
    }
    // Readers are not shown it, so that it is missing does not mean that it should go.
    if let Some(last) =
        stored.and_then(|metadata| metadata.pointer("/annotations")?.get(LAST_APPLIED))
    {
        let annotations = as_map(sent.entry("annotations").or_insert(Value::Null));
        annotations
            .entry(LAST_APPLIED)
            .or_insert_with(|| last.clone());
    }
}

/// The object without the fields that only cost readers memory. The same handle if there are none.
pub(crate) fn shown(object: &Object) -> Object {
    let metadata = object.metadata();
    let is_managed = metadata.get("managedFields").is_some();
    let annotations = metadata.get("annotations");
    let is_applied = annotations.is_some_and(|all| all.get(LAST_APPLIED).is_some());
    if !is_managed && !is_applied {
        return object.clone();
    }
    let strip = |fields: &mut Map<String, Value>| {
        fields.shift_remove("managedFields");
        if let Some(Value::Object(annotations)) = fields.get_mut("annotations")
            && annotations.shift_remove(LAST_APPLIED).is_some()
            && annotations.is_empty()
        {
            fields.shift_remove("annotations");
        }
    };
    let shown = object.clone().with_metadata(strip);
    shown.unwrap_or_else(|_| object.clone())
}

/// Whether the object waits for its finalizers to go.
pub(crate) fn is_being_deleted(value: &Value) -> bool {
    value
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|time| !time.is_null())
}

/// The finalizers of an object.
pub(crate) fn finalizers(value: &Value) -> Vec<&str> {
    let list = value
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
