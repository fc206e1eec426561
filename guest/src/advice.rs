//! Questions that belong to no scheduling cycle: mistakes in the objects of a cluster, and what devices it offers. The
//! contract's interface `advice`; upstream has no counterpart.
//!
//! Each answer is worked out from what the host shows, from the beginning, and nothing of it is kept: these calls are rare,
//! and must not cost the cycles memory. `scene` reads, `devices` lists, everything else judges.

use crate::host::{Host, ObjectRef};
use crate::profile::Profile;

mod devices;
mod scene;
#[cfg(test)]
mod tests;

/// How bad a finding is: `advice.severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The object cannot work as it is.
    Error,
    /// It works, but probably not as meant.
    Warning,
    /// Worth knowing.
    Hint,
}

/// Something noticed: `advice.finding`. Without a name in `object` it is about all objects of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Which object.
    pub object: ObjectRef,
    /// Where in it, in Kubernetes' notation.
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// Everything that is wrong, or looks so, with the objects that the host shows.
pub fn lint(host: &dyn Host, profile: &Profile) -> Vec<Finding> {
    let _ = scene::Scene::read(host, profile);
    Vec::new()
}

/// All devices and who holds them, as JSON that follows `schemas/devices.schema.json`.
pub fn devices(host: &dyn Host, profile: &Profile) -> Vec<u8> {
    let scene = scene::Scene::read(host, profile);
    let list = devices::list(&scene);
    // Only maps with odd keys can fail, and there are none.
    serde_json::to_vec(&list).unwrap_or_default()
}
