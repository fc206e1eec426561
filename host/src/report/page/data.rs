//! The data document of the page. It is private to the page: what it has and how it is named may change with it.
//!
//! Nodes, devices and claims refer to each other by position, so that a cluster of 100,000 devices stays a page of some megabytes.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::explain::Refusal;
use crate::report::{RetryReport, WarningReport};

/// Runs of consecutive positions in the list of nodes, first and last of each: a reason may stand for thousands of nodes.
pub(super) type Ranges = Vec<[usize; 2]>;

/// Everything that the page shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    /// What was read, as the user named it.
    pub source: &'a str,
    /// As the command line says it.
    pub summary: String,
    /// By name.
    pub nodes: Vec<Node>,
    /// What devices are described by: what it is, and its name.
    pub fields: Vec<(FieldKind, String)>,
    /// Devices that lie together.
    pub groups: Vec<Group>,
    /// By namespace and name.
    pub claims: Vec<Claim>,
    /// Those of the report, then running ones that have claims.
    pub pods: Vec<Pod>,
    /// What is not about one pod.
    pub warnings: &'a [WarningReport],
    /// Where devices were looked at one by one.
    pub refusals: &'a [Refusal],
}

/// A node.
#[derive(Debug, Serialize)]
pub(super) struct Node {
    pub name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unschedulable: bool,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub labels: Map<String, Value>,
}

/// What a field of a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FieldKind {
    Attribute,
    Capacity,
    Taint,
}

/// Devices of one pool that are used from the same nodes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Group {
    pub driver: String,
    pub pool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// Position of the only node that uses them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// From where they are used, in words, if that is not one node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<String>,
    /// The nodes of `reach`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Ranges,
    /// Whether slices of the pool are missing, so that its devices may be out of use.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
    /// What is wrong with the pool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Each the name, then pairs of a position in the list of fields and a value.
    pub devices: Vec<Vec<Value>>,
}

/// A claim, allocated or not.
#[derive(Debug, Serialize)]
pub(super) struct Claim {
    pub namespace: String,
    pub name: String,
    /// Whether it was allocated in this run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub given: bool,
    /// Who has it reserved: `namespace/name` for pods, `resource namespace/name` for others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    pub requests: Vec<Request>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Held>,
}

/// What a claim asks for, in words.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Request {
    pub name: String,
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<String>,
}

/// A device that a claim has.
#[derive(Debug, Serialize)]
pub(super) struct Held {
    /// Group, and position in it.
    pub at: [usize; 2],
    pub request: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub admin: bool,
}

/// A pod.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pod {
    pub namespace: String,
    pub name: String,
    /// As in the report, or `running`.
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub visited: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feasible: Ranges,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
    /// The pod's name for each, and the claim's.
    pub claims: Vec<(String, Option<String>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<RetryReport>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why some nodes, or the pod as a whole, were refused.
#[derive(Debug, Serialize)]
pub(super) struct Reason {
    pub plugin: String,
    pub message: String,
    pub count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Ranges,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Positions that ascend, as runs.
pub(super) fn ranges(positions: impl IntoIterator<Item = usize>) -> Ranges {
    let mut ranges = Ranges::new();
    for position in positions {
        match ranges.last_mut() {
            Some([_, last]) if *last + 1 == position => *last = position,
            _ => ranges.push([position, position]),
        }
    }
    ranges
}
