//! One pod's way through the plugin, call by call, behind the host's plugin trait.

use std::sync::{Arc, Mutex, MutexGuard};

use dractl::object::Object;
use dractl::plugin::{
    BindingCall, Code, CycleId, Nomination, Plan, Plugin, PluginError, Progress,
    SchedulingInstance, Scope, SharedServices, Slot, Status, Step, Suspension,
};

use super::double::{Double, shared};

/// A pod, an instance of the plugin, and what stands behind it.
pub struct Driver<'a> {
    plugin: &'a dyn Plugin,
    /// For calls outside a cycle.
    pub instance: Box<dyn SchedulingInstance>,
    double: Arc<Mutex<Double>>,
    services: SharedServices,
    pod: Object,
    cycle: Option<CycleId>,
    /// Whatever Reserve or PreBind returned last.
    pub plan: Option<Plan>,
}

impl<'a> Driver<'a> {
    /// A new instance of the plugin.
    pub fn new(plugin: &'a dyn Plugin, double: Double, pod: Object) -> Result<Self, PluginError> {
        let double = shared(double);
        let services: SharedServices = double.clone();
        Ok(Self {
            plugin,
            instance: plugin.scheduling(services.clone())?,
            double,
            services,
            pod,
            cycle: None,
            plan: None,
        })
    }

    /// What stands behind the plugin. Must not be held during a call.
    pub fn double(&self) -> MutexGuard<'_, Double> {
        self.double
            .lock()
            .unwrap_or_else(|broken| broken.into_inner())
    }

    /// PreEnqueue.
    pub fn pre_enqueue(&mut self) -> Result<Status, String> {
        self.instance.pre_enqueue(&self.pod).map_err(text)
    }

    /// PreFilter; a scope becomes a status as upstream has it.
    pub fn pre_filter(&mut self) -> Result<Status, String> {
        let at = self.double().revision();
        let (cycle, scope) = self.instance.pre_filter(&self.pod, at).map_err(text)?;
        self.cycle = Some(cycle);
        match scope {
            Scope::Rejected(status) => Ok(status),
            Scope::Skip => Ok(Status {
                code: Code::Skip,
                reasons: Vec::new(),
            }),
            Scope::AllNodes => Ok(Status::success()),
            Scope::Only(slots) => Err(format!("only nodes {slots:?}")),
        }
    }

    /// Filter for one node.
    pub fn filter(&mut self, slot: Slot) -> Result<Status, String> {
        let cycle = self.cycle()?;
        let mut answers = self.instance.filter(cycle, &[slot]).map_err(text)?;
        match answers.verdicts.as_slice() {
            [verdict] if (*verdict as usize) < answers.statuses.len() => {
                Ok(answers.statuses.swap_remove(*verdict as usize))
            }
            verdicts => Err(format!("verdicts {verdicts:?} for one node")),
        }
    }

    /// PostFilter, which never nominates a node.
    pub fn post_filter(&mut self) -> Result<Status, String> {
        let cycle = self.cycle()?;
        let Nomination { status, node } = self.instance.post_filter(cycle).map_err(text)?;
        match node {
            None => Ok(status),
            Some(node) => Err(format!("nominated {node}")),
        }
    }

    /// PreScore.
    pub fn pre_score(&mut self, slots: &[Slot]) -> Result<Status, String> {
        let cycle = self.cycle()?;
        self.instance.pre_score(cycle, slots).map_err(text)
    }

    /// Reserve; keeps the plan.
    pub fn reserve(&mut self, slot: Slot) -> Result<Status, String> {
        let cycle = self.cycle()?;
        let Progress { status, plan } = self.instance.reserve(cycle, slot).map_err(text)?;
        self.plan = Some(plan);
        Ok(status)
    }

    /// PreBind; keeps the plan.
    pub fn pre_bind(&mut self, node: &str) -> Result<Status, String> {
        let plan = self.plan.clone().unwrap_or_default();
        let (pod, node) = (self.pod.clone(), node.to_owned());
        match self.bind(BindingCall::PreBind { pod, node, plan })? {
            Some(Progress { status, plan }) => {
                self.plan = Some(plan);
                Ok(status)
            }
            None => Err("PreBind without an outcome".into()),
        }
    }

    /// Unreserve.
    pub fn unreserve(&mut self, node: &str) -> Result<(), String> {
        let plan = self.plan.clone();
        let (pod, node) = (self.pod.clone(), node.to_owned());
        self.bind(BindingCall::Unreserve { pod, node, plan })
            .map(|_| ())
    }

    /// PostBind.
    pub fn post_bind(&mut self, node: &str) -> Result<(), String> {
        let plan = self.plan.clone().unwrap_or_default();
        let (pod, node) = (self.pod.clone(), node.to_owned());
        self.bind(BindingCall::PostBind { pod, node, plan })
            .map(|_| ())
    }

    /// The cycle is over.
    pub fn end_cycle(&mut self) -> Result<(), String> {
        match self.cycle.take() {
            Some(cycle) => self.instance.end_cycle(cycle).map_err(text),
            None => Ok(()),
        }
    }

    fn cycle(&self) -> Result<CycleId, String> {
        self.cycle
            .ok_or_else(|| "there was no PreFilter".to_owned())
    }

    /// Runs a binding call to its end; sleeping makes the double's clock advance.
    fn bind(&mut self, call: BindingCall) -> Result<Option<Progress>, String> {
        let mut run = self
            .plugin
            .binding(self.services.clone(), call)
            .map_err(text)?;
        loop {
            match run.resume() {
                Step::Done(outcome) => return outcome.map_err(text),
                Step::Suspended(Suspension::Sleep { nanoseconds }) => {
                    let mut double = self.double();
                    double.now += nanoseconds;
                    double.journal.push(format!("sleep {nanoseconds}"));
                }
                Step::Suspended(_) => {}
            }
        }
    }
}

fn text(error: PluginError) -> String {
    error.to_string()
}
