//! Pods that an old version still has under way.

use super::*;

/// Never ends in this binding call.
fn stuck_in(name: &'static str) -> Script {
    Script {
        binding: Box::new(move |call| match call.name() {
            called if called == name => (vec![Act::Sleep(u64::MAX)], Ok(Status::success())),
            "pre-bind" => (Vec::new(), Ok(Status::new(Code::Error, "no"))),
            _ => (Vec::new(), Ok(Status::success())),
        }),
        ..reserving()
    }
}

#[test]
fn a_plan_is_never_given_to_another_version() {
    let mut bench = bench(first(), vec![node("n"), pod("a")], Policy::default());
    // One cycle, and nothing of its binding.
    bench.scheduler.step(&mut cycles_first);
    let second = first();
    bench.scheduler.swap(second.clone()).unwrap();
    bench.run();
    assert_eq!(bench.bound(), ["a"]);
    assert!(!second.calls().iter().any(|call| call.contains("bind")));
}

#[test]
fn what_an_old_version_does_not_finish_is_undone_by_it_and_done_by_the_new_one() {
    let old = version("1", stuck_in("pre-bind"));
    let mut bench = bench(
        old.clone(),
        vec![node("n"), thing("t"), pod("a")],
        Policy::default(),
    );
    let mut chooser = OneAtATime;
    bench.scheduler.step(&mut chooser);
    bench.scheduler.step(&mut chooser);
    assert_eq!(bench.in_flight(), 1);
    bench.scheduler.swap(version("2", reserving())).unwrap();
    bench.run();
    assert!(
        old.calls()
            .contains(&"unreserve a plan of reserve".to_owned())
    );
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.in_flight(), 0);
    assert!(bench.now() >= Policy::default().drain);
    let notices = bench.notices();
    assert!(
        notices.contains(&"expired 1 ns/a".to_owned()),
        "{notices:?}"
    );
}

#[test]
fn an_undoing_that_does_not_end_is_cut_off_and_the_host_cleans_up() {
    let old = version("1", stuck_in("unreserve"));
    let mut bench = bench(
        old.clone(),
        vec![node("n"), thing("t"), pod("a")],
        Policy::default(),
    );
    let mut chooser = OneAtATime;
    for _ in 0..3 {
        bench.scheduler.step(&mut chooser);
    }
    bench.scheduler.swap(version("2", reserving())).unwrap();
    bench.run();
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.in_flight(), 0);
    let undone = old
        .calls()
        .iter()
        .filter(|call| call.starts_with("unreserve"))
        .count();
    assert_eq!(undone, 2, "once, and once more on a fresh instance");
}

#[test]
fn fifty_swaps_leave_nothing_behind() {
    let policy = Policy {
        probation_cycles: 1,
        ..Policy::default()
    };
    let mut bench = bench(first(), vec![node("n")], policy);
    let mut versions = Vec::new();
    for number in 0..50 {
        let next = first();
        versions.push(Rc::downgrade(&next));
        bench.scheduler.swap(next).unwrap();
        bench.add(vec![pod(&format!("p{number}"))]);
    }
    bench.run();
    let alive = versions
        .iter()
        .filter(|version| version.strong_count() > 0)
        .count();
    assert_eq!(alive, 1);
    assert_eq!(bench.bound().len(), 50);
}
