//! Texts as people write them: YAML and JSON documents, lists, scalars, line ends.

use super::*;

#[test]
fn yaml_documents_come_in_order_with_their_lines() {
    let input = ok("\
# a comment
apiVersion: v1
kind: Node
metadata:
  name: n1
---

---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: a}
");
    assert_eq!(names(&input), ["Node n1", "Pod a/p"]);
    assert_eq!(lines(&input), [2, 9]);
    assert_eq!(
        input
            .origins
            .iter()
            .map(|origin| origin.document)
            .collect::<Vec<_>>(),
        [1, 3]
    );
    assert!(input.warnings.is_empty());
}

#[test]
fn lists_are_opened_with_the_lines_of_their_items() {
    let input = ok("\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: Node, metadata: {name: n2}}
  - {apiVersion: v1, kind: Node, metadata: {name: n3}}
- apiVersion: v1
  kind: Node
  metadata: {name: n4}
metadata: {}
");
    assert_eq!(names(&input), ["Node n1", "Node n2", "Node n3", "Node n4"]);
    assert_eq!(lines(&input), [4, 7, 7, 12]);
}

#[test]
fn items_of_a_typed_list_get_its_kind() {
    let input = ok("{kind: DaemonSetList, apiVersion: apps/v1, items: [{metadata: {name: d}}]}");
    assert_eq!(input.objects[0].id().kind.as_str(), "DaemonSet.apps");
    let input = ok(
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"p"}}]}"#,
    );
    assert_eq!(names(&input), ["Pod p"]);
    assert_eq!(input.objects[0].text("/apiVersion"), Some("v1"));
}

#[test]
fn a_kind_that_only_ends_in_list_is_an_object() {
    let input =
        ok("{apiVersion: example.com/v1, kind: AllowList, metadata: {name: a}, items: [{x: 1}]}");
    assert_eq!(names(&input), ["AllowList a"]);
    assert_eq!(
        input.objects[0].value().pointer("/items/0/x"),
        Some(&1.into())
    );
}

#[test]
fn json_documents_follow_each_other() {
    let one = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}"#;
    let list = "{\n \"apiVersion\": \"v1\",\n \"kind\": \"List\",\n \"items\": [\n  {\"apiVersion\":\"v1\",\"kind\":\"Node\",\n  \"metadata\":{\"name\":\"n2\"}},\n  {\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n3\"}}]}";
    let input = ok(&format!(
        "{one}\n{list}{one2}\n",
        one2 = one.replace("n1", "n4")
    ));
    assert_eq!(names(&input), ["Node n1", "Node n2", "Node n3", "Node n4"]);
    assert_eq!(lines(&input), [1, 6, 8, 8]);
    assert_eq!(input.origins[3].document, 3);
}

#[test]
fn json_between_separators_and_flow_mappings_are_read() {
    let node = |name: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{name}"}}}}"#)
    };
    let input = ok(&format!(
        "{}\n---\n# c\n{}\n---\n{{apiVersion: v1, kind: Node, metadata: {{name: c}}}}\n",
        node("a"),
        node("b")
    ));
    assert_eq!(names(&input), ["Node a", "Node b", "Node c"]);
    assert_eq!(lines(&input), [1, 4, 6]);
    assert_eq!(
        names(&ok(
            "{\"apiVersion\": v1, kind: Node, metadata: {name: x}} # c\n"
        )),
        ["Node x"]
    );
}

#[test]
fn scalars_follow_the_core_schema() {
    let input = ok("\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  yes: on
  7: int
  true: bool
  big: 18446744073709551615
  low: -9223372036854775808
  huge: 123456789012345678901234567890
  octal: 0o17
  under: 1_000
  quantity: 80Gi
  quoted: '12'
  none: ~
  half: 0.5
  block: |
    a
    --- b
  anchor: &a {x: 1}
  alias: *a
");
    let data = input.objects[0]
        .value()
        .get("data")
        .cloned()
        .unwrap_or_default();
    let expected = serde_json::json!({
        "yes": "on", "7": "int", "true": "bool", "big": u64::MAX, "low": i64::MIN,
        "huge": 123456789012345678901234567890_f64, "octal": 15, "under": "1_000", "quantity": "80Gi", "quoted": "12",
        "none": null, "half": 0.5, "block": "a\n--- b\n", "anchor": {"x": 1}, "alias": {"x": 1},
    });
    assert_eq!(data, expected);
}

#[test]
fn line_ends_of_windows_are_accepted() {
    let input = ok(
        "apiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: a\r\n---\r\nkind: Node\r\nmetadata: {name: b}\r\n",
    );
    assert_eq!(names(&input), ["Node a", "Node b"]);
    assert_eq!(lines(&input), [1, 6]);
}
