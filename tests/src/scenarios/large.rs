//! `cluster-50-nodes`: its checks in plain words, one by one, and the outcome of first fit exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::manifest;
use dractl::object::{Kind, Object};
use dractl::plugin::{BUILT_IN, CompileCache, Limits, Runtime, Settings};
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use serde_json::Value;

use super::check::{self, Strictness};
use super::{read_expected, shared_folder, simulate};

const NAME: &str = "scenarios/cluster-50-nodes";
const CLAIM: &str = "ResourceClaim.resource.k8s.io";

/// `driver/pool/device`.
type DeviceId = String;

fn objects(scenario: &Path) -> Vec<Object> {
    let inputs = [scenario.join("input")];
    let input = manifest::read(&inputs, &mut std::io::empty(), &|_| true).expect("it can be read");
    assert!(input.object_errors.is_empty(), "{:?}", input.object_errors);
    input.objects
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn id(result: &Value) -> DeviceId {
    ["driver", "pool", "device"]
        .map(|key| text(result, key))
        .join("/")
}

/// Attributes of every device of the current slices; stale slices apart.
struct Devices {
    attributes: BTreeMap<DeviceId, Value>,
    stale: BTreeSet<DeviceId>,
}

impl Devices {
    fn of(objects: &[Object]) -> Self {
        let slices = || {
            objects
                .iter()
                .filter(|object| object.id().kind.short() == "ResourceSlice")
                .map(|object| &object.value()["spec"])
        };
        let pool =
            |spec: &Value| format!("{}/{}", text(spec, "driver"), text(&spec["pool"], "name"));
        let generation = |spec: &Value| spec["pool"]["generation"].as_i64().expect("a number");
        let mut newest: BTreeMap<String, i64> = BTreeMap::new();
        for spec in slices() {
            let known = newest.entry(pool(spec)).or_default();
            *known = generation(spec).max(*known);
        }
        let (mut attributes, mut stale) = (BTreeMap::new(), BTreeSet::new());
        for spec in slices() {
            let current = generation(spec) == newest[&pool(spec)];
            for device in list(spec, "/devices") {
                let id = format!("{}/{}", pool(spec), text(device, "name"));
                if current {
                    attributes.insert(id, device["basic"]["attributes"].clone());
                } else {
                    stale.insert(id);
                }
            }
        }
        Self { attributes, stale }
    }

    /// The value of an attribute, whatever its type.
    fn attribute(&self, id: &str, name: &str) -> Option<&Value> {
        self.attributes
            .get(id)?
            .get(name)?
            .as_object()?
            .values()
            .next()
    }

    /// The one value that all these devices have.
    fn common(&self, ids: &[DeviceId], name: &str) -> Value {
        let values: Vec<_> = ids.iter().map(|id| self.attribute(id, name)).collect();
        let first = values[0].unwrap_or_else(|| panic!("{} has no {name}", ids[0]));
        assert!(
            values.iter().all(|value| *value == Some(first)),
            "{name}: {ids:?} {values:?}"
        );
        first.clone()
    }
}

/// A placed pod: its group, node, claim objects and devices.
struct Placed {
    group: String,
    node: String,
    claims: Vec<String>,
    devices: Vec<DeviceId>,
}

fn placed(output: &Value) -> Vec<Placed> {
    let scheduled = list(output, "/pods").filter(|pod| pod["verdict"] == "scheduled");
    let pods = scheduled.map(|pod| Placed {
        group: group(text(pod, "name")).to_owned(),
        node: text(pod, "node").to_owned(),
        claims: list(pod, "/claims")
            .map(|claim| text(claim, "claim").to_owned())
            .collect(),
        devices: list(pod, "/claims")
            .flat_map(|claim| list(claim, "/devices"))
            .map(id)
            .collect(),
    });
    pods.collect()
}

/// The name without its number.
fn group(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(group, _)| group)
}

#[test]
fn summary_and_checks() {
    let Some(scenario) = shared_folder(NAME) else {
        return;
    };
    let expected = read_expected(&scenario);
    let finished = simulate(&scenario, &expected.run, "json");
    assert_eq!(finished.status, 1);
    let output = finished.json();
    summary(&expected.summary, &output);
    assert_eq!(expected.checks.len(), 7, "a check is new or gone");

    let objects = objects(&scenario);
    let devices = Devices::of(&objects);
    let running: BTreeSet<DeviceId> = running_claims(&objects)
        .flat_map(|claim| list(claim.value(), "/status/allocation/devices/results").map(id))
        .collect();
    assert_eq!(running.len(), 36, "18 claims with a GPU and a NIC each");
    let pods = placed(&output);

    // No device is allocated twice.
    let mut taken: BTreeMap<&DeviceId, &[String]> = BTreeMap::new();
    for pod in &pods {
        assert!(!pod.devices.is_empty());
        for id in &pod.devices {
            assert!(!running.contains(id), "{id} is a running pod's");
            let other = taken.insert(id, &pod.claims);
            assert!(
                other.is_none_or(|claims| *claims == pod.claims),
                "{id} is taken twice"
            );
            // Nothing from the stale slice, or from nowhere.
            assert!(!devices.stale.contains(id), "{id} is stale");
            assert!(devices.attributes.contains_key(id), "{id} does not exist");
        }
    }
    let stale: Vec<&str> = devices
        .stale
        .iter()
        .filter_map(|id| id.rsplit('/').next())
        .collect();
    assert_eq!(stale, ["gpu-10", "gpu-11", "gpu-8", "gpu-9"]);
    for pod in &pods {
        check_group(pod, &devices);
    }
    let shared: Vec<&Placed> = pods
        .iter()
        .filter(|pod| pod.group == "shared-a100")
        .collect();
    assert_eq!(shared.len(), 4);
    for pod in &shared {
        assert_eq!(
            (&pod.node, &pod.claims),
            (&shared[0].node, &shared[0].claims)
        );
        assert_eq!(pod.devices, shared[0].devices);
    }
}

fn running_claims(objects: &[Object]) -> impl Iterator<Item = &Object> {
    objects.iter().filter(|object| {
        object.id().kind.as_str() == CLAIM && object.value().pointer("/status/allocation").is_some()
    })
}

/// `4 scheduled (one device for all four)`, `2 unschedulable on any choice (...)`.
fn summary(wanted: &BTreeMap<String, String>, output: &Value) {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for pod in list(output, "/pods") {
        let key = (
            group(text(pod, "name")).to_owned(),
            text(pod, "verdict").to_owned(),
        );
        *counts.entry(key).or_default() += 1;
    }
    let wanted: BTreeMap<(String, String), usize> = wanted
        .iter()
        .map(|(group, words)| {
            let mut words = words.split(' ');
            let count = words
                .next()
                .and_then(|count| count.parse().ok())
                .expect("a number first");
            (
                (group.clone(), words.next().expect("a verdict").to_owned()),
                count,
            )
        })
        .collect();
    assert_eq!(wanted.len(), 8);
    assert_eq!(counts, wanted);
}

fn check_group(pod: &Placed, devices: &Devices) {
    let of = |driver: &str| -> Vec<DeviceId> {
        let start = format!("{driver}/{}/", pod.node);
        pod.devices
            .iter()
            .filter(|id| id.starts_with(&start))
            .cloned()
            .collect()
    };
    let (gpus, nics) = (of("gpu.nvidia.com"), of("dra.net"));
    assert_eq!(
        gpus.len() + nics.len(),
        pod.devices.len(),
        "all are the node's own"
    );
    let product = |id: &str| devices.attribute(id, "productName").and_then(Value::as_str);
    let is_model =
        |id: &DeviceId, model: &str| product(id).is_some_and(|name| name.contains(model));
    match pod.group.as_str() {
        "shared-a100" => {
            assert_eq!((gpus.len(), nics.len()), (1, 0));
            assert!(is_model(&gpus[0], "A100"));
        }
        "mig-set" => {
            assert_eq!((gpus.len(), nics.len()), (4, 0));
            devices.common(&gpus, "parentUUID");
        }
        "gpu-nic-aligned" => {
            assert_eq!((gpus.len(), nics.len()), (1, 1));
            devices.common(&pod.devices, "resource.kubernetes.io/pcieRoot");
        }
        "half-node" => {
            assert_eq!((gpus.len(), nics.len()), (4, 4));
            devices.common(&nics, "resource.kubernetes.io/numaNode");
        }
        "whole-node" => {
            assert_eq!((gpus.len(), nics.len()), (8, 8));
            assert!(gpus.iter().all(|id| is_model(id, "H100")));
            assert_ne!(pod.node, "h100-005");
        }
        "one-gpu" => assert_eq!((gpus.len(), nics.len()), (1, 0)),
        other => panic!("nothing of {other} can be placed"),
    }
}

/// With the rules of 1.31, incomplete pools included, and nodes taken by name, everything is as the Go program had it.
#[test]
fn first_fit_of_1_31_exactly() {
    let Some(scenario) = shared_folder(NAME) else {
        return;
    };
    let expected = read_expected(&scenario);
    let output = simulate(&scenario, "--profile 1.31", "json").json();
    let found = check::differences(&expected, &output, Strictness::FirstFit);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn running_claims_keep_their_devices() {
    let Some(scenario) = shared_folder(NAME) else {
        return;
    };
    let objects = objects(&scenario);
    let before: Vec<Object> = running_claims(&objects).cloned().collect();
    assert_eq!(before.len(), 18);
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(objects);
    cluster.run_claim_controller();
    cluster.deliver();
    let cluster = Arc::new(Mutex::new(cluster));
    let settings = Settings {
        config: b"{}".to_vec(),
        limits: Limits::default(),
        ..Settings::default()
    };
    let runtime = Runtime::new(&CompileCache::User).expect("an engine");
    let plugin = runtime
        .load(BUILT_IN, "built-in", &settings)
        .expect("it loads");
    let mut scheduler = Scheduler::new(
        cluster.clone(),
        Rc::new(plugin),
        SchedulerSettings::default(),
    )
    .expect("it starts");
    scheduler.run(&mut OneAtATime);

    let cluster = cluster.lock().expect("no panic");
    for claim in &before {
        let id = claim.id();
        let entry = cluster
            .entry(&id.kind, &id.namespace, &id.name)
            .expect("still there");
        assert_eq!(
            entry.object.value()["status"],
            claim.value()["status"],
            "{}",
            id.name
        );
    }
    let mut owners: BTreeMap<DeviceId, String> = BTreeMap::new();
    for entry in cluster.list(&Kind::new(CLAIM)) {
        let claim = &entry.object;
        for result in list(claim.value(), "/status/allocation/devices/results") {
            let other = owners.insert(id(result), claim.id().name.to_string());
            assert_eq!(other, None, "{} of {}", id(result), claim.id().name);
        }
    }
    assert!(owners.len() > 300, "{}", owners.len());
}
