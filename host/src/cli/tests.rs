//! The command line in this process: what is refused, with which words and status, and where output goes.

use std::io::{self, Read, Write};

use super::*;

struct Finished {
    status: u8,
    stdout: String,
    stderr: String,
}

fn dractl(args: &[&str]) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let args = ["dractl"].iter().chain(args);
    let status = run(args, &mut io::empty(), &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

#[test]
fn help_is_data_and_lists_what_there_is() {
    let help = dractl(&["--help"]);
    assert_eq!((help.status, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("simulate") && help.stdout.contains("plugin"));
    assert!(help.stdout.contains("soak"));
    assert!(
        dractl(&["simulate", "--help"])
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
}

#[test]
fn wrong_usage_is_told_on_stderr() {
    for args in [
        &["simulate"][..],
        &["simulate", "-o", "xml", "."],
        &["simulate", "--feature", "X", "."],
        &["simulate", "--feature", "X=yes", "."],
        &["explain"],
        &[],
    ] {
        let wrong = dractl(args);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{args:?}");
        assert!(!wrong.stderr.is_empty());
    }
}

#[test]
fn a_plugin_that_cannot_be_read_is_named_once_with_its_cause() {
    let missing = dractl(&["simulate", "--plugin", "no/such/plugin.wasm", "."]);
    assert_eq!((missing.status, missing.stdout.as_str()), (2, ""));
    let lines: Vec<&str> = missing.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "error: cannot read the plugin no/such/plugin.wasm"
    );
    assert!(
        lines[1].starts_with("  because: ") && lines.len() == 2,
        "{lines:?}"
    );
}

#[test]
fn bytes_that_are_no_component_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text.wasm");
    std::fs::write(&file, "no component").unwrap();
    for command in [
        &["plugin", "check"][..],
        &["plugin", "inspect"],
        &["simulate", ".", "--plugin"],
    ] {
        let refused = dractl(&[command, &[file.to_str().unwrap()]].concat());
        assert_eq!(refused.status, 2, "{command:?}");
        assert!(
            refused.stderr.starts_with("error: ") && refused.stderr.contains("text.wasm"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn the_built_in_plugin_can_be_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plugin.wasm");
    assert_eq!(
        dractl(&["plugin", "extract", file.to_str().unwrap()]).status,
        0
    );
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\0asm"));
    assert_eq!(bytes, crate::plugin::BUILT_IN);
}

/// A reader that goes away, as `head` does.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_broken_pipe_is_no_error() {
    let mut stderr = Vec::new();
    let mut stdin: Box<dyn Read> = Box::new(io::empty());
    let status = run(
        ["dractl", "plugin", "extract", "-"],
        &mut stdin,
        &mut Closed,
        &mut stderr,
    );
    assert_eq!((status, stderr.len()), (0, 0));
}

const CLUSTER: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s1}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec:
  spec:
    devices:
      requests: [{name: gpu, exactly: {deviceClassName: gpu}}]
"#;

const POD: &str = r#"
apiVersion: v1
kind: Pod
metadata: {name: NAME, uid: 5f2c1d7e-0000-4000-8000-000000000001}
spec:
  containers: [{name: c, image: i}]
  resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
"#;

fn pod(name: &str) -> String {
    format!(
        "---{}",
        POD.replace("NAME", name)
            .replace("0001", &format!("{:04}", name.len()))
    )
}

/// Simulates a text that comes on stdin.
fn simulate(text: &str, args: &[&str]) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let args = [&["dractl", "simulate", "-"], args].concat();
    let status = run(args, &mut text.as_bytes(), &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

fn json(finished: &Finished) -> serde_json::Value {
    serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|_| panic!("{}{}", finished.stdout, finished.stderr))
}

/// One device, two pods: the first gets it, the second does not.
#[test]
fn the_component_decides() {
    let text = [CLUSTER.to_owned(), pod("a"), pod("bb")].concat();
    let done = simulate(&text, &["-o", "json", "--stats"]);
    assert_eq!((done.status, done.stderr.as_str()), (1, ""));
    let report = json(&done);
    let [a, b] = [&report["pods"][0], &report["pods"][1]];
    assert_eq!(
        (&a["verdict"], &a["node"], &a["at"]),
        (&"scheduled".into(), &"n1".into(), &serde_json::Value::Null)
    );
    let device = serde_json::json!({"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"});
    assert_eq!(a["claims"][0]["devices"][0], device);
    assert_eq!(
        a["claims"][0]["allocation"]["devices"]["results"][0]["device"],
        "gpu-0"
    );
    assert_eq!(
        (&b["verdict"], &b["at"], &b["node"]),
        (
            &"unschedulable".into(),
            &"Filter".into(),
            &serde_json::Value::Null
        )
    );
    let reason = serde_json::json!({"plugin": "DynamicResources", "code": "unschedulable-and-unresolvable",
        "message": "cannot allocate all claims", "count": 1, "nodes": ["n1"]});
    assert_eq!(b["reasons"], serde_json::json!([reason]));
    assert!(
        report["stats"]["nodesVisited"].as_u64() >= Some(2)
            && report["stats"]["crossings"].as_u64() > Some(0)
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = [CLUSTER.to_owned(), pod("a"), pod("bb")].concat();
    for output in ["table", "wide", "json", "yaml", "html"] {
        let [first, second] = [0, 1].map(|_| simulate(&text, &["-o", output]));
        assert_eq!((first.stdout, first.stderr), (second.stdout, second.stderr));
    }
}

/// The uid of the pod was in the input, that of its claim was made up here.
#[test]
fn yaml_shows_the_resulting_objects() {
    let done = simulate(&[CLUSTER.to_owned(), pod("a")].concat(), &["-o", "yaml"]);
    assert_eq!(done.status, 0);
    let documents: Vec<&str> = done.stdout.split("---\n").collect();
    let [claim, pod] = documents[..] else {
        panic!("{}", done.stdout)
    };
    let metadata = |text: &str| {
        let value: serde_json::Value = serde_saphyr::from_str(text).unwrap();
        (
            value["kind"].clone(),
            value["metadata"]["uid"].is_string(),
            value["metadata"]["resourceVersion"].is_string(),
        )
    };
    assert_eq!(metadata(claim), ("ResourceClaim".into(), false, false));
    assert_eq!(metadata(pod), ("Pod".into(), true, false));
    assert!(claim.contains("device: gpu-0") && pod.contains("nodeName: n1"));
    assert_eq!(done.stderr, "1 pod: 1 scheduled\n");
}

#[test]
fn nothing_pending_is_no_failure() {
    let done = simulate(CLUSTER, &[]);
    assert_eq!(done.status, 0);
    assert!(
        done.stdout.starts_with("nothing is pending"),
        "{}",
        done.stdout
    );
}

#[test]
fn what_keeps_it_from_running_is_told() {
    let no_node = CLUSTER.replace("kind: Node", "kind: Namespace");
    for (text, args, part) in [
        (no_node.as_str(), &[][..], "no Node"),
        ("", &[], "empty"),
        (
            CLUSTER,
            &["--feature", "DRAAdminAcces=true"],
            "DRAAdminAccess",
        ),
        (CLUSTER, &["--profile", "1.13"], "1.31"),
        ("{", &[], "standard input:1"),
    ] {
        let refused = simulate(text, args);
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{part}");
        assert!(
            refused.stderr.starts_with("error: ") && refused.stderr.contains(part),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn a_pod_whose_object_cannot_be_used_is_an_input_error_and_the_others_go_on() {
    let old = pod("old").replace(
        "resourceClaimTemplateName: one",
        "source: {resourceClaimTemplateName: one}",
    );
    let claim = "---\napiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: c}\nspec: {}\n";
    let text = [CLUSTER.to_owned(), old, pod("a"), claim.to_owned()].concat();
    let done = simulate(&text, &["-o", "json"]);
    assert_eq!(done.status, 1);
    let report = json(&done);
    assert_eq!(report["pods"][0]["verdict"], "input-error");
    assert!(
        report["pods"][0]["message"]
            .as_str()
            .unwrap()
            .contains("spec.resourceClaims[0]")
    );
    assert_eq!(report["pods"][1]["verdict"], "scheduled");
    let warning = report["warnings"][0]["message"].as_str().unwrap();
    assert!(
        warning.starts_with("resource.k8s.io/v1alpha2 is not supported"),
        "{warning}"
    );
}

#[test]
fn a_pod_waits_for_a_claim_that_nobody_generated() {
    let text = [CLUSTER.to_owned(), pod("a").replace(": one", ": another")].concat();
    let report = json(&simulate(&text, &["-o", "json"]));
    let pod = &report["pods"][0];
    assert_eq!(
        (&pod["verdict"], &pod["at"]),
        (&"waiting".into(), &"PreEnqueue".into())
    );
}

#[test]
fn the_built_in_plugin_is_one_that_runs() {
    let checked = dractl(&["plugin", "check"]);
    assert_eq!((checked.status, checked.stderr.as_str()), (0, ""));
    assert!(
        checked.stdout.starts_with("DynamicResources "),
        "{}",
        checked.stdout
    );
    let inspected = dractl(&["plugin", "inspect"]);
    assert!(
        inspected
            .stdout
            .contains("kube-scheduler:plugin/scheduling@0.1.0")
    );
}
