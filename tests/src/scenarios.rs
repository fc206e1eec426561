//! Scenarios: small clusters of real manifests, and what must come out. One is a folder with `input/`, `expected.yaml` and
//! `README.md` (`tests/README.md` has the format); to add one is to add a folder.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::command::{Finished, dractl};

mod check;
mod classic;
mod expected;
mod large;
mod recorded;

use check::Strictness;
use expected::Expected;

/// The material beside the repository; none of it is needed to build.
pub fn shared() -> PathBuf {
    match std::env::var_os("DRACTL_SHARED") {
        Some(path) => path.into(),
        None => crate::repository::root().join("../shared"),
    }
}

/// A folder of the shared material, or a loud nothing.
pub fn shared_folder(name: &str) -> Option<PathBuf> {
    let folder = shared().join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {} is not there", folder.display());
    None
}

pub fn ours() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios")
}

/// The scenarios of a folder, by name.
pub fn scenarios_in(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be read").path())
        .filter(|path| path.join("input").is_dir())
        .collect();
    found.sort();
    found
}

pub fn read_expected(scenario: &Path) -> Expected {
    let path = scenario.join("expected.yaml");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn simulate(scenario: &Path, run: &str, output: &str) -> Finished {
    let input = scenario.join("input").display().to_string();
    let mut args = vec!["simulate", "-o", output];
    args.extend(run.split_whitespace());
    args.push(&input);
    dractl(&args)
}

/// Everything that is otherwise than expected.
fn differences(scenario: &Path) -> Vec<String> {
    let expected = read_expected(scenario);
    let json = simulate(scenario, &expected.run, "json");
    // What the plugin remembers from call to call changes nothing.
    let bare = simulate(scenario, &format!("{} --no-caches", expected.run), "json");
    if bare != json {
        return vec![format!("without caches: {} {}", bare.stdout, bare.stderr)];
    }
    if json.status > 1 {
        return vec![format!("status {}: {}", json.status, json.stderr)];
    }
    let output = json.json();
    let mut found = check::differences(&expected, &output, Strictness::AnyNode);
    let all_placed = expected.pods.iter().all(|pod| pod.verdict == "scheduled");
    if json.status != u8::from(!all_placed) {
        found.push(format!("exit status {}", json.status));
    }
    let yaml = simulate(scenario, &expected.run, "yaml");
    if yaml.status != json.status {
        found.push(format!("exit status {} with -o yaml", yaml.status));
    }
    found.extend(check::yaml_differences(&expected, &output, &yaml));
    found.extend(crate::schema::check(&output));
    found
}

/// Runs them all, and says all differences at once.
fn run_all(folder: &Path) -> usize {
    let scenarios = scenarios_in(folder);
    let mut found = Vec::new();
    for scenario in &scenarios {
        let name = scenario.file_name().unwrap_or_default().to_string_lossy();
        let of_this = differences(scenario);
        found.extend(of_this.into_iter().map(|text| format!("{name}: {text}")));
    }
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
    scenarios.len()
}

#[test]
fn our_scenarios() {
    assert!(run_all(&ours()) >= 21);
}

#[test]
fn shared_scenarios() {
    if let Some(folder) = shared_folder("scenarios") {
        assert!(run_all(&folder) >= 31);
    }
}

#[test]
fn every_scenario_of_ours_names_its_source() {
    for scenario in scenarios_in(&ours()) {
        let name = scenario
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        assert_eq!(read_expected(&scenario).scenario, name);
        let readme = std::fs::read_to_string(scenario.join("README.md")).expect("a README");
        assert!(
            readme.contains("| repository | path | commit | licence |")
                && readme.contains("Apache-2.0"),
            "{name}: no source"
        );
    }
}

/// A checker that accepts everything would pass too.
#[test]
fn differences_are_seen() {
    let scenario = ours().join("example-gpu-test4");
    let expected = read_expected(&scenario);
    let output = simulate(&scenario, &expected.run, "json").json();
    let yaml = simulate(&scenario, &expected.run, "yaml");
    let differs = |pointer: &str, value: serde_json::Value| {
        let mut changed = output.clone();
        *changed
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("{pointer}")) = value;
        let mut found = check::differences(&expected, &changed, Strictness::FirstFit);
        found.extend(check::yaml_differences(&expected, &changed, &yaml));
        found
    };
    assert_eq!(differs("/pods/0/attempts", json!(7)), Vec::<String>::new());
    let device = "/pods/1/claims/0/allocation/devices/results/0/device";
    for (pointer, value) in [
        ("/pods/0/verdict", json!("waiting")),
        ("/pods/0/node", json!("other")),
        ("/pods/0/feasibleNodes", json!([])),
        ("/pods/0/at", json!("Filter")),
        ("/pods/0/name", json!("pod1")),
        ("/pods/0/claims/0/name", json!("gpu")),
        ("/pods/0/claims/0/claim", json!("other")),
        ("/pods/0/claims/0/devices/0/device", json!("gpu-1")),
        (device, json!("gpu-1")),
        ("/pods", json!([])),
    ] {
        assert!(!differs(pointer, value).is_empty(), "{pointer}");
    }
    let mut other = expected.clone();
    other.at_end[0].reserved_for.swap(0, 1);
    assert_eq!(check::yaml_differences(&other, &output, &yaml).len(), 1);
}
