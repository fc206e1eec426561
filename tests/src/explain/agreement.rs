//! What `explain --after-queue` says of each pod of each scenario is what `simulate` decides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{explain, violations};
use crate::command::dractl;
use crate::scenarios::{ours, read_expected, scenarios_in, shared_folder};

/// Of a scenario with more pods only some are asked about, and always the last.
const PODS: usize = 12;

fn names(list: &Value) -> BTreeSet<String> {
    let names = list.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Nodes on which the pod fits.
fn fitting(explained: &Value) -> BTreeSet<String> {
    let groups = explained["groups"].as_array().into_iter().flatten();
    groups
        .filter(|group| group["fits"] == true)
        .flat_map(|group| names(&group["nodes"]))
        .collect()
}

fn differences(scenario: &Path) -> Vec<String> {
    let input = scenario.join("input").display().to_string();
    let run = read_expected(scenario).run;
    let flags: Vec<&str> = run.split_whitespace().collect();
    let mut arguments = vec!["simulate", "--all-nodes", "-o", "json"];
    arguments.extend(&flags);
    arguments.push(&input);
    let simulated = dractl(&arguments).json();
    let pods = simulated["pods"].as_array().expect("pods");
    let step = pods.len().div_ceil(PODS).max(1);
    let asked = pods
        .iter()
        .enumerate()
        .filter(|(at, _)| at % step == 0 || at + 4 >= pods.len());
    let mut found = Vec::new();
    for (_, pod) in asked {
        let text = |name: &str| pod[name].as_str().unwrap_or_default();
        let mut arguments = vec![
            "-n",
            text("namespace"),
            text("name"),
            "--after-queue",
            "-o",
            "json",
        ];
        arguments.extend(&flags);
        arguments.push(&input);
        let finished = explain(&arguments);
        let name = format!("{}/{}", text("namespace"), text("name"));
        if finished.status != 0 {
            found.push(format!(
                "{name}: status {}: {}",
                finished.status, finished.stderr
            ));
            continue;
        }
        let explained = finished.json();
        found.extend(
            compare(pod, &explained)
                .into_iter()
                .map(|text| format!("{name}: {text}")),
        );
    }
    found
}

fn compare(pod: &Value, explained: &Value) -> Vec<String> {
    let mut found = violations(explained);
    for field in ["verdict", "node", "at", "code", "message"] {
        if pod[field] != explained[field] {
            found.push(format!("{field}: {} and {}", pod[field], explained[field]));
        }
    }
    let (feasible, fits) = (names(&pod["feasibleNodes"]), fitting(explained));
    // After an error the other nodes do not matter to the decision.
    if pod["verdict"] != "error" && feasible != fits {
        found.push(format!(
            "feasible {feasible:?}, explained as fitting {fits:?}"
        ));
    }
    let notes = explained["notes"].to_string();
    if notes.contains("differ") || notes.contains("gives no reasons") {
        found.push(notes);
    }
    let sentence = explained["summary"][0].as_str().unwrap_or_default();
    if !sentence.contains(pod["name"].as_str().unwrap_or_default()) {
        found.push(format!(
            "the first sentence does not name the pod: {sentence}"
        ));
    }
    found
}

fn check_all(scenarios: Vec<PathBuf>) {
    let mut found = Vec::new();
    for scenario in scenarios {
        let name = scenario.file_name().unwrap_or_default().to_string_lossy();
        let of_this = differences(&scenario);
        found.extend(of_this.into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn on_our_scenarios() {
    check_all(scenarios_in(&ours()));
}

#[test]
fn on_the_shared_scenarios() {
    if let Some(folder) = shared_folder("scenarios") {
        check_all(scenarios_in(&folder));
    }
}
