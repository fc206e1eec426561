//! What of lint needs no plugin: paths, subjects, slips of YAML.

use super::*;
use crate::report::table::Colour;

#[test]
fn paths_sort_as_people_count() {
    let mut paths = ["a[10].b", "a[9].b", "a[9]", "a", "b", "a[9].a[1]"];
    paths.sort_by_key(|path| natural(path));
    assert_eq!(paths, ["a", "a[9]", "a[9].a[1]", "a[9].b", "a[10].b", "b"]);
}

#[test]
fn subjects_are_told_as_messages_tell_them() {
    for text in ["Pod ns/p", "Node n", "some/file.yaml", "ResourceSlice"] {
        assert_eq!(Subject::from_text(text).to_string(), text);
    }
    let [one, other] = ["Pod p", "Pod default/p"].map(Subject::from_text);
    assert_eq!(one.key(), other.key());
}

/// What stands in an object must not move the cursor.
#[test]
fn names_and_paths_are_printable() {
    let subject = Subject {
        kind: "Pod".into(),
        namespace: "default".into(),
        name: "x\u{1b}[2J".into(),
    };
    let mut told = finding(Severity::Error, subject, "spec.a\0b", "wrong");
    told.remedy = "mend it".to_owned();
    let report = Report {
        findings: vec![told],
        ..Report::default()
    };
    let mut out = Vec::new();
    write(&report, Colour::Off, &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "Pod default/x [2J\n  error spec.a b\n    wrong\n    -> mend it\n"
    );
}

fn slips(text: &str) -> Vec<(String, String)> {
    let mut slips = Slips::default();
    slips.look(text);
    let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let objects = [Object::from_value(pod).unwrap()];
    let found = slips.findings(&objects).into_iter();
    found
        .map(|finding| (finding.path, finding.message))
        .collect()
}

/// Only what YAML 1.1 reads otherwise, with its path, and only where a value stands.
#[test]
fn scalars_that_are_read_differently() {
    let head = "kind: Pod\nmetadata:\n  name: p\n";
    let paths = |text: &str| -> Vec<String> {
        slips(&format!("{head}{text}"))
            .into_iter()
            .map(|(path, _)| path)
            .collect()
    };
    assert_eq!(
        paths("spec:\n  a:\n  - b: 010\n    c: yes\n  - 017\n"),
        ["spec.a[0].b", "spec.a[0].c", "spec.a[1]"]
    );
    assert_eq!(paths("spec: {a: 010, b: [off]}\n"), ["spec.a", "spec.b[0]"]);
    assert_eq!(
        paths(
            "spec: {a: [{b: x, c: no}, [yes, 010]], \"d\": {'e': off}, f: 'no, yes', g: \"{no}\"}\n"
        ),
        ["spec.a[0].c", "spec.a[1][0]", "spec.a[1][1]", "spec.d.e"]
    );
    assert_eq!(
        paths("spec:\n  attributes: {n.io/a: {string: no}}\n  labels:\n    b: yes\n"),
        ["spec.attributes[n.io/a].string", "spec.labels[b]"]
    );
    // The modes of files are meant to be octal.
    assert_eq!(
        paths("spec:\n  a: {defaultMode: 0755, items: [{mode: 0644}], mode: on, model: 010}\n"),
        ["spec.a.mode", "spec.a.model"]
    );
    // Over several lines, and on behind them.
    assert_eq!(
        paths("spec:\n  a: {b: no,\n    c: [x,\n      off], # d: yes\n  e: on}\n  f: yes\n"),
        ["spec.a.b", "spec.a.c[1]", "spec.a.e", "spec.f"]
    );
    assert_eq!(paths("spec: {a: {b: [\n"), [""; 0]);
    assert_eq!(
        paths(
            "spec:\n  a: \"010\"\n  b: 'yes'\n  c: 0\n  d: 10\n  e: 0.10\n  f: 08\n  g: yes sir\n  h: 01 # 1\n"
        ),
        [""; 0]
    );
    assert_eq!(
        paths("spec:\n  a: |\n    b: yes\n\n    c: 010\n  d: on # really\n"),
        ["spec.d"]
    );
    assert_eq!(
        paths("---\nkind: ConfigMap\nmetadata: {name: p}\ndata: {a: yes}\n"),
        [""; 0]
    );
    let list = "kind: List\nitems:\n- kind: Secret\n  metadata: {name: p}\n  a: yes\n- kind: Pod\n  metadata: {name: p}\n  spec:\n    b: no\n";
    assert_eq!(slips(list).len(), 1);
    assert_eq!(slips(list)[0].0, "spec.b");
}
