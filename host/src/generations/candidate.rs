//! A new version that runs beside the active one until its answers are trusted.

use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use super::shadow::{Shadow, describe_in_flight, describe_write};
use super::{Generation, SelfCheck};
use crate::api::{Caller, Operation};
use crate::cluster::Cluster;
use crate::cycle::refusals::Refusal;
use crate::cycle::{Attempt, Input, Outcome, schedule};
use crate::object::Object;
use crate::plugin::{PluginError, Revision, SchedulingInstance, Verb};
use crate::queue::Time;

/// The version, its instance, and what is left of its trial.
pub(crate) struct Candidate {
    pub generation: Rc<Generation>,
    pub check: SelfCheck,
    instance: Box<dyn SchedulingInstance>,
    shadow: Arc<Mutex<Shadow>>,
    left: u32,
    ends: Time,
}

impl Candidate {
    /// Makes an instance and lets it read the whole cluster.
    pub fn start(
        generation: Rc<Generation>,
        cluster: &Arc<Mutex<Cluster>>,
        check: SelfCheck,
    ) -> Result<Self, PluginError> {
        let shadow = Arc::new(Mutex::new(Shadow::new(cluster.clone())));
        let instance = generation.plugin().scheduling(shadow.clone())?;
        let (now, revision) = {
            let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
            (cluster.clock(), cluster.revision())
        };
        let mut candidate = Self {
            generation,
            check,
            instance,
            shadow,
            left: check.cycles,
            ends: now.saturating_add(check.longest),
        };
        candidate.warm_up(revision)?;
        Ok(candidate)
    }

    /// Whatever it says about this pod, it has read the cluster afterwards.
    fn warm_up(&mut self, at: Revision) -> Result<(), PluginError> {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": "kube-system", "name": "warm-up", "uid": "warm-up"},
            "spec": {"containers": []},
        });
        let Ok(pod) = Object::from_value(pod) else {
            return Ok(());
        };
        let (cycle, _) = self.instance.pre_filter(&pod, at)?;
        self.instance.end_cycle(cycle)
    }

    /// Runs a cycle that changes nothing. To be called before the active generation runs it.
    pub fn run(&mut self, input: &Input<'_>) -> Result<Seen, PluginError> {
        self.shadow().begin();
        let description = self.generation.plugin().description().clone();
        let attempt = schedule(self.instance.as_mut(), &description, input);
        let mut deeds = self.shadow().take_deeds();
        deeds.sort();
        match attempt.died {
            Some(error) => Err(error),
            None => Ok(Seen {
                verdict: Verdict::of(&attempt),
                deeds: Deeds(deeds),
            }),
        }
    }

    /// One more cycle has been compared.
    pub fn count(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// Whether it has been tried enough.
    pub fn is_done(&self, now: Time) -> bool {
        self.left == 0 || now >= self.ends
    }

    /// It serves: its instance, which knows the cluster already, may write from now on.
    pub fn serve(self) -> (Rc<Generation>, Box<dyn SchedulingInstance>) {
        self.shadow().serve();
        (self.generation, self.instance)
    }

    fn shadow(&self) -> MutexGuard<'_, Shadow> {
        self.shadow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one generation made of a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub verdict: Verdict,
    pub deeds: Deeds,
}

impl Seen {
    /// In what it differs from what the active generation made of the same cycle.
    pub fn difference(&self, active: &Seen) -> Option<String> {
        let (new, old) = (&self.verdict, &active.verdict);
        if new.outcome != old.outcome {
            return Some(format!("{} instead of {}", new.outcome, old.outcome));
        }
        if new.feasible != old.feasible {
            let (new, old) = (new.feasible.join(", "), old.feasible.join(", "));
            return Some(format!("feasible nodes [{new}] instead of [{old}]"));
        }
        if new.refusals != old.refusals {
            let describe = |refusals: &[Refusal]| {
                let one =
                    |refusal: &Refusal| format!("{} {}", refusal.count, refusal.status.message());
                refusals.iter().map(one).collect::<Vec<_>>().join("; ")
            };
            let (new, old) = (describe(&new.refusals), describe(&old.refusals));
            return Some(format!("refusals [{new}] instead of [{old}]"));
        }
        if self.deeds != active.deeds {
            let (new, old) = (self.deeds.0.join("; "), active.deeds.0.join("; "));
            return Some(format!("decides [{new}] instead of [{old}]"));
        }
        None
    }
}

/// What a cycle said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    outcome: String,
    feasible: Vec<Arc<str>>,
    refusals: Vec<Refusal>,
}

impl Verdict {
    pub fn of(attempt: &Attempt) -> Self {
        let outcome = match &attempt.outcome {
            Outcome::Reserved { node, .. } => format!("a place on {node}"),
            Outcome::Failed { failure, .. } => {
                let (code, message) = (failure.status.code.name(), failure.status.message());
                format!("{code} at {}: {message}", failure.at)
            }
        };
        let feasible = attempt.feasible.iter();
        Self {
            outcome,
            feasible: feasible.map(|node| node.name.clone()).collect(),
            refusals: attempt.refusals.sorted(),
        }
    }
}

/// What a cycle wrote: allocations in flight, and writes to the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deeds(Vec<String>);

impl Deeds {
    /// Of the active generation, whose deeds took effect: what the pod holds in flight, and the calls since there were
    /// `since`.
    pub fn of_active(cluster: &Cluster, pod_uid: &str, since: u64) -> Self {
        let held = cluster
            .in_flight()
            .filter(|entry| entry.holder == pod_uid)
            .map(describe_in_flight);
        let journal = cluster
            .stored()
            .journal()
            .filter(|call| call.sequence >= since && call.caller == Caller::Plugin);
        let writes = journal.filter_map(|call| match call.operation {
            Operation::Api(verb) if verb != Verb::Get => {
                Some(describe_write(verb, &call.target.kind, &call.target.name))
            }
            _ => None,
        });
        let mut deeds: Vec<String> = held.chain(writes).collect();
        deeds.sort();
        Self(deeds)
    }
}
