//! What the outputs say, and that they say it again.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{OUTPUTS, example};
use crate::command::{dractl, dractl_with, run_on};

/// One node with a device, and the pods.
fn cluster(pods: &[Value]) -> Vec<u8> {
    let mut items = vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s1"}, "spec": {
            "driver": "gpu.example.com", "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "gpu-0"}]}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "one"},
            "spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}}),
    ];
    items.extend_from_slice(pods);
    json!({"apiVersion": "v1", "kind": "List", "items": items})
        .to_string()
        .into_bytes()
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"resourceClaims": [{"name": "c", "resourceClaimTemplateName": "one"}]}})
}

#[test]
fn nothing_pending_is_no_failure_and_is_said() {
    let mut bound = pod("bound");
    bound["spec"]["nodeName"] = "n1".into();
    for pods in [&[][..], &[bound]] {
        for output in OUTPUTS {
            let finished = dractl_with(&["simulate", "-o", output, "-"], cluster(pods));
            assert_eq!(finished.status, 0, "{output}: {}", finished.stderr);
            match output {
                "json" => assert_eq!(finished.json()["pods"], json!([])),
                "yaml" => assert!(
                    finished.stderr.contains("nothing is pending"),
                    "{}",
                    finished.stderr
                ),
                _ => assert!(
                    finished.stdout.contains("nothing is pending"),
                    "{}",
                    finished.stdout
                ),
            }
        }
    }
}

#[test]
fn one_pod_of_two_is_status_1_in_every_output() {
    for output in OUTPUTS {
        let finished = dractl_with(
            &["simulate", "-o", output, "-"],
            cluster(&[pod("a"), pod("b")]),
        );
        assert_eq!(finished.status, 1, "{output}");
        assert!(
            finished.stdout.contains("gpu-0"),
            "{output}: {}",
            finished.stdout
        );
        let said = if output == "json" {
            &finished.stdout
        } else {
            &finished.stderr
        };
        assert!(said.contains("unschedulable"), "{output}: {said}");
    }
    for output in OUTPUTS {
        let finished = dractl_with(&["simulate", "-o", output, "-"], cluster(&[pod("a")]));
        assert_eq!(finished.status, 0, "{output}");
    }
}

/// The names of the published form: whoever reads them relies on them.
#[test]
fn json_has_the_names_of_the_contract() {
    let args = ["simulate", "--stats", "-o", "json", "-"];
    let output = dractl_with(&args, cluster(&[pod("a"), pod("b")])).json();
    let has = |value: &Value, names: &[&str]| {
        for name in names {
            assert!(value.get(name).is_some(), "{name} is not in {value}");
        }
    };
    has(&output, &["pods", "warnings", "stats"]);
    let names = [
        "namespace",
        "name",
        "verdict",
        "node",
        "feasibleNodes",
        "nodesVisited",
        "attempts",
        "claims",
        "at",
        "code",
        "message",
        "reasons",
        "warnings",
    ];
    for pod in output["pods"].as_array().unwrap() {
        has(pod, &names);
        has(
            &pod["claims"][0],
            &["name", "claim", "devices", "allocation"],
        );
    }
    let [placed, refused] = [&output["pods"][0], &output["pods"][1]];
    has(
        &placed["claims"][0]["devices"][0],
        &["request", "driver", "pool", "device"],
    );
    assert_eq!(
        (&placed["code"], &placed["at"], &placed["reasons"]),
        (&json!("success"), &Value::Null, &json!([]))
    );
    has(
        &refused["reasons"][0],
        &["plugin", "code", "message", "count", "nodes"],
    );
    assert_eq!(refused["reasons"][0]["nodes"], json!(["n1"]));
    let stats = [
        "pods",
        "cycles",
        "nodesVisited",
        "loadMs",
        "elapsedMs",
        "podsPerSecond",
        "pluginMs",
        "crossings",
        "bytesIn",
    ];
    has(&output["stats"], &stats);
    assert_eq!(output["stats"]["pods"], 2);
    let without = dractl_with(&["simulate", "-o", "json", "-"], cluster(&[])).json();
    assert_eq!(without.get("stats"), None);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let large = super::super::scenarios::shared_folder("scenarios/cluster-50-nodes/input");
    let inputs = large
        .map(|path| path.display().to_string())
        .into_iter()
        .chain([example()]);
    for input in inputs {
        for output in OUTPUTS {
            let args = ["simulate", "-o", output, &input];
            assert_eq!(dractl(&args), dractl(&args), "{output} {input}");
        }
    }
    let many: Vec<Value> = (0..8).map(|index| pod(&format!("p{index}"))).collect();
    for output in OUTPUTS {
        let run = || dractl_with(&["simulate", "-o", output, "-"], cluster(&many));
        assert_eq!(run(), run(), "{output}");
    }
}

#[test]
fn an_object_s_text_cannot_move_the_cursor() {
    let mut hostile = pod("a");
    hostile["metadata"]["name"] = "a\u{1b}[2Jb".into();
    hostile["spec"]["schedulerName"] = "x\u{1b}]0;title\u{7}\r\u{9b}31m".into();
    for output in OUTPUTS {
        let finished = dractl_with(
            &["simulate", "-o", output, "-"],
            cluster(&[hostile.clone()]),
        );
        for text in [&finished.stdout, &finished.stderr] {
            let raw = text.contains(|c: char| c.is_control() && c != '\n');
            assert!(!raw, "{output}: {text:?}");
        }
    }
}

#[test]
fn standard_input_may_stand_among_files() {
    let piped = dractl_with(
        &["simulate", "-o", "json", &example(), "-"],
        cluster(&[pod("piped")]),
    )
    .json();
    let names: Vec<&str> = piped["pods"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|pod| pod["name"].as_str())
        .collect();
    assert_eq!(names, ["pod0", "pod1", "piped"]);
}

#[test]
fn fewer_search_steps_are_said_with_their_flag() {
    let args = ["simulate", "--search-steps", "0", "-o", "json", "-"];
    let output = dractl_with(&args, cluster(&[pod("a")])).json();
    let message = output["pods"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("undecided after 0 search steps (raise the limit with --search-steps)"),
        "{message}"
    );
    let args = ["simulate", "--search-steps", "100", "-o", "json", "-"];
    assert_eq!(dractl_with(&args, cluster(&[pod("a")])).status, 0);
}

/// Takes some bytes, and then behaves like a pipe without a reader.
struct Gone(usize);

impl Write for Gone {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let example = example();
    for output in OUTPUTS {
        for bytes in [0, 1, 50] {
            let mut stderr = Vec::new();
            let args = ["simulate", "-o", output, &example];
            let status = run_on(&args, Vec::new(), &mut Gone(bytes), &mut stderr);
            let stderr = String::from_utf8(stderr).unwrap();
            assert_eq!(
                (status, stderr.contains("error")),
                (0, false),
                "{output}: {stderr}"
            );
        }
    }
}

/// A full disk is one.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut stderr = Vec::new();
    let status = run_on(
        &["simulate", "-o", "json", &example()],
        Vec::new(),
        &mut Full,
        &mut stderr,
    );
    assert_eq!(status, 2);
    assert!(String::from_utf8(stderr).unwrap().starts_with("error: "));
}
