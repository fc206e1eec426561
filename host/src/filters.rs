//! The basic filters of a scheduler, run natively before the plugin, so that answers are true for real dumps.
//!
//! Upstream: the plugins NodeUnschedulable, NodeName, TaintToleration, NodeAffinity and NodeResourcesFit, in the order of the
//! default configuration; the first that refuses a node is the one that is reported. State is kept per node slot and changed
//! with each event, so that a check costs no more than the pod asks for.

mod fields;
mod names;
mod node_affinity;
mod not_imitated;
mod obstacles;
mod priority;
mod quantity;
mod resources;
mod selection;
mod taints;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::object::{Object, ObjectRef};
use crate::plugin::{Code, Slot};
use names::{Id, Names};
use node_affinity::{Labels, NodeAffinity};
pub use not_imitated::{Held, held, no_preemption, not_imitated};
pub use obstacles::{Obstacle, amount};
pub use priority::PriorityClasses;
pub(crate) use quantity::Quantity;
use resources::{Allocatable, Resources, Used};
pub use selection::Selection;
use taints::{Taint, Toleration};

/// Why a node is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Upstream's name of the plugin.
    pub plugin: &'static str,
    /// Code.
    pub code: Code,
    /// Upstream's text; several reasons of one plugin are joined by `, `.
    pub reason: String,
}

/// What a pod asks of a node.
#[derive(Clone, Debug)]
pub struct PodRequirements {
    node_name: Option<String>,
    tolerations: Vec<Toleration>,
    tolerates_unschedulable: bool,
    affinity: NodeAffinity,
    resources: Resources,
    /// How many names there were when theirs were looked up.
    names_known: usize,
}

impl PodRequirements {
    fn of(pod: &Value, names: &Names) -> Result<Self, String> {
        let tolerations = Toleration::all_of(pod)?;
        let node_name = pod
            .pointer("/spec/nodeName")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let mut requirements = Self {
            node_name: node_name.map(str::to_owned),
            tolerates_unschedulable: taints::tolerates_unschedulable(&tolerations),
            tolerations,
            affinity: NodeAffinity::of(pod)?,
            resources: Resources::requested_by(pod)?,
            names_known: 0,
        };
        requirements.resolve(names);
        Ok(requirements)
    }

    fn resolve(&mut self, names: &Names) {
        self.affinity.resolve(names);
        self.resources.resolve(names);
        self.names_known = names.len();
    }
}

/// A node, apart from its pods.
#[derive(Clone, Debug)]
struct NodeFacts {
    name: Arc<str>,
    unschedulable: bool,
    taints: Vec<Taint>,
    labels: Labels,
    /// Or what is wrong with the fields of the node.
    allocatable: Result<Allocatable, String>,
    /// Index into `Filters::used`.
    used: usize,
}

impl NodeFacts {
    fn check_placement(&self, pod: &PodRequirements, names: &Names) -> Result<(), Rejection> {
        if self.unschedulable && !pod.tolerates_unschedulable {
            return unresolvable("NodeUnschedulable", "node(s) were unschedulable".to_owned());
        }
        if pod
            .node_name
            .as_ref()
            .is_some_and(|name| **name != *self.name)
        {
            return unresolvable(
                "NodeName",
                "node(s) didn't match the requested node name".to_owned(),
            );
        }
        if let Some(taint) = taints::untolerated(&self.taints, &pod.tolerations).next() {
            let reason = format!(
                "node(s) had untolerated taint {{{}: {}}}",
                taint.key, taint.value
            );
            return unresolvable("TaintToleration", reason);
        }
        if !pod.affinity.matches(&self.labels, &self.name, names) {
            return unresolvable(
                "NodeAffinity",
                "node(s) didn't match Pod's node affinity/selector".to_owned(),
            );
        }
        Ok(())
    }

    fn check_resources(
        &self,
        pod: &PodRequirements,
        used: &Used,
        is_offered: impl Fn(Id) -> bool,
    ) -> Result<(), Rejection> {
        const PLUGIN: &str = "NodeResourcesFit";
        let allocatable = match &self.allocatable {
            Ok(allocatable) => allocatable,
            Err(problem) => {
                return unresolvable(PLUGIN, format!("node(s) could not be read: {problem}"));
            }
        };
        resources::check(&pod.resources, allocatable, used, is_offered).map_err(|shortage| {
            Rejection {
                plugin: PLUGIN,
                code: if shortage.unresolvable {
                    Code::UnschedulableAndUnresolvable
                } else {
                    Code::Unschedulable
                },
                reason: shortage.reasons.join(", "),
            }
        })
    }
}

/// Nothing that happens to pods can make the node fit.
#[cold]
fn unresolvable(plugin: &'static str, reason: String) -> Result<(), Rejection> {
    Err(Rejection {
        plugin,
        code: Code::UnschedulableAndUnresolvable,
        reason,
    })
}

/// A pod that has a node.
#[derive(Clone, Debug)]
struct PlacedPod {
    /// Index into `Filters::used`.
    node: usize,
    resources: Resources,
}

/// State of the filters: nodes by slot, and the pods on them.
#[derive(Clone, Debug, Default)]
pub struct Filters {
    /// By slot.
    nodes: Vec<Option<NodeFacts>>,
    /// Per node name that a node or a pod ever had: pods may come before their node, and stay longer.
    used: Vec<Used>,
    node_names: HashMap<Arc<str>, usize>,
    /// By namespace and name.
    pods: HashMap<(Arc<str>, Arc<str>), PlacedPod>,
    names: Names,
    /// How many nodes state each resource beside the four named ones.
    stated: HashMap<Id, usize>,
}

impl Filters {
    /// Without nodes and pods.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces the node with this number. After an error, which names the field, the node is there but refuses pods.
    pub fn put_node(&mut self, slot: Slot, node: &Object) -> Result<(), String> {
        let value = node.value();
        let facts = NodeFacts {
            name: node.id().name.clone(),
            unschedulable: value
                .pointer("/spec/unschedulable")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
            taints: taints::taints_of(value),
            labels: Labels::of(value, &mut self.names),
            allocatable: Allocatable::of(value, &mut self.names),
            used: self.used_index(&node.id().name),
        };
        let problem = facts.allocatable.as_ref().err().cloned();
        self.remove_node(slot);
        for name in facts.allocatable.iter().flat_map(Allocatable::others) {
            *self.stated.entry(name).or_default() += 1;
        }
        let slot = slot as usize;
        if self.nodes.len() <= slot {
            self.nodes.resize(slot + 1, None);
        }
        self.nodes[slot] = Some(facts);
        problem.map_or(Ok(()), Err)
    }

    /// Removes the node with this number.
    pub fn remove_node(&mut self, slot: Slot) {
        let node = self.nodes.get_mut(slot as usize).and_then(Option::take);
        let allocatable = node.and_then(|node| node.allocatable.ok());
        for name in allocatable.iter().flat_map(Allocatable::others) {
            if let Some(count) = self.stated.get_mut(&name) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Adds or replaces a pod. It uses something if it has a node and has not ended. After an error, which names the field,
    /// it counts as a pod that requests nothing.
    pub fn put_pod(&mut self, pod: &Object) -> Result<(), String> {
        self.put_pod_on(pod, pod.text("/spec/nodeName").unwrap_or_default())
    }

    /// As `put_pod`, for a pod that has been given a node but does not say so yet. An empty name is no node.
    pub fn put_pod_on(&mut self, pod: &Object, node: &str) -> Result<(), String> {
        self.remove_pod(pod.id());
        let has_ended = matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"));
        if node.is_empty() || has_ended {
            return Ok(());
        }
        let requested = Resources::requested_by(pod.value());
        let (mut resources, problem) = match requested {
            Ok(resources) => (resources, Ok(())),
            Err(problem) => (Resources::default(), Err(problem)),
        };
        resources.intern(&mut self.names);
        let node = self.used_index(node);
        self.used[node].add(&resources);
        let key = (pod.id().namespace.clone(), pod.id().name.clone());
        self.pods.insert(key, PlacedPod { node, resources });
        problem
    }

    /// Removes a pod, if it is there.
    pub fn remove_pod(&mut self, pod: &ObjectRef) {
        if let Some(placed) = self.pods.remove(&(pod.namespace.clone(), pod.name.clone())) {
            self.used[placed.node].remove(&placed.resources);
        }
    }

    /// Reads what a pod asks for. The error names pod and field. Best done once per attempt: nodes and pods that come later
    /// make checks slower, though not wrong.
    pub fn prepare(&self, pod: &Object) -> Result<PodRequirements, String> {
        self.requirements(pod)
            .map_err(|problem| format!("{}: {problem}", pod.id()))
    }

    /// As `prepare`, with an error that does not name the pod.
    pub(crate) fn requirements(&self, pod: &Object) -> Result<PodRequirements, String> {
        PodRequirements::of(pod.value(), &self.names)
    }

    /// Extended resources that the pod requests and no node states: manifests that were never applied name resources whose
    /// device plugin does not run. They are not checked.
    pub fn not_checked(&self, pod: &Object) -> Vec<String> {
        let requirements = self.requirements(pod);
        let names = requirements.iter().flat_map(|requirements| {
            let resources = &requirements.resources;
            resources.not_offered(|name| self.is_offered(name))
        });
        names.map(str::to_owned).collect()
    }

    fn is_offered(&self, name: Id) -> bool {
        self.stated.get(&name).is_some_and(|nodes| *nodes > 0)
    }

    /// Whether the pod may go to the node with this number.
    pub fn check(&self, pod: &PodRequirements, slot: Slot) -> Result<(), Rejection> {
        let node = self.node(slot)?;
        self.with_names(pod, |pod| {
            node.check_placement(pod, &self.names)?;
            node.check_resources(pod, &self.used[node.used], |name| self.is_offered(name))
        })
    }

    /// As `check`, whether or not there is room for the pod.
    pub fn check_placement(&self, pod: &PodRequirements, slot: Slot) -> Result<(), Rejection> {
        let node = self.node(slot)?;
        self.with_names(pod, |pod| node.check_placement(pod, &self.names))
    }

    fn node(&self, slot: Slot) -> Result<&NodeFacts, Rejection> {
        self.nodes
            .get(slot as usize)
            .and_then(Option::as_ref)
            .ok_or_else(|| Rejection {
                plugin: "",
                code: Code::UnschedulableAndUnresolvable,
                reason: format!("node {slot} is gone"),
            })
    }

    /// Looks the names of the pod up again if there are new ones since.
    fn with_names<R>(&self, pod: &PodRequirements, check: impl FnOnce(&PodRequirements) -> R) -> R {
        if pod.names_known == self.names.len() {
            return check(pod);
        }
        let mut fresh = pod.clone();
        fresh.resolve(&self.names);
        check(&fresh)
    }

    fn used_index(&mut self, name: &str) -> usize {
        if let Some(index) = self.node_names.get(name) {
            return *index;
        }
        let index = self.used.len();
        self.used.push(Used::default());
        self.node_names.insert(name.into(), index);
        index
    }
}

#[cfg(test)]
mod tests;
