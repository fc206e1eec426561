//! `dractl soak` as a command: what it refuses to begin with, what it reports, and when it fails.

use crate::command::{Files, dractl};
use crate::fixture::NODE_LABEL;

fn refused(args: &[&str]) -> String {
    let finished = dractl(&[&["soak", "--cycles", "20"], args].concat());
    assert_eq!(
        (finished.status, finished.stdout.as_str()),
        (2, ""),
        "{args:?}"
    );
    finished.stderr
}

#[test]
fn a_component_that_cannot_run_is_named_before_the_run_whichever_it_is() {
    let files = Files::new();
    let good = files.add("good.wasm", dractl::plugin::BUILT_IN);
    let bad = files.add("bad.wasm", b"\0asm\x01\0\0\0");
    for order in [[&good, &bad], [&bad, &good]] {
        let [one, other] = order.map(String::as_str);
        let told = refused(&["--plugin", one, "--plugin", other]);
        assert!(
            told.contains("bad.wasm: this is a core WebAssembly module"),
            "{told}"
        );
    }
    let told = refused(&["--plugin", &good, "--plugin", "nowhere.wasm"]);
    assert!(
        told.contains("cannot read the plugin nowhere.wasm"),
        "{told}"
    );
}

#[test]
fn numbers_that_make_no_run_are_usage_errors() {
    for (args, part) in [
        (["--nodes", "0"], "0 is not in 1..=1000"),
        (["--nodes", "1001"], "1001 is not in 1..=1000"),
        (["--nodes", "99999999999"], "invalid value"),
        (["--cycles", "0"], "0 is not in 1.."),
    ] {
        let finished = dractl(&[&["soak"], &args[..]].concat());
        assert_eq!(finished.status, 2, "{args:?}");
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
    let told = refused(&["--check", "7", "--swap-every", "7"]);
    assert!(
        told.contains("--check 7 takes as long as --swap-every 7 allows"),
        "{told}"
    );
}

#[test]
fn grants_are_refused_all_at_once_and_slips_with_the_nearest_names() {
    let claims = "ResourceClaim.resource.k8s.io";
    let told = refused(&["--allow-read", claims, "--allow-write", claims]);
    for kind in [
        "Node",
        "DeviceClass.resource.k8s.io",
        "ResourceSlice.resource.k8s.io",
    ] {
        assert!(told.contains(kind), "{told}");
    }
    assert!(told.contains("which it is not granted"), "{told}");

    let slip = "ResourceClaims.resource.k8s.io";
    let told = refused(&["--allow-write", slip]);
    assert!(
        told.contains(&format!(
            "may write {slip:?}; the nearest names are {claims}"
        )),
        "{told}"
    );
    // Harmless for what the plugin may do, and no less a slip.
    let files = Files::new();
    let label = files.add("label.wasm", &*NODE_LABEL);
    let label = [
        "--plugin",
        &label,
        "--config",
        "\"x\"",
        "--allow-read",
        "Node",
    ];
    let told = refused(&[&label[..], &["--allow-read", "Nodes"]].concat());
    assert!(
        told.contains("may read \"Nodes\"; the nearest names are Node"),
        "{told}"
    );
}

#[test]
fn a_run_makes_as_many_cycles_as_it_was_asked_for_and_counts_what_it_bound() {
    for cycles in ["1", "37", "300"] {
        let args = [
            "soak",
            "--cycles",
            cycles,
            "--swap-every",
            "9",
            "--check",
            "3",
            "-o",
            "json",
        ];
        let finished = dractl(&args);
        assert_eq!(finished.status, 0, "{}", finished.stdout);
        let report = finished.json();
        assert_eq!(report["cycles"].to_string(), cycles);
        assert!(report["bound"].as_u64() > Some(0), "{report}");
        for key in ["swaps", "traps", "faults", "rollbacks", "violations"] {
            assert!(report[key].is_u64(), "{key}: {report}");
        }
    }
}

#[test]
fn a_run_in_which_no_pod_is_bound_fails_and_says_so() {
    let files = Files::new();
    let label = files.add("label.wasm", &*NODE_LABEL);
    let args = [
        "soak",
        "--cycles",
        "20",
        "--plugin",
        &label,
        "--config",
        "\"of-no-node\"",
    ];
    let finished = dractl(&args);
    assert_eq!(finished.status, 1, "{}{}", finished.stdout, finished.stderr);
    assert!(
        finished
            .stdout
            .contains("so that next to nothing was tried"),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_long_trial_is_not_cut_short_by_the_virtual_clock() {
    let args = [
        "soak",
        "--cycles",
        "900",
        "--swap-every",
        "400",
        "--check",
        "399",
        "-o",
        "json",
    ];
    let report = dractl(&args).json();
    assert_eq!(
        (&report["swaps"], &report["refusals"]),
        (&1.into(), &0.into()),
        "{report}"
    );
    // Nearly all after the first 400.
    assert!(
        report["latencyInSwaps"]["cycles"].as_u64() >= Some(490),
        "{report}"
    );
}
