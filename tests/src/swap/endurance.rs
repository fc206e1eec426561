//! Many swaps under load, and what is left of them.

use dractl::generations::SelfCheck;
use dractl::soak::{Plan, Report, Source, Versions, run};

use super::*;

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
    run(plan, &mut versions, &mut |_| ()).unwrap()
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
        assert!(report.cycles >= 5_000);
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
    let finished = crate::command::dractl(&["soak", "--cycles", "20", "--limit", "host-calls=2"]);
    assert_eq!(finished.status, 1, "{}", finished.stderr);
    assert!(
        finished.stdout.contains("no pod was tried in"),
        "{}",
        finished.stdout
    );
}

#[test]
fn fifty_swaps_leave_one_instance() {
    let plugin = real(&json!({}));
    let policy = Policy {
        probation_cycles: 1,
        ..Policy::default()
    };
    let mut bench = Bench::new(&plugin, objects(&[]), policy);
    let mut versions = vec![plugin];
    for number in 0..50 {
        let next = real(&json!({}));
        bench.scheduler.swap(Rc::new(next.clone())).unwrap();
        versions.push(next);
        bench.add(&[(&format!("p{number}"), "one")]);
        bench.run();
    }
    bench.assert_in_order("after 50 swaps");
    assert_eq!(bench.bound(), 8, "as many as there are devices");
    let live: Vec<u64> = versions.iter().map(Component::live_instances).collect();
    assert_eq!(live[..50].iter().sum::<u64>(), 0, "{live:?}");
    // One for scheduling; idle ones for binding may stay.
    assert!((1..=3).contains(&live[50]), "{live:?}");
}
