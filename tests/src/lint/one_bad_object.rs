//! One bad object stops nothing: it is a finding, and everything else is judged. Input that nobody wrote in good faith.

use super::{CLUSTER, Found, lint};
use crate::command::dractl_with;

const SLIP: &str = "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: last}\nspec: {device: {}}\n";

/// The finding about the bad document, after a look at what was said of the last one.
fn found_before_the_last(bad: &str) -> Vec<Found> {
    let found = lint(&format!("{CLUSTER}---\n{bad}\n{SLIP}"), &[]);
    assert!(
        found
            .iter()
            .any(|found| found.object == "ResourceClaim default/last"
                && found.remedy == "write \"devices\""),
        "{bad}: {found:#?}"
    );
    found
        .into_iter()
        .filter(|found| found.object != "ResourceClaim default/last")
        .collect()
}

#[test]
fn each_kind_of_bad_object() {
    // CLUSTER has 12 documents.
    for (bad, object, message) in [
        (
            "apiVersion: v1\nkind: Pod\nspec: {}",
            "Pod",
            "document 13: Pod without metadata.name",
        ),
        (
            "apiVersion: v1\nmetadata: {name: a}",
            "",
            "document 13: kind is missing",
        ),
        (
            "apiVersion: v1\nkind: [Pod]\nmetadata: {name: a}",
            "",
            "document 13: kind is a list, not a string",
        ),
        ("just a text", "", "document 13 is a string, not an object"),
        ("- a\n- b", "", "document 13 is a list, not an object"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: torn\nspec: {a: [}",
            "Pod default/torn",
            "document 13 cannot be read",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {namespace: ns, name: flow}\nspec: {a: [}",
            "Pod ns/flow",
            "document 13 cannot be read at line 242, column 11: not valid YAML",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: torn\n  name: torn",
            "Pod default/torn",
            "document 13 cannot be read",
        ),
        (
            "kind: List\napiVersion: v1\nitems: [5]",
            "",
            "a List has an item that is a number",
        ),
        (
            "kind: List\napiVersion: v1\nitems: 5",
            "List",
            "items of a List must be a list",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: 5",
            "Pod",
            "metadata is a number",
        ),
        (
            "apiVersion: 5\nkind: Pod\nmetadata: {name: a}",
            "Pod default/a",
            "apiVersion is a number",
        ),
    ] {
        let found = found_before_the_last(bad);
        let is_it = |found: &Found| {
            found.severity == "error" && found.object == object && found.message.contains(message)
        };
        assert!(found.iter().any(is_it), "{bad}: {found:#?}");
        assert_eq!(found.len(), 1, "{bad}: {found:#?}");
    }
}

/// Two of them are two findings, each with its place.
#[test]
fn people_see_where_it_stands() {
    let input =
        "apiVersion: v1\nkind: Pod\nspec: {}\n---\napiVersion: v1\nkind: Pod\nspec: {}\n---\n- a\n";
    let finished = dractl_with(&["lint", "-"], input.into());
    assert_eq!(finished.status, 1);
    for line in [
        "Pod without a name (standard input:1)",
        "Pod without a name (standard input:5)",
        "standard input:9",
    ] {
        assert!(
            finished.stdout.lines().any(|other| other == line),
            "{line}\n{}",
            finished.stdout
        );
    }
}

/// A pod that names an object which cannot be used does not miss it.
#[test]
fn what_is_broken_is_not_missing() {
    let input = CLUSTER.replace(
        "metadata:\n  name: either\nspec:",
        "metadata:\n  name: either\nSpec:",
    );
    let found = lint(&input, &[]);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].object, "ResourceClaim default/either");
}

/// A slice that cannot be used is there: only what is wrong with it is said.
#[test]
fn a_broken_slice_is_not_missing() {
    let slice = |value: &str, key: &str| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s}}\n{key}: {{driver: d.example.com, nodeName: n, \
             pool: {{name: n, generation: 1, resourceSliceCount: 1}}, devices: [{{name: a, attributes: {{model: {value}}}}}]}}\n---\n\
             apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: gpu}}\nspec: {{}}\n---\n\
             apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\n\
             spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu}}}}]}}}}\n"
        )
    };
    assert!(lint(&slice("{string: x}", "spec"), &[]).is_empty());
    for bad in [slice("{string: 7}", "spec"), slice("{string: x}", "Spec")] {
        let found = lint(&bad, &[]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].object, "ResourceSlice s");
    }
}

#[test]
fn hostile_input_is_answered() {
    let deep = format!("a: {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    let huge = format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}",
        "x".repeat(1 << 20)
    );
    let anchors = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b]";
    let expression = format!("{}true{}", "(".repeat(3_000), ")".repeat(3_000));
    let claim = format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: deep}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, selectors: [{{cel: {{expression: '{expression}'}}}}]}}}}]}}}}"
    );
    let empty = "---\n".repeat(5_000);
    for bad in [
        deep.as_str(),
        // Text that is scanned again at each depth takes minutes.
        &"[".repeat(200_000),
        &huge,
        anchors,
        &claim,
        "%",
        "!!binary x",
        "? {a: b}\n: c",
    ] {
        let found = found_before_the_last(bad);
        assert!(
            found.iter().any(|found| found.severity == "error"),
            "{}: {found:#?}",
            &bad[..bad.len().min(60)]
        );
    }
    assert!(found_before_the_last(&empty).is_empty());
}

/// As many findings as nobody reads: the worst are shown, and how many are not.
#[test]
fn very_many_findings_are_cut() {
    let devices: String = (0..120).map(|i| format!("{{name: D{i}}},")).collect();
    let slices: String = (0..200)
        .map(|i| {
            format!(
                "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s{i}}}\nspec: {{driver: d, allNodes: true, pool: {{name: p{i}, generation: 1, resourceSliceCount: 1}}, devices: [{devices}]}}\n"
            )
        })
        .collect();
    let found = lint(&slices, &[]);
    assert_eq!(found.len(), 10_001);
    let left_off = found.iter().find(|found| found.object.is_empty()).unwrap();
    assert_eq!(left_off.severity, "warning");
    // 200 slices with 120 devices, each with a name in upper case, of which 10,000 are shown.
    assert!(
        left_off.message.contains("14000 errors"),
        "{}",
        left_off.message
    );
    assert!(!left_off.remedy.is_empty());
}
