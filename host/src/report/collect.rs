//! From what the scheduler knows to the report.

use crate::cluster::Cluster;
use crate::cycle::{Failure, Point};
use crate::plugin::{CallStats, Code, Status};
use crate::queue::{Retry, Time};
use crate::scheduler::outcome::{Ended, PodOutcome, Retried};
use crate::scheduler::{Counts, Note};

use super::claims::{claims_of, lacks_generated_claim};
use super::{
    EndReport, PodReport, ReasonReport, Report, RetryReport, Stats, Verdict, WarningReport,
};

/// The report on these pods. `start` is the time on the virtual clock at which it all began.
pub fn collect(outcomes: &[PodOutcome], notes: &[Note], cluster: &Cluster, start: Time) -> Report {
    let pods = outcomes
        .iter()
        .map(|outcome| pod(outcome, cluster, start))
        .collect();
    let warnings = notes
        .iter()
        .map(|note| WarningReport {
            object: note.object.clone(),
            message: note.message.clone(),
        })
        .collect();
    Report {
        pods,
        warnings,
        stats: None,
    }
}

/// What was measured, in nanoseconds where the report has milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Loading the plugin and reading.
    pub load: u64,
    /// Parsing the input.
    pub read: u64,
    /// Scheduling.
    pub elapsed: u64,
    /// The plugin's part of it.
    pub calls: CallStats,
    /// The scheduler's counts.
    pub counts: Counts,
}

impl Report {
    /// Adds what it cost.
    pub fn with_stats(mut self, measured: Measured) -> Self {
        let Measured {
            load,
            read,
            elapsed,
            calls,
            counts,
        } = measured;
        let seconds = elapsed as f64 / 1e9;
        let plugin = calls.nanoseconds.saturating_sub(calls.import_nanoseconds);
        let host = elapsed
            .saturating_sub(plugin)
            .saturating_sub(calls.crossing_nanoseconds);
        let counted = |name: &str| calls.counts.get(name).copied().unwrap_or_default();
        let placed = self.count(Verdict::Scheduled) as f64;
        self.stats = Some(Stats {
            pods: self.pods.len(),
            cycles: counts.cycles,
            nodes_visited: counts.nodes_visited,
            load_ms: milliseconds(load),
            read_ms: milliseconds(read),
            elapsed_ms: milliseconds(elapsed),
            pods_per_second: if seconds > 0.0 {
                (placed / seconds * 10.0).round() / 10.0
            } else {
                0.0
            },
            host_ms: milliseconds(host),
            crossing_ms: milliseconds(calls.crossing_nanoseconds),
            plugin_ms: milliseconds(plugin),
            crossings: calls.crossings,
            objects_in: calls.objects_in,
            bytes_in: calls.bytes_in,
            cel_evaluations: counted("celEvaluations"),
            search_steps: counted("searchSteps"),
            peak_memory_bytes: calls.peak_memory_bytes,
        });
        self
    }
}

/// To the microsecond.
fn milliseconds(nanoseconds: u64) -> f64 {
    (nanoseconds / 1_000) as f64 / 1_000.0
}

fn pod(outcome: &PodOutcome, cluster: &Cluster, start: Time) -> PodReport {
    let id = outcome.pod.id();
    let retries = outcome.retries.iter().map(|retried| retry(retried, start));
    let (verdict, status) = judge(outcome);
    PodReport {
        namespace: id.namespace.to_string(),
        name: id.name.to_string(),
        verdict,
        node: match &outcome.ended {
            Ended::Bound { node } => Some(node.to_string()),
            _ => None,
        },
        feasible_nodes: outcome.feasible.iter().map(ToString::to_string).collect(),
        nodes_visited: outcome.visited,
        attempts: outcome.attempts,
        retries: retries.collect(),
        claims: claims_of(&outcome.pod, cluster),
        at: match &outcome.ended {
            Ended::Failed(failure) => Some(failure.at.to_string()),
            _ => None,
        },
        code: status.code.name(),
        message: status.message(),
        reasons: reasons(outcome),
        warnings: outcome.warnings.clone(),
    }
}

fn retry(retried: &Retried, start: Time) -> RetryReport {
    let Retry { at, wake } = &retried.retry;
    RetryReport {
        attempt: retried.attempt,
        after_seconds: at.saturating_sub(start) as f64 / 1e9,
        why: wake.why.clone(),
        trigger: wake.trigger.clone(),
        previous: retried.before.as_ref().map(|failure| EndReport {
            at: failure.at.to_string(),
            code: failure.status.code.name(),
            message: failure.status.message(),
        }),
    }
}

fn reasons(outcome: &PodOutcome) -> Vec<ReasonReport> {
    let refusals = outcome.refusals.iter();
    refusals
        .map(|refusal| ReasonReport {
            plugin: refusal.plugin.to_string(),
            code: refusal.status.code.name(),
            message: refusal.status.message(),
            count: refusal.count,
            nodes: refusal.nodes.iter().map(ToString::to_string).collect(),
        })
        .collect()
}

fn judge(outcome: &PodOutcome) -> (Verdict, Status) {
    match &outcome.ended {
        Ended::Bound { .. } => (Verdict::Scheduled, Status::success()),
        Ended::Open => (
            Verdict::Unschedulable,
            Status::new(Code::Unschedulable, "the pod was not tried"),
        ),
        Ended::Refused(status) => (verdict_of(status.code), status.clone()),
        Ended::Failed(failure) => (verdict_of_failure(outcome, failure), failure.status.clone()),
    }
}

fn verdict_of_failure(outcome: &PodOutcome, failure: &Failure) -> Verdict {
    let held = failure.at == Point::PreEnqueue && failure.status.code != Code::InvalidObject;
    match held && lacks_generated_claim(&outcome.pod) {
        true => Verdict::Waiting,
        false => verdict_of(failure.status.code),
    }
}

fn verdict_of(code: Code) -> Verdict {
    match code {
        Code::Success => Verdict::Scheduled,
        Code::Pending => Verdict::Waiting,
        Code::InvalidObject => Verdict::InputError,
        Code::Unschedulable | Code::UnschedulableAndUnresolvable => Verdict::Unschedulable,
        Code::Error | Code::Wait | Code::Skip => Verdict::Error,
    }
}
