//! Stands in for the control plane controllers of classic DRA drivers (upstream of 1.31: package
//! `dynamic-resource-allocation/controller` with a driver behind it): answers PodSchedulingContexts, allocates claims on the
//! selected node and frees those whose deallocation is asked for.
//!
//! It plays every driver that some claim names in `spec.controller`. What a driver would know of its hardware is taken from
//! ResourceSlices of the same name, see `devices`. It acts a fixed time after what it reacts to, on the virtual clock.
//! Immediate allocation is not there: 1.31 gave it up with v1alpha2.

mod claims;
mod contexts;
mod devices;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::schema::{CLAIM, SLICE};
use crate::api::{ApiServer, Caller, Warning};
use crate::clock::SECOND;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{ApiCall, ApiError, ObjectEvent};

/// Kind of the scheduling contexts.
const CONTEXT: &str = "PodSchedulingContext.resource.k8s.io";

/// The only version that has classic DRA among those that are read.
const VERSION: &str = "resource.k8s.io/v1alpha3";

/// Time that a driver takes to answer: long enough to come after the attempt that asks, shorter than any backoff.
pub const ANSWER_TIME: u64 = SECOND / 10;

/// Upstream looks at each context that still has something to wait for again and again.
const RECHECK_PERIOD: u64 = 30 * SECOND;

/// Pause after a failed call; doubles with each further one.
const FIRST_PAUSE: u64 = SECOND / 200;

/// Failed calls for one object, in a row, after which it is left alone until something changes.
const MAX_FAILURES: u32 = 10;

/// An object to look at: namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Claim(Arc<str>, Arc<str>),
    Context(Arc<str>, Arc<str>),
}

/// What to do with an object after it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Nothing, until an event.
    Nothing,
    /// Look at it again when something changed that a driver knows of.
    Recheck,
}

/// All drivers. A run costs nothing when there is nothing to do.
#[derive(Debug, Default)]
pub struct ClassicDriver {
    /// What to look at: by time, then in the order in which it turned up.
    queue: BTreeMap<(u64, u64), Key>,
    /// The same, to find it.
    queued: BTreeMap<Key, (u64, u64)>,
    /// What to look at again after a change, with the time of the last look.
    rechecks: BTreeMap<Key, u64>,
    failures: BTreeMap<Key, u32>,
    sequence: u64,
    /// What was said already.
    told: BTreeSet<Warning>,
}

impl ClassicDriver {
    /// Notes what an event means for the work to do.
    pub fn observe(&mut self, event: &ObjectEvent, now: u64) {
        let object = event.new.as_ref().or(event.old.as_ref());
        let Some(id) = object.map(Object::id) else {
            return;
        };
        let (namespace, name) = (id.namespace.clone(), id.name.clone());
        match event.kind.as_str() {
            CONTEXT => self.note(Key::Context(namespace, name), event.new.is_some(), now),
            CLAIM => {
                let new = event
                    .new
                    .as_ref()
                    .filter(|claim| driver_of(claim).is_some());
                let free = new.is_some_and(claims::is_to_be_freed);
                self.note(Key::Claim(namespace, name), free, now);
                let allocation = |object: &Option<Object>| {
                    let claim = object.as_ref().map(Object::value)?;
                    claim.pointer("/status/allocation").cloned()
                };
                if allocation(&event.old) != allocation(&event.new) {
                    self.recheck(now);
                }
            }
            SLICE => self.recheck(now),
            _ => (),
        }
    }

    /// When there is something to do next.
    pub fn due(&self) -> Option<u64> {
        self.queue.first_key_value().map(|((due, _), _)| *due)
    }

    /// Does what is due. What fails is tried again.
    pub fn run(&mut self, api: &mut ApiServer, now: u64) -> Vec<Warning> {
        let mut warnings = Vec::new();
        while self.due().is_some_and(|due| due <= now) {
            let Some((_, key)) = self.queue.pop_first() else {
                break;
            };
            self.queued.remove(&key);
            let outcome = match &key {
                Key::Claim(namespace, name) => claims::sync(api, namespace, name, &mut warnings),
                Key::Context(namespace, name) => contexts::sync(api, namespace, name),
            };
            match outcome {
                Ok(next) => {
                    self.failures.remove(&key);
                    if next == Next::Recheck {
                        self.rechecks.insert(key, now);
                    }
                }
                Err(error) => warnings.extend(self.failed(key, &error, now)),
            }
        }
        warnings.retain(|warning| self.told.insert(warning.clone()));
        warnings
    }

    fn note(&mut self, key: Key, needs_work: bool, now: u64) {
        if needs_work {
            return self.add(key, now + ANSWER_TIME);
        }
        if let Some(place) = self.queued.remove(&key) {
            self.queue.remove(&place);
        }
        self.rechecks.remove(&key);
        self.failures.remove(&key);
    }

    fn add(&mut self, key: Key, due: u64) {
        self.rechecks.remove(&key);
        match self.queued.get(&key).copied() {
            Some((known, _)) if known <= due => return,
            Some(place) => _ = self.queue.remove(&place),
            None => (),
        }
        let place = (due, self.sequence);
        self.sequence += 1;
        self.queue.insert(place, key.clone());
        self.queued.insert(key, place);
    }

    /// Something changed that may change an answer: upstream finds out with the next of its periodic looks.
    fn recheck(&mut self, now: u64) {
        for (key, last) in std::mem::take(&mut self.rechecks) {
            let periods = now.saturating_sub(last) / RECHECK_PERIOD + 1;
            self.add(key, last + periods * RECHECK_PERIOD);
        }
    }

    fn failed(&mut self, key: Key, error: &str, now: u64) -> Option<Warning> {
        let failures = self.failures.entry(key.clone()).or_default();
        *failures += 1;
        if *failures < MAX_FAILURES {
            let pause = FIRST_PAUSE << (*failures - 1);
            self.add(key, now + pause);
            return None;
        }
        self.failures.remove(&key);
        let (kind, namespace, name) = match &key {
            Key::Claim(namespace, name) => (CLAIM, namespace, name),
            Key::Context(namespace, name) => (CONTEXT, namespace, name),
        };
        let id = ObjectRef {
            kind: Kind::new(kind),
            namespace: namespace.clone(),
            name: name.clone(),
            uid: "".into(),
        };
        self.rechecks.insert(key, now);
        Some(Warning::new(
            &id,
            format!("the stand-in for its driver gave up: {error}"),
        ))
    }
}

/// The driver that a claim is for, if it is one of classic DRA.
fn driver_of(claim: &Object) -> Option<&str> {
    let driver = claim.text("/spec/controller").unwrap_or_default();
    let classic = claim.api_version() == VERSION && !driver.is_empty();
    classic.then_some(driver)
}

/// The finalizer by which a driver knows its claims.
fn finalizer_of(driver: &str) -> String {
    format!("{driver}/deletion-protection")
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn has_finalizer(claim: &Object, finalizer: &str) -> bool {
    list(claim.value(), "/metadata/finalizers").any(|known| known == finalizer)
}

/// Whether something is being deleted.
fn is_going(object: &Object) -> bool {
    object.text("/metadata/deletionTimestamp").is_some()
}

/// Changes an object and writes it. The error says what was to be done.
fn write(
    api: &mut ApiServer,
    object: &Object,
    what: &str,
    change: impl FnOnce(&mut Value),
    call: fn(Object) -> ApiCall,
) -> Result<Object, String> {
    let mut value = object.value().clone();
    change(&mut value);
    let error = |error: ApiError| format!("{what}: {}", error.message);
    let changed = Object::from_value(value).map_err(|problem| format!("{what}: {problem}"))?;
    let stored = api.call(Caller::Other, &call(changed)).map_err(error)?;
    Ok(stored.unwrap_or_else(|| object.clone()))
}

fn update(object: Object) -> ApiCall {
    ApiCall::Update { object }
}

fn update_status(object: Object) -> ApiCall {
    ApiCall::UpdateStatus { object }
}

#[cfg(test)]
mod tests;
