//! Plugins to compare, and what one run of a scheduler with one of them takes.

use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dractl::cluster::{Cluster, Settings as ClusterSettings};
use dractl::cycle::Strategy;
use dractl::object::Object;
use dractl::plugin::{BUILT_IN, CompileCache, Component, Plugin, Runtime, Settings};
use dractl::report::Report;
use dractl::report::collect::collect;
use dractl::scheduler::chooser::OneAtATime;
use dractl::scheduler::{Scheduler, Settings as SchedulerSettings};
use tests::native::Native;

/// The three that are compared.
pub struct Plugins {
    runtimes: [Runtime; 2],
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// The same code, linked into this program. Its binding calls run without the stops that would need a thread: what a stop costs
    /// there, the component does not spend.
    Native,
    /// As it always runs.
    Wasm,
    /// Compiled without looks at the clock.
    WasmWithoutEpochs,
}

impl Built {
    pub const ALL: [Self; 3] = [Self::Native, Self::Wasm, Self::WasmWithoutEpochs];
}

pub fn load(runtime: &Runtime) -> Component {
    runtime
        .load(BUILT_IN, "the built-in plugin", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

impl Plugins {
    pub fn new() -> Self {
        let made = [
            Runtime::new(&CompileCache::User),
            Runtime::without_deadlines(&CompileCache::User),
        ];
        Self {
            runtimes: made.map(|runtime| runtime.unwrap_or_else(|error| panic!("{error}"))),
        }
    }

    /// A plugin that has run nothing yet.
    pub fn make(&self, built: Built) -> Rc<dyn Plugin> {
        match built {
            Built::Native => Rc::new(Native::new("{}").without_stops()),
            Built::Wasm => Rc::new(load(&self.runtimes[0])),
            Built::WasmWithoutEpochs => Rc::new(load(&self.runtimes[1])),
        }
    }
}

/// What a run took, and what came out.
pub struct Run {
    /// From nothing to the end of the first cycle: the plugin reads the cluster.
    pub first: Duration,
    /// The rest.
    pub rest: Duration,
    /// Cycles of the rest.
    pub cycles: u64,
    /// Nodes visited in the rest.
    pub nodes: u64,
    /// Linear memory at most.
    pub memory: u64,
    pub report: Report,
}

impl Run {
    pub fn per_node(&self) -> Duration {
        self.rest / u32::try_from(self.nodes.max(1)).unwrap_or(u32::MAX)
    }

    pub fn per_pod(&self) -> Duration {
        self.rest / u32::try_from(self.cycles.max(1)).unwrap_or(u32::MAX)
    }

    /// Pod, verdict, node and devices, for comparing.
    pub fn placements(&self) -> Vec<String> {
        let pods = self.report.pods.iter();
        pods.map(|pod| {
            let devices: Vec<_> = pod
                .claims
                .iter()
                .map(|claim| (&claim.name, &claim.devices))
                .collect();
            format!("{} {:?} {:?} {devices:?}", pod.name, pod.verdict, pod.node)
        })
        .collect()
    }
}

pub fn cluster(objects: &[Object]) -> Arc<Mutex<Cluster>> {
    let mut cluster = Cluster::new(ClusterSettings::default());
    cluster.load(objects.to_vec());
    Arc::new(Mutex::new(cluster))
}

pub fn scheduler(
    cluster: &Arc<Mutex<Cluster>>,
    plugin: Rc<dyn Plugin>,
    strategy: Strategy,
) -> Scheduler {
    let settings = SchedulerSettings {
        strategy,
        ..SchedulerSettings::default()
    };
    Scheduler::new(cluster.clone(), plugin, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Time that this thread spent on a processor, which other programs do not disturb; where the system does not tell, time as it
/// passes.
fn worked() -> Duration {
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    // The system adds up at its ticks, every few milliseconds, and when it chooses who runs next.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed(), Duration::from_nanos)
}

/// Places all pods, after those of `warm_up` cycles.
pub fn run(objects: &[Object], plugin: Rc<dyn Plugin>, strategy: Strategy, warm_up: u64) -> Run {
    let cluster = cluster(objects);
    let start = cluster
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clock();
    let begun = worked();
    let mut scheduler = scheduler(&cluster, plugin.clone(), strategy);
    while scheduler.counts().cycles < warm_up && scheduler.step(&mut OneAtATime) {}
    let (first, before) = (worked() - begun, scheduler.counts());
    let begun = worked();
    scheduler.run(&mut OneAtATime);
    let (rest, after) = (worked() - begun, scheduler.counts());
    let outcomes = scheduler.outcomes();
    let report = {
        let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        collect(&outcomes, scheduler.notes(), &cluster, start)
    };
    Run {
        first,
        rest,
        cycles: after.cycles - before.cycles,
        nodes: after.nodes_visited - before.nodes_visited,
        memory: plugin.stats().peak_memory_bytes,
        report,
    }
}

/// The shortest of several times.
pub fn shortest(rounds: usize, mut run: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| run()).min().unwrap_or_default()
}
