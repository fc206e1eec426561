//! When a pod that got no node is tried again, and when not.

use super::*;
use crate::queue::INITIAL_BACKOFF;

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
