//! Inputs as people give them: files, folders, lists, duplicates.

mod bad_input;
mod random;

use std::fs;
use std::path::PathBuf;

use super::*;

/// Reads one text and keeps everything.
fn read_all(text: &str) -> Result<Input, InputError> {
    read_text("in.yaml", text, &|_| true)
}

fn ok(text: &str) -> Input {
    match read_all(text) {
        Ok(input) => input,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn names(input: &Input) -> Vec<String> {
    input
        .objects
        .iter()
        .map(|object| object.id().to_string())
        .collect()
}

fn lines(input: &Input) -> Vec<usize> {
    input.origins.iter().map(|origin| origin.line).collect()
}

fn messages(input: &Input) -> Vec<String> {
    input
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.object, warning.message))
        .collect()
}

fn errors(input: &Input) -> Vec<String> {
    input
        .object_errors
        .iter()
        .map(ToString::to_string)
        .collect()
}

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
fn a_byte_order_mark_is_accepted() {
    let directory = TempDir::new("bom");
    let path = directory.file(
        "n.yaml",
        b"\xef\xbb\xbfapiVersion: v1\nkind: Node\nmetadata: {name: n}\n",
    );
    let input = read(&[path], &mut std::io::empty(), &|_| true).expect("a byte order mark is fine");
    assert_eq!(names(&input), ["Node n"]);
}

#[test]
fn line_ends_of_windows_are_accepted() {
    let input = ok(
        "apiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: a\r\n---\r\nkind: Node\r\nmetadata: {name: b}\r\n",
    );
    assert_eq!(names(&input), ["Node a", "Node b"]);
    assert_eq!(lines(&input), [1, 6]);
}

#[test]
fn a_core_kind_without_api_version_is_taken_with_a_warning() {
    let input = ok("kind: Pod\nmetadata: {name: p}\n---\nkind: Node\nmetadata: {name: n}\n");
    assert_eq!(
        messages(&input),
        [
            "Pod default/p: apiVersion is missing; taken as v1",
            "Node n: apiVersion is missing; taken as v1"
        ]
    );
    assert_eq!(input.objects[0].text("/apiVersion"), Some("v1"));
    let input = ok("kind: Deployment\nmetadata: {name: d}\n");
    assert_eq!(
        errors(&input),
        [
            "in.yaml:1: Deployment d: apiVersion is missing, and Deployment is not a core kind; add it"
        ]
    );
}

#[test]
fn keys_in_the_wrong_case_are_errors_of_their_object() {
    let good = "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: good}\n";
    for (text, expected) in [
        (
            "apiVersion: v1\nKind: Pod\nmetadata: {name: p}",
            "Pod default/p: key Kind is in the wrong case; write kind",
        ),
        (
            "apiversion: v1\nkind: Pod\nmetadata: {name: p}",
            "Pod default/p: key apiversion is in the wrong case; write apiVersion",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetaData: {name: p}",
            "Pod default/p: key metaData is in the wrong case; write metadata",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p, nameSpace: x}",
            "Pod x/p: key metadata.nameSpace is in the wrong case; write namespace",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {Name: p}",
            "Pod default/p: key metadata.Name is in the wrong case; write name",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nSpec: {}",
            "Pod default/p: key Spec is in the wrong case; write spec",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {resourceclaims: []}",
            "Pod default/p: key spec.resourceclaims is in the wrong case; write resourceClaims",
        ),
        (
            "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: c}\nSPEC: {}",
            "Widget c: key SPEC is in the wrong case; write spec",
        ),
    ] {
        let input = ok(&format!("{text}{good}"));
        assert_eq!(errors(&input), [format!("in.yaml:1: {expected}")]);
        assert_eq!(names(&input), ["Node good"]);
    }
}

#[test]
fn wrong_forms_are_errors_of_their_object() {
    for (text, expected) in [
        (
            "metadata: {name: 12}",
            "Pod default/12: metadata.name is a number; put it in quotes",
        ),
        (
            "metadata: {name: p, labels: {a: true}}",
            "Pod default/p: metadata.labels[a] is a boolean; put it in quotes",
        ),
        (
            "metadata: {name: p, labels: []}",
            "Pod default/p: metadata.labels is a list, not a mapping",
        ),
        (
            "metadata: {name: p}\nspec: []",
            "Pod default/p: spec is a list, not a mapping",
        ),
        (
            "metadata: {name: p}\nspec: {containers: {}}",
            "Pod default/p: spec.containers is a mapping, not a list",
        ),
        (
            "metadata: {name: p}\nspec: {nodeName: 1}",
            "Pod default/p: spec.nodeName is a number, not a string",
        ),
    ] {
        let input = ok(&format!("apiVersion: v1\nkind: Pod\n{text}\n"));
        assert_eq!(errors(&input), [format!("in.yaml:1: {expected}")]);
    }
    let input = ok("apiVersion: v2\nkind: Pod\nmetadata: {name: p}\n");
    assert_eq!(
        errors(&input),
        ["in.yaml:1: Pod default/p: apiVersion \"v2\" is not a version of Pod; write v1"]
    );
    let input = ok("apiVersion: v1\nkind: Deployment\nmetadata: {name: d}\n");
    assert_eq!(
        errors(&input),
        ["in.yaml:1: Deployment d: v1 has no kind Deployment; correct its apiVersion"]
    );
    let input = ok("apiVersion: a/b/c\nkind: Pod\nmetadata: {name: p}\n");
    assert_eq!(
        errors(&input),
        ["in.yaml:1: Pod default/p: apiVersion \"a/b/c\" is not of the form group/version"]
    );
}

#[test]
fn kinds_that_are_not_needed_are_skipped_silently() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
---
apiVersion: v1
kind: Node
metadata: {name: n}
---
Kind: Secret
metadata: {name: n}
";
    let input = read_text("in.yaml", text, &needed_by_host).expect("readable");
    assert_eq!(names(&input), ["Node n"]);
    assert!(
        input.warnings.is_empty() && input.object_errors.is_empty(),
        "{input:?}"
    );
}

#[test]
fn the_last_of_several_definitions_wins() {
    let pod = |namespace: &str, node: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p{namespace}}}\nspec: {{nodeName: {node}}}\n---\n"
        )
    };
    let other = "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\n---\n";
    let input = ok(&format!(
        "{}{other}{}",
        pod("", "a"),
        pod(", namespace: default", "b")
    ));
    assert_eq!(names(&input), ["Pod default/p", "Pod q"]);
    assert_eq!(input.objects[0].text("/spec/nodeName"), Some("b"));
    assert_eq!(
        messages(&input),
        [
            "Pod default/p: defined more than once, and differently: the definition at in.yaml:10 is used, not the one at in.yaml:1"
        ]
    );
    let input = ok(&format!("{}{}", pod("", "a"), pod("", "a")));
    assert_eq!((names(&input).len(), messages(&input).len()), (1, 0));
    // Versions do not make different objects.
    let input = ok(
        "{apiVersion: a/v1, kind: X, metadata: {name: x}}\n---\n{apiVersion: a/v2, kind: X, metadata: {name: x}}\n",
    );
    assert_eq!(input.objects[0].text("/apiVersion"), Some("a/v2"));
}

#[test]
fn a_generated_name_is_stable_and_free() {
    let generated = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n---\n";
    let input = ok(&format!(
        "{generated}apiVersion: v1\nkind: Pod\nmetadata: {{name: p-1}}\n---\n{generated}"
    ));
    assert_eq!(names(&input), ["Pod p-0", "Pod p-1", "Pod p-2"]);
    assert_eq!(
        messages(&input)[0],
        "Pod default/p-0: has only metadata.generateName; this name was made for it"
    );
}

/// A directory that is removed afterwards.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("dractl-manifest-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("temporary file");
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_is_read_by_name_and_not_below() {
    let directory = TempDir::new("directory");
    let node = |name: &str| format!("apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\n");
    directory.file("b.yml", node("b").as_bytes());
    directory.file(
        "a.json",
        br#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}"#,
    );
    directory.file("c.yaml", node("c").as_bytes());
    directory.file("d.txt", b"not: read");
    directory.file("e.yaml", b"");
    fs::create_dir_all(directory.0.join("z.yaml")).expect("temporary directory");
    let input = read(&[&directory.0], &mut std::io::empty(), &|_| true).expect("readable");
    assert_eq!(names(&input), ["Node a", "Node b", "Node c"]);
    assert_eq!(input.files.len(), 4);
    assert_eq!(
        messages(&input),
        [format!(
            "{}: the file is empty",
            directory.0.join("e.yaml").display()
        )]
    );
}

#[test]
fn standard_input_is_read_for_a_dash() {
    let mut stdin: &[u8] = b"kind: Node\nmetadata: {name: n}\n";
    let input = read(&["-"], &mut stdin, &|_| true).expect("readable");
    assert_eq!(names(&input), ["Node n"]);
    assert_eq!(input.origins[0].to_string(), "standard input:1");
}

#[test]
fn the_scenarios_are_read_without_objection() {
    let shared = std::env::var_os("DRACTL_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let Ok(scenarios) = fs::read_dir(shared.join("scenarios")) else {
        eprintln!("SKIPPED: no scenarios in {}", shared.display());
        return;
    };
    let mut count = 0;
    for scenario in scenarios.filter_map(Result::ok) {
        let path = scenario.path().join("input");
        if !path.is_dir() {
            continue;
        }
        count += 1;
        let input = read(&[&path], &mut std::io::empty(), &|_| true)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(input.object_errors.is_empty(), "{:?}", errors(&input));
        // One pod of this scenario lacks its apiVersion; see its expected.yaml.
        let expected = if path.ends_with("example-taint-noschedule/input") {
            1
        } else {
            0
        };
        assert_eq!(input.warnings.len(), expected, "{:?}", messages(&input));
    }
    assert!(
        count >= 30,
        "only {count} scenarios in {}",
        shared.display()
    );
}

#[test]
fn names_longer_than_any_server_takes_are_cut_in_messages() {
    let long = "x".repeat(254);
    let input = ok(&format!(
        "kind: Pod\nmetadata: {{name: {long}}}\n---\nkind: Pod\nmetadata: {{name: {}}}\n",
        &long[1..]
    ));
    let cut = format!("{}...", "x".repeat(63));
    assert_eq!(
        errors(&input),
        [format!(
            "in.yaml:1: Pod default/{cut}: metadata.name has 254 bytes; at most 253 are allowed"
        )]
    );
    assert_eq!(input.objects.len(), 1);
}

#[test]
fn what_only_looks_like_an_object_is_passed_over() {
    let keep = |kind: &Kind| needed_by_host(kind);
    let config = "apiVersion: v1\nkind: Config\nclusters: []\n";
    let input = read_text("in.yaml", config, &keep).unwrap();
    assert_eq!(
        messages(&input),
        ["in.yaml:1: Config without metadata.name: v1 has no kind Config; correct its apiVersion"]
    );
}
