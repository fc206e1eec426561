//! Whole scheduling cycles, native beside the component, and what grows with the cluster.

use std::time::Duration;

use dractl::cycle::Strategy;

use crate::cluster::{Generated, Kind, generate};
use crate::run::{Built, Plugins, Run, run};
use crate::table::{Table, mebibytes, microseconds, milliseconds, ratio, say};

const PODS: usize = 61;

/// Nodes, and devices on each.
pub type Size = (usize, usize);

/// All nodes visited; the first cycle, in which the plugin reads the cluster, is shown apart.
pub fn all_nodes(plugins: &Plugins, sizes: &[Size]) {
    let table = Table::new(
        "Whole cycles, all nodes visited, half of the devices in use",
        &[
            "pods ask for",
            "nodes x devices",
            "wasm / native",
            "without epochs / native",
            "us per node: native",
            "wasm",
            "without epochs",
            "first cycle, ms: native",
            "wasm",
            "memory, MiB",
        ],
    );
    let mut growths = Vec::new();
    for kind in Kind::ALL {
        let mut growth: Vec<(usize, Duration)> = Vec::new();
        for &(nodes, devices) in sizes {
            let generated = generate(kind, nodes, devices, PODS);
            let rounds = if nodes * devices > 8_000 { 2 } else { 6 };
            let [native, wasm, bare] = compared(plugins, &generated, nodes, rounds);
            if devices == 8 {
                growth.push((nodes, wasm.per_pod()));
            }
            table.row(&[
                kind.name().to_owned(),
                format!("{nodes} x {devices}"),
                ratio(wasm.rest, native.rest),
                ratio(bare.rest, native.rest),
                microseconds(native.per_node()),
                microseconds(wasm.per_node()),
                microseconds(bare.per_node()),
                milliseconds(native.first),
                milliseconds(wasm.first),
                mebibytes(wasm.memory),
            ]);
        }
        let of = |nodes| {
            growth
                .iter()
                .find(|(of, _)| *of == nodes)
                .map(|(_, time)| *time)
        };
        if let (Some(small), Some(large)) = (of(5_000), of(10_000)) {
            growths.push(format!("{} {}", kind.name(), ratio(large, small)));
        }
    }
    if !growths.is_empty() {
        say(&format!(
            "\nA pod among 10,000 nodes, to one among 5,000: {}.",
            growths.join(", ")
        ));
    }
}

/// The best of some rounds of each, in turn, so that what disturbs one disturbs all.
fn compared(plugins: &Plugins, generated: &Generated, nodes: usize, rounds: usize) -> [Run; 3] {
    let mut best: [Option<Run>; 3] = [None, None, None];
    for _ in 0..rounds {
        for (best, built) in best.iter_mut().zip(Built::ALL) {
            let run = run(
                &generated.objects,
                plugins.make(built),
                Strategy::AllNodes,
                1,
            );
            assert_eq!(
                run.nodes,
                ((PODS - 1) * nodes) as u64,
                "every pod visits every node"
            );
            let first = &run.report.pods[0];
            assert_eq!(
                first.feasible_nodes.len(),
                generated.feasible,
                "{}",
                first.message
            );
            if best.as_ref().is_none_or(|best| run.rest < best.rest) {
                *best = Some(run);
            }
        }
    }
    let [Some(native), Some(wasm), Some(bare)] = best else {
        unreachable!("there is a round")
    };
    assert_eq!(native.placements(), wasm.placements());
    assert_eq!(native.placements(), bare.placements());
    [native, wasm, bare]
}

/// A pod takes the first feasible node: what it costs must not depend on the rest of the cluster.
pub fn early_stop(plugins: &Plugins) {
    let table = Table::new(
        "Cycles that stop at the first feasible node",
        &[
            "pods ask for",
            "nodes",
            "to 1,000 nodes",
            "wasm / native",
            "us per pod: native",
            "wasm",
            "nodes per pod",
        ],
    );
    for kind in Kind::ALL {
        // Of 1,000 nodes every eighth has four free devices together.
        let pods = if kind == Kind::Match4 { 91 } else { 331 };
        let mut base = None;
        for nodes in [1_000, 5_000, 10_000] {
            let generated = generate(kind, nodes, 8, pods);
            let mut best: [Option<Run>; 2] = [None, None];
            for _ in 0..3 {
                for (best, built) in best.iter_mut().zip(Built::ALL) {
                    let plugin = plugins.make(built);
                    // In the first cycles selectors are evaluated for what the devices look like.
                    let run = run(&generated.objects, plugin, Strategy::FirstFeasible, 31);
                    assert!(run.report.is_complete(), "{}", run.report.summary());
                    if best.as_ref().is_none_or(|best| run.rest < best.rest) {
                        *best = Some(run);
                    }
                }
            }
            let [Some(native), Some(wasm)] = best else {
                unreachable!("there is a round")
            };
            assert_eq!(native.placements(), wasm.placements());
            let base = *base.get_or_insert(wasm.per_pod());
            table.row(&[
                kind.name().to_owned(),
                nodes.to_string(),
                ratio(wasm.per_pod(), base),
                ratio(wasm.rest, native.rest),
                microseconds(native.per_pod()),
                microseconds(wasm.per_pod()),
                format!("{:.1}", wasm.nodes as f64 / wasm.cycles as f64),
            ]);
        }
    }
}
