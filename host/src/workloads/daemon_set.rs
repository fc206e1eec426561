//! Nodes on which a DaemonSet wants a pod.

use serde_json::{Map, Value, json};

use super::pods::Target;
use crate::filters::{NodeFacts, PodRequirements};
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

/// One pod for each node that the template allows, by node name. Whether it fits there is for the scheduler to say.
pub(super) fn targets(
    template: &mut Map<String, Value>,
    nodes: &[&Object],
) -> Result<Vec<Target>, String> {
    add_tolerations(template);
    let pod = json!({"spec": template.get("spec")});
    let requirements =
        PodRequirements::of(&pod).map_err(|problem| format!("spec.template.{problem}"))?;
    let eligible = nodes
        .iter()
        .filter(|node| NodeFacts::of(node).check_placement(&requirements).is_ok());
    Ok((0..)
        .zip(eligible)
        .map(|(number, node)| Target::on_node(number, &node.id().name))
        .collect())
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
