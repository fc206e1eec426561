//! Scheduling cycles against a plugin that does as it is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::cluster::{Cluster, Settings};
use crate::plugin::{Plugin, SchedulingInstance};
use crate::scheduler::fake::{Fake, Script, plan_of, pod, trap};

/// Native filters that refuse the named nodes.
struct Refuse(BTreeMap<&'static str, (&'static str, &'static str)>);

impl NodeCheck for Refuse {
    fn check(&self, node: &Node) -> Option<(Arc<str>, Status)> {
        let (plugin, reason) = self.0.get(node.name.as_ref())?;
        Some(((*plugin).into(), Status::new(Code::Unschedulable, *reason)))
    }
}

struct Bench {
    plugin: Fake,
    instance: Box<dyn SchedulingInstance>,
    nodes: Vec<Node>,
    native: Refuse,
    strategy: Strategy,
    start: usize,
}

fn bench(script: Script, nodes: &[&str]) -> Bench {
    with_plugin(Fake::new(script), nodes)
}

/// Slots are 10, 11, ... so that they are not mistaken for indices.
fn with_plugin(plugin: Fake, nodes: &[&str]) -> Bench {
    let services = Arc::new(Mutex::new(Cluster::new(Settings::default())));
    let instance = plugin.scheduling(services).unwrap();
    plugin.take_calls();
    let nodes = nodes
        .iter()
        .zip(10..)
        .map(|(&name, slot)| Node {
            slot,
            name: name.into(),
        })
        .collect();
    Bench {
        plugin,
        instance,
        nodes,
        native: Refuse(BTreeMap::new()),
        strategy: Strategy::AllNodes,
        start: 0,
    }
}

impl Bench {
    fn run(&mut self) -> Attempt {
        let input = Input {
            pod: &pod("p"),
            at: 1,
            nodes: &self.nodes,
            native: &self.native,
            strategy: self.strategy,
            start: self.start,
            names: 20,
        };
        schedule(self.instance.as_mut(), self.plugin.description(), &input)
    }

    fn calls(&self) -> Vec<String> {
        self.plugin.calls()
    }
}

fn failure(attempt: &Attempt) -> &Failure {
    match &attempt.outcome {
        Outcome::Failed { failure, .. } => failure,
        Outcome::Reserved { node, .. } => panic!("reserved {node}"),
    }
}

fn reserved(attempt: &Attempt) -> &str {
    match &attempt.outcome {
        Outcome::Reserved { node, .. } => node,
        Outcome::Failed { failure, .. } => panic!("failed: {failure:?}"),
    }
}

fn refusing(code: Code, reason: &'static str) -> Script {
    Script {
        filter: Box::new(move |_| Ok(Status::new(code, reason))),
        ..Script::default()
    }
}

fn rejectors(failure: &Failure) -> Vec<&str> {
    failure
        .rejection
        .rejectors
        .iter()
        .map(AsRef::as_ref)
        .collect()
}

#[test]
fn the_first_by_name_of_the_feasible_nodes_is_reserved() {
    let mut bench = bench(Script::default(), &["b", "a"]);
    let attempt = bench.run();
    assert_eq!(reserved(&attempt), "a");
    assert_eq!(
        bench.calls(),
        [
            "pre-filter p",
            "filter [10, 11]",
            "pre-score [10, 11]",
            "reserve 11",
            "end-cycle"
        ]
    );
    assert_eq!((attempt.visited, attempt.feasible.len()), (2, 2));
    let plan = Some(plan_of("plan of reserve"));
    assert_eq!(
        attempt.outcome,
        Outcome::Reserved {
            node: "a".into(),
            plan
        }
    );
}

#[test]
fn one_feasible_node_is_not_scored() {
    let script = Script {
        filter: Box::new(|(_, slot)| {
            Ok(match slot {
                10 => Status::new(Code::UnschedulableAndUnresolvable, "full"),
                _ => Status::success(),
            })
        }),
        ..Script::default()
    };
    let mut bench = bench(script, &["a", "b"]);
    assert_eq!(reserved(&bench.run()), "b");
    assert_eq!(
        bench.calls(),
        ["pre-filter p", "filter [10, 11]", "reserve 11", "end-cycle"]
    );
}

/// 7, 7 and -1 become 100, 100 and 0: the name decides between the first two.
#[test]
fn the_highest_score_wins_then_the_name() {
    let script = Script {
        score: Box::new(|(_, slot)| match slot {
            10 => -1,
            _ => 7,
        }),
        ..Script::default()
    };
    let mut bench = with_plugin(Fake::new(script).with_point("score"), &["a", "c", "b"]);
    assert_eq!(reserved(&bench.run()), "b");
}

/// (i64::MIN .. i64::MAX) must not overflow when it is brought to 0..100.
#[test]
fn extreme_scores_are_compared() {
    let script = Script {
        score: Box::new(|(_, slot)| if *slot == 10 { i64::MIN } else { i64::MAX }),
        ..Script::default()
    };
    let mut bench = with_plugin(Fake::new(script).with_point("score"), &["a", "b"]);
    assert_eq!(reserved(&bench.run()), "b");
}

#[test]
fn a_skipping_pre_score_skips_score() {
    let script = Script {
        pre_score: Box::new(|_| Ok(Status::new(Code::Skip, ""))),
        ..Script::default()
    };
    let mut bench = with_plugin(Fake::new(script).with_point("score"), &["a", "b"]);
    assert_eq!(reserved(&bench.run()), "a");
    assert!(!bench.calls().iter().any(|call| call.starts_with("score")));
}

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
    let script = || Script {
        filter: Box::new(|(_, slot)| {
            Ok(match slot {
                10 => Status::new(
                    Code::InvalidObject,
                    "ResourceSlice s: spec.devices: not a list",
                ),
                11 => Status::new(Code::Unschedulable, "busy"),
                _ => Status::success(),
            })
        }),
        ..Script::default()
    };
    assert_eq!(
        failure(&bench(script(), &["a", "b"]).run()).status.code,
        Code::InvalidObject
    );
    assert_eq!(reserved(&bench(script(), &["a", "b", "c"]).run()), "c");
}

#[test]
fn the_first_error_in_node_order_aborts_the_cycle() {
    let script = Script {
        filter: Box::new(|(_, slot)| {
            Ok(match slot {
                10 => Status::new(Code::Unschedulable, "busy"),
                11 => Status::new(Code::Error, "first"),
                _ => Status::new(Code::Error, "second"),
            })
        }),
        ..Script::default()
    };
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
fn pre_filter_outcomes() {
    let with = |scope: Scope| Script {
        scope: Box::new(move |_| Ok(scope.clone())),
        ..Script::default()
    };
    let mut skip = bench(with(Scope::Skip), &["a"]);
    assert_eq!(reserved(&skip.run()), "a");
    assert_eq!(skip.calls(), ["pre-filter p", "reserve 10", "end-cycle"]);

    let mut only = bench(with(Scope::Only(vec![11, 99])), &["a", "b"]);
    let attempt = only.run();
    assert_eq!((reserved(&attempt), attempt.visited), ("b", 1));

    let mut none = bench(with(Scope::Only(vec![])), &["a"]);
    let attempt = none.run();
    assert_eq!(rejectors(failure(&attempt)), ["Fake"]);

    let status = Status::new(Code::UnschedulableAndUnresolvable, "no class");
    let mut rejected = bench(with(Scope::Rejected(status)), &["a"]);
    let attempt = rejected.run();
    assert_eq!(
        rejected.calls(),
        ["pre-filter p", "post-filter", "end-cycle"]
    );
    assert_eq!(
        (failure(&attempt).at, attempt.visited),
        (Point::PreFilter, 0)
    );
    assert_eq!(
        failure(&attempt).status.message(),
        "no class. still not schedulable"
    );
    assert_eq!(attempt.refusals.sorted()[0].status.message(), "no class");

    let mut aborted = bench(
        with(Scope::Rejected(Status::new(Code::Error, "broken"))),
        &["a"],
    );
    let attempt = aborted.run();
    assert_eq!(aborted.calls(), ["pre-filter p", "end-cycle"]);
    assert_eq!(
        failure(&attempt).status.message(),
        "running PreFilter plugin \"Fake\": broken"
    );
}

#[test]
fn a_failing_post_filter_leaves_the_pod_unschedulable() {
    let script = Script {
        post_filter: Box::new(|_| Ok(Status::new(Code::Error, "conflict"))),
        ..refusing(Code::Unschedulable, "busy")
    };
    let attempt = bench(script, &["a"]).run();
    assert_eq!(
        failure(&attempt).status,
        Status::new(
            Code::Unschedulable,
            "0/1 nodes are available: 1 busy. conflict"
        )
    );
    assert_eq!(rejectors(failure(&attempt)), ["Fake"]);
}

#[test]
fn a_failed_reserve_is_undone_with_its_plan() {
    for (code, pending, message) in [
        (Code::Unschedulable, false, "no"),
        (Code::Pending, true, "no"),
        (Code::Error, false, "running Reserve plugin \"Fake\": no"),
    ] {
        let reserve = Box::new(move |_: &_, _, _: &mut dyn crate::plugin::Services| {
            Ok(Status::new(code, "no"))
        });
        let attempt = bench(
            Script {
                reserve,
                ..Script::default()
            },
            &["a"],
        )
        .run();
        let Outcome::Failed { failure, undo } = &attempt.outcome else {
            panic!("reserved")
        };
        assert_eq!(
            *undo,
            Some(Undo {
                node: "a".into(),
                plan: Some(plan_of("plan of reserve"))
            })
        );
        assert_eq!(
            (failure.at, failure.status.message().as_str()),
            (Point::Reserve, message)
        );
        assert_eq!(!failure.rejection.pending.is_empty(), pending);
        assert_eq!(
            failure.rejection.rejectors.is_empty(),
            code != Code::Unschedulable
        );
    }
}

#[test]
fn a_trap_is_an_error_of_the_pod_and_ends_the_instance() {
    let dies = |at: &'static str| {
        let mut script = Script::default();
        match at {
            "pre-filter" => script.scope = Box::new(move |_| Err(trap(at))),
            "filter" => script.filter = Box::new(move |_| Err(trap(at))),
            _ => script.reserve = Box::new(move |_, _, _| Err(trap(at))),
        }
        script
    };
    for (call, point) in [
        ("pre-filter", Point::PreFilter),
        ("filter", Point::Filter),
        ("reserve", Point::Reserve),
    ] {
        let mut bench = bench(dies(call), &["a"]);
        let attempt = bench.run();
        assert_eq!(attempt.died, Some(trap(call)));
        assert_eq!(
            (failure(&attempt).at, failure(&attempt).status.code),
            (point, Code::Error)
        );
        assert_eq!(
            failure(&attempt).status.message(),
            format!("plugin Fake 1: {call}: unreachable")
        );
        assert!(!bench.calls().contains(&"end-cycle".to_owned()));
    }
    let mut in_reserve = bench(dies("reserve"), &["a"]);
    let Outcome::Failed { undo, .. } = in_reserve.run().outcome else {
        panic!("reserved")
    };
    assert_eq!(
        undo,
        Some(Undo {
            node: "a".into(),
            plan: None
        })
    );
}

/// Batches grow 4, 8, 16: node 5 is in the second one.
#[test]
fn the_first_feasible_node_is_taken_from_a_rotating_start() {
    let script = Script {
        filter: Box::new(|(_, slot)| {
            Ok(match slot % 5 {
                0 => Status::success(),
                _ => Status::new(Code::Unschedulable, "busy"),
            })
        }),
        ..Script::default()
    };
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let mut bench = bench(script, &names);
    bench.strategy = Strategy::FirstFeasible;
    bench.start = 1;
    let attempt = bench.run();
    assert_eq!((reserved(&attempt), attempt.visited), ("f", 5));
    assert_eq!(Strategy::FirstFeasible.next_start(1, 5, 7), 6);
    bench.start = 6;
    let attempt = bench.run();
    assert_eq!((reserved(&attempt), attempt.visited), ("a", 2));
    assert_eq!(Strategy::FirstFeasible.next_start(6, 2, 7), 1);
}

#[test]
fn an_error_behind_the_first_feasible_node_is_not_met() {
    let script = Script {
        filter: Box::new(|(_, slot)| {
            Ok(match slot {
                10 => Status::success(),
                _ => Status::new(Code::Error, "broken"),
            })
        }),
        ..Script::default()
    };
    let mut bench = bench(script, &["a", "b"]);
    bench.strategy = Strategy::FirstFeasible;
    assert_eq!(reserved(&bench.run()), "a");
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
