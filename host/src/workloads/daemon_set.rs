//! Nodes on which a DaemonSet wants a pod.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::pods::Target;
use crate::filters::Filters;
use crate::object::Object;

/// Taints that the controller makes its pods tolerate: key and effect.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// For pods in the network of their host.
const NETWORK_UNAVAILABLE: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Nodes of the input, by name.
pub(super) struct Nodes {
    names: Vec<Arc<str>>,
    filters: Filters,
}

impl Nodes {
    /// All nodes among the objects.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut nodes: Vec<_> = objects
            .iter()
            .filter(|object| object.id().kind.as_str() == "Node")
            .collect();
        nodes.sort_by(|one, other| one.id().name.cmp(&other.id().name));
        let mut filters = Filters::new();
        for (slot, node) in (0..).zip(&nodes) {
            // What cannot be read of a node is its room, which does not count here.
            let _ = filters.put_node(slot, node);
        }
        Self {
            names: nodes.iter().map(|node| node.id().name.clone()).collect(),
            filters,
        }
    }

    /// One pod for each node that the template allows. Whether there is room is for the scheduler to say.
    pub(super) fn targets(&self, template: &mut Map<String, Value>) -> Result<Vec<Target>, String> {
        add_tolerations(template);
        let metadata = json!({"name": "template"});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec")});
        let pod = Object::from_value(pod).map_err(|error| error.to_string())?;
        let requirements = self
            .filters
            .requirements(&pod)
            .map_err(|problem| format!("spec.template.{problem}"))?;
        let nodes = (0..).zip(&self.names);
        let eligible =
            nodes.filter(|(slot, _)| self.filters.check_placement(&requirements, *slot).is_ok());
        Ok((0..)
            .zip(eligible)
            .map(|(number, (_, name))| Target::on_node(number, name))
            .collect())
    }
}

fn add_tolerations(template: &mut Map<String, Value>) {
    let Some(Value::Object(spec)) = template.get_mut("spec") else {
        return;
    };
    let on_host = spec
        .get("hostNetwork")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    let tolerated = TOLERATED
        .into_iter()
        .chain(on_host.then_some(NETWORK_UNAVAILABLE));
    let more =
        tolerated.map(|(key, effect)| json!({"key": key, "operator": "Exists", "effect": effect}));
    match spec.get_mut("tolerations") {
        Some(Value::Array(tolerations)) => tolerations.extend(more),
        None | Some(Value::Null) => {
            spec.insert("tolerations".to_owned(), more.collect());
        }
        Some(_) => {}
    }
}
