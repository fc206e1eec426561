//! What an instance remembers from call to call is forgotten in time: after each kind of change an instance that lives through all
//! of them says what one says that remembers nothing.

use std::sync::{Arc, Mutex, PoisonError};

use dractl::api::Caller;
use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::object::{Kind, Object};
use dractl::plugin::{
    ApiCall, BUILT_IN, Code, InFlight, Plugin, SchedulingInstance, Services, Settings,
};
use serde_json::{Value, json};

use crate::fixture::{RUNTIME, object};
use crate::native::Native;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";
const SLICE: &str = "ResourceSlice.resource.k8s.io";

fn node(name: &str, zone: &str) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}}),
    )
}

fn class(expression: &str) -> Object {
    object(
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]}}),
    )
}

/// `reach` says which nodes have it; device `dN` has the N-th size.
fn slice(name: &str, reach: Value, sizes: &[i64]) -> Object {
    let device = |(i, size): (usize, &i64)| json!({"name": format!("d{i}"), "attributes": {"size": {"int": size}}});
    let devices: Vec<Value> = sizes.iter().enumerate().map(device).collect();
    let mut spec = json!({"driver": "d", "devices": devices,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}});
    for (key, value) in reach.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    object(
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}),
    )
}

fn of_node(name: &str, sizes: &[i64]) -> Object {
    slice(name, json!({"nodeName": name}), sizes)
}

fn claim(name: &str, expression: &str, holds: Option<(&str, &str)>) -> Object {
    let exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1,
        "selectors": [{"cel": {"expression": expression}}]});
    let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}")},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}});
    if let Some((pool, device)) = holds {
        claim["status"] = json!({"allocation": {"devices": {"results": [
            {"request": "r", "driver": "d", "pool": pool, "device": device}]}}});
    }
    object(claim)
}

fn pod() -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "uid": "uid-p"},
        "spec": {"resourceClaims": [{"name": "c", "resourceClaimName": "wanted"}]}}),
    )
}

fn delete(cluster: &mut Cluster, kind: &str, namespace: &str, name: &str) {
    let stored = cluster.stored().stored(&Kind::new(kind), namespace, name);
    let target = stored.expect("it is there").id().clone();
    let call = ApiCall::Delete { target };
    cluster.api().call(Caller::Other, &call).expect("deleted");
}

fn fly(cluster: &mut Cluster, pool: &str, device: &str) {
    let held = claim("other", "true", Some((pool, device)));
    let target = cluster
        .entry(&Kind::new(CLAIM), "default", "other")
        .expect("it is there")
        .object
        .id()
        .clone();
    let entry = InFlight {
        target,
        holder: "uid-q".into(),
        json: held.bytes().clone(),
    };
    cluster.put_in_flight("uid-q", vec![entry]).expect("taken");
}

type Change = fn(&mut Cluster);

const LARGE: &str = "device.attributes['d'].size > 5";

/// A change, and the nodes that have a device for the pod afterwards.
const CHANGES: [(&str, Change, &[&str]); 16] = [
    ("nothing", |_| (), &["a"]),
    (
        "slice changed",
        |c| _ = c.load(vec![of_node("b", &[9])]),
        &["a", "b"],
    ),
    (
        "slice changed, the same number of devices",
        |c| _ = c.load(vec![of_node("a", &[1, 1])]),
        &["b"],
    ),
    ("slice deleted", |c| delete(c, SLICE, "", "b"), &[]),
    (
        "slices in the same places",
        |c| _ = c.load(vec![of_node("b", &[1]), of_node("a", &[9])]),
        &["a"],
    ),
    (
        "class changed",
        |c| _ = c.load(vec![class("device.attributes['d'].size < 5")]),
        &[],
    ),
    (
        "claim changed",
        |c| _ = c.load(vec![claim("wanted", "true", None)]),
        &["b"],
    ),
    (
        "class changed back",
        |c| _ = c.load(vec![class("true")]),
        &["a", "b"],
    ),
    (
        "device taken",
        |c| _ = c.load(vec![claim("other", "true", Some(("a", "d0")))]),
        &["b"],
    ),
    (
        "another one instead",
        |c| _ = c.load(vec![claim("other", "true", Some(("b", "d0")))]),
        &["a"],
    ),
    (
        "given back",
        |c| _ = c.load(vec![claim("other", "true", None)]),
        &["a", "b"],
    ),
    ("in flight", |c| fly(c, "a", "d0"), &["b"]),
    (
        "no longer in flight",
        |c| _ = c.remove_in_flight("uid-q", &Kind::new(CLAIM), "uid-other", true),
        &["a", "b"],
    ),
    (
        "selected nodes",
        |c| {
            let terms =
                json!([{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]}]);
            delete(c, SLICE, "", "a");
            delete(c, SLICE, "", "b");
            c.load(vec![slice(
                "s",
                json!({"nodeSelector": {"nodeSelectorTerms": terms}}),
                &[9],
            )]);
        },
        &["a", "b"],
    ),
    ("node moved", |c| _ = c.load(vec![node("b", "y")]), &["a"]),
    (
        "read anew",
        |c| {
            [SLICE, CLAIM, "Node"]
                .iter()
                .for_each(|kind| c.relist(&Kind::new(kind)))
        },
        &["a"],
    ),
];

fn verdicts(instance: &mut dyn SchedulingInstance, cluster: &Mutex<Cluster>) -> Vec<String> {
    let (at, nodes) = {
        let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = Kind::new("Node");
        let nodes = cluster.list(&kind);
        let mut nodes: Vec<_> = nodes
            .map(|entry| (entry.object.id().name.to_string(), entry.slot))
            .collect();
        nodes.sort();
        (cluster.revision(), nodes)
    };
    let slots: Vec<_> = nodes.iter().map(|(_, slot)| *slot).collect();
    let (cycle, _) = instance.pre_filter(&pod(), at).expect("it begins");
    let answers = instance.filter(cycle, &slots).expect("it answers");
    instance.end_cycle(cycle).expect("it ends");
    let fits = |verdict: &u32| answers.statuses[*verdict as usize].code == Code::Success;
    let named = nodes.into_iter().zip(&answers.verdicts);
    named
        .filter(|(_, verdict)| fits(verdict))
        .map(|((name, _), _)| name)
        .collect()
}

#[test]
fn nothing_is_remembered_too_long() {
    let cluster = Cluster::new(ClusterSettings::default());
    let cluster = Arc::new(Mutex::new(cluster));
    let change = |change: Change| {
        let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut cluster);
        cluster.deliver();
    };
    change(|cluster| {
        cluster.load(vec![
            node("a", "x"),
            node("b", "x"),
            class("true"),
            of_node("a", &[1, 9]),
            of_node("b", &[1]),
            claim("wanted", LARGE, None),
            claim("other", "true", None),
        ]);
    });
    let configs = ["{}", r#"{"caches": false}"#];
    let start = |plugin: &dyn Plugin| plugin.scheduling(cluster.clone()).expect("it starts");
    let mut instances = Vec::new();
    for config in configs {
        let settings = Settings {
            config: config.into(),
            ..Settings::default()
        };
        let component = RUNTIME.load(BUILT_IN, "built-in", &settings);
        let component = component.unwrap_or_else(|error| panic!("{error}"));
        instances.push((config, "component", start(&component)));
        instances.push((config, "native", start(&Native::new(config))));
    }
    for (what, step, expected) in CHANGES {
        change(step);
        for (config, how, instance) in &mut instances {
            let found = verdicts(instance.as_mut(), &cluster);
            assert_eq!(found, expected, "{what}, {how} {config}");
        }
    }
}
