//! Scheduling cycles against a plugin that does as it is told: the extension points one by one.

mod refusals;
mod select;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::cluster::{Cluster, Settings};
use crate::plugin::{Plugin, SchedulingInstance};
use crate::scheduler::fake::{Fake, Script, plan_of, pod, trap};

/// Native filters that refuse the named nodes.
struct Refuse(BTreeMap<&'static str, (&'static str, &'static str)>);

impl NodeCheck for Refuse {
    fn check(&self, node: &Node) -> Option<(Arc<str>, Status)> {
        let (plugin, reason) = self.0.get(node.name.as_ref())?;
        Some(((*plugin).into(), Status::new(Code::Unschedulable, *reason)))
    }
}

struct Bench {
    plugin: Fake,
    instance: Box<dyn SchedulingInstance>,
    nodes: Vec<Node>,
    native: Refuse,
    strategy: Strategy,
    start: usize,
}

fn bench(script: Script, nodes: &[&str]) -> Bench {
    with_plugin(Fake::new(script), nodes)
}

/// Slots are 10, 11, ... so that they are not mistaken for indices.
fn with_plugin(plugin: Fake, nodes: &[&str]) -> Bench {
    let services = Arc::new(Mutex::new(Cluster::new(Settings::default())));
    let instance = plugin.scheduling(services).unwrap();
    plugin.take_calls();
    let nodes = nodes
        .iter()
        .zip(10..)
        .map(|(&name, slot)| Node {
            slot,
            name: name.into(),
        })
        .collect();
    Bench {
        plugin,
        instance,
        nodes,
        native: Refuse(BTreeMap::new()),
        strategy: Strategy::AllNodes,
        start: 0,
    }
}

impl Bench {
    fn run(&mut self) -> Attempt {
        let input = Input {
            pod: &pod("p"),
            at: 1,
            nodes: &self.nodes,
            native: &self.native,
            strategy: self.strategy,
            start: self.start,
            names: 20,
        };
        schedule(self.instance.as_mut(), self.plugin.description(), &input)
    }

    fn calls(&self) -> Vec<String> {
        self.plugin.calls()
    }
}

fn failure(attempt: &Attempt) -> &Failure {
    match &attempt.outcome {
        Outcome::Failed { failure, .. } => failure,
        Outcome::Reserved { node, .. } => panic!("reserved {node}"),
    }
}

fn reserved(attempt: &Attempt) -> &str {
    match &attempt.outcome {
        Outcome::Reserved { node, .. } => node,
        Outcome::Failed { failure, .. } => panic!("failed: {failure:?}"),
    }
}

/// What Filter says of each slot.
fn filtering(answer: impl Fn(u32) -> Status + 'static) -> Script {
    Script {
        filter: Box::new(move |(_, slot)| Ok(answer(*slot))),
        ..Script::default()
    }
}

fn refusing(code: Code, reason: &'static str) -> Script {
    filtering(move |_| Status::new(code, reason))
}

fn rejectors(failure: &Failure) -> Vec<&str> {
    failure
        .rejection
        .rejectors
        .iter()
        .map(AsRef::as_ref)
        .collect()
}

#[test]
fn pre_filter_outcomes() {
    let with = |scope: Scope| Script {
        scope: Box::new(move |_| Ok(scope.clone())),
        ..Script::default()
    };
    let mut skip = bench(with(Scope::Skip), &["a"]);
    assert_eq!(reserved(&skip.run()), "a");
    assert_eq!(skip.calls(), ["pre-filter p", "reserve 10", "end-cycle"]);

    let mut only = bench(with(Scope::Only(vec![11, 99])), &["a", "b"]);
    let attempt = only.run();
    assert_eq!((reserved(&attempt), attempt.visited), ("b", 1));

    let mut none = bench(with(Scope::Only(vec![])), &["a"]);
    let attempt = none.run();
    assert_eq!(rejectors(failure(&attempt)), ["Fake"]);

    let status = Status::new(Code::UnschedulableAndUnresolvable, "no class");
    let mut rejected = bench(with(Scope::Rejected(status)), &["a"]);
    let attempt = rejected.run();
    assert_eq!(
        rejected.calls(),
        ["pre-filter p", "post-filter", "end-cycle"]
    );
    assert_eq!(
        (failure(&attempt).at, attempt.visited),
        (Point::PreFilter, 0)
    );
    assert_eq!(
        failure(&attempt).status.message(),
        "no class. still not schedulable"
    );
    assert_eq!(attempt.refusals.sorted()[0].status.message(), "no class");

    let mut aborted = bench(
        with(Scope::Rejected(Status::new(Code::Error, "broken"))),
        &["a"],
    );
    let attempt = aborted.run();
    assert_eq!(aborted.calls(), ["pre-filter p", "end-cycle"]);
    assert_eq!(
        failure(&attempt).status.message(),
        "running PreFilter plugin \"Fake\": broken"
    );
}

#[test]
fn a_failing_post_filter_leaves_the_pod_unschedulable() {
    let script = Script {
        post_filter: Box::new(|_| Ok(Status::new(Code::Error, "conflict"))),
        ..refusing(Code::Unschedulable, "busy")
    };
    let attempt = bench(script, &["a"]).run();
    assert_eq!(
        failure(&attempt).status,
        Status::new(
            Code::Unschedulable,
            "0/1 nodes are available: 1 busy. conflict"
        )
    );
    assert_eq!(rejectors(failure(&attempt)), ["Fake"]);
}

#[test]
fn a_failed_reserve_is_undone_with_its_plan() {
    for (code, pending, message) in [
        (Code::Unschedulable, false, "no"),
        (Code::Pending, true, "no"),
        (Code::Error, false, "running Reserve plugin \"Fake\": no"),
    ] {
        let reserve = Box::new(move |_: &_, _, _: &mut dyn crate::plugin::Services| {
            Ok(Status::new(code, "no"))
        });
        let attempt = bench(
            Script {
                reserve,
                ..Script::default()
            },
            &["a"],
        )
        .run();
        let Outcome::Failed { failure, undo } = &attempt.outcome else {
            panic!("reserved")
        };
        assert_eq!(
            *undo,
            Some(Undo {
                node: "a".into(),
                plan: Some(plan_of("plan of reserve"))
            })
        );
        assert_eq!(
            (failure.at, failure.status.message().as_str()),
            (Point::Reserve, message)
        );
        assert_eq!(!failure.rejection.pending.is_empty(), pending);
        assert_eq!(
            failure.rejection.rejectors.is_empty(),
            code != Code::Unschedulable
        );
    }
}

#[test]
fn a_trap_is_an_error_of_the_pod_and_ends_the_instance() {
    let dies = |at: &'static str| {
        let mut script = Script::default();
        match at {
            "pre-filter" => script.scope = Box::new(move |_| Err(trap(at))),
            "filter" => script.filter = Box::new(move |_| Err(trap(at))),
            _ => script.reserve = Box::new(move |_, _, _| Err(trap(at))),
        }
        script
    };
    for (call, point) in [
        ("pre-filter", Point::PreFilter),
        ("filter", Point::Filter),
        ("reserve", Point::Reserve),
    ] {
        let mut bench = bench(dies(call), &["a"]);
        let attempt = bench.run();
        assert_eq!(attempt.died, Some(trap(call)));
        assert_eq!(
            (failure(&attempt).at, failure(&attempt).status.code),
            (point, Code::Error)
        );
        assert_eq!(
            failure(&attempt).status.message(),
            format!("plugin Fake 1: {call}: unreachable")
        );
        assert!(!bench.calls().contains(&"end-cycle".to_owned()));
    }
    let mut in_reserve = bench(dies("reserve"), &["a"]);
    let Outcome::Failed { undo, .. } = in_reserve.run().outcome else {
        panic!("reserved")
    };
    assert_eq!(
        undo,
        Some(Undo {
            node: "a".into(),
            plan: None
        })
    );
}
