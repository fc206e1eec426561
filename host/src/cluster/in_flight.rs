//! In-flight entries: what scheduling cycles decided about objects and nobody has written yet (spec section 4). Kept by the
//! host, so that every instance and version of a plugin sees them and none takes them along when it dies.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stream::{PageLimit, Step, Stream};
use crate::object::{Kind, ObjectRef};
use crate::plugin::{ApiError, ApiErrorReason, InFlight, InFlightChange, Page, Revision};

/// Kind and uid of the object.
type Target = (Kind, Arc<str>);

/// All entries.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    entries: BTreeMap<Target, Held>,
    stream: Stream<Target, ObjectRef>,
}

#[derive(Debug)]
struct Held {
    entry: InFlight,
    revision: Revision,
}

impl Ledger {
    pub(super) fn get(&self, kind: &Kind, uid: &str) -> Option<&InFlight> {
        self.entries
            .get(&(kind.clone(), uid.into()))
            .map(|held| &held.entry)
    }

    /// By kind, then uid.
    pub(super) fn entries(&self) -> impl Iterator<Item = &InFlight> {
        self.entries.values().map(|held| &held.entry)
    }

    /// Why an entry cannot be put in place for this pod.
    pub(super) fn check(&self, pod_uid: &str, entry: &InFlight) -> Result<(), ApiError> {
        let refuse = |reason, message| Err(ApiError { reason, message });
        let InFlight { target, holder, .. } = entry;
        if holder != pod_uid {
            let message = format!(
                "{target} cannot be held by pod {holder}: the running call is about pod {pod_uid}"
            );
            return refuse(ApiErrorReason::Forbidden, message);
        }
        match self.get(&target.kind, &target.uid).map(|held| &held.holder) {
            Some(other) if other != holder => refuse(
                ApiErrorReason::Conflict,
                format!("{target} is in flight for pod {other}"),
            ),
            _ => Ok(()),
        }
    }

    /// Puts a checked entry in place.
    pub(super) fn put(&mut self, entry: InFlight, revision: &mut Revision) {
        *revision += 1;
        let target = (entry.target.kind.clone(), entry.target.uid.clone());
        let before = self.entries.insert(
            target.clone(),
            Held {
                entry,
                revision: *revision,
            },
        );
        self.stream
            .put(before.map(|held| held.revision), *revision, target);
    }

    /// Removes an entry that this pod holds.
    pub(super) fn remove(
        &mut self,
        pod_uid: &str,
        kind: &Kind,
        uid: &str,
        revision: &mut Revision,
    ) -> Option<InFlight> {
        let target = (kind.clone(), Arc::from(uid));
        if self.entries.get(&target)?.entry.holder != pod_uid {
            return None;
        }
        let Held {
            entry,
            revision: before,
        } = self.entries.remove(&target)?;
        *revision += 1;
        self.stream.delete(before, *revision, entry.target.clone());
        Some(entry)
    }

    pub(super) fn page(
        &mut self,
        since: Revision,
        now: Revision,
        limit: PageLimit,
    ) -> Page<InFlightChange> {
        let entries = &self.entries;
        self.stream.page(since, now, limit, |step| match step {
            Step::Live(target) => {
                let entry = entries.get(target)?.entry.clone();
                let size = entry.json.len();
                Some((InFlightChange::Put(entry), size))
            }
            Step::Dead(id) => Some((InFlightChange::Removed(id.clone()), 0)),
        })
    }
}
