//! The data document of the page. It is private to the page: what it has and how it is named may change with it.
//!
//! Nodes, devices and claims refer to each other by position, so that a cluster of 100,000 devices stays a page of some megabytes.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::{RetryReport, WarningReport};

/// Runs of consecutive positions in the list of nodes, first and last of each: a text may stand for thousands of nodes.
pub(super) type Ranges = Vec<[usize; 2]>;

/// Everything that the page shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document<'a> {
    /// What was read, as the user named it.
    pub source: &'a str,
    /// As the command line says it.
    pub summary: &'a str,
    /// The pod that the page opens on, as `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
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
    /// Pods of which every node was looked at.
    pub explained: Vec<Explanation<'a>>,
}

/// Why a pod is placed where it is, or not at all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Explanation<'a> {
    /// As `namespace/name`.
    pub pod: String,
    /// The answer in sentences.
    pub summary: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub notes: &'a [String],
    /// What would make it fit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Remedy<'a>>,
    /// The nearest to fitting first.
    pub groups: Vec<Alike<'a>>,
    /// Devices that it would get: group, and position in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub would: Vec<[usize; 2]>,
    /// What is said of nodes and devices below, each text once.
    pub texts: Vec<&'a str>,
    /// For each node that does not fit its position and that of its text; then, for each run of refused devices, the positions of
    /// the text, of the group, and of the first and the last device in it.
    pub refused: Vec<Vec<usize>>,
    /// Nodes that were asked for, in lines of text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<(&'a str, &'a [String])>,
}

/// Nodes with the same reasons.
#[derive(Debug, Serialize)]
pub(super) struct Alike<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fits: bool,
    pub text: &'a str,
    /// The nearest first.
    pub nodes: Ranges,
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
    /// Why nobody can be given its devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
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
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pod {
    pub namespace: String,
    pub name: String,
    /// As in the report; `running`, `pending`, `ended` or `deleted` for one that was not to be placed.
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub code: &'static str,
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

/// Positions as runs, in their order.
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

/// What would make a pod fit.
#[derive(Debug, Serialize)]
pub(super) struct Remedy<'a> {
    /// None: on any node.
    pub node: Option<&'a str>,
    pub steps: &'a [Vec<String>],
    /// Whether they were tried, in words.
    pub tried: &'a str,
    /// What stands in the way after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<&'a str>,
}
