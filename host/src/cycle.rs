//! One scheduling cycle: PreFilter, Filter, PostFilter or PreScore and Score, Reserve (upstream's `schedulingCycle`, spec
//! sections 2.1 to 2.3).
//!
//! It decides and writes nothing itself; what it decided goes on in [`crate::binding_cycle`]. Texts around a plugin's own message
//! are the framework's.

use std::fmt;
use std::sync::Arc;

use crate::object::Object;
use crate::plugin::{
    Code, CycleId, Description, Plan, PluginError, Revision, SchedulingInstance, Scope, Slot,
    Status,
};
use crate::queue::Rejection;

pub mod refusals;
pub mod search;
mod select;

use refusals::Refusals;
use search::Search;

/// Where a pod's attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the framework's names")]
pub enum Point {
    PreEnqueue,
    PreFilter,
    Filter,
    PostFilter,
    PreScore,
    Score,
    Reserve,
    PreBind,
    Bind,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A node as cycles see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number in the contract.
    pub slot: Slot,
    /// Name.
    pub name: Arc<str>,
}

/// How many feasible nodes a cycle looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Every node is visited, so that the feasible ones are known completely.
    #[default]
    AllNodes,
    /// The first feasible node is taken; the next pod starts behind the nodes that this one visited.
    FirstFeasible,
}

impl Strategy {
    /// After how many feasible nodes the search ends.
    fn wanted(self) -> usize {
        match self {
            Self::AllNodes => usize::MAX,
            Self::FirstFeasible => 1,
        }
    }

    /// Where the pod after one that started at `start` and visited `visited` of `nodes` starts.
    pub fn next_start(self, start: usize, visited: usize, nodes: usize) -> usize {
        match self {
            Self::AllNodes => 0,
            Self::FirstFeasible if nodes == 0 => 0,
            Self::FirstFeasible => (start % nodes + visited) % nodes,
        }
    }
}

/// The native basic filters, for one pod.
pub trait NodeCheck {
    /// The first filter that refuses the node, by upstream's name.
    fn check(&self, node: &Node) -> Option<(Arc<str>, Status)>;
}

/// What a cycle works on.
pub struct Input<'a> {
    /// The pod.
    pub pod: &'a Object,
    /// Newest revision that the plugin may see.
    pub at: Revision,
    /// All nodes, by name.
    pub nodes: &'a [Node],
    /// Native filters.
    pub native: &'a dyn NodeCheck,
    /// How far to search.
    pub strategy: Strategy,
    /// Index of the first node.
    pub start: usize,
    /// How many names of nodes to keep per reason.
    pub names: usize,
}

/// Why an attempt did not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Where.
    pub at: Point,
    /// Code and text.
    pub status: Status,
    /// What may help.
    pub rejection: Rejection,
}

impl Failure {
    /// An attempt that was aborted.
    pub fn error(at: Point, message: impl Into<String>) -> Self {
        Self {
            at,
            status: Status::new(Code::Error, message),
            rejection: Rejection::default(),
        }
    }

    /// A pod that PreEnqueue keeps out. Its plugin's events may help, whatever the code.
    pub fn gated(plugin: &str, status: Status) -> Self {
        let rejection = Rejection {
            rejectors: [plugin.into()].into(),
            ..Rejection::default()
        };
        Self {
            at: Point::PreEnqueue,
            status,
            rejection,
        }
    }

    /// A plugin's answer other than success. What is not a refusal becomes an error, with the framework's words around it.
    pub fn of(at: Point, plugin: &str, status: Status) -> Self {
        if !status.code.is_rejected() {
            return Self::error(at, framework_error(at, plugin, &status));
        }
        let mut rejection = Rejection::default();
        // Only a Pending of Reserve skips the backoff later (spec section 2.3).
        match (at, status.code) {
            (Point::Reserve, Code::Pending) => rejection.pending.insert(plugin.into()),
            _ => rejection.rejectors.insert(plugin.into()),
        };
        Self {
            at,
            status,
            rejection,
        }
    }
}

/// The node that an attempt had reached when it failed, and what Unreserve needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// Node.
    pub node: Arc<str>,
    /// Absent if Reserve returned none.
    pub plan: Option<Plan>,
}

/// How a cycle ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Goes on in the binding cycle.
    Reserved {
        /// Node.
        node: Arc<str>,
        /// For the binding calls; absent if the plugin does not reserve.
        plan: Option<Plan>,
    },
    /// The pod is not placed now.
    Failed {
        /// Why.
        failure: Failure,
        /// What Unreserve has to undo.
        undo: Option<Undo>,
    },
}

/// What one cycle found out.
#[derive(Debug)]
pub struct Attempt {
    /// How it ended.
    pub outcome: Outcome,
    /// Why nodes were refused.
    pub refusals: Refusals,
    /// Nodes that were left, in the order visited.
    pub feasible: Vec<Node>,
    /// How many nodes were looked at.
    pub visited: usize,
    /// The plugin died; its instance must not be used again.
    pub died: Option<PluginError>,
}

/// Runs one cycle. The instance is unusable afterwards if `died` is set.
pub fn schedule(
    instance: &mut dyn SchedulingInstance,
    description: &Description,
    input: &Input<'_>,
) -> Attempt {
    let mut cycle = Cycle {
        instance,
        description,
        input,
        search: Search::new(input.names),
        undo: None,
        reached: Point::PreFilter,
    };
    let (outcome, died) = match cycle.run() {
        Ok(outcome) => (outcome, None),
        Err(Stop::Failed(failure)) => (
            Outcome::Failed {
                failure: *failure,
                undo: cycle.undo.take(),
            },
            None,
        ),
        Err(Stop::Died(error)) => {
            let failure = Failure::error(cycle.reached, error.to_string());
            (
                Outcome::Failed {
                    failure,
                    undo: cycle.undo.take(),
                },
                Some(*error),
            )
        }
    };
    let Search {
        refusals,
        feasible,
        visited,
    } = cycle.search;
    Attempt {
        outcome,
        refusals,
        feasible,
        visited,
        died,
    }
}

/// What ends a cycle early.
enum Stop {
    Failed(Box<Failure>),
    Died(Box<PluginError>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure.into())
    }
}

impl From<PluginError> for Stop {
    fn from(error: PluginError) -> Self {
        Self::Died(error.into())
    }
}

struct Cycle<'a> {
    instance: &'a mut dyn SchedulingInstance,
    description: &'a Description,
    input: &'a Input<'a>,
    search: Search,
    undo: Option<Undo>,
    reached: Point,
}

impl Cycle<'_> {
    fn run(&mut self) -> Result<Outcome, Stop> {
        if self.input.nodes.is_empty() {
            let status = Status::new(
                Code::UnschedulableAndUnresolvable,
                "no nodes available to schedule pods",
            );
            return Err(Failure {
                at: Point::Filter,
                status,
                rejection: Rejection::default(),
            }
            .into());
        }
        let (id, scope) = self.instance.pre_filter(self.input.pod, self.input.at)?;
        let outcome = self.run_in(id, scope);
        // A dead instance took its cycles with it.
        if matches!(outcome, Err(Stop::Died(_))) {
            return outcome;
        }
        if let Err(error) = self.instance.end_cycle(id) {
            if let Ok(Outcome::Reserved { node, plan }) = outcome
                && plan.is_some()
            {
                self.undo = Some(Undo { node, plan });
            }
            return Err(error.into());
        }
        outcome
    }

    fn run_in(&mut self, id: CycleId, scope: Scope) -> Result<Outcome, Stop> {
        if let Scope::Rejected(status) = scope {
            return self.rejected(id, status);
        }
        self.reached = Point::Filter;
        let has_filter = self.description.has_point("filter");
        self.search.run(
            self.instance,
            id,
            self.input,
            &scope,
            has_filter,
            &self.description.name,
        )?;
        if self.search.feasible.is_empty() {
            let failure = self.none_left(&scope);
            return self.post_filter(id, failure);
        }
        let node = self.select(id)?;
        self.reserve(id, node)
    }

    fn rejected(&mut self, id: CycleId, status: Status) -> Result<Outcome, Stop> {
        let name = &self.description.name;
        self.search.refusals.add_for_pod(name, &status);
        let failure = Failure::of(Point::PreFilter, name, status);
        match failure.status.code {
            Code::Error => Err(failure.into()),
            _ => self.post_filter(id, failure),
        }
    }

    /// No node is left: who is to blame, and what the pod is told.
    fn none_left(&self, scope: &Scope) -> Failure {
        let refusals = &self.search.refusals;
        let mut rejection = Rejection {
            rejectors: refusals.plugins(),
            ..Rejection::default()
        };
        if matches!(scope, Scope::Only(_)) {
            rejection
                .rejectors
                .insert(self.description.name.as_str().into());
        }
        let status = Status::new(refusals.code(), refusals.sentence(self.input.nodes.len()));
        Failure {
            at: Point::Filter,
            status,
            rejection,
        }
    }

    fn post_filter(&mut self, id: CycleId, mut failure: Failure) -> Result<Outcome, Stop> {
        if self.description.has_point("post-filter") {
            self.reached = Point::PostFilter;
            // A nominated node matters to preemption only, which this host does not do.
            let nomination = self.instance.post_filter(id)?;
            // What nobody can place before its object is corrected is not helped by what PostFilter may say.
            let unreadable = failure.status.code == Code::InvalidObject;
            if !nomination.status.reasons.is_empty() && !unreadable {
                let message = format!(
                    "{}. {}",
                    failure.status.message(),
                    nomination.status.message()
                );
                failure.status.reasons = vec![message];
            }
        }
        Err(failure.into())
    }

    fn select(&mut self, id: CycleId) -> Result<Node, Stop> {
        let nodes = &self.search.feasible;
        let slots: Vec<Slot> = nodes.iter().map(|node| node.slot).collect();
        let mut scores = None;
        if slots.len() > 1 {
            let mut scored = self.description.has_point("score");
            if self.description.has_point("pre-score") {
                self.reached = Point::PreScore;
                let status = self.instance.pre_score(id, &slots)?;
                match status.code {
                    Code::Success => {}
                    Code::Skip => scored = false,
                    _ => return Err(self.aborted(Point::PreScore, &status).into()),
                }
            }
            if scored {
                self.reached = Point::Score;
                let answer = self.instance.score(id, &slots)?;
                scores = Some(answer.map_err(|status| self.aborted(Point::Score, &status))?);
            }
        }
        let choice = select::choose(&self.search.feasible, scores.as_deref());
        choice
            .cloned()
            .map_err(|message| Failure::error(Point::Score, message).into())
    }

    fn aborted(&self, at: Point, status: &Status) -> Failure {
        Failure::error(at, framework_error(at, &self.description.name, status))
    }

    fn reserve(&mut self, id: CycleId, node: Node) -> Result<Outcome, Stop> {
        if !self.description.has_point("reserve") {
            return Ok(Outcome::Reserved {
                node: node.name,
                plan: None,
            });
        }
        self.reached = Point::Reserve;
        self.undo = Some(Undo {
            node: node.name.clone(),
            plan: None,
        });
        let progress = self.instance.reserve(id, node.slot)?;
        if progress.status.code == Code::Success {
            self.undo = None;
            return Ok(Outcome::Reserved {
                node: node.name,
                plan: Some(progress.plan),
            });
        }
        self.search
            .refusals
            .add_for_pod(&self.description.name, &progress.status);
        self.undo = Some(Undo {
            node: node.name,
            plan: Some(progress.plan),
        });
        Err(Failure::of(Point::Reserve, &self.description.name, progress.status).into())
    }
}

/// The framework's words around a failure that is not a refusal (spec section 2.1).
pub fn framework_error(at: Point, plugin: &str, status: &Status) -> String {
    let message = status.message();
    match at {
        Point::Filter => format!("running \"{plugin}\" filter plugin: {message}"),
        at => format!("running {at} plugin \"{plugin}\": {message}"),
    }
}

#[cfg(test)]
mod tests;
