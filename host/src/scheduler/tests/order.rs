//! Which pod is next and on which node: priorities, choosers, the rotating start, a swap in between.

use super::*;
use crate::scheduler::chooser::Shuffled;

#[test]
fn every_pod_is_bound_before_the_next_begins() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), pod("b")]);
    expect(&bench.run(), &[("a", "n", 1), ("b", "n", 1)]);
    let mut calls = bench.plugin.calls();
    calls.retain(|call| !call.starts_with("pre-enqueue"));
    let of = |pod: &str| {
        [
            format!("pre-filter {pod}"),
            "filter [0]".into(),
            "reserve 0".into(),
            "end-cycle".into(),
            format!("pre-bind {pod} plan of reserve"),
            format!("post-bind {pod} plan of pre-bind"),
        ]
    };
    assert_eq!(
        calls,
        [vec!["instance".into()], of("a").to_vec(), of("b").to_vec()].concat()
    );
    assert_eq!(bench.pod("a").text("/spec/nodeName"), Some("n"));
    assert_eq!(
        bench.scheduler.counts(),
        Counts {
            cycles: 2,
            nodes_visited: 2,
            bound: 2
        }
    );
}

#[test]
fn priorities_decide_who_is_first_and_the_report_keeps_the_input_order() {
    let high = with("b", |pod| pod["spec"]["priority"] = json!(10));
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), high]);
    expect(&bench.run(), &[("a", "n", 1), ("b", "n", 1)]);
    assert_eq!(bench.begun(), ["pre-filter b", "pre-filter a"]);
}

#[test]
fn priority_classes_decide_who_is_first() {
    let class = object(
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000}),
    );
    let high = with("b", |pod| pod["spec"]["priorityClassName"] = json!("high"));
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), high, class]);
    bench.run();
    assert_eq!(bench.begun(), ["pre-filter b", "pre-filter a"]);
}

#[test]
fn pods_that_are_not_this_schedulers_business() {
    let objects = vec![
        node("n"),
        with("bound", |pod| pod["spec"]["nodeName"] = json!("n")),
        with("done", |pod| pod["status"] = json!({"phase": "Succeeded"})),
        with("other", |pod| {
            pod["spec"]["schedulerName"] = json!("volcano")
        }),
        with("gated", |pod| {
            pod["spec"]["schedulingGates"] = json!([{"name": "x"}, {"name": "y"}])
        }),
        pod("broken"),
    ];
    let input_errors = [("ns/broken".to_owned(), "ResourceClaim ns/c: no".to_owned())].into();
    let settings = Settings {
        input_errors,
        ..Settings::default()
    };
    let mut bench = bench_with(Fake::new(Script::default()), objects, settings);
    let outcomes = bench.run();
    expect(
        &outcomes,
        &[
            ("other", "unschedulable", 0),
            ("gated", "PreEnqueue", 0),
            ("broken", "invalid-object", 0),
        ],
    );
    assert_eq!(
        failure(&outcomes[1]).status.message(),
        "waiting for scheduling gates: [x y]"
    );
}

#[test]
fn new_pods_are_taken_as_they_come() {
    let mut bench = bench(Script::default(), vec![node("n")]);
    expect(&bench.run(), &[]);
    bench.create(pod("late"));
    expect(&bench.run(), &[("late", "n", 1)]);
}

#[test]
fn sleeping_moves_the_clock_before_the_next_pod() {
    let script = Script {
        binding: Box::new(|call| match call {
            BindingCall::PreBind { .. } => (vec![Act::Sleep(10_000_000)], Ok(Status::success())),
            _ => (Vec::new(), Ok(Status::success())),
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a"), pod("b")]);
    expect(&bench.run(), &[("a", "n", 1), ("b", "n", 1)]);
    assert_eq!(bench.cluster().clock(), 20_000_000);
}

/// Pod b's cycle runs while a is suspended in PreBind.
#[test]
fn a_chooser_can_put_a_cycle_between_the_steps_of_a_binding() {
    let script = Script {
        binding: Box::new(|_| (vec![Act::State(Box::new(|_| {}))], Ok(Status::success()))),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a"), pod("b")]);
    bench.scheduler.run(&mut cycles_first);
    expect(&bench.scheduler.outcomes(), &[("a", "n", 1), ("b", "n", 1)]);
    let calls = bench.plugin.calls();
    let position = |wanted: &str| {
        calls
            .iter()
            .position(|call| call.starts_with(wanted))
            .unwrap()
    };
    assert!(position("reserve") < position("pre-filter b"));
    assert!(position("pre-filter b") < position("pre-bind a"));
}

#[test]
fn any_order_places_all_pods_and_repeats_from_its_seed() {
    let run = |seed| {
        let mut failing = 3;
        let script = Script {
            filter: Box::new(move |_| {
                failing -= 1;
                Ok(if failing >= 0 {
                    refuse()
                } else {
                    Status::success()
                })
            }),
            binding: Box::new(|_| {
                (
                    vec![Act::Sleep(1_000), Act::State(Box::new(|_| {}))],
                    Ok(Status::success()),
                )
            }),
            interests: vec![Interest {
                kind: Kind::new("Pod"),
                ..interest("Pod", false)
            }],
            ..Script::default()
        };
        let mut bench = bench(
            script,
            vec![node("n"), pod("a"), pod("b"), pod("c"), pod("d"), pod("e")],
        );
        bench.scheduler.run(&mut Shuffled::new(seed));
        let outcomes = bench.scheduler.outcomes();
        assert!(
            outcomes
                .iter()
                .all(|outcome| matches!(outcome.ended, Ended::Bound { .. })),
            "seed {seed}"
        );
        bench.plugin.calls()
    };
    let orders: std::collections::BTreeSet<Vec<String>> = (0..20).map(run).collect();
    assert!(orders.len() > 5, "the seed makes no difference");
    assert_eq!(run(7), run(7));
}

#[test]
fn first_feasible_rotates_over_the_nodes() {
    let objects = vec![
        node("n1"),
        node("n2"),
        node("n3"),
        pod("a"),
        pod("b"),
        pod("c"),
        pod("d"),
    ];
    let settings = Settings {
        strategy: Strategy::FirstFeasible,
        ..Settings::default()
    };
    let mut bench = bench_with(Fake::new(Script::default()), objects, settings);
    expect(
        &bench.run(),
        &[
            ("a", "n1", 1),
            ("b", "n2", 1),
            ("c", "n3", 1),
            ("d", "n1", 1),
        ],
    );
}

#[test]
fn a_swap_takes_effect_with_the_next_cycle_and_bindings_keep_their_version() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), pod("b")]);
    let first = bench.plugin.clone();
    let second = Rc::new(Fake::new(Script {
        scope: Box::new(|_| Ok(Scope::Skip)),
        ..Script::default()
    }));
    bench.scheduler.step(&mut OneAtATime);
    bench.scheduler.swap(second.clone()).unwrap();
    expect(&bench.run(), &[("a", "n", 1), ("b", "n", 1)]);
    assert!(
        first
            .calls()
            .contains(&"post-bind a plan of pre-bind".to_owned())
    );
    assert!(!first.calls().contains(&"pre-filter b".to_owned()));
    assert!(second.calls().contains(&"pre-filter b".to_owned()));
    assert!(
        !second
            .calls()
            .contains(&"pre-bind a plan of reserve".to_owned())
    );
}
