//! The basic filters one by one.

mod hostile;
mod resources;

use serde_json::json;

use super::*;

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn pod(name: &str, spec: Value) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}),
    )
}

fn node(name: &str, labels: Value, spec: Value, status: Value) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}),
    )
}

/// `plugin: reason` of the verdict on one node; empty if it passes. There are obstacles exactly where it does not.
fn verdict(filters: &Filters, pod: &Object) -> String {
    let requirements = filters
        .prepare(pod)
        .unwrap_or_else(|error| panic!("{error}"));
    let passes = filters.check(&requirements, 0).is_ok();
    let obstacles = filters.obstacles(&requirements, 0);
    assert_eq!(passes, obstacles.is_empty(), "{obstacles:?}");
    filters.check(&requirements, 0).map_or_else(
        |no| format!("{}: {}", no.plugin, no.reason),
        |()| String::new(),
    )
}

/// The node with slot 0; another one, too small for anybody, makes some resources known.
fn with_node(node: &Object) -> Filters {
    let mut filters = Filters::new();
    let known = json!({"allocatable": {"example.com/gpu": "0", "example.com/fpga": "0"}});
    filters
        .put_node(1, &self::node("known", json!({}), json!({}), known))
        .unwrap_or_else(|error| panic!("{error}"));
    filters
        .put_node(0, node)
        .unwrap_or_else(|error| panic!("{error}"));
    filters
}

/// What a pod with this spec gets from a node.
fn check(node: &Object, spec: &Value, expected: &str) {
    let filters = with_node(node);
    assert_eq!(
        verdict(&filters, &pod("p", spec.clone())),
        expected,
        "{spec} on {}",
        node.value()
    );
}

const UNSCHEDULABLE: &str = "NodeUnschedulable: node(s) were unschedulable";
const AFFINITY: &str = "NodeAffinity: node(s) didn't match Pod's node affinity/selector";

#[test]
fn unschedulable_nodes() {
    let cordoned = node("n", json!({}), json!({"unschedulable": true}), json!({}));
    check(&cordoned, &json!({}), UNSCHEDULABLE);
    let key = "node.kubernetes.io/unschedulable";
    check(
        &cordoned,
        &json!({"tolerations": [{"key": key, "operator": "Exists", "effect": "NoSchedule"}]}),
        "",
    );
    check(
        &cordoned,
        &json!({"tolerations": [{"operator": "Exists"}]}),
        "",
    );
    check(
        &cordoned,
        &json!({"tolerations": [{"key": key, "operator": "Exists", "effect": "NoExecute"}]}),
        UNSCHEDULABLE,
    );
    check(
        &cordoned,
        &json!({"tolerations": [{"key": "other", "operator": "Exists"}]}),
        UNSCHEDULABLE,
    );
}

#[test]
fn requested_node_name() {
    let node = node("n", json!({}), json!({}), json!({}));
    check(&node, &json!({"nodeName": "n"}), "");
    check(
        &node,
        &json!({"nodeName": "m"}),
        "NodeName: node(s) didn't match the requested node name",
    );
}

#[test]
fn taints_and_tolerations() {
    let tainted = |taints: Value| node("n", json!({}), json!({"taints": taints}), json!({}));
    let one = tainted(json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]));
    let refused = "TaintToleration: node(s) had untolerated taint {k: v}";
    for (tolerations, expected) in [
        (json!([]), refused),
        (
            json!([{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]),
            "",
        ),
        (json!([{"key": "k", "value": "v"}]), ""),
        (json!([{"key": "k", "value": "w"}]), refused),
        (json!([{"key": "k"}]), refused),
        (json!([{"key": "k", "operator": "Exists"}]), ""),
        (
            json!([{"key": "k", "operator": "Exists", "effect": "NoExecute"}]),
            refused,
        ),
        (json!([{"key": "l", "operator": "Exists"}]), refused),
        (json!([{"operator": "Exists"}]), ""),
        (json!([{"operator": "Exists", "effect": "NoSchedule"}]), ""),
        (
            json!([{"operator": "Exists", "effect": "PreferNoSchedule"}]),
            refused,
        ),
    ] {
        check(&one, &json!({"tolerations": tolerations}), expected);
    }
    check(
        &tainted(json!([{"key": "k", "effect": "PreferNoSchedule"}])),
        &json!({}),
        "",
    );
    let evicting = tainted(json!([{"key": "k", "effect": "NoExecute"}]));
    check(
        &evicting,
        &json!({}),
        "TaintToleration: node(s) had untolerated taint {k: }",
    );
    check(
        &evicting,
        &json!({"tolerations": [{"key": "k", "value": ""}]}),
        "",
    );
    // The first one that is not tolerated is named.
    let two = tainted(json!([
        {"key": "a", "value": "1", "effect": "NoSchedule"},
        {"key": "b", "value": "2", "effect": "NoSchedule"}
    ]));
    let tolerations = json!({"tolerations": [{"key": "a", "operator": "Exists"}]});
    check(
        &two,
        &tolerations,
        "TaintToleration: node(s) had untolerated taint {b: 2}",
    );
}

#[test]
fn node_selectors() {
    let node = node("n", json!({"a": "1", "b": ""}), json!({}), json!({}));
    for (selector, expected) in [
        (json!({}), ""),
        (json!({"a": "1"}), ""),
        (json!({"a": "1", "b": ""}), ""),
        (json!({"a": "2"}), AFFINITY),
        (json!({"c": ""}), AFFINITY),
    ] {
        check(&node, &json!({"nodeSelector": selector}), expected);
    }
}

fn required(terms: &Value) -> Value {
    let key = "requiredDuringSchedulingIgnoredDuringExecution";
    json!({"affinity": {"nodeAffinity": {key: {"nodeSelectorTerms": terms}}}})
}

#[test]
fn required_node_affinity() {
    let node = node(
        "n",
        json!({"zone": "a", "cores": "8", "text": "x"}),
        json!({}),
        json!({}),
    );
    let expression = |key: &str, operator: &str, values: Value| json!({"key": key, "operator": operator, "values": values});
    for (key, operator, values, passes) in [
        ("zone", "In", json!(["b", "a"]), true),
        ("zone", "In", json!(["b"]), false),
        ("none", "In", json!(["b"]), false),
        ("zone", "NotIn", json!(["b"]), true),
        ("zone", "NotIn", json!(["a"]), false),
        ("none", "NotIn", json!(["a"]), true),
        ("zone", "Exists", json!([]), true),
        ("none", "Exists", json!([]), false),
        ("zone", "DoesNotExist", json!([]), false),
        ("none", "DoesNotExist", json!([]), true),
        ("cores", "Gt", json!(["7"]), true),
        ("cores", "Gt", json!(["8"]), false),
        ("cores", "Lt", json!(["9"]), true),
        ("cores", "Lt", json!(["-9"]), false),
        ("text", "Gt", json!(["1"]), false),
        ("none", "Lt", json!(["1"]), false),
    ] {
        let terms = json!([{"matchExpressions": [expression(key, operator, values)]}]);
        check(&node, &required(&terms), if passes { "" } else { AFFINITY });
    }
    let good = expression("zone", "Exists", json!([]));
    let bad = expression("none", "Exists", json!([]));
    let name = |operator: &str, name: &str| json!({"key": "metadata.name", "operator": operator, "values": [name]});
    for (terms, passes) in [
        (json!([{"matchExpressions": [good, bad]}]), false),
        (
            json!([{"matchExpressions": [bad]}, {"matchExpressions": [good]}]),
            true,
        ),
        (json!([{}]), false),
        (
            json!([{"matchExpressions": []}, {"matchExpressions": [good]}]),
            true,
        ),
        (json!([{"matchFields": [name("In", "n")]}]), true),
        (json!([{"matchFields": [name("In", "m")]}]), false),
        (json!([{"matchFields": [name("NotIn", "m")]}]), true),
        (json!([{"matchFields": [name("NotIn", "n")]}]), false),
        (
            json!([{"matchExpressions": [good], "matchFields": [name("In", "m")]}]),
            false,
        ),
    ] {
        check(&node, &required(&terms), if passes { "" } else { AFFINITY });
    }
    // Both must hold.
    let mut spec = required(&json!([{"matchExpressions": [good]}]));
    spec["nodeSelector"] = json!({"zone": "b"});
    check(&node, &spec, AFFINITY);
}

#[test]
fn the_first_refusal_in_upstreams_order_counts() {
    let spec = json!({"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]});
    let node = node("n", json!({}), spec, json!({"allocatable": {"cpu": "1"}}));
    let mut pod_spec = json!({"nodeName": "m", "nodeSelector": {"a": "b"}, "tolerations": [],
        "containers": [{"resources": {"requests": {"cpu": "2"}}}]});
    check(&node, &pod_spec, UNSCHEDULABLE);
    let key = "node.kubernetes.io/unschedulable";
    pod_spec["tolerations"] = json!([{"key": key, "operator": "Exists"}]);
    check(
        &node,
        &pod_spec,
        "NodeName: node(s) didn't match the requested node name",
    );
    pod_spec["nodeName"] = json!("n");
    check(
        &node,
        &pod_spec,
        "TaintToleration: node(s) had untolerated taint {k: }",
    );
    pod_spec["tolerations"] = json!([{"operator": "Exists"}]);
    check(&node, &pod_spec, AFFINITY);
    pod_spec["nodeSelector"] = json!({});
    check(&node, &pod_spec, "NodeResourcesFit: Insufficient cpu");
}

/// A container that requests this.
fn container(requests: &Value) -> Value {
    json!({"name": "c", "resources": {"requests": requests}})
}

fn placed(name: &str, phase: &str, cpu: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": "n", "containers": [container(&json!({"cpu": cpu, "example.com/gpu": 1}))]},
        "status": {"phase": phase}}),
    )
}

fn put(filters: &mut Filters, pod: &Object) {
    filters
        .put_pod(pod)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let requirement = |expression: Value| required(&json!([{"matchExpressions": [expression]}]));
    let path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    for (spec, expected) in [
        (
            json!({"containers": [container(&json!({"cpu": "1x"}))]}),
            "spec.containers[0].resources.requests[cpu]: \"1x\" is not a quantity".to_owned(),
        ),
        (
            json!({"initContainers": [{"resources": {"limits": {"memory": "-1"}}}]}),
            "spec.initContainers[0].resources.limits[memory] must not be negative".to_owned(),
        ),
        (
            json!({"overhead": {"cpu": true}}),
            "spec.overhead[cpu]: true is not a quantity".to_owned(),
        ),
        (
            json!({"nodeSelector": {"a": 1}}),
            "spec.nodeSelector[a] is not a string; put it in quotes".to_owned(),
        ),
        (
            json!({"tolerations": [{"key": "a", "operator": "Foo"}]}),
            "spec.tolerations[0].operator \"Foo\" is not supported; use Equal or Exists".to_owned(),
        ),
        (
            json!({"tolerations": [{"value": "a"}]}),
            "spec.tolerations[0].operator must be Exists if key is empty".to_owned(),
        ),
        (
            required(&json!([])),
            format!("{path} must have at least one term"),
        ),
        (
            requirement(json!({"key": "a", "operator": "In"})),
            format!("{path}[0].matchExpressions[0].values must not be empty for In and NotIn"),
        ),
        (
            requirement(json!({"key": "a", "operator": "Gt", "values": ["x"]})),
            format!(
                "{path}[0].matchExpressions[0].values: \"x\" is not an integer, as Gt and Lt need"
            ),
        ),
        (
            requirement(json!({"key": "a", "operator": "Is"})),
            format!(
                "{path}[0].matchExpressions[0].operator \"Is\" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt"
            ),
        ),
        (
            requirement(json!({"operator": "Exists"})),
            format!("{path}[0].matchExpressions[0].key is missing"),
        ),
        (
            required(
                &json!([{"matchFields": [{"key": "spec.x", "operator": "In", "values": ["n"]}]}]),
            ),
            format!(
                "{path}[0].matchFields[0].key \"spec.x\" is not supported; only metadata.name is"
            ),
        ),
    ] {
        let problem = Filters::new().prepare(&pod("p", spec)).map(|_| ());
        assert_eq!(problem, Err(format!("Pod default/p: {expected}")));
    }
    let bad = node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": {"memory": "lots"}}),
    );
    let mut filters = Filters::new();
    let problem = filters.put_node(0, &bad);
    assert_eq!(
        problem,
        Err("status.allocatable[memory]: \"lots\" is not a quantity".to_owned())
    );
    assert!(
        verdict(&filters, &pod("p", json!({})))
            .starts_with("NodeResourcesFit: node(s) could not be read")
    );
    let problem = filters.put_pod(&placed("q", "Running", "1..2"));
    assert!(problem.is_err_and(|problem| {
        problem.starts_with("spec.containers[0].resources.requests[cpu]")
    }));
}

#[test]
fn requirements_stay_right_when_nodes_and_pods_come_later() {
    let mut spec =
        required(&json!([{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1"]}]}]));
    spec["nodeSelector"] = json!({"b": "2"});
    spec["containers"] = json!([container(&json!({"example.com/gpu": 1}))]);
    let mut filters = Filters::new();
    let requirements = filters.prepare(&pod("p", spec)).expect("a good pod");
    let status = json!({"allocatable": {"example.com/gpu": 1}});
    let later = node("n", json!({"a": "1", "b": "2"}), json!({}), status);
    filters.put_node(0, &later).expect("a good node");
    assert_eq!(filters.check(&requirements, 0), Ok(()));
    put(&mut filters, &placed("q", "Running", "1"));
    assert_eq!(
        filters.check(&requirements, 0).map_err(|no| no.reason),
        Err("Insufficient example.com/gpu".to_owned())
    );
    assert_eq!(filters.check_placement(&requirements, 0), Ok(()));
}
