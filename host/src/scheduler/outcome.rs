//! What became of a pod.

use std::sync::Arc;

use crate::cycle::refusals::{Refusal, Refusals};
use crate::cycle::{Attempt, Failure, Point};
use crate::object::Object;
use crate::plugin::{Code, Status};
use crate::queue::{Gate, QueuedPod, Retry};

/// How the last attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There was none, or it is still under way.
    Open,
    /// It never entered the queue.
    Refused(Status),
    /// Placed.
    Bound {
        /// Where.
        node: Arc<str>,
    },
    /// Not placed.
    Failed(Failure),
}

/// An attempt after the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retried {
    /// Its number, from 2.
    pub attempt: u32,
    /// When and why it took place.
    pub retry: Retry,
    /// How the attempt before it failed.
    pub before: Option<Failure>,
}

/// A pod that was pending, and what became of it.
#[derive(Clone, Debug)]
pub struct PodOutcome {
    /// The pod as it was last seen.
    pub pod: Object,
    /// Place in the input.
    pub order: u64,
    /// How the last attempt ended.
    pub ended: Ended,
    /// Attempts begun.
    pub attempts: u32,
    /// Why each attempt after the first took place.
    pub retries: Vec<Retried>,
    /// Nodes that the last attempt left, by name.
    pub feasible: Vec<Arc<str>>,
    /// Nodes that the last attempt looked at.
    pub visited: usize,
    /// Why the last attempt refused nodes or the pod, most frequent first.
    pub refusals: Vec<Refusal>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl PodOutcome {
    /// Nothing has happened to the pod yet.
    pub fn new(pod: Object, order: u64) -> Self {
        Self {
            pod,
            order,
            ended: Ended::Open,
            attempts: 0,
            retries: Vec::new(),
            feasible: Vec::new(),
            visited: 0,
            refusals: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// An attempt begins.
    pub fn begin(&mut self, queued: &QueuedPod) {
        if let Some(retry) = &queued.retry {
            let before = match &self.ended {
                Ended::Failed(failure) => Some(failure.clone()),
                _ => None,
            };
            self.retries.push(Retried {
                attempt: queued.attempts,
                retry: retry.clone(),
                before,
            });
        }
        self.attempts = queued.attempts;
    }

    /// The pod stays out of the queue.
    pub fn refuse(&mut self, status: Status) {
        self.ended = Ended::Refused(status);
    }

    /// What a scheduling cycle found out.
    pub fn take(&mut self, attempt: &Attempt) {
        self.feasible = attempt
            .feasible
            .iter()
            .map(|node| node.name.clone())
            .collect();
        self.feasible.sort();
        self.visited = attempt.visited;
        self.refusals = attempt.refusals.sorted();
    }

    /// The attempt failed. What nodes said does not matter behind Filter, and after an error
    /// that came from no node.
    pub fn fail(&mut self, failure: Failure, plugin: &str) {
        let explained = self
            .refusals
            .iter()
            .any(|refusal| refusal.status.code == failure.status.code);
        if failure.at > Point::Filter || failure.status.code == Code::Error && !explained {
            let culprit = if failure.at == Point::Bind {
                "DefaultBinder"
            } else {
                plugin
            };
            self.refusals = for_pod(culprit, &failure.status);
        }
        self.ended = Ended::Failed(failure);
    }

    /// Something that a user should know, once.
    pub fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The pod is bound.
    pub fn bind(&mut self, node: Arc<str>) {
        self.refusals.clear();
        self.ended = Ended::Bound { node };
    }

    /// Brings in what the queue knows about a pod that is still in it.
    pub fn held(mut self, queued: &QueuedPod) -> Self {
        if let Some(Gate { plugin, status, .. }) = &queued.gate {
            self.refusals = for_pod(plugin, status);
            self.feasible.clear();
            self.visited = 0;
            self.ended = Ended::Failed(Failure::gated(plugin, status.clone()));
        }
        self
    }
}

fn for_pod(plugin: &str, status: &Status) -> Vec<Refusal> {
    let mut refusals = Refusals::new(0);
    refusals.add_for_pod(plugin, status);
    refusals.sorted()
}
