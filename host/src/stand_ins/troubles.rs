//! Stands in for what goes wrong around a scheduler: calls of the API that fail, and caches that lag behind.

use crate::api::{Fault, Operation};
use crate::cluster::Cluster;
use crate::object::Kind;
use crate::plugin::{ApiError, ApiErrorReason, Verb};

use super::schema::{CLAIM, POD, SLICE};

/// Kinds whose watch may lag.
const WATCHED: [&str; 3] = [POD, CLAIM, SLICE];
/// Calls that may fail. Not those that bind: a pod whose binding took effect and was reported as failed is upstream's open
/// wound, not the plugin's.
const FRAGILE: [Verb; 5] = [
    Verb::Get,
    Verb::Update,
    Verb::UpdateStatus,
    Verb::PatchStatus,
    Verb::Delete,
];

/// From a seed.
#[derive(Clone, Debug)]
pub struct Troubles(fastrand::Rng);

impl Troubles {
    /// The same seed gives the same troubles.
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Perhaps one more. Returns how many faults were added.
    pub fn cause(&mut self, cluster: &mut Cluster) -> u64 {
        let random = &mut self.0;
        let kind = Kind::new(WATCHED[random.usize(..WATCHED.len())]);
        match random.u32(..12) {
            0 => cluster.api().watch().hold(&kind),
            1 | 2 => self.relent(cluster),
            3 => cluster.relist(&kind),
            4..=6 => {
                cluster.api().inject(fault(random));
                return 1;
            }
            _ => (),
        }
        0
    }

    /// The caches catch up.
    pub fn relent(&mut self, cluster: &mut Cluster) {
        for kind in WATCHED {
            cluster.api().watch().release(&Kind::new(kind));
        }
    }

    /// From now on nothing goes wrong.
    pub fn end(&mut self, cluster: &mut Cluster) {
        self.relent(cluster);
        cluster.api().heal();
    }
}

fn fault(random: &mut fastrand::Rng) -> Fault {
    let verb = FRAGILE[random.usize(..FRAGILE.len())];
    let (reason, message) = match random.u32(..3) {
        0 => (
            ApiErrorReason::Conflict,
            "the object has been modified; please apply your changes to the latest version and try again",
        ),
        1 => (ApiErrorReason::Timeout, "the request timed out"),
        _ => (ApiErrorReason::Other, "the server is shutting down"),
    };
    Fault {
        operation: Some(Operation::Api(verb)),
        kind: None,
        nth: random.u32(1..4),
        error: ApiError {
            reason,
            message: message.to_owned(),
        },
        // A conflict is told by a server that did nothing.
        after_effect: reason != ApiErrorReason::Conflict && random.bool(),
    }
}
