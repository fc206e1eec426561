//! Strategic merge patch: a merge patch that joins lists by key and knows `$patch` (upstream: apimachinery
//! `strategicpatch`).
//!
//! Directives that are not implemented are refused rather than taken for fields.

use serde_json::{Map, Value, json};

use super::metadata::as_map;

/// The key by which the list at a path is joined.
pub(super) type MergeKey<'a> = &'a dyn Fn(&[&str]) -> Option<&'static str>;

/// Name of the directive field.
const DIRECTIVE: &str = "$patch";

pub(super) fn strategic_merge(
    target: &mut Value,
    patch: &Value,
    keys: MergeKey<'_>,
) -> Result<(), String> {
    let fields = patch
        .as_object()
        .ok_or("a strategic merge patch is an object")?;
    match directive(fields)? {
        Directive::Merge => merge_fields(as_map(target), fields, &mut Vec::new(), keys),
        Directive::Replace | Directive::Delete => {
            Err(format!("{DIRECTIVE} is not possible for the whole object"))
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Map<String, Value>) -> Result<Directive, String> {
    match patch.get(DIRECTIVE) {
        None => Ok(Directive::Merge),
        Some(value) => match value.as_str() {
            Some("merge") => Ok(Directive::Merge),
            Some("replace") => Ok(Directive::Replace),
            Some("delete") => Ok(Directive::Delete),
            _ => Err(format!("{DIRECTIVE}: {value} is unknown")),
        },
    }
}

fn merge_fields<'a>(
    target: &mut Map<String, Value>,
    patch: &'a Map<String, Value>,
    path: &mut Vec<&'a str>,
    keys: MergeKey<'_>,
) -> Result<(), String> {
    for (name, value) in patch.iter().filter(|(name, _)| *name != DIRECTIVE) {
        if name.starts_with('$') {
            return Err(format!("the directive {name} is not supported"));
        }
        path.push(name);
        match value {
            Value::Null => _ = target.shift_remove(name),
            Value::Object(fields) => merge_object(target, name, fields, path, keys)?,
            Value::Array(items) => match keys(path) {
                Some(key) => merge_list(target, name, items, key, path, keys)?,
                None => _ = target.insert(name.clone(), value.clone()),
            },
            _ => _ = target.insert(name.clone(), value.clone()),
        }
        path.pop();
    }
    Ok(())
}

fn merge_object<'a>(
    target: &mut Map<String, Value>,
    name: &str,
    patch: &'a Map<String, Value>,
    path: &mut Vec<&'a str>,
    keys: MergeKey<'_>,
) -> Result<(), String> {
    let directive = directive(patch)?;
    if directive == Directive::Delete {
        target.shift_remove(name);
        return Ok(());
    }
    let field = target.entry(name).or_insert(Value::Null);
    if directive == Directive::Replace {
        *field = json!({});
    }
    merge_fields(as_map(field), patch, path, keys)
}

fn merge_list<'a>(
    target: &mut Map<String, Value>,
    name: &str,
    patch: &'a [Value],
    key: &'static str,
    path: &mut Vec<&'a str>,
    keys: MergeKey<'_>,
) -> Result<(), String> {
    let field = target.entry(name).or_insert(Value::Null);
    if !field.is_array() {
        *field = json!([]);
    }
    let Some(items) = field.as_array_mut() else {
        return Ok(());
    };
    let entries: Vec<&Map<String, Value>> = patch.iter().filter_map(Value::as_object).collect();
    if entries.len() != patch.len() {
        return Err(format!(
            "{} has an entry that is not an object",
            path.join(".")
        ));
    }
    for entry in &entries {
        let same = |item: &Value| item.get(key).is_some() && item.get(key) == entry.get(key);
        match directive(entry)? {
            // It has no key: it is about the list and stands beside the new entries.
            Directive::Replace => {
                items.clear();
                continue;
            }
            _ if !entry.contains_key(key) => {
                return Err(format!(
                    "{} has an entry without its merge key {key}",
                    path.join(".")
                ));
            }
            Directive::Delete => items.retain(|item| !same(item)),
            Directive::Merge => {
                let position = items.iter().position(same).unwrap_or_else(|| {
                    items.push(json!({}));
                    items.len() - 1
                });
                merge_fields(as_map(&mut items[position]), entry, path, keys)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `list` is joined by `uid`, everything else is not joined.
    fn by_uid(path: &[&str]) -> Option<&'static str> {
        (path == ["status", "list"]).then_some("uid")
    }

    #[test]
    fn lists_with_a_key_are_joined() {
        let document = json!({"status": {"list": [{"uid": "a", "n": 1}, {"uid": "b", "n": 2}], "plain": [1], "x": 1}});
        for (patch, expected) in [
            (
                json!([{"$patch": "delete", "uid": "a"}]),
                json!([{"uid": "b", "n": 2}]),
            ),
            (
                json!([{"$patch": "delete", "uid": "z"}]),
                json!([{"uid": "a", "n": 1}, {"uid": "b", "n": 2}]),
            ),
            (
                json!([{"uid": "b", "n": 3}, {"uid": "c"}]),
                json!([{"uid": "a", "n": 1}, {"uid": "b", "n": 3}, {"uid": "c"}]),
            ),
            (
                json!([{"$patch": "replace"}, {"uid": "c"}]),
                json!([{"uid": "c"}]),
            ),
            (json!(null), Value::Null),
        ] {
            let mut target = document.clone();
            let patch = json!({"status": {"list": patch}});
            assert_eq!(strategic_merge(&mut target, &patch, &by_uid), Ok(()));
            assert_eq!(target["status"]["list"], expected);
            assert_eq!(target["status"]["x"], 1, "fields beside the list stay");
        }
    }

    #[test]
    fn other_fields_are_merged_or_replaced() {
        let mut target = json!({"status": {"plain": [1, 2], "map": {"a": 1, "b": 2}, "gone": {"a": 1}, "new": {"a": 1}}});
        let patch = json!({"status": {"plain": [3], "map": {"a": null, "c": 3}, "gone": {"$patch": "delete"},
            "new": {"$patch": "replace", "z": 1}}});
        assert_eq!(strategic_merge(&mut target, &patch, &by_uid), Ok(()));
        assert_eq!(
            target,
            json!({"status": {"plain": [3], "map": {"b": 2, "c": 3}, "new": {"z": 1}}})
        );
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for patch in [
            json!([]),
            json!({"$patch": "delete"}),
            json!({"status": {"$retainKeys": ["a"]}}),
            json!({"status": {"map": {"$patch": "erase"}}}),
            json!({"status": {"list": [{"$patch": "delete"}]}}),
            json!({"status": {"list": [{"n": 1}]}}),
            json!({"status": {"list": ["a"]}}),
        ] {
            assert!(
                strategic_merge(&mut json!({}), &patch, &by_uid).is_err(),
                "{patch}"
            );
        }
    }
}
