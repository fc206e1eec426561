//! What `explain` answers, field by field as the schema (`guest/schemas/explain.schema.json`) has it.

use serde::Serialize;

/// Whether a field is left out.
fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Of one pod on one node.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Report {
    pub node: String,
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    pub claims: Vec<Claim>,
    pub pools: Vec<Pool>,
    pub unreachable: Vec<Unreachable>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
}

/// What cannot be had together.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Together {
    pub requests: Vec<Stuck>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Tied>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Reason>,
    pub needed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u64>,
}

/// A constraint by name.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Tied {
    pub claim: String,
    pub index: usize,
    pub attribute: String,
    pub distinct: bool,
}

/// The decision.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Verdict {
    pub at: Option<&'static str>,
    pub code: &'static str,
    pub message: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub score: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<Pick>>,
}

/// A device that would be allocated.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Pick {
    pub claim: String,
    pub request: String,
    pub driver: String,
    pub pool: String,
    pub device: String,
    #[serde(skip_serializing_if = "is_false")]
    pub admin_access: bool,
}

/// How the search went.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Search {
    pub steps: u64,
    pub limit: u64,
    pub exhausted: bool,
    pub placed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
}

/// A request by name.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Stuck {
    pub claim: String,
    pub request: String,
}

/// A claim of the pod.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Claim {
    pub name: String,
    pub claim: Option<String>,
    pub state: &'static str,
    pub reasons: Vec<Reason>,
    pub requests: Vec<Request>,
    pub constraints: Vec<Constraint>,
}

/// A request of a claim, or one of its alternatives.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Request {
    pub name: String,
    pub class: String,
    pub count: Option<i64>,
    #[serde(skip_serializing_if = "is_false")]
    pub admin_access: bool,
    pub looked: usize,
    pub matching: usize,
    pub free: usize,
    pub missing: u64,
    pub reasons: Vec<Reason>,
}

/// A constraint of a claim.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Constraint {
    pub index: usize,
    pub attribute: String,
    pub distinct: bool,
    pub requests: Vec<String>,
    pub needed: u64,
    pub groups: Vec<Group>,
    pub largest: u64,
    pub blocks: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// A value that devices in use would complete.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Nearest {
    pub value: String,
    pub have: u64,
    pub held: Reason,
}

/// Devices with one value.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Group {
    pub value: Option<String>,
    pub free: usize,
    pub requests: Vec<usize>,
}

/// Why not. Which fields there are depends on the type.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Reason {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Values>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taint: Option<Taint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<Counter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub have: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Reason>,
}

impl Reason {
    /// One of this type.
    pub fn new(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// One with a text.
    pub fn text(kind: &'static str, message: impl AsRef<str>) -> Self {
        Self {
            message: Some(super::words::message(message.as_ref())),
            ..Self::new(kind)
        }
    }
}

/// How many bytes something takes as JSON.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

impl Constraint {
    /// How many bytes it takes as JSON.
    pub fn size(&self) -> usize {
        size(self)
    }

    /// Leaves out what is only shown.
    pub fn shorten(&mut self) {
        (self.requests, self.groups, self.nearest) = (Vec::new(), Vec::new(), None);
    }
}

impl Request {
    /// How many bytes it takes as JSON.
    pub fn size(&self) -> usize {
        size(self)
    }

    /// Leaves out what is not counted.
    pub fn shorten(&mut self) {
        for reason in &mut self.reasons {
            *reason = Reason {
                count: reason.count,
                index: reason.index,
                needed: reason.needed,
                have: reason.have,
                ..Reason::new(reason.kind)
            };
        }
    }
}

/// What a part of an expression saw.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Values {
    pub saw: Vec<Saw>,
    pub count: usize,
    pub device: String,
}

/// One of the values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Saw {
    pub expression: String,
    pub value: Option<String>,
}

/// What may help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Hint {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
}

/// A claim that holds devices.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Holder {
    pub claim: String,
    pub count: usize,
    pub in_flight: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<String>,
}

/// A taint.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Taint {
    pub key: String,
    pub value: String,
    pub effect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A counter.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Counter {
    pub set: String,
    pub name: String,
    pub needed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_at_most: Option<String>,
    pub left: String,
    pub total: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
}

/// A pool.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Pool {
    pub driver: String,
    pub pool: String,
    pub generation: i64,
    pub slices: usize,
    pub expected: i64,
    pub stale: Vec<String>,
    pub devices: usize,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// What is wrong with a pool.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Cause {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
}

/// Slices of a driver that the node cannot use.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Unreachable {
    pub driver: String,
    pub cause: &'static str,
    pub slices: usize,
    pub devices: usize,
    pub example: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
}
