//! What the pod is told when no node is left: the sentence, its code, and who refused.

use super::*;

#[test]
fn native_filters_come_first_and_their_nodes_are_not_asked_about() {
    let mut bench = bench(
        refusing(
            Code::UnschedulableAndUnresolvable,
            "cannot allocate all claims",
        ),
        &["a", "b", "c"],
    );
    bench
        .native
        .0
        .insert("b", ("NodeResourcesFit", "Insufficient cpu"));
    let attempt = bench.run();
    assert_eq!(
        bench.calls(),
        [
            "pre-filter p",
            "filter [10, 12]",
            "post-filter",
            "end-cycle"
        ]
    );
    let failure = failure(&attempt);
    assert_eq!(
        failure.status.message(),
        "0/3 nodes are available: 2 cannot allocate all claims, 1 Insufficient cpu. still not schedulable"
    );
    assert_eq!(
        (failure.at, failure.status.code),
        (Point::Filter, Code::Unschedulable)
    );
    assert_eq!(rejectors(failure), ["Fake", "NodeResourcesFit"]);
    let refusals = attempt.refusals.sorted();
    assert_eq!((refusals[0].count, refusals[0].nodes.len()), (2, 2));
    assert_eq!(
        (refusals[1].plugin.as_ref(), refusals[1].nodes[0].as_ref()),
        ("NodeResourcesFit", "b")
    );
}

#[test]
fn the_code_says_whether_removing_pods_could_help() {
    let code = |script| failure(&bench(script, &["a"]).run()).status.code;
    assert_eq!(
        code(refusing(Code::Unschedulable, "x")),
        Code::Unschedulable
    );
    assert_eq!(
        code(refusing(Code::UnschedulableAndUnresolvable, "x")),
        Code::UnschedulableAndUnresolvable
    );
}

#[test]
fn an_invalid_object_decides_only_if_no_node_is_left() {
    let script = || {
        filtering(|slot| match slot {
            10 => Status::new(
                Code::InvalidObject,
                "ResourceSlice s: spec.devices: not a list",
            ),
            11 => Status::new(Code::Unschedulable, "busy"),
            _ => Status::success(),
        })
    };
    assert_eq!(
        failure(&bench(script(), &["a", "b"]).run()).status.code,
        Code::InvalidObject
    );
    assert_eq!(reserved(&bench(script(), &["a", "b", "c"]).run()), "c");
}

#[test]
fn the_first_error_in_node_order_aborts_the_cycle() {
    let script = filtering(|slot| match slot {
        10 => Status::new(Code::Unschedulable, "busy"),
        11 => Status::new(Code::Error, "first"),
        _ => Status::new(Code::Error, "second"),
    });
    let mut bench = bench(script, &["a", "b", "c"]);
    let attempt = bench.run();
    let failure = failure(&attempt);
    assert_eq!(
        (failure.at, failure.status.code),
        (Point::Filter, Code::Error)
    );
    assert_eq!(
        failure.status.message(),
        "running \"Fake\" filter plugin: first"
    );
    assert_eq!(failure.rejection, Rejection::default());
    assert_eq!(
        bench.calls(),
        ["pre-filter p", "filter [10, 11, 12]", "end-cycle"]
    );
    assert_eq!(attempt.refusals.sorted()[0].nodes, ["b".into()]);
}

#[test]
fn only_some_names_are_kept_but_all_nodes_are_counted() {
    let mut refusals = Refusals::new(2);
    let status = Status::new(Code::Unschedulable, "busy");
    for node in ["a", "b", "c"] {
        refusals.add("P", &status, &node.into());
    }
    let sorted = refusals.sorted();
    assert_eq!((sorted[0].count, sorted[0].nodes.len()), (3, 2));
}

/// Each text of a status is counted apart, as for a node that lacks both CPU and memory.
#[test]
fn the_sentence_counts_each_text() {
    let mut refusals = Refusals::new(2);
    let both = Status {
        code: Code::Unschedulable,
        reasons: vec!["Insufficient cpu".into(), "Insufficient memory".into()],
    };
    refusals.add("P", &both, &"a".into());
    refusals.add(
        "P",
        &Status::new(Code::Unschedulable, "Insufficient memory"),
        &"b".into(),
    );
    assert_eq!(
        refusals.sentence(2),
        "0/2 nodes are available: 2 Insufficient memory, 1 Insufficient cpu"
    );
}

#[test]
fn without_nodes_the_plugin_is_not_asked() {
    let mut bench = bench(Script::default(), &[]);
    let attempt = bench.run();
    assert_eq!(
        failure(&attempt).status.message(),
        "no nodes available to schedule pods"
    );
    assert!(bench.calls().is_empty());
}
