//! Which of the feasible nodes is reserved.

use super::*;

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
    let script = filtering(|slot| match slot {
        10 => Status::new(Code::UnschedulableAndUnresolvable, "full"),
        _ => Status::success(),
    });
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

/// Batches grow 4, 8, 16: node 5 is in the second one.
#[test]
fn the_first_feasible_node_is_taken_from_a_rotating_start() {
    let script = filtering(|slot| match slot % 5 {
        0 => Status::success(),
        _ => Status::new(Code::Unschedulable, "busy"),
    });
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
    let script = filtering(|slot| match slot {
        10 => Status::success(),
        _ => Status::new(Code::Error, "broken"),
    });
    let mut bench = bench(script, &["a", "b"]);
    bench.strategy = Strategy::FirstFeasible;
    assert_eq!(reserved(&bench.run()), "a");
}
