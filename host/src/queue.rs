//! The scheduling queue (upstream's `PriorityQueue`, spec sections 2.2.1 and 12): which pod is tried next, and what wakes one
//! that was refused.
//!
//! A pod is in one of four places: *active* (by priority, then input order), *backoff* (until a time), the *unschedulable pool*
//! (until an event that may help, or five minutes), or in flight. Entering *active* always runs PreEnqueue; a pod that it
//! refuses is *gated* and sits in the pool. Times are those of the virtual clock, in nanoseconds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::Object;
use crate::plugin::{Action, Hint, ObjectEvent};

pub mod interests;
mod pod;
mod relevance;
mod wake;

use interests::Interests;
pub use pod::{Advisor, Gate, QueuedPod, Rejection, Retry};
use relevance::{node_changed, pod_changed};
pub use wake::Wake;

/// Nanoseconds of the virtual clock.
pub type Time = u64;

const SECOND: Time = 1_000_000_000;
/// Wait after the first attempt; doubles with each further one.
pub const INITIAL_BACKOFF: Time = SECOND;
/// Longest wait between attempts.
pub const MAX_BACKOFF: Time = 10 * SECOND;
/// How long a pod stays in the unschedulable pool without an event.
pub const POOL_LIMIT: Time = 300 * SECOND;

/// Where a pod waits for time to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// For the end of its backoff; an event or an error sent it there.
    Backoff,
    /// For five minutes to pass without an event.
    Pool,
}

/// Whether an event helps a pod, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Nothing,
    AfterBackoff,
    AtOnce,
}

/// What is remembered of a pod in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    /// Number of its scheduling cycle.
    cycle: u64,
    /// Events from this number on happened during its cycle.
    first_event: u64,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    interests: Interests,
    pods: BTreeMap<u64, QueuedPod>,
    orders: BTreeMap<Arc<str>, u64>,
    active: BTreeSet<(Reverse<i64>, u64)>,
    backoff: BTreeSet<(Time, u64)>,
    pool: BTreeSet<u64>,
    flights: BTreeMap<u64, Flight>,
    /// Events since the oldest flight began; only kept with hints.
    events: BTreeMap<u64, ObjectEvent>,
    next_event: u64,
    next_order: u64,
    cycle: u64,
    /// The last event of interest, with the cycle in which it was seen.
    moved: Option<(u64, Wake)>,
}

impl Queue {
    /// An empty queue.
    pub fn new(interests: Interests) -> Self {
        Self {
            interests,
            pods: BTreeMap::new(),
            orders: BTreeMap::new(),
            active: BTreeSet::new(),
            backoff: BTreeSet::new(),
            pool: BTreeSet::new(),
            flights: BTreeMap::new(),
            events: BTreeMap::new(),
            next_event: 0,
            next_order: 0,
            cycle: 0,
            moved: None,
        }
    }

    /// Another plugin version registered other events.
    pub fn set_interests(&mut self, interests: Interests) {
        self.interests = interests;
    }

    /// Another plugin version may let pass whom the one before held at the gate, or could not be asked about.
    pub fn ask_again(&mut self, now: Time, advisor: &mut dyn Advisor) {
        let gated = self.pods.iter().filter(|(_, queued)| queued.gate.is_some());
        let gated: Vec<u64> = gated.map(|(order, _)| *order).collect();
        for order in gated {
            self.withdraw(order);
            self.activate(order, now, advisor);
        }
    }

    /// A new pending pod. One with a uid that is here already replaces the copy.
    pub fn add(&mut self, pod: Object, priority: i64, now: Time, advisor: &mut dyn Advisor) {
        if self.orders.contains_key(&pod.id().uid) {
            return self.update(pod, now, advisor);
        }
        let order = self.next_order;
        self.next_order += 1;
        self.orders.insert(pod.id().uid.clone(), order);
        let queued = QueuedPod {
            pod,
            priority,
            order,
            attempts: 0,
            retry: None,
            gate: None,
            rejection: Rejection::default(),
            since: now,
            wake: Wake::default(),
        };
        self.pods.insert(order, queued);
        self.activate(order, now, advisor);
    }

    /// A changed pod. A change that matters to scheduling wakes it; for what is written in its status only generated claims do.
    ///
    /// With hints on, upstream of the time leaves open whether a generated claim wakes the pod (spec section 12); here it does
    /// unless the plugin that refused it wants to be asked about pods.
    pub fn update(&mut self, pod: Object, now: Time, advisor: &mut dyn Advisor) {
        let Some(&order) = self.orders.get(&pod.id().uid) else {
            return;
        };
        let Some(queued) = self.pods.get_mut(&order) else {
            return;
        };
        let old = std::mem::replace(&mut queued.pod, pod.clone());
        if !self.pool.contains(&order) || !pod_changed(&old, &pod) {
            return;
        }
        let event = ObjectEvent {
            kind: pod.id().kind.clone(),
            action: Action::Update,
            old: Some(old),
            new: Some(pod),
        };
        let worth = match self.interests.hinted_for(&event) {
            true => self
                .worth(&[order], &event, advisor)
                .first()
                .copied()
                .unwrap_or(Worth::AfterBackoff),
            false => Worth::AfterBackoff,
        };
        self.requeue(order, worth, Wake::event(&event), now, advisor);
    }

    /// The pod is gone, or somebody else bound it.
    pub fn remove(&mut self, uid: &str) -> Option<QueuedPod> {
        let order = self.orders.remove(uid)?;
        self.withdraw(order);
        self.end_flight(order);
        self.pods.remove(&order)
    }

    /// Takes the next active pod and begins its attempt.
    pub fn pop(&mut self, now: Time) -> Option<QueuedPod> {
        let (_, order) = self.active.pop_first()?;
        self.cycle += 1;
        self.flights.insert(
            order,
            Flight {
                cycle: self.cycle,
                first_event: self.next_event,
            },
        );
        let queued = self.pods.get_mut(&order)?;
        if queued.attempts > 0 {
            queued.retry = Some(Retry {
                at: now,
                wake: std::mem::take(&mut queued.wake),
            });
        }
        queued.attempts = queued.attempts.saturating_add(1);
        queued.rejection = Rejection::default();
        Some(queued.clone())
    }

    /// The attempt failed: the pod waits for what may help it.
    pub fn failed(
        &mut self,
        uid: &str,
        rejection: Rejection,
        now: Time,
        advisor: &mut dyn Advisor,
    ) {
        let Some(&order) = self.orders.get(uid) else {
            return;
        };
        let Some(&flight) = self.flights.get(&order) else {
            return;
        };
        let is_error = rejection.is_error();
        if let Some(queued) = self.pods.get_mut(&order) {
            queued.rejection = rejection;
            queued.since = now;
        }
        if is_error {
            self.end_flight(order);
            return self.back_off(order, Wake::backoff());
        }
        let (worth, wake) = match self.interests.with_hints() {
            true => self.replay(order, flight, advisor),
            false => match &self.moved {
                Some((cycle, wake)) if *cycle >= flight.cycle => {
                    (Worth::AfterBackoff, wake.clone())
                }
                _ => (Worth::Nothing, Wake::default()),
            },
        };
        self.end_flight(order);
        match worth {
            Worth::Nothing => {
                self.pool.insert(order);
            }
            worth => self.requeue(order, worth, wake.during_attempt(), now, advisor),
        }
    }

    /// Something happened. A pod is not woken by what happens to itself.
    pub fn on_event(&mut self, event: &ObjectEvent, now: Time, advisor: &mut dyn Advisor) {
        if !self.interests.concerns_any(event) || !node_changed(event) {
            return;
        }
        let wake = Wake::event(event);
        self.moved = Some((self.cycle, wake.clone()));
        if self.interests.with_hints() && !self.flights.is_empty() {
            self.events.insert(self.next_event, event.clone());
            self.next_event += 1;
        }
        let object = event.new.as_ref().or(event.old.as_ref());
        let itself = object
            .and_then(|object| self.orders.get(&object.id().uid))
            .copied();
        let others = self.pool.iter().copied();
        let waiting: Vec<u64> = others.filter(|order| Some(*order) != itself).collect();
        let worths = self.worth(&waiting, event, advisor);
        for (order, worth) in waiting.into_iter().zip(worths) {
            self.requeue(order, worth, wake.clone(), now, advisor);
        }
    }

    /// Moves pods whose time has come and for which `useful` holds: out of backoff, and out of the pool after five minutes.
    pub fn flush(
        &mut self,
        now: Time,
        useful: &dyn Fn(&QueuedPod, Held) -> bool,
        advisor: &mut dyn Advisor,
    ) {
        for (due, order, held) in self.timed() {
            if due > now
                || !self
                    .pods
                    .get(&order)
                    .is_some_and(|queued| useful(queued, held))
            {
                continue;
            }
            self.withdraw(order);
            if let Some(queued) = self.pods.get_mut(&order).filter(|_| held == Held::Pool) {
                queued.wake = Wake::flush();
            }
            self.activate(order, now, advisor);
        }
    }

    /// When `flush` has something to do next, for pods for which `useful` holds.
    pub fn next_flush(&self, useful: &dyn Fn(&QueuedPod, Held) -> bool) -> Option<Time> {
        let due = self.timed().into_iter();
        let useful = |order: &u64, held| {
            self.pods
                .get(order)
                .is_some_and(|queued| useful(queued, held))
        };
        due.filter(|(_, order, held)| useful(order, *held))
            .map(|(due, ..)| due)
            .min()
    }

    /// Whether a pod could be popped now.
    pub fn has_active(&self) -> bool {
        !self.active.is_empty()
    }

    /// The pod with this uid.
    pub fn get(&self, uid: &str) -> Option<&QueuedPod> {
        self.pods.get(self.orders.get(uid)?)
    }

    /// All pods, in input order.
    pub fn iter(&self) -> impl Iterator<Item = &QueuedPod> {
        self.pods.values()
    }

    /// Who waits for time, in the order in which upstream flushes: backoff, then the pool. Gated pods wait for events only.
    fn timed(&self) -> Vec<(Time, u64, Held)> {
        let backoff = self
            .backoff
            .iter()
            .map(|&(due, order)| (due, order, Held::Backoff));
        let pool = self.pool.iter().filter_map(|order| {
            let queued = self
                .pods
                .get(order)
                .filter(|queued| queued.gate.is_none())?;
            Some((queued.since.saturating_add(POOL_LIMIT), *order, Held::Pool))
        });
        backoff.chain(pool).collect()
    }

    /// Runs PreEnqueue and puts the pod, which is nowhere, into *active* or the pool, or into backoff until it can be asked.
    fn activate(&mut self, order: u64, now: Time, advisor: &mut dyn Advisor) {
        let Some(queued) = self.pods.get_mut(&order) else {
            return;
        };
        match advisor.pre_enqueue(&queued.pod) {
            Ok(()) => {
                queued.gate = None;
                self.active.insert((Reverse(queued.priority), order));
            }
            Err(gate) => {
                queued.rejection.rejectors.insert(gate.plugin.clone());
                queued.since = now;
                match gate.ask_at {
                    Some(at) => self.backoff.insert((at, order)),
                    None => self.pool.insert(order),
                };
                queued.gate = Some(gate);
            }
        }
    }

    fn requeue(
        &mut self,
        order: u64,
        worth: Worth,
        wake: Wake,
        now: Time,
        advisor: &mut dyn Advisor,
    ) {
        let Some(queued) = self.pods.get(&order) else {
            return;
        };
        if worth == Worth::Nothing {
            return;
        }
        let wait =
            worth == Worth::AfterBackoff && queued.gate.is_none() && queued.backoff_ends() > now;
        self.withdraw(order);
        if wait {
            return self.back_off(order, wake);
        }
        if let Some(queued) = self.pods.get_mut(&order) {
            queued.wake = wake;
        }
        self.activate(order, now, advisor);
    }

    fn back_off(&mut self, order: u64, wake: Wake) {
        let Some(queued) = self.pods.get_mut(&order) else {
            return;
        };
        queued.wake = wake;
        self.backoff.insert((queued.backoff_ends(), order));
    }

    fn withdraw(&mut self, order: u64) {
        let Some(queued) = self.pods.get(&order) else {
            return;
        };
        self.active.remove(&(Reverse(queued.priority), order));
        self.backoff.remove(&(queued.backoff_ends(), order));
        self.pool.remove(&order);
    }

    fn end_flight(&mut self, order: u64) {
        self.flights.remove(&order);
        match self.flights.values().map(|flight| flight.first_event).min() {
            Some(oldest) => self.events = self.events.split_off(&oldest),
            None => self.events.clear(),
        }
    }

    /// Replays the events that happened during the pod's own cycle.
    fn replay(&mut self, order: u64, flight: Flight, advisor: &mut dyn Advisor) -> (Worth, Wake) {
        let events: Vec<ObjectEvent> = self
            .events
            .range(flight.first_event..)
            .map(|(_, event)| event.clone())
            .collect();
        let mut best = (Worth::Nothing, Wake::default());
        for event in &events {
            let worth = self
                .worth(&[order], event, advisor)
                .first()
                .copied()
                .unwrap_or(Worth::AfterBackoff);
            if worth > best.0 {
                best = (worth, Wake::event(event));
            }
            if worth == Worth::AtOnce {
                break;
            }
        }
        best
    }

    /// Upstream's `isPodWorthRequeuing`, for many pods: one call of `hints` for each plugin that wants to be asked.
    fn worth(&self, orders: &[u64], event: &ObjectEvent, advisor: &mut dyn Advisor) -> Vec<Worth> {
        let mut worths = vec![Worth::Nothing; orders.len()];
        for (plugin, hinted) in self.interests.of(event) {
            let concerned: Vec<(usize, &QueuedPod)> = orders
                .iter()
                .enumerate()
                .filter_map(|(index, order)| Some((index, self.pods.get(order)?)))
                .filter(|(_, queued)| queued.rejection.involves(&plugin))
                .collect();
            let pods: Vec<Object> = concerned
                .iter()
                .map(|(_, queued)| queued.pod.clone())
                .collect();
            let hints = match hinted && !pods.is_empty() {
                true => advisor.hints(&plugin, event, &pods),
                false => Vec::new(),
            };
            for (position, (index, queued)) in concerned.into_iter().enumerate() {
                if hints.get(position) == Some(&Hint::Skip) {
                    continue;
                }
                let worth = match queued.rejection.pending.contains(&plugin) {
                    true => Worth::AtOnce,
                    false => Worth::AfterBackoff,
                };
                worths[index] = worths[index].max(worth);
            }
        }
        worths
    }
}

#[cfg(test)]
mod tests;
