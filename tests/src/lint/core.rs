//! Pods, pod templates and nodes against the rules of the core API: quantities, selectors, affinity, tolerations, taints,
//! labels.

use super::{Found, lint};

/// What is found in a pod whose spec has this beside a container with these resources.
fn pod(spec: &str, resources: &str) -> Vec<Found> {
    lint(
        &format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{spec} containers: [{{name: c, image: i, resources: {{{resources}}}}}]}}\n"
        ),
        &[],
    )
}

/// One error at the path, with these parts.
fn one_error(found: &[Found], path: &str, [message, remedy]: [&str; 2]) {
    let is_it = |found: &Found| {
        found.severity == "error"
            && found.path == path
            && found.message.contains(message)
            && found.remedy.contains(remedy)
    };
    assert!(found.len() == 1 && is_it(&found[0]), "{path}\n{found:#?}");
}

#[test]
fn quantities() {
    for (resources, path, said) in [
        (
            "limits: {cpu: 1cpu}",
            "limits[cpu]",
            ["1cpu is no quantity", "write 1"],
        ),
        (
            "limits: {memory: 1GB}",
            "limits[memory]",
            ["1GB is no quantity", "write 1G or 1Gi"],
        ),
        (
            "limits: {memory: 512MiB}",
            "limits[memory]",
            ["512MiB is no quantity", "write 512Mi"],
        ),
        (
            "limits: {memory: lots}",
            "limits[memory]",
            ["lots is no quantity", "suffixes"],
        ),
        (
            "limits: {memory: true}",
            "limits[memory]",
            ["true is no quantity", "write a number"],
        ),
        (
            "requests: {cpu: -1}",
            "requests[cpu]",
            ["-1 is negative", ""],
        ),
        (
            "requests: {cpu: 2}, limits: {cpu: 1500m}",
            "requests[cpu]",
            ["2 is above the limit 1500m", "raise the limit"],
        ),
        (
            "limits: {example.com/gpu: 0.5}",
            "limits[example.com/gpu]",
            ["0.5 is no whole number", "whole number"],
        ),
        (
            "requests: {example.com/gpu: 1}",
            "requests[example.com/gpu]",
            ["without a limit", "write it in limits"],
        ),
        (
            "requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}",
            "requests[example.com/gpu]",
            ["the request 1 is not the limit 2", "the same"],
        ),
        (
            "limits: {Memory: 1Gi}",
            "limits[Memory]",
            ["\"Memory\" is no resource", "write memory"],
        ),
        (
            "limits: {gpu: 1}",
            "limits[gpu]",
            ["\"gpu\" is no resource", "example.com/gpu"],
        ),
        (
            "limits: [cpu]",
            "limits",
            ["this is a list, not a mapping", "without dashes"],
        ),
    ] {
        one_error(
            &pod("", resources),
            &format!("spec.containers[0].resources.{path}"),
            said,
        );
    }
    let found = pod("", "limits: {memory: 100m}");
    assert_eq!(
        (found.len(), found[0].severity.as_str()),
        (1, "warning"),
        "{found:#?}"
    );
    let right = "requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: 1e9, example.com/gpu: 1}, limits: {cpu: \"1\", memory: 1073741824, example.com/gpu: \"1\", hugepages-2Mi: 4Mi}";
    assert!(pod("", right).is_empty(), "{:#?}", pod("", right));
}

const NODE_AFFINITY: &str =
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution";

#[test]
fn selectors_and_affinity() {
    let required = |terms: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {terms}}}}},"
        )
    };
    let requirement = |requirement: &str| {
        required(&format!(
            "{{nodeSelectorTerms: [{{matchExpressions: [{{{requirement}}}]}}]}}"
        ))
    };
    let term = format!("{NODE_AFFINITY}.nodeSelectorTerms[0].matchExpressions[0]");
    for (spec, path, said) in [
        ("nodeSelector: {gpu: true},".to_owned(), "spec.nodeSelector[gpu]".to_owned(), ["a boolean, not a string", "in quotes: \"true\""]),
        ("nodeSelector: {zone: 1},".to_owned(), "spec.nodeSelector[zone]".to_owned(), ["a number, not a string", "in quotes: \"1\""]),
        ("nodeSelector: [zone],".to_owned(), "spec.nodeSelector".to_owned(), ["a list, not a mapping", "without dashes"]),
        ("nodeSelector: {zone: \"a b\"},".to_owned(), "spec.nodeSelector[zone]".to_owned(), ["\"a b\" is no label value", "63"]),
        ("nodeSelector: {\"a/b/c\": x},".to_owned(), "spec.nodeSelector[a/b/c]".to_owned(), ["is no label key", "DOMAIN/NAME"]),
        ("nodeAffinity: {},".to_owned(), "spec.nodeAffinity".to_owned(), ["unknown field", "spec.affinity.nodeAffinity"]),
        (required("[{matchExpressions: []}]"), NODE_AFFINITY.to_owned(), ["a list, not a node selector", "nodeSelectorTerms"]),
        (required("{nodeSelectorTerms: {matchExpressions: []}}"), format!("{NODE_AFFINITY}.nodeSelectorTerms"), ["a mapping, not a list", "dash"]),
        (required("{nodeSelectorTerms: []}"), format!("{NODE_AFFINITY}.nodeSelectorTerms"), ["fits on no node", "add a term"]),
        (requirement("key: zone, operator: in, values: [a]"), format!("{term}.operator"), ["unknown operator \"in\"", "write In"]),
        (requirement("key: zone, operator: Equals, values: [a]"), format!("{term}.operator"), ["unknown operator \"Equals\"", "write one of In"]),
        (requirement("key: zone, operator: Exists, values: [a]"), format!("{term}.values"), ["takes no values", "In or NotIn"]),
        (requirement("key: zone, operator: In"), format!("{term}.values"), ["needs values", "Exists"]),
        (requirement("key: zone, operator: In, values: a"), format!("{term}.values"), ["a single value, not a list", "dash"]),
        (requirement("key: zone, operator: In, values: [1]"), format!("{term}.values[0]"), ["a number, not a string", "in quotes"]),
        (requirement("key: zone, operator: Gt, values: [a]"), format!("{term}.values"), ["one whole number", "in quotes"]),
        (requirement("key: zone, operator: In, value: a, values: [a]"), format!("{term}.value"), ["unknown field", ""]),
        (
            "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {topologyKey: a}}},".to_owned(),
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution".to_owned(),
            ["a mapping, not a list", "dash"],
        ),
        (
            "affinity: {nodeAffinity: {requiredDuringScheduling: {}}},".to_owned(),
            "spec.affinity.nodeAffinity.requiredDuringScheduling".to_owned(),
            ["unknown field", "write \"requiredDuringSchedulingIgnoredDuringExecution\""],
        ),
    ] {
        let found = pod(&spec, "");
        let errors: Vec<Found> = found.into_iter().filter(|found| found.severity == "error" || found.path == path).collect();
        assert!(
            errors.iter().any(|found| found.path == path && found.message.contains(said[0]) && found.remedy.contains(said[1])),
            "{spec}\n{errors:#?}"
        );
        assert_eq!(errors.len(), 1, "{spec}\n{errors:#?}");
    }
    for right in [
        "nodeSelector: {a.b/c: d, e: \"\"},".to_owned(),
        requirement("key: zone, operator: NotIn, values: [a, b]"),
        requirement("key: zone, operator: Lt, values: [\"5\"]"),
        required("{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n]}]}]}"),
        "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}},".to_owned(),
        "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: a, labelSelector: {}}}]}},".to_owned(),
    ] {
        let found = pod(&right, "");
        assert!(found.is_empty(), "{right}\n{found:#?}");
    }
}

#[test]
fn tolerations() {
    for (toleration, path, said) in [
        (
            "key: a, operator: equal, value: b",
            ".operator",
            ["unknown operator \"equal\"", "write Equal"],
        ),
        (
            "key: a, operator: Exist",
            ".operator",
            ["unknown operator \"Exist\"", "write Exists"],
        ),
        (
            "key: a, operator: Exists, value: b",
            ".value",
            ["takes no value", "Equal"],
        ),
        (
            "key: a, operator: Exists, effect: NoScheduling",
            ".effect",
            ["unknown effect \"NoScheduling\"", "write NoSchedule"],
        ),
        ("value: b", ".operator", ["without a key", "Exists"]),
        (
            "key: a, value: true",
            ".value",
            ["a boolean, not a string", "in quotes"],
        ),
        (
            "key: a, effect: NoSchedule, tolerationSeconds: 5",
            ".tolerationSeconds",
            ["only the effect NoExecute", ""],
        ),
        (
            "key: a, values: [b]",
            ".values",
            ["unknown field", "write \"value\""],
        ),
    ] {
        let found = pod(&format!("tolerations: [{{{toleration}}}],"), "");
        one_error(&found, &format!("spec.tolerations[0]{path}"), said);
    }
    let right = "tolerations: [{operator: Exists}, {key: a}, {key: a, operator: Equal, value: b, effect: NoExecute, tolerationSeconds: 5}],";
    assert!(pod(right, "").is_empty());
}

#[test]
fn nodes_and_labels() {
    let node = |metadata: &str, rest: &str| {
        lint(
            &format!("apiVersion: v1\nkind: Node\nmetadata: {{name: n, {metadata}}}\n{rest}\n"),
            &[],
        )
    };
    for (metadata, rest, path, said) in [
        (
            "",
            "spec: {taints: [{key: a, effect: NoScheduling}]}",
            "spec.taints[0].effect",
            ["unknown effect", "write NoSchedule"],
        ),
        (
            "",
            "spec: {taints: [{key: a}]}",
            "spec.taints[0].effect",
            ["the taint has no effect", "NoSchedule"],
        ),
        (
            "",
            "spec: {taints: [{effect: NoSchedule}]}",
            "spec.taints[0].key",
            ["the taint has no key", ""],
        ),
        (
            "",
            "spec: {taints: [{key: a, effect: NoExecute}, {key: a, effect: NoExecute, value: b}]}",
            "spec.taints[1]",
            ["two taints", "remove"],
        ),
        (
            "",
            "status: {allocatable: {memory: 16GB}}",
            "status.allocatable[memory]",
            ["no quantity", "16G or 16Gi"],
        ),
        (
            "labels: {gpu: true}",
            "",
            "metadata.labels[gpu]",
            ["is a boolean", "in quotes"],
        ),
        (
            "labels: {\"a b\": c}",
            "",
            "metadata.labels[a b]",
            ["is no label key", ""],
        ),
        (
            "labels: {\"UPPER.io/a\": c}",
            "",
            "metadata.labels[UPPER.io/a]",
            ["is no label key", ""],
        ),
        (
            "annotations: {a: 1}",
            "",
            "metadata.annotations[a]",
            ["is a number", "in quotes"],
        ),
    ] {
        one_error(&node(metadata, rest), path, said);
    }
    let right = node(
        "labels: {kubernetes.io/hostname: n, a_b.c: \"\"}, annotations: {a: \"any text, of any length\"}",
        "spec: {taints: [{key: a, effect: NoExecute}, {key: a, effect: NoSchedule}]}\nstatus: {allocatable: {cpu: 4, memory: 16Gi, pods: \"110\", example.com/gpu: 2}}",
    );
    assert!(right.is_empty(), "{right:#?}");
}

/// Entries of another form than the API's.
#[test]
fn lists_and_mappings() {
    for (spec, path, message) in [
        ("containers: [5]", "spec.containers[0]", "not a mapping"),
        (
            "containers: [{name: c, resources: {claims: x}}]",
            "spec.containers[0].resources.claims",
            "not a list",
        ),
    ] {
        let found = lint(
            &format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{{spec}}}\n"),
            &[],
        );
        one_error(&found, path, [message, ""]);
    }
}

/// The same in a template, told of the workload.
#[test]
fn templates() {
    let found = lint(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {replicas: 2, template: {metadata: {labels: {a: 1}}, spec: {nodeSelector: {b: true}, containers: [{name: c, image: i, resources: {limits: {memory: 1GB}}}]}}}\n",
        &[],
    );
    let paths: Vec<&str> = found
        .iter()
        .filter(|found| found.object == "Deployment default/d" && found.severity == "error")
        .map(|found| found.path.as_str())
        .collect();
    assert_eq!(
        paths,
        [
            "spec.template.metadata.labels[a]",
            "spec.template.spec.containers[0].resources.limits[memory]",
            "spec.template.spec.nodeSelector[b]"
        ],
        "{found:#?}"
    );
}
