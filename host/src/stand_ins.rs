//! What a real cluster does around the scheduler, as far as its answers depend on it. Beside the reports this is the only
//! part of the host that names resource.k8s.io.

pub mod accounting;
pub mod claim_controller;
pub mod classic_driver;
pub mod defaults;
pub mod invariants;
pub mod schema;
pub mod troubles;
pub mod users;

use crate::api::Rules;

/// What the API server imitation has to know about kinds.
pub const RULES: Rules = Rules {
    cluster_scoped: schema::cluster_scoped,
    defaults: defaults::apply,
    lacks_defaults: defaults::are_missing,
    validate: invariants::validate,
    merge_key: schema::merge_key,
};
