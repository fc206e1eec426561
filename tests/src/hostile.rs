//! Objects that nobody should write, and some that somebody will: each ends in a verdict or in an error that names the object.
//! Nothing panics, and no input costs the plugin its instance.

use serde_json::{Value, json};

use crate::command::{Finished, dractl_with};

mod objects;
mod owners;
mod selectors;
mod values;

/// What becomes of the pod `default/p`.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It gets this many devices.
    Placed(usize),
    /// Verdict, and a part of the message.
    Refused(&'static str, &'static str),
}

use Fate::{Placed, Refused};

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
}

fn class() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}})
}

fn slice(devices: Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s1"}, "spec": {
        "driver": "gpu.example.com", "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1}, "devices": devices}})
}

/// That many devices that differ in name only.
fn devices(count: usize) -> Value {
    (0..count)
        .map(|index| json!({"name": format!("gpu-{index}")}))
        .collect()
}

/// A request for one device of the class.
fn request(name: &str) -> Value {
    json!({"name": name, "exactly": {"deviceClassName": "gpu"}})
}

fn claim(requests: Vec<Value>) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": requests}}})
}

fn pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "x"}], "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}})
}

/// The value with another at a JSON pointer; the last step may be new.
fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer");
    value
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{parent}"))[last] = new;
    value
}

/// A node, a class, two devices, the pod and its claim, all well; some of them replaced by kind, the rest added.
fn cluster(replaced: Vec<Value>) -> Vec<Value> {
    let mut objects = vec![
        node(),
        class(),
        slice(devices(2)),
        claim(vec![request("r")]),
        pod(),
    ];
    for object in replaced {
        match objects
            .iter_mut()
            .find(|known| known["kind"] == object["kind"])
        {
            Some(known) => *known = object,
            None => objects.push(object),
        }
    }
    objects
}

fn list(objects: Vec<Value>) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": objects})
}

/// Simulates. What must hold for every input is checked here.
fn simulate(what: &str, input: Vec<u8>) -> Finished {
    let finished = dractl_with(&["simulate", "-o", "json", "-"], input);
    let Finished {
        status,
        stdout,
        stderr,
    } = &finished;
    assert!(*status <= 2, "{what}: status {status}");
    assert!(
        !stderr.contains("panicked") && stderr.len() < 2_000,
        "{what}: {stderr}"
    );
    if *status == 2 {
        assert!(
            stderr.starts_with("error: ") && stdout.is_empty(),
            "{what}: {stderr}"
        );
        return finished;
    }
    let output = finished.json();
    for pod in output["pods"].as_array().expect("a list") {
        let message = pod["message"].as_str().expect("a text");
        // So begins what the host says of a plugin that died.
        assert!(
            !message.starts_with("plugin DynamicResources"),
            "{what}: {message}"
        );
        assert!(
            !pod["warnings"].to_string().contains("died"),
            "{what}: {}",
            pod["warnings"]
        );
    }
    finished
}

fn assert_fate(what: &str, objects: Vec<Value>, fate: Fate) {
    let finished = simulate(what, list(objects).to_string().into_bytes());
    let output = match finished.status {
        2 => panic!("{what}: {}", finished.stderr),
        _ => finished.json(),
    };
    let pods = output["pods"].as_array().expect("a list");
    let pod = pods.iter().find(|pod| pod["name"] == "p");
    let pod = pod.unwrap_or_else(|| panic!("{what}: no pod: {}", output["warnings"]));
    let verdict = pod["verdict"].as_str().expect("a text");
    let message = pod["message"].as_str().expect("a text");
    match fate {
        Placed(count) => {
            let claims = pod["claims"].as_array().into_iter().flatten();
            let got: usize = claims
                .map(|claim| claim["devices"].as_array().map_or(0, Vec::len))
                .sum();
            assert_eq!((verdict, got), ("scheduled", count), "{what}: {message}");
        }
        Refused(wanted, part) => {
            assert_eq!(verdict, wanted, "{what}: {message}");
            assert!(
                message.contains(part),
                "{what}: {part:?} is not in {message}"
            );
            assert!(message.len() < 4_000, "{what}: {} bytes", message.len());
        }
    }
}

/// Warnings as `object: message`.
fn warnings(output: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = output["warnings"].as_array().into_iter().flatten();
    all.map(|one| format!("{}: {}", text(&one["object"]), text(&one["message"])))
        .collect()
}

fn assert_warned(output: &Value, part: &str) {
    let warnings = warnings(output);
    assert!(
        warnings.iter().any(|warning| warning.contains(part)),
        "{part:?} is not in {warnings:?}"
    );
}

#[test]
fn the_cluster_is_well_by_itself() {
    assert_fate("plain", cluster(vec![]), Placed(1));
}
