//! Swaps of components, at every point between two calls of the plugin: to the same version, to one with other decisions, and
//! to ones that fail. Whatever is swapped in, no promise is broken, and what can be placed is placed.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::generations::{Notice, Policy};
use dractl::object::Object;
use dractl::plugin::{BUILT_IN, Component, Fault, Limits, Plugin, Settings, Status};
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::outcome::Ended;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use dractl::stand_ins::accounting;
use dractl::stand_ins::users::{Size, Users};
use serde_json::json;

use crate::fixture::{NODE_LABEL, RUNTIME, misbehaving, object, tight};

mod containment;
mod endurance;
mod figures;
mod misbehaviour;
mod text;
mod watched;

/// The real plugin, as configured.
fn real(config: &serde_json::Value) -> Component {
    let settings = Settings {
        config: config.to_string().into_bytes(),
        limits: Limits::default(),
        ..Settings::default()
    };
    RUNTIME
        .load(BUILT_IN, "built-in", &settings)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Two nodes with four devices each, and pods that want one or two.
fn objects(pods: &[(&str, &str)]) -> Vec<Object> {
    let size = Size {
        nodes: 2,
        devices: 4,
        pods: 0,
    };
    let mut objects = Users::new(size, 0).first_objects();
    objects.extend(pods.iter().map(|(name, template)| pod(name, template)));
    objects
}

fn pod(name: &str, template: &str) -> Object {
    object(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "soak", "name": name, "uid": name},
        "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "a", "resourceClaimTemplateName": template}]},
    }))
}

struct Bench {
    cluster: Arc<Mutex<Cluster>>,
    scheduler: Scheduler,
}

impl Bench {
    fn new(plugin: &Component, objects: Vec<Object>, policy: Policy) -> Self {
        let mut cluster = Cluster::new(ClusterSettings::default());
        cluster.load(objects);
        let cluster = Arc::new(Mutex::new(cluster));
        let settings = SchedulerSettings {
            policy,
            ..SchedulerSettings::default()
        };
        let plugin: Rc<dyn Plugin> = Rc::new(plugin.clone());
        let scheduler = Scheduler::new(cluster.clone(), plugin, settings).unwrap();
        Self { cluster, scheduler }
    }

    /// More pods, from a user.
    fn add(&self, pods: &[(&str, &str)]) {
        let pods = pods.iter().map(|(name, template)| pod(name, template));
        self.cluster.lock().unwrap().load(pods.collect());
    }

    /// Takes so many steps. `false` if it ended before.
    fn steps(&mut self, count: usize) -> bool {
        (0..count).all(|_| self.scheduler.step(&mut OneAtATime))
    }

    fn run(&mut self) {
        self.scheduler.run(&mut OneAtATime);
    }

    /// What is said of the version that was refused.
    fn refusal(&mut self) -> String {
        let notices = self.scheduler.take_notices();
        let refused = notices
            .iter()
            .find(|notice| matches!(notice, Notice::Refused { .. }));
        refused.unwrap_or_else(|| panic!("{notices:?}")).to_string()
    }

    /// Name and node, `-` without one.
    fn places(&self) -> Vec<(String, String)> {
        let outcomes = self.scheduler.outcomes();
        let place = |ended: &Ended| match ended {
            Ended::Bound { node } => node.to_string(),
            _ => "-".to_owned(),
        };
        outcomes
            .iter()
            .map(|outcome| (outcome.pod.id().name.to_string(), place(&outcome.ended)))
            .collect()
    }

    fn bound(&self) -> usize {
        self.places().iter().filter(|(_, node)| node != "-").count()
    }

    /// Why a pod has no node, and what it is warned of.
    fn shown(&self, pod: &str) -> String {
        let outcomes = self.scheduler.outcomes();
        let outcome = outcomes
            .iter()
            .find(|outcome| &*outcome.pod.id().name == pod)
            .unwrap_or_else(|| panic!("there is no pod {pod}"));
        let ended = match &outcome.ended {
            Ended::Failed(failure) => {
                let Status { code, .. } = &failure.status;
                format!(
                    "{} at {}: {}",
                    code.name(),
                    failure.at,
                    failure.status.message()
                )
            }
            other => format!("{other:?}"),
        };
        format!("{ended} {}", outcome.warnings.join("; "))
    }

    #[track_caller]
    fn assert_in_order(&self, context: &str) {
        let cluster = self.cluster.lock().unwrap();
        let mut found = accounting::violations(&cluster);
        found.extend(accounting::left_in_flight(&cluster));
        assert!(found.is_empty(), "{context}: {found:?}");
    }
}

/// In how many steps all pods are placed without a swap.
fn undisturbed(plugin: &Component, pods: &[(&str, &str)]) -> (usize, Vec<(String, String)>) {
    let mut bench = Bench::new(plugin, objects(pods), Policy::default());
    let mut steps = 0;
    while bench.steps(1) {
        steps += 1;
    }
    bench.assert_in_order("undisturbed");
    (steps, bench.places())
}

const PODS: [(&str, &str); 3] = [("a", "one"), ("b", "two"), ("c", "large")];

#[test]
fn a_swap_to_the_same_version_changes_nothing_wherever_it_happens() {
    let plugin = real(&json!({}));
    let (steps, places) = undisturbed(&plugin, &PODS);
    // Three cycles, and for each pod PreBind with several imports, Bind and PostBind.
    assert!(steps > 12, "{steps}");
    let again = real(&json!({}));
    for at in 0..=steps {
        let mut bench = Bench::new(&plugin, objects(&PODS), Policy::default());
        bench.steps(at);
        bench.scheduler.swap(Rc::new(again.clone())).unwrap();
        bench.run();
        assert_eq!(bench.places(), places, "after {at} steps");
        bench.assert_in_order(&format!("after {at} steps"));
    }
    assert_eq!(again.live_instances(), 0, "the schedulers are gone");
}

#[test]
fn a_swap_to_other_decisions_lets_finish_what_was_begun() {
    let plugin = real(&json!({}));
    let (steps, _) = undisturbed(&plugin, &PODS);
    // One step of search is too few for a pod that wants two devices.
    let hasty = real(&json!({"allocatorSteps": 1}));
    let mut seen = std::collections::BTreeSet::new();
    for at in 0..=steps {
        let mut bench = Bench::new(&plugin, objects(&PODS), Policy::default());
        bench.steps(at);
        let begun = bench.scheduler.counts().cycles as usize;
        bench.scheduler.swap(Rc::new(hasty.clone())).unwrap();
        bench.run();
        bench.assert_in_order(&format!("after {at} steps"));
        assert!(
            bench.bound() >= begun,
            "after {at} steps: {:?}",
            bench.places()
        );
        seen.insert(bench.bound());
    }
    assert!(seen.len() > 1, "the versions do not differ: {seen:?}");
}

#[test]
fn a_version_that_fails_is_replaced_by_the_old_one_wherever_it_came_in() {
    let plugin = real(&json!({}));
    let (steps, _) = undisturbed(&plugin, &PODS);
    for call in ["filter", "reserve"] {
        let bad = misbehaving(&format!("{call}:trap"), tight());
        for at in 0..steps {
            let mut bench = Bench::new(&plugin, objects(&PODS), Policy::default());
            bench.steps(at);
            let all_begun = bench.scheduler.counts().cycles == PODS.len() as u64;
            bench.scheduler.swap(Rc::new(bad.clone())).unwrap();
            bench.run();
            assert_eq!(bench.bound(), PODS.len(), "{call} after {at} steps");
            bench.assert_in_order(&format!("{call} after {at} steps"));
            let notices = bench.scheduler.take_notices();
            let rolled_back = notices
                .iter()
                .any(|notice| matches!(notice, Notice::RolledBack { .. }));
            assert!(
                rolled_back || all_begun,
                "{call} after {at} steps: {notices:?}"
            );
        }
        assert_eq!(bad.live_instances(), 0);
    }
}

#[test]
fn a_plugin_without_binding_runs_in_the_same_host() {
    let settings = Settings {
        config: b"\"example.com/ready\"".to_vec(),
        ..Settings::default()
    };
    let plugin = RUNTIME
        .load(&NODE_LABEL, "node-label.wasm", &settings)
        .unwrap_or_else(|error| panic!("{error}"));
    let node = |name: &str, labels: serde_json::Value| {
        object(
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}),
        )
    };
    let pod = object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "d", "name": "p", "uid": "p"}, "spec": {"containers": []}}),
    );
    let objects = vec![
        node("a", json!({})),
        node("b", json!({"example.com/ready": "yes"})),
        pod,
    ];
    let mut bench = Bench::new(&plugin, objects, Policy::default());
    bench.run();
    assert_eq!(bench.places(), [("p".to_owned(), "b".to_owned())]);
    let refusals = &bench.scheduler.outcomes()[0].refusals;
    assert!(refusals.is_empty(), "{refusals:?}");
}
