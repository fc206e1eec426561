//! What swaps cost: `SWAP_FIGURES=1 cargo test --release swap_figures -- --nocapture` prints a table.

use std::fmt::Write;
use std::ops::ControlFlow;

use dractl::clock::Stopwatch;
use dractl::generations::SelfCheck;
use dractl::plugin::{CompileCache, Runtime};
use dractl::soak::{Plan, Source, Versions, run};

use super::endurance::{one_swapped, swap_often};
use super::*;
use crate::fixture::runtime;

/// Repetitions of what is measured one by one.
const RUNS: usize = 9;

fn milliseconds(stopwatch: Stopwatch) -> f64 {
    stopwatch.nanoseconds() as f64 / 1e6
}

/// The least, the middle and the largest.
fn spread(mut samples: Vec<f64>) -> String {
    samples.sort_by(f64::total_cmp);
    let at = |index: usize| samples.get(index).copied().unwrap_or_default();
    let last = samples.len().saturating_sub(1);
    format!("{:.1} | {:.1} | {:.1}", at(0), at(last / 2), at(last))
}

fn load(runtime: &Runtime) -> Component {
    runtime
        .load(BUILT_IN, "built-in", &Settings::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Cycles in swaps and outside, of one run.
fn cycles(table: &mut String) {
    let plan = Plan {
        seed: 0,
        cycles: 10_000,
        swap_every: 50,
        check: SelfCheck {
            cycles: 5,
            ..SelfCheck::default()
        },
        real_time: false,
        size: Size::default(),
    };
    let first = Source {
        name: "built-in".to_owned(),
        bytes: BUILT_IN.to_vec(),
        file: None,
    };
    let versions = Versions::new(RUNTIME.clone(), Settings::default(), first, Vec::new());
    let mut versions = versions.unwrap_or_else(|error| panic!("{error}"));
    let report = run(&plan, &mut versions, &mut |_| ControlFlow::Continue(())).unwrap();
    table.push_str(
        "\n| a cycle, microseconds | p50 | p99 | slowest | cycles |\n|---|---|---|---|---|\n",
    );
    for (name, quantiles) in [
        ("outside swaps", report.outside),
        (
            "beside a version on trial, and the first 3 of a new one",
            report.inside,
        ),
    ] {
        let _ = writeln!(
            table,
            "| {name} | {:.0} | {:.0} | {:.0} | {} |",
            quantiles.p50_microseconds,
            quantiles.p99_microseconds,
            quantiles.max_microseconds,
            quantiles.cycles
        );
    }
}

/// From bytes to a plugin: the engine, compiled code or the compiler, and a first instance.
fn starts(table: &mut String) {
    let folder = tempfile::tempdir().unwrap();
    let cache = CompileCache::Directory(folder.path().join("cache"));
    let start = |cache: &CompileCache| {
        let stopwatch = Stopwatch::start();
        load(&Runtime::new(cache).unwrap());
        milliseconds(stopwatch)
    };
    // Fills the cache.
    start(&cache);
    let without = (0..RUNS).map(|_| start(&CompileCache::Off)).collect();
    let with = (0..RUNS).map(|_| start(&cache)).collect();
    let _ = writeln!(
        table,
        "| start without the compile cache | {} |",
        spread(without)
    );
    let _ = writeln!(table, "| start with it | {} |", spread(with));
}

/// A new version reads a cluster of 5,000 nodes from the beginning, and is the active one.
fn warm_ups(table: &mut String) {
    let size = Size {
        nodes: 5_000,
        devices: 8,
        pods: 0,
    };
    let mut objects = Users::new(size, 0).first_objects();
    objects.push(pod("a", "one"));
    let mut bench = Bench::new(&load(&RUNTIME), objects, Policy::default());
    bench.run();
    assert_eq!(bench.bound(), 1);
    let mut swap = || {
        let next = Rc::new(load(&RUNTIME));
        let stopwatch = Stopwatch::start();
        bench.scheduler.swap(next).unwrap();
        milliseconds(stopwatch)
    };
    let samples = (0..RUNS).map(|_| swap()).collect();
    let _ = writeln!(
        table,
        "| warm-up at 5,000 nodes with 8 devices each | {} |",
        spread(samples)
    );
}

/// Resident memory of this process, in kilobytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn memory(table: &mut String) {
    let runtime = runtime();
    let mut bench = one_swapped(&runtime);
    table.push_str("\n| swaps | resident, kB | components | stores | guest resources |\n|---|---|---|---|---|\n");
    // The first ones teach the allocator how much is needed.
    for (first, count) in [(1, 0), (1, 5), (6, 45), (51, 50)] {
        swap_often(&mut bench, &runtime, first, count);
        let census = runtime.census();
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} |",
            first + count,
            resident(),
            census.components,
            census.stores,
            census.resources
        );
    }
}

#[test]
fn swap_figures() {
    if std::env::var_os("SWAP_FIGURES").is_none() {
        eprintln!("SKIPPED: SWAP_FIGURES=1 measures what swaps cost");
        return;
    }
    let mut table = String::new();
    cycles(&mut table);
    table.push_str("\n| milliseconds | least | middle | most |\n|---|---|---|---|\n");
    starts(&mut table);
    warm_ups(&mut table);
    memory(&mut table);
    crate::conformance::say(&table);
}
