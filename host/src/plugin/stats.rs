//! What calls of a plugin cost, counted over all its instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::plugin::CallStats;

/// Counters of one loaded component.
#[derive(Debug, Default)]
pub(super) struct Counters {
    crossings: AtomicU64,
    bytes_in: AtomicU64,
    nanoseconds: AtomicU64,
    import_nanoseconds: AtomicU64,
    peak_memory_bytes: AtomicU64,
    live_instances: AtomicU64,
}

impl Counters {
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

    /// Bytes of objects and plans on their way to the plugin.
    pub fn bytes_in(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Relaxed);
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
            bytes_in: self.bytes_in.load(Relaxed),
            nanoseconds: self.nanoseconds.load(Relaxed),
            import_nanoseconds: self.import_nanoseconds.load(Relaxed),
            peak_memory_bytes: self.peak_memory_bytes.load(Relaxed),
        }
    }
}

fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Counts an instance for as long as it exists.
pub(super) struct Alive(Arc<Counters>);

impl Alive {
    pub fn new(counters: Arc<Counters>) -> Self {
        counters.live_instances.fetch_add(1, Relaxed);
        Self(counters)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.live_instances.fetch_sub(1, Relaxed);
    }
}
