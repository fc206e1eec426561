//! What a pod costs call by call: where the part goes that does not depend on the number of nodes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use dractl::cycle::Strategy;
use dractl::object::Object;
use dractl::plugin::{
    Answers, BindingCall, BindingRun, CallStats, CycleId, Description, Exports, Hint, Interest,
    Nomination, ObjectEvent, Plugin, PluginError, Progress, Revision, SchedulingInstance, Scope,
    SharedServices, Slot, Status, Step,
};

use crate::cluster::{Kind, generate};
use crate::run::{Built, Plugins, run};
use crate::table::{Table, microseconds, ratio};

/// Durations of calls, by name.
type Log = Rc<RefCell<BTreeMap<&'static str, Vec<Duration>>>>;

/// A plugin whose calls are timed.
struct Timed {
    plugin: Rc<dyn Plugin>,
    log: Log,
}

struct TimedInstance {
    instance: Box<dyn SchedulingInstance>,
    log: Log,
}

struct TimedBinding {
    run: Box<dyn BindingRun>,
    name: &'static str,
    /// Of the stretches so far.
    spent: Duration,
    log: Log,
}

fn note(log: &Log, name: &'static str, time: Duration) {
    log.borrow_mut().entry(name).or_default().push(time);
}

fn timed<R>(log: &Log, name: &'static str, call: impl FnOnce() -> R) -> R {
    let begun = Instant::now();
    let result = call();
    note(log, name, begun.elapsed());
    result
}

impl Plugin for Timed {
    fn description(&self) -> &Description {
        self.plugin.description()
    }

    fn exports(&self) -> Exports {
        self.plugin.exports()
    }

    fn scheduling(
        &self,
        services: SharedServices,
    ) -> Result<Box<dyn SchedulingInstance>, PluginError> {
        let instance = self.plugin.scheduling(services)?;
        let log = self.log.clone();
        Ok(Box::new(TimedInstance { instance, log }))
    }

    fn binding(
        &self,
        services: SharedServices,
        call: BindingCall,
    ) -> Result<Box<dyn BindingRun>, PluginError> {
        let name = call.name();
        let begun = Instant::now();
        let run = self.plugin.binding(services, call)?;
        Ok(Box::new(TimedBinding {
            run,
            name,
            spent: begun.elapsed(),
            log: self.log.clone(),
        }))
    }

    fn drop_idle(&self) {
        self.plugin.drop_idle();
    }

    fn stats(&self) -> CallStats {
        self.plugin.stats()
    }
}

impl SchedulingInstance for TimedInstance {
    fn events_to_register(&mut self) -> Result<Vec<Interest>, PluginError> {
        self.instance.events_to_register()
    }

    fn pre_enqueue(&mut self, pod: &Object) -> Result<Status, PluginError> {
        timed(&self.log, "pre-enqueue", || self.instance.pre_enqueue(pod))
    }

    fn hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Vec<Result<Hint, String>>, PluginError> {
        timed(&self.log, "hints", || self.instance.hints(event, pods))
    }

    fn pre_filter(&mut self, pod: &Object, at: Revision) -> Result<(CycleId, Scope), PluginError> {
        timed(&self.log, "pre-filter", || {
            self.instance.pre_filter(pod, at)
        })
    }

    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Answers, PluginError> {
        timed(&self.log, "filter", || self.instance.filter(cycle, nodes))
    }

    fn post_filter(&mut self, cycle: CycleId) -> Result<Nomination, PluginError> {
        timed(&self.log, "post-filter", || {
            self.instance.post_filter(cycle)
        })
    }

    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Status, PluginError> {
        timed(&self.log, "pre-score", || {
            self.instance.pre_score(cycle, nodes)
        })
    }

    fn score(
        &mut self,
        cycle: CycleId,
        nodes: &[Slot],
    ) -> Result<Result<Vec<i64>, Status>, PluginError> {
        timed(&self.log, "score", || self.instance.score(cycle, nodes))
    }

    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Result<Progress, PluginError> {
        timed(&self.log, "reserve", || self.instance.reserve(cycle, node))
    }

    fn end_cycle(&mut self, cycle: CycleId) -> Result<(), PluginError> {
        timed(&self.log, "end-cycle", || self.instance.end_cycle(cycle))
    }
}

impl BindingRun for TimedBinding {
    fn resume(&mut self) -> Step {
        let begun = Instant::now();
        let step = self.run.resume();
        self.spent += begun.elapsed();
        if matches!(step, Step::Done(_)) {
            note(&self.log, self.name, self.spent);
        }
        step
    }
}

/// Durations of the calls of pods that take the first feasible node of 1,000, and of everything.
fn calls_of(plugins: &Plugins, built: Built, objects: &[Object]) -> (Log, u64, Duration) {
    let log = Log::default();
    let plugin = Timed {
        plugin: plugins.make(built),
        log: log.clone(),
    };
    let run = run(objects, Rc::new(plugin), Strategy::FirstFeasible, 31);
    (log, run.cycles, run.per_pod())
}

/// Medians, which one disturbance does not move.
pub fn by_call(plugins: &Plugins) {
    for kind in Kind::ALL {
        let table = Table::new(
            &format!(
                "A pod call by call, the first feasible node of 1,000: {}",
                kind.name()
            ),
            &[
                "call",
                "calls per pod",
                "wasm / native",
                "us per call: native",
                "wasm",
            ],
        );
        let pods = if kind == Kind::Match4 { 91 } else { 331 };
        let generated = generate(kind, 1_000, 8, pods);
        let [native, wasm] =
            [Built::Native, Built::Wasm].map(|built| calls_of(plugins, built, &generated.objects));
        let wasm_log = wasm.0.borrow();
        for (name, times) in native.0.borrow().iter() {
            let Some(others) = wasm_log.get(name) else {
                continue;
            };
            let [native, wasm] = [times, others].map(|times| median(times));
            table.row(&[
                (*name).to_owned(),
                format!("{:.1}", times.len() as f64 / f64::from(pods as u32)),
                ratio(wasm, native),
                microseconds(native),
                microseconds(wasm),
            ]);
        }
        table.row(&[
            "all, and the host".to_owned(),
            "1".to_owned(),
            ratio(wasm.2, native.2),
            microseconds(native.2),
            microseconds(wasm.2),
        ]);
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
