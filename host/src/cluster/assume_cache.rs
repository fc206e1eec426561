//! The informer's view of one kind, on which writes of the scheduler can be laid before the API confirms them (spec
//! section 3; upstream: `pkg/scheduler/util/assumecache`), with dense numbers for its objects.

use super::stream::{PageLimit, Step, Stream};
use crate::api::keyed::Keyed;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{
    Action, ApiError, ApiErrorReason, Change, Entry, ObjectEvent, Page, Revision, Slot,
};

/// All objects of one kind.
#[derive(Debug)]
pub(super) struct AssumeCache {
    kind: Kind,
    slots: Vec<Option<Item>>,
    free: Vec<Slot>,
    by_name: Keyed<Slot>,
    stream: Stream<Slot, (Slot, ObjectRef)>,
}

#[derive(Debug)]
struct Item {
    /// The last one from the informer that was not dropped.
    api: Object,
    /// What is shown: `api`, or what was assumed since.
    latest: Entry,
    /// The informer's copy of what is assumed, once it came. Upstream drops it, and a `restore` after that shows a state that
    /// is known to be past: an allocation that is in the API would look free. It happens when a plugin's instance dies between
    /// `assume` and the removal of its in-flight entry, which upstream's plugin cannot.
    confirmed: Option<Object>,
    /// Version of `latest`.
    version: Option<i64>,
    /// Revision of the last change.
    revision: Revision,
}

impl AssumeCache {
    pub(super) fn new(kind: Kind) -> Self {
        let (slots, free, by_name, stream) =
            (Vec::new(), Vec::new(), Keyed::default(), Stream::default());
        Self {
            kind,
            slots,
            free,
            by_name,
            stream,
        }
    }

    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<&Entry> {
        self.by_slot(*self.by_name.get(namespace, name)?)
    }

    pub(super) fn by_slot(&self, slot: Slot) -> Option<&Entry> {
        self.item(slot).map(|item| &item.latest)
    }

    /// By slot.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().flatten().map(|item| &item.latest)
    }

    pub(super) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Takes an informer's add or update. Nothing happens if the version is not newer than what is shown.
    pub(super) fn informed(
        &mut self,
        object: Object,
        revision: &mut Revision,
    ) -> Option<ObjectEvent> {
        let ObjectRef {
            namespace,
            name,
            uid,
            ..
        } = object.id();
        let version = version(&object);
        let Some(slot) = self.by_name.get(namespace, name).copied() else {
            self.add(object.clone(), version, revision);
            return Some(event(&self.kind, Action::Add, None, Some(object)));
        };
        let item = self.slots.get_mut(slot as usize)?.as_mut()?;
        let newer = item
            .version
            .zip(version)
            .is_some_and(|(held, new)| new > held);
        if !newer {
            if item.latest.assumed && version.is_some() && version == item.version {
                item.confirmed = Some(object);
            }
            return None;
        }
        let old = item.latest.object.clone();
        if old.id().uid == *uid {
            item.api = object.clone();
            self.show(slot, object.clone(), version, false, revision);
        } else {
            // The deletion in between was missed. Readers know objects by slot and uid, so they are told of it.
            self.remove(slot, revision);
            self.add(object.clone(), version, revision);
        }
        Some(event(&self.kind, Action::Update, Some(old), Some(object)))
    }

    /// Takes an informer's delete.
    pub(super) fn deleted(
        &mut self,
        namespace: &str,
        name: &str,
        revision: &mut Revision,
    ) -> Option<ObjectEvent> {
        let slot = self.by_name.get(namespace, name).copied()?;
        let old = self.remove(slot, revision)?;
        Some(event(&self.kind, Action::Delete, Some(old), None))
    }

    pub(super) fn assume(
        &mut self,
        object: Object,
        revision: &mut Revision,
    ) -> Result<ObjectEvent, ApiError> {
        let ObjectRef {
            namespace,
            name,
            uid,
            ..
        } = object.id();
        let slot = self.by_name.get(namespace, name).copied();
        let item = slot
            .and_then(|slot| self.item(slot))
            .filter(|item| item.latest.object.id().uid == *uid);
        let (Some(slot), Some(item)) = (slot, item) else {
            return Err(missing(&self.kind, namespace, name));
        };
        let old = item.latest.object.clone();
        let (Some(held), Some(new)) = (item.version, version(&object)) else {
            return Err(incomparable(&self.kind, &old, &object));
        };
        if new < held {
            let key = key(namespace, name);
            let message = format!(
                "{} {key:?} is out of sync (stored: {held}, assume: {new})",
                self.kind.short()
            );
            return Err(ApiError {
                reason: ApiErrorReason::Conflict,
                message,
            });
        }
        self.show(slot, object.clone(), Some(new), true, revision);
        Ok(event(&self.kind, Action::Update, Some(old), Some(object)))
    }

    pub(super) fn restore(
        &mut self,
        namespace: &str,
        name: &str,
        revision: &mut Revision,
    ) -> Option<ObjectEvent> {
        let slot = self.by_name.get(namespace, name).copied()?;
        let item = self.item(slot)?;
        let (api, old) = (item.api.clone(), item.latest.object.clone());
        let api = item.confirmed.clone().unwrap_or(api);
        if api.is(&old) {
            if item.latest.assumed {
                // Confirmed as it is: readers learn that it is no longer only assumed, and nobody has to wake up for that.
                self.show(slot, api.clone(), version(&api), false, revision);
                self.set_api(slot, api);
            }
            return None;
        }
        self.set_api(slot, api.clone());
        self.show(slot, api.clone(), version(&api), false, revision);
        Some(event(&self.kind, Action::Update, Some(old), Some(api)))
    }

    pub(super) fn page(
        &mut self,
        since: Revision,
        now: Revision,
        limit: PageLimit,
    ) -> Page<Change> {
        let slots = &self.slots;
        self.stream.page(since, now, limit, |step| match step {
            Step::Live(slot) => {
                let entry = slots.get(*slot as usize)?.as_ref()?.latest.clone();
                let size = entry.object.bytes().len();
                Some((Change::Put(entry), size))
            }
            Step::Dead((slot, id)) => Some((
                Change::Deleted {
                    slot: *slot,
                    id: id.clone(),
                },
                0,
            )),
        })
    }

    fn set_api(&mut self, slot: Slot, api: Object) {
        if let Some(item) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) {
            item.api = api;
        }
    }

    fn item(&self, slot: Slot) -> Option<&Item> {
        self.slots.get(slot as usize)?.as_ref()
    }

    fn add(&mut self, object: Object, version: Option<i64>, revision: &mut Revision) {
        *revision += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as Slot
        });
        let ObjectRef {
            namespace, name, ..
        } = object.id().clone();
        self.by_name.insert(namespace, name, slot);
        self.stream.put(None, *revision, slot);
        let latest = Entry {
            slot,
            object: object.clone(),
            assumed: false,
        };
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = Some(Item {
                api: object,
                latest,
                confirmed: None,
                version,
                revision: *revision,
            });
        }
    }

    fn show(
        &mut self,
        slot: Slot,
        object: Object,
        version: Option<i64>,
        assumed: bool,
        revision: &mut Revision,
    ) {
        let Some(item) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else {
            return;
        };
        *revision += 1;
        self.stream.put(Some(item.revision), *revision, slot);
        item.confirmed = None;
        item.latest = Entry {
            slot,
            object,
            assumed,
        };
        (item.version, item.revision) = (version, *revision);
    }

    /// Takes an object out and returns what was shown of it.
    fn remove(&mut self, slot: Slot, revision: &mut Revision) -> Option<Object> {
        let item = self.slots.get_mut(slot as usize)?.take()?;
        let id = item.latest.object.id().clone();
        *revision += 1;
        self.by_name.remove(&id.namespace, &id.name);
        self.free.push(slot);
        self.stream.delete(item.revision, *revision, (slot, id));
        Some(item.latest.object)
    }
}

/// `namespace/name`, or the name alone.
fn key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}/{name}")
    }
}

/// The error for an object that is not in the cache.
pub(super) fn missing(kind: &Kind, namespace: &str, name: &str) -> ApiError {
    let message = format!("could not find {} {:?}", kind.short(), key(namespace, name));
    ApiError {
        reason: ApiErrorReason::NotFound,
        message,
    }
}

fn incomparable(kind: &Kind, held: &Object, new: &Object) -> ApiError {
    let ObjectRef {
        namespace, name, ..
    } = new.id();
    let message = format!(
        "{} {:?} cannot be assumed: resourceVersion {:?} or {:?} is not a number",
        kind.short(),
        key(namespace, name),
        held.resource_version(),
        new.resource_version(),
    );
    ApiError {
        reason: ApiErrorReason::Invalid,
        message,
    }
}

/// Opaque by the API's words, but compared as a number by every scheduler.
fn version(object: &Object) -> Option<i64> {
    object.resource_version().parse().ok()
}

fn event(kind: &Kind, action: Action, old: Option<Object>, new: Option<Object>) -> ObjectEvent {
    ObjectEvent {
        kind: kind.clone(),
        action,
        old,
        new,
    }
}

#[cfg(test)]
mod tests;
