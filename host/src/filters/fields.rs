//! Lenient access to fields: what is absent, null or of another type counts as empty.

use serde_json::{Map, Value};

/// A list somewhere in an object.
pub(super) fn list_at<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A list under a key.
pub(super) fn list_in<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A string under a key.
pub(super) fn text_at<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A mapping somewhere in an object.
pub(super) fn map_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v Map<String, Value>> {
    value.pointer(pointer).and_then(Value::as_object)
}

/// Whether something is there at all.
pub(super) fn is_set(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).is_some_and(|value| !value.is_null())
}
