//! A binding cycle step by step, against a plugin that does as it is told.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::*;
use crate::cluster::{Cluster, Settings};
use crate::plugin::{ApiErrorReason, Status};
use crate::queue::Rejection;
use crate::scheduler::fake::{Act, Fake, Script, api_error, plan_of, pod, trap};

const SECOND: u64 = 1_000_000_000;

/// A host that notes what it is asked for.
struct Host {
    cluster: Arc<Mutex<Cluster>>,
    now: Time,
    binds: Vec<String>,
    bind_fails: bool,
    ledger: Vec<ObjectRef>,
    writes: Vec<String>,
}

impl BindingHost for Host {
    fn services(&self) -> SharedServices {
        self.cluster.clone()
    }

    fn bind(&mut self, pod: &ObjectRef, node: &str) -> Result<(), ApiError> {
        self.binds.push(format!("{} {node}", pod.name));
        match self.bind_fails {
            true => Err(api_error(
                ApiErrorReason::Timeout,
                "the server does not answer",
            )),
            false => Ok(()),
        }
    }

    fn now(&self) -> Time {
        self.now
    }

    fn writes(&self) -> u64 {
        self.writes.len() as u64
    }

    fn writes_since(&self, since: u64) -> Vec<String> {
        self.writes[since as usize..].to_vec()
    }

    fn settle(&mut self, _pod: &ObjectRef) {}

    fn clean_ledger(&mut self, _pod: &ObjectRef) -> Vec<ObjectRef> {
        std::mem::take(&mut self.ledger)
    }
}

fn host() -> Host {
    Host {
        cluster: Arc::new(Mutex::new(Cluster::new(Settings::default()))),
        now: 0,
        binds: Vec::new(),
        bind_fails: false,
        ledger: Vec::new(),
        writes: Vec::new(),
    }
}

fn reserved(plugin: Rc<Fake>) -> BindingCycle {
    BindingCycle::bind(
        Rc::new(Generation::new(1, plugin)),
        pod("p"),
        "n".into(),
        Some(plan_of("plan of reserve")),
    )
}

/// Steps to the end; returns how it ended and in how many steps.
fn finish(cycle: &mut BindingCycle, host: &mut Host) -> (Ending, usize) {
    for step in 1..100 {
        if let Some(ending) = cycle.step(host) {
            return (ending, step);
        }
    }
    panic!("it does not end");
}

fn answering(
    answer: impl FnMut(&BindingCall) -> (Vec<Act>, Result<Status, PluginError>) + 'static,
) -> Rc<Fake> {
    Rc::new(Fake::new(Script {
        binding: Box::new(answer),
        ..Script::default()
    }))
}

fn failure(ending: Ending) -> Failure {
    match ending {
        Ending::Failed(failure) => failure,
        Ending::Bound => panic!("bound"),
    }
}

#[test]
fn the_plan_of_pre_bind_replaces_that_of_reserve() {
    let plugin = Rc::new(Fake::new(Script::default()));
    let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
    assert_eq!(finish(&mut cycle, &mut host).0, Ending::Bound);
    assert_eq!(
        plugin.calls(),
        ["pre-bind p plan of reserve", "post-bind p plan of pre-bind"]
    );
    assert_eq!(host.binds, ["p n"]);
    assert!(cycle.step(&mut host).is_none(), "it ends once");
}

#[test]
fn a_failed_pre_bind_is_undone_with_the_plan_that_it_returned() {
    for (code, message, rejected) in [
        (Code::Error, "running PreBind plugin \"Fake\": no", false),
        (Code::Pending, "no", true),
        (Code::Unschedulable, "no", true),
    ] {
        let plugin = answering(move |_| (Vec::new(), Ok(Status::new(code, "no"))));
        let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
        let failure = failure(finish(&mut cycle, &mut host).0);
        assert_eq!(
            plugin.calls(),
            ["pre-bind p plan of reserve", "unreserve p plan of pre-bind"]
        );
        assert_eq!(
            (failure.at, failure.status.message().as_str()),
            (Point::PreBind, message)
        );
        // Pending counts as an ordinary refusal here: a later event obeys the backoff.
        let rejectors: BTreeSet<Arc<str>> = if rejected {
            ["Fake".into()].into()
        } else {
            BTreeSet::new()
        };
        assert_eq!(
            failure.rejection,
            Rejection {
                rejectors,
                pending: BTreeSet::new()
            }
        );
        assert!(host.binds.is_empty());
    }
}

#[test]
fn a_failed_bind_is_undone() {
    let plugin = Rc::new(Fake::new(Script::default()));
    let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
    host.bind_fails = true;
    let failure = failure(finish(&mut cycle, &mut host).0);
    assert_eq!(
        plugin.calls(),
        ["pre-bind p plan of reserve", "unreserve p plan of pre-bind"]
    );
    assert_eq!(failure.at, Point::Bind);
    let message = "running Bind plugin \"DefaultBinder\": the server does not answer";
    assert_eq!(failure.status, Status::new(Code::Error, message));
}

/// Each import is announced before it takes effect: two imports, a stage each for pre-bind, bind and post-bind.
#[test]
fn it_stops_at_each_import() {
    let plugin = answering(|call| match call {
        BindingCall::PreBind { .. } => {
            let state = || Act::State(Box::new(|_| {}));
            (vec![state(), state()], Ok(Status::success()))
        }
        _ => (Vec::new(), Ok(Status::success())),
    });
    let (mut host, mut cycle) = (host(), reserved(plugin));
    assert_eq!(finish(&mut cycle, &mut host), (Ending::Bound, 5));
}

#[test]
fn a_sleep_tells_until_when() {
    let plugin = answering(|_| (vec![Act::Sleep(3 * SECOND)], Ok(Status::success())));
    let (mut host, mut cycle) = (host(), reserved(plugin));
    host.now = 10 * SECOND;
    assert_eq!(
        (cycle.step(&mut host), cycle.sleeping_until()),
        (None, Some(13 * SECOND))
    );
    host.now = 13 * SECOND;
    assert_eq!(
        (cycle.step(&mut host), cycle.sleeping_until()),
        (None, None)
    );
}

#[test]
fn a_death_in_pre_bind_is_undone_with_the_old_plan_and_its_writes_are_told() {
    let plugin = answering(|call| match call {
        BindingCall::PreBind { .. } => (vec![Act::State(Box::new(|_| {}))], Err(trap("pre-bind"))),
        _ => (Vec::new(), Ok(Status::success())),
    });
    let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
    host.writes.push("somebody else's write".into());
    assert!(cycle.step(&mut host).is_none());
    host.writes.push("update ResourceClaim ns/c".into());
    let failure = failure(finish(&mut cycle, &mut host).0);
    assert_eq!(
        plugin.calls(),
        ["pre-bind p plan of reserve", "unreserve p plan of reserve"]
    );
    assert_eq!(
        failure.status,
        Status::new(Code::Error, "plugin Fake 1: pre-bind: unreachable")
    );
    assert_eq!(
        cycle.warnings,
        ["the plugin died after it had written: update ResourceClaim ns/c"]
    );
}

#[test]
fn unreserve_is_tried_again_after_a_first_death_and_then_the_host_cleans_up() {
    let plugin = answering(|call| match call {
        BindingCall::PreBind { .. } => (Vec::new(), Ok(Status::new(Code::Unschedulable, "no"))),
        _ => (Vec::new(), Err(trap("unreserve"))),
    });
    let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
    host.ledger.push(pod("claim").id().clone());
    let failure = failure(finish(&mut cycle, &mut host).0);
    assert_eq!(failure.status.message(), "no");
    assert_eq!(
        plugin
            .calls()
            .iter()
            .filter(|call| call.starts_with("unreserve"))
            .count(),
        2
    );
    assert_eq!(
        cycle.warnings,
        [
            "giving back what was reserved failed: plugin Fake 1: unreserve: unreachable",
            "the plugin left claims in flight, which were removed: Pod ns/claim"
        ]
    );
}

#[test]
fn after_a_death_in_reserve_unreserve_gets_no_plan_and_one_try() {
    let plugin = answering(|_| (Vec::new(), Err(trap("unreserve"))));
    let undo = Undo {
        node: "n".into(),
        plan: None,
    };
    let reason = Failure::error(Point::Reserve, "trap");
    let mut cycle = BindingCycle::undo(
        Rc::new(Generation::new(1, plugin.clone())),
        pod("p"),
        undo,
        reason.clone(),
        true,
    );
    assert_eq!(finish(&mut cycle, &mut host()).0, Ending::Failed(reason));
    assert_eq!(plugin.calls(), ["unreserve p none"]);
}

#[test]
fn a_death_in_post_bind_does_not_unbind() {
    let plugin = answering(|call| match call {
        BindingCall::PostBind { .. } => (Vec::new(), Err(trap("post-bind"))),
        _ => (Vec::new(), Ok(Status::success())),
    });
    let (mut host, mut cycle) = (host(), reserved(plugin));
    assert_eq!(finish(&mut cycle, &mut host).0, Ending::Bound);
    assert_eq!(
        cycle.warnings,
        ["cleaning up after binding failed: plugin Fake 1: post-bind: unreachable"]
    );
}

#[test]
fn a_plugin_that_does_not_bind_is_not_called() {
    let mut fake = Fake::new(Script::default());
    fake.exports.binding = false;
    let plugin = Rc::new(fake);
    let (mut host, mut cycle) = (host(), reserved(plugin.clone()));
    assert_eq!(finish(&mut cycle, &mut host).0, Ending::Bound);
    host.bind_fails = true;
    failure(finish(&mut reserved(plugin.clone()), &mut host).0);
    assert!(plugin.calls().is_empty());
}
