//! What is made of each object: which are taken, which are errors, which of two counts.

use super::*;

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
