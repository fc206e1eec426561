//! The whole way from objects to bound pods, with faults of the API at each write: the component in wasmtime and the plugin
//! linked natively must do the same.
//!
//! What is expected follows from the specification: two writes for a fresh claim (7.8), five tries after conflicts (7.8), and
//! the exact patch of Unreserve (7.9).

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::api::{Caller, Fault, Operation};
use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::object::{Kind, Object};
use dractl::plugin::{
    ApiError, ApiErrorReason, BUILT_IN, CompileCache, Limits, Plugin, Runtime, Settings, Verb,
};
use dractl::scheduler::chooser::{OneAtATime, Shuffled};
use dractl::scheduler::outcome::{Ended, PodOutcome};
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::{Value, json};

use crate::native::Native;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";

/// Both implementations, with the same configuration.
fn plugins() -> [(&'static str, Rc<dyn Plugin>); 2] {
    let config = json!({"profile": "current"}).to_string();
    let runtime = Runtime::new(&CompileCache::User).unwrap();
    let settings = Settings {
        config: config.clone().into_bytes(),
        limits: Limits::default(),
        ..Settings::default()
    };
    let component = runtime.load(BUILT_IN, "built-in", &settings).unwrap();
    [
        ("component", Rc::new(component)),
        ("native", Rc::new(Native::new(&config))),
    ]
}

/// One node with two devices, one claim named `shared`, and the pods, which all use it.
fn cluster(pods: &[&str]) -> Cluster {
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s1"}, "spec": {
            "driver": "gpu.example.com", "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}]}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": "shared", "namespace": "default"},
            "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}),
    ];
    for name in pods {
        objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "shared"}]}}));
    }
    let mut cluster = Cluster::new(ClusterSettings::default());
    let warnings = cluster.load(
        objects
            .into_iter()
            .map(|object| Object::from_value(object).unwrap())
            .collect(),
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    cluster
}

/// A run that has ended.
struct Run {
    outcomes: Vec<PodOutcome>,
    cluster: Arc<Mutex<Cluster>>,
}

impl Run {
    fn of(plugin: Rc<dyn Plugin>, pods: &[&str], prepare: impl FnOnce(&mut Cluster)) -> Self {
        let mut cluster = cluster(pods);
        prepare(&mut cluster);
        let cluster = Arc::new(Mutex::new(cluster));
        let mut scheduler =
            Scheduler::new(cluster.clone(), plugin, SchedulerSettings::default()).unwrap();
        scheduler.run(&mut OneAtATime);
        Self {
            outcomes: scheduler.outcomes(),
            cluster,
        }
    }

    fn claim(&self) -> Value {
        let cluster = self.cluster.lock().unwrap();
        let stored = cluster
            .stored()
            .stored(&Kind::new(CLAIM), "default", "shared");
        stored.unwrap().value().clone()
    }

    /// Names of the pods in `reservedFor`.
    fn reserved_for(&self) -> Vec<String> {
        let claim = self.claim();
        let consumers = claim
            .pointer("/status/reservedFor")
            .and_then(Value::as_array);
        consumers
            .into_iter()
            .flatten()
            .map(|consumer| consumer["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The plugin's calls: verb, and whether they succeeded.
    fn plugin_calls(&self) -> Vec<(Verb, bool)> {
        let cluster = self.cluster.lock().unwrap();
        let calls = cluster.stored().journal();
        calls
            .filter(|call| call.caller == Caller::Plugin)
            .filter_map(|call| match call.operation {
                Operation::Api(verb) => Some((verb, call.error.is_none())),
                Operation::Bind => None,
            })
            .collect()
    }

    fn bound(&self) -> Vec<bool> {
        let is_bound = |outcome: &PodOutcome| matches!(outcome.ended, Ended::Bound { .. });
        self.outcomes.iter().map(is_bound).collect()
    }

    fn in_flight(&self) -> usize {
        self.cluster.lock().unwrap().in_flight().count()
    }
}

fn fault(operation: Operation, nth: u32, reason: ApiErrorReason, after_effect: bool) -> Fault {
    let message = format!("injected {reason:?}");
    Fault {
        operation: Some(operation),
        kind: None,
        nth,
        error: ApiError { reason, message },
        after_effect,
    }
}

#[test]
fn a_fresh_claim_takes_two_writes() {
    for (name, plugin) in plugins() {
        let run = Run::of(plugin, &["a"], |_| {});
        assert_eq!(run.bound(), [true], "{name}");
        assert_eq!(
            run.plugin_calls(),
            [(Verb::Update, true), (Verb::UpdateStatus, true)],
            "{name}"
        );
        let claim = run.claim();
        assert_eq!(
            claim["metadata"]["finalizers"],
            json!(["resource.kubernetes.io/delete-protection"])
        );
        assert_eq!(
            claim["status"]["allocation"],
            json!({
                "devices": {"results": [
                    {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]},
            }),
            "{name}"
        );
        assert_eq!(run.in_flight(), 0, "{name}");
    }
}

#[test]
fn two_pods_share_a_claim() {
    for (name, plugin) in plugins() {
        let run = Run::of(plugin, &["a", "b"], |_| {});
        assert_eq!(run.bound(), [true, true], "{name}");
        assert_eq!(run.reserved_for(), ["a", "b"], "{name}");
        // The second pod finds the claim allocated: one write.
        let calls = [
            (Verb::Update, true),
            (Verb::UpdateStatus, true),
            (Verb::UpdateStatus, true),
        ];
        assert_eq!(run.plugin_calls(), calls, "{name}");
    }
}

#[test]
fn a_bind_that_fails_after_pre_bind_takes_the_reservation_back() {
    for (name, plugin) in plugins() {
        let run = Run::of(plugin, &["a"], |cluster| {
            let fault = fault(Operation::Bind, 1, ApiErrorReason::Other, false);
            cluster.api().inject(fault);
        });
        // Unreserve patches the pod out; the allocation stays, and the second attempt only reserves again.
        let calls = [
            (Verb::Update, true),
            (Verb::UpdateStatus, true),
            (Verb::PatchStatus, true),
            (Verb::UpdateStatus, true),
        ];
        assert_eq!(run.plugin_calls(), calls, "{name}");
        assert_eq!(run.bound(), [true], "{name}");
        assert_eq!(run.reserved_for(), ["a"], "{name}");
        assert_eq!(run.in_flight(), 0, "{name}");
    }
}

#[test]
fn a_conflict_on_each_write_is_retried_with_the_stored_claim() {
    for (verb, calls) in [
        (
            Verb::Update,
            vec![
                (Verb::Update, false),
                (Verb::Get, true),
                (Verb::Update, true),
                (Verb::UpdateStatus, true),
            ],
        ),
        (
            Verb::UpdateStatus,
            // The finalizer is there already when the status is tried again.
            vec![
                (Verb::Update, true),
                (Verb::UpdateStatus, false),
                (Verb::Get, true),
                (Verb::UpdateStatus, true),
            ],
        ),
    ] {
        for (name, plugin) in plugins() {
            let run = Run::of(plugin, &["a"], |cluster| {
                let fault = fault(Operation::Api(verb), 1, ApiErrorReason::Conflict, false);
                cluster.api().inject(fault);
            });
            assert_eq!(run.plugin_calls(), calls, "{name}, conflict on {verb:?}");
            assert_eq!(run.bound(), [true], "{name}, conflict on {verb:?}");
            assert_eq!(run.outcomes[0].attempts, 1, "{name}");
        }
    }
}

#[test]
fn five_conflicts_end_the_attempt_and_leave_nothing_in_flight() {
    for (name, plugin) in plugins() {
        let run = Run::of(plugin, &["a"], |cluster| {
            for nth in 1..=5 {
                let fault = fault(
                    Operation::Api(Verb::Update),
                    nth,
                    ApiErrorReason::Conflict,
                    false,
                );
                cluster.api().inject(fault);
            }
        });
        let failed = run
            .plugin_calls()
            .iter()
            .filter(|call| **call == (Verb::Update, false))
            .count();
        assert_eq!(failed, 5, "{name}: {:?}", run.plugin_calls());
        assert_eq!(run.in_flight(), 0, "{name}");
        // An attempt that ended in an error is tried once per state of the cluster, and five failed writes change nothing.
        assert_eq!(run.bound(), [false], "{name}");
        assert_eq!(run.outcomes[0].attempts, 1, "{name}");
    }
}

#[test]
fn every_failed_call_leaves_the_cluster_consistent() {
    let operations = [
        Operation::Api(Verb::Update),
        Operation::Api(Verb::UpdateStatus),
        Operation::Api(Verb::PatchStatus),
        Operation::Bind,
    ];
    let reasons = [
        ApiErrorReason::Conflict,
        ApiErrorReason::Timeout,
        ApiErrorReason::Forbidden,
        ApiErrorReason::Other,
    ];
    for (name, plugin) in plugins() {
        for operation in operations {
            for reason in reasons {
                for after_effect in [false, true] {
                    let run = Run::of(plugin.clone(), &["a", "b"], |cluster| {
                        let fault = fault(operation, 1, reason, after_effect);
                        cluster.api().inject(fault);
                        // Also fail the first bind, so that there is something to unreserve.
                        if operation == Operation::Api(Verb::PatchStatus) {
                            let bind =
                                self::fault(Operation::Bind, 1, ApiErrorReason::Other, false);
                            cluster.api().inject(bind);
                        }
                    });
                    let what =
                        format!("{name}: {operation:?} {reason:?} after_effect={after_effect}");
                    assert_eq!(run.in_flight(), 0, "{what}");
                    for (outcome, bound) in run.outcomes.iter().zip(run.bound()) {
                        let name = outcome.pod.id().name.to_string();
                        if bound {
                            assert!(
                                run.reserved_for().contains(&name),
                                "{what}: {name} is not reserved"
                            );
                            assert!(
                                run.claim().pointer("/status/allocation").is_some(),
                                "{what}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn any_interleaving_gives_each_device_once() {
    // Two claims for the two devices, and a third that cannot be satisfied.
    for (name, plugin) in plugins() {
        for seed in 0..30 {
            let mut cluster = cluster(&[]);
            for n in 0..3 {
                let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                    "metadata": {"name": format!("c{n}"), "namespace": "default"},
                    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}});
                let pod = json!({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": format!("p{n}"), "namespace": "default"},
                    "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": format!("c{n}")}]}});
                let objects = [claim, pod].map(|object| Object::from_value(object).unwrap());
                assert!(cluster.load(objects.to_vec()).is_empty());
            }
            let cluster = Arc::new(Mutex::new(cluster));
            let settings = SchedulerSettings::default();
            let mut scheduler = Scheduler::new(cluster.clone(), plugin.clone(), settings).unwrap();
            scheduler.run(&mut Shuffled::new(seed));
            let bound = scheduler
                .outcomes()
                .iter()
                .filter(|outcome| matches!(outcome.ended, Ended::Bound { .. }))
                .count();
            assert_eq!(bound, 2, "{name}, seed {seed}");
            let cluster = cluster.lock().unwrap();
            let mut devices: Vec<String> = cluster
                .stored()
                .list(&Kind::new(CLAIM))
                .filter_map(|claim| claim.text("/status/allocation/devices/results/0/device"))
                .map(str::to_owned)
                .collect();
            devices.sort_unstable();
            assert_eq!(devices, ["gpu-0", "gpu-1"], "{name}, seed {seed}");
            assert_eq!(cluster.in_flight().count(), 0, "{name}, seed {seed}");
        }
    }
}
