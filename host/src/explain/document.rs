//! What a plugin says about a pod on one node (`guest/schemas/explain.schema.json`), read leniently: fields that are not there
//! are empty, and those that are not known are kept.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::standing::Standing;

/// All of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Document {
    pub node: String,
    pub verdict: Decision,
    pub search: Option<Search>,
    pub claims: Vec<Claim>,
    pub pools: Vec<Pool>,
    pub unreachable: Vec<Unreachable>,
    pub together: Option<Together>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Together {
    pub requests: Vec<Stuck>,
    pub constraints: Vec<Tied>,
    pub counters: Vec<Reason>,
    pub needed: u64,
    pub most: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Tied {
    pub claim: String,
    pub index: u64,
    pub attribute: String,
    pub distinct: bool,
}

impl Document {
    /// From JSON; none if a field that is known has another type.
    pub fn read(value: &Value) -> Option<Self> {
        let mut document: Self = serde_json::from_value(without_nulls(value)).ok()?;
        let requests = document
            .claims
            .iter_mut()
            .flat_map(|claim| &mut claim.requests);
        for reason in requests.flat_map(|request| &mut request.reasons) {
            let is_of = |pool: &&Pool| reason.pool == format!("{}/{}", pool.driver, pool.pool);
            let pool = document.pools.iter().find(is_of);
            if let Some(pool) = pool.filter(|_| reason.kind == "pool-incomplete") {
                reason.have = i64::try_from(pool.slices).ok();
                reason.needed = Some(pool.expected);
            }
            if let ("pool-invalid", Some(cause)) = (
                reason.kind.as_str(),
                pool.and_then(|pool| pool.what_is_wrong()),
            ) {
                reason.message = cause;
            }
            if let ("all-spoiled", Some(pool)) = (reason.kind.as_str(), pool) {
                reason.message = pool.state_in_words();
            }
        }
        Some(document)
    }
}

/// What is null is as good as absent.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let there = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                there
                    .map(|(name, value)| (name.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Decision {
    pub at: Option<String>,
    pub code: String,
    pub message: String,
    pub score: i64,
    pub devices: Vec<Pick>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Pick {
    pub claim: String,
    pub request: String,
    pub driver: String,
    pub pool: String,
    pub device: String,
    pub admin_access: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Search {
    pub steps: u64,
    pub limit: u64,
    pub exhausted: bool,
    pub placed: u64,
    pub stuck: Option<Stuck>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Stuck {
    pub claim: String,
    pub request: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Claim {
    pub name: String,
    pub claim: Option<String>,
    pub state: String,
    pub reasons: Vec<Reason>,
    pub requests: Vec<Request>,
    pub constraints: Vec<Constraint>,
    /// Looked up in the cluster.
    #[serde(skip)]
    pub standing: Standing,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Request {
    pub name: String,
    pub class: String,
    pub count: Option<i64>,
    pub admin_access: bool,
    pub looked: u64,
    pub matching: u64,
    pub free: u64,
    pub missing: u64,
    pub reasons: Vec<Reason>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Constraint {
    pub index: u64,
    pub attribute: String,
    pub distinct: bool,
    pub requests: Vec<String>,
    pub needed: u64,
    pub groups: Vec<Group>,
    pub largest: u64,
    pub blocks: bool,
    pub nearest: Option<Nearest>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Nearest {
    pub value: String,
    pub have: u64,
    pub held: Reason,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Group {
    pub value: Option<String>,
    pub free: u64,
    pub requests: Vec<u64>,
}

/// One reason, of a claim or of a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Reason {
    #[serde(rename = "type")]
    pub kind: String,
    pub count: u64,
    pub devices: Vec<String>,
    pub message: String,
    pub index: Option<u64>,
    pub attribute: String,
    pub class: String,
    pub expression: String,
    pub part: String,
    pub values: Vec<Observed>,
    pub hints: Vec<Hint>,
    pub holders: Vec<Holder>,
    pub pool: String,
    pub taint: Option<Taint>,
    pub counter: Option<Counter>,
    pub needed: Option<i64>,
    pub have: Option<i64>,
    pub steps: Option<u64>,
    pub nodes: String,
    pub pods: Vec<String>,
    pub gate: String,
    pub also: Vec<Reason>,
    /// Names that are there instead, the nearest first: looked up in the cluster.
    #[serde(skip)]
    pub there: Vec<String>,
    /// What a newer plugin says beside.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Reason {
    /// The class that does not exist.
    pub fn missing_class(&self) -> &str {
        match self.class.as_str() {
            "" => self.message.as_str(),
            class => class,
        }
    }

    /// Whether the part of a selector asks for the driver itself, not only by it for an attribute.
    pub fn is_about_driver(&self) -> bool {
        let part = self.part.replace("[device.driver]", "");
        part.contains("device.driver")
    }
}

/// What a part of a selector saw, and on how many devices.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Observed {
    pub saw: Vec<Seen>,
    pub count: u64,
    pub device: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Seen {
    pub expression: String,
    pub value: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Hint {
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    pub nearest: Vec<String>,
    pub guard: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Holder {
    pub claim: String,
    pub count: u64,
    pub in_flight: bool,
    pub pods: Vec<String>,
    /// Looked up in the cluster.
    #[serde(skip)]
    pub standing: Standing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Taint {
    pub key: String,
    pub value: String,
    pub effect: String,
    pub rule: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Counter {
    pub set: String,
    pub name: String,
    pub needed: String,
    pub needed_at_most: Option<String>,
    pub left: String,
    pub total: String,
    pub short: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Pool {
    pub driver: String,
    pub pool: String,
    pub generation: i64,
    pub slices: u64,
    pub expected: i64,
    pub stale: Vec<String>,
    pub devices: u64,
    pub state: String,
    pub repeated: Option<String>,
    pub cause: Option<Cause>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Cause {
    #[serde(rename = "type")]
    pub kind: String,
    pub device: String,
    pub set: String,
    pub counter: String,
}

impl Pool {
    /// Whether it can be used, in words.
    pub fn state_in_words(&self) -> String {
        match (self.state.as_str(), self.what_is_wrong()) {
            ("incomplete", _) if i64::try_from(self.slices).unwrap_or(i64::MAX) > self.expected => {
                format!(
                    "incomplete, {} slices published and a resourceSliceCount of {}",
                    self.slices, self.expected
                )
            }
            ("incomplete", _) => format!(
                "incomplete, {} of {} slices published",
                self.slices, self.expected
            ),
            ("invalid", Some(wrong)) => format!("invalid, {wrong}"),
            ("stale", _) => {
                "every slice that this node reaches is of an older generation".to_owned()
            }
            (state, _) => state.to_owned(),
        }
    }

    /// Why it cannot be used, in words.
    pub fn what_is_wrong(&self) -> Option<String> {
        let Cause {
            kind,
            device,
            set,
            counter,
        } = self.cause.as_ref()?;
        Some(match kind.as_str() {
            "counter-set-twice" => format!("counter set {set} is defined twice"),
            "counter-set-missing" => {
                format!(
                    "device {device} takes of counter set {set}, which no slice of the pool defines"
                )
            }
            "counter-missing" => format!(
                "device {device} takes of counter {counter}, which counter set {set} does not have"
            ),
            "device-twice" => format!("device {device} is there twice"),
            "slice-counts-differ" => "its slices differ in resourceSliceCount".to_owned(),
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(missing_docs, reason = "documented in the schema")]
pub struct Unreachable {
    pub driver: String,
    pub cause: String,
    pub slices: u64,
    pub devices: u64,
    pub example: String,
    pub nodes: String,
}
