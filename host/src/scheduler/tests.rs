//! The loop as a whole, against plugins that do as they are told. Here is the bench; the files below say what they test.

mod failures;
mod filters;
mod order;
mod retries;

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::chooser::OneAtATime;
use super::fake::*;
use super::outcome::Ended;
use super::*;
use crate::api::{Caller, Fault, Operation};
use crate::cluster::Settings as ClusterSettings;
use crate::cycle::Failure;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{
    ApiCall, ApiErrorReason, BindingCall, Code, InFlight, Interest, Scope, Services, Status,
};

const SECOND: u64 = 1_000_000_000;

struct Bench {
    cluster: Arc<Mutex<Cluster>>,
    plugin: Rc<Fake>,
    scheduler: Scheduler,
}

fn bench(script: Script, objects: Vec<Object>) -> Bench {
    bench_with(Fake::new(script), objects, Settings::default())
}

fn bench_with(fake: Fake, objects: Vec<Object>, settings: Settings) -> Bench {
    let mut cluster = Cluster::new(ClusterSettings {
        start: 0,
        ..ClusterSettings::default()
    });
    cluster.load(objects);
    let cluster = Arc::new(Mutex::new(cluster));
    let plugin = Rc::new(fake);
    let scheduler = Scheduler::new(cluster.clone(), plugin.clone(), settings).unwrap();
    Bench {
        cluster,
        plugin,
        scheduler,
    }
}

impl Bench {
    fn run(&mut self) -> Vec<PodOutcome> {
        self.scheduler.run(&mut OneAtATime);
        self.scheduler.outcomes()
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// A write of somebody else.
    fn write(&self, call: &ApiCall) {
        self.cluster().api().call(Caller::Other, call).unwrap();
    }

    fn create(&self, object: Object) {
        self.write(&ApiCall::Create { object });
    }

    /// The pod goes.
    fn delete(&self, name: &str) {
        let target = self.pod(name).id().clone();
        self.write(&ApiCall::Delete { target });
    }

    fn pod(&self, name: &str) -> Object {
        let cluster = self.cluster();
        let entry = cluster.entry(&Kind::new("Pod"), "ns", name).unwrap();
        entry.object.clone()
    }

    /// The cycles that began, in order.
    fn begun(&self) -> Vec<String> {
        let mut calls = self.plugin.calls();
        calls.retain(|call| call.starts_with("pre-filter"));
        calls
    }

    /// The nth bind gets no answer, and does nothing.
    fn lose_bind(&self, nth: u32) {
        self.cluster().api().inject(Fault {
            operation: Some(Operation::Bind),
            kind: None,
            nth,
            error: api_error(ApiErrorReason::Timeout, "no answer"),
            after_effect: false,
        });
    }
}

fn with(name: &str, change: impl FnOnce(&mut serde_json::Value)) -> Object {
    let mut value = pod(name).value().clone();
    change(&mut value);
    object(value)
}

/// (name, node or point, attempts)
fn summary(outcomes: &[PodOutcome]) -> Vec<(String, String, u32)> {
    let line = |outcome: &PodOutcome| {
        let end = match &outcome.ended {
            Ended::Bound { node } => node.to_string(),
            Ended::Failed(failure) => failure.at.to_string(),
            Ended::Refused(status) => status.code.name().to_owned(),
            Ended::Open => "open".to_owned(),
        };
        (outcome.pod.id().name.to_string(), end, outcome.attempts)
    };
    outcomes.iter().map(line).collect()
}

fn expect(outcomes: &[PodOutcome], expected: &[(&str, &str, u32)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|&(a, b, n)| (a.to_owned(), b.to_owned(), n))
        .collect();
    assert_eq!(summary(outcomes), expected);
}

fn failure(outcome: &PodOutcome) -> &Failure {
    match &outcome.ended {
        Ended::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn refuse() -> Status {
    Status::new(
        Code::UnschedulableAndUnresolvable,
        "cannot allocate all claims",
    )
}

fn node_with_one_cpu() -> Object {
    let mut value = node("n").value().clone();
    value["status"] = json!({"allocatable": {"cpu": "1", "pods": "10"}});
    object(value)
}

fn wants_one_cpu(name: &str) -> Object {
    with(name, |pod| {
        pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    })
}
