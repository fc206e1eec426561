//! The scheduling queue: order, pauses, events and hints.

mod exact;

use super::interests::{Interests, plain};
use super::*;
use crate::object::Kind;
use crate::plugin::{Code, Interest, Status};
use crate::scheduler::fake::{added, interest, pod, thing};
use serde_json::json;

/// Plugins whose answers the test sets.
struct Answers {
    gated: Vec<&'static str>,
    skips: Vec<&'static str>,
    asked: Vec<String>,
}

impl Advisor for Answers {
    fn pre_enqueue(&mut self, pod: &Object) -> Result<(), Gate> {
        match self.gated.contains(&pod.id().name.as_ref()) {
            true => Err(Gate {
                ask_at: None,
                plugin: "P".into(),
                status: Status::new(Code::UnschedulableAndUnresolvable, "gated"),
            }),
            false => Ok(()),
        }
    }

    fn hints(&mut self, plugin: &str, event: &ObjectEvent, pods: &[Object]) -> Vec<Hint> {
        let names: Vec<&str> = pods.iter().map(|pod| pod.id().name.as_ref()).collect();
        self.asked.push(format!(
            "{plugin} {} {}",
            Wake::event(event).why,
            names.join(" ")
        ));
        names
            .iter()
            .map(|name| {
                if self.skips.contains(name) {
                    Hint::Skip
                } else {
                    Hint::Queue
                }
            })
            .collect()
    }
}

struct Bench {
    queue: Queue,
    advisor: Answers,
    now: Time,
}

fn bench(interests: Vec<Interest>) -> Bench {
    let mut registered = Interests::new();
    registered.register("P", interests);
    let advisor = Answers {
        gated: Vec::new(),
        skips: Vec::new(),
        asked: Vec::new(),
    };
    Bench {
        queue: Queue::new(registered),
        advisor,
        now: 0,
    }
}

fn always(_: &QueuedPod, _: Held) -> bool {
    true
}

fn by(plugin: &str) -> Rejection {
    Rejection {
        rejectors: [plugin.into()].into(),
        ..Rejection::default()
    }
}

fn pending(plugin: &str) -> Rejection {
    Rejection {
        pending: [plugin.into()].into(),
        ..Rejection::default()
    }
}

impl Bench {
    fn add(&mut self, name: &str, priority: i64) {
        self.queue
            .add(pod(name), priority, self.now, &mut self.advisor);
    }

    fn pop(&mut self) -> Option<String> {
        self.queue
            .pop(self.now)
            .map(|queued| queued.pod.id().name.to_string())
    }

    fn fail(&mut self, name: &str, rejection: Rejection) {
        self.queue.failed(
            &format!("uid-{name}"),
            rejection,
            self.now,
            &mut self.advisor,
        );
    }

    /// Adds, pops and fails one pod.
    fn refuse(&mut self, name: &str, rejection: Rejection) {
        self.add(name, 0);
        assert_eq!(self.pop().as_deref(), Some(name));
        self.fail(name, rejection);
    }

    fn event(&mut self, object: Object) {
        self.queue
            .on_event(&added(object), self.now, &mut self.advisor);
    }

    /// Seconds until something is due.
    fn due(&self) -> Option<f64> {
        self.queue
            .next_flush(&always)
            .map(|due| (due - self.now) as f64 / SECOND as f64)
    }

    /// Lets the time pass that `due` tells, and pops.
    fn pop_when_due(&mut self) -> Option<String> {
        self.now = self.queue.next_flush(&always)?;
        self.queue.flush(self.now, &always, &mut self.advisor);
        self.pop()
    }

    fn why(&self, name: &str) -> Vec<String> {
        let queued = self.queue.get(&format!("uid-{name}")).unwrap();
        queued
            .retry
            .iter()
            .map(|retry| retry.wake.why.clone())
            .collect()
    }
}

#[test]
fn pods_come_by_priority_then_in_input_order() {
    let mut bench = bench(vec![]);
    for (name, priority) in [("a", 0), ("b", 10), ("c", -5), ("d", 10)] {
        bench.add(name, priority);
    }
    let order: Vec<_> = std::iter::from_fn(|| bench.pop()).collect();
    assert_eq!(order, ["b", "d", "a", "c"]);
}

/// 1 s, doubling, at most 10 s.
#[test]
fn an_error_is_retried_by_time_with_growing_pauses() {
    let mut bench = bench(vec![]);
    bench.add("a", 0);
    bench.pop();
    for seconds in [1.0, 2.0, 4.0, 8.0, 10.0, 10.0] {
        bench.fail("a", Rejection::default());
        assert_eq!(bench.due(), Some(seconds));
        assert_eq!(bench.pop_when_due().as_deref(), Some("a"));
    }
    assert_eq!(bench.queue.get("uid-a").unwrap().attempts, 7);
    assert_eq!(bench.why("a")[0], "the last attempt ended in an error");
}

#[test]
fn a_refused_pod_waits_five_minutes_for_an_event() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.refuse("a", by("P"));
    assert_eq!(bench.due(), Some(300.0));
    assert_eq!(bench.pop_when_due().as_deref(), Some("a"));
    assert_eq!(bench.why("a"), ["five minutes passed"]);
}

#[test]
fn an_event_wakes_after_the_backoff() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.refuse("a", by("P"));
    bench.now = SECOND / 4;
    bench.event(thing("t"));
    assert_eq!(bench.pop(), None);
    assert_eq!(bench.due(), Some(0.75));
    assert_eq!(bench.pop_when_due().as_deref(), Some("a"));
    assert_eq!(bench.why("a"), ["Thing ns/t added"]);
}

#[test]
fn an_event_wakes_at_once_when_the_backoff_is_over() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.refuse("a", by("P"));
    bench.now = SECOND;
    bench.event(thing("t"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
}

#[test]
fn only_events_of_a_plugin_that_refused_the_pod_count() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.refuse("a", by("Q"));
    bench.now = SECOND;
    bench.event(thing("t"));
    assert_eq!(bench.pop(), None);
    let other =
        Object::from_value(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}))
            .unwrap();
    bench.refuse("b", by("P"));
    bench.now = 2 * SECOND;
    bench.event(other);
    assert_eq!(bench.pop(), None);
}

#[test]
fn a_plugin_pending_in_reserve_skips_the_backoff() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.refuse("a", pending("P"));
    bench.event(thing("t"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
}

#[test]
fn hints_are_asked_once_for_all_pods_and_a_skip_keeps_the_pod() {
    let mut bench = bench(vec![interest("Thing.example.com", true)]);
    bench.advisor.skips = vec!["b"];
    for name in ["a", "b", "c"] {
        bench.refuse(name, by("P"));
    }
    bench.now = SECOND;
    bench.event(thing("t"));
    assert_eq!(bench.advisor.asked, ["P Thing ns/t added a b c"]);
    assert_eq!(
        [bench.pop(), bench.pop(), bench.pop()],
        [Some("a".into()), Some("c".into()), None]
    );
}

#[test]
fn without_hints_an_event_during_the_cycle_means_backoff() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.add("a", 0);
    bench.pop();
    bench.event(thing("t"));
    bench.fail("a", by("P"));
    assert_eq!(bench.due(), Some(1.0));
    bench.add("b", 0);
    bench.pop();
    bench.fail("b", by("P"));
    let waits = |held| {
        bench
            .queue
            .timed()
            .iter()
            .filter(|(.., other)| *other == held)
            .count()
    };
    assert_eq!((waits(Held::Backoff), waits(Held::Pool)), (1, 1));
}

/// Even if no plugin that refused this pod registered the event: upstream compares cycle numbers only.
#[test]
fn without_hints_an_event_for_another_plugin_counts_too() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.add("a", 0);
    bench.pop();
    bench.event(thing("t"));
    bench.fail("a", by("Q"));
    assert_eq!(bench.due(), Some(1.0));
}

#[test]
fn with_hints_events_during_the_cycle_are_replayed() {
    let mut bench = bench(vec![interest("Thing.example.com", true)]);
    for name in ["a", "b"] {
        bench.add(name, 0);
        bench.pop();
    }
    bench.event(thing("t"));
    bench.event(thing("u"));
    bench.advisor.skips = vec!["b"];
    bench.fail("a", by("P"));
    bench.fail("b", by("P"));
    assert_eq!(
        bench.advisor.asked,
        [
            "P Thing ns/t added a",
            "P Thing ns/u added a",
            "P Thing ns/t added b",
            "P Thing ns/u added b"
        ]
    );
    assert_eq!(bench.pop_when_due().as_deref(), Some("a"));
    assert_eq!(bench.pop(), None);
    assert!(bench.queue.events.is_empty());
}

#[test]
fn events_before_the_cycle_are_not_replayed() {
    let mut bench = bench(vec![interest("Thing.example.com", true)]);
    bench.add("a", 0);
    bench.add("b", 0);
    bench.pop();
    bench.event(thing("t"));
    bench.pop();
    bench.fail("b", by("P"));
    assert_eq!(bench.advisor.asked, Vec::<String>::new());
}

#[test]
fn a_replayed_event_of_a_pending_plugin_activates_at_once() {
    let mut bench = bench(vec![interest("Thing.example.com", true)]);
    bench.add("a", 0);
    bench.pop();
    bench.event(thing("t"));
    bench.fail("a", pending("P"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
}

#[test]
fn a_gated_pod_enters_when_an_event_of_its_plugin_finds_the_gate_open() {
    let mut bench = bench(vec![plain("Thing.example.com", &[Action::Add])]);
    bench.advisor.gated = vec!["a"];
    bench.add("a", 0);
    assert_eq!(bench.pop(), None);
    assert_eq!(bench.due(), None, "time alone does not open a gate");
    bench.event(thing("t"));
    assert_eq!(bench.pop(), None);
    bench.advisor.gated.clear();
    bench.event(thing("u"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
    assert_eq!(bench.queue.get("uid-a").unwrap().attempts, 1);
}

#[test]
fn pre_enqueue_runs_again_when_a_backoff_ends() {
    let mut bench = bench(vec![]);
    bench.refuse("a", Rejection::default());
    bench.advisor.gated = vec!["a"];
    assert_eq!(bench.pop_when_due(), None);
    assert!(bench.queue.get("uid-a").unwrap().gate.is_some());
}

#[test]
fn a_generated_claim_in_the_status_wakes_the_pod_and_other_status_does_not() {
    let mut bench = bench(vec![]);
    bench.advisor.gated = vec!["a"];
    bench.add("a", 0);
    bench.advisor.gated.clear();
    let with_status = |status: serde_json::Value| {
        let mut value = pod("a").value().clone();
        value["status"] = status;
        Object::from_value(value).unwrap()
    };
    bench.queue.update(
        with_status(json!({"phase": "Pending"})),
        0,
        &mut bench.advisor,
    );
    assert_eq!(bench.pop(), None);
    let status = json!({"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "a-c"}]});
    bench
        .queue
        .update(with_status(status), 0, &mut bench.advisor);
    assert_eq!(bench.pop().as_deref(), Some("a"));
}

#[test]
fn what_is_pointless_stays_where_it_is() {
    let mut bench = bench(vec![]);
    bench.refuse("a", Rejection::default());
    bench.refuse("b", by("P"));
    assert_eq!(bench.queue.next_flush(&|_, _| false), None);
    let in_pool = |_: &QueuedPod, held| held == Held::Pool;
    assert_eq!(bench.queue.next_flush(&in_pool), Some(POOL_LIMIT));
    bench.now = POOL_LIMIT;
    bench.queue.flush(bench.now, &in_pool, &mut bench.advisor);
    assert_eq!(
        [bench.pop().as_deref(), bench.pop().as_deref()],
        [Some("b"), None]
    );
}

#[test]
fn a_removed_pod_is_gone_from_every_place() {
    let mut bench = bench(vec![]);
    bench.add("active", 0);
    bench.refuse_after("backoff", Rejection::default());
    bench.refuse_after("pool", by("P"));
    for name in ["active", "backoff", "pool"] {
        assert!(bench.queue.remove(&format!("uid-{name}")).is_some());
    }
    assert_eq!((bench.pop(), bench.due()), (None, None));
    assert_eq!(bench.queue.iter().count(), 0);
}

impl Bench {
    /// Like `refuse`, with another pod in front.
    fn refuse_after(&mut self, name: &str, rejection: Rejection) {
        self.queue.add(pod(name), 1, self.now, &mut self.advisor);
        assert_eq!(self.pop().as_deref(), Some(name));
        self.fail(name, rejection);
    }
}

#[test]
fn a_plugin_without_enqueue_is_woken_by_everything() {
    let mut interests = Interests::new();
    interests.register_everything("P");
    let mut bench = bench(vec![]);
    bench.queue.set_interests(interests);
    bench.refuse("a", by("P"));
    bench.now = SECOND;
    bench.event(thing("t"));
    assert_eq!(bench.pop().as_deref(), Some("a"));
    let kind = Kind::new("Thing.example.com");
    assert_eq!(thing("t").id().kind, kind);
}
