//! Whether anything changed since a pod was last tried: without this a simulation on a virtual clock would retry for ever.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::cycle::Failure;
use crate::object::Object;
use crate::plugin::{Code, InFlight, ObjectEvent};
use crate::queue::Held;

/// Parts of `metadata` that say nothing about the cluster.
const BOOKKEEPING: [&str; 3] = ["resourceVersion", "generation", "managedFields"];

/// Sums up the state of the cluster. Equal states have equal sums, also when there was another one in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// An object was added, changed or deleted. Exclusive or takes the old copy out as it put it in; copies from before the
    /// first event were never put in, which shifts all sums alike.
    pub fn change(&mut self, event: &ObjectEvent) {
        for object in event.old.iter().chain(&event.new) {
            self.0 ^= hash_object(object);
        }
    }

    /// The sum with the entries in flight, of which there are few.
    pub fn with_in_flight<'a>(self, entries: impl Iterator<Item = &'a InFlight>) -> u64 {
        entries.fold(self.0, |sum, entry| {
            sum ^ hash(|hasher| (&entry.target, &entry.holder, &entry.json).hash(hasher))
        })
    }
}

/// What the last attempt says about the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// Nobody is to blame: only another state of the cluster can help.
    Error,
    /// Somebody outside has to act.
    Pending,
    /// A plugin refused the pod, and registered what may help.
    #[default]
    Refused,
}

/// What is remembered of a pod's attempts.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    began_in: u64,
    ended_in: u64,
    kind: Kind,
    /// States in which an attempt began that ended in an error.
    failed_in: BTreeSet<u64>,
}

impl Memory {
    /// An attempt begins.
    pub fn begin(&mut self, state: u64) {
        self.began_in = state;
    }

    /// It ended, not with success.
    pub fn end(&mut self, state: u64, failure: &Failure) {
        self.ended_in = state;
        self.kind = match failure.status.code {
            Code::Pending => Kind::Pending,
            _ if failure.rejection.is_error() => Kind::Error,
            _ => Kind::Refused,
        };
        if self.kind == Kind::Error {
            self.failed_in.insert(self.began_in);
        }
    }

    /// Whether another attempt could end otherwise.
    ///
    /// An error is tried once in each state. A pod that waits for somebody outside (`Pending`) was woken by its own writes if
    /// nothing else changed. Any other pod in backoff was woken by an event that may help; in the pool only time would wake it.
    pub fn is_useful(&self, held: Held, state: u64) -> bool {
        match (self.kind, held) {
            (Kind::Error, _) => !self.failed_in.contains(&state),
            (Kind::Pending, _) | (_, Held::Pool) => self.ended_in != state,
            (Kind::Refused, Held::Backoff) => true,
        }
    }
}

fn hash_object(object: &Object) -> u64 {
    hash(|hasher| {
        object.id().hash(hasher);
        for (key, value) in object.value().as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("metadata", Value::Object(metadata)) => {
                    for (key, value) in metadata
                        .iter()
                        .filter(|(key, _)| !BOOKKEEPING.contains(&key.as_str()))
                    {
                        (key, value.to_string()).hash(hasher);
                    }
                }
                _ => (key, value.to_string()).hash(hasher),
            }
        }
    })
}

/// The hasher's keys are fixed, so that sums repeat from run to run.
fn hash(feed: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    feed(&mut hasher);
    hasher.finish()
}
