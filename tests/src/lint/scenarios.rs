//! The scenarios: published mistakes are found, each where `expected.yaml` says, and nothing is called an error where
//! there is none.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Found, found};
use crate::command::dractl;
use crate::scenarios::shared_folder;

/// Scenarios with an error that `expected.yaml` tells in other words: something that pods need is missing, or no published
/// device is what a claim asks for.
const LACKING: [&str; 3] = [
    "example-class-missing",
    "intel-one-flex",
    "nvidia-cel-nomatch",
];

/// Name, expectation, findings.
fn all() -> Vec<(String, Value, Vec<Found>)> {
    let Some(folder) = shared_folder("scenarios") else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("input").is_dir())
        .collect();
    folders.sort();
    let one = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("expected.yaml")).unwrap();
        let expected: Value = serde_saphyr::from_str(&text).unwrap();
        let flags = expected["run"]
            .as_str()
            .filter(|run| run.starts_with("--"))
            .unwrap_or_default()
            .to_owned();
        (name(&path), expected, lint(&path, &flags))
    };
    folders.into_iter().map(one).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn lint(scenario: &Path, flags: &str) -> Vec<Found> {
    let input = scenario.join("input").display().to_string();
    let flags = flags
        .split_whitespace()
        .map(|flag| flag.trim_end_matches("input").trim());
    let flags: Vec<&str> = flags
        .filter(|flag| !flag.is_empty() && *flag != "check")
        .collect();
    found(&dractl(
        &[&["lint", "-o", "json"], &flags[..], &[&input]].concat(),
    ))
}

fn without_indexes(path: &str) -> String {
    let mut depth = 0;
    let keep = |c: &char| {
        if *c == '[' {
            depth += 1;
        }
        let keep = depth == 0 || ['[', ']'].contains(c);
        if *c == ']' {
            depth -= 1;
        }
        keep
    };
    path.chars().filter(keep).collect()
}

/// A published problem names a kind, and a path or the API version.
fn is_told(problem: &str, findings: &[Found]) -> bool {
    let words: Vec<&str> = problem.split([' ', ':', ';']).collect();
    let path = words.iter().find(|word| {
        ["spec.", "pod.spec.", "status."]
            .iter()
            .any(|root| word.starts_with(root))
    });
    let path = path.map_or("apiVersion", |path| path.trim_start_matches("pod."));
    let kinds = [
        "Pod",
        "ResourceClass",
        "ResourceClaimTemplate",
        "ResourceClaim",
        "DeviceClass",
        "ResourceSlice",
    ];
    let kind = words
        .iter()
        .find(|word| kinds.contains(word))
        .copied()
        .unwrap_or("Pod");
    findings.iter().any(|found| {
        // What is missing there may be told where it stands.
        let is_named = without_indexes(&found.remedy).contains(&without_indexes(path));
        found.object.starts_with(&format!("{kind} "))
            && (without_indexes(&found.path) == without_indexes(path) || is_named)
    })
}

#[test]
fn published_mistakes_are_found_and_nothing_else_is_an_error() {
    let mut problems = 0;
    for (name, expected, findings) in all() {
        let published = expected["inputProblems"].as_array();
        for problem in published.into_iter().flatten().filter_map(Value::as_str) {
            assert!(
                is_told(problem, &findings),
                "{name}: {problem}\n{findings:#?}"
            );
            problems += 1;
        }
        let errors = findings
            .iter()
            .filter(|found| found.severity == "error")
            .count();
        let may_fail = published.is_some() || LACKING.contains(&name.as_str());
        assert!(errors == 0 || may_fail, "{name}: {findings:#?}");
        assert!(
            errors > 0 || !LACKING.contains(&name.as_str()),
            "{name} has no error"
        );
    }
    assert!(problems == 0 || problems == 7, "{problems}");
}

/// The true cause, with the values.
#[test]
fn causes_that_other_scenarios_have() {
    let causes = [
        (
            "intel-one-flex",
            "no device has gpu.intel.com/family \"Flex\"",
            "\"Arc\", \"Data Center Flex\"",
        ),
        (
            "example-class-missing",
            "there is no DeviceClass \"gpu.example.com\"",
            "install the driver",
        ),
        (
            "example-claim-not-created-yet",
            "there is no ResourceClaimTemplate gpu-test1/single-gpu",
            "create it",
        ),
        (
            "k8s-docs-empty-selector",
            "unknown field \"expression\"",
            "selectors[0].cel.expression",
        ),
        (
            "example-incomplete-pool",
            "is incomplete: 1 slice of generation 0 where it says 2",
            "slices",
        ),
        (
            "nvidia-cel-nomatch",
            "is true for none of the 3 devices",
            "published",
        ),
        (
            "cluster-50-nodes",
            "is true for none of the 316 devices that DeviceClass gpu.nvidia.com leaves",
            "published",
        ),
    ];
    let all = all();
    for (name, message, remedy) in causes.into_iter().filter(|_| !all.is_empty()) {
        let (_, _, findings) = all.iter().find(|(other, _, _)| other == name).unwrap();
        let is_it =
            |found: &Found| found.message.contains(message) && found.remedy.contains(remedy);
        assert!(findings.iter().any(is_it), "{name}: {findings:#?}");
    }
}

/// 50 nodes, 290 objects: one impossible request, one stale slice, one incomplete pool, as its README says.
#[test]
fn a_large_cluster_is_quiet() {
    let Some(folder) = shared_folder("scenarios/cluster-50-nodes") else {
        return;
    };
    let mut objects: Vec<String> = lint(&folder, "")
        .into_iter()
        .map(|found| found.object)
        .collect();
    objects.sort();
    assert_eq!(
        objects,
        [
            "ResourceClaimTemplate train/no-such-gpu",
            "ResourceSlice h100-004-gpu.nvidia.com-00000",
            "ResourceSlice h100-005-gpu.nvidia.com-00001"
        ]
    );
}
