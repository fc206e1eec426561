//! One sentence per obstacle of the basic filters.

use crate::filters::{Obstacle, amount};

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

/// Whether one of them has this name.
pub fn is_filter(source: &str) -> bool {
    matches!(
        source,
        "NodeUnschedulable" | "NodeName" | "TaintToleration" | "NodeAffinity" | "NodeResourcesFit"
    )
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

/// What to do about it, where that cannot be tried.
pub fn advice(obstacle: &Obstacle, node: &str) -> Option<String> {
    match obstacle {
        Obstacle::Unreadable(_) => Some(format!("correct node {node}")),
        _ => None,
    }
}

/// `key=value:effect`.
pub fn taint(key: &str, value: &str, effect: &str) -> String {
    match value {
        "" => format!("{key}:{effect}"),
        value => format!("{key}={value}:{effect}"),
    }
}
