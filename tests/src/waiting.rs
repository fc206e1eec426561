//! Pods that wait cross once, whatever happens meanwhile (contract: `waiting`).

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::object::Object;
use dractl::plugin::{BUILT_IN, Plugin, Settings};
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::outcome::Ended;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::json;

use crate::fixture::{RUNTIME, object};

/// A pod and the claim of its own for one device of a model.
fn pod(name: &str, model: &str, priority: i64) -> [Object; 2] {
    let selector = format!("device.attributes[\"d\"].model == \"{model}\"");
    let exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
        "selectors": [{"cel": {"expression": selector}}]});
    let claim = object(
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}),
    );
    let pod = object(json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"priority": priority, "resourceClaims": [{"name": "c", "resourceClaimName": name}]}}));
    [claim, pod]
}

/// How many objects cross if so many pods are tried first and wait while others are placed.
fn objects_in(waiting: usize, placed: usize) -> u64 {
    let devices: Vec<_> = (0..placed)
        .map(|i| json!({"name": format!("d{i}"), "attributes": {"model": {"string": "here"}}}))
        .collect();
    let mut objects = vec![
        object(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})),
        object(
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
            "spec": {}}),
        ),
        object(
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
            "spec": {"driver": "d", "nodeName": "n", "devices": devices,
                "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1}}}),
        ),
    ];
    objects.extend((0..waiting).flat_map(|i| pod(&format!("waits-{i}"), "elsewhere", 1)));
    objects.extend((0..placed).flat_map(|i| pod(&format!("runs-{i}"), "here", 0)));
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(objects);
    let cluster = Arc::new(Mutex::new(cluster));
    let plugin = RUNTIME
        .load(BUILT_IN, "the built-in plugin", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let plugin = Rc::new(plugin);
    let mut scheduler = Scheduler::new(cluster, plugin.clone(), SchedulerSettings::default())
        .unwrap_or_else(|error| panic!("{error}"));
    scheduler.run(&mut OneAtATime);
    let outcomes = scheduler.outcomes();
    let bound = outcomes
        .iter()
        .filter(|outcome| matches!(outcome.ended, Ended::Bound { .. }));
    assert_eq!(bound.count(), placed);
    plugin.stats().objects_in
}

#[test]
fn what_crosses_for_a_pod_that_waits_does_not_grow_with_what_happens_meanwhile() {
    // Each pod that is placed makes at least one event of its claim, which everybody who waits may want to know of.
    let for_twenty = |placed| objects_in(40, placed) - objects_in(20, placed);
    let (few, many) = (for_twenty(2), for_twenty(12));
    assert_eq!(few, many, "for twenty pods that wait");
    // Its claim, the pod to PreEnqueue and PreFilter of each of two attempts, and once to wait.
    assert_eq!(few, 20 * 6);
}
