//! Bodies for publishing a PodSchedulingContext (spec section 8).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{child, insert_list, insert_text};
use crate::api::{ObjectMeta, PodSchedulingContext};
use crate::profile::Profile;

const API_VERSION: &str = "resource.k8s.io/v1alpha3";
const KIND: &str = "PodSchedulingContext";

/// Edits of one scheduling cycle that are not yet published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulingContextEdits {
    /// New selected node; `Some("")` deselects.
    pub selected_node: Option<String>,
    /// New potential nodes.
    pub potential_nodes: Option<Vec<String>>,
}

impl SchedulingContextEdits {
    /// Whether there is anything to publish.
    pub fn is_dirty(&self) -> bool {
        self.selected_node.is_some() || self.potential_nodes.is_some()
    }
}

/// Body of the Update: the known object with the edits applied.
pub fn context_update(known: &Value, edits: &SchedulingContextEdits) -> Value {
    let mut updated = known.clone();
    let spec = child(&mut updated, "spec");
    if let Some(node) = &edits.selected_node {
        spec.shift_remove("selectedNode");
        insert_text(spec, "selectedNode", node);
    }
    if let Some(nodes) = &edits.potential_nodes {
        spec.shift_remove("potentialNodes");
        insert_list(spec, "potentialNodes", nodes, |node| node.as_str().into());
    }
    updated
}

/// Body of the Create, owned by the pod.
pub fn context_create(pod: &ObjectMeta, edits: &SchedulingContextEdits) -> Value {
    let mut spec = Map::new();
    insert_text(
        &mut spec,
        "selectedNode",
        edits.selected_node.as_deref().unwrap_or_default(),
    );
    let nodes = edits.potential_nodes.as_deref().unwrap_or_default();
    insert_list(&mut spec, "potentialNodes", nodes, |node| {
        node.as_str().into()
    });
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": pod.name,
            "namespace": pod.namespace,
            "ownerReferences": [{
                "apiVersion": "v1",
                "kind": "Pod",
                "name": pod.name,
                "uid": pod.uid,
                "controller": true,
                "blockOwnerDeletion": true,
            }],
        },
        "spec": spec,
    })
}

/// Body of the server-side apply after a conflict. Potential nodes are always repeated; an unedited selected node only
/// where the profile says so (D15), and a deselected one is sent as an empty string.
pub fn context_apply(
    pod: &ObjectMeta,
    known: &PodSchedulingContext,
    edits: &SchedulingContextEdits,
    profile: &Profile,
) -> Value {
    let mut spec = Map::new();
    match &edits.selected_node {
        Some(node) => {
            spec.insert("selectedNode".into(), node.as_str().into());
        }
        None if profile.apply_keeps_selected_node() => {
            insert_text(&mut spec, "selectedNode", &known.selected_node)
        }
        None => {}
    }
    let nodes = edits
        .potential_nodes
        .as_ref()
        .unwrap_or(&known.potential_nodes);
    insert_list(&mut spec, "potentialNodes", nodes, |node| {
        node.as_str().into()
    });
    json!({
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "spec": spec,
    })
}
