//! The list of devices: what is published, where, and who holds it.

use serde_json::{Value, json};

use super::support::Objects;
use crate::advice;
use crate::profile::{Feature, Profile};

fn listed(objects: &[Value]) -> Value {
    let mut profile = Profile::current();
    profile.set(Feature::DraDeviceTaintRules, true);
    let json = advice::devices(&Objects::new(objects), &profile);
    serde_json::from_slice(&json).unwrap()
}

fn node(name: &str, zone: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}})
}

fn slice(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})
}

#[test]
fn pools_devices_and_holders() {
    let pool = json!({"name": "p", "generation": 2, "resourceSliceCount": 2});
    let old = json!({"name": "p", "generation": 1, "resourceSliceCount": 1});
    let zone = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]});
    let list = listed(&[
        node("n1", "a"),
        node("n2", "b"),
        node("n3", "a"),
        slice(
            "s1",
            json!({"driver": "d", "pool": pool, "nodeSelector": zone, "devices": [
            {"name": "x", "attributes": {"model": {"string": "m"}, "k.io/v": {"version": "1.0.0"}},
             "capacity": {"memory": {"value": "4Gi"}}, "taints": [{"key": "t", "effect": "NoSchedule"}]}]}),
        ),
        slice(
            "s0",
            json!({"driver": "d", "pool": old, "allNodes": true, "devices": [{"name": "gone"}]}),
        ),
        json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": {"name": "r"},
            "spec": {"deviceSelector": {"device": "x"}, "taint": {"key": "u", "value": "1", "effect": "NoExecute"}}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "ns"},
            "spec": {"devices": {"requests": []}}, "status": {
                "allocation": {"devices": {"results": [
                    {"request": "r", "driver": "d", "pool": "p", "device": "x"},
                    {"request": "r", "driver": "d", "pool": "p", "device": "gone", "adminAccess": true}]}},
                "reservedFor": [{"resource": "pods", "name": "pod", "uid": "1"}]}}),
        slice("bad", json!({"driver": "d"})),
    ]);
    let holder = |admin: bool| {
        json!({"namespace": "ns", "claim": "c", "request": "r", "adminAccess": admin, "inFlight": false,
            "pods": ["pod"]})
    };
    assert_eq!(
        list,
        json!({
            "nodes": ["n1", "n2", "n3"],
            "pools": [{
                "driver": "d", "name": "p", "generation": 2, "resourceSliceCount": 2, "complete": false,
                "slices": [
                    {"name": "s0", "generation": 1, "stale": true, "nodes": null},
                    {"name": "s1", "generation": 2, "stale": false, "nodes": ["n1", "n3"]}],
                "counters": [],
                "devices": [{
                    "name": "x", "slice": "s1", "usable": true,
                    "attributes": {"k.io/v": {"version": "1.0.0"}, "model": {"string": "m"}},
                    "capacity": {"memory": "4Gi"},
                    "taints": [
                        {"key": "t", "value": "", "effect": "NoSchedule", "rule": null},
                        {"key": "u", "value": "1", "effect": "NoExecute", "rule": "r"}],
                    "consumes": [], "holders": [holder(false)]}]}],
            "unpublished": [{"driver": "d", "pool": "p", "device": "gone", "holders": [holder(true)]}],
            "unreadable": [{"object": "ResourceSlice bad",
                "message": "ResourceSlice bad: spec.pool.name: required, but missing or empty"}],
        })
    );
}

/// 40Gi of 80Gi are taken; half of one unit is 0.5.
#[test]
fn counters_say_what_is_left() {
    let pool = json!({"name": "p", "generation": 1, "resourceSliceCount": 2});
    let takes =
        |amount: &str| json!([{"counterSet": "gpu", "counters": {"memory": {"value": amount}}}]);
    let list = listed(&[
        slice(
            "a",
            json!({"driver": "d", "pool": pool, "nodeName": "n", "sharedCounters": [
            {"name": "gpu", "counters": {"memory": {"value": "80Gi"}, "slots": {"value": "500m"}}}]}),
        ),
        slice(
            "b",
            json!({"driver": "d", "pool": pool, "perDeviceNodeSelection": true, "devices": [
            {"name": "x", "nodeName": "n", "consumesCounters": takes("40Gi")},
            {"name": "y", "allNodes": true, "consumesCounters": takes("10Gi")}]}),
        ),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "ns"},
            "spec": {"devices": {"requests": []}}, "status": {"allocation": {"devices": {"results": [
                {"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}}}),
    ]);
    let pool = &list["pools"][0];
    assert_eq!(
        pool["counters"],
        json!([{"set": "gpu", "counters": {
            "memory": {"total": "85899345920", "left": "42949672960"}, "slots": {"total": "0.5", "left": "0.5"}}}])
    );
    let reach = |i: usize| &pool["devices"][i]["nodes"];
    assert_eq!((reach(0), reach(1)), (&json!(["n"]), &Value::Null));
    assert_eq!(pool["complete"], true);
}
