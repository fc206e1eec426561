//! One sentence per obstacle of the basic filters, and what would make it go away.

use crate::filters::Obstacle;

use super::phrase::Phrase;

/// Upstream's name of the plugin that it stands for.
pub fn filter(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Unschedulable => "NodeUnschedulable",
        Obstacle::NodeName { .. } => "NodeName",
        Obstacle::Taint { .. } => "TaintToleration",
        Obstacle::Label { .. } => "NodeAffinity",
        Obstacle::Resource { .. } | Obstacle::Unreadable(_) => "NodeResourcesFit",
    }
}

/// How far it is from fitting.
pub fn weight(obstacle: &Obstacle) -> u64 {
    match obstacle {
        Obstacle::Resource {
            wanted,
            allocatable,
            ..
        } if wanted > allocatable => 20,
        Obstacle::Resource { .. } => 2,
        Obstacle::Unschedulable | Obstacle::Taint { .. } => 3,
        Obstacle::Label { .. } => 8,
        Obstacle::NodeName { .. } | Obstacle::Unreadable(_) => 40,
    }
}

/// What it is.
pub fn sentence(obstacle: &Obstacle) -> Phrase {
    match obstacle {
        Obstacle::Unschedulable => Phrase::of("marked unschedulable"),
        Obstacle::NodeName { wanted } => Phrase::of(format!("the pod wants node {wanted}")),
        Obstacle::Taint { key, value, effect } => {
            Phrase::of(format!("taint {} not tolerated", taint(key, value, effect)))
        }
        Obstacle::Label { key, wanted, found } => {
            let found = found.clone().unwrap_or_else(|| "not set".to_owned());
            Phrase::of(format!("label {key} must be {wanted} and is ")).values(vec![(found, 1)])
        }
        Obstacle::Resource {
            name,
            wanted,
            allocatable,
            used,
        } => Phrase::of(format!("{name}: {} needed, ", amount(name, *wanted))).values(vec![(
            format!(
                "{} of {} left",
                amount(name, (allocatable - used).max(0)),
                amount(name, *allocatable)
            ),
            1,
        )]),
        Obstacle::Unreadable(problem) => Phrase::of(format!("the node cannot be read: {problem}")),
    }
}

/// What would make it go away on a node.
pub fn fix(obstacle: &Obstacle, node: &str) -> Option<String> {
    Some(match obstacle {
        Obstacle::Unschedulable => format!("kubectl uncordon {node}"),
        Obstacle::NodeName { .. } => return None,
        Obstacle::Taint { key, value, effect } => {
            let taint = taint(key, value, effect);
            format!(
                "tolerate {taint} in the pod, or take it off: kubectl taint node {node} {key}:{effect}-"
            )
        }
        Obstacle::Label { key, .. } if key == "metadata.name" => return None,
        Obstacle::Label { key, wanted, .. } => {
            format!("set label {key} of {node} ({wanted}), or change the pod's node selector")
        }
        Obstacle::Resource {
            name,
            wanted,
            allocatable,
            ..
        } if wanted > allocatable => format!(
            "ask for at most {} of {name}, which is all that {node} has",
            amount(name, *allocatable)
        ),
        Obstacle::Resource {
            name,
            wanted,
            allocatable,
            used,
        } => {
            let short = wanted - (allocatable - used);
            format!("free {} of {name} on {node}", amount(name, short))
        }
        Obstacle::Unreadable(_) => format!("correct node {node}"),
    })
}

fn taint(key: &str, value: &str, effect: &str) -> String {
    match value {
        "" => format!("{key}:{effect}"),
        value => format!("{key}={value}:{effect}"),
    }
}

/// As people write it: `500m`, `2`, `3Gi`.
pub fn amount(name: &str, amount: i128) -> String {
    if name == "cpu" {
        return match amount % 1000 {
            0 => (amount / 1000).to_string(),
            _ => format!("{amount}m"),
        };
    }
    let is_bytes =
        name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
    for (suffix, shift) in [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)] {
        let unit = 1_i128 << shift;
        if is_bytes && amount >= unit {
            return match amount % unit {
                0 => format!("{}{suffix}", amount / unit),
                // One digit behind the point, never more than there is.
                rest => format!("{}.{}{suffix}", amount / unit, rest * 10 / unit),
            };
        }
    }
    amount.to_string()
}
