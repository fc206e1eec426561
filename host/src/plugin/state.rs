//! What the host knows about one instance while it runs: the data of its store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::engine::{TickClock, ticks};
use super::limits::{Growth, Limits};
use super::output::Output;
use super::stats::{Alive, Counters};
use crate::object::{Kind, Object};
use crate::plugin::{Description, Fault, LogLevel, Revision, Services, SharedServices, Suspension};

/// What all instances of one loaded component share.
#[derive(Clone)]
pub(super) struct Shared {
    pub limits: Limits,
    pub counters: Arc<Counters>,
    pub description: Description,
    pub clock: TickClock,
    /// Whether the plugin is asked for what it counts itself.
    pub counts: bool,
}

impl Shared {
    /// Name and version, as errors show them.
    pub fn label(&self) -> String {
        match self.description.version.is_empty() {
            true => self.description.name.clone(),
            false => format!("{} {}", self.description.name, self.description.version),
        }
    }
}

/// What the instance is doing, which decides what its imports may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Instantiation, `describe`, `configure`.
    Start,
    /// `enqueue`, `explain`, `advice`: no cycle.
    Aside,
    /// A cycle, where the ledger may be written.
    Cycle,
    /// `cycle.filter` and scoring: nothing has an effect but `log`.
    Filter,
    /// `cycle.post-filter`.
    PostFilter,
    /// `binding`.
    Binding,
}

impl Phase {
    /// Whether `api` may be called.
    pub fn calls_api(self) -> bool {
        matches!(self, Self::PostFilter | Self::Binding)
    }

    /// Whether the ledger may be written.
    pub fn writes_ledger(self) -> bool {
        matches!(self, Self::Cycle | Self::PostFilter | Self::Binding)
    }
}

/// A stream that a plugin follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Objects(Kind),
    InFlight,
}

/// How far an instance has read. A page counts as held when the call in which it was handed out has returned.
#[derive(Debug, Default)]
pub(super) struct Reading(Vec<Followed>);

#[derive(Debug)]
struct Followed {
    stream: Stream,
    held: Option<Revision>,
    /// In the running call.
    handed_out: Option<Revision>,
    /// The same, ever: reading something again changes nothing here.
    furthest: Revision,
}

impl Reading {
    /// Notes the end of a page that the running call got, and says whether the instance never came that far before.
    pub fn hand_out(&mut self, stream: Stream, until: Revision) -> bool {
        let known = self.0.iter().position(|known| known.stream == stream);
        let index = known.unwrap_or_else(|| {
            self.0.push(Followed {
                stream,
                held: None,
                handed_out: None,
                furthest: 0,
            });
            self.0.len() - 1
        });
        let followed = &mut self.0[index];
        followed.handed_out = Some(until);
        let before = followed.furthest;
        followed.furthest = until.max(before);
        before < until
    }

    fn begin_call(&mut self) {
        for followed in &mut self.0 {
            followed.handed_out = None;
        }
    }

    fn end_call(&mut self) {
        for followed in &mut self.0 {
            followed.held = followed.handed_out.take().or(followed.held);
        }
    }

    /// A followed stream that shows something up to `at` which this instance has not read.
    ///
    /// `until` of a page may be older than `at` though nothing is missing, so the stream itself is asked in that case. A
    /// stream that the instance never read cannot be held in an old state, and does not count.
    pub fn behind(&mut self, at: Revision, services: &mut dyn Services) -> Option<Stream> {
        let streams = self.0.iter_mut().filter_map(|followed| {
            let held = followed.held.as_mut()?;
            Some((&followed.stream, held))
        });
        for (stream, held) in streams.filter(|(_, held)| **held < at) {
            let (until, nothing_new) = rest(stream, *held, services);
            if !nothing_new {
                return Some(stream.clone());
            }
            *held = (*held).max(until);
        }
        None
    }
}

/// Where the stream ends, and whether it shows nothing after `since`.
fn rest(stream: &Stream, since: Revision, services: &mut dyn Services) -> (Revision, bool) {
    let (reset, empty, more, until) = match stream {
        Stream::Objects(kind) => {
            let page = services.changes(kind, since);
            (page.reset, page.changes.is_empty(), page.more, page.until)
        }
        Stream::InFlight => {
            let page = services.in_flight_changes(since);
            (page.reset, page.changes.is_empty(), page.more, page.until)
        }
    };
    (until, empty && !more && (!reset || since == 0))
}

/// Locks the services. A panic of the host elsewhere leaves them readable.
pub(super) fn lock(services: &SharedServices) -> MutexGuard<'_, dyn Services + 'static> {
    services.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Data of a store.
pub(super) struct State {
    pub shared: Arc<Shared>,
    pub services: SharedServices,
    pub growth: Growth,
    pub reading: Reading,
    pub output: Output,
    pub phase: Phase,
    /// Uid of the pod of the running call.
    pub pod: Arc<str>,
    /// Where a suspendable call says what it waits for.
    pub announcement: Arc<Mutex<Option<Suspension>>>,
    /// What the last write returned: it mostly comes back at once, to be assumed, and need not be read again.
    pub returned: Option<Object>,
    /// When the running stretch ends, in ticks.
    pub deadline: u64,
    host_calls: u64,
    _alive: Alive,
}

impl State {
    pub fn new(shared: &Arc<Shared>, services: &SharedServices) -> Self {
        Self {
            shared: shared.clone(),
            services: services.clone(),
            growth: Growth::new(&shared.limits, shared.counters.clone()),
            reading: Reading::default(),
            output: Output::default(),
            phase: Phase::Start,
            pod: "".into(),
            announcement: Arc::default(),
            returned: None,
            deadline: 0,
            host_calls: 0,
            _alive: Alive::new(shared.counters.clone()),
        }
    }

    /// An exported call begins, with this many ticks to spend.
    pub fn begin_call(&mut self, phase: Phase, pod: &str, ticks: u64) {
        self.phase = phase;
        if *self.pod != *pod {
            self.pod = pod.into();
        }
        self.deadline = self.shared.clock.now().saturating_add(ticks);
        self.host_calls = 0;
        self.returned = None;
        self.reading.begin_call();
        self.output.begin_call();
        self.shared.counters.crossing();
    }

    /// The exported call returned.
    pub fn end_call(&mut self) {
        self.reading.end_call();
        self.flush_output();
    }

    /// The running call was given objects of so many bytes which its instance had not read before.
    pub fn grant_time_to_read(&mut self, bytes: usize) {
        let kibibytes = bytes.div_ceil(1 << 10) as u64;
        let microseconds = kibibytes.saturating_mul(self.shared.limits.read_microseconds);
        self.deadline = self.deadline.saturating_add(ticks(microseconds));
    }

    /// Ticks that are left of the running stretch.
    pub fn ticks_left(&self) -> u64 {
        self.deadline.saturating_sub(self.shared.clock.now())
    }

    /// Performs an imported call that counts.
    pub fn host_call<R>(&mut self, effect: impl FnOnce(&mut Self) -> R) -> wasmtime::Result<R> {
        self.host_calls += 1;
        let limit = self.shared.limits.host_calls;
        if self.host_calls > limit {
            return Err(self.growth.refuse(
                Fault::HostCalls,
                format!("made more than {limit} calls of the host"),
            ));
        }
        self.shared.counters.crossing();
        let begun = Instant::now();
        let result = effect(self);
        self.shared.counters.import(begun.elapsed());
        Ok(result)
    }

    /// Writes to the log within the limits of the plugin.
    pub fn write_log(&mut self, level: LogLevel, message: &str, fields: &[(String, String)]) {
        if self.shared.counts && level == LogLevel::Trace && message == "counts" {
            return self.shared.counters.count(fields);
        }
        let mut services = lock(&self.services);
        self.output
            .write(&self.shared, &mut *services, level, message, fields);
    }

    /// Hands what the guest printed to the log, and says what was dropped.
    pub fn flush_output(&mut self) {
        if self.output.is_quiet() {
            return;
        }
        let mut services = lock(&self.services);
        self.output.flush(&self.shared, &mut *services);
    }
}

#[cfg(test)]
mod tests;
