//! Not one attempt too many or too few, and none too early: each test fails if a pause, its start or its end shifts.

use super::*;

const TENTH: Time = SECOND / 10;

fn things() -> Vec<Interest> {
    vec![plain("Thing.example.com", &[Action::Add])]
}

impl Bench {
    /// Lets time pass up to `until`, flushing whenever something is due, and pops and refuses whatever becomes active. Returns
    /// when each attempt began.
    fn attempts_until(&mut self, until: Time, rejection: &Rejection) -> Vec<(String, f64)> {
        let mut attempts = Vec::new();
        loop {
            while let Some(name) = self.pop() {
                attempts.push((name.clone(), self.now as f64 / SECOND as f64));
                self.fail(&name, rejection.clone());
            }
            match self.queue.next_flush(&always) {
                Some(due) if due <= until => {
                    self.now = due;
                    self.queue.flush(due, &always, &mut self.advisor);
                }
                _ => break,
            }
        }
        self.now = until;
        attempts
    }

    fn times_until(&mut self, until: Time, rejection: &Rejection) -> Vec<f64> {
        let attempts = self.attempts_until(until, rejection);
        attempts.into_iter().map(|(_, at)| at).collect()
    }
}

/// 1, 2, 4, 8, 10 and 10 s after the failures before: an attempt of an error takes no time here.
#[test]
fn errors_over_a_minute() {
    let mut bench = bench(things());
    bench.add("a", 0);
    let times = bench.times_until(46 * SECOND, &Rejection::default());
    assert_eq!(times, [0.0, 1.0, 3.0, 7.0, 15.0, 25.0, 35.0, 45.0]);
}

/// The pool is left 300 s after each refusal, however often that was.
#[test]
fn refusals_over_twenty_minutes() {
    let mut bench = bench(things());
    bench.add("a", 0);
    let times = bench.times_until(1_200 * SECOND - 1, &by("P"));
    assert_eq!(times, [0.0, 300.0, 600.0, 900.0]);
}

/// An event wakes once. It neither shortens nor renews a pause that an event before began.
#[test]
fn a_shower_of_events_makes_one_attempt() {
    let mut bench = bench(things());
    bench.refuse("a", by("P"));
    for tenth in 1..=9 {
        bench.now = tenth * TENTH;
        bench.event(thing("t"));
    }
    assert_eq!(bench.times_until(4 * SECOND, &by("P")), [1.0]);
    assert_eq!(bench.why("a"), ["Thing ns/t added"]);
    // Two attempts are over, so the pause is 2 s from the second one: over by now.
    bench.event(thing("u"));
    assert_eq!(bench.times_until(5 * SECOND, &by("P")), [4.0]);
    // Three: 4 s from 4 s on.
    bench.event(thing("v"));
    assert_eq!(bench.times_until(299 * SECOND, &by("P")), [8.0]);
}

/// One nanosecond before the end of the pause it still counts; at the end it does not.
#[test]
fn the_end_of_a_pause_is_exact() {
    for (at, due) in [(SECOND - 1, Some(SECOND)), (SECOND, None)] {
        let mut bench = bench(things());
        bench.refuse("a", by("P"));
        bench.now = at;
        bench.event(thing("t"));
        match due {
            None => assert_eq!(bench.pop().as_deref(), Some("a")),
            due => {
                assert_eq!(bench.pop(), None);
                assert_eq!(bench.queue.next_flush(&always), due);
            }
        }
    }
}

/// Each attempt begins with a clean slate: only who refused last can be helped.
#[test]
fn who_refused_before_is_forgotten() {
    let mut bench = bench(things());
    bench.refuse("a", by("P"));
    bench.now = SECOND;
    bench.event(thing("t"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
    bench.fail("a", by("Q"));
    bench.now = 100 * SECOND;
    bench.event(thing("u"));
    assert_eq!(bench.times_until(400 * SECOND, &by("Q")), [301.0]);
}

/// `Pending` of Reserve is forgotten likewise; of PreBind it is an ordinary refusal (spec section 2.3).
#[test]
fn a_pending_plugin_skips_the_pause_once() {
    let mut bench = bench(things());
    bench.refuse("a", pending("P"));
    bench.now = TENTH;
    bench.event(thing("t"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
    bench.fail("a", by("P"));
    bench.now = 2 * TENTH;
    bench.event(thing("u"));
    // 2 s after the second refusal, at 0.1 s.
    assert_eq!(bench.times_until(3 * SECOND, &by("P")), [2.1]);
}

/// A pod that waits out its pause is not looked at again, not even for a plugin whose events skip the pause.
#[test]
fn a_pending_plugin_does_not_shorten_a_pause_under_way() {
    let mut interests = Interests::new();
    interests.register("P", things());
    interests.register("Q", vec![plain("Node", &[Action::Add])]);
    let mut bench = bench(vec![]);
    bench.queue.set_interests(interests);
    let both = Rejection {
        rejectors: ["Q".into()].into(),
        pending: ["P".into()].into(),
    };
    bench.refuse("a", both);
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    bench.event(Object::from_value(node).unwrap());
    bench.event(thing("t"));
    assert_eq!((bench.pop(), bench.due()), (None, Some(1.0)));
}

/// A gate that opens lets the pod in at once, whatever its last attempt was; a gate is no attempt.
#[test]
fn a_gate_knows_no_pause_and_counts_no_attempt() {
    let mut bench = bench(things());
    bench.refuse("a", by("P"));
    bench.advisor.gated = vec!["a"];
    bench.event(thing("t"));
    // PreEnqueue runs when the pause is over, and refuses.
    assert_eq!(bench.times_until(2 * SECOND, &by("P")), [0.0; 0]);
    bench.event(thing("u"));
    assert_eq!(bench.pop(), None);
    bench.advisor.gated.clear();
    bench.event(thing("v"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
    assert_eq!(bench.queue.get("uid-a").unwrap().attempts, 2);
    bench.fail("a", Rejection::default());
    assert_eq!(bench.due(), Some(2.0));
}

/// A hint that says no keeps the pod where it is, until one says yes or the pool is flushed.
#[test]
fn hints_decide_about_each_event() {
    let mut bench = bench(vec![interest("Thing.example.com", true)]);
    bench.advisor.skips = vec!["a"];
    bench.refuse("a", by("P"));
    bench.refuse("b", by("P"));
    bench.now = TENTH;
    bench.event(thing("t"));
    bench.event(thing("u"));
    // a would have been asked twice if b had been: b waits out its pause already.
    assert_eq!(
        bench.advisor.asked,
        ["P Thing ns/t added a b", "P Thing ns/u added a"]
    );
    let attempts = bench.attempts_until(300 * SECOND, &by("P"));
    assert_eq!(attempts, [("b".to_owned(), 1.0), ("a".to_owned(), 300.0)]);
}

/// Priority first, then input order, among pods that become active at the same time.
#[test]
fn those_due_at_once_come_by_priority() {
    let mut bench = bench(things());
    for (name, priority) in [("low", 0), ("high", 5), ("low-too", 0)] {
        bench.add(name, priority);
    }
    let attempts = bench.attempts_until(SECOND, &Rejection::default());
    let names: Vec<&str> = attempts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["high", "low", "low-too", "high", "low", "low-too"]);
}

/// Kubelets report every few seconds: only what a scheduler reads of a node counts.
#[test]
fn a_node_s_heartbeat_wakes_nobody() {
    let node = |status: serde_json::Value| {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status});
        Object::from_value(node).unwrap()
    };
    let beat = |at: &str, ready: &str| {
        let ready = json!({"type": "Ready", "status": ready, "lastHeartbeatTime": at});
        json!({"allocatable": {"cpu": "1"}, "images": [at], "conditions": [ready]})
    };
    let mut more = beat("2", "True");
    more["allocatable"]["cpu"] = "2".into();
    for (status, wakes) in [
        (beat("2", "True"), false),
        (beat("2", "False"), true),
        (more, true),
    ] {
        let mut bench = bench(vec![plain("Node", &[Action::Add, Action::Update])]);
        bench.refuse("a", by("P"));
        bench.now = SECOND;
        let event = ObjectEvent {
            kind: Kind::new("Node"),
            action: Action::Update,
            old: Some(node(beat("1", "True"))),
            new: Some(node(status)),
        };
        bench.queue.on_event(&event, bench.now, &mut bench.advisor);
        assert_eq!(bench.pop().is_some(), wakes);
    }
}
