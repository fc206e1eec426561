//! Plugins that die, binds that fail, pods that are deleted on their way: nothing of them stays.

use super::*;

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
    bench.lose_bind(1);
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
fn a_failed_bind_makes_room_for_a_pod_that_waits_for_it() {
    let mut bench = bench(
        Script::default(),
        vec![node_with_one_cpu(), wants_one_cpu("a"), wants_one_cpu("b")],
    );
    // a fails for good: its bind is refused each time.
    for nth in 1..10 {
        bench.lose_bind(nth);
    }
    bench.scheduler.run(&mut cycles_first);
    let outcomes = bench.scheduler.outcomes();
    assert_eq!(outcomes[1].retries[0].retry.wake.why, "Pod ns/a deleted");
}

/// Its binding fails, and nothing would ever let it succeed.
#[test]
fn a_pod_deleted_while_it_binds_is_forgotten() {
    let mut bench = bench(Script::default(), vec![node("n"), pod("a")]);
    bench.scheduler.step(&mut OneAtATime);
    bench.delete("a");
    assert_eq!(summary(&bench.run()), []);
    assert_eq!(bench.scheduler.queue.iter().count(), 0);
    assert_eq!(bench.begun(), ["pre-filter a"]);
}

#[test]
fn a_pod_deleted_while_it_waits_is_forgotten() {
    let script = Script {
        filter: Box::new(|_| Ok(refuse())),
        ..Script::default()
    };
    let mut bench = bench(script, vec![node("n"), pod("a")]);
    bench.run();
    bench.delete("a");
    bench.run();
    assert_eq!(bench.scheduler.queue.iter().count(), 0);
}
