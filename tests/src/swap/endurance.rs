//! Many swaps under load, and what is left of them.

use std::ops::ControlFlow;

use dractl::generations::SelfCheck;
use dractl::plugin::{Census, Runtime};
use dractl::soak::{Plan, Report, Source, Versions, run};

use super::*;
use crate::fixture::runtime;

fn source(name: &str, bytes: &[u8]) -> Source {
    Source {
        name: name.to_owned(),
        bytes: bytes.to_vec(),
        file: None,
    }
}

fn soak(plan: &Plan, first: Source, others: Vec<Source>, config: &str) -> Report {
    let settings = Settings {
        config: config.as_bytes().to_vec(),
        limits: tight(),
        ..Settings::default()
    };
    let mut versions = Versions::new(RUNTIME.clone(), settings, first, others)
        .unwrap_or_else(|error| panic!("{error}"));
    run(plan, &mut versions, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn plan(seed: u64, cycles: u64, swap_every: u64, check: u32) -> Plan {
    Plan {
        seed,
        cycles,
        swap_every,
        check: SelfCheck {
            cycles: check,
            ..SelfCheck::default()
        },
        real_time: false,
        size: Size::default(),
    }
}

#[test]
fn ten_thousand_cycles_with_a_swap_every_few_break_no_promise() {
    for (seed, swap_every, check) in [(1, 5, 0), (2, 11, 4)] {
        let report = soak(
            &plan(seed, 5_000, swap_every, check),
            source("built-in", BUILT_IN),
            Vec::new(),
            "{}",
        );
        assert_eq!(report.cycles, 5_000);
        assert!(report.bound > 1_000, "{report}");
        assert_eq!(report.violations, 0, "{report}");
        assert_eq!(
            (report.traps, report.rollbacks, report.refusals),
            (0, 0, 0),
            "{report}"
        );
        assert!(
            report.swaps >= 5_000 / (swap_every + u64::from(check)) / 2,
            "{report}"
        );
        assert!(report.faults > 500, "{report}");
        // All but the active one and, on probation, the one before it.
        assert!(report.freed + 2 >= report.swaps, "{report}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let report = soak(
            &plan(7, 400, 20, 2),
            source("built-in", BUILT_IN),
            Vec::new(),
            "{}",
        );
        (report.cycles, report.swaps, report.faults, report.events)
    };
    assert_eq!(run(), run());
}

#[test]
fn a_component_that_is_no_plugin_is_refused_and_the_load_goes_on() {
    let others = vec![
        source("core.wasm", b"\0asm\x01\0\0\0"),
        source("noise.wasm", &[7; 100]),
    ];
    let report = soak(
        &plan(3, 300, 10, 0),
        source("built-in", BUILT_IN),
        others,
        "{}",
    );
    assert_eq!(report.violations, 0, "{report}");
    assert!(report.refusals >= 10, "{report}");
    assert!(
        report
            .events
            .iter()
            .any(|event| event.starts_with("core.wasm: this is a core WebAssembly module")),
        "{report}"
    );
}

#[test]
fn a_plugin_that_allocates_nothing_is_found_out() {
    // Every node has a name, so it lets every pod pass, and does not know what a claim is.
    let report = soak(
        &plan(4, 100, 0, 0),
        source("node-label", &NODE_LABEL),
        Vec::new(),
        "\"name\"",
    );
    assert!(report.violations > 0, "{report}");
    assert!(
        report.violation_details[0].ends_with("is not allocated"),
        "{report}"
    );
}

#[test]
fn a_plugin_that_lets_no_pod_into_the_queue_ends_the_run() {
    let finished = crate::command::dractl(&["soak", "--cycles", "20", "--limit", "host-calls=1"]);
    assert_eq!(finished.status, 1, "{}", finished.stderr);
    assert!(
        finished.stdout.contains("no pod was tried in"),
        "{}",
        finished.stdout
    );
}

/// Swaps the plugin for itself so many times, loaded anew each time, and lets a pod or two be placed by each version.
pub(super) fn swap_often(bench: &mut Bench, runtime: &Runtime, first: u32, count: u32) {
    for number in first..first + count {
        let plugin = runtime
            .load(BUILT_IN, "built-in", &Settings::default())
            .unwrap_or_else(|error| panic!("{error}"));
        bench.scheduler.swap(Rc::new(plugin)).unwrap();
        bench.add(&[(&format!("p{number}"), "one")]);
        bench.run();
    }
}

/// One version that has placed a pod, after one swap.
pub(super) fn one_swapped(runtime: &Runtime) -> Bench {
    let plugin = runtime
        .load(BUILT_IN, "built-in", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let policy = Policy {
        probation_cycles: 1,
        ..Policy::default()
    };
    // Room for all pods of all versions.
    let size = Size {
        nodes: 2,
        devices: 60,
        pods: 0,
    };
    let mut bench = Bench::new(&plugin, Users::new(size, 0).first_objects(), policy);
    drop(plugin);
    swap_often(&mut bench, runtime, 0, 1);
    bench
}

#[test]
fn after_fifty_swaps_as_much_lives_as_before() {
    // Of its own, so that nobody else is counted.
    let runtime = runtime();
    assert_eq!(runtime.census(), Census::default());
    let mut bench = one_swapped(&runtime);
    let before = runtime.census();
    // One component; one store for scheduling, and one for binding that is idle.
    let one = Census {
        components: 1,
        stores: 2,
        resources: 0,
    };
    assert_eq!(before, one);
    swap_often(&mut bench, &runtime, 1, 50);
    bench.assert_in_order("after 50 swaps");
    assert_eq!(bench.bound(), 51);
    assert_eq!(runtime.census(), one);
    drop(bench);
    assert_eq!(runtime.census(), Census::default());
}

/// What the counts are worth: they see what is held.
#[test]
fn a_version_that_is_kept_and_a_cycle_that_has_not_ended_are_counted() {
    let runtime = runtime();
    let plugin = runtime
        .load(
            &NODE_LABEL,
            "node-label",
            &Settings {
                config: b"\"x\"".to_vec(),
                ..Settings::default()
            },
        )
        .unwrap_or_else(|error| panic!("{error}"));
    let cluster = Arc::new(Mutex::new(Cluster::new(ClusterSettings::default())));
    let mut instance = plugin.scheduling(cluster).unwrap();
    let (cycle, _) = instance.pre_filter(&pod("a", "one"), 0).unwrap();
    let census = |components, stores, resources| Census {
        components,
        stores,
        resources,
    };
    assert_eq!(runtime.census(), census(1, 1, 1));
    instance.end_cycle(cycle).unwrap();
    assert_eq!(runtime.census(), census(1, 1, 0));
    drop(instance);
    drop(plugin);
    assert_eq!(runtime.census(), census(0, 0, 0));
}
