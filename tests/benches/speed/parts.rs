//! What single steps take: an empty Filter, a changed slice, reading, starting, swapping.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dractl::cluster::Cluster;
use dractl::cycle::Strategy;
use dractl::manifest;
use dractl::object::{Kind as ObjectKind, Object};
use dractl::plugin::{CompileCache, Runtime, SchedulingInstance, Scope, Slot};
use dractl::scheduler::chooser::OneAtATime;
use serde_json::json;

use crate::cluster::{Generated, Kind, claim, class, generate, node, object, pod, request, slice};
use crate::run::{Built, Plugins, cluster, load, run, scheduler, shortest};
use crate::table::{Table, microseconds, milliseconds, ratio};

pub fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn slots(cluster: &Mutex<Cluster>) -> Vec<Slot> {
    let cluster = lock(cluster);
    let kind = ObjectKind::new("Node");
    let nodes = cluster.list(&kind);
    nodes.map(|entry| entry.slot).collect()
}

pub fn instance(
    plugins: &Plugins,
    built: Built,
    cluster: &Arc<Mutex<Cluster>>,
) -> Box<dyn SchedulingInstance> {
    plugins
        .make(built)
        .scheduling(cluster.clone())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// How many nodes a pod fits on, in a cycle of its own.
pub fn feasible(
    instance: &mut dyn SchedulingInstance,
    cluster: &Mutex<Cluster>,
    pod: &Object,
    nodes: &[Slot],
) -> usize {
    let at = lock(cluster).revision();
    let (cycle, scope) = instance
        .pre_filter(pod, at)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(!matches!(scope, Scope::Rejected(_)), "{scope:?}");
    let answers = instance
        .filter(cycle, nodes)
        .unwrap_or_else(|error| panic!("{error}"));
    instance
        .end_cycle(cycle)
        .unwrap_or_else(|error| panic!("{error}"));
    let fits =
        |verdict: &&u32| answers.statuses[**verdict as usize].code == dractl::plugin::Code::Success;
    answers.verdicts.iter().filter(fits).count()
}

/// Into the plugin and back, 1,024 nodes at a time, for a pod that asks for nothing.
pub fn empty_filter(plugins: &Plugins) {
    let table = Table::new(
        "Empty Filter, 1,024 nodes a call",
        &["plugin", "ns per node", "us per call"],
    );
    let generated = generate(Kind::Selector, 1_024, 1, 0);
    let cluster = cluster(&generated.objects);
    let nodes = slots(&cluster);
    let pod = object(pod("empty", &[]));
    for built in Built::ALL {
        let mut instance = instance(plugins, built, &cluster);
        let at = lock(&cluster).revision();
        let (cycle, _) = instance
            .pre_filter(&pod, at)
            .unwrap_or_else(|error| panic!("{error}"));
        const CALLS: u32 = 2_000;
        let best = shortest(5, || {
            let begun = Instant::now();
            for _ in 0..CALLS {
                let answers = instance
                    .filter(cycle, &nodes)
                    .unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(answers.verdicts.len(), nodes.len());
                assert_eq!(answers.statuses.len(), 1);
            }
            begun.elapsed() / CALLS
        });
        let per_node = best.as_secs_f64() * 1e9 / nodes.len() as f64;
        table.row(&[
            format!("{built:?}"),
            format!("{per_node:.1}"),
            microseconds(best),
        ]);
    }
}

/// A driver publishes the slice of one node of 5,000 anew, and the next pod sees it.
pub fn slice_update(plugins: &Plugins) {
    let table = Table::new(
        "A slice of eight devices changes, up to the next verdict on its node",
        &["nodes", "wasm / native", "us: native", "wasm"],
    );
    for nodes in [1_000, 5_000] {
        let times = [Built::Native, Built::Wasm].map(|built| update_in(plugins, built, nodes));
        table.row(&[
            nodes.to_string(),
            ratio(times[1], times[0]),
            microseconds(times[0]),
            microseconds(times[1]),
        ]);
    }
}

fn update_in(plugins: &Plugins, built: Built, nodes: usize) -> Duration {
    let mut objects = generate(Kind::Selector, nodes, 8, 0).objects;
    let named = "changing".to_owned();
    let asks = json!({"requests": [request("r", json!({"count": 8}))]});
    objects.extend([object(claim(&named, asks)), object(node("changing"))]);
    let cluster = cluster(&objects);
    let mut instance = instance(plugins, built, &cluster);
    let pod = object(pod("p", &[named]));
    let device = |i: usize| json!({"name": format!("d{i}"), "attributes": {"index": {"int": i}}, "capacity": {"memory": {"value": "80Gi"}}});
    let slot = {
        let cluster = lock(&cluster);
        let found = cluster.entry(&ObjectKind::new("Node"), "", "changing");
        found.map(|entry| entry.slot).unwrap_or_default()
    };
    let mut version = 10;
    shortest(100, || {
        version += 1;
        // Seven devices are one too few.
        let devices = 7 + version % 2;
        let mut changed = slice("changing", (0..devices).map(device).collect());
        changed["metadata"]["resourceVersion"] = version.to_string().into();
        {
            let mut cluster = lock(&cluster);
            cluster.load(vec![object(changed)]);
            cluster.deliver();
        }
        let begun = Instant::now();
        let found = feasible(instance.as_mut(), &cluster, &pod, &[slot]);
        let elapsed = begun.elapsed();
        assert_eq!(found, devices - 7);
        elapsed
    })
}

/// PreEnqueue and PreFilter of a pod after the claim of another one has changed: what a pod costs before its first node.
pub fn before_first_node(plugins: &Plugins) {
    let table = Table::new(
        "A pod before its first node, after another pod's claim was written",
        &["nodes", "wasm / native", "us: native", "wasm"],
    );
    for nodes in [1_000, 5_000] {
        let generated = generate(Kind::Selector, nodes, 8, 1);
        let times = [Built::Native, Built::Wasm].map(|built| before_in(plugins, built, &generated));
        table.row(&[
            nodes.to_string(),
            ratio(times[1], times[0]),
            microseconds(times[0]),
            microseconds(times[1]),
        ]);
    }
}

fn before_in(plugins: &Plugins, built: Built, generated: &Generated) -> Duration {
    let is_pod = |object: &&Object| object.id().kind == ObjectKind::new("Pod");
    let pod = generated.objects.iter().find(is_pod);
    let pod = pod.unwrap_or_else(|| panic!("there is one pod")).clone();
    let claims = generated.objects.iter();
    let mut claims = claims.filter(|object| object.id().name.starts_with("used-"));
    let mut written = claims
        .next()
        .map(Object::value)
        .cloned()
        .unwrap_or_default();
    let cluster = cluster(&generated.objects);
    let nodes = slots(&cluster);
    let mut instance = instance(plugins, built, &cluster);
    let mut version = 10;
    let best = shortest(100, || {
        version += 1;
        written["metadata"]["resourceVersion"] = version.to_string().into();
        {
            let mut cluster = lock(&cluster);
            cluster.load(vec![object(written.clone())]);
            cluster.deliver();
        }
        let at = lock(&cluster).revision();
        let begun = Instant::now();
        let status = instance.pre_enqueue(&pod);
        let started = instance.pre_filter(&pod, at);
        let elapsed = begun.elapsed();
        assert!(
            !status
                .unwrap_or_else(|error| panic!("{error}"))
                .code
                .is_rejected()
        );
        let (cycle, scope) = started.unwrap_or_else(|error| panic!("{error}"));
        assert!(!matches!(scope, Scope::Rejected(_)), "{scope:?}");
        instance
            .end_cycle(cycle)
            .unwrap_or_else(|error| panic!("{error}"));
        elapsed
    });
    let found = feasible(instance.as_mut(), &cluster, &pod, &nodes);
    assert_eq!(found, generated.feasible);
    best
}

/// From the bytes of the component to the first verdict.
pub fn cold_start() {
    let table = Table::new(
        "From the component's bytes to the first pod placed, 100 nodes",
        &["compile cache", "ms"],
    );
    let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let cached = CompileCache::Directory(directory.path().join("compiled"));
    let generated = generate(Kind::Selector, 100, 8, 1);
    let start = |cache: &CompileCache| {
        let begun = Instant::now();
        let runtime = Runtime::new(cache).unwrap_or_else(|error| panic!("{error}"));
        let plugin = std::rc::Rc::new(load(&runtime));
        let run = run(&generated.objects, plugin, Strategy::FirstFeasible, 1);
        assert!(run.report.is_complete(), "{}", run.report.summary());
        begun.elapsed()
    };
    let none = start(&CompileCache::Off);
    start(&cached);
    let warm = shortest(3, || start(&cached));
    table.row(&["none".to_owned(), milliseconds(none)]);
    table.row(&["filled".to_owned(), milliseconds(warm)]);
}

/// A version takes over between two pods.
pub fn swap(plugins: &Plugins) {
    let table = Table::new(
        "Another version takes over",
        &["nodes", "swap, ms", "next cycle, ms", "the one after, ms"],
    );
    for nodes in [1_000, 5_000] {
        let generated = generate(Kind::Selector, nodes, 8, 8);
        let cluster = cluster(&generated.objects);
        let mut scheduler = scheduler(&cluster, plugins.make(Built::Wasm), Strategy::AllNodes);
        while scheduler.counts().cycles < 4 && scheduler.step(&mut OneAtATime) {}
        let next = plugins.make(Built::Wasm);
        let begun = Instant::now();
        scheduler
            .swap(next)
            .unwrap_or_else(|error| panic!("{error}"));
        let swapped = begun.elapsed();
        let cycles = [5, 6].map(|count| {
            let begun = Instant::now();
            while scheduler.counts().cycles < count && scheduler.step(&mut OneAtATime) {}
            begun.elapsed()
        });
        scheduler.run(&mut OneAtATime);
        let outcomes = scheduler.outcomes();
        let bound = outcomes.iter().filter(|outcome| {
            matches!(
                outcome.ended,
                dractl::scheduler::outcome::Ended::Bound { .. }
            )
        });
        assert_eq!(bound.count(), 8);
        table.row(&[
            nodes.to_string(),
            milliseconds(swapped),
            milliseconds(cycles[0]),
            milliseconds(cycles[1]),
        ]);
    }
}

/// A dump as text.
pub fn reading() {
    let table = Table::new("Reading a dump of JSON", &["MB", "MB per second", "ms"]);
    let generated = generate(Kind::Selector, 5_000, 8, 60);
    let values: Vec<_> = generated.objects.iter().map(Object::value).collect();
    let text = json!({"apiVersion": "v1", "kind": "List", "items": values}).to_string();
    let best = shortest(5, || {
        let begun = Instant::now();
        let input =
            manifest::read_text("dump", &text, &|_| true).unwrap_or_else(|error| panic!("{error}"));
        let elapsed = begun.elapsed();
        assert_eq!(input.objects.len(), generated.objects.len());
        elapsed
    });
    let megabytes = text.len() as f64 / 1e6;
    table.row(&[
        format!("{megabytes:.1}"),
        format!("{:.0}", megabytes / best.as_secs_f64()),
        milliseconds(best),
    ]);
}

/// Shapes on which plain depth-first search takes for ever.
pub fn hard(plugins: &Plugins) {
    let table = Table::new(
        "One node, shapes that plain search does not survive",
        &["shape", "wasm / native", "ms: native", "wasm", "steps' end"],
    );
    let count = |n: usize| json!({"count": n});
    let by_n = json!([{"matchAttribute": format!("{}/n", crate::cluster::DRIVER)}]);
    let group = |sizes: &[usize]| {
        let of = |(n, size): (usize, &usize)| vec![n; *size];
        sizes.iter().enumerate().flat_map(of).collect::<Vec<_>>()
    };
    let last = [vec![7; 15], vec![8]].concat();
    let shapes = [
        (
            "32 of 31 alike",
            vec![0; 31],
            vec![request("r", count(32))],
            None,
            false,
        ),
        (
            "8 requests of 4, 31 alike",
            vec![0; 31],
            (0..8)
                .map(|i| request(&format!("r{i}"), count(4)))
                .collect(),
            None,
            false,
        ),
        (
            "a group of 8, the last of 16",
            group(&last),
            vec![request("r", count(8))],
            Some(by_n.clone()),
            true,
        ),
        (
            "4 requests of 2 in one group, the last of 16",
            group(&last),
            (0..4)
                .map(|i| request(&format!("r{i}"), count(2)))
                .collect(),
            Some(by_n),
            true,
        ),
    ];
    for (name, devices, requests, constraints, fits) in shapes {
        let device = |(i, n): (usize, &usize)| json!({"name": format!("d{i:03}"), "attributes": {"n": {"int": n}}});
        let mut asks = json!({"requests": requests});
        if let Some(constraints) = constraints {
            asks["constraints"] = constraints;
        }
        let objects = vec![
            object(class()),
            object(node("n")),
            object(slice("n", devices.iter().enumerate().map(device).collect())),
            object(claim("c", asks)),
        ];
        timed(plugins, &table, name, &objects, Some(fits));
    }
    timed(plugins, &table, "a maze without an exit", &maze(), None);
}

/// Ten requests, each alike with the next in one of two ways, and a last one that is alike with nothing: no bound sees that, so
/// the search walks until its steps end.
fn maze() -> Vec<Object> {
    let mut devices: Vec<_> = (0..64)
        .map(|i| json!({"name": format!("d{i:02}"), "attributes": {"x": {"int": i / 8}, "y": {"int": i % 8}, "exit": {"bool": false}}}))
        .collect();
    devices.push(json!({"name": "exit", "attributes": {"x": {"int": 99}, "y": {"int": 99}, "exit": {"bool": true}}}));
    let is_exit = format!("device.attributes['{}'].exit", crate::cluster::DRIVER);
    let mut requests: Vec<_> = (0..10)
        .map(|i| {
            let text = format!("!{is_exit}");
            request(
                &format!("r{i}"),
                json!({"selectors": [{"cel": {"expression": text}}]}),
            )
        })
        .collect();
    requests.push(request(
        "r10",
        json!({"selectors": [{"cel": {"expression": is_exit}}]}),
    ));
    let steps = (0..10).map(|i| {
        let attribute = format!("{}/{}", crate::cluster::DRIVER, ["x", "y"][i % 2]);
        json!({"requests": [format!("r{i}"), format!("r{}", i + 1)], "matchAttribute": attribute})
    });
    let asks = json!({"requests": requests, "constraints": steps.collect::<Vec<_>>()});
    vec![
        object(class()),
        object(node("n")),
        object(slice("n", devices)),
        object(claim("c", asks)),
    ]
}

/// `fits`: the answer; `None` if the search is to give up.
fn timed(plugins: &Plugins, table: &Table, name: &str, objects: &[Object], fits: Option<bool>) {
    let pod = object(pod("p", &["c".to_owned()]));
    let times = [Built::Native, Built::Wasm].map(|built| {
        let cluster = cluster(objects);
        let nodes = slots(&cluster);
        let mut instance = instance(plugins, built, &cluster);
        // The first time reads the cluster and compiles selectors.
        feasible(instance.as_mut(), &cluster, &pod, &nodes);
        shortest(5, || {
            let begun = Instant::now();
            let found = feasible(instance.as_mut(), &cluster, &pod, &nodes);
            let elapsed = begun.elapsed();
            assert_eq!(found, usize::from(fits == Some(true)), "{name}");
            elapsed
        })
    });
    table.row(&[
        name.to_owned(),
        ratio(times[1], times[0]),
        milliseconds(times[0]),
        milliseconds(times[1]),
        if fits.is_none() { "yes" } else { "no" }.to_owned(),
    ]);
}
