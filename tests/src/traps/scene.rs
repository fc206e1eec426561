//! Small clusters for the traps: nodes `n1`, `n2`, ..., class `c`, driver `d.example.com`, and a pod `ns/p`.

use dractl::plugin::Plugin;
use serde_json::{Value, json};

use super::assert_success;
use crate::conformance::double::{Double, Stale, typed};
use crate::conformance::driver::Driver;
use crate::conformance::plugin::{API_VERSION, component};
use crate::native::Native;

/// Uid of the pod.
pub const POD_UID: &str = "pod-uid";
/// The two profiles: literal 1.31, and what upstream does today.
pub const PROFILES: [&str; 2] = ["1.31", "current"];

/// Runs a test through the component and through the native plugin, with classic DRA on.
pub fn on_both(profile: &str, test: impl Fn(&dyn Plugin)) {
    with_gates(profile, &json!({"DRAControlPlaneController": true}), test);
}

/// The same with other gates.
pub fn with_gates(profile: &str, gates: &Value, test: impl Fn(&dyn Plugin)) {
    let config = json!({"profile": profile, "features": gates}).to_string();
    eprintln!("profile {profile}, component");
    test(&component(&config));
    eprintln!("profile {profile}, native");
    test(&Native::new(&config));
}

/// A cluster before its first call.
#[derive(Default)]
pub struct Scene {
    pub double: Double,
    entries: Vec<Value>,
    statuses: Vec<Value>,
}

impl Scene {
    /// Nodes `n1` to `nN`, in slots 0 to N - 1, and a class without selectors.
    pub fn with_nodes(count: usize) -> Self {
        let mut scene = Self::default();
        for number in 1..=count {
            scene.node(&format!("n{number}"), &json!({}));
        }
        scene.class(&json!({}));
        scene
    }

    /// Node `n1` with device `x`, and claim `a` of the pod, which the scheduler has to allocate.
    pub fn with_device_and_claim() -> Self {
        let mut scene = Self::with_nodes(1);
        scene.devices("n1", &["x"]);
        scene.claim(&structured("a"));
        scene
    }

    /// One more node.
    pub fn node(&mut self, name: &str, labels: &Value) {
        let node = json!({"metadata": {"name": name, "labels": labels}});
        self.double.load("v1", "Node", &node);
    }

    /// The class `c`.
    pub fn class(&mut self, spec: &Value) {
        self.class_named("c", spec);
    }

    /// One more class.
    pub fn class_named(&mut self, name: &str, spec: &Value) {
        let class = json!({"metadata": {"name": name}, "spec": spec});
        self.double.load(API_VERSION, "DeviceClass", &class);
    }

    /// A whole pool on a node.
    pub fn devices(&mut self, node: &str, names: &[&str]) {
        self.slice(node, (node, 1), json!({"nodeName": node}), names);
    }

    /// A slice of a pool in this generation, for the nodes that `spec` says; it is all that the pool has.
    pub fn slice(
        &mut self,
        name: &str,
        (pool, generation): (&str, u64),
        mut spec: Value,
        devices: &[&str],
    ) {
        spec["driver"] = "d.example.com".into();
        spec["pool"] = json!({"name": pool, "generation": generation, "resourceSliceCount": 1});
        let device = |name: &&str| json!({"name": name, "basic": {}});
        spec["devices"] = devices.iter().map(device).collect();
        let slice = json!({"metadata": {"name": format!("slice-{name}")}, "spec": spec});
        self.double.load(API_VERSION, "ResourceSlice", &slice);
    }

    /// A claim that the pod does not use.
    pub fn foreign(&mut self, claim: &Value) {
        self.double.load(API_VERSION, "ResourceClaim", claim);
    }

    /// A claim of the pod, under an entry of the same name.
    pub fn claim(&mut self, claim: &Value) {
        let name = &claim["metadata"]["name"];
        self.entries
            .push(json!({"name": name, "resourceClaimName": name}));
        self.foreign(claim);
    }

    /// An entry for a claim that does not exist.
    pub fn claim_that_is_missing(&mut self, name: &str) {
        self.entries
            .push(json!({"name": name, "resourceClaimName": name}));
    }

    /// An entry that turned out to need no claim.
    pub fn entry_without_claim(&mut self, name: &str) {
        self.entries
            .push(json!({"name": name, "resourceClaimTemplateName": "t"}));
        self.statuses.push(json!({"name": name}));
    }

    /// The pod's scheduling context.
    pub fn context(&mut self, spec: &Value, claims: &Value) {
        let context = json!({"metadata": {"name": "p", "namespace": "ns", "uid": "context-uid", "resourceVersion": "5",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": POD_UID, "controller": true}]},
            "spec": spec, "status": {"resourceClaims": claims}});
        self.double
            .load(API_VERSION, "PodSchedulingContext", &context);
    }

    /// The pod as JSON.
    pub fn pod(&self) -> Value {
        json!({"metadata": {"name": "p", "namespace": "ns", "uid": POD_UID},
            "spec": {"resourceClaims": self.entries}, "status": {"resourceClaimStatuses": self.statuses}})
    }

    /// Ready for calls.
    pub fn driver(self, plugin: &dyn Plugin) -> Driver<'_> {
        let pod = typed("v1", "Pod", &self.pod());
        Driver::new(plugin, self.double, pod).unwrap_or_else(|error| panic!("{error}"))
    }

    /// PreFilter let the pod pass.
    #[track_caller]
    pub fn pre_filtered(self, plugin: &dyn Plugin) -> Driver<'_> {
        let mut driver = self.driver(plugin);
        assert_success(driver.pre_filter());
        driver
    }

    /// The pod got the node in slot 0.
    #[track_caller]
    pub fn reserved_on_n1(self, plugin: &dyn Plugin) -> Driver<'_> {
        let mut driver = self.pre_filtered(plugin);
        assert_success(driver.filter(0));
        assert_success(driver.reserve(0));
        driver
    }
}

/// A pod whose one claim was reserved on `n1`; writes of an old version are conflicts from now on.
pub fn one_claim_reserved(plugin: &dyn Plugin) -> Driver<'_> {
    let mut scene = Scene::with_device_and_claim();
    scene.double.stale = Stale::Conflict;
    let driver = scene.reserved_on_n1(plugin);
    driver.double().journal.clear();
    driver
}

/// A claim that the scheduler has to allocate: one device of class `c`.
pub fn structured(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "resourceVersion": "7"},
        "spec": {"devices": {"requests": [
            {"name": "r", "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}]}}})
}

/// A claim that a driver's controller has to allocate.
pub fn classic(name: &str) -> Value {
    let mut claim = structured(name);
    claim["spec"]["controller"] = "d.example.com".into();
    claim
}

/// The claim allocated where nodes match these terms, by whom it says.
pub fn allocated(mut claim: Value, terms: &Value) -> Value {
    let mut allocation = json!({"devices": {"results": [
        {"request": "r", "driver": "d.example.com", "pool": "elsewhere", "device": "x"}]},
        "nodeSelector": {"nodeSelectorTerms": terms}});
    if let Some(controller) = claim.pointer("/spec/controller") {
        allocation["controller"] = controller.clone();
    }
    claim["status"]["allocation"] = allocation;
    claim["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
    claim
}

/// Terms that match exactly this node.
pub fn on_node(name: &str) -> Value {
    json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}])
}

/// The claim reserved for somebody.
pub fn reserved(mut claim: Value, uids: &[&str]) -> Value {
    let consumers: Vec<_> = uids
        .iter()
        .map(|uid| json!({"resource": "pods", "name": format!("pod-{uid}"), "uid": uid}))
        .collect();
    claim["status"]["reservedFor"] = consumers.into();
    claim
}
