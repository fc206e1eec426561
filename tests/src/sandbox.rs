//! The plugin in the sandbox decides what the same plugin linked natively decides: whole runs of the scheduler on random
//! clusters, compared report by report, objects included.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::object::{Kind, Object};
use dractl::plugin::{BUILT_IN, Plugin, Settings};
use dractl::report::collect::collect;
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::{Value, json};

use crate::fixture::{RUNTIME, object};
use crate::native::Native;

const GROUP: &str = "resource.k8s.io/v1";

/// A cluster that leaves some pods without devices.
fn random_objects(random: &mut fastrand::Rng) -> Vec<Object> {
    let mut objects = vec![
        json!({"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}),
        json!({"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": "large"}, "spec": {"selectors": [
            {"cel": {"expression": "device.attributes[\"example.com\"].size > 5"}}]}}),
    ];
    for node in 0..random.usize(1..5) {
        let name = format!("n{node}");
        objects.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}));
        objects.push(slice(random, &name));
    }
    for claim in 0..random.usize(0..4) {
        let metadata = json!({"name": format!("shared-{claim}"), "namespace": "default"});
        objects.push(json!({"apiVersion": GROUP, "kind": "ResourceClaim", "metadata": metadata, "spec": spec(random)}));
    }
    for template in 0..2 {
        let metadata = json!({"name": format!("template-{template}"), "namespace": "default"});
        objects.push(
            json!({"apiVersion": GROUP, "kind": "ResourceClaimTemplate", "metadata": metadata,
            "spec": {"spec": spec(random)}}),
        );
    }
    for number in 0..random.usize(1..9) {
        objects.push(pod(random, number));
    }
    objects.into_iter().map(object).collect()
}

fn slice(random: &mut fastrand::Rng, node: &str) -> Value {
    let devices: Vec<Value> = (0..random.usize(0..4))
        .map(|device| json!({"name": format!("d{device}"), "attributes": {"size": {"int": random.i64(0..10)}}}))
        .collect();
    json!({"apiVersion": GROUP, "kind": "ResourceSlice", "metadata": {"name": format!("slice-{node}")}, "spec": {
        "driver": "example.com", "nodeName": node, "devices": devices,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}})
}

fn spec(random: &mut fastrand::Rng) -> Value {
    let class = if random.bool() { "any" } else { "large" };
    let exactly =
        json!({"deviceClassName": class, "allocationMode": "ExactCount", "count": random.u8(1..3)});
    json!({"devices": {"requests": [{"name": "r", "exactly": exactly}]}})
}

fn pod(random: &mut fastrand::Rng, number: usize) -> Value {
    let claims = match random.u8(0..5) {
        0 => json!([]),
        1 | 2 => json!([{"name": "c", "resourceClaimName": format!("shared-{}", random.u8(0..4))}]),
        _ => {
            json!([{"name": "c", "resourceClaimTemplateName": format!("template-{}", random.u8(0..2))}])
        }
    };
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("p{number}"), "namespace": "default"},
        "spec": {"priority": random.u8(0..3), "resourceClaims": claims, "containers": [{"name": "c", "image": "i"}]}})
}

/// Schedules everything; the report and the claims as they are afterwards.
fn run(objects: Vec<Object>, plugin: Rc<dyn Plugin>) -> (String, Vec<Value>) {
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(objects);
    cluster.run_claim_controller();
    cluster.deliver();
    let start = cluster.clock();
    let cluster = Arc::new(Mutex::new(cluster));
    let mut scheduler =
        Scheduler::new(cluster.clone(), plugin, SchedulerSettings::default()).unwrap();
    scheduler.run(&mut OneAtATime);
    let outcomes = scheduler.outcomes();
    let cluster = cluster.lock().unwrap();
    let report = collect(&outcomes, scheduler.notes(), &cluster, start);
    let claim = Kind::new("ResourceClaim.resource.k8s.io");
    let claims = cluster
        .list(&claim)
        .map(|entry| entry.object.value().clone());
    assert_eq!(cluster.in_flight().count(), 0);
    (
        serde_json::to_string_pretty(&report).unwrap(),
        claims.collect(),
    )
}

#[test]
fn the_component_decides_what_the_native_plugin_decides() {
    let mut seen = std::collections::BTreeSet::new();
    for profile in ["current", "1.31"] {
        let config = json!({"profile": profile}).to_string();
        let settings = Settings {
            config: config.clone().into_bytes(),
            ..Settings::default()
        };
        let component = RUNTIME
            .load(BUILT_IN, "built-in", &settings)
            .unwrap_or_else(|error| panic!("{error}"));
        for seed in 0..100 {
            let objects = || random_objects(&mut fastrand::Rng::with_seed(seed));
            let native = run(objects(), Rc::new(Native::new(&config)));
            let sandboxed = run(objects(), Rc::new(component.clone()));
            assert_eq!(native, sandboxed, "profile {profile}, seed {seed}");
            for verdict in ["scheduled", "waiting", "unschedulable", "error"] {
                if native.0.contains(&format!("\"verdict\": \"{verdict}\"")) {
                    seen.insert(verdict);
                }
            }
        }
        component.drop_idle();
        assert_eq!(component.live_instances(), 0);
    }
    // Otherwise little was compared.
    assert!(
        seen.contains("scheduled") && seen.contains("unschedulable"),
        "{seen:?}"
    );
}
