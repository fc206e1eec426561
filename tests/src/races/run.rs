//! One case: the scheduler in steps, the chaos between them, then the end.

use std::rc::Rc;

use dractl::api::Caller;
use dractl::plugin::Plugin;
use dractl::scheduler::chooser::Task;
use dractl::scheduler::outcome::Ended as PodEnded;
use dractl::scheduler::{Scheduler, Settings};
use serde_json::{Value, json};

use super::chaos::{Chaos, clean};
use super::watched::Watched;
use super::world::{CLAIM, POD, World, of, stored};
use super::{classic, invariants};

/// A case takes fewer steps, whatever happens in it.
const MAX_STEPS: usize = 5_000;

/// Whether a case is told step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    Off,
    Printed,
}

impl Trace {
    pub fn say(self, line: impl FnOnce() -> String) {
        if self == Self::Printed {
            crate::conformance::say(&line());
        }
    }
}

/// How a case ended.
#[derive(Debug, PartialEq)]
pub struct Ended {
    /// Pods with a node.
    pub bound: u64,
    /// Attempts of all pods.
    pub attempts: u64,
    /// Calls of the plugin that failed.
    pub failed_calls: u64,
    /// Claims and pods as they are stored.
    pub objects: Vec<Value>,
}

/// Runs a case to its end. The error says what did not hold.
pub fn run(mut world: World, plugin: Rc<Watched>, trace: Trace) -> Result<Ended, String> {
    let settings = Settings {
        names: 0,
        ..Settings::default()
    };
    let shared: Rc<dyn Plugin> = plugin.clone();
    let mut scheduler = Scheduler::new(world.cluster.clone(), shared, settings)
        .map_err(|error| error.to_string())?;
    let mut chaos = Chaos::default();
    let disturbed = world.rng.usize(6..32);
    for _ in 0..disturbed {
        chaos.act(&mut world, trace);
        step(&mut scheduler, &mut world, trace)?;
    }
    chaos.settle(&mut world, trace);
    finish(&mut scheduler, &mut world, trace)?;
    if clean(&mut world, trace) {
        finish(&mut scheduler, &mut world, trace)?;
    }
    let mut outcomes = scheduler.outcomes();
    invariants::finally(&world, &outcomes, false)?;
    if outcomes.iter().any(invariants::ended_in_error) {
        kick(&world, trace);
        finish(&mut scheduler, &mut world, trace)?;
        outcomes = scheduler.outcomes();
        invariants::finally(&world, &outcomes, true)?;
    }
    plugin.check()?;
    let is_bound = |ended: &PodEnded| matches!(ended, PodEnded::Bound { .. });
    let cluster = world.cluster();
    let failed = |call: &&dractl::api::Call| call.caller == Caller::Plugin && call.error.is_some();
    Ok(Ended {
        bound: outcomes.iter().filter(|pod| is_bound(&pod.ended)).count() as u64,
        attempts: outcomes.iter().map(|pod| u64::from(pod.attempts)).sum(),
        failed_calls: cluster.stored().journal().filter(failed).count() as u64,
        objects: [CLAIM, POD]
            .iter()
            .flat_map(|kind| stored(&cluster, kind))
            .map(|object| object.value().clone())
            .collect(),
    })
}

/// One step in a random order; `false`: there is nothing to do.
fn step(scheduler: &mut Scheduler, world: &mut World, trace: Trace) -> Result<bool, String> {
    let before = state(world);
    let rng = &mut world.rng;
    let mut chooser = |tasks: &[Task]| {
        let chosen = rng.usize(..tasks.len().max(1));
        trace.say(|| tasks.get(chosen).map_or_else(String::new, told));
        chosen
    };
    let busy = scheduler.step(&mut chooser);
    if before != state(world) {
        invariants::during(&world.cluster(), world.literal())?;
    }
    Ok(busy)
}

/// Changes when a cache, the ledger or the server does.
fn state(world: &World) -> (u64, u64) {
    let cluster = world.cluster();
    (cluster.revision(), cluster.stored().calls_made())
}

fn told(task: &Task) -> String {
    match task {
        Task::Binding { pod, point, .. } => format!("{}: {point}", pod.name),
        Task::Wait { until } => format!("waits until {until}"),
        Task::Cycle => "a scheduling cycle".into(),
    }
}

/// Goes on, in a random order, until there is nothing left to do for anybody.
fn finish(scheduler: &mut Scheduler, world: &mut World, trace: Trace) -> Result<(), String> {
    for _ in 0..MAX_STEPS {
        let busy = step(scheduler, world, trace)?;
        let driven = !busy && world.classic() && classic::drive(&mut world.cluster());
        if !busy && !driven {
            return Ok(());
        }
    }
    Err(format!("no end after {MAX_STEPS} steps"))
}

/// Something changes that concerns no claim: what ended in an error is tried again.
fn kick(world: &World, trace: Trace) {
    trace.say(|| "a node without devices appears".into());
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}});
    world.cluster().load(vec![of(node)]);
}
