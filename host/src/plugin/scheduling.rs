//! Scheduling instances: the exported calls of a cycle, and the checks of what they return.

use std::collections::BTreeMap;
use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::ResourceAny;

use super::contract::exports::scheduling::GuestCycle;
use super::contract::imports::types;
use super::convert;
use super::instance::{Call, Functions, Live};
use super::state::{Phase, State, Stream, lock};
use super::stats::{Counted, Living, Sort};
use super::waiting::Numbers;
use crate::object::Object;
use crate::plugin::{
    Answers, CycleId, Fault, Hint, Interest, Nomination, ObjectEvent, PluginError, Progress,
    Revision, SchedulingInstance, Scope, Slot, Status,
};

/// A scheduling instance of a component.
pub(super) struct Scheduling {
    /// Absent after an error: the store is gone.
    pub(super) live: Option<Live>,
    /// Name and version of the plugin.
    plugin: String,
    cycles: BTreeMap<u64, Cycle>,
    next_cycle: u64,
    output_bytes: usize,
    results: usize,
    living: Arc<Living>,
    pub(super) waiting: Numbers,
}

struct Cycle {
    resource: ResourceAny,
    pod: Arc<str>,
    _counted: Counted,
}

impl Scheduling {
    pub fn new(live: Live) -> Self {
        let shared = live.store.data().shared.clone();
        Self {
            live: Some(live),
            plugin: shared.label(),
            cycles: BTreeMap::new(),
            next_cycle: 1,
            output_bytes: shared.limits.output_bytes,
            results: shared.limits.results,
            living: shared.counters.living.clone(),
            waiting: Numbers::default(),
        }
    }

    pub(super) fn call<R>(
        &mut self,
        call: Call,
        function: impl FnOnce(&mut Store<State>, &Functions) -> wasmtime::Result<R>,
    ) -> Result<R, PluginError> {
        let Some(live) = &mut self.live else {
            return Err(self.error(
                Fault::Trap,
                call.name,
                "the instance was dropped after an earlier failure".to_owned(),
            ));
        };
        let outcome = live.call(call, function);
        if outcome.is_err() {
            self.drop_store();
        }
        outcome
    }

    /// A call of a method of a cycle.
    fn call_cycle<R>(
        &mut self,
        cycle: CycleId,
        (name, phase, nodes): (&'static str, Phase, usize),
        method: impl FnOnce(&mut Store<State>, GuestCycle<'_>, ResourceAny) -> wasmtime::Result<R>,
    ) -> Result<R, PluginError> {
        let Some(Cycle { resource, pod, .. }) = self.cycles.get(&cycle.0) else {
            return Err(self.error(
                Fault::Contract,
                name,
                "there is no such cycle in this instance".to_owned(),
            ));
        };
        let (resource, pod) = (*resource, pod.clone());
        let call = Call {
            name,
            phase,
            pod: &pod,
            nodes,
        };
        self.call(call, |store, functions| {
            method(store, functions.scheduling.cycle(), resource)
        })
    }

    fn error(&self, fault: Fault, call: &str, cause: String) -> PluginError {
        PluginError {
            fault,
            plugin: self.plugin.clone(),
            call: call.to_owned(),
            cause,
        }
    }

    /// The call returned, but not what it should have: the instance is not trusted any more.
    pub(super) fn reject<R>(
        &mut self,
        fault: Fault,
        call: &str,
        cause: String,
    ) -> Result<R, PluginError> {
        self.drop_store();
        Err(self.error(fault, call, cause))
    }

    fn drop_store(&mut self) {
        self.live = None;
        self.cycles.clear();
    }

    /// Refuses statuses that are too many or too long for anybody to read.
    fn statuses(
        &mut self,
        call: &str,
        statuses: Vec<types::Status>,
    ) -> Result<Vec<Status>, PluginError> {
        let reasons = statuses.iter().flat_map(|status| &status.reasons);
        let (size, count) = (reasons.clone().map(String::len).sum(), reasons.count());
        self.check_results(call, "statuses and reasons", statuses.len() + count)?;
        self.check_size(call, "statuses", size)?;
        Ok(statuses.into_iter().map(convert::status).collect())
    }

    fn status(&mut self, call: &str, status: types::Status) -> Result<Status, PluginError> {
        let checked = self.statuses(call, vec![status])?;
        Ok(checked.into_iter().next().unwrap_or_else(Status::success))
    }

    pub(super) fn check_size(
        &mut self,
        call: &str,
        what: &str,
        size: usize,
    ) -> Result<(), PluginError> {
        let limit = self.output_bytes;
        self.check_limit(call, what, size, limit)
    }

    pub(super) fn check_limit(
        &mut self,
        call: &str,
        what: &str,
        size: usize,
        limit: usize,
    ) -> Result<(), PluginError> {
        match size <= limit {
            true => Ok(()),
            false => self.reject(
                Fault::Output,
                call,
                format!("returned {size} bytes of {what}, the limit is {limit}"),
            ),
        }
    }

    /// A list of millions of empty entries has no size to speak of, and costs the host all the same.
    pub(super) fn check_results(
        &mut self,
        call: &str,
        what: &str,
        count: usize,
    ) -> Result<(), PluginError> {
        let limit = self.results;
        match count <= limit {
            true => Ok(()),
            false => self.reject(
                Fault::Output,
                call,
                format!("returned {count} {what}, the limit is {limit}"),
            ),
        }
    }

    pub(super) fn check_count(
        &mut self,
        call: &str,
        what: &str,
        answers: usize,
        asked: usize,
    ) -> Result<(), PluginError> {
        match answers == asked {
            true => Ok(()),
            false => self.reject(
                Fault::Contract,
                call,
                format!("returned {answers} {what} for {asked}"),
            ),
        }
    }

    /// The stream in which the instance has not read up to `at`.
    fn behind(&mut self, at: Revision) -> Option<Stream> {
        let state = self.live.as_mut()?.store.data_mut();
        let services = state.services.clone();
        let mut services = lock(&services);
        state.reading.behind(at, &mut *services)
    }

    pub(super) fn converting<R>(&self, objects: &[&Object], convert: impl FnOnce() -> R) -> R {
        let Some(live) = &self.live else {
            return convert();
        };
        let counters = &live.store.data().shared.counters;
        let bytes = objects.iter().map(|object| object.bytes().len()).sum();
        counters.objects_in(objects.len(), bytes);
        counters.converting(convert)
    }

    pub(super) fn convert_object(&self, object: &Object) -> types::Object {
        self.converting(&[object], || convert::object(object))
    }
}

/// A call that belongs to no cycle.
pub(super) fn aside<'a>(name: &'static str, pod: &'a str) -> Call<'a> {
    Call::new(name, Phase::Aside, pod)
}

impl SchedulingInstance for Scheduling {
    fn events_to_register(&mut self) -> Result<Vec<Interest>, PluginError> {
        let name = "events-to-register";
        let interests = self.call(aside(name, ""), |store, functions| {
            match &functions.enqueue {
                Some(enqueue) => enqueue.call_events_to_register(store),
                None => Ok(Vec::new()),
            }
        })?;
        let actions: usize = interests
            .iter()
            .map(|interest| interest.actions.len())
            .sum();
        self.check_results(name, "events and actions", interests.len() + actions)?;
        Ok(interests.into_iter().map(convert::interest).collect())
    }

    fn pre_enqueue(&mut self, pod: &Object) -> Result<Status, PluginError> {
        let name = "pre-enqueue";
        let object = self.convert_object(pod);
        let status = self.call(
            aside(name, &pod.id().uid),
            |store, functions| match &functions.enqueue {
                Some(enqueue) => enqueue.call_pre_enqueue(store, &object),
                None => Ok(types::Status {
                    code: types::Code::Success,
                    reasons: Vec::new(),
                }),
            },
        )?;
        self.status(name, status)
    }

    fn hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Vec<Result<Hint, String>>, PluginError> {
        let has_none = |live: &Live| live.functions.enqueue.is_none();
        if self.live.as_ref().is_some_and(has_none) {
            return Ok(vec![Ok(Hint::Queue); pods.len()]);
        }
        self.ask_hints(event, pods)
    }

    fn pre_filter(&mut self, pod: &Object, at: Revision) -> Result<(CycleId, Scope), PluginError> {
        let name = "pre-filter";
        let object = self.convert_object(pod);
        let uid = pod.id().uid.clone();
        let call = Call::new(name, Phase::Cycle, &uid);
        let begun = self.call(call, |store, functions| {
            functions.scheduling.call_pre_filter(store, &object, at)
        })?;
        if let Some(stream) = self.behind(at) {
            let what = match stream {
                Stream::Objects(kind) => kind.to_string(),
                Stream::InFlight => "in-flight entries".to_owned(),
            };
            return self.reject(
                Fault::Stale,
                name,
                format!("has not read {what} up to revision {at}"),
            );
        }
        let scope = convert::scope(begun.scope);
        match &scope {
            Scope::Rejected(status) => {
                let size = status.reasons.iter().map(String::len).sum();
                self.check_results(name, "reasons", status.reasons.len())?;
                self.check_size(name, "statuses", size)?;
            }
            Scope::Only(nodes) => self.check_results(name, "nodes", nodes.len())?,
            Scope::AllNodes | Scope::Skip => {}
        }
        let id = self.next_cycle;
        self.next_cycle += 1;
        self.cycles.insert(
            id,
            Cycle {
                resource: begun.cycle,
                pod: uid,
                _counted: Counted::new(&self.living, Sort::Resource),
            },
        );
        Ok((CycleId(id), scope))
    }

    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Answers, PluginError> {
        let name = "filter";
        let answers = self.call_cycle(
            cycle,
            (name, Phase::Filter, nodes.len()),
            |store, methods, resource| methods.call_filter(store, resource, nodes),
        )?;
        self.check_count(name, "verdicts", answers.verdicts.len(), nodes.len())?;
        if let Some(verdict) = answers
            .verdicts
            .iter()
            .find(|verdict| **verdict as usize >= answers.statuses.len())
        {
            let cause = format!(
                "returned verdict {verdict} and only {} statuses",
                answers.statuses.len()
            );
            return self.reject(Fault::Contract, name, cause);
        }
        Ok(Answers {
            statuses: self.statuses(name, answers.statuses)?,
            verdicts: answers.verdicts,
        })
    }

    fn post_filter(&mut self, cycle: CycleId) -> Result<Nomination, PluginError> {
        let name = "post-filter";
        let nomination = self.call_cycle(
            cycle,
            (name, Phase::PostFilter, 0),
            |store, methods, resource| methods.call_post_filter(store, resource),
        )?;
        Ok(Nomination {
            status: self.status(name, nomination.status)?,
            node: nomination.node,
        })
    }

    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Status, PluginError> {
        let name = "pre-score";
        let status = self.call_cycle(
            cycle,
            (name, Phase::Filter, nodes.len()),
            |store, methods, resource| methods.call_pre_score(store, resource, nodes),
        )?;
        self.status(name, status)
    }

    fn score(
        &mut self,
        cycle: CycleId,
        nodes: &[Slot],
    ) -> Result<Result<Vec<i64>, Status>, PluginError> {
        let name = "score";
        let scores = self.call_cycle(
            cycle,
            (name, Phase::Filter, nodes.len()),
            |store, methods, resource| methods.call_score(store, resource, nodes),
        )?;
        match scores {
            Ok(scores) => {
                self.check_count(name, "scores", scores.len(), nodes.len())?;
                Ok(Ok(scores))
            }
            Err(status) => Ok(Err(self.status(name, status)?)),
        }
    }

    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Result<Progress, PluginError> {
        let name = "reserve";
        let reserved = self.call_cycle(
            cycle,
            (name, Phase::Cycle, 1),
            |store, methods, resource| methods.call_reserve(store, resource, node),
        )?;
        self.check_size(name, "plan", reserved.plan.len())?;
        Ok(Progress {
            status: self.status(name, reserved.status)?,
            plan: reserved.plan.into(),
        })
    }

    fn end_cycle(&mut self, cycle: CycleId) -> Result<(), PluginError> {
        let ended = self.call_cycle(
            cycle,
            ("end-cycle", Phase::Aside, 0),
            |store, _, resource| resource.resource_drop(store),
        );
        self.cycles.remove(&cycle.0);
        ended
    }
}
