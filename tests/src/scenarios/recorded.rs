//! Generated clusters of 100 to 5,000 nodes, and the placements that the Go allocator chose: each pod takes the first feasible
//! node, and the search for the next one begins behind the nodes visited.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::shared_folder;
use crate::command::dractl_with;

/// A line of `*.first.placements.jsonl`.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Placement {
    pod: String,
    /// Empty if there was none.
    node: String,
    /// `driver/pool/device`, per claim.
    devices: Vec<Vec<String>>,
}

/// Nothing, loudly, where nobody can unpack it.
fn unpacked(path: &Path) -> Option<Vec<u8>> {
    match Command::new("xz").arg("-dc").arg(path).output() {
        Ok(output) if output.status.success() => Some(output.stdout),
        Ok(output) => panic!(
            "{}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => {
            eprintln!("SKIPPED: {}: xz does not run: {error}", path.display());
            None
        }
    }
}

fn recorded(path: &Path) -> Vec<Placement> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a placement"));
    lines.collect()
}

fn placements(output: &Value) -> Vec<Placement> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let device = |device: &Value| {
        ["driver", "pool", "device"]
            .map(|key| text(&device[key]))
            .join("/")
    };
    let pods = list(&output["pods"]);
    let placement = |pod: &Value| Placement {
        pod: text(&pod["name"]),
        node: text(&pod["node"]),
        devices: list(&pod["claims"])
            .iter()
            .map(|claim| list(&claim["devices"]).iter().map(device).collect())
            .filter(|devices: &Vec<String>| !devices.is_empty())
            .collect(),
    };
    pods.iter().map(placement).collect()
}

fn compare(names: &[&str], profile: &str) {
    let Some(folder) = shared_folder("data/bench") else {
        return;
    };
    for name in names {
        let Some(cluster) = unpacked(&folder.join(format!("{name}.json.xz"))) else {
            return;
        };
        let args = [
            "simulate",
            "--first-feasible",
            "--profile",
            profile,
            "-o",
            "json",
            "-",
        ];
        let output = dractl_with(&args, cluster).json();
        let wanted = recorded(&folder.join(format!("{name}.first.placements.jsonl")));
        assert_eq!(wanted.len(), 60, "{name}");
        for (got, wanted) in placements(&output).iter().zip(&wanted) {
            assert_eq!(got, wanted, "{name}");
        }
        assert_eq!(
            output["pods"].as_array().map(Vec::len),
            Some(wanted.len()),
            "{name}"
        );
    }
}

#[test]
fn placements_in_100_nodes() {
    compare(&["selector-100", "match4-100", "two-100"], "current");
}

#[test]
fn placements_in_100_nodes_as_1_31() {
    compare(&["selector-100", "match4-100", "two-100"], "1.31");
}

#[test]
fn placements_in_1000_nodes() {
    compare(&["selector-1000", "match4-1000", "two-1000"], "current");
}

#[test]
fn placements_in_5000_nodes() {
    compare(&["selector-5000"], "current");
}
