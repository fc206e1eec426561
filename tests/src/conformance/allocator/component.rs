//! A pod with claims in a cluster, driven through PreFilter, Filter and Reserve of the component.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dractl::cluster::{Cluster, Settings};
use dractl::object::{Kind, Object};
use dractl::plugin::{
    self, BUILT_IN, Code, Component, CycleId, Plugin, SchedulingInstance, Scope, Slot, Status,
};
use dynamic_resources::allocator::INVALID_POOLS;
use serde_json::{Value, json};

use super::case::{Answer, without_empty};
use super::native::gate_of;
use crate::fixture::RUNTIME;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";
const POD_UID: &str = "pod-of-the-case";

thread_local! {
    /// Components by configuration.
    static COMPONENTS: RefCell<BTreeMap<String, Component>> = const { RefCell::new(BTreeMap::new()) };
}

fn component(config: &Value) -> Result<Component, String> {
    let config = crate::conformance::with_caches(config).to_string();
    let known = COMPONENTS.with_borrow(|components| components.get(&config).cloned());
    if let Some(component) = known {
        return Ok(component);
    }
    let settings = plugin::Settings {
        config: config.clone().into_bytes(),
        ..plugin::Settings::default()
    };
    let component = RUNTIME
        .load(BUILT_IN, "dynamic_resources.wasm", &settings)
        .map_err(|error| error.to_string())?;
    COMPONENTS.with_borrow_mut(|components| components.insert(config, component.clone()));
    Ok(component)
}

/// The cluster with its pod, and an instance of the component.
pub struct Scene {
    cluster: Arc<Mutex<Cluster>>,
    instance: Box<dyn SchedulingInstance>,
    pod: Object,
    namespace: String,
    /// Names, in the order of the pod.
    claims: Vec<String>,
    /// Whether the namespace was filled in, so that recorded texts do not have it.
    namespace_is_ours: bool,
}

impl Scene {
    /// A pod with `claims` in a cluster with `others`; `None` where the API would not keep these objects as they are, so that
    /// there is no such pod.
    pub fn new(
        config: &Value,
        others: Vec<Value>,
        claims: Vec<Value>,
    ) -> Result<Option<Self>, String> {
        let Some((namespace, names)) = names_of(&claims) else {
            return Ok(None);
        };
        let entry =
            |name: &String| json!({"name": format!("entry-{name}"), "resourceClaimName": name});
        let entries: Vec<Value> = names.iter().map(entry).collect();
        let namespace_is_ours = namespace.is_empty();
        let namespace = match namespace_is_ours {
            true => "default".to_owned(),
            false => namespace,
        };
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "pod", "namespace": namespace, "uid": POD_UID},
            "spec": {"resourceClaims": entries}});
        let given: Vec<Value> = others.into_iter().chain(claims).collect();
        let mut objects = Vec::new();
        for value in given.iter().chain([&pod]) {
            match Object::from_value(value.clone()) {
                Ok(object) => objects.push(object),
                Err(_) => return Ok(None),
            }
        }
        let mut cluster = Cluster::new(Settings::default());
        cluster.load(objects.clone());
        let kept = |(object, value): (&Object, &Value)| keeps(&cluster, object, value);
        if !objects.iter().zip(&given).all(kept) {
            return Ok(None);
        }
        let pod = cluster
            .entry(&Kind::new("Pod"), &namespace, "pod")
            .map(|entry| entry.object.clone())
            .ok_or("the pod is not in the cluster")?;
        let cluster = Arc::new(Mutex::new(cluster));
        let instance = component(config)?
            .scheduling(cluster.clone())
            .map_err(|error| error.to_string())?;
        Ok(Some(Self {
            cluster,
            instance,
            pod,
            namespace,
            claims: names,
            namespace_is_ours,
        }))
    }

    /// A whole scheduling cycle up to Reserve in which there is only this node; undone afterwards.
    pub fn answer(&mut self, node: &str) -> Result<Answer, String> {
        let (at, slot) = {
            let cluster = self.cluster();
            let entry = cluster.entry(&Kind::new("Node"), "", node);
            let slot = entry.ok_or_else(|| format!("no node {node}"))?.slot;
            (cluster.revision(), slot)
        };
        let (cycle, scope) = self
            .instance
            .pre_filter(&self.pod, at)
            .map_err(|error| error.to_string())?;
        let answer = match scope {
            Scope::AllNodes => self.filter_and_reserve(cycle, slot),
            Scope::Only(slots) if slots.contains(&slot) => self.filter_and_reserve(cycle, slot),
            Scope::Only(_) => Ok(Answer::DoesNotFit),
            Scope::Rejected(status) => answer_of(&status),
            Scope::Skip => Err("PreFilter skips a pod with claims".to_owned()),
        };
        self.cluster().remove_entries_of(POD_UID);
        self.instance
            .end_cycle(cycle)
            .map_err(|error| error.to_string())?;
        answer.map(|answer| self.as_recorded(answer))
    }

    fn filter_and_reserve(&mut self, cycle: CycleId, slot: Slot) -> Result<Answer, String> {
        let answers = self
            .instance
            .filter(cycle, &[slot])
            .map_err(|error| error.to_string())?;
        let verdict = answers.verdicts.first().copied().unwrap_or(u32::MAX);
        let status = answers
            .statuses
            .get(verdict as usize)
            .ok_or("Filter gives no status")?;
        if status.code != Code::Success {
            return answer_of(status);
        }
        let reserved = self
            .instance
            .reserve(cycle, slot)
            .map_err(|error| error.to_string())?;
        if reserved.status.code != Code::Success {
            return Err(format!("Reserve: {:?}", reserved.status));
        }
        let cluster = self.cluster();
        let allocation = |name: &String| {
            let entry = cluster
                .in_flight()
                .find(|entry| *entry.target.name == **name && entry.holder == *POD_UID)
                .ok_or_else(|| format!("claim {name} is not in flight after Reserve"))?;
            let claim: Value = serde_json::from_slice(&entry.json)
                .map_err(|error| format!("claim {name}: {error}"))?;
            Ok(without_empty(&claim["status"]["allocation"]))
        };
        self.claims
            .iter()
            .map(allocation)
            .collect::<Result<_, String>>()
            .map(Answer::Allocated)
    }

    /// Texts name a claim as the recording does.
    fn as_recorded(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Error(text) if self.namespace_is_ours => {
                Answer::Error(text.replace(&format!("claim {}/", self.namespace), "claim "))
            }
            other => other,
        }
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The claims' namespace and names, if a pod can have these claims and would have them allocated.
fn names_of(claims: &[Value]) -> Option<(String, Vec<String>)> {
    let text = |claim: &Value, pointer: &str| {
        let text = claim.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let namespace = text(claims.first()?, "/metadata/namespace");
    let mut names = Vec::new();
    for claim in claims {
        let name = text(claim, "/metadata/name");
        let ready = text(claim, "/spec/controller").is_empty()
            && claim
                .pointer("/status/allocation")
                .is_none_or(Value::is_null);
        if name.is_empty()
            || names.contains(&name)
            || text(claim, "/metadata/namespace") != namespace
            || !ready
        {
            return None;
        }
        names.push(name);
    }
    Some((namespace, names))
}

/// Whether the cluster holds an object as it was given, apart from metadata.
fn keeps(cluster: &Cluster, object: &Object, given: &Value) -> bool {
    let id = object.id();
    let namespace = match (&*id.kind.to_string(), &*id.namespace) {
        (CLAIM, "") => "default",
        (_, namespace) => namespace,
    };
    let held = cluster.entry(&id.kind, namespace, &id.name);
    held.is_some_and(|held| {
        let held = held.object.value();
        ["spec", "status"]
            .iter()
            .all(|part| held.get(part) == given.get(part))
    })
}

fn answer_of(status: &Status) -> Result<Answer, String> {
    let text = status.message();
    match status.code {
        Code::Error => Ok(Answer::Error(text)),
        Code::InvalidObject => gate_of(&text)
            .map(|gate| Answer::NotImplemented(gate.to_owned()))
            .ok_or(text.clone()),
        Code::UnschedulableAndUnresolvable if text == "cannot allocate all claims" => {
            Ok(Answer::DoesNotFit)
        }
        Code::UnschedulableAndUnresolvable
            if text == INVALID_POOLS
                || text.contains(": asks for all devices, but resource pool ")
                || text.ends_with(" does not exist") =>
        {
            Ok(Answer::Error(text))
        }
        code => Err(format!("{code:?}: {text}")),
    }
}
