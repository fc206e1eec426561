//! The loop: takes events, pods and binding calls one at a time, in an order that a [`Chooser`] picks (upstream's `Run` and
//! `ScheduleOne`, with its threads made into choices).
//!
//! Deterministic: one owner of all state, a virtual clock, and no choice that depends on an address or a hash. The loop ends
//! when nothing but time could wake a pod and nothing has changed since that pod's last attempt.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::binding_cycle::BindingCycle;
use crate::cluster::Cluster;
use crate::cycle::{Point, Strategy};
use crate::filters::no_preemption;
use crate::generations::{Label, Notice, Policy, SelfCheck};
use crate::plugin::{Code, Plugin, PluginError};
use crate::queue::{Held, Queue, QueuedPod, Time};

mod attempt;
pub mod chooser;
mod events;
mod host;
pub mod intake;
pub mod native;
pub mod observe;
pub mod outcome;
mod seat;
mod state;

use chooser::{Chooser, Task};
use native::Native;
use observe::Watched;
use outcome::{Ended, PodOutcome};
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
    /// What to do about plugins that fail or are replaced.
    pub policy: Policy,
    /// Pods, as `namespace/name`, that cannot be scheduled because of an object that could not be read, and why.
    pub input_errors: BTreeMap<String, String>,
    /// The uid of the one pod to place; without it all that are pending.
    pub only: Option<Arc<str>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            strategy: Strategy::AllNodes,
            names: 20,
            policy: Policy::default(),
            input_errors: BTreeMap::new(),
            only: None,
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
    /// Pods that were bound.
    pub bound: u64,
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
    /// Where the next search begins.
    start: usize,
    next_order: u64,
    counts: Counts,
    notes: Vec<Note>,
    watched: Option<Watched>,
}

/// What is remembered of a pod beside its place in the queue.
struct Record {
    outcome: PodOutcome,
    memory: Memory,
    /// Number of the first call of the API in its last attempt.
    first_call: u64,
}

impl Scheduler {
    /// Takes over a cluster whose objects are loaded. Fails if the plugin cannot run.
    pub fn new(
        cluster: Arc<Mutex<Cluster>>,
        plugin: Rc<dyn Plugin>,
        settings: Settings,
    ) -> Result<Self, PluginError> {
        let mut seat = Seat::new(plugin, cluster.clone(), settings.policy);
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
            next_order: 0,
            counts: Counts::default(),
            notes: Vec::new(),
            watched: None,
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
        self.tend_generations();
        self.take_events();
        // A gate may have killed a version on probation.
        self.heed_generation();
        let tasks = self.tasks(chooser.considers_time());
        if tasks.is_empty() {
            return false;
        }
        let choice = chooser.choose(&tasks).min(tasks.len() - 1);
        match tasks[choice] {
            Task::Binding { index, .. } => self.continue_binding(index),
            Task::Cycle => self.begin_cycle(),
            Task::Wait { until } => self.wait(chooser.wait(until)),
        }
        true
    }

    /// New attempts use this plugin from now on; those under way keep theirs. Fails, and changes nothing, if it cannot run.
    pub fn swap(&mut self, plugin: Rc<dyn Plugin>) -> Result<Label, PluginError> {
        self.propose(plugin, SelfCheck::none())
    }

    /// Like [`Scheduler::swap`], after the plugin has run some cycles beside the active one and came to the same answers. What
    /// becomes of it is told by [`Scheduler::take_notices`]; until then nothing changes.
    pub fn propose(
        &mut self,
        plugin: Rc<dyn Plugin>,
        check: SelfCheck,
    ) -> Result<Label, PluginError> {
        let label = self.seat.propose(plugin, check)?;
        self.tend_generations();
        Ok(label)
    }

    /// What happened to versions of the plugin since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.seat.take_notices()
    }

    /// The version that new attempts use.
    pub fn active(&self) -> Label {
        self.seat.generation().label()
    }

    fn tend_generations(&mut self) {
        for old in self.seat.tend() {
            let mut host = host::ClusterHost(self.cluster.clone());
            let late = self
                .bindings
                .iter_mut()
                .filter(|binding| binding.generation().number() == old.number);
            let late = late.filter_map(|binding| {
                let id = binding.pod.id();
                let pod = format!("{}/{}", id.namespace, id.name);
                binding.expire(&mut host).then_some(pod)
            });
            let pods: Vec<String> = late.collect();
            if !pods.is_empty() {
                self.seat.expired(old, pods);
            }
        }
        self.heed_generation();
    }

    /// Another generation has become the active one: it wants to know of other events, and its gates are its own.
    fn heed_generation(&mut self) {
        if let Some(interests) = self.seat.take_interests() {
            self.queue.set_interests(interests);
            let now = self.now();
            self.queue.ask_again(now, &mut self.seat);
        }
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
        let lowest = self.native.lowest_placed(&self.cluster());
        let finished = self
            .pods
            .values()
            .map(|record| self.finished(record, lowest));
        let mut outcomes: Vec<PodOutcome> = finished.collect();
        outcomes.sort_by_key(|outcome| outcome.order);
        outcomes
    }

    fn finished(&self, record: &Record, lowest: Option<i64>) -> PodOutcome {
        let mut outcome = record.outcome.clone();
        if let Some(queued) = self.queue.get(&outcome.pod.id().uid) {
            outcome = outcome.held(queued);
        }
        // Where no other pod is in the way, evicting one does not help.
        let crowded = outcome
            .refusals
            .iter()
            .any(|refusal| refusal.status.code == Code::Unschedulable);
        if crowded
            && matches!(&outcome.ended, Ended::Failed(failure) if failure.at == Point::Filter)
        {
            let (priority, _) = self.native.priority(&outcome.pod);
            outcome
                .warnings
                .extend(no_preemption(&outcome.pod, priority, lowest));
        }
        outcome
    }

    /// Everything that could be done next, in the order in which the default takes it.
    fn tasks(&self, always_time: bool) -> Vec<Task> {
        let now = self.now();
        let wakes = |binding: &BindingCycle| binding.sleeping_until().filter(|&until| until > now);
        let awake = self
            .bindings
            .iter()
            .enumerate()
            .filter(|(_, binding)| wakes(binding).is_none());
        let mut tasks: Vec<Task> = awake
            .map(|(index, binding)| Task::Binding {
                index,
                pod: binding.pod.id().clone(),
                point: binding.point(),
            })
            .collect();
        let expiry = self.seat.next_expiry();
        let sleep = self.bindings.iter().filter_map(wakes).min();
        let sleep = sleep.map(|until| expiry.map_or(until, |expiry| until.min(expiry)));
        let rest = self.seat.rests_until(now);
        let ready = self.queue.has_active() && rest.is_none();
        let rest = rest.filter(|_| self.queue.has_active());
        let busy = !tasks.is_empty() || ready;
        let later = match always_time || sleep.is_some() || !busy {
            true => self
                .next_flush()
                .into_iter()
                .chain(self.cluster().driver_due())
                .min(),
            false => None,
        };
        let wait = sleep
            .into_iter()
            .chain(later.map(|due| due.max(now)))
            .chain(rest)
            .min()
            .map(|until| Task::Wait { until });
        let cycle = ready.then_some(Task::Cycle);
        match sleep {
            Some(_) => tasks.extend(wait.into_iter().chain(cycle)),
            None => tasks.extend(cycle.into_iter().chain(wait)),
        }
        tasks
    }

    fn next_flush(&self) -> Option<Time> {
        self.queue
            .next_flush(&usefulness(&self.pods, self.fingerprint()))
    }

    fn wait(&mut self, until: Time) {
        self.cluster().advance_to(until);
        self.run_classic_driver();
        let now = self.now();
        let state = self.fingerprint();
        let useful = usefulness(&self.pods, state);
        self.queue.flush(now, &useful, &mut self.seat);
    }

    fn fingerprint(&self) -> u64 {
        // Another version may do better with the same cluster.
        let version = self.seat.generation().number();
        self.state
            .with_in_flight(lock(&self.cluster).in_flight())
            .wrapping_add(version)
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

#[cfg(test)]
pub(crate) mod fake;

#[cfg(test)]
mod tests;
