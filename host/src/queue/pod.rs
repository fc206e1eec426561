//! A pod in the queue, and what is asked about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{INITIAL_BACKOFF, MAX_BACKOFF, Time, Wake};
use crate::object::Object;
use crate::plugin::{Hint, ObjectEvent, Status};

/// What the queue asks of the plugins.
pub trait Advisor {
    /// PreEnqueue of all plugins: the first refusal, with the plugin that made it.
    fn pre_enqueue(&mut self, pod: &Object) -> Result<(), Gate>;
    /// The plugin's hints, one per pod; an error of a hint has already become `Queue`.
    fn hints(&mut self, plugin: &str, event: &ObjectEvent, pods: &[Object]) -> Vec<Hint>;
}

/// A refusal of PreEnqueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Who refused.
    pub plugin: Arc<str>,
    /// Why.
    pub status: Status,
    /// It was not asked, because it rests: when to ask. Absent: events are waited for.
    pub ask_at: Option<Time>,
}

/// Who is to blame for a failed attempt. Both empty: it ended in an error, which says nothing about the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rejection {
    /// Plugins whose events may help.
    pub rejectors: BTreeSet<Arc<str>>,
    /// Plugins that answered `Pending` in Reserve: their events skip the backoff.
    pub pending: BTreeSet<Arc<str>>,
}

impl Rejection {
    /// Whether nobody is to blame.
    pub fn is_error(&self) -> bool {
        self.rejectors.is_empty() && self.pending.is_empty()
    }

    pub(super) fn involves(&self, plugin: &str) -> bool {
        self.rejectors.contains(plugin) || self.pending.contains(plugin)
    }
}

/// Why a pod was tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// When the attempt began.
    pub at: Time,
    /// What woke the pod.
    pub wake: Wake,
}

/// A pod in the queue; upstream's `QueuedPodInfo`.
#[derive(Clone, Debug)]
pub struct QueuedPod {
    /// Newest copy.
    pub pod: Object,
    /// `spec.priority`, resolved.
    pub priority: i64,
    /// Place in the input; names the pod in this queue.
    pub order: u64,
    /// Attempts begun.
    pub attempts: u32,
    /// Why the last attempt took place, if it was not the first.
    pub retry: Option<Retry>,
    /// Why it is not active, if PreEnqueue refused it.
    pub gate: Option<Gate>,
    pub(super) rejection: Rejection,
    /// When it came to its present place.
    pub(super) since: Time,
    /// What woke it last.
    pub(super) wake: Wake,
}

impl QueuedPod {
    pub(super) fn backoff_ends(&self) -> Time {
        if let Some(at) = self.gate.as_ref().and_then(|gate| gate.ask_at) {
            return at;
        }
        let doublings = self.attempts.saturating_sub(1).min(10);
        self.since
            .saturating_add((INITIAL_BACKOFF << doublings).min(MAX_BACKOFF))
    }
}
