//! What stood behind the plugin when the answers were recorded: a fake client, and caches that were filled once.
//!
//! Habits of the fake client (README of the recordings): an update, of the status too, replaces the whole object; a stale one
//! is answered with an untyped error or with a typed conflict, as the case says; a strategic merge patch leaves
//! resourceVersion alone; a server-side apply is merged into the stored object. The host's own imitation of the API is stricter.

mod api;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use dractl::object::{Kind, Object, ObjectRef};
use dractl::plugin::{
    ApiCall, ApiError, ApiErrorReason, Change, Entry, InFlight, InFlightChange, LogLevel, Page,
    Revision, Services, Slot, Verb,
};
use serde_json::{Map, Value};

pub use api::{api_error, conflict};
use api::{body, recorded, resource};

/// ResourceClaim.
pub const CLAIM: &str = "ResourceClaim.resource.k8s.io";
/// PodSchedulingContext.
pub const CONTEXT: &str = "PodSchedulingContext.resource.k8s.io";

/// Kind, namespace and name.
pub type Key = (Kind, String, String);

/// How a stale update is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stale {
    /// As the fake client of upstream's unit tests does.
    #[default]
    Untyped,
    /// As a real server does.
    Conflict,
}

/// One object in a cache.
struct Cached {
    id: ObjectRef,
    /// From the informer.
    api: Object,
    /// The same, or assumed.
    latest: Object,
    at: Revision,
    deleted: bool,
}

/// Something done just before an API call with this verb is answered.
type Interference = (Verb, Box<dyn FnOnce(&mut Double) + Send>);

/// API server, caches and ledger.
#[derive(Default)]
pub struct Double {
    /// How it answers stale updates.
    pub stale: Stale,
    /// What the API server stores.
    pub server: BTreeMap<Key, Value>,
    /// API calls in the form of the recordings.
    pub calls: Vec<Value>,
    /// The bodies of the calls: an object or, for a patch, its text.
    pub bodies: Vec<Value>,
    /// What was asked of ledger and clock, and the calls again, in order, for tests of an order.
    pub journal: Vec<String>,
    /// What the plugin logged.
    pub logs: Vec<String>,
    /// Numbers that `random` returns before its own.
    pub dice: VecDeque<u64>,
    /// Errors for the next call with a verb, taken in order.
    pub faults: VecDeque<(Verb, ApiError)>,
    interferences: VecDeque<Interference>,
    cache: BTreeMap<Kind, Vec<Cached>>,
    in_flight: BTreeMap<String, (Revision, InFlight)>,
    removed: Vec<(Revision, ObjectRef)>,
    revision: Revision,
    written: u64,
    created: u64,
    random: u64,
    /// Virtual time.
    pub now: u64,
}

/// Versions that this double gives are above any that a case states.
const FIRST_VERSION: u64 = 1_000_000;

impl Double {
    /// An object that server and caches know from the start, as `kind` of `api_version`. What the cluster never leaves
    /// empty is filled in.
    pub fn load(&mut self, api_version: &str, kind: &str, object: &Value) -> Object {
        let object = typed(api_version, kind, object);
        let mut value = object.into_value();
        if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
            let name = metadata.get("name").cloned().unwrap_or_default();
            let name = name.as_str().unwrap_or_default();
            metadata
                .entry("uid")
                .or_insert_with(|| format!("uid-of-{kind}-{name}").into());
            metadata
                .entry("resourceVersion")
                .or_insert_with(|| "1".into());
        }
        let object = from_value(value);
        self.server.insert(key_of(&object), object.value().clone());
        self.revision += 1;
        let cached = Cached {
            id: object.id().clone(),
            api: object.clone(),
            latest: object.clone(),
            at: self.revision,
            deleted: false,
        };
        self.cache
            .entry(object.id().kind.clone())
            .or_default()
            .push(cached);
        object
    }

    /// An entry that is there from the start.
    pub fn load_in_flight(&mut self, holder: &str, claim: &Value) {
        let claim = typed("resource.k8s.io/v1alpha3", "ResourceClaim", claim);
        let entry = InFlight {
            target: claim.id().clone(),
            holder: holder.to_owned(),
            json: claim.bytes().clone(),
        };
        self.put(entry);
    }

    /// Somebody else writes or deletes (`None`) an object; caches do not see it. `keep_version`: as a patch does.
    pub fn interfere(&mut self, key: Key, object: Option<Value>, keep_version: bool) {
        let Some(mut object) = object else {
            self.server.remove(&key);
            return;
        };
        let version = match (keep_version, self.server.get(&key)) {
            (true, Some(stored)) => version_of(stored).to_owned(),
            _ => self.next_version(),
        };
        object["metadata"]["resourceVersion"] = version.into();
        self.server.insert(key, object);
    }

    /// Does something just before the next call with this verb, after those that were planned before.
    pub fn before(&mut self, verb: Verb, deed: impl FnOnce(&mut Double) + Send + 'static) {
        self.interferences.push_back((verb, Box::new(deed)));
    }

    /// What the server stores under this name.
    pub fn stored(&self, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        self.server
            .get(&(Kind::new(kind), namespace.to_owned(), name.to_owned()))
    }

    /// Claims whose shown copy is not the informer's.
    pub fn assumed(&self) -> Vec<Value> {
        let claims = self.cache.get(&Kind::new(CLAIM)).into_iter().flatten();
        claims
            .filter(|cached| !cached.deleted && !cached.latest.is(&cached.api))
            .map(|cached| cached.latest.value().clone())
            .collect()
    }

    /// Claims in flight.
    pub fn in_flight_claims(&self) -> Vec<Value> {
        let claims = self.in_flight.values();
        claims
            .map(|(_, entry)| serde_json::from_slice(&entry.json).unwrap_or_default())
            .collect()
    }

    /// Number of the last change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    fn put(&mut self, entry: InFlight) {
        self.revision += 1;
        self.in_flight
            .insert(entry.target.uid.to_string(), (self.revision, entry));
    }

    fn next_version(&mut self) -> String {
        self.written += 1;
        (FIRST_VERSION + self.written).to_string()
    }

    fn cached(&mut self, kind: &Kind, namespace: &str, name: &str) -> Option<&mut Cached> {
        self.cache
            .get_mut(kind)?
            .iter_mut()
            .find(|cached| *cached.id.namespace == *namespace && *cached.id.name == *name)
            .filter(|cached| !cached.deleted)
    }

    /// Everything in the order in which it came.
    fn page<T>(&self, since: Revision, mut changes: Vec<(Revision, T)>) -> Page<T> {
        changes.sort_by_key(|(at, _)| *at);
        Page {
            reset: since == 0,
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            until: self.revision,
            more: false,
        }
    }
}

impl Services for Double {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        let cached = self.cache.get(kind).into_iter().flatten().enumerate();
        let changes = cached
            .filter(|(_, cached)| cached.at > since && !(since == 0 && cached.deleted))
            .map(|(slot, cached)| (cached.at, change(slot as Slot, cached)));
        self.page(since, changes.collect())
    }

    fn get(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Entry, ApiError> {
        let absent = match kind.as_str() {
            // The recordings' cache has this noun; the scheduler's says `ResourceClaim`.
            CLAIM => format!("could not find resource claim \"{namespace}/{name}\""),
            _ => format!("{} \"{name}\" not found", resource(kind)),
        };
        let position = self.cache.get(kind).and_then(|all| {
            all.iter()
                .position(|cached| *cached.id.namespace == *namespace && *cached.id.name == *name)
        });
        match (self.cached(kind, namespace, name), position) {
            (Some(cached), Some(slot)) => Ok(entry(slot as Slot, cached)),
            _ => Err(api_error(ApiErrorReason::NotFound, absent)),
        }
    }

    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        let puts = self
            .in_flight
            .values()
            .map(|(at, entry)| (*at, InFlightChange::Put(entry.clone())));
        let removals = self
            .removed
            .iter()
            .filter(|_| since > 0)
            .map(|(at, target)| (*at, InFlightChange::Removed(target.clone())));
        let changes = puts.chain(removals).filter(|(at, _)| *at > since);
        self.page(since, changes.collect())
    }

    fn get_in_flight(&mut self, kind: &Kind, uid: &str) -> Option<InFlight> {
        let (_, entry) = self.in_flight.get(uid)?;
        (entry.target.kind == *kind).then(|| entry.clone())
    }

    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError> {
        for entry in &entries {
            let held = self.in_flight.get(&*entry.target.uid);
            if held.is_some_and(|(_, held)| held.holder != pod_uid) {
                let message = format!("{} is in flight for another pod", entry.target);
                return Err(api_error(ApiErrorReason::Conflict, message));
            }
        }
        for entry in entries {
            self.journal
                .push(format!("put-in-flight {}", entry.target.uid));
            self.put(entry);
        }
        Ok(())
    }

    fn remove_in_flight(&mut self, pod_uid: &str, _: &Kind, uid: &str, wake: bool) -> bool {
        let holds = self
            .in_flight
            .get(uid)
            .is_some_and(|(_, held)| held.holder == pod_uid);
        self.journal
            .push(format!("remove-in-flight {uid} held={holds} wake={wake}"));
        if !holds {
            return false;
        }
        self.revision += 1;
        let revision = self.revision;
        if let Some((_, entry)) = self.in_flight.remove(uid) {
            self.removed.push((revision, entry.target));
        }
        true
    }

    fn assume(&mut self, object: Object) -> Result<(), ApiError> {
        self.journal.push(format!("assume {}", object.id().uid));
        self.revision += 1;
        let revision = self.revision;
        let id = object.id().clone();
        let Some(cached) = self.cached(&id.kind, &id.namespace, &id.name) else {
            return Err(api_error(
                ApiErrorReason::NotFound,
                format!(
                    "could not find resource claim \"{}/{}\"",
                    id.namespace, id.name
                ),
            ));
        };
        match (number_of(&cached.latest), number_of(&object)) {
            (Some(stored), Some(new)) if new >= stored => {
                cached.latest = object;
                cached.at = revision;
                Ok(())
            }
            (Some(stored), Some(new)) => Err(api_error(
                ApiErrorReason::Conflict,
                format!(
                    "resource claim \"{}/{}\" is out of sync (stored: {stored}, assume: {new})",
                    id.namespace, id.name
                ),
            )),
            _ => Err(api_error(
                ApiErrorReason::Invalid,
                "resourceVersion is not a number",
            )),
        }
    }

    fn restore(&mut self, kind: &Kind, namespace: &str, name: &str) {
        self.journal.push(format!("restore {namespace}/{name}"));
        self.revision += 1;
        let revision = self.revision;
        if let Some(cached) = self.cached(kind, namespace, name)
            && !cached.latest.is(&cached.api)
        {
            cached.latest = cached.api.clone();
            cached.at = revision;
        }
    }

    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        let verb = call.verb();
        let recorded = recorded(&call);
        self.journal
            .push(format!("{verb:?} {}", call.kind().short()));
        self.calls.push(recorded);
        self.bodies.push(body(&call));
        if let Some(at) = self.interferences.iter().position(|(on, _)| *on == verb)
            && let Some((_, deed)) = self.interferences.remove(at)
        {
            deed(self);
        }
        if let Some(at) = self.faults.iter().position(|(on, _)| *on == verb)
            && let Some((_, error)) = self.faults.remove(at)
        {
            return Err(error);
        }
        self.answer(call)
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn random(&mut self) -> u64 {
        if let Some(number) = self.dice.pop_front() {
            return number;
        }
        // Knuth's multiplier and increment; any full-period sequence will do.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 11
    }

    fn log_enabled(&self, level: LogLevel) -> bool {
        level < LogLevel::Trace
    }

    fn log(&mut self, _: LogLevel, _: &str, message: &str, fields: &[(String, String)]) {
        let fields: Vec<_> = fields
            .iter()
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        self.logs.push(format!("{message}{}", fields.concat()));
    }
}

fn change(slot: Slot, cached: &Cached) -> Change {
    match cached.deleted {
        true => Change::Deleted {
            slot,
            id: cached.id.clone(),
        },
        false => Change::Put(entry(slot, cached)),
    }
}

fn entry(slot: Slot, cached: &Cached) -> Entry {
    Entry {
        slot,
        object: cached.latest.clone(),
        assumed: !cached.latest.is(&cached.api),
    }
}

/// Kind, namespace and name of an object.
pub fn key_of(object: &Object) -> Key {
    let id = object.id();
    (
        id.kind.clone(),
        id.namespace.to_string(),
        id.name.to_string(),
    )
}

/// The recordings leave `apiVersion` and `kind` out.
pub fn typed(api_version: &str, kind: &str, object: &Value) -> Object {
    let mut value = Map::new();
    value.insert("apiVersion".into(), api_version.into());
    value.insert("kind".into(), kind.into());
    value.extend(object.as_object().cloned().unwrap_or_default());
    from_value(value.into())
}

/// An object of the API.
pub fn from_value(value: Value) -> Object {
    Object::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// `metadata.resourceVersion`.
pub fn version_of(object: &Value) -> &str {
    let version = object.pointer("/metadata/resourceVersion");
    version.and_then(Value::as_str).unwrap_or_default()
}

fn number_of(object: &Object) -> Option<i64> {
    object.resource_version().parse().ok()
}

/// The type that plugins take.
pub fn shared(double: Double) -> Arc<std::sync::Mutex<Double>> {
    Arc::new(std::sync::Mutex::new(double))
}
