//! A host with a few objects, which counts what is written, and short ways to write objects.

use std::cell::Cell;

use serde_json::{Value, json};

use super::schema;
use crate::cycle::Scope;
use crate::host::*;
use crate::plugin::Plugin;
use crate::status::Status;

/// All objects that a host shows.
#[derive(Default)]
pub struct Cluster {
    objects: Vec<Object>,
    in_flight: Vec<InFlight>,
    written: Cell<u32>,
}

/// Configuration with every gate that lets more be said.
pub const CURRENT: &str = r#"{"features": {"DRAAdminAccess": true, "DRAListTypeAttributes": true,
    "DRADeviceTaintRules": true, "DRAConsumableCapacity": true}}"#;
pub const COMPAT: &str = r#"{"profile": "1.31", "features": {"DRAControlPlaneController": true}}"#;

impl Cluster {
    /// Nodes `n1` in zone a and `n2` in zone b, and these.
    pub fn new(objects: Vec<Value>) -> Self {
        let mut cluster = Self::default();
        for (name, zone) in [("n1", "a"), ("n2", "b")] {
            cluster.add(json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"zone": zone}}}));
        }
        objects.into_iter().for_each(|object| cluster.add(object));
        cluster
    }

    pub fn add(&mut self, value: Value) {
        self.objects.push(object(&value));
    }

    /// The claim was decided for a pod with this uid.
    pub fn decided(mut self, claim: &Value, holder: &str) -> Self {
        let object = object(claim);
        self.in_flight.push(InFlight {
            target: object.id,
            holder: holder.into(),
            json: object.json,
        });
        self
    }

    /// What is told about the pod `p` on a node, checked.
    pub fn explain(&self, config: &str, node: &str) -> Value {
        let mut plugin = Plugin::default();
        plugin
            .configure(self, config.as_bytes())
            .expect("configuration");
        self.explain_with(&mut plugin, node)
    }

    pub fn explain_with(&self, plugin: &mut Plugin, node: &str) -> Value {
        let mut pods = self
            .objects
            .iter()
            .filter(|object| object.id.kind == kinds::POD);
        let pod = pods.next_back().expect("a pod");
        let answers = plugin.explain(self, pod, &[node.to_owned()]);
        assert_eq!(answers.len(), 1);
        let answer: Value = serde_json::from_slice(&answers[0]).expect("JSON");
        assert_eq!(schema::violations(&answer), [""; 0], "{answer:#}");
        let (at, status) = self.decision(plugin, pod, node);
        let expected = (at, code(&status), status.reasons.join(", "));
        let verdict = &answer["verdict"];
        let text = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
        assert_eq!(
            (verdict["at"].as_str(), text("code"), text("message")),
            expected,
            "{answer:#}"
        );
        assert_eq!(self.written.get(), 0, "explaining writes nothing");
        check_sums(&answer);
        answer
    }

    /// What a cycle says.
    fn decision(
        &self,
        plugin: &mut Plugin,
        pod: &Object,
        node: &str,
    ) -> (Option<&'static str>, Status) {
        let status = plugin.pre_enqueue(self, pod);
        if !status.is_success() {
            return (Some("PreEnqueue"), status);
        }
        let (cycle, scope) = plugin.pre_filter(self, pod);
        match scope {
            Scope::Rejected(status) => return (Some("PreFilter"), status),
            Scope::Skip => return (None, Status::success()),
            Scope::AllNodes => {}
        }
        let mut nodes = self.of(kinds::NODE);
        let slot = nodes
            .position(|object| object.id.name == node)
            .expect("a node");
        let mut answers = plugin.filter(self, &cycle, &[slot as Slot]);
        let status = answers.statuses.remove(0);
        ((!status.is_success()).then_some("Filter"), status)
    }

    fn of(&self, kind: &str) -> impl Iterator<Item = &Object> {
        self.objects
            .iter()
            .filter(move |object| object.id.kind == kind)
    }

    fn refuse(&self) -> ApiError {
        self.written.set(self.written.get() + 1);
        ApiError {
            reason: ApiErrorReason::Forbidden,
            message: "not here".into(),
        }
    }
}

fn code(status: &Status) -> String {
    use crate::status::Code;
    let code = match status.code {
        Code::Success => "success",
        Code::Error => "error",
        Code::UnschedulableAndUnresolvable => "unschedulable-and-unresolvable",
        Code::InvalidObject => "invalid-object",
        other => panic!("{other:?} is not expected"),
    };
    code.to_owned()
}

/// Each device that was looked at is free, or counts in one reason.
fn check_sums(answer: &Value) {
    for request in all(answer, "/claims/*/requests/*") {
        let reasons = request["reasons"].as_array().into_iter().flatten();
        let counted: u64 = reasons.filter_map(|reason| reason["count"].as_u64()).sum();
        let number = |field: &str| request[field].as_u64().unwrap_or_default();
        assert_eq!(number("looked"), number("free") + counted, "{request:#}");
    }
}

/// What a path leads to; `*` stands for all elements.
pub fn all<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for step in path.split('/').skip(1) {
        let next = |value: &'v Value| match (step, value) {
            ("*", Value::Array(values)) => values.iter().collect(),
            (_, Value::Array(values)) => values
                .get(step.parse().unwrap_or(usize::MAX))
                .into_iter()
                .collect(),
            _ => value.get(step).into_iter().collect::<Vec<_>>(),
        };
        found = found.into_iter().flat_map(next).collect();
    }
    found
}

pub fn object(value: &Value) -> Object {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = text(&value["kind"]);
    let version = text(&value["apiVersion"]);
    let meta = &value["metadata"];
    Object {
        id: ObjectRef {
            kind: match version.split_once('/') {
                Some((group, _)) => format!("{kind}.{group}"),
                None => kind,
            },
            namespace: text(&meta["namespace"]),
            name: text(&meta["name"]),
            uid: text(&meta["uid"]),
        },
        resource_version: "1".into(),
        json: value.to_string().into_bytes(),
    }
}

/// `resource.k8s.io/v1`
fn dra(kind: &str, namespace: Option<&str>, name: &str) -> Value {
    let mut value = json!({"apiVersion": "resource.k8s.io/v1", "kind": kind,
        "metadata": {"name": name, "uid": format!("uid-{name}")}});
    if let Some(namespace) = namespace {
        value["metadata"]["namespace"] = namespace.into();
    }
    value
}

pub fn class(name: &str, expressions: &[&str]) -> Value {
    let mut value = dra("DeviceClass", None, name);
    value["spec"]["selectors"] = cel(expressions);
    value
}

pub fn cel(expressions: &[&str]) -> Value {
    let selector = |text: &&str| json!({"cel": {"expression": text}});
    expressions.iter().map(selector).collect()
}

/// Of driver `gpu.example.com` for `n1`: a pool of one slice that is named as the slice.
pub fn slice(name: &str, devices: Value) -> Value {
    let mut value = dra("ResourceSlice", None, name);
    value["spec"] = json!({"driver": "gpu.example.com", "nodeName": "n1", "devices": devices,
        "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}});
    value
}

pub fn device(name: &str, attributes: Value) -> Value {
    json!({"name": name, "attributes": attributes})
}

pub fn claim(name: &str, requests: Value) -> Value {
    let mut value = dra("ResourceClaim", Some("ns"), name);
    value["spec"]["devices"]["requests"] = requests;
    value
}

/// A request of class `gpu`.
pub fn request(name: &str, count: i64, expressions: &[&str]) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count,
        "selectors": cel(expressions)}})
}

/// A request for all of class `gpu`.
pub fn request_all(name: &str) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}})
}

/// The claim has these devices, given as `driver/pool/device`, for pods of these names.
pub fn allocated(mut claim: Value, devices: &[&str], pods: &[&str]) -> Value {
    let result = |name: &&str| {
        let mut parts = name.split('/');
        json!({"request": "r", "driver": parts.next(), "pool": parts.next(), "device": parts.next()})
    };
    let results: Value = devices.iter().map(result).collect();
    let pods = pods
        .iter()
        .map(|name| json!({"resource": "pods", "name": name, "uid": format!("uid-{name}")}));
    claim["status"] = json!({"allocation": {"devices": {"results": results}}, "reservedFor": pods.collect::<Vec<_>>()});
    claim
}

/// The pod `ns/p` with these claims.
pub fn pod(claims: &[&str]) -> Value {
    let entry = |name: &&str| json!({"name": format!("{name}-entry"), "resourceClaimName": name});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "uid-p"},
        "spec": {"resourceClaims": claims.iter().map(entry).collect::<Vec<_>>(), "containers": []}})
}

impl Host for Cluster {
    fn changes(&self, kind: &str, since: Revision) -> Result<Page<Change>, ApiError> {
        let changes = self.of(kind).enumerate().map(|(slot, object)| Change::Put {
            slot: slot as Slot,
            object: object.clone(),
            assumed: false,
        });
        Ok(Page {
            reset: true,
            changes: changes.collect(),
            until: since + 1,
            more: false,
        })
    }

    fn in_flight_changes(&self, since: Revision) -> Page<InFlightChange> {
        let changes = self.in_flight.iter().cloned().map(InFlightChange::Put);
        Page {
            reset: true,
            changes: changes.collect(),
            until: since + 1,
            more: false,
        }
    }

    fn get_in_flight(&self, _: &str, uid: &str) -> Option<InFlight> {
        self.in_flight
            .iter()
            .find(|entry| entry.target.uid == uid)
            .cloned()
    }

    fn put_in_flight(&self, _: &[InFlight]) -> Result<(), ApiError> {
        Err(self.refuse())
    }

    fn remove_in_flight(&self, _: &str, _: &str, _: bool) -> bool {
        self.refuse();
        false
    }

    fn assume(&self, _: &Object) -> Result<(), ApiError> {
        Err(self.refuse())
    }

    fn restore(&self, _: &str, _: &str, _: &str) {
        self.refuse();
    }

    fn cached(&self, kind: &str, namespace: &str, name: &str) -> Result<Object, ApiError> {
        let found = self
            .of(kind)
            .find(|object| object.id.namespace == namespace && object.id.name == name);
        found.cloned().ok_or_else(|| ApiError {
            reason: ApiErrorReason::NotFound,
            message: format!("{kind} \"{name}\" not found"),
        })
    }

    fn api_get(&self, _: &str, _: &str, _: &str) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_create(&self, _: &[u8]) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_update(&self, _: &[u8]) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_update_status(&self, _: &[u8]) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_patch_status_strategic(&self, _: &ObjectRef, _: &[u8]) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_apply(&self, _: &[u8], _: &str, _: bool) -> Result<Object, ApiError> {
        Err(self.refuse())
    }

    fn api_delete(&self, _: &ObjectRef) -> Result<(), ApiError> {
        Err(self.refuse())
    }

    fn now(&self) -> u64 {
        0
    }

    fn sleep(&self, _: u64) -> Result<(), SleepError> {
        Err(SleepError::NotHere)
    }

    fn random(&self) -> u64 {
        0
    }

    fn log(&self, _: Level, _: &str, _: &[(&str, &str)]) {}
}
