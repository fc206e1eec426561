//! Versions that fail while they serve: back to the old one, or a rest.

use super::*;

#[test]
fn a_failure_on_probation_brings_the_old_version_back_and_the_pod_gets_its_node() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench.scheduler.swap(version("2", dying())).unwrap();
    bench.add(vec![pod("a")]);
    assert_eq!(
        bench.notices(),
        ["switched 1 2", "failed 2", "rolled back 2 1", "freed 2"]
    );
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.scheduler.outcomes()[0].attempts, 2);
}

#[test]
fn a_version_that_has_proved_itself_stays_and_the_old_one_is_freed() {
    let policy = Policy {
        probation_cycles: 2,
        ..Policy::default()
    };
    let mut bench = bench(first(), vec![node("n")], policy);
    let dies_for_c = Script {
        filter: Box::new(|(pod, _)| match pod.id().name.as_ref() {
            "c" => Err(trap("filter")),
            _ => Ok(Status::success()),
        }),
        ..Script::default()
    };
    bench.scheduler.swap(version("2", dies_for_c)).unwrap();
    bench.add(vec![pod("a"), pod("b")]);
    assert_eq!(bench.notices(), ["switched 1 2", "freed 1"]);
    bench.add(vec![pod("c"), pod("d")]);
    // Twice, since d changed the cluster.
    assert_eq!(bench.notices(), ["failed 2", "failed 2"]);
    assert_eq!(bench.bound(), ["a", "b", "d"]);
}

#[test]
fn many_failures_in_a_row_are_followed_by_rests_that_double() {
    let policy = Policy {
        restarts: 2,
        first_rest: SECOND,
        longest_rest: 3 * SECOND,
        ..Policy::default()
    };
    let dies_for_most = Script {
        filter: Box::new(|(pod, _)| match pod.id().name.as_ref() {
            "f" => Ok(Status::success()),
            _ => Err(trap("filter")),
        }),
        ..Script::default()
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut objects = vec![node("n")];
    objects.extend(names.map(pod));
    let mut bench = bench(version("1", dies_for_most), objects, policy);
    bench.run();
    let resting: Vec<String> = bench
        .notices()
        .into_iter()
        .filter(|notice| notice.starts_with("resting"))
        .collect();
    // Two failures are free; then 1 s, 2 s, and 3 s instead of 4.
    let rests = [SECOND, 3 * SECOND, 6 * SECOND].map(|until| format!("resting 1 {until}"));
    assert_eq!(resting[..3], rests);
    assert_eq!(bench.bound(), ["f"]);
}

#[test]
fn a_plugin_that_rests_is_not_started_for_gates_and_hints_either() {
    let policy = Policy {
        restarts: 1,
        first_rest: SECOND,
        longest_rest: SECOND,
        ..Policy::default()
    };
    let dies_at_the_gate = Script {
        pre_enqueue: Box::new(|pod| match pod.id().name.as_ref() {
            "z" => Ok(Status::success()),
            _ => Err(trap("pre-enqueue")),
        }),
        interests: vec![crate::plugin::Interest {
            kind: thing("t").id().kind.clone(),
            actions: vec![crate::plugin::Action::Add],
            hinted: true,
        }],
        ..Script::default()
    };
    let plugin = version("1", dies_at_the_gate);
    let instances = |plugin: &Fake| {
        let calls = plugin.calls();
        calls.iter().filter(|call| *call == "instance").count()
    };
    let mut bench = bench(plugin.clone(), vec![node("n")], policy);
    // One to ask for events; one failure is free, and with the second the rest begins.
    bench
        .cluster
        .lock()
        .unwrap()
        .load(["a", "b", "c", "z"].map(pod).into());
    let mut none = |_: &[Task]| 0;
    bench.scheduler.step(&mut none);
    assert_eq!(bench.now(), SECOND, "it waited for the end of the rest");
    // `c` was asked then, and killed the third.
    assert_eq!(instances(&plugin), 3);
    // Events and more pods start nothing.
    bench
        .cluster
        .lock()
        .unwrap()
        .load(vec![thing("t"), pod("d")]);
    let before = instances(&plugin);
    bench.scheduler.step(&mut none);
    assert!(instances(&plugin) <= before + 1, "{:?}", plugin.calls());
    bench.run();
    // One start for each that kills it, one after the other, and the last pod gets its node.
    assert_eq!(bench.bound(), ["z"]);
    assert!(instances(&plugin) <= 10, "{:?}", plugin.calls());
    let told = bench.scheduler.outcomes();
    assert!(told.len() == 5, "{told:?}");
    let notices = bench.scheduler.take_notices();
    let resting = notices
        .iter()
        .find(|notice| matches!(notice, Notice::Resting { .. }));
    assert_eq!(
        resting.map(ToString::to_string).as_deref(),
        Some("generation 1 (Fake 1) failed too often, no pod is tried for 1 s")
    );
}
