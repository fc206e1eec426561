//! Runs one or several plugins under a load that never rests, with faults, lagging caches and swaps, and counts what must not
//! happen. What a plugin's author lets run over night.
//!
//! Everything but the latencies follows from the seed, unless the clock is the machine's.

mod latency;
mod report;
mod versions;

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::{SECOND, Stopwatch, pause};
use crate::cluster::{Cluster, Settings as ClusterSettings};
use crate::generations::{Notice, SelfCheck};
use crate::plugin::{LogLevel, PluginError};
use crate::scheduler::chooser::{Chooser, OneAtATime, Shuffled, Task};
use crate::scheduler::{Counts, Scheduler, Settings as SchedulerSettings};
use crate::stand_ins::accounting;
use crate::stand_ins::troubles::Troubles;
use crate::stand_ins::users::{Size, Users};

use latency::Latencies;
pub use latency::Quantiles;
pub use report::Report;
pub use versions::{Source, Versions};

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of the load, the faults and the order of everything.
    pub seed: u64,
    /// How many scheduling cycles.
    pub cycles: u64,
    /// A swap after so many cycles; zero: only when a file changes.
    pub swap_every: u64,
    /// Cycles that a new version runs beside the active one.
    pub check: SelfCheck,
    /// Whether the clock is the machine's.
    pub real_time: bool,
    /// How large the cluster is.
    pub size: Size,
}

/// Steps of the scheduler between two deeds of its users, at most.
const STEPS: usize = 12;
/// Cycles after a switch that still count as in the swap: caches are cold.
const AFTERMATH: u64 = 3;
/// Rounds without a cycle after which a run ends: the plugin keeps all pods out of the queue, or cannot run.
const STANDSTILL: u32 = 2_000;
/// Longest wait on a real clock before users and files are looked at again.
const GLANCE: u64 = SECOND / 100;
/// Real time between two reports of progress.
const PROGRESS: u64 = 2 * SECOND;
/// Virtual time after which a deed follows although no step was possible.
const IDLE: u64 = SECOND;

/// Runs until the plan is fulfilled, or `progress` breaks it off. That is told how things stand every two seconds, and when a
/// version came in or was refused that was not on the schedule.
pub fn run(
    plan: &Plan,
    versions: &mut Versions,
    progress: &mut dyn FnMut(&Report) -> ControlFlow<()>,
) -> Result<Report, PluginError> {
    let mut soak = Soak::new(plan, versions)?;
    let mut told = Stopwatch::start();
    let (mut cycles, mut idle) = (0, 0);
    while soak.cycles() < plan.cycles {
        let news = soak.round(versions);
        if news || told.nanoseconds() >= PROGRESS {
            told = Stopwatch::start();
            if progress(&soak.report).is_break() {
                break;
            }
        }
        idle = if soak.cycles() > cycles { 0 } else { idle + 1 };
        cycles = soak.cycles();
        // On a real clock somebody may be about to put a better version there.
        if idle > STANDSTILL && (plan.swap_every > 0 || !plan.real_time) {
            let stopped = format!("no pod was tried in {STANDSTILL} rounds");
            soak.report.violated(vec![stopped]);
            break;
        }
    }
    Ok(soak.finish())
}

struct Soak<'a> {
    plan: &'a Plan,
    cluster: Arc<Mutex<Cluster>>,
    scheduler: Scheduler,
    users: Users,
    troubles: Troubles,
    random: fastrand::Rng,
    order: Shuffled,
    latencies: Latencies,
    report: Report,
    next_swap: u64,
    /// A version is tried, or was switched to a few cycles ago.
    swap_ends: Option<u64>,
    checking: bool,
    stopwatch: Stopwatch,
    started_at: u64,
    last_time: u64,
}

impl<'a> Soak<'a> {
    fn new(plan: &'a Plan, versions: &mut Versions) -> Result<Self, PluginError> {
        let mut cluster = Cluster::new(ClusterSettings {
            seed: plan.seed,
            log_level: LogLevel::Error,
            ..ClusterSettings::default()
        });
        let users = Users::new(plan.size, plan.seed);
        cluster.load(users.first_objects());
        let started_at = cluster.clock();
        let cluster = Arc::new(Mutex::new(cluster));
        let scheduler = Scheduler::new(
            cluster.clone(),
            versions.first(),
            SchedulerSettings::default(),
        )?;
        Ok(Self {
            plan,
            cluster,
            scheduler,
            users,
            troubles: Troubles::new(plan.seed ^ 1),
            random: fastrand::Rng::with_seed(plan.seed ^ 2),
            order: Shuffled::new(plan.seed ^ 3),
            latencies: Latencies::default(),
            report: Report {
                seed: plan.seed,
                ..Report::default()
            },
            next_swap: plan.swap_every,
            swap_ends: None,
            checking: false,
            stopwatch: Stopwatch::start(),
            started_at,
            last_time: started_at,
        })
    }

    fn cycles(&self) -> u64 {
        self.scheduler.counts().cycles
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        lock(&self.cluster)
    }

    /// Somebody does something, something goes wrong perhaps, and the scheduler takes some steps. `true` if something happened
    /// that was not on the schedule.
    fn round(&mut self, versions: &mut Versions) -> bool {
        let before = (
            self.report.swaps,
            self.report.refusals,
            self.report.rollbacks,
        );
        {
            let mut cluster = lock(&self.cluster);
            // Users meet faults as well; they try again in a later round.
            let _ = self.users.act(&mut cluster);
            self.report.faults += self.troubles.cause(&mut cluster);
        }
        let mut moved = false;
        for _ in 0..self.random.usize(1..=STEPS) {
            if self.cycles() >= self.plan.cycles || !self.step() {
                break;
            }
            moved = true;
            self.swap_if_due(versions);
        }
        if !moved {
            self.idle();
        }
        self.take_notices();
        let found = accounting::violations(&self.cluster());
        self.report.violated(found);
        self.report.count(self.scheduler.counts());
        let after = (
            self.report.swaps,
            self.report.refusals,
            self.report.rollbacks,
        );
        self.plan.swap_every == 0 && before != after
    }

    fn step(&mut self) -> bool {
        let before = self.cycles();
        let mut chooser = Paced {
            order: &mut self.order,
            real: self.plan.real_time.then_some(self.started_at),
            stopwatch: self.stopwatch,
        };
        let stopwatch = Stopwatch::start();
        let moved = self.scheduler.step(&mut chooser);
        // A cache that lags longer than a backoff shows a pod its own past, which upstream does not survive either.
        let now = self.cluster().clock();
        if now > self.last_time {
            self.last_time = now;
            self.troubles.relent(&mut lock(&self.cluster));
        }
        if self.cycles() > before {
            let in_swap = self.checking || self.swap_ends.is_some();
            self.latencies.add(in_swap, stopwatch.nanoseconds());
        }
        moved
    }

    fn idle(&mut self) {
        match self.plan.real_time {
            true => pause(GLANCE),
            false => {
                let now = self.cluster().clock();
                self.cluster().advance_to(now + IDLE);
            }
        }
        self.keep_time();
    }

    /// The cluster's clock follows the machine's.
    fn keep_time(&mut self) {
        if self.plan.real_time {
            let now = self.started_at + self.stopwatch.nanoseconds();
            self.cluster().advance_to(now);
        }
    }

    fn swap_if_due(&mut self, versions: &mut Versions) {
        self.keep_time();
        let cycles = self.cycles();
        if self.swap_ends.is_some_and(|ends| cycles >= ends) {
            self.swap_ends = None;
        }
        let scheduled = self.plan.swap_every > 0 && cycles >= self.next_swap;
        let next = match scheduled {
            true => {
                self.next_swap = cycles + self.plan.swap_every;
                Some(versions.next_in_turn())
            }
            false => versions.changed(),
        };
        match next {
            None => return,
            Some(Ok(plugin)) => {
                // What went wrong is told as a notice as well.
                let _ = self.scheduler.propose(plugin, self.plan.check);
            }
            Some(Err(error)) => self.report.refused(error.to_string()),
        }
        self.take_notices();
    }

    fn take_notices(&mut self) {
        for notice in self.scheduler.take_notices() {
            match notice {
                Notice::Checking(_) => self.checking = true,
                Notice::Switched { .. } => {
                    self.checking = false;
                    self.swap_ends = Some(self.cycles() + AFTERMATH);
                    self.report.swaps += 1;
                }
                Notice::Refused { .. } => {
                    self.checking = false;
                    self.report.refused(notice.to_string());
                }
                Notice::RolledBack { .. } => {
                    self.report.rollbacks += 1;
                    self.report.remember(notice.to_string());
                }
                Notice::Failed { .. } => {
                    self.report.traps += 1;
                    self.report.remember(notice.to_string());
                }
                Notice::Expired { .. } | Notice::Resting { .. } | Notice::Differs { .. } => {
                    self.report.remember(notice.to_string());
                }
                Notice::Freed(_) => self.report.freed += 1,
            }
        }
    }

    /// What is on its way arrives, everybody leaves, and nothing may be left. The cycles of that are not counted.
    fn finish(mut self) -> Report {
        let cycles = self.cycles();
        self.troubles.end(&mut lock(&self.cluster));
        self.scheduler.run(&mut OneAtATime);
        let mut found = {
            let cluster = self.cluster();
            let mut found = accounting::violations(&cluster);
            found.extend(accounting::left_in_flight(&cluster));
            found
        };
        {
            let mut cluster = lock(&self.cluster);
            if let Err(error) = self.users.leave(&mut cluster) {
                found.push(format!("the cluster could not be emptied: {error}"));
            }
        }
        self.scheduler.run(&mut OneAtATime);
        self.take_notices();
        let counts = self.scheduler.counts();
        if counts.cycles > 0 && counts.bound == 0 {
            found.push(format!(
                "no pod was bound in {} cycles, so that next to nothing was tried",
                counts.cycles
            ));
        }
        self.report.violated(found);
        self.report.count(Counts { cycles, ..counts });
        self.report.outside = self.latencies.outside();
        self.report.inside = self.latencies.inside();
        self.report.seconds = self.stopwatch.nanoseconds() as f64 / SECOND as f64;
        self.report
    }
}

/// The order of the seed; on a real clock, waiting takes its time.
struct Paced<'a> {
    order: &'a mut Shuffled,
    real: Option<u64>,
    stopwatch: Stopwatch,
}

impl Chooser for Paced<'_> {
    fn choose(&mut self, tasks: &[Task]) -> usize {
        if self.real.is_none() {
            return self.order.choose(tasks);
        }
        let work: Vec<usize> = (0..tasks.len())
            .filter(|&index| !matches!(tasks[index], Task::Wait { .. }))
            .collect();
        if work.is_empty() {
            return 0;
        }
        let chosen: Vec<Task> = work.iter().map(|&index| tasks[index].clone()).collect();
        work[self.order.choose(&chosen).min(work.len() - 1)]
    }

    fn considers_time(&self) -> bool {
        self.real.is_none()
    }

    /// Users and files do not wait for the end of a pod's backoff.
    fn wait(&mut self, until: u64) -> u64 {
        let Some(started_at) = self.real else {
            return until;
        };
        let now = started_at + self.stopwatch.nanoseconds();
        pause(until.saturating_sub(now).min(GLANCE));
        until.min(started_at + self.stopwatch.nanoseconds())
    }
}

fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
