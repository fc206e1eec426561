//! The binding plan: what Reserve decided, in bytes that PreBind, Unreserve and PostBind of the same version read.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::edit::SchedulingContextEdits;

/// What is to be written for one pod on one node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plan {
    /// The pod's claims in order.
    pub claims: Vec<PlannedClaim>,
    /// Classic DRA: the known scheduling context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// Classic DRA: edits that were not written yet.
    #[serde(default)]
    pub edits: SchedulingContextEdits,
}

/// One claim of the pod.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlannedClaim {
    /// The claim as the cache showed it during the cycle, or as PreBind wrote it.
    pub claim: Json,
    /// The scheduler allocates or has allocated it.
    pub structured: bool,
    /// `status.allocation` to write, in the shape of the claim's version; absent if it was allocated before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Value>,
}

/// An object as it came. It is read as a tree by those who edit it, which most of those who pass a plan on do not.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Keeps a copy; what is no JSON is an error.
    pub fn new(text: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(text).map(Self)
    }

    /// The tree. What is too deep for one is an error.
    pub fn read(&self) -> serde_json::Result<Value> {
        serde_json::from_str(self.0.get())
    }
}

impl Plan {
    /// The bytes; empty if there is nothing to do for the pod.
    pub fn encode(&self) -> Vec<u8> {
        if self.claims.is_empty() && !self.edits.is_dirty() {
            return Vec::new();
        }
        // Maps have string keys and values are JSON already, so there is nothing that could fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the bytes. An error means that another version wrote them.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(bytes)
            .map_err(|error| format!("binding plan cannot be read: {error}"))
    }
}
