//! What the host asks of a plugin: the exported interfaces as one trait. What a plugin asks of the host is in
//! [`crate::services`].
//!
//! The component in wasmtime (`component`) is one implementation of `Plugin`; the same plugin linked natively, in tests and
//! benchmarks, is the other. Types are those of the contract in `wit/`, where the rules of each call stand; only
//! `host/src/plugin/` names wasmtime.

use std::sync::Arc;

use crate::object::{Kind, Object};
pub use crate::services::*;

/// Contract: `types.revision`.
pub type Revision = u64;
/// Contract: `cluster.slot`.
pub type Slot = u32;
/// Contract: `types.plan`.
pub type Plan = Arc<[u8]>;

/// Contract: `types.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Code {
    Success,
    Error,
    Unschedulable,
    UnschedulableAndUnresolvable,
    Wait,
    Skip,
    Pending,
    InvalidObject,
}

impl Code {
    /// The contract's name, which the JSON output uses too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Unschedulable => "unschedulable",
            Self::UnschedulableAndUnresolvable => "unschedulable-and-unresolvable",
            Self::Wait => "wait",
            Self::Skip => "skip",
            Self::Pending => "pending",
            Self::InvalidObject => "invalid-object",
        }
    }

    /// Whether a pod with it waits for events (spec section 2.1, *rejected*), as opposed to success and failure.
    pub fn is_rejected(self) -> bool {
        matches!(
            self,
            Self::Unschedulable
                | Self::UnschedulableAndUnresolvable
                | Self::Pending
                | Self::InvalidObject
        )
    }
}

/// Contract: `types.status`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status {
    /// Code.
    pub code: Code,
    /// Why; empty for success.
    pub reasons: Vec<String>,
}

impl Status {
    /// Success.
    pub fn success() -> Self {
        Self {
            code: Code::Success,
            reasons: Vec::new(),
        }
    }

    /// Any code with one reason.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Self {
            code,
            reasons: vec![reason.into()],
        }
    }

    /// All reasons in one line, as upstream's `Message` joins them.
    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }
}

/// Contract: `lifecycle.verb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Verb {
    Get,
    Create,
    Update,
    UpdateStatus,
    PatchStatus,
    Apply,
    Delete,
}

/// Contract: `lifecycle.access`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Kind.
    pub kind: Kind,
    /// API versions, preferred first.
    pub versions: Vec<String>,
    /// Follows and looks up.
    pub read: bool,
    /// Calls it makes.
    pub verbs: Vec<Verb>,
}

/// Contract: `lifecycle.description`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Name in reports.
    pub name: String,
    /// Version, for people.
    pub version: String,
    /// Calls that do something.
    pub points: Vec<String>,
    /// What it reads and writes.
    pub accesses: Vec<Access>,
}

impl Description {
    /// Whether a call is worth making.
    pub fn has_point(&self, name: &str) -> bool {
        self.points.iter().any(|point| point == name)
    }

    /// The kind with this text. Refuses one that was not declared as read.
    pub fn readable(&self, kind: &str) -> Result<Kind, ApiError> {
        let mut read = self.accesses.iter().filter(|access| access.read);
        match read.find(|access| access.kind.as_str() == kind) {
            Some(access) => Ok(access.kind.clone()),
            None => Err(self.forbidden(format!("read {kind}"))),
        }
    }

    /// Refuses a call that was not declared.
    pub fn check_verb(&self, kind: &Kind, verb: Verb) -> Result<(), ApiError> {
        match self
            .accesses
            .iter()
            .any(|access| access.kind == *kind && access.verbs.contains(&verb))
        {
            true => Ok(()),
            false => Err(self.forbidden(format!("{verb:?} {kind}"))),
        }
    }

    fn forbidden(&self, what: String) -> ApiError {
        let message = format!("plugin {} did not declare that it would {what}", self.name);
        ApiError {
            reason: ApiErrorReason::Forbidden,
            message,
        }
    }
}

/// Contract: `enqueue.action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Action {
    Add,
    Update,
    Delete,
}

/// Contract: `enqueue.interest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// Kind.
    pub kind: Kind,
    /// Which actions.
    pub actions: Vec<Action>,
    /// Ask before waking.
    pub hinted: bool,
}

/// Contract: `enqueue.event`. What happened to one object as the host's caches saw it.
#[derive(Clone, Debug)]
pub struct ObjectEvent {
    /// Kind.
    pub kind: Kind,
    /// What happened.
    pub action: Action,
    /// Absent for `Add`.
    pub old: Option<Object>,
    /// Absent for `Delete`.
    pub new: Option<Object>,
}

/// Contract: `enqueue.hint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Hint {
    Skip,
    Queue,
}

/// Contract: `scheduling.scope`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Scope {
    AllNodes,
    Only(Vec<Slot>),
    Skip,
    Rejected(Status),
}

/// Contract: `scheduling.answers`, checked: every verdict has its status, and there is one per node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// Index into `statuses`, per node.
    pub verdicts: Vec<u32>,
    /// Distinct statuses.
    pub statuses: Vec<Status>,
}

/// Contract: `scheduling.reserved` and `binding.progress`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Outcome.
    pub status: Status,
    /// What later calls get, whatever the outcome.
    pub plan: Plan,
}

/// Contract: `scheduling.nomination`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nomination {
    /// Outcome.
    pub status: Status,
    /// Node where the pod will probably fit.
    pub node: Option<Slot>,
}

/// A cycle of one scheduling instance; means nothing to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CycleId(pub u64);

/// Which optional interfaces a plugin exports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub struct Exports {
    pub enqueue: bool,
    pub waiting: bool,
    pub binding: bool,
    pub explain: bool,
    pub advice: bool,
}

/// One version of a plugin, ready to make instances: the host's view of a generation.
pub trait Plugin {
    /// What it is.
    fn description(&self) -> &Description;

    /// What it exports beside `lifecycle` and `scheduling`.
    fn exports(&self) -> Exports;

    /// Makes a configured scheduling instance that reads and writes through `services`.
    fn scheduling(
        &self,
        services: SharedServices,
    ) -> Result<Box<dyn SchedulingInstance>, PluginError>;

    /// Starts a call of `binding` on an idle instance. Nothing runs before the first `resume`.
    fn binding(
        &self,
        services: SharedServices,
        call: BindingCall,
    ) -> Result<Box<dyn BindingRun>, PluginError>;

    /// Drops instances that wait for work: the plugin has been replaced and will get little more.
    fn drop_idle(&self) {}

    /// Costs so far, over all instances.
    fn stats(&self) -> CallStats;
}

/// One instance that serves scheduling cycles, and everything else that does not block. After an error it must be dropped.
pub trait SchedulingInstance {
    /// `enqueue.events-to-register`; without `enqueue` empty.
    fn events_to_register(&mut self) -> Result<Vec<Interest>, PluginError>;
    /// `enqueue.pre-enqueue`.
    fn pre_enqueue(&mut self, pod: &Object) -> Result<Status, PluginError>;
    /// `enqueue.hints`, or `waiting.hints` if there is one; the answers have the order of `pods`.
    fn hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Vec<Result<Hint, String>>, PluginError>;
    /// `scheduling.pre-filter`. Fails with `Fault::Stale` if the instance has not read up to `at` afterwards.
    fn pre_filter(&mut self, pod: &Object, at: Revision) -> Result<(CycleId, Scope), PluginError>;
    /// `cycle.filter`.
    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Answers, PluginError>;
    /// `cycle.post-filter`.
    fn post_filter(&mut self, cycle: CycleId) -> Result<Nomination, PluginError>;
    /// `cycle.pre-score`.
    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Status, PluginError>;
    /// `cycle.score`, not yet brought to 0..100.
    fn score(
        &mut self,
        cycle: CycleId,
        nodes: &[Slot],
    ) -> Result<Result<Vec<i64>, Status>, PluginError>;
    /// `cycle.reserve`.
    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Result<Progress, PluginError>;
    /// Ends the cycle: the guest's resource is dropped.
    fn end_cycle(&mut self, cycle: CycleId) -> Result<(), PluginError>;
}

/// A call of `binding`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum BindingCall {
    PreBind {
        pod: Object,
        node: String,
        plan: Plan,
    },
    Unreserve {
        pod: Object,
        node: String,
        plan: Option<Plan>,
    },
    PostBind {
        pod: Object,
        node: String,
        plan: Plan,
    },
}

impl BindingCall {
    /// The pod that the call is about.
    pub fn pod(&self) -> &Object {
        match self {
            Self::PreBind { pod, .. }
            | Self::Unreserve { pod, .. }
            | Self::PostBind { pod, .. } => pod,
        }
    }

    /// The contract's name of the function.
    pub fn name(&self) -> &'static str {
        match self {
            Self::PreBind { .. } => "pre-bind",
            Self::Unreserve { .. } => "unreserve",
            Self::PostBind { .. } => "post-bind",
        }
    }
}

/// A running call of `binding`, which goes on only when it is resumed.
pub trait BindingRun {
    /// Runs up to the next suspension, or to the end. Must not be called again after `Done`.
    ///
    /// An import takes effect when the run is resumed after it was announced, not before.
    fn resume(&mut self) -> Step;
}

/// Where a binding call stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It is about to make this import.
    Suspended(Suspension),
    /// It returned; `Some` for `pre-bind`.
    Done(Result<Option<Progress>, PluginError>),
}

/// The import at which a binding call waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// A call of `api`.
    Api(Verb),
    /// A call of `ledger` or `cluster`, by name.
    State(&'static str),
    /// `clock.sleep`: resume when the clock has advanced this far.
    Sleep {
        /// How long.
        nanoseconds: u64,
    },
}

mod advisor;
mod binding;
mod builtin;
mod component;
mod contract;
mod convert;
mod engine;
mod error;
mod failure;
mod grant;
mod imports;
mod inspect;
mod instance;
mod limits;
mod load;
mod nothing;
mod output;
mod scheduling;
mod state;
mod stats;
mod suspend;
mod verify;
mod waiting;
mod wasi;

pub use advisor::{Advisor, Finding, Severity};
pub use builtin::BUILT_IN;
pub use component::Component;
pub use engine::{CompileCache, Runtime};
pub use error::{Fault, PluginError};
pub use grant::Grant;
pub use inspect::Inspection;
pub use limits::Limits;
pub use load::{LoadError, Problem, Settings};
pub use stats::{CallStats, Census};
pub use verify::Unusable;
