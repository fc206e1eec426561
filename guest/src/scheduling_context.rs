//! PodSchedulingContext, the mailbox of classic DRA: pending edits of a cycle, and publishing them (spec section 8;
//! upstream: `podSchedulingState`).

use std::rc::Rc;

use serde_json::Value;

use crate::api::edit::{self, SchedulingContextEdits};
use crate::api::{Pod, PodSchedulingContext, wire};
use crate::host::{ApiErrorReason, Host, kinds};
use crate::profile::Profile;

/// Field manager of server-side apply.
const FIELD_MANAGER: &str = "kube-scheduler";

/// At most this many potential nodes (spec section 1.7).
pub const POTENTIAL_NODES_LIMIT: usize = 128;

/// What a cycle knows of the pod's context, and wants to change.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// As the cache showed it in PreFilter.
    pub known: Option<Rc<PodSchedulingContext>>,
    /// Pending.
    pub edits: SchedulingContextEdits,
}

impl Context {
    /// Whether the known object lists this potential node.
    pub fn has_potential_node(&self, node: &str) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.potential_nodes.iter().any(|name| name == node))
    }

    /// `unsuitableNodes` of the pod's claim entry, if the driver has answered.
    pub fn unsuitable_nodes(&self, entry: &str) -> Option<&[String]> {
        let known = self.known.as_ref()?;
        known
            .claims
            .iter()
            .find(|(name, _)| name == entry)
            .map(|(_, nodes)| nodes.as_slice())
    }

    /// Selected node of the known object; empty if there is none.
    pub fn selected_node(&self) -> &str {
        self.known
            .as_ref()
            .map_or("", |known| known.selected_node.as_str())
    }
}

/// Writes the edits: update of the known object, or creation; after a conflict server-side apply. Success clears the edits.
/// The error is the API's text.
pub fn publish(
    host: &dyn Host,
    profile: &Profile,
    pod: &Pod,
    known: Option<&Value>,
    edits: &mut SchedulingContextEdits,
) -> Result<(), String> {
    if !edits.is_dirty() {
        return Ok(());
    }
    let outcome = match known {
        None => host.api_create(&edit::to_bytes(&edit::context_create(&pod.meta, edits))),
        Some(known) => {
            match host.api_update(&edit::to_bytes(&edit::context_update(known, edits))) {
                Err(error) if error.reason == ApiErrorReason::Conflict => {
                    let known = wire::pod_scheduling_context(&edit::to_bytes(known))
                        .map_err(|problem| problem.to_string())?;
                    let body = edit::context_apply(&pod.meta, &known, edits, profile);
                    host.api_apply(&edit::to_bytes(&body), FIELD_MANAGER, true)
                }
                outcome => outcome,
            }
        }
    };
    outcome.map_err(|error| error.message)?;
    *edits = SchedulingContextEdits::default();
    Ok(())
}

/// The known object as JSON, for plans and for writing from a cycle.
pub fn known_json(host: &dyn Host, pod: &Pod, context: &Context) -> Option<Value> {
    context.known.as_ref()?;
    let object = host
        .cached(
            kinds::POD_SCHEDULING_CONTEXT,
            &pod.meta.namespace,
            &pod.meta.name,
        )
        .ok()?;
    serde_json::from_slice(&object.json).ok()
}

/// A random subset of at most 128 names, sorted bytewise (trap T14: sorting first would starve nodes).
pub fn choose_potential_nodes(host: &dyn Host, mut names: Vec<String>) -> Vec<String> {
    if names.len() > POTENTIAL_NODES_LIMIT {
        for index in 0..POTENTIAL_NODES_LIMIT {
            let rest = (names.len() - index) as u64;
            // Bias of the remainder: below 2^-50 for any number of nodes.
            let offset = usize::try_from(host.random() % rest).unwrap_or(0);
            names.swap(index, index + offset);
        }
        names.truncate(POTENTIAL_NODES_LIMIT);
    }
    names.sort_unstable();
    names
}
