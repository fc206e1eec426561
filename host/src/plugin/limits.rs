//! What one plugin may use of the machine, and how the host notices that it wanted more.
//!
//! A refusal is recorded where it is made, so that the reason of a failure is known by type and not by the text of an error.

use std::fmt;
use std::sync::Arc;

use wasmtime::ResourceLimiter;

use super::stats::Counters;
use crate::plugin::Fault;

/// Limits of one instance, or of one call where it says so. Each is generous for a cluster of 10,000 nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of an instance, in bytes.
    pub memory_bytes: usize,
    /// Elements of each of its tables.
    pub table_elements: usize,
    /// Core instances, memories and tables that it is made of, each.
    pub parts: usize,
    /// Time to instantiate and configure, in milliseconds.
    pub start_milliseconds: u64,
    /// Time of a call, in milliseconds. Waiting of a suspended call does not count.
    pub call_milliseconds: u64,
    /// What each node of a batch adds to it, in microseconds.
    pub node_microseconds: u64,
    /// What each KiB of objects that the instance had not read before adds to it, in microseconds: the first call reads the whole cluster.
    pub read_microseconds: u64,
    /// Bytes of the statuses, or of the plan, that a call returns.
    pub output_bytes: usize,
    /// Entries of a list that a call returns: statuses with their reasons, nodes, events, findings.
    pub results: usize,
    /// Bytes of what a call of `explain` or `advice` returns.
    pub report_bytes: usize,
    /// Bytes that a call writes to the log, standard error included; more is dropped and counted.
    pub log_bytes: usize,
    /// Bytes of one log message; longer ones are cut.
    pub log_message_bytes: usize,
    /// Calls of the host per call of the plugin.
    pub host_calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 << 20,
            table_elements: 100_000,
            parts: 100,
            start_milliseconds: 20_000,
            call_milliseconds: 10_000,
            node_microseconds: 1_000,
            read_microseconds: 200,
            // A plan holds a claim with its configuration, and the API server takes objects of more than a megabyte.
            output_bytes: 16 << 20,
            results: 100_000,
            report_bytes: 64 << 20,
            log_bytes: 64 << 10,
            log_message_bytes: 4 << 10,
            host_calls: 100_000,
        }
    }
}

/// A limit that was hit, or a rule that was broken: the error that ends the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub fault: Fault,
    pub cause: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for Refusal {}

/// The part of [`Limits`] that the engine asks about when an instance grows.
pub(super) struct Growth {
    memory_bytes: usize,
    table_elements: usize,
    parts: usize,
    counters: Arc<Counters>,
    /// Memory of all linear memories of the store.
    used: usize,
    /// The first refusal; it explains everything that follows.
    pub refusal: Option<Refusal>,
}

impl Growth {
    pub fn new(limits: &Limits, counters: Arc<Counters>) -> Self {
        Self {
            memory_bytes: limits.memory_bytes,
            table_elements: limits.table_elements,
            parts: limits.parts,
            counters,
            used: 0,
            refusal: None,
        }
    }

    /// Records a refusal and returns it as an error, which ends the call.
    pub fn refuse(&mut self, fault: Fault, cause: String) -> wasmtime::Error {
        let refusal = Refusal { fault, cause };
        self.refusal.get_or_insert_with(|| refusal.clone());
        wasmtime::Error::new(refusal)
    }
}

impl ResourceLimiter for Growth {
    /// An error instead of `false`: a guest that may not grow aborts anyway, and then nobody can say why.
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.memory_bytes {
            let cause = format!(
                "wanted {} of memory, the limit is {}",
                mebibytes(used),
                mebibytes(self.memory_bytes)
            );
            return Err(self.refuse(Fault::Memory, cause));
        }
        self.used = used;
        self.counters.memory(used);
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        if desired > self.table_elements {
            let cause = format!(
                "wanted a table of {desired} elements, the limit is {}",
                self.table_elements
            );
            return Err(self.refuse(Fault::Table, cause));
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.parts
    }

    fn tables(&self) -> usize {
        self.parts
    }

    fn memories(&self) -> usize {
        self.parts
    }
}

fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
