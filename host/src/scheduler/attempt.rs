//! One attempt to place a pod, from the queue to its end.

use std::sync::Arc;

use super::host::ClusterHost;
use super::intake::is_pending;
use super::{MAX_ATTEMPTS, Scheduler, lock};
use crate::binding_cycle::{BindingCycle, Ending};
use crate::cycle::{Attempt, Failure, Input, Outcome, Point, schedule};
use crate::object::{Object, ObjectRef};
use crate::plugin::{Action, Code, ObjectEvent, PluginError, Status};
use crate::queue::Rejection;

impl Scheduler {
    /// Begins the attempt of the next pod, if there is one.
    pub(super) fn begin_cycle(&mut self) {
        let now = self.now();
        let Some(queued) = self.queue.pop(now) else {
            return;
        };
        let state = self.fingerprint();
        let uid = queued.pod.id().uid.clone();
        let Some(record) = self.pods.get_mut(&uid) else {
            return;
        };
        if queued.attempts > MAX_ATTEMPTS {
            record
                .outcome
                .warn(format!("given up after {MAX_ATTEMPTS} attempts"));
            self.queue.remove(&uid);
            return;
        }
        record.outcome.begin(&queued);
        record.memory.begin(state);
        record.first_call = lock(&self.cluster).stored().calls_made();
        self.attempt(queued.pod);
    }

    fn attempt(&mut self, pod: Object) {
        self.native.refresh(&lock(&self.cluster));
        self.observe(&pod);
        let attempt = match self.run_cycle(&pod) {
            Ok(attempt) => attempt,
            Err(failure) => return self.end_attempt(&pod, failure),
        };
        self.counts.cycles += 1;
        self.counts.nodes_visited += attempt.visited as u64;
        let nodes = self.native.nodes().len();
        self.start = self
            .settings
            .strategy
            .next_start(self.start, attempt.visited, nodes);
        let generation = self.seat.generation();
        let died = attempt.died.is_some();
        match attempt.died.clone() {
            Some(error) => self.seat.died(error),
            None => self.seat.succeeded(),
        }
        if let Some(record) = self.pods.get_mut(&pod.id().uid) {
            record.outcome.take(&attempt);
        }
        match attempt.outcome {
            Outcome::Reserved { node, plan } => {
                self.native.assume(&pod, &node);
                self.bindings
                    .push(BindingCycle::bind(generation, pod, node, plan));
            }
            Outcome::Failed {
                failure,
                undo: Some(undo),
            } => {
                self.bindings
                    .push(BindingCycle::undo(generation, pod, undo, failure, died));
            }
            Outcome::Failed {
                failure,
                undo: None,
            } => self.end_attempt(&pod, failure),
        }
    }

    fn run_cycle(&mut self, pod: &Object) -> Result<Attempt, Failure> {
        let at = self.cluster().revision();
        let check = self.native.check(pod).map_err(unreadable)?;
        let input = Input {
            pod,
            at,
            nodes: self.native.nodes(),
            native: &check,
            strategy: self.settings.strategy,
            start: self.start,
            names: self.settings.names,
        };
        let rehearsal = self.seat.rehearse(&input);
        let description = self.seat.description().clone();
        let attempt = match self.seat.instance() {
            Ok(instance) => schedule(instance, &description, &input),
            Err(error) => {
                self.seat.died(error.clone());
                return Err(not_started(error));
            }
        };
        if let Some(rehearsal) = rehearsal {
            self.seat.compare(pod.id(), rehearsal, &attempt);
        }
        Ok(attempt)
    }

    /// Lets a binding cycle go on.
    pub(super) fn continue_binding(&mut self, index: usize) {
        let mut host = ClusterHost(self.cluster.clone());
        let Some(binding) = self.bindings.get_mut(index) else {
            return;
        };
        let ending = binding.step(&mut host);
        let generation = binding.generation().clone();
        for error in std::mem::take(&mut binding.faults) {
            self.seat.failed(&generation, error);
        }
        let Some(ending) = ending else {
            return;
        };
        let binding = self.bindings.remove(index);
        if let Some(record) = self.pods.get_mut(&binding.pod.id().uid) {
            binding
                .warnings
                .into_iter()
                .for_each(|warning| record.outcome.warn(warning));
        }
        match ending {
            Ending::Bound => self.bound(&binding.pod, binding.node),
            Ending::Failed(failure) if binding.assumed => self.unbound(&binding.pod, failure),
            Ending::Failed(failure) => self.end_attempt(&binding.pod, failure),
        }
    }

    fn bound(&mut self, pod: &Object, node: Arc<str>) {
        self.counts.bound += 1;
        self.queue.remove(&pod.id().uid);
        if let Some(record) = self.pods.get_mut(&pod.id().uid) {
            record.outcome.bind(node);
        }
    }

    /// The pod leaves the node on which it was assumed, which helps others as if it had been deleted there.
    fn unbound(&mut self, pod: &Object, failure: Failure) {
        self.native.forget(pod.id());
        self.end_attempt(pod, failure);
        let kind = pod.id().kind.clone();
        let event = ObjectEvent {
            kind,
            action: Action::Delete,
            old: Some(pod.clone()),
            new: None,
        };
        let now = self.now();
        self.queue.on_event(&event, now, &mut self.seat);
    }

    /// The attempt failed. Events that it caused itself are taken first, so that they count as happened during it. A pod that
    /// was deleted meanwhile, or bound by somebody else, is not tried again.
    fn end_attempt(&mut self, pod: &Object, failure: Failure) {
        if let Some(record) = self.pods.get(&pod.id().uid) {
            self.cluster().show_writes_since(record.first_call);
        }
        self.take_events();
        if !self.is_still_pending(pod.id()) {
            self.queue.remove(&pod.id().uid);
            self.pods.remove(&pod.id().uid);
            return;
        }
        let state = self.fingerprint();
        let now = self.now();
        let uid = &pod.id().uid;
        self.queue
            .failed(uid, failure.rejection.clone(), now, &mut self.seat);
        if let Some(record) = self.pods.get_mut(uid) {
            record.memory.end(state, &failure);
            record.outcome.fail(failure, &self.seat.description().name);
        }
    }

    fn is_still_pending(&self, pod: &ObjectRef) -> bool {
        let cluster = self.cluster();
        let shown = cluster.entry(&pod.kind, &pod.namespace, &pod.name);
        shown.is_some_and(|shown| shown.object.id().uid == pod.uid && is_pending(&shown.object))
    }
}

fn unreadable(problem: String) -> Failure {
    let status = Status::new(Code::InvalidObject, problem);
    Failure {
        at: Point::PreFilter,
        status,
        rejection: Rejection::default(),
    }
}

fn not_started(error: PluginError) -> Failure {
    Failure::error(Point::PreFilter, error.to_string())
}
