//! One version after the other that misbehaves in its own way is swapped in: what is told, and that the pods are placed all the
//! same.

use dractl::generations::SelfCheck;

use super::*;

/// How a bad version ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Not let in.
    Refused,
    /// Replaced by the one before when it failed.
    RolledBack,
}

/// What it does, how that ends, and a part of what is told about it.
const DEEDS: [(&str, End, &str); 39] = [
    (
        "pre-filter:trap",
        End::Refused,
        "trapped: wasm `unreachable`",
    ),
    ("pre-filter:loop", End::Refused, "ran past its deadline"),
    (
        "pre-filter:memory",
        End::Refused,
        "of memory, the limit is 32 MiB",
    ),
    ("pre-filter:recurse", End::Refused, "call stack exhausted"),
    (
        "pre-filter:null",
        End::Refused,
        "out of bounds memory access",
    ),
    ("pre-filter:host-calls", End::Refused, "calls of the host"),
    ("pre-filter:exit", End::Refused, "wasi:cli/exit"),
    ("pre-filter:giant-status", End::Refused, "bytes of statuses"),
    (
        "events-to-register:trap",
        End::Refused,
        "trapped: wasm `unreachable`",
    ),
    (
        "events-to-register:loop",
        End::Refused,
        "ran past its deadline",
    ),
    (
        "filter:trap",
        End::RolledBack,
        "trapped: wasm `unreachable`",
    ),
    ("filter:loop", End::RolledBack, "ran past its deadline"),
    (
        "filter:memory",
        End::RolledBack,
        "of memory, the limit is 32 MiB",
    ),
    ("filter:recurse", End::RolledBack, "call stack exhausted"),
    ("filter:panic", End::RolledBack, "on purpose"),
    (
        "filter:null",
        End::RolledBack,
        "out of bounds memory access",
    ),
    ("filter:host-calls", End::RolledBack, "calls of the host"),
    ("filter:giant-status", End::RolledBack, "bytes of statuses"),
    ("filter:miscount", End::RolledBack, "verdicts for"),
    ("filter:misindex", End::RolledBack, "status"),
    ("filter:bad-utf8", End::RolledBack, "utf-8"),
    ("filter:fuel", End::RolledBack, ""),
    ("filter:exit", End::RolledBack, "wasi:cli/exit"),
    ("filter:file", End::RolledBack, "wasi:filesystem/"),
    ("filter:time", End::RolledBack, "wasi:clocks/"),
    ("pre-bind:trap", End::RolledBack, "trapped"),
    ("pre-bind:loop", End::RolledBack, "ran past its deadline"),
    ("reserve:trap", End::RolledBack, "trapped"),
    ("reserve:loop", End::RolledBack, "ran past its deadline"),
    ("reserve:giant-plan", End::RolledBack, "bytes of plan"),
    ("unreserve:trap", End::RolledBack, "trapped"),
    ("pre-enqueue:trap", End::RolledBack, "trapped"),
    ("pre-score:trap", End::RolledBack, "trapped"),
    ("score:trap", End::RolledBack, "trapped"),
    ("score:miscount", End::RolledBack, "0 scores for 2"),
    (
        "filter:refuse,post-filter:trap",
        End::RolledBack,
        "trapped: wasm `unreachable`",
    ),
    ("end-cycle:trap", End::Refused, "trapped"),
    // Not yet when it is loaded, but where there is a cluster.
    ("start:trap", End::Refused, "configure: trapped"),
    ("start:loop", End::Refused, "configure: ran past"),
];

fn impatient() -> Limits {
    Limits {
        start_milliseconds: 500,
        ..tight()
    }
}

const PODS: [(&str, &str); 2] = [("a", "one"), ("b", "one")];

#[test]
fn whatever_a_version_does_it_is_told_and_the_pods_get_their_nodes() {
    let plugin = real(&json!({}));
    for (deed, end, told) in DEEDS {
        let bad = misbehaving(deed, impatient());
        let mut bench = Bench::new(&plugin, objects(&[]), Policy::default());
        let swapped = bench.scheduler.swap(Rc::new(bad.clone()));
        assert_eq!(swapped.is_err(), end == End::Refused, "{deed}");
        bench.add(&PODS);
        bench.run();
        let notices = bench.scheduler.take_notices();
        let fitting = notices.iter().find(|notice| match end {
            End::Refused => matches!(notice, Notice::Refused { .. }),
            End::RolledBack => matches!(notice, Notice::RolledBack { .. }),
        });
        let text = fitting
            .unwrap_or_else(|| panic!("{deed}: {notices:?}"))
            .to_string();
        assert!(text.contains(told), "{deed}: {text}");
        assert!(text.contains("misbehaving 1.2.3"), "{deed}: {text}");
        assert_eq!(bench.bound(), PODS.len(), "{deed}: {:?}", bench.places());
        assert_eq!(bench.scheduler.active().number, 1, "{deed}");
        bench.assert_in_order(deed);
        assert_eq!(bad.live_instances(), 0, "{deed}");
    }
}

#[test]
fn a_trial_beside_the_active_version_finds_a_bad_one_before_a_pod_meets_it() {
    let plugin = real(&json!({}));
    let check = SelfCheck {
        cycles: 3,
        ..SelfCheck::default()
    };
    for (deed, end, _) in DEEDS {
        // What happens before PreFilter and behind Reserve is not tried beforehand.
        let aside = ["bind:", "unreserve:", "pre-enqueue:"];
        if end == End::Refused || aside.iter().any(|call| deed.contains(call)) {
            continue;
        }
        let bad = misbehaving(deed, tight());
        let mut bench = Bench::new(&plugin, objects(&[]), Policy::default());
        // It leaves out no call that the real one serves, but `score` and the like differ.
        let accept = SelfCheck {
            accept_changes: true,
            ..check
        };
        let proposed = bench.scheduler.propose(Rc::new(bad), accept);
        assert!(proposed.is_ok(), "{deed}");
        bench.add(&PODS);
        bench.run();
        let outcomes = bench.scheduler.outcomes();
        assert!(
            outcomes.iter().all(|outcome| outcome.attempts == 1),
            "{deed}: no pod pays for it"
        );
        assert_eq!(bench.scheduler.active().number, 1, "{deed}");
        assert_eq!(bench.bound(), PODS.len(), "{deed}");
        bench.assert_in_order(deed);
    }
}

#[test]
fn a_version_that_lets_everything_pass_is_refused_for_its_decisions() {
    let plugin = real(&json!({}));
    let mut bench = Bench::new(&plugin, objects(&[]), Policy::default());
    let check = SelfCheck {
        cycles: 3,
        ..SelfCheck::default()
    };
    let lax = real(&json!({"allocatorSteps": 1}));
    bench.scheduler.propose(Rc::new(lax), check).unwrap();
    bench.add(&[("a", "two"), ("b", "two")]);
    bench.run();
    let text = bench.refusal();
    assert!(text.contains("it decides otherwise: Pod soak/a:"), "{text}");
    assert_eq!(bench.bound(), 2);
}
