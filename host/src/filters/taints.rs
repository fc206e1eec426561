//! Taints of nodes and tolerations of pods.
//!
//! Upstream: plugins TaintToleration and NodeUnschedulable, and `Toleration.ToleratesTaint` of the core API.

use serde_json::Value;

use super::fields::{list_at, text_at};

/// The taint that an unschedulable node is treated as having.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// A taint that keeps pods away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taint {
    pub key: String,
    pub value: String,
    effect: Effect,
}

impl Taint {
    /// The API's name of the effect.
    pub fn effect(&self) -> &'static str {
        self.effect.name()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    NoSchedule,
    NoExecute,
}

impl Effect {
    fn name(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

/// The taints of a node that keep pods from being scheduled; `PreferNoSchedule` does not.
pub(super) fn taints_of(node: &Value) -> Vec<Taint> {
    let taint = |taint: &Value| {
        let effect = match text_at(taint, "effect") {
            "NoSchedule" => Effect::NoSchedule,
            "NoExecute" => Effect::NoExecute,
            _ => return None,
        };
        Some(Taint {
            key: text_at(taint, "key").to_owned(),
            value: text_at(taint, "value").to_owned(),
            effect,
        })
    };
    list_at(node, "/spec/taints")
        .iter()
        .filter_map(taint)
        .collect()
}

/// What a pod tolerates.
#[derive(Clone, Debug)]
pub(super) struct Toleration {
    /// Empty: every key.
    key: String,
    /// `None`: every value.
    value: Option<String>,
    /// Empty: every effect.
    effect: String,
}

impl Toleration {
    /// Reads the tolerations of a pod.
    pub(super) fn all_of(pod: &Value) -> Result<Vec<Self>, String> {
        let read = |(index, toleration)| {
            Self::read(toleration).map_err(|error| format!("spec.tolerations[{index}].{error}"))
        };
        list_at(pod, "/spec/tolerations")
            .iter()
            .enumerate()
            .map(read)
            .collect()
    }

    fn read(toleration: &Value) -> Result<Self, String> {
        let key = text_at(toleration, "key").to_owned();
        let value = match text_at(toleration, "operator") {
            "Exists" => None,
            "" | "Equal" if key.is_empty() => {
                return Err("operator must be Exists if key is empty".to_owned());
            }
            "" | "Equal" => Some(text_at(toleration, "value").to_owned()),
            other => {
                return Err(format!(
                    "operator {other:?} is not supported; use Equal or Exists"
                ));
            }
        };
        Ok(Self {
            key,
            value,
            effect: text_at(toleration, "effect").to_owned(),
        })
    }

    fn tolerates(&self, key: &str, value: &str, effect: Effect) -> bool {
        (self.effect.is_empty() || self.effect == effect.name())
            && (self.key.is_empty() || self.key == key)
            && self.value.as_ref().is_none_or(|wanted| wanted == value)
    }
}

/// The taints that the pod does not tolerate.
pub(super) fn untolerated<'t>(
    taints: &'t [Taint],
    tolerations: &'t [Toleration],
) -> impl Iterator<Item = &'t Taint> {
    taints.iter().filter(|taint| {
        !tolerations
            .iter()
            .any(|one| one.tolerates(&taint.key, &taint.value, taint.effect))
    })
}

/// Whether the pod may go to a node with `spec.unschedulable`.
pub(super) fn tolerates_unschedulable(tolerations: &[Toleration]) -> bool {
    tolerations
        .iter()
        .any(|toleration| toleration.tolerates(UNSCHEDULABLE, "", Effect::NoSchedule))
}
