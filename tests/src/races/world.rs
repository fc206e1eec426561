//! The small cluster of a case, and what others do in it. All from the case's seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use dractl::api::Caller;
use dractl::cluster::{Cluster, Settings};
use dractl::object::{Kind, Object};
use dractl::plugin::{ApiCall, LogLevel};
use fastrand::Rng;
use serde_json::{Value, json};

/// ResourceClaim.
pub const CLAIM: &str = "ResourceClaim.resource.k8s.io";
/// ResourceSlice.
pub const SLICE: &str = "ResourceSlice.resource.k8s.io";
/// PodSchedulingContext.
pub const CONTEXT: &str = "PodSchedulingContext.resource.k8s.io";
/// Pod.
pub const POD: &str = "Pod";
/// Namespace of all pods and claims.
pub const NAMESPACE: &str = "ns";
/// Name of the driver.
pub const DRIVER: &str = "d.example.com";
/// Pool whose devices all nodes reach.
pub const NETWORK: &str = "net";
/// Keeps allocated claims.
pub const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// A case before its first step.
pub struct World {
    /// Everything random after this.
    pub rng: Rng,
    /// Number of the configuration.
    pub config: usize,
    /// The cluster.
    pub cluster: Arc<Mutex<Cluster>>,
    /// Devices asked for, by claim; those of classic claims are the driver's business.
    pub counts: BTreeMap<String, usize>,
    /// Objects that appear later.
    pub late: Vec<Object>,
    /// Whether a call was made to fail after which a pod may keep a reservation that it does not need.
    pub keeps: bool,
    api_version: &'static str,
}

impl World {
    /// Two or three pods, claims and nodes.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let config = [0, 0, 0, 1, 1, 1, 2, 3][rng.usize(..8)];
        let settings = Settings {
            seed: rng.u64(..),
            log_level: LogLevel::Error,
            ..Settings::default()
        };
        let mut world = Self {
            config,
            cluster: Arc::new(Mutex::new(Cluster::new(settings))),
            counts: BTreeMap::new(),
            late: Vec::new(),
            keeps: false,
            api_version: match config {
                0 => "resource.k8s.io/v1",
                _ => "resource.k8s.io/v1alpha3",
            },
            rng,
        };
        let mut objects = world.nodes_and_slices();
        let claims = world.claims();
        let number = claims.len();
        objects.extend(claims);
        objects.extend(world.pods(number));
        let (early, late): (Vec<_>, Vec<_>) = objects.into_iter().partition(|(_, early)| *early);
        world.late = late.into_iter().map(|(object, _)| of(object)).collect();
        let early = early.into_iter().map(|(object, _)| of(object)).collect();
        world.cluster().load(early);
        world
    }

    /// The cluster; must not be held during a step.
    pub fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// Whether classic claims can be scheduled.
    pub fn classic(&self) -> bool {
        self.config >= 2
    }

    /// Whether upstream's code of 1.31 is imitated with what it does wrong.
    pub fn literal(&self) -> bool {
        self.config >= 1
    }

    /// Somebody else makes a call. What fails, fails.
    pub fn call(&self, call: &ApiCall) -> bool {
        self.cluster().api().call(Caller::Other, call).is_ok()
    }

    fn one_in(&mut self, cases: usize) -> bool {
        self.rng.usize(..cases) == 0
    }

    /// With each object whether it is there from the start.
    fn nodes_and_slices(&mut self) -> Vec<(Value, bool)> {
        let class = json!({"apiVersion": self.api_version, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {}});
        let mut objects = vec![(class, true)];
        for number in 0..self.rng.usize(2..=3) {
            let name = format!("n{number}");
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
            objects.push((node, true));
            let devices = self.rng.usize(1..=2);
            let slice = self.slice(&name, devices, ("nodeName", name.clone().into()));
            objects.push((slice, !self.one_in(8)));
        }
        if self.one_in(4) {
            let slice = self.slice(NETWORK, 1, ("allNodes", true.into()));
            objects.push((slice, !self.one_in(2)));
        }
        objects
    }

    fn slice(&self, pool: &str, devices: usize, reach: (&str, Value)) -> Value {
        let device = |number: usize| match self.config {
            0 => json!({"name": format!("d{number}")}),
            _ => json!({"name": format!("d{number}"), "basic": {}}),
        };
        let devices: Value = (0..devices).map(device).collect();
        let mut slice = json!({"apiVersion": self.api_version, "kind": "ResourceSlice",
            "metadata": {"name": format!("s-{pool}")},
            "spec": {"driver": DRIVER, "devices": devices,
                "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1}}});
        slice["spec"][reach.0] = reach.1;
        slice
    }

    fn claims(&mut self) -> Vec<(Value, bool)> {
        let number = self.rng.usize(2..=3);
        let mut objects: Vec<_> = (0..number).map(|number| self.claim(number)).collect();
        // One is allocated already, maybe where no pod that uses it can run.
        if self.one_in(4) && self.counts.get("c0") == Some(&1) {
            let node = format!("n{}", self.rng.usize(..2));
            let (claim, early) = &mut objects[0];
            *early = true;
            claim["metadata"]["finalizers"] = json!([FINALIZER]);
            claim["status"] = json!({"allocation": {
                "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": node, "device": "d0"}]},
                "nodeSelector": on_node(&node)}});
        }
        objects
    }

    fn claim(&mut self, number: usize) -> (Value, bool) {
        let name = format!("c{number}");
        let count = if self.one_in(5) { 2 } else { 1 };
        let exactly =
            json!({"deviceClassName": "c", "allocationMode": "ExactCount", "count": count});
        let mut request = match self.config {
            0 => json!({"exactly": exactly}),
            _ => exactly,
        };
        request["name"] = "r".into();
        let mut claim = json!({"apiVersion": self.api_version, "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"devices": {"requests": [request]}}});
        if self.classic() && self.one_in(2) {
            claim["spec"]["controller"] = DRIVER.into();
        } else {
            self.counts.insert(name, count);
        }
        (claim, !self.one_in(8))
    }

    fn pods(&mut self, claims: usize) -> Vec<(Value, bool)> {
        let mut pods = Vec::new();
        for number in 0..self.rng.usize(2..=3) {
            let first = self.rng.usize(..claims);
            let mut names = vec![first];
            if self.rng.bool() {
                names.push((first + 1 + self.rng.usize(..claims - 1)) % claims);
            }
            let entry = |name: &usize| json!({"name": format!("e{name}"), "resourceClaimName": format!("c{name}")});
            let entries: Value = names.iter().map(entry).collect();
            let pod = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("p{number}"), "namespace": NAMESPACE},
                "spec": {"resourceClaims": entries}});
            pods.push((pod, !self.one_in(4)));
        }
        pods
    }
}

/// Nothing that holds the lock leaves the cluster half changed.
pub fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// A selector of exactly this node.
pub fn on_node(node: &str) -> Value {
    json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]})
}

/// An object of the API.
pub fn of(value: Value) -> Object {
    Object::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// Everything of a kind that the server stores.
pub fn stored(cluster: &Cluster, kind: &str) -> Vec<Object> {
    cluster.stored().list(&Kind::new(kind)).cloned().collect()
}

/// What stands at a path; `Value::pointer` would allocate for each name, very many times.
fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/')
        .skip(1)
        .try_fold(object, |value, name| value.get(name))
}

/// A list in an object; absent is empty.
pub fn list<'v>(object: &'v Value, path: &str) -> &'v [Value] {
    at(object, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A text in a value; absent is empty.
pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The pod's names for its claims, and the names of the claims.
pub fn claims_of(pod: &Object) -> impl Iterator<Item = (&str, &str)> {
    list(pod.value(), "/spec/resourceClaims")
        .iter()
        .map(|entry| (text(entry, "name"), text(entry, "resourceClaimName")))
}

/// A claim as it is stored.
pub fn claim(cluster: &Cluster, name: &str) -> Option<Object> {
    cluster
        .stored()
        .stored(&Kind::new(CLAIM), NAMESPACE, name)
        .cloned()
}

/// Whether `status.allocation` is there.
pub fn is_allocated(claim: &Object) -> bool {
    at(claim.value(), "/status/allocation").is_some()
}
