//! The native basic filters as the loop uses them: nodes by name, and one check per pod.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::cycle::{Node, NodeCheck};
use crate::object::{Kind, Object};
use crate::plugin::{Action, ObjectEvent, Status};
use crate::queue::interests::{Interests, plain};

/// Nodes and what runs on them.
#[derive(Debug, Default)]
pub struct Native {
    nodes: Vec<Node>,
}

impl Native {
    /// No nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the whole cluster.
    pub fn rebuild(&mut self, cluster: &Cluster) {
        let kind = Kind::new("Node");
        let entries = cluster.list(&kind);
        self.nodes = entries
            .map(|entry| Node {
                slot: entry.slot,
                name: entry.object.id().name.clone(),
            })
            .collect();
        self.nodes.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// All nodes, by name.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Follows a change.
    pub fn on_event(&mut self, event: &ObjectEvent, cluster: &Cluster) {
        if event.kind.as_str() == "Node" {
            self.rebuild(cluster);
        }
    }

    /// The filters for one pod.
    pub fn check(&self, _pod: &Object) -> Box<dyn NodeCheck + '_> {
        Box::new(Everything)
    }
}

struct Everything;

impl NodeCheck for Everything {
    fn check(&self, _node: &Node) -> Option<(Arc<str>, Status)> {
        None
    }
}

/// Events that may help a pod which a native filter refused.
pub fn register(interests: &mut Interests) {
    let nodes = || plain("Node", &[Action::Add, Action::Update]);
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
        vec![nodes(), plain("Pod", &[Action::Delete, Action::Update])],
    );
}
