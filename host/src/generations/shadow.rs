//! What a candidate sees: the cluster as it is, and its own decisions taken down instead of being carried out.
//!
//! It is told that they took effect. A refusal would end its cycle before it has decided what it is compared by; and nobody
//! else can see that they did not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::cluster::Cluster;
use crate::object::{Kind, Object};
use crate::plugin::{
    ApiCall, ApiError, Change, Entry, InFlight, InFlightChange, LogLevel, Page, Revision, Services,
    Verb,
};

/// Services of a candidate, and of the active generation that it becomes.
pub(crate) struct Shadow {
    cluster: Arc<Mutex<Cluster>>,
    mode: Mode,
}

enum Mode {
    /// Nothing takes effect.
    Watching {
        /// The same draws as the active generation will get.
        random: fastrand::Rng,
        deeds: Vec<String>,
    },
    /// It serves.
    Serving,
}

impl Shadow {
    /// Nothing takes effect.
    pub fn new(cluster: Arc<Mutex<Cluster>>) -> Self {
        let random = lock(&cluster).fork_random();
        Self {
            cluster,
            mode: Mode::Watching {
                random,
                deeds: Vec::new(),
            },
        }
    }

    /// A cycle of the candidate begins, before that of the active generation.
    pub fn begin(&mut self) {
        let random = self.cluster().fork_random();
        if let Mode::Watching { random: old, deeds } = &mut self.mode {
            *old = random;
            deeds.clear();
        }
    }

    /// What it would have written.
    pub fn take_deeds(&mut self) -> Vec<String> {
        match &mut self.mode {
            Mode::Watching { deeds, .. } => std::mem::take(deeds),
            Mode::Serving => Vec::new(),
        }
    }

    /// From now on everything takes effect.
    pub fn serve(&mut self) {
        self.mode = Mode::Serving;
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// Where deeds are taken down; absent where they are carried out.
    fn deeds(&mut self) -> Option<&mut Vec<String>> {
        match &mut self.mode {
            Mode::Watching { deeds, .. } => Some(deeds),
            Mode::Serving => None,
        }
    }
}

impl Services for Shadow {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        self.cluster().changes(kind, since)
    }

    fn get(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Entry, ApiError> {
        self.cluster().get(kind, namespace, name)
    }

    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        self.cluster().in_flight_changes(since)
    }

    fn get_in_flight(&mut self, kind: &Kind, uid: &str) -> Option<InFlight> {
        self.cluster().get_in_flight(kind, uid)
    }

    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError> {
        match self.deeds() {
            Some(deeds) => {
                deeds.extend(entries.iter().map(describe_in_flight));
                Ok(())
            }
            None => self.cluster().put_in_flight(pod_uid, entries),
        }
    }

    fn remove_in_flight(&mut self, pod_uid: &str, kind: &Kind, uid: &str, wake: bool) -> bool {
        self.deeds().is_some() || self.cluster().remove_in_flight(pod_uid, kind, uid, wake)
    }

    fn assume(&mut self, object: Object) -> Result<(), ApiError> {
        match self.deeds() {
            Some(_) => Ok(()),
            None => self.cluster().assume(object),
        }
    }

    fn restore(&mut self, kind: &Kind, namespace: &str, name: &str) {
        if self.deeds().is_none() {
            self.cluster().restore(kind, namespace, name);
        }
    }

    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        match self.deeds() {
            Some(deeds) if call.verb() != Verb::Get => deeds.push(describe_call(&call)),
            _ => return self.cluster().call(call),
        }
        Ok(match call {
            ApiCall::Create { object }
            | ApiCall::Update { object }
            | ApiCall::UpdateStatus { object }
            | ApiCall::Apply { object, .. } => Some(object),
            ApiCall::PatchStatus {
                kind,
                namespace,
                name,
                ..
            } => {
                let entry = self.cluster().get(&kind, &namespace, &name)?;
                Some(entry.object)
            }
            ApiCall::Get { .. } | ApiCall::Delete { .. } => None,
        })
    }

    fn now(&mut self) -> u64 {
        self.cluster().now()
    }

    fn random(&mut self) -> u64 {
        match &mut self.mode {
            Mode::Watching { random, .. } => random.u64(..),
            Mode::Serving => self.cluster().random(),
        }
    }

    fn log_enabled(&self, level: LogLevel) -> bool {
        self.cluster().log_enabled(level)
    }

    fn log(&mut self, level: LogLevel, plugin: &str, message: &str, fields: &[(String, String)]) {
        self.cluster().log(level, plugin, message, fields);
    }
}

/// The object as a value: two versions may write the same with other spaces.
pub(super) fn describe_in_flight(entry: &InFlight) -> String {
    let json = match serde_json::from_slice::<Value>(&entry.json) {
        Ok(value) => sorted(value).to_string(),
        Err(error) => format!("no JSON: {error}"),
    };
    format!("allocates {}: {json}", entry.target)
}

/// Keys keep the order of the text; equal values must give equal texts.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn describe_call(call: &ApiCall) -> String {
    let (kind, _, name) = call.target();
    describe_write(call.verb(), kind, name)
}

/// A write to the API, by what the journal of the API server knows too.
pub(super) fn describe_write(verb: Verb, kind: &Kind, name: &str) -> String {
    format!("{verb:?} {kind} {name}")
}

fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}
