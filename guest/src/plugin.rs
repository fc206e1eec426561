//! The plugin as one instance of it: what is exported, in plain Rust. Decodes pods and plans, catches up with the cluster,
//! and calls the extension points; no decisions.

mod description;

use std::rc::Rc;

use crate::advice;
use crate::allocator::{Allocator, Observer, Outcome};
use crate::api::{Pod, ResourceClaim, wire};
use crate::claims::{self, Lookup, PodClaim};
use crate::cluster::View;
use crate::config::Config;
use crate::cycle::{Answers, Cycle, Scope, State};
use crate::explain;
use crate::extension_points::{
    filter, post_bind, post_filter, pre_bind, pre_enqueue, pre_filter, pre_score, reserve,
    unreserve,
};
use crate::hints::{self, Event, Hint, Interest};
use crate::host::{Host, Level, Object, ObjectRef, Slot, kinds};
use crate::plan::Plan;
use crate::profile::{Feature, Profile};
use crate::status::{Code, Status};

pub use description::{Access, Description, NAME, VERSION, Verb};

use description::DESCRIPTION;

/// One instance of the plugin: configuration and caches.
#[derive(Default)]
pub struct Plugin {
    instance: Instance,
    /// Pods that wait.
    waiting: hints::Waiting,
    /// One handle per living cycle is shared with it.
    alive: Rc<()>,
}

/// What the extension points work with.
pub struct Instance {
    config: Config,
    /// The cluster as this instance knows it.
    pub view: View,
}

impl Default for Instance {
    fn default() -> Self {
        let config = Config::default();
        Self {
            view: View::new(&config),
            config,
        }
    }
}

impl Instance {
    /// Version and gates.
    pub fn profile(&self) -> &Profile {
        &self.config.profile
    }

    fn is_enabled(&self) -> bool {
        self.profile().enabled(Feature::DynamicResourceAllocation)
    }

    /// A claim as this instance knows it, for cycles.
    pub fn claim(&self, host: &dyn Host, namespace: &str, name: &str) -> Lookup {
        match self.view.claim(namespace, name) {
            Some(Ok(claim)) => Ok(Rc::clone(claim)),
            Some(Err(problem)) => Err(claims::Unresolved::Invalid(problem.to_string())),
            // The text of a failed look-up is the cache's own (spec section 3.1).
            None => self.claim_from_cache(host, namespace, name),
        }
    }

    /// A claim as the host shows it now, for instances that follow nothing.
    pub fn claim_from_cache(&self, host: &dyn Host, namespace: &str, name: &str) -> Lookup {
        let object = host
            .cached(kinds::RESOURCE_CLAIM, namespace, name)
            .map_err(|error| claims::Unresolved::Refused(error.message))?;
        wire::resource_claim(&object.json, self.profile())
            .map(Rc::new)
            .map_err(|problem| claims::Unresolved::Invalid(problem.to_string()))
    }

    /// Runs the allocator for a node.
    pub fn allocate(&mut self, allocator: &mut Allocator, slot: Slot) -> Outcome {
        self.view.allocate(allocator, slot, &self.config)
    }

    /// The same without the work of writing results down.
    pub fn fits<O: Observer>(
        &mut self,
        host: &dyn Host,
        allocator: &mut Allocator,
        slot: Slot,
        observer: &mut O,
    ) -> Result<i64, Outcome> {
        let limits = (&self.config, host);
        self.view.fits(allocator, slot, limits, observer)
    }
}

impl Plugin {
    /// What the plugin is.
    pub fn describe() -> &'static Description {
        &DESCRIPTION
    }

    /// Takes the configuration. What was cached is forgotten: rules decide how objects are read.
    pub fn configure(&mut self, host: &dyn Host, json: &[u8]) -> Result<(), String> {
        let (config, notes) = Config::from_json(json)?;
        for note in notes {
            host.log(Level::Warn, &note, &[]);
        }
        self.instance = Instance {
            view: View::new(&config),
            config,
        };
        Ok(())
    }

    /// Events that may help.
    pub fn events_to_register(&self) -> Vec<Interest> {
        hints::events_to_register(self.instance.profile())
    }

    /// See [`pre_enqueue`].
    pub fn pre_enqueue(&mut self, host: &dyn Host, pod: &Object) -> Status {
        if !self.instance.is_enabled() {
            return Status::success();
        }
        let caught_up = self.catch_up_with_claims(host).map_err(Status::error);
        match caught_up.and_then(|()| self.read_pod(pod)) {
            Ok(pod) => pre_enqueue::pre_enqueue(&self.instance, host, &pod),
            Err(status) => status,
        }
    }

    /// See [`hints`]: for pods as they are given here.
    pub fn hints(
        &mut self,
        host: &dyn Host,
        event: &Event,
        pods: &[Object],
    ) -> Vec<Result<Hint, String>> {
        let hint = self.hinting(host, event);
        let read = |pod: &Object| wire::pod(&pod.json).map_err(|problem| problem.to_string());
        pods.iter().map(|pod| hint(&read(pod)?)).collect()
    }

    /// Pods that wait, each with its number.
    pub fn put_waiting(&mut self, pods: impl Iterator<Item = (u32, Object)>) {
        pods.for_each(|(number, pod)| self.waiting.put(number, &pod));
    }

    /// See [`hints`]: for pods that wait, by number. Those that the event may help, with what failed.
    pub fn helped(
        &mut self,
        host: &dyn Host,
        event: &Event,
        pods: &[u32],
    ) -> Vec<(u32, Option<String>)> {
        let waiting = std::mem::take(&mut self.waiting);
        let hint = self.hinting(host, event);
        let answers = pods
            .iter()
            .filter_map(|number| match waiting.get(*number).and_then(&hint) {
                Ok(Hint::Skip) => None,
                Ok(Hint::Queue) => Some((*number, None)),
                Err(error) => Some((*number, Some(error))),
            });
        let answers = answers.collect();
        drop(hint);
        self.waiting = waiting;
        answers
    }

    /// Asks about one pod after another whether an event helps it.
    fn hinting(&mut self, host: &dyn Host, event: &Event) -> impl Fn(&Pod) -> Result<Hint, String> {
        let caught_up = self.catch_up_with_claims(host);
        let this = &*self;
        let profile = this.instance.profile();
        let event = caught_up.and_then(|()| hints::Decoded::new(event, profile));
        move |pod| {
            let event = event.as_ref().map_err(Clone::clone)?;
            Ok(event.hint(profile, pod, || this.resolve(host, pod)))
        }
    }

    fn resolve(
        &self,
        host: &dyn Host,
        pod: &Pod,
    ) -> Result<Vec<PodClaim<Rc<ResourceClaim>>>, claims::Unresolved> {
        claims::pod_claims(pod, self.instance.profile(), |namespace, name| {
            self.instance.claim(host, namespace, name)
        })
    }

    /// Begins a cycle.
    pub fn pre_filter(&mut self, host: &dyn Host, pod: &Object) -> (Cycle, Scope) {
        self.make_room();
        let pod_ref = pod.id.clone();
        if !self.instance.is_enabled() {
            return (self.cycle(Pod::default(), pod_ref), Scope::Skip);
        }
        let pod = match self.prepare(host, pod) {
            Ok(pod) => pod,
            Err(status) => return (self.cycle(Pod::default(), pod_ref), Scope::Rejected(status)),
        };
        let cycle = self.cycle(pod, pod_ref);
        let mut state = State::default();
        let scope = pre_filter::pre_filter(&self.instance, host, &cycle.pod, &mut state);
        cycle.state.replace(state);
        (cycle, scope)
    }

    fn cycle(&self, pod: Pod, pod_ref: ObjectRef) -> Cycle {
        Cycle {
            pod: Rc::new(pod),
            pod_ref,
            state: Rc::default(),
            alive: Rc::clone(&self.alive),
        }
    }

    /// See [`filter`].
    pub fn filter(&mut self, host: &dyn Host, cycle: &Cycle, nodes: &[Slot]) -> Answers {
        let state = &mut cycle.state.borrow_mut();
        let answers = filter::filter(&mut self.instance, host, state, nodes);
        self.instance.view.tell_counts(host);
        answers
    }

    /// See [`post_filter`].
    pub fn post_filter(&mut self, host: &dyn Host, cycle: &Cycle) -> Status {
        if !self.instance.is_enabled() {
            return Status::unschedulable("plugin disabled");
        }
        post_filter::post_filter(
            &self.instance,
            host,
            &cycle.pod,
            &mut cycle.state.borrow_mut(),
        )
    }

    /// See [`pre_score`].
    pub fn pre_score(&mut self, host: &dyn Host, cycle: &Cycle, nodes: &[Slot]) -> Status {
        pre_score::pre_score(&self.instance, host, &mut cycle.state.borrow_mut(), nodes)
    }

    /// How much the alternatives that were chosen on the nodes are preferred: see [`State::scores`].
    pub fn score(cycle: &Cycle, nodes: &[Slot]) -> Vec<i64> {
        let state = cycle.state.borrow();
        let score = |node| state.scores.get(node).copied().unwrap_or_default();
        nodes.iter().map(score).collect()
    }

    /// See [`reserve`]. Returns the plan as bytes.
    pub fn reserve(&mut self, host: &dyn Host, cycle: &Cycle, node: Slot) -> (Status, Vec<u8>) {
        let mut state = cycle.state.borrow_mut();
        let (status, plan) =
            reserve::reserve(&mut self.instance, host, &cycle.pod, &mut state, node);
        self.instance.view.tell_counts(host);
        (status, plan.encode())
    }

    /// See [`pre_bind`]. Returns the new plan as bytes; one that cannot be read is returned as it came.
    pub fn pre_bind(
        &mut self,
        host: &dyn Host,
        pod: &Object,
        _node: &str,
        plan: Vec<u8>,
    ) -> (Status, Vec<u8>) {
        if plan.is_empty() {
            return (Status::success(), plan);
        }
        let decoded = Plan::decode(&plan);
        match (decoded, wire::pod(&pod.json)) {
            (Ok(mut decoded), Ok(pod)) => {
                let status = pre_bind::pre_bind(&self.instance, host, &pod, &mut decoded);
                (status, decoded.encode())
            }
            (Err(error), _) => (Status::error(error), plan),
            (_, Err(problem)) => (Status::new(Code::InvalidObject, problem.to_string()), plan),
        }
    }

    /// See [`unreserve`].
    pub fn unreserve(&mut self, host: &dyn Host, pod: &Object, _node: &str, plan: Option<Vec<u8>>) {
        if !self.instance.is_enabled() {
            return;
        }
        let plan = plan.map(|plan| Plan::decode(&plan)).transpose();
        match (plan, wire::pod(&pod.json)) {
            (Ok(plan), Ok(pod)) => unreserve::unreserve(&self.instance, host, &pod, plan),
            (Err(error), _) => host.log(Level::Error, "unreserve", &[("err", &error)]),
            (_, Err(problem)) => {
                host.log(Level::Error, "unreserve", &[("err", &problem.to_string())])
            }
        }
    }

    /// See [`post_bind`].
    pub fn post_bind(&mut self, host: &dyn Host, pod: &Object, _node: &str, plan: &[u8]) {
        if plan.is_empty() || !self.instance.profile().has_classic_dra() {
            return;
        }
        match (Plan::decode(plan), wire::pod(&pod.json)) {
            (Ok(plan), Ok(pod)) => post_bind::post_bind(host, &pod, &plan),
            (Err(error), _) => host.log(Level::Error, "post-bind", &[("err", &error)]),
            (_, Err(problem)) => {
                host.log(Level::Error, "post-bind", &[("err", &problem.to_string())])
            }
        }
    }

    /// See [`advice::lint`].
    pub fn lint(&self, host: &dyn Host) -> Vec<advice::Finding> {
        advice::lint(host, self.instance.profile())
    }

    /// See [`advice::devices`].
    pub fn devices(&self, host: &dyn Host) -> Vec<u8> {
        advice::devices(host, self.instance.profile())
    }

    /// See [`explain`]: one answer for each node, as JSON.
    pub fn explain(&mut self, host: &dyn Host, pod: &Object, nodes: &[String]) -> Vec<Vec<u8>> {
        self.make_room();
        let reports = if self.instance.is_enabled() {
            match self.prepare(host, pod) {
                Ok(pod) => explain::explain(&mut self.instance, host, &pod, nodes),
                Err(status) => explain::refused(&status, nodes),
            }
        } else {
            explain::refused(&Status::success(), nodes)
        };
        // Of this type every value can be written.
        let json = |report| serde_json::to_vec(report).unwrap_or_default();
        reports.iter().map(json).collect()
    }

    /// Between two cycles what is too much is forgotten.
    fn make_room(&mut self) {
        if Rc::strong_count(&self.alive) == 1 {
            self.instance.view.selectors.make_room();
        }
    }

    fn prepare(&mut self, host: &dyn Host, pod: &Object) -> Result<Pod, Status> {
        self.catch_up(host).map_err(Status::error)?;
        self.read_pod(pod)
    }

    fn read_pod(&self, pod: &Object) -> Result<Pod, Status> {
        let invalid = |text: String| Status::new(Code::InvalidObject, text);
        if self.instance.profile().classes_offer_extended_resources()
            && let Some((resource, class)) =
                self.instance.view.extended_resource_wanted_by(&pod.json)
        {
            return Err(invalid(format!(
                "Pod {}/{}: requests {resource}, which means devices of DeviceClass {class}: extended resources through \
                 DRA are not implemented (gate DRAExtendedResource)",
                pod.id.namespace, pod.id.name
            )));
        }
        wire::pod(&pod.json).map_err(|problem| invalid(problem.to_string()))
    }

    fn catch_up(&mut self, host: &dyn Host) -> Result<(), String> {
        self.forget();
        let Instance { config, view } = &mut self.instance;
        view.catch_up(host, &config.profile)
    }

    fn catch_up_with_claims(&mut self, host: &dyn Host) -> Result<(), String> {
        self.forget();
        let Instance { config, view } = &mut self.instance;
        view.catch_up_with_claims(host, &config.profile)
    }

    /// Without caches each call starts with nothing, unless a cycle lives, which has numbers of expressions.
    fn forget(&mut self) {
        let Instance { config, view } = &mut self.instance;
        if !config.caches && Rc::strong_count(&self.alive) == 1 {
            *view = View::new(config);
        }
    }
}
