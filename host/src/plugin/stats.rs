//! What calls of a plugin cost, counted over all its instances, and what of everything that was loaded still exists.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What calls of a plugin cost so far, for `--stats`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStats {
    /// Exported calls plus imported calls.
    pub crossings: u64,
    /// Objects handed to the plugin, each of which it has to parse.
    pub objects_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Time inside exported calls, imports included.
    pub nanoseconds: u64,
    /// Time inside imported calls.
    pub import_nanoseconds: u64,
    /// Time in which objects were turned into the contract's types, inside imported calls or before exported ones. That they
    /// are copied into the plugin's memory then counts as the plugin's.
    pub crossing_nanoseconds: u64,
    /// Largest linear memory of an instance.
    pub peak_memory_bytes: u64,
    /// What the plugin counted itself and told with `log.write`.
    pub counts: BTreeMap<String, u64>,
}

impl CallStats {
    /// What was added since; the largest memory remains.
    pub fn since(&self, before: &Self) -> Self {
        let counts = self.counts.iter().map(|(name, count)| {
            let before = before.counts.get(name).copied().unwrap_or_default();
            (name.clone(), count.saturating_sub(before))
        });
        Self {
            crossings: self.crossings.saturating_sub(before.crossings),
            objects_in: self.objects_in.saturating_sub(before.objects_in),
            bytes_in: self.bytes_in.saturating_sub(before.bytes_in),
            nanoseconds: self.nanoseconds.saturating_sub(before.nanoseconds),
            import_nanoseconds: self
                .import_nanoseconds
                .saturating_sub(before.import_nanoseconds),
            crossing_nanoseconds: self
                .crossing_nanoseconds
                .saturating_sub(before.crossing_nanoseconds),
            peak_memory_bytes: self.peak_memory_bytes,
            counts: counts.collect(),
        }
    }
}

/// What exists now of all that a runtime has loaded. After a swap it must come back to what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Compiled components.
    pub components: u64,
    /// Stores, with one instance each.
    pub stores: u64,
    /// Guest-owned resources: cycles that have not ended.
    pub resources: u64,
}

/// Counts for a [`Census`].
#[derive(Debug, Default)]
pub(super) struct Living {
    components: AtomicU64,
    stores: AtomicU64,
    resources: AtomicU64,
}

impl Living {
    pub fn census(&self) -> Census {
        Census {
            components: self.components.load(Relaxed),
            stores: self.stores.load(Relaxed),
            resources: self.resources.load(Relaxed),
        }
    }

    fn count(&self, sort: Sort) -> &AtomicU64 {
        match sort {
            Sort::Component => &self.components,
            Sort::Store => &self.stores,
            Sort::Resource => &self.resources,
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sort {
    Component,
    Store,
    Resource,
}

/// Counts one thing for as long as it exists.
pub(super) struct Counted(Arc<Living>, Sort);

impl Counted {
    pub fn new(living: &Arc<Living>, sort: Sort) -> Self {
        living.count(sort).fetch_add(1, Relaxed);
        Self(living.clone(), sort)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count(self.1).fetch_sub(1, Relaxed);
    }
}

/// Counters of one loaded component.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Of the whole runtime.
    pub living: Arc<Living>,
    crossings: AtomicU64,
    objects_in: AtomicU64,
    bytes_in: AtomicU64,
    nanoseconds: AtomicU64,
    import_nanoseconds: AtomicU64,
    crossing_nanoseconds: AtomicU64,
    peak_memory_bytes: AtomicU64,
    live_instances: AtomicU64,
    counts: Mutex<BTreeMap<String, u64>>,
}

/// Counts of one plugin that are kept under names of its own choice.
const COUNTS: usize = 32;

impl Counters {
    pub fn within(living: &Arc<Living>) -> Self {
        Self {
            living: living.clone(),
            ..Self::default()
        }
    }

    /// An exported call, or a part of one between two suspensions, took this long.
    pub fn export(&self, elapsed: Duration) {
        self.nanoseconds.fetch_add(nanoseconds(elapsed), Relaxed);
    }

    /// An imported call took this long.
    pub fn import(&self, elapsed: Duration) {
        self.import_nanoseconds
            .fetch_add(nanoseconds(elapsed), Relaxed);
    }

    pub fn crossing(&self) {
        self.crossings.fetch_add(1, Relaxed);
    }

    /// Objects on their way to the plugin.
    pub fn objects_in(&self, objects: usize, bytes: usize) {
        self.objects_in.fetch_add(objects as u64, Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Relaxed);
    }

    /// Turns something into the contract's types.
    pub fn converting<R>(&self, convert: impl FnOnce() -> R) -> R {
        let begun = Instant::now();
        let converted = convert();
        self.crossing_nanoseconds
            .fetch_add(nanoseconds(begun.elapsed()), Relaxed);
        converted
    }

    /// What a plugin counted itself, by name.
    pub fn count(&self, fields: &[(String, String)]) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, number) in fields {
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            if counts.len() < COUNTS || counts.contains_key(name) {
                let count = counts.entry(name.clone()).or_default();
                *count = count.saturating_add(number);
            }
        }
    }

    /// An instance has grown to this size.
    pub fn memory(&self, bytes: usize) {
        self.peak_memory_bytes.fetch_max(bytes as u64, Relaxed);
    }

    pub fn live_instances(&self) -> u64 {
        self.live_instances.load(Relaxed)
    }

    pub fn snapshot(&self) -> CallStats {
        CallStats {
            crossings: self.crossings.load(Relaxed),
            objects_in: self.objects_in.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            nanoseconds: self.nanoseconds.load(Relaxed),
            import_nanoseconds: self.import_nanoseconds.load(Relaxed),
            crossing_nanoseconds: self.crossing_nanoseconds.load(Relaxed),
            peak_memory_bytes: self.peak_memory_bytes.load(Relaxed),
            counts: self
                .counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Counts an instance for as long as it exists.
pub(super) struct Alive(
    Arc<Counters>,
    #[allow(dead_code, reason = "counts until it is dropped")] Counted,
);

impl Alive {
    pub fn new(counters: Arc<Counters>) -> Self {
        counters.live_instances.fetch_add(1, Relaxed);
        let counted = Counted::new(&counters.living, Sort::Store);
        Self(counters, counted)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.live_instances.fetch_sub(1, Relaxed);
    }
}
