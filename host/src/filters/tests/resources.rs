//! Requests of pods against what nodes have.

use super::*;

#[test]
fn requests_against_allocatable() {
    let allocatable = json!({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "10Gi", "pods": "3", "example.com/gpu": "2"});
    let node = node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": allocatable}),
    );
    for (requests, expected) in [
        (
            json!({"cpu": "4", "memory": "8Gi", "ephemeral-storage": "10Gi", "example.com/gpu": 2}),
            "",
        ),
        (
            json!({"cpu": "4001m"}),
            "NodeResourcesFit: Insufficient cpu",
        ),
        (
            json!({"cpu": "4.0000001"}),
            "NodeResourcesFit: Insufficient cpu",
        ),
        (
            json!({"memory": "8193Mi"}),
            "NodeResourcesFit: Insufficient memory",
        ),
        (
            json!({"ephemeral-storage": "11Gi"}),
            "NodeResourcesFit: Insufficient ephemeral-storage",
        ),
        (
            json!({"example.com/gpu": "3"}),
            "NodeResourcesFit: Insufficient example.com/gpu",
        ),
        (
            json!({"example.com/fpga": "1"}),
            "NodeResourcesFit: Insufficient example.com/fpga",
        ),
        (json!({"example.com/fpga": "0"}), ""),
        (
            json!({"hugepages-2Mi": "4Mi"}),
            "NodeResourcesFit: Insufficient hugepages-2Mi",
        ),
        (json!({"storage": "4Mi", "pods": "99"}), ""),
        (
            json!({"cpu": "9e18", "memory": "99Ei", "example.com/gpu": 9}),
            "NodeResourcesFit: Insufficient cpu, Insufficient memory, Insufficient example.com/gpu",
        ),
    ] {
        check(
            &node,
            &json!({"containers": [container(&requests)]}),
            expected,
        );
    }
    let two = json!({"containers": [container(&json!({"cpu": "3"})), container(&json!({"cpu": "1001m"}))]});
    check(&node, &two, "NodeResourcesFit: Insufficient cpu");
    // Half a thousandth each is one in sum.
    let halves = json!({"containers": [container(&json!({"cpu": "3999500u"})), container(&json!({"cpu": "500u"}))]});
    check(&node, &halves, "");
}

#[test]
fn what_a_node_does_not_state_is_not_checked() {
    let huge = json!({"containers": [container(&json!({"cpu": "1k", "memory": "1Pi", "example.com/gpu": 1}))]});
    check(&node("n", json!({}), json!({}), json!({})), &huge, "");
    check(
        &node("n", json!({}), json!({}), json!({"allocatable": {}})),
        &huge,
        "",
    );
    let gpu = json!({"allocatable": {"example.com/gpu": "1"}});
    check(&node("n", json!({}), json!({}), gpu), &huge, "");
    let capacity = json!({"capacity": {"cpu": "1"}});
    let refused = "NodeResourcesFit: Insufficient cpu, Insufficient example.com/gpu";
    check(&node("n", json!({}), json!({}), capacity), &huge, refused);
}

#[test]
fn requests_of_a_pod_are_summed_as_upstream_does() {
    let init = |cpu: &str, sidecar: bool| {
        let mut container = container(&json!({"cpu": cpu}));
        if sidecar {
            container["restartPolicy"] = json!("Always");
        }
        container
    };
    let cpu = |spec: &Value| {
        // The smallest node with room for it, in thousandths.
        (0..20_000)
            .find(|milli| {
                let status = json!({"allocatable": {"cpu": format!("{milli}m")}});
                verdict(
                    &with_node(&node("n", json!({}), json!({}), status)),
                    &pod("p", spec.clone()),
                )
                .is_empty()
            })
            .unwrap_or_default()
    };
    let main = json!([
        container(&json!({"cpu": "100m"})),
        container(&json!({"cpu": "200m"}))
    ]);
    // max(100 + 200, 250)
    assert_eq!(
        cpu(&json!({"containers": main, "initContainers": [init("250m", false)]})),
        300
    );
    // max(300, 350)
    assert_eq!(
        cpu(
            &json!({"containers": main, "initContainers": [init("350m", false), init("10m", false)]})
        ),
        350
    );
    // 300 + 50 for the sidecar; max(350, 350 before it, 50 + 10 after it)
    let inits = json!([init("350m", false), init("50m", true), init("10m", false)]);
    assert_eq!(
        cpu(&json!({"containers": main, "initContainers": inits})),
        350
    );
    // max(300 + 50, 50 + 400)
    assert_eq!(
        cpu(
            &json!({"containers": main, "initContainers": [init("50m", true), init("400m", false)]})
        ),
        450
    );
    // 300 + 7
    assert_eq!(
        cpu(&json!({"containers": main, "overhead": {"cpu": "7m"}})),
        307
    );
    // A limit alone is a request; beside a request it is not.
    assert_eq!(
        cpu(&json!({"containers": [{"resources": {"limits": {"cpu": "5m"}}}]})),
        5
    );
    assert_eq!(
        cpu(
            &json!({"containers": [{"resources": {"limits": {"cpu": "5m"}, "requests": {"cpu": "3m"}}}]})
        ),
        3
    );
    // For the pod as a whole, plus overhead.
    let whole = json!({"containers": main, "resources": {"requests": {"cpu": "500m"}}, "overhead": {"cpu": "1m"}});
    assert_eq!(cpu(&whole), 501);
}

#[test]
fn pods_on_a_node_use_its_resources() {
    let allocatable = json!({"cpu": "4", "example.com/gpu": "2", "pods": "3"});
    let mut filters = with_node(&node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": allocatable}),
    ));
    let wanted = pod(
        "w",
        json!({"containers": [container(&json!({"cpu": "2", "example.com/gpu": 1}))]}),
    );
    put(&mut filters, &placed("a", "Running", "3"));
    assert_eq!(
        verdict(&filters, &wanted),
        "NodeResourcesFit: Insufficient cpu"
    );
    // An update replaces.
    put(&mut filters, &placed("a", "Running", "1"));
    assert_eq!(verdict(&filters, &wanted), "");
    put(&mut filters, &placed("b", "Pending", "1"));
    assert_eq!(
        verdict(&filters, &wanted),
        "NodeResourcesFit: Insufficient example.com/gpu"
    );
    put(&mut filters, &placed("b", "Succeeded", "1"));
    assert_eq!(verdict(&filters, &wanted), "");
    put(&mut filters, &placed("c", "Failed", "1"));
    assert_eq!(verdict(&filters, &wanted), "");
    filters
        .put_pod_on(&pod("d", json!({})), "n")
        .expect("a good pod");
    filters
        .put_pod_on(&pod("e", json!({})), "n")
        .expect("a good pod");
    assert_eq!(
        verdict(&filters, &wanted),
        "NodeResourcesFit: Too many pods"
    );
    filters.remove_pod(pod("d", json!({})).id());
    filters.remove_pod(pod("d", json!({})).id());
    assert_eq!(verdict(&filters, &wanted), "");
}

#[test]
fn pods_may_come_before_their_node_and_outlive_it() {
    let node = node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": {"cpu": "4"}}),
    );
    let wanted = pod(
        "w",
        json!({"containers": [container(&json!({"cpu": "2"}))]}),
    );
    let mut filters = Filters::new();
    put(&mut filters, &placed("a", "Running", "3"));
    filters.put_node(7, &node).expect("a good node");
    let requirements = filters.prepare(&wanted).expect("a good pod");
    assert!(filters.check(&requirements, 7).is_err());
    assert_eq!(
        filters.check(&requirements, 3).map_err(|no| no.reason),
        Err("node 3 is gone".to_owned())
    );
    filters.remove_node(7);
    assert_eq!(
        filters.check(&requirements, 7).map_err(|no| no.reason),
        Err("node 7 is gone".to_owned())
    );
    filters.put_node(2, &node).expect("a good node");
    assert!(filters.check(&requirements, 2).is_err());
    filters.remove_pod(placed("a", "", "1").id());
    assert_eq!(filters.check(&requirements, 2), Ok(()));
}

#[test]
fn codes_tell_whether_removing_pods_could_help() {
    let allocatable = json!({"cpu": "4"});
    let mut filters = with_node(&node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": allocatable}),
    ));
    put(&mut filters, &placed("a", "Running", "3"));
    let code = |cpu: &str| {
        let wanted = pod(
            "w",
            json!({"containers": [container(&json!({"cpu": cpu}))]}),
        );
        let requirements = filters.prepare(&wanted).expect("a good pod");
        filters.check(&requirements, 0).map_err(|no| no.code)
    };
    assert_eq!(code("1"), Ok(()));
    assert_eq!(code("2"), Err(Code::Unschedulable));
    assert_eq!(code("5"), Err(Code::UnschedulableAndUnresolvable));
}

#[test]
fn extended_resources_that_no_node_states_are_not_checked() {
    let stating = |name: &str, resource: &str| {
        let status = json!({"allocatable": {"cpu": "4", resource: "1"}});
        node(name, json!({}), json!({}), status)
    };
    let wanted =
        json!({"cpu": "1", "a.example.com/x": 1, "b.example.com/x": 2, "hugepages-2Mi": "2Mi"});
    let wanted = pod("p", json!({"containers": [container(&wanted)]}));
    let mut filters = Filters::new();
    filters.put_node(0, &stating("n", "hugepages-2Mi")).unwrap();
    assert_eq!(
        filters.not_checked(&wanted),
        ["a.example.com/x", "b.example.com/x"]
    );
    // The kernel's own are checked: 2 MB are more than the node's one byte.
    let huge = "NodeResourcesFit: Insufficient hugepages-2Mi";
    assert_eq!(verdict(&filters, &wanted), huge);
    let two = stating("n", "b.example.com/x");
    for slot in [1, 2] {
        filters.put_node(slot, &two).unwrap();
    }
    assert_eq!(filters.not_checked(&wanted), ["a.example.com/x"]);
    let both = "NodeResourcesFit: Insufficient b.example.com/x, Insufficient hugepages-2Mi";
    assert_eq!(verdict(&filters, &wanted), both);
    filters.remove_node(1);
    assert_eq!(filters.not_checked(&wanted).len(), 1);
    filters.put_node(2, &stating("n", "other/x")).unwrap();
    assert_eq!(filters.not_checked(&wanted).len(), 2);
    assert_eq!(verdict(&filters, &wanted), huge);
}
