//! Clusters in the shape of the recorded ones: one slice a node, devices with five attributes and two capacities, half of them
//! in use, one allocated claim for each of those.

use dractl::object::Object;
use fastrand::Rng;
use serde_json::{Value, json};

pub const DRIVER: &str = "gpu.example.com";
const MODELS: [&str; 3] = ["A100", "H100", "L40"];

/// What the pods ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One device of a model, with enough memory.
    Selector,
    /// Four devices of one NUMA node.
    Match4,
    /// Two claims, the second for a healthy device with a new driver.
    Two,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Selector, Self::Match4, Self::Two];

    pub fn name(self) -> &'static str {
        match self {
            Self::Selector => "selector",
            Self::Match4 => "match4",
            Self::Two => "two",
        }
    }
}

/// A device as it was generated, for working out what must come out.
#[derive(Clone, Debug)]
struct Device {
    model: usize,
    numa: usize,
    healthy: bool,
    version: usize,
    large: bool,
    used: bool,
}

/// A generated cluster.
pub struct Generated {
    /// In the order in which they are loaded.
    pub objects: Vec<Object>,
    /// On how many nodes the first pod can run.
    pub feasible: usize,
}

pub fn object(value: Value) -> Object {
    Object::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

pub fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": format!("uid-{name}"),
        "labels": {"kubernetes.io/hostname": name}}})
}

pub fn class() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu", "uid": "uid-class"},
        "spec": {"selectors": [{"cel": {"expression": format!("device.driver == \"{DRIVER}\"")}}]}})
}

/// The only slice of a node.
pub fn slice(node: &str, devices: Vec<Value>) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
        "metadata": {"name": format!("{node}-{DRIVER}"), "uid": format!("uid-slice-{node}"), "resourceVersion": "1"},
        "spec": {"driver": DRIVER, "nodeName": node, "devices": devices,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}})
}

/// `body` is what the request says beside its name and class.
pub fn request(name: &str, body: Value) -> Value {
    let mut exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
    let fields = body.as_object().into_iter().flatten();
    for (key, value) in fields {
        exactly[key] = value.clone();
    }
    json!({"name": name, "exactly": exactly})
}

pub fn claim(name: &str, devices: Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "1"},
        "spec": {"devices": devices}})
}

pub fn pod(name: &str, claims: &[String]) -> Value {
    let claims = claims.iter().enumerate();
    let claims: Vec<Value> = claims
        .map(|(i, claim)| json!({"name": format!("c{i}"), "resourceClaimName": claim}))
        .collect();
    json!({"apiVersion": "v1", "kind": "Pod", "spec": {"resourceClaims": claims}, "status": {},
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "1"}})
}

/// A claim that holds one device.
fn held(node: &str, device: usize) -> Value {
    let name = format!("used-{node}-{device}");
    let mut claim = claim(&name, json!({"requests": [request("r", json!({}))]}));
    claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
    claim["status"] = json!({
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": node, "device": format!("dev-{device}")}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [node]}]}]},
        },
        "reservedFor": [{"resource": "pods", "name": format!("user-of-{name}"), "uid": format!("uid-user-of-{name}")}],
    });
    claim
}

fn device(index: usize, device: &Device) -> Value {
    json!({"name": format!("dev-{index}"),
    "attributes": {
        "driverVersion": {"version": format!("1.{}.0", device.version)}, "healthy": {"bool": device.healthy},
        "index": {"int": index}, "model": {"string": MODELS[device.model]}, "numa": {"int": device.numa},
    },
    "capacity": {
        "cores": {"value": "128"}, "memory": {"value": if device.large { "80Gi" } else { "40Gi" }},
    }})
}

/// Which model a pod asks for, and whether with much memory.
fn wish(pod: usize) -> (usize, bool) {
    (pod % MODELS.len(), pod % 2 == 1)
}

fn claims_of(kind: Kind, number: usize) -> Vec<Value> {
    let attribute = |rest: &str| format!("device.attributes['{DRIVER}'].{rest}");
    let selecting =
        |expression: String| json!({"selectors": [{"cel": {"expression": expression}}]});
    let (model, large) = wish(number);
    let model = selecting(format!(
        "{} && device.capacity['{DRIVER}'].memory.compareTo(quantity('{}')) >= 0",
        attribute(&format!("model == '{}'", MODELS[model])),
        if large { "80Gi" } else { "40Gi" }
    ));
    match kind {
        Kind::Selector => vec![json!({"requests": [request("r", model)]})],
        Kind::Match4 => vec![json!({
            "requests": [request("r", json!({"count": 4}))],
            "constraints": [{"matchAttribute": format!("{DRIVER}/numa")}],
        })],
        Kind::Two => {
            let second = selecting(format!(
                "{} && {}.compareTo(semver('1.2.0')) >= 0",
                attribute("healthy"),
                attribute("driverVersion")
            ));
            vec![
                json!({"requests": [request("r", model)]}),
                json!({"requests": [request("r", second)]}),
            ]
        }
    }
}

/// Whether the first pod fits, worked out from what was generated.
fn fits_first(kind: Kind, devices: &[Device]) -> bool {
    let free = || devices.iter().filter(|device| !device.used);
    let (model, large) = wish(0);
    let suits = |device: &&Device| device.model == model && (device.large || !large);
    let second = |device: &&Device| device.healthy && device.version >= 2;
    match kind {
        Kind::Selector => free().any(|device| suits(&device)),
        Kind::Match4 => (0..2).any(|numa| free().filter(|device| device.numa == numa).count() >= 4),
        Kind::Two => {
            // One for each, and not the same one for both.
            let (first, both) = (
                free().filter(suits).count(),
                free().filter(|d| suits(d) && second(d)).count(),
            );
            let others = free().filter(second).count();
            first > 0 && others > 0 && (first > 1 || others > 1 || both == 0)
        }
    }
}

/// The same for the same arguments.
pub fn generate(kind: Kind, nodes: usize, devices: usize, pods: usize) -> Generated {
    let mut random = Rng::with_seed(7);
    let mut values = vec![class()];
    let mut feasible = 0;
    for number in 0..nodes {
        let name = format!("node-{number:05}");
        values.push(node(&name));
        let made: Vec<Device> = (0..devices)
            .map(|i| Device {
                model: random.usize(..MODELS.len()),
                numa: i * 2 / devices,
                healthy: random.f64() < 0.95,
                version: random.usize(..4),
                large: random.bool(),
                used: random.bool(),
            })
            .collect();
        let written = made.iter().enumerate().map(|(i, made)| device(i, made));
        values.push(slice(&name, written.collect()));
        let used = made.iter().enumerate().filter(|(_, device)| device.used);
        values.extend(used.map(|(i, _)| held(&name, i)));
        feasible += usize::from(fits_first(kind, &made));
    }
    for number in 0..pods {
        let bodies = claims_of(kind, number).into_iter().enumerate();
        let named = bodies.map(|(i, body)| (format!("pod-{number:05}-c{i}"), body));
        let named: Vec<(String, Value)> = named.collect();
        let names: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
        values.extend(named.into_iter().map(|(name, body)| claim(&name, body)));
        values.push(pod(&format!("pod-{number:05}"), &names));
    }
    Generated {
        objects: values.into_iter().map(object).collect(),
        feasible,
    }
}
