//! What a soak run found.

use std::fmt;

use serde::Serialize;

use super::latency::Quantiles;
use crate::scheduler::Counts;

/// Sentences that are kept of each sort; the counts go on.
const KEPT: usize = 20;

/// Counts of a soak run. As JSON it is stable: keys may be added, none is renamed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Repeats the run.
    pub seed: u64,
    /// Scheduling cycles under load.
    pub cycles: u64,
    /// Pods that got a node. A run in which none did counts as a violation: it tried next to nothing.
    pub bound: u64,
    /// Switches to another generation.
    pub swaps: u64,
    /// Versions that were not let in.
    pub refusals: u64,
    /// Generations whose last attempt ended and whose memory was freed.
    pub freed: u64,
    /// Calls of the plugin that trapped or broke a limit or the contract.
    pub traps: u64,
    /// Faults of the API that were arranged.
    pub faults: u64,
    /// Generations that failed on probation.
    pub rollbacks: u64,
    /// Promises that were broken; there must be none.
    pub violations: u64,
    /// Latency of cycles outside swaps.
    #[serde(rename = "latencyOutsideSwaps")]
    pub outside: Quantiles,
    /// Latency of cycles beside a version that is tried, and of the first ones of a new generation.
    #[serde(rename = "latencyInSwaps")]
    pub inside: Quantiles,
    /// How long it took.
    pub seconds: f64,
    /// The first violations, a sentence each.
    pub violation_details: Vec<String>,
    /// The first refusals, failures and roll-backs, a sentence each.
    pub events: Vec<String>,
}

impl Report {
    pub(super) fn violated(&mut self, found: Vec<String>) {
        for violation in found {
            // One that lasts is one.
            if self.violation_details.contains(&violation) {
                continue;
            }
            self.violations += 1;
            if self.violation_details.len() < KEPT {
                self.violation_details.push(violation);
            }
        }
    }

    pub(super) fn count(&mut self, counts: Counts) {
        self.cycles = counts.cycles;
        self.bound = counts.bound;
    }

    pub(super) fn refused(&mut self, why: String) {
        self.refusals += 1;
        self.remember(why);
    }

    pub(super) fn remember(&mut self, event: String) {
        if self.events.len() < KEPT && !self.events.contains(&event) {
            self.events.push(event);
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} cycles in {:.1} s, {} pods bound, seed {}",
            self.cycles, self.seconds, self.bound, self.seed
        )?;
        writeln!(
            f,
            "{} swaps, {} refused, {} roll-backs, {} generations freed",
            self.swaps, self.refusals, self.rollbacks, self.freed
        )?;
        writeln!(
            f,
            "{} calls of the plugin failed, {} faults of the API",
            self.traps, self.faults
        )?;
        for (name, quantiles) in [("outside swaps", self.outside), ("in swaps", self.inside)] {
            writeln!(
                f,
                "cycle {name:13}  p50 {:7.0} us  p99 {:7.0} us  max {:7.0} us  ({} cycles)",
                quantiles.p50_microseconds,
                quantiles.p99_microseconds,
                quantiles.max_microseconds,
                quantiles.cycles
            )?;
        }
        for event in &self.events {
            writeln!(f, "  {event}")?;
        }
        writeln!(f, "{} violations", self.violations)?;
        for violation in &self.violation_details {
            writeln!(f, "  {violation}")?;
        }
        Ok(())
    }
}
