//! Stands in for the API server: stored objects, optimistic concurrency, the status subresource, watch events, faults.
//!
//! It knows metadata, pods' `spec.nodeName` and JSON; what else there is to know about kinds is handed in as [`Rules`].
//! Writes are edits of the JSON that was received. Where the real server converts between API versions this one keeps an
//! object in the version it came in and refuses another one.

mod apply;
pub(crate) mod error;
mod fault;
pub mod keyed;
mod load;
pub(crate) mod metadata;
mod patch;
mod rules;
mod strategic;
mod watch;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use crate::clock::Clock;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{ApiCall, ApiError, Verb};
pub use error::{FieldError, resource};
pub use fault::{Call, Caller, Fault, Operation};
use fault::{Faults, Journal};
use keyed::Keyed;
pub use rules::Rules;
pub use watch::{WatchEvent, WatchQueue, WatchType};

/// Namespace of objects that name none.
pub const DEFAULT_NAMESPACE: &str = "default";

/// What a careful reader has to say about an object that was taken nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// `Kind namespace/name`.
    pub object: String,
    /// What was found and what was made of it.
    pub message: String,
}

impl Warning {
    /// About one object.
    pub fn new(object: &ObjectRef, message: impl Into<String>) -> Self {
        Self {
            object: object.to_string(),
            message: message.into(),
        }
    }
}

/// One object as the server holds it.
#[derive(Clone, Debug)]
struct Stored {
    /// Everything.
    full: Object,
    /// What readers get: the same without `managedFields` and the last-applied annotation.
    shown: Object,
    /// What each field manager applied last, by its name.
    applied: BTreeMap<String, Value>,
}

/// The API server as far as a scheduler and its plugins see it.
#[derive(Debug)]
pub struct ApiServer {
    rules: Rules,
    clock: Clock,
    tables: BTreeMap<Kind, Keyed<Stored>>,
    /// The largest resourceVersion given out or read.
    version: u64,
    /// How many objects with a name were deleted, by `metadata::identity` of the name: the next one gets another uid.
    births: HashMap<u128, u32>,
    watch: WatchQueue,
    faults: Faults,
    journal: Journal,
}

impl ApiServer {
    /// An empty server.
    pub fn new(rules: Rules, clock: Clock) -> Self {
        Self {
            rules,
            clock,
            tables: BTreeMap::new(),
            version: 0,
            births: HashMap::new(),
            watch: WatchQueue::default(),
            faults: Faults::default(),
            journal: Journal::default(),
        }
    }

    /// Makes a call, with the faults that were asked for, and writes it down. `None` after a deletion.
    pub fn call(&mut self, caller: Caller, call: &ApiCall) -> Result<Option<Object>, ApiError> {
        let target = target(call);
        self.attempt(caller, Operation::Api(call.verb()), target, |server| {
            server.execute(call)
        })
    }

    /// Assigns a pod to a node: upstream's `pods/binding`.
    pub fn bind(
        &mut self,
        caller: Caller,
        pod: &ObjectRef,
        node: &str,
    ) -> Result<Object, ApiError> {
        let bound = self.attempt(caller, Operation::Bind, pod.clone(), |server| {
            server.assign(pod, node).map(Some)
        })?;
        bound.ok_or_else(|| error::not_found(&pod.kind, &pod.name))
    }

    /// One object with everything the server holds of it, past faults and journal.
    pub fn stored(&self, kind: &Kind, namespace: &str, name: &str) -> Option<&Object> {
        self.tables
            .get(kind)?
            .get(namespace, name)
            .map(|stored| &stored.full)
    }

    /// All objects of a kind with everything the server holds of them, by namespace, then name.
    pub fn list(&self, kind: &Kind) -> impl Iterator<Item = &Object> {
        self.tables
            .get(kind)
            .into_iter()
            .flat_map(Keyed::values)
            .map(|stored| &stored.full)
    }

    /// All objects of a kind as readers see them.
    pub(crate) fn list_shown(&self, kind: &Kind) -> impl Iterator<Item = &Object> {
        self.tables
            .get(kind)
            .into_iter()
            .flat_map(Keyed::values)
            .map(|stored| &stored.shown)
    }

    /// One object as readers see it.
    pub(crate) fn shown(&self, kind: &Kind, namespace: &str, name: &str) -> Option<&Object> {
        self.tables
            .get(kind)?
            .get(namespace, name)
            .map(|stored| &stored.shown)
    }

    /// Kinds of which there is or was an object.
    pub fn kinds(&self) -> impl Iterator<Item = &Kind> {
        self.tables.keys()
    }

    /// Makes a later call fail.
    pub fn inject(&mut self, fault: Fault) {
        self.faults.add(fault);
    }

    /// From now on calls go as they should.
    pub fn heal(&mut self) {
        self.faults = Faults::default();
    }

    /// Faults that did not happen yet.
    pub fn outstanding_faults(&self) -> usize {
        self.faults.outstanding()
    }

    /// The calls so far, oldest first; of very many only the latest.
    pub fn journal(&self) -> impl Iterator<Item = &Call> {
        self.journal.calls()
    }

    /// The calls from this number on.
    pub fn calls_since(&self, sequence: u64) -> impl Iterator<Item = &Call> {
        self.journal.since(sequence)
    }

    /// How many calls there were: the sequence number of the next one.
    pub fn calls_made(&self) -> u64 {
        self.journal.made()
    }

    /// The calls so far, to be forgotten here.
    pub fn take_journal(&mut self) -> Vec<Call> {
        self.journal.take()
    }

    /// Watch events on their way.
    pub fn watch(&mut self) -> &mut WatchQueue {
        &mut self.watch
    }

    fn attempt(
        &mut self,
        caller: Caller,
        operation: Operation,
        target: ObjectRef,
        execute: impl FnOnce(&mut Self) -> Result<Option<Object>, ApiError>,
    ) -> Result<Option<Object>, ApiError> {
        let (outcome, took_effect) = match self.faults.strike(operation, &target.kind) {
            None => {
                let outcome = execute(self);
                let took_effect = outcome.is_ok();
                (outcome, took_effect)
            }
            Some(fault) if fault.after_effect => {
                let took_effect = execute(self).is_ok();
                (Err(fault.error), took_effect)
            }
            Some(fault) => (Err(fault.error), false),
        };
        self.journal.write(
            caller,
            operation,
            target,
            outcome.as_ref().err().cloned(),
            took_effect,
        );
        outcome
    }

    fn execute(&mut self, call: &ApiCall) -> Result<Option<Object>, ApiError> {
        match call {
            ApiCall::Get {
                kind,
                namespace,
                name,
            } => {
                let namespace = self.namespace_of(kind, namespace);
                self.find(kind, &namespace, name)
                    .map(|stored| stored.shown.clone())
            }
            ApiCall::Create { object } => self.create(object),
            ApiCall::Update { object } => self.update(object),
            ApiCall::UpdateStatus { object } => self.update_status(object),
            ApiCall::PatchStatus {
                kind,
                namespace,
                name,
                patch_type,
                patch,
            } => self.patch_status(kind, namespace, name, *patch_type, patch),
            ApiCall::Apply {
                object,
                field_manager,
                force,
            } => self.apply(object, field_manager, *force),
            ApiCall::Delete { target } => return self.delete(target).map(|()| None),
        }
        .map(Some)
    }

    fn find(&self, kind: &Kind, namespace: &str, name: &str) -> Result<&Stored, ApiError> {
        let found = self
            .tables
            .get(kind)
            .and_then(|table| table.get(namespace, name));
        found.ok_or_else(|| error::not_found(kind, name))
    }

    /// The namespace under which an object is stored.
    fn namespace_of(&self, kind: &Kind, given: &str) -> Arc<str> {
        match ((self.rules.cluster_scoped)(kind), given) {
            (true, _) => "".into(),
            (false, "") => DEFAULT_NAMESPACE.into(),
            (false, given) => given.into(),
        }
    }

    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// The uid of the next object with this name.
    fn next_uid(&self, kind: &Kind, namespace: &str, name: &str) -> String {
        let first = metadata::identity(kind, namespace, name, 0);
        metadata::uid(match self.births.get(&first) {
            None => first,
            Some(birth) => metadata::identity(kind, namespace, name, *birth),
        })
    }
}

/// The object that a call is about.
fn target(call: &ApiCall) -> ObjectRef {
    match call {
        ApiCall::Get { .. } | ApiCall::PatchStatus { .. } => {
            let (kind, namespace, name) = call.target();
            ObjectRef {
                kind: kind.clone(),
                namespace: namespace.into(),
                name: name.into(),
                uid: "".into(),
            }
        }
        ApiCall::Create { object }
        | ApiCall::Update { object }
        | ApiCall::UpdateStatus { object }
        | ApiCall::Apply { object, .. } => object.id().clone(),
        ApiCall::Delete { target } => target.clone(),
    }
}

impl From<Verb> for Operation {
    fn from(verb: Verb) -> Self {
        Self::Api(verb)
    }
}

#[cfg(test)]
mod tests;
