//! What the component answers to `advice.devices` against the schema that it publishes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::manifest;
use dractl::plugin::{BUILT_IN, Settings, SharedServices};
use serde_json::Value;

use crate::fixture::RUNTIME;
use crate::schema::check_against;

const SCHEMA: &str = include_str!("../../guest/schemas/devices.schema.json");

/// Something of everything that the list can hold.
const CLUSTER: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {zone: a}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: current}
spec:
  driver: d
  pool: {name: p, generation: 2, resourceSliceCount: 2}
  nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
  devices:
  - name: x
    attributes: {model: {string: m}, e.com/v: {version: 1.0.0}, n: {int: 1}, b: {bool: true}}
    capacity: {memory: {value: 4Gi}}
    taints: [{key: t, value: v, effect: NoSchedule}]
    consumesCounters: [{counterSet: s, counters: {c: {value: "1"}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: counters}
spec:
  driver: d
  pool: {name: p, generation: 2, resourceSliceCount: 2}
  allNodes: true
  sharedCounters: [{name: s, counters: {c: {value: 2500m}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: stale}
spec: {driver: d, pool: {name: p, generation: 1, resourceSliceCount: 1}, allNodes: true, devices: [{name: old}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: per-device}
spec:
  driver: d
  pool: {name: q, generation: 1, resourceSliceCount: 3}
  perDeviceNodeSelection: true
  devices: [{name: here, nodeName: n1}, {name: everywhere, allNodes: true}]
---
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: empty}
spec: {driver: e, nodeName: n1, pool: {name: r, generation: 1, resourceSliceCount: 1}, devices: [{name: nothing}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: unreadable}
spec: {driver: d}
---
apiVersion: resource.k8s.io/v1beta2
kind: DeviceTaintRule
metadata: {name: rule}
spec: {deviceSelector: {device: x}, taint: {key: u, effect: NoExecute}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: ns}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: k}}]}}
status:
  allocation:
    devices:
      results:
      - {request: r, driver: d, pool: p, device: x}
      - {request: r, driver: d, pool: p, device: gone, adminAccess: true}
  reservedFor: [{resource: pods, name: pod, uid: u}]
"#;

fn devices() -> Value {
    let input = manifest::read_text("test", CLUSTER, &|_| true).unwrap();
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(input.objects);
    cluster.deliver();
    let at = cluster.revision();
    let services: SharedServices = Arc::new(Mutex::new(cluster));
    let settings = Settings {
        config: br#"{"features": {"DRADeviceTaintRules": true}}"#.to_vec(),
        ..Settings::default()
    };
    let plugin = RUNTIME.load(BUILT_IN, "built-in", &settings).unwrap();
    let answer = plugin.advisor(&services).unwrap().devices(at).unwrap();
    serde_json::from_slice(&answer.unwrap()).unwrap()
}

/// Keys by which the schema describes objects, each with the object's place.
fn keys_of(schema: &Value, place: &str, found: &mut BTreeSet<String>) {
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(format!("{place}.{key}"));
        keys_of(inner, &format!("{place}.{key}"), found);
    }
    if schema["items"].is_object() {
        keys_of(&schema["items"], place, found);
    }
    if schema["additionalProperties"].is_object() {
        keys_of(
            &schema["additionalProperties"],
            &format!("{place}.*"),
            found,
        );
    }
}

/// Whether the answer has the key somewhere.
fn occurs(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(map) => map.contains_key(key) || map.values().any(|value| occurs(value, key)),
        Value::Array(values) => values.iter().any(|value| occurs(value, key)),
        _ => false,
    }
}

#[test]
fn the_list_of_devices_follows_its_schema() {
    let devices = devices();
    assert_eq!(check_against(SCHEMA, &devices), Vec::<String>::new());
    // Each key that is described is there, so that the look above was a look at something.
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut keys = BTreeSet::new();
    keys_of(&schema, "", &mut keys);
    for (name, part) in schema["$defs"].as_object().unwrap() {
        keys_of(part, name, &mut keys);
    }
    let missing: Vec<&String> = keys
        .iter()
        .filter(|place| {
            let key = place.rsplit('.').next().unwrap_or_default();
            !occurs(&devices, key)
        })
        .collect();
    assert_eq!(missing, Vec::<&String>::new(), "{devices:#}");
    // Values, as the objects above say.
    assert_eq!(devices["unreadable"].as_array().unwrap().len(), 1);
    assert_eq!(devices["unpublished"][0]["device"], "gone");
    assert_eq!(
        devices["pools"][0]["counters"][0]["counters"]["c"]["left"],
        "1.5"
    );
}
