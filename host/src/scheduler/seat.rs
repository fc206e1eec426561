//! The active generation's scheduling instance, and how another generation takes its place.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::cluster::Cluster;
use crate::cycle::{Attempt, Input};
use crate::generations::{
    Candidate, Deeds, Draining, Generation, Health, Label, Notice, Policy, Probation, Seen,
    SelfCheck, Verdict,
};
use crate::object::{Object, ObjectRef};
use crate::plugin::{
    Code, Description, Fault, Hint, LogLevel, ObjectEvent, Plugin, PluginError, SchedulingInstance,
    Services, Status,
};
use crate::queue::interests::Interests;
use crate::queue::{Advisor, Gate, Time};

use super::intake::scheduling_gates;
use super::{lock, native};

/// Holds the instance.
pub struct Seat {
    cluster: Arc<Mutex<Cluster>>,
    policy: Policy,
    active: Rc<Generation>,
    instance: Option<Box<dyn SchedulingInstance>>,
    health: Health,
    probation: Option<Probation>,
    candidate: Option<Candidate>,
    draining: Vec<Draining>,
    last_number: u64,
    /// Set when another generation has become the active one.
    new_interests: Option<Interests>,
    notices: Vec<Notice>,
}

impl Seat {
    /// Nothing is instantiated yet.
    pub fn new(plugin: Rc<dyn Plugin>, cluster: Arc<Mutex<Cluster>>, policy: Policy) -> Self {
        Self {
            cluster,
            policy,
            active: Rc::new(Generation::new(1, plugin)),
            instance: None,
            health: Health::default(),
            probation: None,
            candidate: None,
            draining: Vec::new(),
            last_number: 1,
            new_interests: None,
            notices: Vec::new(),
        }
    }

    /// The active generation.
    pub fn generation(&self) -> Rc<Generation> {
        self.active.clone()
    }

    /// What the active version says about itself.
    pub fn description(&self) -> &Description {
        self.active.plugin().description()
    }

    /// The instance; a fresh one if there is none.
    pub fn instance(&mut self) -> Result<&mut dyn SchedulingInstance, PluginError> {
        let instance = match self.instance.take() {
            Some(instance) => instance,
            None => self.active.plugin().scheduling(self.cluster.clone())?,
        };
        Ok(self.instance.insert(instance).as_mut())
    }

    /// What happened since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// Tries a version beside the active one, or makes it the active one if nothing is to be compared. An error leaves the
    /// active one as it is; the same is told as a notice.
    pub fn propose(
        &mut self,
        plugin: Rc<dyn Plugin>,
        check: SelfCheck,
    ) -> Result<Label, PluginError> {
        self.last_number += 1;
        let generation = Rc::new(Generation::new(self.last_number, plugin));
        let label = generation.label();
        if let Some(other) = self.candidate.take() {
            self.refuse(other, "another version was proposed".to_owned());
        }
        let started = self
            .check_points(&generation, check)
            .and_then(|()| Candidate::start(generation, &self.cluster, check));
        let candidate = match started {
            Ok(candidate) => candidate,
            Err(error) => {
                self.notices.push(Notice::Refused {
                    candidate: label,
                    why: error.to_string(),
                });
                return Err(error);
            }
        };
        match check.cycles {
            0 => self.promote(candidate)?,
            _ => {
                self.notices.push(Notice::Checking(label.clone()));
                self.candidate = Some(candidate);
            }
        }
        Ok(label)
    }

    /// A version that no longer does what the active one does would let pods pass that it ought to stop.
    fn check_points(&self, new: &Generation, check: SelfCheck) -> Result<(), PluginError> {
        let description = new.plugin().description();
        let lost = self
            .description()
            .points
            .iter()
            .find(|point| !description.has_point(point));
        match lost.filter(|_| check.cycles > 0 && !check.accept_changes) {
            None => Ok(()),
            Some(point) => Err(PluginError {
                fault: Fault::Start,
                plugin: new.label().plugin,
                call: "describe".to_owned(),
                cause: format!("it leaves out {point}, which the active version serves"),
            }),
        }
    }

    /// A cycle is about to begin: the candidate runs it first, on the same revision.
    pub fn rehearse(&mut self, input: &Input<'_>) -> Option<Rehearsal> {
        let candidate = self.candidate.as_mut()?;
        match candidate.run(input) {
            Ok(seen) => Some(Rehearsal {
                seen,
                calls: lock(&self.cluster).stored().calls_made(),
            }),
            Err(error) => {
                let candidate = self.candidate.take()?;
                self.refuse(candidate, error.to_string());
                None
            }
        }
    }

    /// The cycle has ended: compares.
    pub fn compare(&mut self, pod: &ObjectRef, rehearsal: Rehearsal, attempt: &Attempt) {
        // A cycle in which the active one died says nothing about the other.
        if attempt.died.is_some() {
            return;
        }
        let active = Seen {
            verdict: Verdict::of(attempt),
            deeds: Deeds::of_active(&lock(&self.cluster), &pod.uid, rehearsal.calls),
        };
        let Some(candidate) = &mut self.candidate else {
            return;
        };
        candidate.count();
        let Some(difference) = rehearsal.seen.difference(&active) else {
            return;
        };
        let how = format!("{pod}: {difference}");
        self.notices.push(Notice::Differs {
            candidate: candidate.generation.label(),
            how: how.clone(),
        });
        if !candidate.check.accept_changes
            && let Some(candidate) = self.candidate.take()
        {
            self.refuse(candidate, format!("it decides otherwise: {how}"));
        }
    }

    /// A cycle of the active generation ended without a failure of the plugin.
    pub fn succeeded(&mut self) {
        self.health.succeeded();
        if let Some(probation) = &mut self.probation {
            probation.succeeded();
        }
    }

    /// A call of the scheduling instance failed, which is gone.
    pub fn died(&mut self, error: PluginError) {
        self.instance = None;
        self.failed(&self.generation(), error);
    }

    /// A call of a generation failed.
    pub fn failed(&mut self, generation: &Generation, error: PluginError) {
        let why = error.to_string();
        self.notices.push(Notice::Failed {
            generation: generation.label(),
            error,
        });
        if generation.number() != self.active.number() {
            return;
        }
        let now = self.now();
        if let Some(probation) = self.probation.take_if(|probation| !probation.is_over(now)) {
            return self.roll_back(probation.previous, why);
        }
        if let Some(until) = self.health.failed(now, &self.policy) {
            self.notices.push(Notice::Resting {
                generation: self.active.label(),
                length: until.saturating_sub(now),
                until,
            });
        }
    }

    /// Until when no cycle may begin, because the plugin failed too often.
    pub fn rests_until(&self, now: Time) -> Option<Time> {
        self.health.rests_until(now)
    }

    /// Until when no instance is made, because the plugin failed too often, if there is none. Gates and hints wait for that as
    /// cycles do: otherwise each event would start the plugin once more, only to see it fail.
    fn absent_until(&self) -> Option<Time> {
        self.rests_until(self.now())
            .filter(|_| self.instance.is_none())
    }

    fn resting(&self) -> String {
        let Description { name, version, .. } = self.description();
        format!("plugin {name} {version} is not asked, because it failed too often and rests")
    }

    /// When the next replaced generation has to have finished.
    pub fn next_expiry(&self) -> Option<Time> {
        self.draining.iter().map(|old| old.until).min()
    }

    /// Does what is due: promotes a candidate, ends a probation, lets go of what has ended. Returns the generations whose
    /// time to finish is over.
    pub fn tend(&mut self) -> Vec<Label> {
        let now = self.now();
        if let Some(candidate) = self.candidate.take_if(|candidate| candidate.is_done(now)) {
            // What went wrong has been told.
            let _ = self.promote(candidate);
        }
        self.probation.take_if(|probation| probation.is_over(now));
        let (gone, staying) = std::mem::take(&mut self.draining)
            .into_iter()
            .partition(Draining::is_gone);
        self.draining = staying;
        let gone: Vec<Draining> = gone;
        self.notices
            .extend(gone.into_iter().map(|old| Notice::Freed(old.label)));
        let due = self.draining.iter_mut().filter(|old| old.until <= now);
        due.map(|old| {
            // What is undone has to come to an end as well.
            old.until = now.saturating_add(self.policy.drain);
            old.label.clone()
        })
        .collect()
    }

    /// Attempts of a generation were undone.
    pub fn expired(&mut self, generation: Label, pods: Vec<String>) {
        self.notices.push(Notice::Expired { generation, pods });
    }

    /// What the queue has to heed from now on, if that has changed.
    pub fn take_interests(&mut self) -> Option<Interests> {
        self.new_interests.take()
    }

    /// Makes a candidate the active generation, unless it fails at the last moment.
    fn promote(&mut self, candidate: Candidate) -> Result<(), PluginError> {
        let (generation, mut instance) = candidate.serve();
        let interests = match interests(&generation, instance.as_mut()) {
            Ok(interests) => interests,
            Err(error) => {
                self.notices.push(Notice::Refused {
                    candidate: generation.label(),
                    why: error.to_string(),
                });
                return Err(error);
            }
        };
        let to = generation.label();
        let previous = self.replace(generation, Some(instance));
        self.new_interests = Some(interests);
        self.notices.push(Notice::Switched {
            from: previous.label(),
            to,
        });
        self.probation = Some(Probation::new(previous, self.now(), &self.policy));
        Ok(())
    }

    fn roll_back(&mut self, previous: Rc<Generation>, why: String) {
        let to = previous.label();
        self.draining.retain(|old| old.label != to);
        let failed = self.replace(previous, None);
        self.notices.push(Notice::RolledBack {
            from: failed.label(),
            to,
            why,
        });
        self.new_interests = Some(self.interests().unwrap_or_else(|error| {
            self.log(&format!(
                "every event wakes pods, because the plugin did not say which: {error}"
            ));
            let mut interests = Interests::new();
            native::register(&mut interests);
            interests.register_everything(&self.description().name);
            interests
        }));
    }

    /// The old generation drains.
    fn replace(
        &mut self,
        generation: Rc<Generation>,
        instance: Option<Box<dyn SchedulingInstance>>,
    ) -> Rc<Generation> {
        let until = self.now().saturating_add(self.policy.drain);
        let old = std::mem::replace(&mut self.active, generation);
        self.instance = instance;
        self.health = Health::default();
        self.draining.push(Draining::new(&old, until));
        old.plugin().drop_idle();
        old
    }

    fn refuse(&mut self, candidate: Candidate, why: String) {
        let candidate = candidate.generation.label();
        self.notices.push(Notice::Refused { candidate, why });
    }

    /// Events that may help refused pods: the plugin's and those of the native filters.
    pub fn interests(&mut self) -> Result<Interests, PluginError> {
        let generation = self.generation();
        self.call(|instance| interests(&generation, instance))
    }

    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut dyn SchedulingInstance) -> Result<T, PluginError>,
    ) -> Result<T, PluginError> {
        let result = self.instance().and_then(call);
        if let Err(error) = &result {
            self.died(error.clone());
        }
        result
    }

    fn log(&self, message: &str) {
        lock(&self.cluster).log(LogLevel::Warn, "scheduler", message, &[]);
    }

    fn now(&self) -> Time {
        lock(&self.cluster).clock()
    }
}

/// What a candidate made of the cycle that the active generation runs next.
pub struct Rehearsal {
    seen: Seen,
    /// How many calls of the API there had been before.
    calls: u64,
}

fn interests(
    generation: &Generation,
    instance: &mut dyn SchedulingInstance,
) -> Result<Interests, PluginError> {
    let mut interests = Interests::new();
    native::register(&mut interests);
    let name = &generation.plugin().description().name;
    let registered = instance.events_to_register()?;
    match generation.plugin().exports().enqueue {
        true => interests.register(name, registered),
        false => interests.register_everything(name),
    }
    Ok(interests)
}

impl Advisor for Seat {
    fn pre_enqueue(&mut self, pod: &Object) -> Result<(), Gate> {
        if let Some(status) = scheduling_gates(pod) {
            return Err(Gate {
                plugin: "SchedulingGates".into(),
                status,
                ask_at: None,
            });
        }
        if !self.active.plugin().exports().enqueue || !self.description().has_point("pre-enqueue") {
            return Ok(());
        }
        let ask_at = self.absent_until();
        let status = match ask_at {
            Some(_) => Status::new(Code::Error, self.resting()),
            None => self
                .call(|instance| instance.pre_enqueue(pod))
                .unwrap_or_else(|error| Status::new(Code::Error, error.to_string())),
        };
        match status.code {
            Code::Success => Ok(()),
            _ => Err(Gate {
                plugin: Arc::from(self.description().name.as_str()),
                status,
                ask_at,
            }),
        }
    }

    fn hints(&mut self, _plugin: &str, event: &ObjectEvent, pods: &[Object]) -> Vec<Hint> {
        if self.absent_until().is_some() {
            self.log(&format!("{}; all pods that wait are woken", self.resting()));
            return vec![Hint::Queue; pods.len()];
        }
        match self.call(|instance| instance.hints(event, pods)) {
            Ok(answers) => answers
                .into_iter()
                .map(|answer| {
                    answer.unwrap_or_else(|error| {
                        self.log(&format!("a hint failed, which wakes the pod: {error}"));
                        Hint::Queue
                    })
                })
                .collect(),
            Err(error) => {
                self.log(&format!(
                    "hints failed, which wakes all pods that wait: {error}"
                ));
                vec![Hint::Queue; pods.len()]
            }
        }
    }
}
