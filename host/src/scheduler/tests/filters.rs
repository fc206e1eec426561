//! The filters of the host beside those of the plugin: what they count, and what they do not imitate.

use super::*;

#[test]
fn a_pod_takes_its_place_before_it_is_bound() {
    let mut bench = bench(
        Script::default(),
        vec![node_with_one_cpu(), wants_one_cpu("a"), wants_one_cpu("b")],
    );
    for _ in 0..2 {
        bench.scheduler.step(&mut cycles_first);
    }
    let outcomes = bench.scheduler.outcomes();
    expect(&outcomes, &[("a", "open", 1), ("b", "Filter", 1)]);
    let refusal = &outcomes[1].refusals[0];
    assert_eq!(
        (refusal.plugin.as_ref(), refusal.status.message().as_str()),
        ("NodeResourcesFit", "Insufficient cpu")
    );
}

#[test]
fn what_the_host_does_not_imitate_is_told_on_the_pod() {
    let low = with("low", |pod| {
        pod["spec"]["nodeName"] = json!("n");
        pod["spec"]["priority"] = json!(-1);
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    });
    let odd = with("odd", |pod| {
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
        pod["spec"]["priorityClassName"] = json!("unknown");
        pod["spec"]["topologySpreadConstraints"] =
            json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]);
    });
    let mut bench = bench(Script::default(), vec![node_with_one_cpu(), low, odd]);
    let outcomes = bench.run();
    expect(&outcomes, &[("odd", "Filter", 1)]);
    let warnings = &outcomes[0].warnings;
    for part in [
        "topologySpreadConstraints",
        "PriorityClass unknown",
        "preemption",
    ] {
        let found = warnings
            .iter()
            .filter(|warning| warning.contains(part))
            .count();
        assert_eq!(found, 1, "{part}: {warnings:?}");
    }
}

#[test]
fn a_pod_that_the_filters_cannot_read_is_an_input_error() {
    let odd = with("odd", |pod| {
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "lots"}});
    });
    let mut bench = bench(Script::default(), vec![node_with_one_cpu(), odd]);
    let outcomes = bench.run();
    expect(&outcomes, &[("odd", "PreFilter", 1)]);
    let failure = failure(&outcomes[0]);
    assert_eq!(failure.status.code, Code::InvalidObject);
    assert!(
        failure.status.message().contains("Pod ns/odd"),
        "{failure:?}"
    );
}

/// One node states example.com/a: a pod that wants more than there is gets refused, one that wants example.com/b does not.
#[test]
fn an_extended_resource_that_no_node_states_is_not_checked() {
    let wants = |name: &str, resource: &str| {
        with(name, |pod| {
            pod["spec"]["containers"][0]["resources"] =
                json!({"limits": {resource: 2}, "requests": {resource: 2}});
        })
    };
    let mut value = node("n").value().clone();
    value["status"] = json!({"allocatable": {"cpu": "1", "example.com/a": "1"}});
    let objects = vec![
        object(value),
        wants("a", "example.com/a"),
        wants("b", "example.com/b"),
    ];
    let mut bench = bench(Script::default(), objects);
    let outcomes = bench.run();
    assert_eq!(
        failure(&outcomes[0]).status.message(),
        "0/1 nodes are available: 1 Insufficient example.com/a. still not schedulable"
    );
    assert!(matches!(outcomes[1].ended, Ended::Bound { .. }));
    assert_eq!(
        outcomes[1].warnings,
        ["requests example.com/b, which no node in the input has: not checked"]
    );
    assert!(outcomes[0].warnings.is_empty());
}
