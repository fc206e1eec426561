//! The loop: takes events, pods and binding calls one at a time, in an order that a [`Chooser`] picks (upstream's `Run` and
//! `ScheduleOne`, with its threads made into choices).
//!
//! Deterministic: one owner of all state, a virtual clock, and no choice that depends on an address or a hash. The loop ends
//! when nothing but time could wake a pod and nothing has changed since that pod's last attempt.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::binding_cycle::{BindingCycle, Ending};
use crate::cluster::Cluster;
use crate::cycle::{Failure, Input, Outcome, Point, Strategy, schedule};
use crate::object::{Kind, Object};
use crate::plugin::{Action, ObjectEvent, Plugin, PluginError};
use crate::queue::{Held, Queue, QueuedPod, Time};

pub mod chooser;
#[cfg(test)]
pub(crate) mod fake;
mod host;
pub mod intake;
pub mod native;
pub mod outcome;
mod seat;
mod state;
#[cfg(test)]
mod tests;

use chooser::{Chooser, Task};
use host::ClusterHost;
use intake::Intake;
use native::Native;
use outcome::PodOutcome;
use seat::Seat;
use state::{Fingerprint, Memory};

/// A pod that has been tried this often is left alone: whatever wakes it does not help it.
pub const MAX_ATTEMPTS: u32 = 1_000;

/// What a run of the scheduler may vary.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many feasible nodes to look for.
    pub strategy: Strategy,
    /// How many names of nodes to keep per reason.
    pub names: usize,
    /// Pods, as `namespace/name`, that cannot be scheduled because of an object that could not be read, and why.
    pub input_errors: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::AllNodes,
            names: 20,
            input_errors: BTreeMap::new(),
        }
    }
}

/// Counts for `--stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Scheduling cycles.
    pub cycles: u64,
    /// Nodes looked at, over all cycles.
    pub nodes_visited: u64,
}

/// A warning that is not about one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The object, for people; empty if there is none.
    pub object: String,
    /// What a user should know.
    pub message: String,
}

/// The scheduler.
pub struct Scheduler {
    cluster: Arc<Mutex<Cluster>>,
    seat: Seat,
    settings: Settings,
    native: Native,
    queue: Queue,
    bindings: Vec<BindingCycle>,
    pods: BTreeMap<Arc<str>, Record>,
    state: Fingerprint,
    start: usize,
    counts: Counts,
    notes: Vec<Note>,
}

/// What is remembered of a pod beside its place in the queue.
struct Record {
    outcome: PodOutcome,
    memory: Memory,
}

impl Scheduler {
    /// Takes over a cluster whose objects are loaded. Fails if the plugin cannot run.
    pub fn new(
        cluster: Arc<Mutex<Cluster>>,
        plugin: Rc<dyn Plugin>,
        settings: Settings,
    ) -> Result<Self, PluginError> {
        let mut seat = Seat::new(plugin, cluster.clone());
        let interests = seat.interests()?;
        let mut scheduler = Self {
            cluster,
            seat,
            settings,
            native: Native::new(),
            queue: Queue::new(interests),
            bindings: Vec::new(),
            pods: BTreeMap::new(),
            state: Fingerprint::default(),
            start: 0,
            counts: Counts::default(),
            notes: Vec::new(),
        };
        scheduler.take_over();
        Ok(scheduler)
    }

    /// Runs until there is nothing left to do.
    pub fn run(&mut self, chooser: &mut dyn Chooser) {
        while self.step(chooser) {}
    }

    /// Does one task. `false` if there is none.
    pub fn step(&mut self, chooser: &mut dyn Chooser) -> bool {
        self.take_events();
        let tasks = self.tasks();
        if tasks.is_empty() {
            return false;
        }
        let choice = chooser.choose(&tasks).min(tasks.len() - 1);
        match tasks[choice] {
            Task::Binding { index, .. } => self.continue_binding(index),
            Task::Cycle => self.begin_cycle(),
            Task::Wait { until } => self.wait(until),
        }
        true
    }

    /// New scheduling cycles and binding cycles use this plugin from now on; those under way keep theirs.
    pub fn swap(&mut self, plugin: Rc<dyn Plugin>) -> Result<(), PluginError> {
        let interests = self.seat.swap(plugin)?;
        self.queue.set_interests(interests);
        Ok(())
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Warnings that are not about one pod.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What became of each pod, in input order.
    pub fn outcomes(&self) -> Vec<PodOutcome> {
        let mut outcomes: Vec<PodOutcome> = self
            .pods
            .values()
            .map(|record| self.finished(record))
            .collect();
        outcomes.sort_by_key(|outcome| outcome.order);
        outcomes
    }

    fn finished(&self, record: &Record) -> PodOutcome {
        let outcome = record.outcome.clone();
        match self.queue.get(&outcome.pod.id().uid) {
            Some(queued) => outcome.held(queued),
            None => outcome,
        }
    }

    /// Reads the whole cluster once: generates claims, finds nodes and pods.
    fn take_over(&mut self) {
        self.run_claim_controller();
        self.cluster().deliver();
        let pods: Vec<Object> = {
            let cluster = lock(&self.cluster);
            self.native.rebuild(&cluster);
            let mut entries: Vec<_> = cluster.list(&Kind::new("Pod")).collect();
            entries.sort_by_key(|entry| entry.slot);
            entries
                .into_iter()
                .map(|entry| entry.object.clone())
                .collect()
        };
        for pod in pods {
            self.take_pod(pod);
        }
    }

    fn run_claim_controller(&mut self) {
        let warnings = self.cluster().run_claim_controller();
        for warning in warnings {
            let note = Note {
                object: warning.object,
                message: warning.message,
            };
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// A pod that is new here.
    fn take_pod(&mut self, pod: Object) {
        let order = self.pods.len() as u64;
        let mut outcome = PodOutcome::new(pod.clone(), order);
        match intake::sort(&pod, &self.settings.input_errors) {
            Intake::NotPending => return,
            Intake::Refused(status) => outcome.refuse(status),
            Intake::Pending { priority } => {
                let now = self.now();
                self.queue.add(pod.clone(), priority, now, &mut self.seat);
            }
        }
        let memory = Memory::default();
        self.pods
            .insert(pod.id().uid.clone(), Record { outcome, memory });
    }

    fn take_events(&mut self) {
        let events = self.cluster().deliver();
        let mut generate = false;
        for event in &events {
            generate |= matches!(event.kind.short(), "Pod" | "ResourceClaimTemplate");
            self.take_event(event);
        }
        if generate && self.queue.iter().any(|queued| queued.gate.is_some()) {
            self.run_claim_controller();
        }
    }

    fn take_event(&mut self, event: &ObjectEvent) {
        self.state.change(event);
        {
            let cluster = lock(&self.cluster);
            self.native.on_event(event, &cluster);
        }
        let now = self.now();
        if event.kind.as_str() != "Pod" {
            return self.queue.on_event(event, now, &mut self.seat);
        }
        if let Some(pod) = event.new.as_ref().or(event.old.as_ref()) {
            self.take_pod_event(event, pod, now);
        }
    }

    fn take_pod_event(&mut self, event: &ObjectEvent, pod: &Object, now: Time) {
        let uid = pod.id().uid.clone();
        if event.action != Action::Delete && intake::is_pending(pod) {
            match self.pods.get_mut(&uid) {
                Some(record) => {
                    record.outcome.pod = pod.clone();
                    self.queue.update(pod.clone(), now, &mut self.seat);
                }
                None => self.take_pod(pod.clone()),
            }
            return;
        }
        // In flight means that this scheduler binds it just now, and takes note of that itself.
        if !self
            .bindings
            .iter()
            .any(|binding| binding.pod.id().uid == uid)
        {
            self.queue.remove(&uid);
        }
        self.queue.on_event(event, now, &mut self.seat);
    }

    /// Everything that could be done next, in the order in which the default takes it.
    fn tasks(&self) -> Vec<Task> {
        let now = self.now();
        let mut tasks: Vec<Task> = self
            .bindings
            .iter()
            .enumerate()
            .filter(|(_, binding)| binding.sleeping_until().is_none_or(|until| until <= now))
            .map(|(index, binding)| Task::Binding {
                index,
                pod: binding.pod.id().clone(),
                point: binding.point(),
            })
            .collect();
        let sleepers = self
            .bindings
            .iter()
            .filter_map(BindingCycle::sleeping_until)
            .filter(|&until| until > now);
        let sleep = sleepers.min();
        let flush = self
            .queue
            .next_flush(&usefulness(&self.pods, self.fingerprint()))
            .map(|due| due.max(now));
        if let Some(until) = sleep
            .into_iter()
            .chain(flush)
            .min()
            .filter(|_| sleep.is_some())
        {
            tasks.push(Task::Wait { until });
        }
        if self.queue.has_active() {
            tasks.push(Task::Cycle);
        }
        if let Some(until) = flush.filter(|_| sleep.is_none()) {
            tasks.push(Task::Wait { until });
        }
        tasks
    }

    fn wait(&mut self, until: Time) {
        self.cluster().advance_to(until);
        let now = self.now();
        let state = self.fingerprint();
        let useful = usefulness(&self.pods, state);
        self.queue.flush(now, &useful, &mut self.seat);
    }

    fn begin_cycle(&mut self) {
        let Some(queued) = self.queue.pop(self.now()) else {
            return;
        };
        let state = self.fingerprint();
        let uid = queued.pod.id().uid.clone();
        let exhausted = queued.attempts > MAX_ATTEMPTS;
        if let Some(record) = self.pods.get_mut(&uid) {
            record.outcome.attempts = queued.attempts;
            record.outcome.retries = queued.retries.clone();
            record.memory.begin(state);
            if exhausted {
                record
                    .outcome
                    .warnings
                    .push(format!("given up after {MAX_ATTEMPTS} attempts"));
                self.queue.remove(&uid);
                return;
            }
        }
        self.attempt(queued.pod);
    }

    fn attempt(&mut self, pod: Object) {
        let description = self.seat.description().clone();
        let at = self.cluster().revision();
        let check = self.native.check(&pod);
        let input = Input {
            pod: &pod,
            at,
            nodes: self.native.nodes(),
            native: check.as_ref(),
            strategy: self.settings.strategy,
            start: self.start,
            names: self.settings.names,
        };
        let attempt = match self.seat.instance() {
            Ok(instance) => schedule(instance, &description, &input),
            Err(error) => {
                let failure = Failure::error(Point::PreFilter, error.to_string());
                drop(check);
                return self.end_attempt(&pod, failure);
            }
        };
        drop(check);
        self.counts.cycles += 1;
        self.counts.nodes_visited += attempt.visited as u64;
        self.start = self.settings.strategy.next_start(
            self.start,
            attempt.visited,
            self.native.nodes().len(),
        );
        let died = attempt.died.is_some();
        if died {
            self.seat.discard();
        }
        if let Some(record) = self.pods.get_mut(&pod.id().uid) {
            record.outcome.take(&attempt);
        }
        let plugin = self.seat.plugin();
        match attempt.outcome {
            Outcome::Reserved { node, plan } => self
                .bindings
                .push(BindingCycle::bind(plugin, pod, node, plan)),
            Outcome::Failed {
                failure,
                undo: Some(undo),
            } => {
                self.bindings
                    .push(BindingCycle::undo(plugin, pod, undo, failure, died));
            }
            Outcome::Failed {
                failure,
                undo: None,
            } => self.end_attempt(&pod, failure),
        }
    }

    fn continue_binding(&mut self, index: usize) {
        let mut host = ClusterHost(self.cluster.clone());
        let Some(binding) = self.bindings.get_mut(index) else {
            return;
        };
        let Some(ending) = binding.step(&mut host) else {
            return;
        };
        let binding = self.bindings.remove(index);
        if let Some(record) = self.pods.get_mut(&binding.pod.id().uid) {
            record.outcome.warnings.extend(binding.warnings);
        }
        match ending {
            Ending::Bound => self.bound(&binding.pod, binding.node),
            Ending::Failed(failure) => self.end_attempt(&binding.pod, failure),
        }
    }

    fn bound(&mut self, pod: &Object, node: Arc<str>) {
        self.queue.remove(&pod.id().uid);
        if let Some(record) = self.pods.get_mut(&pod.id().uid) {
            record.outcome.bind(node);
        }
    }

    /// The attempt failed. Events that it caused itself are taken first, so that they count as happened during it.
    fn end_attempt(&mut self, pod: &Object, failure: Failure) {
        self.take_events();
        let state = self.fingerprint();
        let now = self.now();
        let uid = &pod.id().uid;
        self.queue
            .failed(uid, failure.rejection.clone(), now, &mut self.seat);
        if let Some(record) = self.pods.get_mut(uid) {
            record.memory.end(state, failure.status.code);
            record.outcome.fail(failure, &self.seat.description().name);
        }
    }

    fn fingerprint(&self) -> u64 {
        self.state.with_in_flight(lock(&self.cluster).in_flight())
    }

    fn now(&self) -> Time {
        self.cluster().clock()
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }
}

/// Whether another attempt of a pod could end otherwise, given the state of the cluster.
fn usefulness(
    pods: &BTreeMap<Arc<str>, Record>,
    state: u64,
) -> impl Fn(&QueuedPod, Held) -> bool + '_ {
    move |queued, held| match pods.get(&queued.pod.id().uid) {
        Some(record) => record.memory.is_useful(held, state),
        None => true,
    }
}

/// Nothing that holds the lock leaves the cluster half changed, so a poisoned lock is as good as any.
fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}
