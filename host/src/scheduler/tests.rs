//! The loop as a whole, against plugins that do as they are told.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::chooser::{OneAtATime, Shuffled};
use super::fake::*;
use super::outcome::Ended;
use super::*;
use crate::api::{Caller, Fault, Operation};
use crate::cluster::Settings as ClusterSettings;
use crate::cycle::Failure;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{
    ApiCall, ApiErrorReason, BindingCall, Code, InFlight, Interest, Scope, Services, Status,
};
use crate::queue::INITIAL_BACKOFF;

const SECOND: u64 = 1_000_000_000;

struct Bench {
    cluster: Arc<Mutex<Cluster>>,
    plugin: Rc<Fake>,
    scheduler: Scheduler,
}

fn bench(script: Script, objects: Vec<Object>) -> Bench {
    bench_with(Fake::new(script), objects, Settings::default())
}

fn bench_with(fake: Fake, objects: Vec<Object>, settings: Settings) -> Bench {
    let mut cluster = Cluster::new(ClusterSettings {
        start: 0,
        ..ClusterSettings::default()
    });
    cluster.load(objects);
    let cluster = Arc::new(Mutex::new(cluster));
    let plugin = Rc::new(fake);
    let scheduler = Scheduler::new(cluster.clone(), plugin.clone(), settings).unwrap();
    Bench {
        cluster,
        plugin,
        scheduler,
    }
}

impl Bench {
    fn run(&mut self) -> Vec<PodOutcome> {
        self.scheduler.run(&mut OneAtATime);
        self.scheduler.outcomes()
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// A write of somebody else.
    fn create(&self, object: Object) {
        let mut cluster = self.cluster();
        cluster
            .api()
            .call(Caller::Other, &ApiCall::Create { object })
            .unwrap();
    }
}

fn with(name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Object {
    let mut value = pod(name).value().clone();
    change(&mut value);
    object(value)
}

/// (name, node or point, attempts)
fn summary(outcomes: &[PodOutcome]) -> Vec<(String, String, u32)> {
    let line = |outcome: &PodOutcome| {
        let end = match &outcome.ended {
            Ended::Bound { node } => node.to_string(),
            Ended::Failed(failure) => failure.at.to_string(),
            Ended::Refused(status) => status.code.name().to_owned(),
            Ended::Open => "open".to_owned(),
        };
        (outcome.pod.id().name.to_string(), end, outcome.attempts)
    };
    outcomes.iter().map(line).collect()
}

fn expect(outcomes: &[PodOutcome], expected: &[(&str, &str, u32)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|&(a, b, n)| (a.to_owned(), b.to_owned(), n))
        .collect();
    assert_eq!(summary(outcomes), expected);
}

fn failure(outcome: &PodOutcome) -> &Failure {
    match &outcome.ended {
        Ended::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn refuse() -> Status {
    Status::new(
        Code::UnschedulableAndUnresolvable,
        "cannot allocate all claims",
    )
}

#[test]
fn every_pod_is_bound_before_the_next_begins() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), pod("b")]);
    expect(&bench.run(), &[("a", "n", 1), ("b", "n", 1)]);
    let calls: Vec<String> = bench
        .plugin
        .calls()
        .into_iter()
        .filter(|call| !call.starts_with("pre-enqueue"))
        .collect();
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
    let node_name = bench
        .cluster()
        .entry(&Kind::new("Pod"), "ns", "a")
        .unwrap()
        .object
        .text("/spec/nodeName")
        .unwrap()
        .to_owned();
    assert_eq!(node_name, "n");
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
    let begun: Vec<String> = bench
        .plugin
        .calls()
        .into_iter()
        .filter(|call| call.starts_with("pre-filter"))
        .collect();
    assert_eq!(begun, ["pre-filter b", "pre-filter a"]);
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
fn a_refused_pod_is_tried_once_when_nothing_changes() {
    let script = Script {
        filter: Box::new(|_| Ok(refuse())),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "Filter", 1)]);
    assert_eq!(bench.cluster().clock(), 0, "no time passes for nothing");
}

/// Pod b changed the cluster after a was refused. No event woke a, so the flush of the pool tries it once more.
#[test]
fn the_pool_is_flushed_if_something_changed_since_the_last_attempt() {
    let script = Script {
        filter: Box::new(|(pod, _)| {
            Ok(if &*pod.id().name == "a" {
                refuse()
            } else {
                Status::success()
            })
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a"), pod("b")]);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "Filter", 2), ("b", "n", 1)]);
    assert_eq!(outcomes[0].retries[0].retry.wake.why, "five minutes passed");
    assert_eq!(outcomes[0].retries[0].retry.at, 300 * SECOND);
}

#[test]
fn an_event_of_interest_wakes_after_backoff() {
    let mut filter_calls = 0;
    let script = Script {
        interests: vec![interest("Thing.example.com", false)],
        filter: Box::new(move |_| {
            filter_calls += 1;
            Ok(if filter_calls == 1 {
                refuse()
            } else {
                Status::success()
            })
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    expect(&bench.run(), &[("a", "Filter", 1)]);
    bench.create(thing("t"));
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "n", 2)]);
    assert_eq!(outcomes[0].retries[0].retry.wake.why, "Thing ns/t added");
    assert_eq!(outcomes[0].retries[0].retry.at, INITIAL_BACKOFF);
}

#[test]
fn an_error_is_tried_once_per_state_of_the_cluster() {
    let script = Script {
        filter: Box::new(|_| Ok(Status::new(Code::Error, "broken"))),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    expect(&bench.run(), &[("a", "Filter", 1)]);
    bench.create(thing("t"));
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "Filter", 2)]);
    assert_eq!(
        failure(&outcomes[0]).status.message(),
        "running \"Fake\" filter plugin: broken"
    );
}

/// Each attempt writes, takes it back and fails: the state repeats, so the retries end.
#[test]
fn an_error_that_leaves_the_cluster_as_it_was_is_not_repeated() {
    let script = Script {
        binding: Box::new(|call| match call {
            BindingCall::PreBind { .. } => {
                let create = Act::Call(ApiCall::Create { object: thing("t") });
                (vec![create], Ok(Status::new(Code::Error, "broken")))
            }
            _ => (
                vec![Act::Call(ApiCall::Delete {
                    target: ObjectRef {
                        uid: "".into(),
                        ..thing("t").id().clone()
                    },
                })],
                Ok(Status::success()),
            ),
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    expect(&bench.run(), &[("a", "PreBind", 1)]);
    let writes = bench
        .cluster()
        .stored()
        .journal()
        .filter(|call| call.took_effect)
        .count();
    assert_eq!(writes, 2);
}

/// Its own write woke the pod, but it waits for somebody else to act on it.
#[test]
fn a_pending_pod_is_not_tried_again_for_its_own_writes() {
    let script = Script {
        interests: vec![interest("Thing.example.com", false)],
        binding: Box::new(|call| match call {
            BindingCall::PreBind { .. } => (
                vec![Act::Call(ApiCall::Create { object: thing("t") })],
                Ok(Status::new(Code::Pending, "waiting for resource driver")),
            ),
            _ => (Vec::new(), Ok(Status::success())),
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    expect(&bench.run(), &[("a", "PreBind", 1)]);
    bench.create(thing("answer"));
    bench
        .plugin
        .change(|script| script.binding = Box::new(|_| (Vec::new(), Ok(Status::success()))));
    expect(&bench.run(), &[("a", "n", 2)]);
}

/// What PostFilter writes helps the pod itself.
#[test]
fn a_refused_pod_is_tried_again_for_its_own_writes() {
    for hinted in [false, true] {
        let script = Script {
            interests: vec![interest("Thing.example.com", hinted)],
            ..Script::default()
        };
        let mut bench = bench(script, vec![node("n"), pod("a")]);
        let cluster = bench.cluster.clone();
        let mut asked = false;
        bench.plugin.change(|script| {
            script.filter = Box::new(move |_| {
                let first = !std::mem::replace(&mut asked, true);
                Ok(if first { refuse() } else { Status::success() })
            });
            script.post_filter = Box::new(move |_| {
                lock(&cluster)
                    .call(ApiCall::Create { object: thing("t") })
                    .unwrap();
                Ok(Status::new(
                    Code::Unschedulable,
                    "deallocation of ResourceClaim completed",
                ))
            });
        });
        expect(&bench.run(), &[("a", "n", 2)]);
    }
}

#[test]
fn a_gated_pod_enters_when_its_gate_opens() {
    let script = Script {
        interests: vec![interest("Thing.example.com", false)],
        pre_enqueue: Box::new(|_| Ok(refuse())),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "PreEnqueue", 0)]);
    assert_eq!(outcomes[0].refusals[0].status, refuse());
    bench
        .plugin
        .change(|script| script.pre_enqueue = Box::new(|_| Ok(Status::success())));
    bench.create(thing("t"));
    expect(&bench.run(), &[("a", "n", 1)]);
}

#[test]
fn new_pods_are_taken_as_they_come() {
    let mut bench = bench(Script::default(), vec![node("n")]);
    expect(&bench.run(), &[]);
    bench.create(pod("late"));
    expect(&bench.run(), &[("late", "n", 1)]);
}

#[test]
fn a_new_node_is_visited() {
    let mut bench = bench(Script::default(), vec![pod("a")]);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "Filter", 1)]);
    assert_eq!(
        failure(&outcomes[0]).status.message(),
        "no nodes available to schedule pods"
    );
    bench.create(node("n"));
    expect(&bench.run(), &[("a", "n", 2)]);
}

#[test]
fn a_dead_instance_is_replaced_and_only_that_pod_fails() {
    let script = Script {
        filter: Box::new(|(pod, _)| {
            if &*pod.id().name == "a" {
                Err(trap("filter"))
            } else {
                Ok(Status::success())
            }
        }),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a"), pod("b")]);
    let outcomes = bench.run();
    // b changed the cluster, so a gets a second try.
    expect(&outcomes, &[("a", "Filter", 2), ("b", "n", 1)]);
    assert_eq!(
        failure(&outcomes[0]).status,
        Status::new(Code::Error, "plugin Fake 1: filter: unreachable")
    );
    assert_eq!(outcomes[0].refusals[0].count, 0);
    assert_eq!(
        bench
            .plugin
            .calls()
            .iter()
            .filter(|call| *call == "instance")
            .count(),
        2
    );
}

/// The plugin dies in Reserve after it had put something in flight, and in Unreserve too.
#[test]
fn nothing_stays_in_flight_after_two_deaths() {
    let script = Script {
        interests: vec![interest("Thing.example.com", false)],
        reserve: Box::new(|pod, _, services| {
            let thing = services
                .get(&Kind::new("Thing.example.com"), "ns", "t")
                .unwrap()
                .object;
            let entry = InFlight {
                target: thing.id().clone(),
                holder: pod.id().uid.to_string(),
                json: thing.bytes().clone(),
            };
            services.put_in_flight(&pod.id().uid, vec![entry]).unwrap();
            Err(trap("reserve"))
        }),
        binding: Box::new(|_| (Vec::new(), Err(trap("unreserve")))),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), thing("t"), pod("a")]);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "Reserve", 1)]);
    assert_eq!(bench.cluster().in_flight().count(), 0);
    assert_eq!(outcomes[0].warnings.len(), 2, "{:?}", outcomes[0].warnings);
}

#[test]
fn a_failed_bind_is_given_back_and_tried_again_if_the_cluster_changed() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), pod("b")]);
    let fault = Fault {
        operation: Some(Operation::Bind),
        kind: None,
        nth: 1,
        error: api_error(ApiErrorReason::Timeout, "no answer"),
        after_effect: false,
    };
    bench.cluster().api().inject(fault);
    let outcomes = bench.run();
    expect(&outcomes, &[("a", "n", 2), ("b", "n", 1)]);
    assert_eq!(
        outcomes[0].retries[0].retry.wake.why,
        "the last attempt ended in an error"
    );
    assert!(
        bench
            .plugin
            .calls()
            .contains(&"unreserve a plan of pre-bind".to_owned())
    );
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
    let mut cycles_first = |tasks: &[Task]| {
        tasks
            .iter()
            .position(|task| *task == Task::Cycle)
            .unwrap_or_default()
    };
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

/// Its binding fails, and nothing would ever let it succeed.
#[test]
fn a_pod_deleted_while_it_binds_is_forgotten() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a")]);
    bench.scheduler.step(&mut OneAtATime);
    let target = pod_id(&bench, "a");
    bench
        .cluster()
        .api()
        .call(Caller::Other, &ApiCall::Delete { target })
        .unwrap();
    assert_eq!(summary(&bench.run()), []);
    assert_eq!(bench.scheduler.queue.iter().count(), 0);
    let tries = bench.plugin.calls();
    let tries = tries.iter().filter(|call| *call == "pre-filter a").count();
    assert_eq!(tries, 1);
}

fn pod_id(bench: &Bench, name: &str) -> ObjectRef {
    let cluster = bench.cluster();
    let entry = cluster.entry(&Kind::new("Pod"), "ns", name).unwrap();
    entry.object.id().clone()
}

#[test]
fn a_pod_deleted_while_it_waits_is_forgotten() {
    let script = Script {
        filter: Box::new(|_| Ok(refuse())),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    bench.run();
    let target = pod_id(&bench, "a");
    bench
        .cluster()
        .api()
        .call(Caller::Other, &ApiCall::Delete { target })
        .unwrap();
    bench.run();
    assert_eq!(bench.scheduler.queue.iter().count(), 0);
}

fn node_with_one_cpu() -> Object {
    let mut value = node("n").value().clone();
    value["status"] = json!({"allocatable": {"cpu": "1", "pods": "10"}});
    object(value)
}

fn wants_one_cpu(name: &str) -> Object {
    with(name, |pod| {
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    })
}

#[test]
fn a_pod_takes_its_place_before_it_is_bound() {
    let mut bench = bench(
        Script::default(),
        vec![node_with_one_cpu(), wants_one_cpu("a"), wants_one_cpu("b")],
    );
    let mut cycles_first = |tasks: &[Task]| {
        tasks
            .iter()
            .position(|task| *task == Task::Cycle)
            .unwrap_or_default()
    };
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
fn a_failed_bind_makes_room_for_a_pod_that_waits_for_it() {
    let mut bench = bench(
        Script::default(),
        vec![node_with_one_cpu(), wants_one_cpu("a"), wants_one_cpu("b")],
    );
    // a fails for good: its bind is refused each time.
    for nth in 1..10 {
        bench.cluster().api().inject(Fault {
            operation: Some(Operation::Bind),
            kind: None,
            nth,
            error: api_error(ApiErrorReason::Timeout, "no answer"),
            after_effect: false,
        });
    }
    let mut cycles_first = |tasks: &[Task]| {
        tasks
            .iter()
            .position(|task| *task == Task::Cycle)
            .unwrap_or_default()
    };
    bench.scheduler.run(&mut cycles_first);
    let outcomes = bench.scheduler.outcomes();
    assert_eq!(outcomes[1].retries[0].retry.wake.why, "Pod ns/a deleted");
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

#[test]
fn priority_classes_decide_who_is_first() {
    let class = object(
        json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000}),
    );
    let high = with("b", |pod| pod["spec"]["priorityClassName"] = json!("high"));
    let mut bench = bench(Script::default(), vec![node("n"), pod("a"), high, class]);
    bench.run();
    let calls = bench.plugin.calls();
    let begun = calls.iter().filter(|call| call.starts_with("pre-filter"));
    assert_eq!(begun.collect::<Vec<_>>(), ["pre-filter b", "pre-filter a"]);
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
