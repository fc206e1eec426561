//! When two answers count as the same, by the rules of the recordings' README.

use serde_json::{Map, Value};

use super::double::version_of;

/// The same object but for resourceVersion, and for what typed clients leave out of their objects.
///
/// An allocation is kept even if it is empty: being there is what it says.
pub fn same_object(expected: &Value, actual: &Value) -> bool {
    bare(expected) == bare(actual)
}

/// The same object, where the server chose the uid.
pub fn same_created_object(expected: &Value, actual: &Value) -> bool {
    let (mut expected, mut actual) = (bare(expected), bare(actual));
    let mut taken = [&mut expected, &mut actual].map(|object| {
        let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
        metadata.and_then(|metadata| metadata.shift_remove("uid"))
    });
    taken.iter_mut().all(|uid| uid.is_some()) && expected == actual
}

/// Whether both changed their version, or neither did.
pub fn same_step(expected: (&Value, &Value), actual: (&Value, &Value)) -> bool {
    (version_of(expected.0) == version_of(expected.1))
        == (version_of(actual.0) == version_of(actual.1))
}

fn bare(object: &Value) -> Value {
    let mut object = match prune(object) {
        Value::Object(object) => object,
        other => return other,
    };
    object.shift_remove("apiVersion");
    object.shift_remove("kind");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.shift_remove("resourceVersion");
    }
    object.into()
}

/// Without empty values, except an allocation.
fn prune(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let kept = object
                .iter()
                .map(|(key, value)| (key.clone(), prune(value)));
            let kept = kept.filter(|(key, value)| {
                (key == "allocation" && value.is_object()) || !is_empty(value)
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(prune).collect(),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// The same text, where only the quoted part before a library's own words counts.
pub fn same_text(expected: &str, actual: &str) -> bool {
    if expected == actual {
        return true;
    }
    const COMPILE: &str = "compilation failed: ";
    if let (Some(expected), Some(actual)) =
        (expected.split_once(COMPILE), actual.split_once(COMPILE))
    {
        return expected.0 == actual.0 && first_issue(expected.1) == first_issue(actual.1);
    }
    LIBRARY_TEXTS.iter().any(|marker| {
        let before = |text: &str| text.find(marker).map(|at| text[..at].to_owned());
        before(expected).is_some() && before(expected) == before(actual)
    })
}

/// After these, the semver or the quantity library speaks.
const LIBRARY_TEXTS: [&str; 2] = [
    "parse semantic version: ",
    "could not be converted to bool: ",
];

/// The first line without its position: `ERROR: <input>:1:7: undefined field 'x'` -> `undefined field 'x'`.
fn first_issue(issues: &str) -> &str {
    let line = issues.lines().next().unwrap_or_default();
    let Some(rest) = line.strip_prefix("ERROR: <input>:") else {
        return line;
    };
    // Row and column.
    rest.splitn(3, ':').nth(2).unwrap_or(rest).trim_start()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_values_do_not_count() {
        let expected =
            json!({"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"requests": null}});
        let actual = json!({"kind": "A", "metadata": {"resourceVersion": "7", "name": "a"}, "status": {"reservedFor": []}});
        assert!(same_object(&expected, &actual));
        assert!(!same_object(&expected, &json!({"metadata": {"name": "b"}})));
    }

    #[test]
    fn an_empty_allocation_counts() {
        let allocated = json!({"status": {"allocation": {"devices": {}}}});
        assert!(!same_object(&json!({}), &allocated));
        assert!(same_object(
            &json!({"status": {"allocation": {}}}),
            &allocated
        ));
    }

    #[test]
    fn false_and_zero_are_values() {
        assert!(!same_object(&json!({"a": false}), &json!({})));
        assert!(!same_object(&json!({"a": 0}), &json!({})));
    }

    #[test]
    fn the_uid_of_a_created_object_is_the_servers() {
        let a = json!({"metadata": {"name": "a", "uid": "1"}});
        let b = json!({"metadata": {"name": "a", "uid": "2"}});
        assert!(same_created_object(&a, &b));
        assert!(!same_object(&a, &b));
        assert!(!same_created_object(
            &a,
            &json!({"metadata": {"name": "a"}})
        ));
    }

    #[test]
    fn versions_count_for_change_only() {
        let version = |text: &str| json!({"metadata": {"resourceVersion": text}});
        let (a, b, c) = (version("1"), version("2"), version("3-applied"));
        assert!(same_step((&a, &b), (&b, &c)));
        assert!(!same_step((&a, &a), (&b, &c)));
    }

    #[test]
    fn compile_errors_by_first_line() {
        let text = |position: &str, field: &str| {
            format!(
                "x: compilation failed: ERROR: <input>:{position}: undefined field '{field}'\n | y\n | ^"
            )
        };
        assert!(same_text(&text("1:7", "a"), &text("1:1", "a")));
        assert!(!same_text(&text("1:7", "a"), &text("1:7", "b")));
        assert!(!same_text("x: other", &text("1:7", "a")));
    }

    #[test]
    fn library_texts_by_prefix() {
        let text = |what: &str, by: &str| format!("{what}: parse semantic version: {by}");
        assert!(same_text(
            &text("attribute a", "No dots"),
            &text("attribute a", "no dots")
        ));
        assert!(!same_text(
            &text("attribute a", "x"),
            &text("attribute b", "x")
        ));
        assert!(!same_text("attribute a: x", "attribute a: y"));
    }
}
