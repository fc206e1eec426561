//! The trial of a version before it serves.

use super::*;

#[test]
fn a_version_that_answers_alike_serves_after_its_cycles_and_wrote_nothing_before() {
    let mut bench = bench(
        version("1", reserving()),
        vec![node("n"), thing("t")],
        Policy::default(),
    );
    let second = version("2", reserving());
    bench.scheduler.propose(second.clone(), check(2)).unwrap();
    bench.add(vec![pod("a")]);
    assert!(second.calls().contains(&"reserve 0".to_owned()));
    assert_eq!(bench.notices(), ["checking 2"]);
    assert_eq!(bench.in_flight(), 0);
    bench.add(vec![pod("b")]);
    assert_eq!(bench.notices(), ["switched 1 2"]);
    assert_eq!(bench.scheduler.active().plugin, "Fake 2");
    // Its bindings were the old one's business so far.
    assert!(
        !second
            .calls()
            .iter()
            .any(|call| call.starts_with("pre-bind"))
    );
    bench.add(vec![pod("c")]);
    assert!(
        second
            .calls()
            .contains(&"pre-bind c plan of reserve".to_owned())
    );
    assert_eq!(bench.bound(), ["a", "b", "c"]);
    assert_eq!(bench.in_flight(), 0);
}

#[test]
fn a_version_that_decides_otherwise_is_refused_unless_that_is_wanted() {
    for (script, how) in [
        (refusing(), "instead of a place on n"),
        (
            Script {
                scope: Box::new(|_| Ok(Scope::Skip)),
                ..Script::default()
            },
            "",
        ),
        (reserving(), "allocates"),
    ] {
        let (mut accept, mut refuse) = (Vec::new(), Vec::new());
        let shared = version("2", script);
        for (accept_changes, told) in [(false, &mut refuse), (true, &mut accept)] {
            let objects = vec![node("n"), thing("t")];
            let mut bench = bench(first(), objects, Policy::default());
            let wanted = SelfCheck {
                accept_changes,
                ..check(1)
            };
            bench.scheduler.propose(shared.clone(), wanted).unwrap();
            bench.add(vec![pod("a")]);
            assert_eq!(bench.bound(), ["a"]);
            *told = bench.scheduler.take_notices();
        }
        let words = |notices: &[Notice]| notices.iter().map(word).collect::<Vec<_>>();
        if how.is_empty() {
            // The same decision by another way is no difference.
            assert_eq!(words(&refuse), ["checking 2", "switched 1 2"]);
            continue;
        }
        assert_eq!(words(&refuse), ["checking 2", "differs 2", "refused 2"]);
        assert!(refuse[1].to_string().contains(how), "{}", refuse[1]);
        assert_eq!(words(&accept), ["checking 2", "differs 2", "switched 1 2"]);
    }
}

#[test]
fn a_version_that_fails_in_its_trial_is_refused_and_costs_no_pod() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench
        .scheduler
        .propose(version("2", dying()), check(5))
        .unwrap();
    bench.add(vec![pod("a")]);
    assert_eq!(bench.notices(), ["checking 2", "refused 2"]);
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.scheduler.outcomes()[0].attempts, 1);
}

#[test]
fn a_quiet_cluster_does_not_keep_a_version_out() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench.scheduler.propose(first(), check(5)).unwrap();
    bench.wait(SelfCheck::default().longest - 1);
    assert_eq!(bench.notices(), ["checking 2"]);
    bench.wait(1);
    assert_eq!(bench.notices(), ["switched 1 2"]);
}

#[test]
fn a_version_that_cannot_start_or_serves_less_changes_nothing() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    let broken = version(
        "2",
        Script {
            scope: Box::new(|_| Err(trap("pre-filter"))),
            ..Script::default()
        },
    );
    let error = bench.scheduler.swap(broken).unwrap_err();
    assert_eq!(error, trap("pre-filter"));
    let mut lesser = Fake::new(Script::default());
    lesser.description.points.retain(|point| point != "reserve");
    let error = bench
        .scheduler
        .propose(Rc::new(lesser), check(1))
        .unwrap_err();
    assert_eq!(
        error.cause,
        "it leaves out reserve, which the active version serves"
    );
    assert_eq!(bench.notices(), ["refused 2", "refused 3"]);
    assert_eq!(bench.scheduler.active().number, 1);
    bench.add(vec![pod("a")]);
    assert_eq!(bench.bound(), ["a"]);
}
