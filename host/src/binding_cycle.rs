//! What follows a scheduling cycle, in steps that can be interleaved with anything else: PreBind, Bind, PostBind, or Unreserve
//! when something failed (upstream's `bindingCycle`, spec sections 2.2.3 and 2.3).
//!
//! A binding cycle keeps the plugin version that its plan was made by. A plugin that dies costs that call only: Unreserve runs
//! on a fresh instance with the plan that the host kept, and after a second death the host cleans up itself.

use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use crate::cycle::{Failure, Point, Undo};
use crate::generations::Generation;
use crate::object::{Object, ObjectRef};
use crate::plugin::{
    ApiError, BindingCall, BindingRun, Code, Plan, Plugin, PluginError, Progress, SharedServices,
    Step, Suspension,
};
use crate::queue::Time;

/// What binding cycles need of the host around them.
pub trait BindingHost {
    /// What the plugin may call.
    fn services(&self) -> SharedServices;
    /// Writes `spec.nodeName`.
    fn bind(&mut self, pod: &ObjectRef, node: &str) -> Result<(), ApiError>;
    /// The virtual clock.
    fn now(&self) -> Time;
    /// How many writes there have been.
    fn writes(&self) -> u64;
    /// Successful writes since there were `since`, for people.
    fn writes_since(&self, since: u64) -> Vec<String>;
    /// Shows what the API holds of the objects that the pod has in flight.
    fn settle(&mut self, pod: &ObjectRef);
    /// Removes what the pod still has in the ledger, and restores those objects; returns what it removed.
    fn clean_ledger(&mut self, pod: &ObjectRef) -> Vec<ObjectRef>;
}

/// How a binding cycle ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The pod is bound.
    Bound,
    /// It is not, and what was reserved has been given back.
    Failed(Failure),
}

/// One pod on its way to its node, or back.
pub struct BindingCycle {
    /// The pod.
    pub pod: Object,
    /// The node.
    pub node: Arc<str>,
    /// Whether the pod counts as running on the node already.
    pub assumed: bool,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Calls of the plugin that failed and were not reported yet.
    pub faults: Vec<PluginError>,
    generation: Rc<Generation>,
    plan: Option<Plan>,
    stage: Stage,
    deaths: u32,
    sleeping_until: Option<Time>,
    writes_before_call: u64,
}

enum Stage {
    PreBind(Option<Box<dyn BindingRun>>),
    Bind,
    PostBind(Option<Box<dyn BindingRun>>),
    /// Bound, and nothing is left to call.
    Bound,
    Unreserve(Failure, Option<Box<dyn BindingRun>>),
    /// Not bound, and the plugin is asked nothing more.
    Returned(Failure),
    Ended,
}

enum Resumed {
    Suspended(Box<dyn BindingRun>),
    Done(Result<Option<Progress>, PluginError>),
}

impl BindingCycle {
    /// After a successful Reserve.
    pub fn bind(
        generation: Rc<Generation>,
        pod: Object,
        node: Arc<str>,
        plan: Option<Plan>,
    ) -> Self {
        let plugin = generation.plugin();
        let stage = match plan.is_some()
            && plugin.exports().binding
            && plugin.description().has_point("pre-bind")
        {
            true => Stage::PreBind(None),
            false => Stage::Bind,
        };
        Self {
            assumed: true,
            ..Self::new(generation, pod, node, plan, stage)
        }
    }

    /// After a Reserve that failed, with `died` if the plugin died in it.
    pub fn undo(
        generation: Rc<Generation>,
        pod: Object,
        undo: Undo,
        failure: Failure,
        died: bool,
    ) -> Self {
        let mut cycle = Self::new(
            generation,
            pod,
            undo.node,
            undo.plan,
            Stage::Unreserve(failure, None),
        );
        cycle.deaths = died.into();
        cycle
    }

    fn new(
        generation: Rc<Generation>,
        pod: Object,
        node: Arc<str>,
        plan: Option<Plan>,
        stage: Stage,
    ) -> Self {
        Self {
            pod,
            node,
            assumed: false,
            warnings: Vec::new(),
            faults: Vec::new(),
            generation,
            plan,
            stage,
            deaths: 0,
            sleeping_until: None,
            writes_before_call: 0,
        }
    }

    /// Until when it sleeps; it must not be stepped before.
    pub fn sleeping_until(&self) -> Option<Time> {
        self.sleeping_until
    }

    /// Where it stands, for choosing who continues.
    pub fn point(&self) -> &'static str {
        match self.stage {
            Stage::PreBind(_) => "pre-bind",
            Stage::Bind => "bind",
            Stage::PostBind(_) => "post-bind",
            Stage::Bound => "bound",
            Stage::Unreserve(..) | Stage::Returned(_) => "unreserve",
            Stage::Ended => "ended",
        }
    }

    /// Goes on up to the next suspension or the next stage. Returns how it ended, once.
    pub fn step(&mut self, host: &mut dyn BindingHost) -> Option<Ending> {
        self.sleeping_until = None;
        match mem::replace(&mut self.stage, Stage::Ended) {
            Stage::PreBind(run) => self.pre_bind(run, host),
            Stage::Bind => self.bind_pod(host),
            Stage::PostBind(run) => self.post_bind(run, host),
            Stage::Bound => self.bound(host),
            Stage::Unreserve(failure, run) => self.unreserve(failure, run, host),
            Stage::Returned(failure) => self.returned(failure, host),
            Stage::Ended => None,
        }
    }

    /// The generation that it began with, and ends with.
    pub fn generation(&self) -> &Rc<Generation> {
        &self.generation
    }

    /// The generation was replaced long ago and has not finished: what runs is given up. What was reserved is undone on a
    /// fresh instance of it; if that does not end either, the host cleans up by itself. Returns whether there was something to
    /// give up.
    pub fn expire(&mut self, host: &mut dyn BindingHost) -> bool {
        self.sleeping_until = None;
        let why = "the plugin was replaced, and the old version did not finish in time";
        match mem::replace(&mut self.stage, Stage::Ended) {
            Stage::PreBind(_) => {
                self.died(host);
                self.give_up(Failure::error(Point::PreBind, why));
            }
            Stage::Unreserve(failure, _) => {
                self.died(host);
                self.stage = match self.deaths > 1 {
                    true => Stage::Returned(failure),
                    false => Stage::Unreserve(failure, None),
                };
            }
            // The pod has its node.
            Stage::PostBind(_) => {
                self.warnings
                    .push(format!("cleaning up after binding failed: {why}"));
                self.stage = Stage::Bound;
            }
            other => {
                self.stage = other;
                return false;
            }
        }
        true
    }

    fn plugin(&self) -> &dyn Plugin {
        self.generation.plugin()
    }

    fn pre_bind(
        &mut self,
        run: Option<Box<dyn BindingRun>>,
        host: &mut dyn BindingHost,
    ) -> Option<Ending> {
        let plan = self.plan.clone().unwrap_or_else(|| Arc::from([]));
        let call = BindingCall::PreBind {
            pod: self.pod.clone(),
            node: self.node.to_string(),
            plan,
        };
        let result = match self.resume(run, call, host) {
            Resumed::Suspended(run) => {
                self.stage = Stage::PreBind(Some(run));
                return None;
            }
            Resumed::Done(result) => result,
        };
        match result {
            Ok(Some(Progress { status, plan })) => {
                self.plan = Some(plan);
                match status.code {
                    Code::Success => self.stage = Stage::Bind,
                    _ => self.give_up(Failure::of(
                        Point::PreBind,
                        &self.plugin().description().name,
                        status,
                    )),
                }
            }
            Ok(None) => self.give_up(Failure::error(
                Point::PreBind,
                "the plugin's pre-bind returned no status",
            )),
            Err(error) => {
                self.died(host);
                self.give_up(Failure::error(Point::PreBind, error.to_string()));
            }
        }
        None
    }

    fn bind_pod(&mut self, host: &mut dyn BindingHost) -> Option<Ending> {
        if let Err(error) = host.bind(self.pod.id(), &self.node) {
            self.give_up(Failure::error(
                Point::Bind,
                format!("running Bind plugin \"DefaultBinder\": {error}"),
            ));
            return None;
        }
        if self.plan.is_some()
            && self.plugin().exports().binding
            && self.plugin().description().has_point("post-bind")
        {
            self.stage = Stage::PostBind(None);
            return None;
        }
        self.bound(host)
    }

    fn post_bind(
        &mut self,
        run: Option<Box<dyn BindingRun>>,
        host: &mut dyn BindingHost,
    ) -> Option<Ending> {
        let plan = self.plan.clone().unwrap_or_else(|| Arc::from([]));
        let call = BindingCall::PostBind {
            pod: self.pod.clone(),
            node: self.node.to_string(),
            plan,
        };
        match self.resume(run, call, host) {
            Resumed::Suspended(run) => {
                self.stage = Stage::PostBind(Some(run));
                None
            }
            Resumed::Done(Ok(_)) => self.bound(host),
            Resumed::Done(Err(error)) => {
                self.warnings
                    .push(format!("cleaning up after binding failed: {error}"));
                self.bound(host)
            }
        }
    }

    fn unreserve(
        &mut self,
        failure: Failure,
        run: Option<Box<dyn BindingRun>>,
        host: &mut dyn BindingHost,
    ) -> Option<Ending> {
        if !self.plugin().exports().binding {
            return self.returned(failure, host);
        }
        let call = BindingCall::Unreserve {
            pod: self.pod.clone(),
            node: self.node.to_string(),
            plan: self.plan.clone(),
        };
        match self.resume(run, call, host) {
            Resumed::Suspended(run) => self.stage = Stage::Unreserve(failure, Some(run)),
            Resumed::Done(Ok(_)) => return self.returned(failure, host),
            Resumed::Done(Err(error)) => {
                self.died(host);
                if self.deaths > 1 {
                    self.warnings
                        .push(format!("giving back what was reserved failed: {error}"));
                    return self.returned(failure, host);
                }
                self.stage = Stage::Unreserve(failure, None);
            }
        }
        None
    }

    /// Starts the call if it does not run yet, and resumes it once.
    fn resume(
        &mut self,
        run: Option<Box<dyn BindingRun>>,
        call: BindingCall,
        host: &mut dyn BindingHost,
    ) -> Resumed {
        let mut run = match run {
            Some(run) => run,
            None => {
                self.writes_before_call = host.writes();
                match self.plugin().binding(host.services(), call) {
                    Ok(run) => run,
                    Err(error) => {
                        self.faults.push(error.clone());
                        return Resumed::Done(Err(error));
                    }
                }
            }
        };
        match run.resume() {
            Step::Suspended(suspension) => {
                if let Suspension::Sleep { nanoseconds } = suspension {
                    self.sleeping_until = Some(host.now().saturating_add(nanoseconds));
                }
                Resumed::Suspended(run)
            }
            Step::Done(result) => {
                self.faults.extend(result.as_ref().err().cloned());
                Resumed::Done(result)
            }
        }
    }

    fn give_up(&mut self, failure: Failure) {
        self.stage = Stage::Unreserve(failure, None);
    }

    /// The plugin died in a call: nothing tells whether the writes that it made belong together.
    fn died(&mut self, host: &mut dyn BindingHost) {
        self.deaths += 1;
        host.settle(self.pod.id());
        let writes = host.writes_since(self.writes_before_call);
        if !writes.is_empty() {
            self.warnings.push(format!(
                "the plugin died after it had written: {}",
                writes.join(", ")
            ));
        }
    }

    fn bound(&mut self, host: &mut dyn BindingHost) -> Option<Ending> {
        self.sweep(host);
        Some(Ending::Bound)
    }

    fn returned(&mut self, failure: Failure, host: &mut dyn BindingHost) -> Option<Ending> {
        self.sweep(host);
        Some(Ending::Failed(failure))
    }

    /// No entry in the ledger outlives the attempt that made it.
    fn sweep(&mut self, host: &mut dyn BindingHost) {
        let left = host.clean_ledger(self.pod.id());
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(ToString::to_string).collect();
            self.warnings.push(format!(
                "the plugin left claims in flight, which were removed: {}",
                left.join(", ")
            ));
        }
    }
}

#[cfg(test)]
mod tests;
