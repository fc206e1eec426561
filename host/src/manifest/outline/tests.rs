//! The text of an object is what its tree would be written as, and what is refused is the same.

use serde_json::{Value, json};

use super::{Item, Outline};
use crate::object::tree::Tree;

fn outline(text: &str) -> Outline {
    match serde_json::from_str(text) {
        Ok(Item::Outline(outline)) => outline,
        other => panic!("no outline: {other:?}"),
    }
}

/// An object that the host passes on, with this `spec`.
fn with_spec(spec: &str) -> String {
    format!(
        r#"{{ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {{ "name": "a" }}, "spec": {spec}, "status": null }}"#
    )
}

#[test]
fn the_text_is_the_tree_written_compactly() {
    let specs = [
        "{}",
        "[ ]",
        "7",
        r#"{ "a": [1, -2, 1.0, 1e3, 18446744073709551615], "b": {"": {}, "c": [[], {}, null, true]} }"#,
        r#"{"quote\"\\\/\u0041\ud83d\ude00\n": "\u0001 \u00e9 ü"}"#,
    ];
    for spec in specs {
        let text = with_spec(spec);
        let Tree(tree) = serde_json::from_str(&text).unwrap();
        let outline = outline(&text);
        assert_eq!(String::from_utf8_lossy(&outline.json), tree.to_string());
        assert_eq!(&outline.json[outline.metadata], br#"{"name":"a"}"#);
    }
}

#[test]
fn the_head_has_every_key_and_the_type_of_its_value() {
    let text = with_spec(r#"{"a": 1}"#).replace("null", r#"["a"]"#);
    let expected = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {}, "status": [],
    });
    assert_eq!(Value::Object(outline(&text).head), expected);
}

#[test]
fn what_the_host_reads_becomes_a_tree_and_so_does_the_unusual() {
    let tree = |text: &str| match serde_json::from_str(text) {
        Ok(Item::Tree(tree)) => assert_eq!(tree, serde_json::from_str::<Value>(text).unwrap()),
        other => panic!("no tree: {other:?}"),
    };
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"a": 1}}"#;
    tree(pod);
    let thing = pod.replace("Pod", "Thing");
    assert!(matches!(serde_json::from_str(&thing), Ok(Item::Outline(_))));
    tree(&thing.replace("Thing", "ThingList"));
    tree(&thing.replace("name", "generateName"));
    tree(&thing.replace(r#""a"}"#, r#"7}"#));
    tree(&thing.replace("apiVersion", "apiversion"));
    tree(r#"{"spec": {}, "apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}"#);
    for other in ["null", "7", "-7", "7.5", "true", r#""a""#, "[{}]", "{}"] {
        tree(other);
    }
}

#[test]
fn a_key_that_comes_twice_is_refused_wherever_it_stands() {
    let many: Vec<String> = (0..40).map(|n| format!(r#""k{n}": {{}}"#)).collect();
    let twice = |n: usize| format!("{{{}, \"k{n}\": 1}}", many.join(", "));
    let specs = [
        (r#"{"a": 1, "a": 2}"#.to_owned(), "a"),
        (
            r#"[{"a": {"b": 1}, "c": {"b": 2, "x": {}, "b": 3}}]"#.to_owned(),
            "b",
        ),
        (r#"{"\u0061": 1, "a": 2}"#.to_owned(), "a"),
        (r#"{}, "spec": 1"#.to_owned(), "spec"),
        (r#"{}, "metadata": {}"#.to_owned(), "metadata"),
        (twice(3), "k3"),
        (twice(39), "k39"),
    ];
    for (spec, key) in specs {
        let error = serde_json::from_str::<Item>(&with_spec(&spec)).unwrap_err();
        let expected = format!("duplicate key {key:?}");
        assert!(error.to_string().starts_with(&expected), "{spec}: {error}");
    }
    let equal_elsewhere = with_spec(r#"{"a": {"a": {"a": 1}, "b": {"a": 1}}, "b": 1}"#);
    outline(&equal_elsewhere);
    outline(&with_spec(&format!("{{{}}}", many.join(", "))));
}
