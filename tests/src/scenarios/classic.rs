//! The scenarios of classic DRA in other circumstances: without the driver, without the feature, with hints, as fixed later.

use serde_json::Value;

use super::check::retries;
use super::{ours, shared_folder};
use crate::command::dractl;

const CLASSIC: &str = "--profile 1.31 --feature DRAControlPlaneController=true";
const HINTS: &str = "--feature SchedulerQueueingHints=true";

fn simulate(input: &std::path::Path, flags: &str) -> Value {
    let input = input.display().to_string();
    let mut args = vec!["simulate", "-o", "json"];
    args.extend(flags.split_whitespace());
    args.push(&input);
    let finished = dractl(&args);
    assert!(finished.status < 2, "{}", finished.stderr);
    let output = finished.json();
    let problems = crate::schema::check(&output);
    assert!(problems.is_empty(), "{problems:?}");
    output
}

fn run(scenario: &str, flags: &str) -> Value {
    simulate(&ours().join(scenario).join("input"), flags)
}

/// Verdict, extension point and retries of a pod.
fn fate(output: &Value, pod: usize) -> (String, String, Vec<String>) {
    let pod = &output["pods"][pod];
    let text = |key: &str| pod[key].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("at"), retries(pod))
}

fn expect(output: &Value, pod: usize, verdict: &str, at: &str, retries: &[&str]) {
    let retries = retries.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(
        fate(output, pod),
        (verdict.to_owned(), at.to_owned(), retries)
    );
}

/// Nobody answers: one attempt, and who is missing is said.
#[test]
fn without_the_driver_the_pod_waits() {
    for scenario in [
        "classic-driver",
        "classic-driver-two",
        "classic-driver-unsuitable",
        "classic-driver-mixed",
    ] {
        let output = run(scenario, CLASSIC);
        expect(&output, 0, "waiting", "PreBind", &[]);
        let warning = output["warnings"][0]["message"]
            .as_str()
            .unwrap_or_default();
        assert!(
            warning.contains("nobody answers for it here without --classic-driver"),
            "{warning}"
        );
    }
    // The claim stays as PostFilter left it; woken by that, the pod finds that it must wait.
    let output = run("classic-driver-deallocation", CLASSIC);
    let retried = ["1 s ResourceClaim/Update gpu-test3/shared-gpu after Filter"];
    expect(&output, 0, "unschedulable", "PreFilter", &retried);
    let message = output["pods"][0]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("resourceclaim must be reallocated"),
        "{message}"
    );
}

#[test]
fn without_the_feature_its_name_is_told() {
    for flags in ["--profile 1.31", "--profile 1.31 --classic-driver", ""] {
        let output = run("classic-driver", flags);
        expect(&output, 0, "unschedulable", "PreFilter", &[]);
        let message = output["pods"][0]["message"].as_str().unwrap_or_default();
        let text = "resourceclaim depends on disabled DRAControlPlaneController feature";
        assert!(message.starts_with(text), "{message}");
        let warning = output["warnings"][0]["message"]
            .as_str()
            .unwrap_or_default();
        assert!(
            warning.contains("--feature DRAControlPlaneController=true"),
            "{warning}"
        );
    }
}

/// The pod's own writes do not help it, so it sleeps until the driver has answered.
#[test]
fn with_hints_the_answers_wake_the_pod() {
    let flags = format!("{CLASSIC} {HINTS} --classic-driver");
    let output = run("classic-driver", &flags);
    expect(
        &output,
        0,
        "scheduled",
        "",
        &["1 s ResourceClaim/Update gpu-test3/shared-gpu after PreBind"],
    );
    let output = run("classic-driver-two", &flags);
    let retried = [
        "1 s PodSchedulingContext/Update gpu-test3/pod0 after PreBind",
        "3 s ResourceClaim/Update gpu-test3/gpu after PreBind",
    ];
    expect(&output, 0, "scheduled", "", &retried);
}

/// Nobody is woken by what happens to another pod's claims or context. The loser is only tried again by the flush of the pool,
/// 300 s after its last refusal at 1 s.
#[test]
fn with_hints_other_pods_sleep() {
    let flags = format!("{CLASSIC} {HINTS} --classic-driver");
    let output = run("classic-driver-shortage", &flags);
    let context = "1 s PodSchedulingContext/Update gpu-test3/";
    expect(
        &output,
        0,
        "scheduled",
        "",
        &["1 s ResourceClaim/Update gpu-test3/gpu0 after PreBind"],
    );
    let retried = [
        &format!("{context}pod1 after PreBind"),
        "301 s flush after Filter",
    ];
    expect(&output, 1, "unschedulable", "Filter", &retried);
    let retried = [
        &format!("{context}pod2 after PreBind"),
        "3 s ResourceClaim/Update gpu-test3/fpga after PreBind",
    ];
    expect(&output, 2, "scheduled", "", &retried);

    let output = run("classic-driver-freed", &flags);
    expect(
        &output,
        0,
        "scheduled",
        "",
        &[&format!("{context}pod0 after PreBind")],
    );
    let retried = [
        "1 s ResourceClaim/Update gpu-test3/idle after Filter",
        "3 s PodSchedulingContext/Update gpu-test3/pod1 after PreBind",
    ];
    expect(&output, 1, "unschedulable", "Filter", &retried);
}

/// What upstream meant: all classic claims are answered, so a node is selected (D11), and hints heed classic claims only (D12).
#[test]
fn mixed_claims_as_they_were_meant() {
    let output = run(
        "classic-driver-mixed",
        "--feature DRAControlPlaneController=true --classic-driver",
    );
    let retried = [
        "1 s PodSchedulingContext/Update gpu-test3/pod0 after PreBind",
        "3 s ResourceClaim/Update gpu-test3/gpu after PreBind",
    ];
    expect(&output, 0, "scheduled", "", &retried);
    let claims = &output["pods"][0]["claims"];
    assert_eq!(
        claims[0]["allocation"]["controller"],
        "gpu.resource.example.com"
    );
    assert_eq!(
        claims[1]["allocation"]["controller"],
        "nic.resource.example.com"
    );
    assert_eq!(claims[2]["devices"][0]["device"], "disk-0");
}

/// The shared ones end as `waiting`; with the driver they go on to a node.
#[test]
fn shared_scenarios_with_the_driver() {
    let Some(folder) = shared_folder("scenarios") else {
        return;
    };
    let flags = format!("{CLASSIC} --classic-driver");
    let output = simulate(&folder.join("classic-first-cycle/input"), &flags);
    expect(
        &output,
        0,
        "scheduled",
        "",
        &["1 s PodSchedulingContext/Add gpu-test3/pod0 after PreBind"],
    );
    // worker-2 is selected at 0 s, and the driver says at 0.1 s that every node will do after all.
    let output = simulate(&folder.join("classic-unsuitable-node/input"), &flags);
    expect(
        &output,
        0,
        "scheduled",
        "",
        &["1 s PodSchedulingContext/Update gpu-test3/pod0 after PreBind"],
    );
    assert_eq!(output["pods"][0]["node"], "worker-2");
}
