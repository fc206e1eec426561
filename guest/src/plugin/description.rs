//! What the plugin says of itself: `lifecycle.describe`. What it reads and writes of each kind are the listers and clients that
//! upstream's plugin is made with (`New`).

use crate::host::kinds;

/// Name under which the scheduler reports this plugin.
pub const NAME: &str = "DynamicResources";
/// Version of the plugin, for people.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Versions of resource.k8s.io that are understood, the preferred one first.
const VERSIONS: [&str; 4] = [
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
];

/// A call of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract, lifecycle.verb")]
pub enum Verb {
    Get,
    Create,
    Update,
    UpdateStatus,
    PatchStatus,
    Apply,
    Delete,
}

/// What the plugin does with a kind: `lifecycle.access`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Kind.
    pub kind: &'static str,
    /// API versions.
    pub versions: &'static [&'static str],
    /// Followed.
    pub read: bool,
    /// Calls.
    pub verbs: &'static [Verb],
}

/// What the plugin is: `lifecycle.description`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Name.
    pub name: &'static str,
    /// Version.
    pub version: &'static str,
    /// Calls that do something.
    pub points: &'static [&'static str],
    /// Kinds.
    pub accesses: &'static [Access],
}

/// Of this plugin.
pub(super) const DESCRIPTION: Description = Description {
    name: NAME,
    version: VERSION,
    points: &[
        "pre-enqueue",
        "hints",
        "pre-filter",
        "filter",
        "post-filter",
        "pre-score",
        "score",
        "reserve",
        "pre-bind",
        "unreserve",
        "post-bind",
    ],
    accesses: &[
        Access {
            kind: kinds::NODE,
            versions: &["v1"],
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::POD,
            versions: &["v1"],
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::RESOURCE_CLAIM,
            versions: &VERSIONS,
            read: true,
            verbs: &[
                Verb::Get,
                Verb::Update,
                Verb::UpdateStatus,
                Verb::PatchStatus,
            ],
        },
        Access {
            kind: kinds::RESOURCE_CLAIM_TEMPLATE,
            versions: &VERSIONS,
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::DEVICE_CLASS,
            versions: &VERSIONS,
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::RESOURCE_SLICE,
            versions: &VERSIONS,
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::DEVICE_TAINT_RULE,
            versions: &VERSIONS,
            read: true,
            verbs: &[],
        },
        Access {
            kind: kinds::POD_SCHEDULING_CONTEXT,
            versions: &["resource.k8s.io/v1alpha3"],
            read: true,
            verbs: &[Verb::Create, Verb::Update, Verb::Apply, Verb::Delete],
        },
    ],
};
