//! The native basic filters as the loop uses them: nodes by name, what runs on them, and one check per attempt.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::cycle::{Node, NodeCheck};
use crate::filters::{Filters, Obstacle, PodRequirements, PriorityClasses};
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{Action, ObjectEvent, Status};
use crate::queue::interests::{Interests, plain};

use super::Note;

const NODE: &str = "Node";
const POD: &str = "Pod";
const PRIORITY_CLASS: &str = "PriorityClass.scheduling.k8s.io";

/// Nodes, the pods on them, and priority classes.
#[derive(Default)]
pub struct Native {
    nodes: Vec<Node>,
    filters: Filters,
    classes: PriorityClasses,
    /// A node came, changed or went since `nodes` was made.
    stale: bool,
}

impl Native {
    /// No nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the whole cluster. Returns what is wrong with objects.
    pub fn rebuild(&mut self, cluster: &Cluster) -> Vec<Note> {
        *self = Self {
            stale: true,
            ..Self::default()
        };
        let mut notes = Vec::new();
        for entry in cluster.list(&Kind::new(NODE)) {
            note(
                &mut notes,
                entry.object.id(),
                self.filters.put_node(entry.slot, &entry.object),
            );
        }
        for entry in cluster.list(&Kind::new(POD)) {
            note(
                &mut notes,
                entry.object.id(),
                self.filters.put_pod(&entry.object),
            );
        }
        for entry in cluster.list(&Kind::new(PRIORITY_CLASS)) {
            note(
                &mut notes,
                entry.object.id(),
                self.classes.put(&entry.object),
            );
        }
        self.refresh(cluster);
        notes
    }

    /// All nodes, by name, as of the last `refresh`.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Brings the list of nodes up to date.
    pub fn refresh(&mut self, cluster: &Cluster) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let kind = Kind::new(NODE);
        let entries = cluster.list(&kind);
        self.nodes = entries
            .map(|entry| Node {
                slot: entry.slot,
                name: entry.object.id().name.clone(),
            })
            .collect();
        self.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Follows a change. `assumed` is the node of a pod that is on its way there.
    pub fn on_event(
        &mut self,
        event: &ObjectEvent,
        assumed: Option<&str>,
        cluster: &Cluster,
    ) -> Option<Note> {
        let object = event.new.as_ref().or(event.old.as_ref())?;
        let gone = event.action == Action::Delete;
        let result = match (event.kind.as_str(), gone) {
            (NODE, gone) => self.change_node(object, gone, cluster),
            (POD, false) => match assumed {
                Some(node) => self.filters.put_pod_on(object, node),
                None => self.filters.put_pod(object),
            },
            (POD, true) => {
                self.filters.remove_pod(object.id());
                Ok(())
            }
            (PRIORITY_CLASS, false) => self.classes.put(object),
            (PRIORITY_CLASS, true) => {
                self.classes.remove(&object.id().name);
                Ok(())
            }
            _ => Ok(()),
        };
        let message = result.err()?;
        Some(Note {
            object: object.id().to_string(),
            message,
        })
    }

    fn change_node(&mut self, node: &Object, gone: bool, cluster: &Cluster) -> Result<(), String> {
        self.stale = true;
        if gone {
            let known = self.nodes.iter().find(|known| known.name == node.id().name);
            if let Some(known) = known {
                self.filters.remove_node(known.slot);
            }
            return Ok(());
        }
        let kind = Kind::new(NODE);
        let slot = cluster
            .entry(&kind, "", &node.id().name)
            .map(|entry| entry.slot);
        slot.map_or(Ok(()), |slot| self.filters.put_node(slot, node))
    }

    /// The pod takes its place on a node before the API server says so.
    pub fn assume(&mut self, pod: &Object, node: &str) {
        // What is wrong with the pod was told when its attempt began.
        let _ = self.filters.put_pod_on(pod, node);
    }

    /// It did not get there.
    pub fn forget(&mut self, pod: &ObjectRef) {
        self.filters.remove_pod(pod);
    }

    /// The filters for one pod. The error names the field that cannot be used.
    pub fn check(&self, pod: &Object) -> Result<PodCheck<'_>, String> {
        Ok(PodCheck {
            requirements: self.filters.prepare(pod)?,
            filters: &self.filters,
        })
    }

    /// Everything that the filters have against each of these nodes.
    pub fn obstacles(&self, pod: &Object, nodes: &[Node]) -> Result<Vec<Vec<Obstacle>>, String> {
        let requirements = self.filters.prepare(pod)?;
        let nodes = nodes.iter();
        Ok(nodes
            .map(|node| self.filters.obstacles(&requirements, node.slot))
            .collect())
    }

    /// What of a pod is not checked, in words.
    pub fn not_checked(&self, pod: &Object) -> Option<String> {
        let names = self.filters.not_checked(pod);
        let text = || {
            let names = names.join(", ");
            format!("requests {names}, which no node in the input has: not checked")
        };
        (!names.is_empty()).then(text)
    }

    /// A pod's priority, and what is wrong with it.
    pub fn priority(&self, pod: &Object) -> (i64, Option<String>) {
        let priority = self.classes.of_or_default(pod);
        (priority, self.classes.of(pod).err())
    }

    /// The lowest priority of a pod that has a node.
    pub fn lowest_placed(&self, cluster: &Cluster) -> Option<i64> {
        let kind = Kind::new(POD);
        let placed = cluster
            .list(&kind)
            .map(|entry| &entry.object)
            .filter(|pod| {
                let finished = matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"));
                !pod.text("/spec/nodeName").unwrap_or_default().is_empty() && !finished
            });
        placed.map(|pod| self.classes.of_or_default(pod)).min()
    }
}

/// The filters for one pod.
pub struct PodCheck<'a> {
    requirements: PodRequirements,
    filters: &'a Filters,
}

impl NodeCheck for PodCheck<'_> {
    fn check(&self, node: &Node) -> Option<(Arc<str>, Status)> {
        let rejection = self.filters.check(&self.requirements, node.slot).err()?;
        let reasons = rejection.reason.split(", ").map(str::to_owned);
        // Only this one has several reasons; those of the others may hold a comma.
        let reasons = match rejection.plugin {
            "NodeResourcesFit" => reasons.collect(),
            _ => vec![rejection.reason.clone()],
        };
        Some((
            rejection.plugin.into(),
            Status {
                code: rejection.code,
                reasons,
            },
        ))
    }
}

/// Events that may help a pod which a native filter refused.
pub fn register(interests: &mut Interests) {
    let nodes = || plain(NODE, &[Action::Add, Action::Update]);
    for filter in [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
    ] {
        interests.register(filter, vec![nodes()]);
    }
    interests.register(
        "NodeResourcesFit",
        vec![nodes(), plain(POD, &[Action::Delete])],
    );
}

fn note(notes: &mut Vec<Note>, object: &ObjectRef, result: Result<(), String>) {
    if let Err(message) = result {
        notes.push(Note {
            object: object.to_string(),
            message,
        });
    }
}
