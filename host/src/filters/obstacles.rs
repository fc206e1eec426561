//! Everything that the basic filters have against a node, with amounts and names. [`Filters::check`] stops at the first and says
//! what upstream says; this is for people who want to know what to change.

use super::{Filters, PodRequirements, resources, taints};
use crate::plugin::Slot;

/// One thing that keeps a pod from a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// `spec.unschedulable` of the node.
    Unschedulable,
    /// The pod names another node.
    NodeName {
        /// That node.
        wanted: String,
    },
    /// A taint that the pod does not tolerate.
    Taint {
        /// Key.
        key: String,
        /// Value, possibly empty.
        value: String,
        /// `NoSchedule` or `NoExecute`.
        effect: &'static str,
    },
    /// A label, or the name as `metadata.name`, is not what node selector or affinity want.
    Label {
        /// Key.
        key: String,
        /// What is wanted, for example `in [a, b]`.
        wanted: String,
        /// What the node has.
        found: Option<String>,
    },
    /// Too little of a resource is left.
    Resource {
        /// Name; `pods` for places of pods.
        name: String,
        /// What the pod needs: thousandths for `cpu`, else units.
        wanted: i128,
        /// What the node has for pods.
        allocatable: i128,
        /// What its pods use.
        used: i128,
    },
    /// The node cannot be read.
    Unreadable(String),
}

impl Filters {
    /// All obstacles, in the order of the filters. None if and only if [`Filters::check`] lets the pod pass.
    pub fn obstacles(&self, pod: &PodRequirements, slot: Slot) -> Vec<Obstacle> {
        let node = match self.node(slot) {
            Ok(node) => node,
            Err(rejection) => return vec![Obstacle::Unreadable(rejection.reason)],
        };
        self.with_names(pod, |pod| {
            let mut found = Vec::new();
            if node.unschedulable && !pod.tolerates_unschedulable {
                found.push(Obstacle::Unschedulable);
            }
            let other = pod
                .node_name
                .as_ref()
                .filter(|wanted| ***wanted != *node.name);
            found.extend(other.map(|wanted| Obstacle::NodeName {
                wanted: wanted.clone(),
            }));
            let taints = taints::untolerated(&node.taints, &pod.tolerations);
            found.extend(taints.map(|taint| Obstacle::Taint {
                key: taint.key.clone(),
                value: taint.value.clone(),
                effect: taint.effect(),
            }));
            let unmet = pod.affinity.unmet(&node.labels, &node.name, &self.names);
            found.extend(unmet.into_iter().map(|unmet| Obstacle::Label {
                key: unmet.key,
                wanted: unmet.wanted,
                found: unmet.found,
            }));
            match &node.allocatable {
                Err(problem) => found.push(Obstacle::Unreadable(problem.clone())),
                Ok(allocatable) => {
                    let used = &self.used[node.used];
                    let offered = |name| self.is_offered(name);
                    let lacks = resources::lacks(&pod.resources, allocatable, used, offered);
                    found.extend(lacks.into_iter().map(|lack| Obstacle::Resource {
                        name: lack.name,
                        wanted: lack.wanted,
                        allocatable: lack.stated,
                        used: lack.used,
                    }));
                }
            }
            found
        })
    }
}

/// An amount of a resource, in thousandths for `cpu`, as people write it: `500m`, `2`, `3Gi`.
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
