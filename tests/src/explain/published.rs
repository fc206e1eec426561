//! The scenarios with published mistakes, word for word, read by a person: does the first sentence name the true cause?

use expect_test::{Expect, expect};

use super::{assert_narrow, explain};
use crate::scenarios::{read_expected, shared_folder};

fn check(scenario: &str, arguments: &[&str], expected: &Expect) {
    let Some(folder) = shared_folder(&format!("scenarios/{scenario}")) else {
        return;
    };
    let input = folder.join("input").display().to_string();
    let run = read_expected(&folder).run;
    let mut all: Vec<&str> = arguments.to_vec();
    all.extend(run.split_whitespace());
    all.push(&input);
    let finished = explain(&all);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_narrow(&finished.stdout);
    let screen = 40;
    let full = arguments.contains(&"--node");
    assert!(full || finished.stdout.lines().count() <= screen, "{}", finished.stdout);
    expected.assert_eq(&finished.stdout);
}

#[test]
fn intel_one_flex() {
    check("intel-one-flex", &["test-one-flex"], &expect![[""]]);
}

#[test]
fn intel_one_flex_on_one_node() {
    check("intel-one-flex", &["test-one-flex", "--node", "intel-2"], &expect![[""]]);
}

#[test]
fn intel_monitor_misplaced_fields() {
    check("intel-monitor-misplaced-fields", &["monitor-pod"], &expect![[""]]);
}

#[test]
fn k8s_docs_empty_selector() {
    check("k8s-docs-empty-selector", &["example-dra-job-0"], &expect![[""]]);
}

#[test]
fn example_class_missing() {
    check("example-class-missing", &["pod0"], &expect![[""]]);
}

#[test]
fn example_node_exhausted() {
    check(
        "example-node-exhausted",
        &["-n", "gpu-test2", "pod0", "--after-queue"],
        &expect![[""]],
    );
}

#[test]
fn example_node_exhausted_as_it_is() {
    check("example-node-exhausted", &["-n", "gpu-test2", "pod0"], &expect![[""]]);
}

#[test]
fn dranet_aws_gpu_efa_aligned() {
    check(
        "dranet-aws-gpu-efa-aligned",
        &["nccl-test-dra-worker-4", "--after-queue"],
        &expect![[""]],
    );
}

#[test]
fn nvidia_cel_nomatch() {
    check("nvidia-cel-nomatch", &["pod-cel-nomatch"], &expect![[""]]);
}

#[test]
fn example_taint_noschedule() {
    check("example-taint-noschedule", &["pod-no-schedule"], &expect![[""]]);
}

#[test]
fn example_incomplete_pool() {
    check("example-incomplete-pool", &["pod0", "--profile", "current"], &expect![[""]]);
}

#[test]
fn example_claim_not_created_yet() {
    check("example-claim-not-created-yet", &["pod0"], &expect![[""]]);
}

#[test]
fn classic_first_cycle() {
    check("classic-first-cycle", &["pod0"], &expect![[""]]);
}

#[test]
fn two_aligned_gpus() {
    check("cluster-50-nodes", &["two-aligned-gpus-000"], &expect![[""]]);
}

#[test]
fn two_aligned_gpus_after_the_queue() {
    check(
        "cluster-50-nodes",
        &["two-aligned-gpus-001", "--after-queue"],
        &expect![[""]],
    );
}

#[test]
fn no_such_gpu() {
    check("cluster-50-nodes", &["no-such-gpu-000"], &expect![[""]]);
}

#[test]
fn no_such_gpu_after_the_queue() {
    check("cluster-50-nodes", &["no-such-gpu-001", "--after-queue"], &expect![[""]]);
}
