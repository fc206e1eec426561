//! What the host knows: the caches that follow the API server, what was decided or written ahead of it, and the counter
//! that orders it all. Implements what a plugin may ask for ([`Services`]).

mod assume_cache;
mod in_flight;
mod log;
mod stream;

use std::collections::BTreeMap;

use crate::api::{ApiServer, Caller, Operation, WatchEvent, WatchType};
use crate::clock::{Clock, SECOND};
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{
    Action, ApiCall, ApiError, Change, Entry, InFlight, InFlightChange, LogLevel, ObjectEvent,
    Page, Revision, Services, Slot, Verb,
};
use crate::stand_ins;
use crate::stand_ins::claim_controller::ClaimController;
use crate::stand_ins::classic_driver::ClassicDriver;
use assume_cache::AssumeCache;
use in_flight::Ledger;
use log::Logs;

pub use crate::api::Warning;
pub use log::LogRecord;
pub use stream::PageLimit;

/// What a cluster begins with.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// Time on the virtual clock, in nanoseconds since 1970-01-01 UTC.
    pub start: u64,
    /// The least important messages of plugins that are kept.
    pub log_level: LogLevel,
    /// Size of a page of changes.
    pub page: PageLimit,
    /// Whether somebody stands in for the drivers of classic DRA.
    pub classic_driver: bool,
    /// Whether the API's defaults are filled in; otherwise objects stay as they were written.
    pub defaults: bool,
}

impl Default for Settings {
    /// 2025-01-01, so that two runs show the same times.
    fn default() -> Self {
        Self {
            seed: 0,
            start: 1_735_689_600 * SECOND,
            log_level: LogLevel::Info,
            page: PageLimit::default(),
            classic_driver: false,
            defaults: true,
        }
    }
}

/// The cluster as the scheduler and its plugins see it, with the API server behind it.
#[derive(Debug)]
pub struct Cluster {
    api: ApiServer,
    caches: BTreeMap<Kind, AssumeCache>,
    ledger: Ledger,
    /// One counter over all caches and the ledger: the revision of the newest change.
    revision: Revision,
    /// Changes of the caches that the scheduler was not told of yet.
    events: Vec<ObjectEvent>,
    claims: ClaimController,
    driver: Option<ClassicDriver>,
    clock: Clock,
    random: fastrand::Rng,
    logs: Logs,
    page: PageLimit,
}

impl Cluster {
    /// An empty cluster.
    pub fn new(settings: Settings) -> Self {
        let clock = Clock::starting_at(settings.start);
        let mut rules = stand_ins::RULES;
        if !settings.defaults {
            rules.defaults = |_, _| false;
            rules.lacks_defaults = |_| false;
        }
        Self {
            api: ApiServer::new(rules, clock.clone()),
            caches: BTreeMap::new(),
            ledger: Ledger::default(),
            revision: stream::FIRST_REVISION,
            events: Vec::new(),
            claims: ClaimController::default(),
            driver: settings.classic_driver.then(ClassicDriver::default),
            clock,
            random: fastrand::Rng::with_seed(settings.seed),
            logs: Logs::new(settings.log_level),
            page: settings.page,
        }
    }

    /// Another cluster with the same objects, and nothing of what else happened here.
    #[must_use]
    pub fn copy(&self) -> Self {
        let mut copy = Self::new(Settings {
            start: self.clock(),
            log_level: LogLevel::Info,
            page: self.page,
            classic_driver: self.driver.is_some(),
            ..Settings::default()
        });
        let caches = self.caches.values();
        let objects = caches.flat_map(|cache| cache.entries().map(|entry| entry.object.clone()));
        copy.load(objects.collect());
        copy.run_claim_controller();
        copy.deliver();
        copy
    }

    /// Stores objects as they were read and shows them in the caches. The events of that are handed out by the next
    /// `deliver`.
    pub fn load(&mut self, objects: Vec<Object>) -> Vec<Warning> {
        let warnings = self.api.load(objects);
        self.pump();
        warnings
    }

    /// Takes outstanding watch events into the caches and returns, in order, everything that changed in them since the
    /// last call: by these events, by `load`, and by what was assumed, restored or woken.
    pub fn deliver(&mut self) -> Vec<ObjectEvent> {
        self.pump();
        std::mem::take(&mut self.events)
    }

    /// Shows what plugins wrote from this call on, whatever the watch has told of it: a pod that is tried again must not take
    /// for its own what its last attempt gave back.
    pub fn show_writes_since(&mut self, call: u64) {
        let written = self.api.calls_since(call).filter(|call| {
            call.caller == Caller::Plugin
                && call.took_effect
                && call.operation != Operation::Api(Verb::Get)
        });
        let written: Vec<ObjectRef> = written.map(|call| call.target.clone()).collect();
        for id in written {
            let stored = self.api.shown(&id.kind, &id.namespace, &id.name).cloned();
            stored.into_iter().for_each(|object| self.cache(object));
        }
    }

    /// Reads a kind anew from the API server, as an informer does after it lost its watch.
    pub fn relist(&mut self, kind: &Kind) {
        self.api.watch().forget(kind);
        let listed: Vec<Object> = self.api.list_shown(kind).cloned().collect();
        let gone: Vec<ObjectRef> = self
            .list(kind)
            .map(|entry| entry.object.id().clone())
            .collect();
        let gone = gone
            .into_iter()
            .filter(|id| self.api.stored(kind, &id.namespace, &id.name).is_none());
        let gone: Vec<ObjectRef> = gone.collect();
        for id in gone {
            self.uncache(&id);
        }
        listed.into_iter().for_each(|object| self.cache(object));
    }

    /// Generates the claims that pods still lack, with their entries in the pods' status.
    pub fn run_claim_controller(&mut self) -> Vec<Warning> {
        self.claims.run(&mut self.api)
    }

    /// When the stand-in for the drivers of classic DRA has something to do, if there is one.
    pub fn driver_due(&self) -> Option<u64> {
        self.driver.as_ref().and_then(ClassicDriver::due)
    }

    /// Lets that stand-in do what is due.
    pub fn run_classic_driver(&mut self) -> Vec<Warning> {
        let now = self.clock.now();
        let driver = self.driver.as_mut();
        driver.map_or_else(Vec::new, |driver| driver.run(&mut self.api, now))
    }

    /// Revision of the newest change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// All objects of a kind in the caches, by slot.
    pub fn list(&self, kind: &Kind) -> impl Iterator<Item = &Entry> {
        self.caches
            .get(kind)
            .into_iter()
            .flat_map(AssumeCache::entries)
    }

    /// How many objects of a kind there are.
    pub fn count(&self, kind: &Kind) -> usize {
        self.caches.get(kind).map_or(0, AssumeCache::len)
    }

    /// One object.
    pub fn entry(&self, kind: &Kind, namespace: &str, name: &str) -> Option<&Entry> {
        self.caches.get(kind)?.get(namespace, name)
    }

    /// One object by its number.
    pub fn by_slot(&self, kind: &Kind, slot: Slot) -> Option<&Entry> {
        self.caches.get(kind)?.by_slot(slot)
    }

    /// Assigns a pod to a node. Where the answer leaves open whether the server did it, the pod is looked at: its claims
    /// must stay reserved if it did.
    pub fn bind(&mut self, pod: &ObjectRef, node: &str) -> Result<Object, ApiError> {
        let bound = self.api.bind(Caller::Scheduler, pod, node);
        let done = |stored: &&Object| {
            stored.id().uid == pod.uid && stored.text("/spec/nodeName") == Some(node)
        };
        match bound {
            Err(error) if error.leaves_open() => {
                let stored = self.api.shown(&pod.kind, &pod.namespace, &pod.name);
                stored.filter(done).cloned().ok_or(error)
            }
            bound => bound,
        }
    }

    /// The API server, for calls of the host's own, for faults and for the journal.
    pub fn api(&mut self) -> &mut ApiServer {
        &mut self.api
    }

    /// The API server, for looking.
    pub fn stored(&self) -> &ApiServer {
        &self.api
    }

    /// The time on the virtual clock.
    pub fn clock(&self) -> u64 {
        self.clock.now()
    }

    /// Moves the virtual clock on.
    pub fn advance_to(&mut self, nanoseconds: u64) {
        self.clock.advance_to(nanoseconds);
    }

    /// A generator that gives what the plugin will be given next, without taking it.
    pub fn fork_random(&self) -> fastrand::Rng {
        self.random.clone()
    }

    /// Messages of plugins since the last call.
    pub fn take_logs(&mut self) -> Vec<LogRecord> {
        self.logs.take()
    }

    /// All in-flight entries, by kind and uid of their object.
    pub fn in_flight(&self) -> impl Iterator<Item = &InFlight> {
        self.ledger.entries()
    }

    /// Removes what a pod holds in flight, as its plugin would have done had it lived, and returns it: what was assumed is
    /// taken back, and who waits for it is woken.
    ///
    /// The plugin may have died after a write, so the caches first learn what the API holds: an entry keeps devices in use
    /// until the written claim does.
    pub fn remove_entries_of(&mut self, pod_uid: &str) -> Vec<InFlight> {
        let held = self
            .ledger
            .entries()
            .filter(|entry| entry.holder == pod_uid);
        let held: Vec<InFlight> = held.cloned().collect();
        for InFlight {
            target:
                ObjectRef {
                    kind,
                    namespace,
                    name,
                    uid,
                },
            ..
        } in &held
        {
            self.restore(kind, namespace, name);
            self.learn(kind, namespace, name);
            self.remove_in_flight(pod_uid, kind, uid, true);
        }
        held
    }

    /// Shows what the API holds of the objects that a pod has in flight: somebody stopped in the middle of writing them.
    pub fn settle(&mut self, pod_uid: &str) {
        let held = self
            .ledger
            .entries()
            .filter(|entry| entry.holder == pod_uid);
        let targets: Vec<ObjectRef> = held.map(|entry| entry.target.clone()).collect();
        for target in targets {
            self.learn(&target.kind, &target.namespace, &target.name);
        }
    }

    /// Reads one object past the watch.
    fn learn(&mut self, kind: &Kind, namespace: &str, name: &str) {
        if let Some(object) = self.api.shown(kind, namespace, name).cloned() {
            self.cache(object);
        }
    }

    fn pump(&mut self) {
        for WatchEvent { what, object } in self.api.watch().take_due() {
            match what {
                WatchType::Added | WatchType::Modified => self.cache(object),
                WatchType::Deleted => self.uncache(object.id()),
            }
        }
    }

    fn cache(&mut self, object: Object) {
        let kind = &object.id().kind;
        let cache = match self.caches.get_mut(kind) {
            Some(cache) => cache,
            None => self
                .caches
                .entry(kind.clone())
                .or_insert_with_key(|kind| AssumeCache::new(kind.clone())),
        };
        let event = cache.informed(object, &mut self.revision);
        self.tell(event);
    }

    fn uncache(&mut self, id: &ObjectRef) {
        let Some(cache) = self.caches.get_mut(&id.kind) else {
            return;
        };
        let event = cache.deleted(&id.namespace, &id.name, &mut self.revision);
        self.tell(event);
    }

    fn tell(&mut self, event: Option<ObjectEvent>) {
        if let Some(event) = event {
            self.claims.observe(&event);
            if let Some(driver) = &mut self.driver {
                driver.observe(&event, self.clock.now());
            }
            self.events.push(event);
        }
    }

    /// Tells whoever waits for an object that it is worth another look.
    fn wake(&mut self, target: &ObjectRef) {
        let entry = self.entry(&target.kind, &target.namespace, &target.name);
        let Some(object) = entry
            .map(|entry| entry.object.clone())
            .filter(|object| object.id().uid == target.uid)
        else {
            return;
        };
        let (kind, old, new) = (target.kind.clone(), Some(object.clone()), Some(object));
        self.events.push(ObjectEvent {
            kind,
            action: Action::Update,
            old,
            new,
        });
    }
}

impl Services for Cluster {
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change> {
        match self.caches.get_mut(kind) {
            Some(cache) => cache.page(since, self.revision, self.page),
            None => {
                let reset = since == 0 || since > self.revision;
                Page {
                    reset,
                    changes: Vec::new(),
                    until: self.revision,
                    more: false,
                }
            }
        }
    }

    fn get(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Entry, ApiError> {
        self.entry(kind, namespace, name)
            .cloned()
            .ok_or_else(|| assume_cache::missing(kind, namespace, name))
    }

    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange> {
        self.ledger.page(since, self.revision, self.page)
    }

    fn get_in_flight(&mut self, kind: &Kind, uid: &str) -> Option<InFlight> {
        self.ledger.get(kind, uid).cloned()
    }

    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError> {
        for entry in &entries {
            let ObjectRef {
                kind,
                namespace,
                name,
                uid,
            } = &entry.target;
            let known = self
                .entry(kind, namespace, name)
                .filter(|known| known.object.id().uid == *uid);
            if known.is_none() {
                return Err(assume_cache::missing(kind, namespace, name));
            }
            self.ledger.check(pod_uid, entry)?;
        }
        entries
            .into_iter()
            .for_each(|entry| self.ledger.put(entry, &mut self.revision));
        Ok(())
    }

    fn remove_in_flight(&mut self, pod_uid: &str, kind: &Kind, uid: &str, wake: bool) -> bool {
        let Some(entry) = self.ledger.remove(pod_uid, kind, uid, &mut self.revision) else {
            return false;
        };
        if wake {
            self.wake(&entry.target);
        }
        true
    }

    fn assume(&mut self, object: Object) -> Result<(), ApiError> {
        let ObjectRef {
            kind,
            namespace,
            name,
            ..
        } = object.id();
        let Some(cache) = self.caches.get_mut(kind) else {
            return Err(assume_cache::missing(kind, namespace, name));
        };
        // The server's own copy if it is the same, so that one version has one text and is held once.
        let same = |stored: &&Object| {
            stored.id().uid == object.id().uid
                && stored.resource_version() == object.resource_version()
        };
        let stored = self.api.shown(kind, namespace, name).filter(same).cloned();
        let event = cache.assume(stored.unwrap_or(object), &mut self.revision)?;
        self.tell(Some(event));
        Ok(())
    }

    fn restore(&mut self, kind: &Kind, namespace: &str, name: &str) {
        let Some(cache) = self.caches.get_mut(kind) else {
            return;
        };
        let event = cache.restore(namespace, name, &mut self.revision);
        self.tell(event);
    }

    /// Where the answer leaves open whether the server did it, the cache learns what is stored: the plugin gives up its entry
    /// in flight, and an allocation that was written must not look free until the watch tells of it.
    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        let result = self.api.call(Caller::Plugin, &call);
        if result.as_ref().is_err_and(ApiError::leaves_open) {
            let (kind, namespace, name) = call.target();
            self.learn(kind, namespace, name);
        }
        result
    }

    fn now(&mut self) -> u64 {
        self.clock.now()
    }

    fn random(&mut self) -> u64 {
        self.random.u64(..)
    }

    fn log_enabled(&self, level: LogLevel) -> bool {
        level <= self.logs.level
    }

    fn log(&mut self, level: LogLevel, plugin: &str, message: &str, fields: &[(String, String)]) {
        self.logs.write(level, plugin, message, fields);
    }
}

#[cfg(test)]
mod tests;
