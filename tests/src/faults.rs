//! Faults of upstream's plugin that became public, by the number under which they were reported (at kubernetes/kubernetes, where nothing else is said): where
//! the shape that failed there is tested here, with a near miss that must succeed. And those that only show on the whole way.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::command::dractl_with;
use crate::repository::text_files;

/// Number, what went wrong, and the tests: each states the failing shape and a near miss.
const FAULTS: [(&str, &str, &[&str]); 18] = [
    (
        "131660",
        "an alternative for all devices that fails half-way keeps what it had",
        &["an_alternative_that_fails_gives_everything_back"],
    ),
    (
        "138882",
        "All meets a device that consumes counters",
        &["counters_limit_how_many_devices_can_be_had"],
    ),
    (
        "134466",
        "slices for other nodes were left out when completeness was judged",
        &[
            "all_devices_of_a_pool_that_spans_nodes",
            "l4_completeness_over_the_whole_pool",
        ],
    ),
    (
        "131730",
        "searches without a solution explode",
        &["thirty_two_of_thirty_one", "a_shortage_over_several_claims"],
    ),
    (
        "140438",
        "distinctAttribute compares with the most recent device only",
        &["distinct_values_differ_from_all_others"],
    ),
    (
        "140434",
        "pools of one name of two drivers mix up their counters",
        &["counters_of_equal_pool_names_are_kept_apart_by_driver"],
    ),
    (
        "130043",
        "a count is taken from a pool that is being replaced",
        &["l3_exact_count_skips_incomplete_pools"],
    ),
    (
        "135036",
        "a newer generation that has only slices for other nodes is missed",
        &["l4_completeness_over_the_whole_pool"],
    ),
    (
        "141620",
        "a taint rule without a selector taints everything",
        &[
            "rules_select_nothing_everything_or_some",
            "taint_rules_apply_to_the_slices_of_drivers",
        ],
    ),
    (
        "134434",
        "tolerations are not copied into the result",
        &["tolerations_are_copied_into_results"],
    ),
    (
        "135184",
        "an expression that fails on one node of three: chance decides",
        &["an_error_on_one_node_of_three_is_the_same_in_every_order"],
    ),
    (
        "137607",
        "a search that takes too long makes the pod wait for an event",
        &[
            "a_search_that_takes_too_long_is_an_error_not_a_refusal",
            "an_error_is_retried_by_time_with_growing_pauses",
        ],
    ),
    (
        "127497",
        "the name of a generated claim in the pod's status wakes nobody",
        &["a_generated_claim_in_the_status_wakes_the_pod_and_other_status_does_not"],
    ),
    (
        "126807",
        "a driver that starts after the pod does not wake it",
        &["slices_help_every_pod_whose_claims_are_there"],
    ),
    (
        "140831",
        "the deletion of an allocated claim wakes nobody",
        &["a_deleted_claim_frees_its_devices_for_others_since_it_is_registered"],
    ),
    (
        "136269",
        "two claims get one device under rapid scheduling",
        &[
            "races_native_even_seeds",
            "t21_only_an_unallocated_claim_in_flight_holds_the_pod_back",
        ],
    ),
    (
        "139016",
        "a pod with one allocated claim fails in Score",
        &["claims_that_are_allocated_count_nothing_in_the_score"],
    ),
    (
        "kubernetes-sigs/karpenter#3102",
        "claims of one name in two namespaces are one",
        &["claims_of_one_name_in_two_namespaces"],
    ),
];

#[test]
fn every_public_fault_has_its_test() {
    let files = text_files();
    let names: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .flat_map(|file| file.text.lines().zip(file.text.lines().skip(1)))
        .filter(|(attribute, _)| attribute.trim() == "#[test]")
        .filter_map(|(_, line)| line.trim().strip_prefix("fn ")?.split('(').next())
        .collect();
    for (number, fault, tests) in FAULTS {
        let missing: Vec<_> = tests.iter().filter(|test| !names.contains(*test)).collect();
        assert!(
            !tests.is_empty() && missing.is_empty(),
            "{number} ({fault}): {missing:?}"
        );
    }
}

fn object(kind: &str, namespace: &str, name: &str, spec: Value) -> Value {
    let version = match kind {
        "Node" | "Pod" => "v1",
        _ => "resource.k8s.io/v1",
    };
    let metadata = match namespace {
        "" => json!({"name": name}),
        _ => json!({"name": name, "namespace": namespace}),
    };
    json!({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})
}

fn pod(namespace: &str, name: &str) -> Value {
    let claims = json!([{"name": "gpu", "resourceClaimName": "c"}]);
    object("Pod", namespace, name, json!({"resourceClaims": claims}))
}

fn claim(namespace: &str, selectors: Value) -> Value {
    let exactly = json!({"deviceClassName": "gpu", "selectors": selectors});
    let requests = json!([{"name": "r", "exactly": exactly}]);
    object(
        "ResourceClaim",
        namespace,
        "c",
        json!({"devices": {"requests": requests}}),
    )
}

/// A slice of one device for a node.
fn slice(node: &str, attributes: Value) -> Value {
    let spec = json!({"driver": "gpu.example.com", "nodeName": node,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0", "attributes": attributes}]});
    object("ResourceSlice", "", node, spec)
}

/// Verdict, node and message of each pod.
fn simulate(objects: &[Value]) -> Vec<[String; 3]> {
    let class = object("DeviceClass", "", "gpu", json!({}));
    let items: Vec<_> = [&class].into_iter().chain(objects).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    let finished = dractl_with(
        &["simulate", "-o", "json", "-"],
        list.to_string().into_bytes(),
    );
    let json = finished.json();
    let told = |pod: &Value| {
        ["verdict", "node", "message"]
            .map(|field| pod[field].as_str().unwrap_or_default().to_owned())
    };
    json["pods"]
        .as_array()
        .into_iter()
        .flatten()
        .map(told)
        .collect()
}

#[test]
fn an_error_on_one_node_of_three_is_the_same_in_every_order() {
    // The attribute is missing on the second node: an error there ends the attempt, although the third would do.
    let asked =
        json!([{"cel": {"expression": "device.attributes[\"gpu.example.com\"].size == 2"}}]);
    let sizes = [
        json!({"size": {"int": 1}}),
        json!({}),
        json!({"size": {"int": 2}}),
    ];
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let with = |order: [usize; 3], sizes: &[Value; 3]| {
        let mut objects = vec![claim("default", asked.clone()), pod("default", "p")];
        for index in order {
            let name = format!("n{index}");
            objects.push(slice(&name, sizes[index].clone()));
            objects.push(object("Node", "", &name, json!({})));
        }
        simulate(&objects).remove(0)
    };
    for order in orders {
        let [verdict, node, message] = with(order, &sizes);
        assert_eq!([verdict, node], ["error", ""], "{order:?}: {message}");
        let error = "claim default/c: selector #0: CEL runtime error: no such key: size";
        assert!(message.contains(error), "{order:?}: {message}");
    }
    // With the attribute everywhere the third node is found in every order.
    let mut complete = sizes;
    complete[1] = json!({"size": {"int": 3}});
    for order in orders {
        let [verdict, node, _] = with(order, &complete);
        assert_eq!([verdict, node], ["scheduled", "n2"], "{order:?}");
    }
}

#[test]
fn claims_of_one_name_in_two_namespaces() {
    let with = |devices: usize| {
        let mut objects = Vec::new();
        for index in 0..devices {
            let node = format!("n{index}");
            objects.push(object("Node", "", &node, json!({})));
            objects.push(slice(&node, json!({})));
        }
        for namespace in ["a", "b"] {
            objects.extend([claim(namespace, json!([])), pod(namespace, "p")]);
        }
        let pods = simulate(&objects);
        [pods[0][0].clone(), pods[1][0].clone()]
    };
    assert_eq!(with(2), ["scheduled", "scheduled"]);
    assert_eq!(with(1), ["scheduled", "unschedulable"]);
}
