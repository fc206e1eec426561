//! Node selectors that no pod wrote, like those of slices: which nodes one matches, by labels and name alone.
//!
//! Upstream: `component-helpers/scheduling/corev1/nodeaffinity`, `NewNodeSelector` and `Match`.

use serde_json::{Value, json};

use super::Filters;
use crate::object::Object;
use crate::plugin::Slot;

/// Nodes to select from.
#[derive(Clone, Debug)]
pub struct Selection {
    filters: Filters,
    nodes: Slot,
}

impl Selection {
    /// These nodes, in this order. Whether they take pods does not matter.
    pub fn of<'a>(nodes: impl IntoIterator<Item = &'a Object>) -> Self {
        let mut selection = Self {
            filters: Filters::new(),
            nodes: 0,
        };
        for node in nodes {
            // Without allocatable there is nothing that could be wrong with the node.
            if let Ok(bare) = Object::from_value(bare(node)) {
                let _ = selection.filters.put_node(selection.nodes, &bare);
            }
            selection.nodes += 1;
        }
        selection
    }

    /// Positions of the nodes that a node selector matches; none at all if it cannot be read.
    pub fn matching(&self, selector: &Value) -> Option<Vec<usize>> {
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": selector});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "selector"},
            "spec": {"affinity": {"nodeAffinity": required}}});
        let pod = Object::from_value(pod).ok()?;
        let requirements = self.filters.requirements(&pod).ok()?;
        let matches = |slot: &Slot| self.filters.check_placement(&requirements, *slot).is_ok();
        let slots = (0..self.nodes).filter(matches);
        Some(slots.map(|slot| slot as usize).collect())
    }
}

fn bare(node: &Object) -> Value {
    let labels = node.value().pointer("/metadata/labels");
    let metadata = json!({"name": &*node.id().name, "labels": labels.cloned().unwrap_or_default()});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata})
}
