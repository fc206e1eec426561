//! What stood behind the plugin when the answers were recorded: a fake client, and caches that were filled once.
//!
//! Habits of the fake client (README of the recordings): an update, of the status too, replaces the whole object; a stale one
//! is answered with an untyped error or with a typed conflict, as the case says; a strategic merge patch leaves
//! resourceVersion alone; a server-side apply is merged into the stored object. The host's own imitation of the API is stricter.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use dractl::object::{Kind, Object, ObjectRef};
use dractl::plugin::{
    ApiCall, ApiError, ApiErrorReason, Change, Entry, InFlight, InFlightChange, LogLevel, Page,
    PatchType, Revision, Services, Slot, Verb,
};
use serde_json::{Map, Value, json};

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

    /// An entry that somebody else holds.
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

    /// The informer catches up: caches take what the server stores.
    pub fn deliver(&mut self) {
        for cached in self.cache.values_mut().flatten() {
            let key = (
                cached.id.kind.clone(),
                cached.id.namespace.to_string(),
                cached.id.name.to_string(),
            );
            let stored = self
                .server
                .get(&key)
                .map(|stored| from_value(stored.clone()));
            self.revision += 1;
            match stored {
                None if cached.deleted => continue,
                None => cached.deleted = true,
                // Not newer than what is shown: dropped completely (spec section 3.3).
                Some(stored) if number_of(&stored) <= number_of(&cached.latest) => continue,
                Some(stored) => {
                    cached.api = stored.clone();
                    cached.latest = stored;
                }
            }
            cached.at = self.revision;
        }
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

    fn create(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        if self.server.contains_key(&key) {
            let message = format!("{} \"{}\" already exists", resource(&key.0), key.2);
            return Err(api_error(ApiErrorReason::AlreadyExists, message));
        }
        if !object.id().uid.is_empty() || !object.resource_version().is_empty() {
            return Err(api_error(
                ApiErrorReason::Other,
                "uid and resourceVersion must not be set on create",
            ));
        }
        let mut value = object.value().clone();
        self.created += 1;
        value["metadata"]["uid"] = format!("created-{}", self.created).into();
        value["metadata"]["resourceVersion"] = self.next_version().into();
        self.server.insert(key, value.clone());
        Ok(from_value(value))
    }

    fn update(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        let stored = self.server.get(&key).ok_or_else(|| not_found(&key))?;
        if stored.pointer("/metadata/uid").and_then(Value::as_str) != Some(&*object.id().uid) {
            return Err(api_error(
                ApiErrorReason::Other,
                "UID must match the object that gets updated",
            ));
        }
        if version_of(stored) != object.resource_version() {
            return Err(self.stale_update(&key));
        }
        let mut value = object.value().clone();
        value["metadata"]["resourceVersion"] = self.next_version().into();
        self.server.insert(key, value.clone());
        Ok(from_value(value))
    }

    fn stale_update(&self, key: &Key) -> ApiError {
        match self.stale {
            Stale::Untyped => api_error(
                ApiErrorReason::Other,
                "ResourceVersion must match the object that gets updated",
            ),
            Stale::Conflict => conflict(key),
        }
    }

    fn patch(&mut self, key: Key, patch: &[u8]) -> Result<Object, ApiError> {
        let stored = self.server.get_mut(&key).ok_or_else(|| not_found(&key))?;
        let patch: Value = serde_json::from_slice(patch)
            .map_err(|error| api_error(ApiErrorReason::Invalid, error.to_string()))?;
        merge(stored, &patch);
        Ok(from_value(stored.clone()))
    }

    fn apply(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        let stored = self.server.get_mut(&key).ok_or_else(|| not_found(&key))?;
        let version = format!("{}-applied", version_of(stored));
        merge(stored, object.value());
        stored["metadata"]["resourceVersion"] = version.into();
        Ok(from_value(stored.clone()))
    }

    fn answer(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        match call {
            ApiCall::Get {
                kind,
                namespace,
                name,
            } => {
                let key = (kind, namespace, name);
                let stored = self.server.get(&key).ok_or_else(|| not_found(&key))?;
                Ok(Some(from_value(stored.clone())))
            }
            ApiCall::Create { object } => self.create(&object).map(Some),
            ApiCall::Update { object } | ApiCall::UpdateStatus { object } => {
                self.update(&object).map(Some)
            }
            ApiCall::PatchStatus {
                kind,
                namespace,
                name,
                patch,
                ..
            } => self.patch((kind, namespace, name), &patch).map(Some),
            ApiCall::Apply { object, .. } => self.apply(&object).map(Some),
            ApiCall::Delete { target } => {
                let key = (
                    target.kind,
                    target.namespace.to_string(),
                    target.name.to_string(),
                );
                match self.server.remove(&key) {
                    Some(_) => Ok(None),
                    None => Err(not_found(&key)),
                }
            }
        }
    }
}

impl Services for Double {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        let cached = self.cache.get(kind).into_iter().flatten().enumerate();
        let mut changes: Vec<_> = cached
            .filter(|(_, cached)| cached.at > since && !(since == 0 && cached.deleted))
            .map(|(slot, cached)| (cached.at, change(slot as Slot, cached)))
            .collect();
        changes.sort_by_key(|(at, _)| *at);
        Page {
            reset: since == 0,
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            until: self.revision,
            more: false,
        }
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
        let mut changes: Vec<_> = puts.chain(removals).filter(|(at, _)| *at > since).collect();
        changes.sort_by_key(|(at, _)| *at);
        Page {
            reset: since == 0,
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            until: self.revision,
            more: false,
        }
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

    fn log_enabled(&self, _: LogLevel) -> bool {
        true
    }

    fn log(&mut self, _: LogLevel, _: &str, message: &str, fields: &[(String, String)]) {
        let fields: Vec<_> = fields
            .iter()
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        self.logs.push(format!("{message}{}", fields.concat()));
    }
}

/// The call as the recordings have it. Bodies are recorded for patches only.
fn recorded(call: &ApiCall) -> Value {
    let (verb, subresource, patch_type, patch) = match call {
        ApiCall::Get { .. } => ("get", None, None, None),
        ApiCall::Create { .. } => ("create", None, None, None),
        ApiCall::Update { .. } => ("update", None, None, None),
        ApiCall::UpdateStatus { .. } => ("update", Some("status"), None, None),
        ApiCall::Delete { .. } => ("delete", None, None, None),
        ApiCall::PatchStatus {
            patch_type, patch, ..
        } => {
            let patch = serde_json::from_slice(patch)
                .unwrap_or_else(|_| String::from_utf8_lossy(patch).into());
            (
                "patch",
                Some("status"),
                Some(media_type(*patch_type)),
                Some(patch),
            )
        }
        ApiCall::Apply { object, .. } => {
            let media_type = Some("application/apply-patch+yaml");
            ("patch", None, media_type, Some(object.value().clone()))
        }
    };
    let (kind, namespace, name) = target(call);
    let plural = format!("{}s", kind.short().to_ascii_lowercase());
    let mut recorded =
        json!({"verb": verb, "resource": plural, "namespace": namespace, "name": name});
    if let Some(subresource) = subresource {
        recorded["subresource"] = subresource.into();
    }
    if let Some(patch_type) = patch_type {
        recorded["patchType"] = patch_type.into();
    }
    if let Some(patch) = patch {
        recorded["patch"] = patch;
    }
    recorded
}

fn target(call: &ApiCall) -> Key {
    match call {
        ApiCall::Get {
            kind,
            namespace,
            name,
        }
        | ApiCall::PatchStatus {
            kind,
            namespace,
            name,
            ..
        } => (kind.clone(), namespace.clone(), name.clone()),
        ApiCall::Create { object }
        | ApiCall::Update { object }
        | ApiCall::UpdateStatus { object }
        | ApiCall::Apply { object, .. } => key_of(object),
        ApiCall::Delete { target } => (
            target.kind.clone(),
            target.namespace.to_string(),
            target.name.to_string(),
        ),
    }
}

fn media_type(patch_type: PatchType) -> &'static str {
    match patch_type {
        PatchType::Merge => "application/merge-patch+json",
        PatchType::StrategicMerge => "application/strategic-merge-patch+json",
        PatchType::JsonPatch => "application/json-patch+json",
    }
}

/// A strategic merge as far as a status of claims needs it: `reservedFor` is a map by uid, other lists are replaced.
fn merge(stored: &mut Value, patch: &Value) {
    let (Some(stored), Some(patch)) = (stored.as_object_mut(), patch.as_object()) else {
        *stored = patch.clone();
        return;
    };
    for (key, patch) in patch {
        match (key.as_str(), patch) {
            (_, Value::Null) => {
                stored.shift_remove(key);
            }
            ("reservedFor", Value::Array(entries)) => {
                let list = stored.entry(key).or_insert_with(|| json!([]));
                merge_by_uid(list, entries);
            }
            (_, Value::Object(_)) => {
                merge(stored.entry(key).or_insert_with(|| json!({})), patch);
            }
            _ => {
                stored.insert(key.clone(), patch.clone());
            }
        }
    }
}

fn merge_by_uid(list: &mut Value, entries: &[Value]) {
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else {
        return;
    };
    for entry in entries {
        let position = list
            .iter()
            .position(|old| old.get("uid") == entry.get("uid"));
        let delete = entry.get("$patch").and_then(Value::as_str) == Some("delete");
        match (position, delete) {
            (Some(position), true) => {
                list.remove(position);
            }
            (Some(position), false) => merge(&mut list[position], entry),
            (None, true) => {}
            (None, false) => list.push(entry.clone()),
        }
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

/// `resourceclaims.resource.k8s.io`.
fn resource(kind: &Kind) -> String {
    let plural = format!("{}s", kind.short().to_ascii_lowercase());
    match kind.as_str().split_once('.') {
        Some((_, group)) => format!("{plural}.{group}"),
        None => plural,
    }
}

/// An error of the API.
pub fn api_error(reason: ApiErrorReason, message: impl Into<String>) -> ApiError {
    ApiError {
        reason,
        message: message.into(),
    }
}

/// A real server's answer to a stale update.
pub fn conflict(key: &Key) -> ApiError {
    let message = format!(
        "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest \
         version and try again",
        resource(&key.0),
        key.2
    );
    api_error(ApiErrorReason::Conflict, message)
}

fn not_found(key: &Key) -> ApiError {
    let message = format!("{} \"{}\" not found", resource(&key.0), key.2);
    api_error(ApiErrorReason::NotFound, message)
}

/// The type that plugins take.
pub fn shared(double: Double) -> Arc<std::sync::Mutex<Double>> {
    Arc::new(std::sync::Mutex::new(double))
}
