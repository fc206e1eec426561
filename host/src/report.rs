//! What a simulation found out, as a value; the submodules turn it into text.
//!
//! The JSON form is the command line's contract (design section 7): names stay, additions are allowed.

use serde::Serialize;
use serde_json::Value;

pub mod claims;
pub mod collect;
pub mod explain;
pub mod json;
pub mod objects;
pub mod page;
pub mod table;
pub mod yaml;

/// What became of a pod, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It has a node.
    Scheduled,
    /// Somebody else has to act first: a driver, or whoever creates the claim or its template.
    Waiting,
    /// Refused.
    Unschedulable,
    /// The attempt was aborted.
    Error,
    /// An object cannot be used as it is given.
    InputError,
}

impl Verdict {
    /// As in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Waiting => "waiting",
            Self::Unschedulable => "unschedulable",
            Self::Error => "error",
            Self::InputError => "input-error",
        }
    }
}

/// All of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// In input order.
    pub pods: Vec<PodReport>,
    /// What is not about one pod.
    pub warnings: Vec<WarningReport>,
    /// Only if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<Stats>,
}

/// One pod.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// In one word.
    pub verdict: Verdict,
    /// Where it runs.
    pub node: Option<String>,
    /// Nodes left by the last attempt, by name.
    pub feasible_nodes: Vec<String>,
    /// Nodes looked at by the last attempt.
    pub nodes_visited: usize,
    /// Attempts begun.
    pub attempts: u32,
    /// Why each attempt after the first took place.
    pub retries: Vec<RetryReport>,
    /// Its claims, in the order in which it names them.
    pub claims: Vec<ClaimReport>,
    /// The extension point that decided; none for a pod that is scheduled or never entered the queue.
    pub at: Option<String>,
    /// Code of the last attempt.
    pub code: &'static str,
    /// Text of the last attempt.
    pub message: String,
    /// Why it is not placed.
    pub reasons: Vec<ReasonReport>,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// One attempt after the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryReport {
    /// Its number, from 2.
    pub attempt: u32,
    /// Seconds on the virtual clock since the start.
    pub after_seconds: f64,
    /// What woke the pod, in a sentence.
    pub why: String,
    /// The same for programs: `Kind/Action namespace/name`, `backoff` or `flush`.
    pub trigger: String,
    /// How the attempt before ended.
    pub previous: Option<EndReport>,
}

/// How an attempt ended that placed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndReport {
    /// The extension point.
    pub at: String,
    /// How.
    pub code: &'static str,
    /// Why.
    pub message: String,
}

/// One claim of a pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimReport {
    /// The pod's name for it.
    pub name: String,
    /// The object; none if it does not exist.
    pub claim: Option<String>,
    /// What is allocated, in result order.
    pub devices: Vec<DeviceReport>,
    /// As written; null if there is none.
    pub allocation: Value,
}

/// One allocated device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the API's names")]
pub struct DeviceReport {
    pub request: String,
    pub driver: String,
    pub pool: String,
    pub device: String,
}

/// One reason, with the nodes that it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReasonReport {
    /// Who refused.
    pub plugin: String,
    /// How.
    pub code: &'static str,
    /// Why.
    pub message: String,
    /// Number of nodes; zero if it is about the pod as a whole.
    pub count: usize,
    /// Names, possibly only the first of them.
    pub nodes: Vec<String>,
}

/// A warning that is not about one pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningReport {
    /// Object or file; empty if there is none.
    pub object: String,
    /// What a user should know.
    pub message: String,
}

/// What it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Pods that were pending.
    pub pods: usize,
    /// Scheduling cycles.
    pub cycles: u64,
    /// Nodes looked at, over all cycles.
    pub nodes_visited: u64,
    /// Reading input and plugin.
    pub load_ms: f64,
    /// Of that, parsing the input.
    pub read_ms: f64,
    /// Scheduling alone.
    pub elapsed_ms: f64,
    /// Pods placed per second of scheduling.
    pub pods_per_second: f64,
    /// Of the scheduling: everything but the next two.
    pub host_ms: f64,
    /// Turning objects into the contract's types. Copying them into the plugin's memory is the plugin's.
    pub crossing_ms: f64,
    /// Inside the plugin, without what it called.
    pub plugin_ms: f64,
    /// Calls into and out of the plugin.
    pub crossings: u64,
    /// Objects handed to the plugin, which it parsed.
    pub objects_in: u64,
    /// Bytes handed to the plugin.
    pub bytes_in: u64,
    /// Expressions evaluated, each for one device; zero if the plugin does not say.
    pub cel_evaluations: u64,
    /// Devices visited by searches; zero if the plugin does not say.
    pub search_steps: u64,
    /// Largest memory of an instance.
    pub peak_memory_bytes: u64,
}

impl Report {
    /// How many pods have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.pods
            .iter()
            .filter(|pod| pod.verdict == verdict)
            .count()
    }

    /// Whether no pending pod was left unplaced.
    pub fn is_complete(&self) -> bool {
        self.pods
            .iter()
            .all(|pod| pod.verdict == Verdict::Scheduled)
    }

    /// For people: `14 pods: 12 scheduled, 2 unschedulable`.
    pub fn summary(&self) -> String {
        if self.pods.is_empty() {
            return "nothing is pending: every pod in the input has a node already, or there is no pod".to_owned();
        }
        let verdicts = [
            Verdict::Scheduled,
            Verdict::Waiting,
            Verdict::Unschedulable,
            Verdict::Error,
            Verdict::InputError,
        ];
        let counts = verdicts.map(|verdict| (self.count(verdict), verdict.name()));
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        let noun = if self.pods.len() == 1 { "pod" } else { "pods" };
        format!("{} {noun}: {}", self.pods.len(), parts.join(", "))
    }
}

#[cfg(test)]
mod tests;
