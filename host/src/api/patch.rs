//! Patches: JSON merge patch (RFC 7386) and JSON patch (RFC 6902); the strategic kind has its own file.
//!
//! Recursion is as deep as the patch, which was read from text by a parser with a depth limit.

use serde_json::{Map, Value};

use super::metadata::as_map;
use super::strategic::{MergeKey, strategic_merge};
use crate::plugin::PatchType;

/// The document with the patch applied.
pub(super) fn patch(
    kind: PatchType,
    document: &Value,
    patch: &Value,
    keys: MergeKey<'_>,
) -> Result<Value, String> {
    let mut patched = document.clone();
    match kind {
        PatchType::Merge => merge(&mut patched, patch),
        PatchType::StrategicMerge => strategic_merge(&mut patched, patch, keys)?,
        PatchType::JsonPatch => json_patch(&mut patched, patch)?,
    }
    Ok(patched)
}

fn merge(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    let target = as_map(target);
    for (name, value) in fields {
        if value.is_null() {
            target.shift_remove(name);
        } else {
            merge(target.entry(name).or_insert(Value::Null), value);
        }
    }
}

fn json_patch(document: &mut Value, patch: &Value) -> Result<(), String> {
    let operations = patch
        .as_array()
        .ok_or("a JSON patch is a list of operations")?;
    for (number, operation) in operations.iter().enumerate() {
        let fields = operation
            .as_object()
            .ok_or_else(|| format!("operation {number} is not an object"))?;
        operate(document, fields).map_err(|error| format!("operation {number}: {error}"))?;
    }
    Ok(())
}

fn operate(document: &mut Value, operation: &Map<String, Value>) -> Result<(), String> {
    let text = |field: &str| {
        operation
            .get(field)
            .and_then(Value::as_str)
            .ok_or_else(|| format!("{field} is missing or not a string"))
    };
    let value = || {
        operation
            .get("value")
            .ok_or_else(|| "value is missing".to_owned())
    };
    let path = text("path")?;
    match text("op")? {
        "add" => add(document, path, value()?.clone()),
        "remove" => remove(document, path).map(|_| ()),
        "replace" => {
            *document.pointer_mut(path).ok_or_else(|| missing(path))? = value()?.clone();
            Ok(())
        }
        "move" => {
            let from = text("from")?;
            if path
                .strip_prefix(from)
                .is_some_and(|rest| rest.starts_with('/'))
            {
                return Err(format!("{from} cannot be moved into itself"));
            }
            let moved = remove(document, from)?;
            add(document, path, moved)
        }
        "copy" => {
            let from = text("from")?;
            let copied = document.pointer(from).ok_or_else(|| missing(from))?.clone();
            add(document, path, copied)
        }
        "test" => match document.pointer(path) == Some(value()?) {
            true => Ok(()),
            false => Err(format!("test failed at {path}")),
        },
        other => Err(format!("op {other:?} is unknown")),
    }
}

/// A pointer as pointer of the parent and last token.
fn split(path: &str) -> Result<(&str, String), String> {
    let (parent, last) = path
        .rsplit_once('/')
        .ok_or_else(|| format!("{path:?} names no field"))?;
    Ok((parent, last.replace("~1", "/").replace("~0", "~")))
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let (parent, last) = split(path)?;
    match document
        .pointer_mut(parent)
        .ok_or_else(|| missing(parent))?
    {
        Value::Object(fields) => _ = fields.insert(last, value),
        Value::Array(items) if last == "-" => items.push(value),
        Value::Array(items) => {
            let index = index(&last)
                .filter(|index| *index <= items.len())
                .ok_or_else(|| missing(path))?;
            items.insert(index, value);
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, last) = split(path)?;
    let removed = match document
        .pointer_mut(parent)
        .ok_or_else(|| missing(parent))?
    {
        Value::Object(fields) => fields.shift_remove(&last),
        Value::Array(items) => index(&last)
            .filter(|index| *index < items.len())
            .map(|index| items.remove(index)),
        _ => None,
    };
    removed.ok_or_else(|| missing(path))
}

/// A list index: digits without leading zeros.
fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (token == "0" || !token.starts_with('0'))).then(|| token.parse().ok())?
}

fn missing(path: &str) -> String {
    format!("there is nothing at {path}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 7386, appendix A.
    #[test]
    fn merge_patch_follows_its_rfc() {
        for (document, change, expected) in [
            (json!({"a":"b"}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"b"}), json!({"b":"c"}), json!({"a":"b","b":"c"})),
            (json!({"a":"b"}), json!({"a":null}), json!({})),
            (json!({"a":["b"]}), json!({"a":"c"}), json!({"a":"c"})),
            (json!({"a":"c"}), json!({"a":["b"]}), json!({"a":["b"]})),
            (
                json!({"a":{"b":"c"}}),
                json!({"a":{"b":"d","c":null}}),
                json!({"a":{"b":"d"}}),
            ),
            (json!({"a":[{"b":"c"}]}), json!({"a":[1]}), json!({"a":[1]})),
            (json!({"e":null}), json!({"a":1}), json!({"e":null,"a":1})),
            (json!([1, 2]), json!({"a":"b","c":null}), json!({"a":"b"})),
            (
                json!({}),
                json!({"a":{"bb":{"ccc":null}}}),
                json!({"a":{"bb":{}}}),
            ),
        ] {
            assert_eq!(
                patch(PatchType::Merge, &document, &change, &|_| None),
                Ok(expected),
                "{document} {change}"
            );
        }
    }

    /// Examples of RFC 6902, appendix A.
    #[test]
    fn json_patch_follows_its_rfc() {
        for (document, change, expected) in [
            (
                json!({"foo":"bar"}),
                json!([{"op":"add","path":"/baz","value":"qux"}]),
                json!({"foo":"bar","baz":"qux"}),
            ),
            (
                json!({"foo":["bar","baz"]}),
                json!([{"op":"add","path":"/foo/1","value":"qux"}]),
                json!({"foo":["bar","qux","baz"]}),
            ),
            (
                json!({"baz":"qux","foo":"bar"}),
                json!([{"op":"remove","path":"/baz"}]),
                json!({"foo":"bar"}),
            ),
            (
                json!({"foo":["a","b","c"]}),
                json!([{"op":"remove","path":"/foo/1"}]),
                json!({"foo":["a","c"]}),
            ),
            (
                json!({"baz":"qux"}),
                json!([{"op":"replace","path":"/baz","value":"boo"}]),
                json!({"baz":"boo"}),
            ),
            (
                json!({"foo":{"waldo":"fred"},"qux":{}}),
                json!([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]),
                json!({"foo":{},"qux":{"thud":"fred"}}),
            ),
            (
                json!({"foo":["bar"]}),
                json!([{"op":"add","path":"/foo/-","value":["abc"]}]),
                json!({"foo":["bar",["abc"]]}),
            ),
            (
                json!({"/":9,"~1":10}),
                json!([{"op":"test","path":"/~01","value":10}]),
                json!({"/":9,"~1":10}),
            ),
            (
                json!({"a":1}),
                json!([{"op":"copy","from":"/a","path":"/b"}]),
                json!({"a":1,"b":1}),
            ),
        ] {
            assert_eq!(
                patch(PatchType::JsonPatch, &document, &change, &|_| None),
                Ok(expected),
                "{document} {change}"
            );
        }
    }

    #[test]
    fn json_patch_refuses_what_has_no_place() {
        for change in [
            json!({"op":"add"}),
            json!([{"op":"add","path":"/x/y","value":1}]),
            json!([{"op":"remove","path":"/x"}]),
            json!([{"op":"replace","path":"/x","value":1}]),
            json!([{"op":"test","path":"/a","value":[2]}]),
            json!([{"op":"add","path":"/a/01","value":1}]),
            json!([{"op":"add","path":"/a/7","value":1}]),
            json!([{"op":"move","from":"/a","path":"/a/0"}]),
            json!([{"op":"jump","path":"/a"}]),
            json!([{"op":"remove","path":"a"}]),
        ] {
            assert!(
                patch(PatchType::JsonPatch, &json!({"a":[1]}), &change, &|_| None).is_err(),
                "{change}"
            );
        }
    }
}
