//! Objects that nobody means well with: no panic, answers of a bounded size.

use serde_json::{Value, json};

use super::cluster::*;

/// The host takes 64 MiB for all nodes of a call; one node stays far below.
const LARGEST: usize = 1 << 20;

fn size(answer: &Value) -> usize {
    answer.to_string().len()
}

#[test]
fn long_names_and_expressions() {
    let long = "x".repeat(100_000);
    let devices: Value = (0..200)
        .map(|i| device(&format!("{long}{i}"), json!({&long: {"string": &long}})))
        .collect();
    let expression = format!(
        "device.attributes['{}'].x == 'y' && true",
        "d".repeat(9_000)
    );
    let mut claim = claim("c", json!([request(&long, 1, &[&expression])]));
    claim["spec"]["devices"]["constraints"] = json!([{"matchAttribute": &long}]);
    let answer = Cluster::new(vec![
        class("gpu", &[]),
        slice("a", devices),
        claim,
        pod(&["c"]),
    ])
    .explain(CURRENT, "n1");
    assert!(size(&answer) < LARGEST, "{}", size(&answer));
}

#[test]
fn many_of_everything() {
    let device_of = |i: usize| {
        let attributes = json!({format!("a{i}"): {"int": i}, "m": {"string": format!("v{i}")}});
        device(&format!("d{i}"), attributes)
    };
    let devices: Value = (0..1_000).map(device_of).collect();
    let own = |i: usize| format!("device.attributes['gpu.example.com'].a{i} == {i}");
    let expression = (0..60).map(own).collect::<Vec<_>>().join(" && ");
    let requests: Value = (0..100)
        .map(|i| request(&format!("r{i}"), 9, &[&expression]))
        .collect();
    let mut claim = claim("c", requests);
    let constraints: Value = (0..200)
        .map(|_| json!({"matchAttribute": "gpu.example.com/m"}))
        .collect();
    claim["spec"]["devices"]["constraints"] = constraints;
    let names: Vec<&str> = std::iter::repeat_n("c", 200).collect();
    let answer = Cluster::new(vec![
        class("gpu", &[]),
        slice("a", devices),
        claim,
        pod(&names),
    ])
    .explain(CURRENT, "n1");
    assert!(size(&answer) < 64 * LARGEST, "{}", size(&answer));
}

#[test]
fn deep_bindings() {
    let mut expression = String::from("device.driver == 'x' && true");
    for i in 0..40 {
        expression = format!("cel.bind(v{i}, device.attributes['d'], ({expression} && (true)))");
    }
    let answer = Cluster::new(vec![
        class("gpu", &[]),
        slice("a", json!([device("d0", json!({}))])),
        claim("c", json!([request("r", 1, &[&expression])])),
        pod(&["c"]),
    ])
    .explain(CURRENT, "n1");
    let kind = &answer["claims"][0]["requests"][0]["reasons"][0]["type"];
    assert!(
        ["request-selector", "request-selector-error"].contains(&kind.as_str().unwrap_or_default()),
        "{answer:#}"
    );
}

#[test]
fn a_pod_that_is_none() {
    let cluster = Cluster::new(vec![pod(&[])]);
    for json in ["", "null", "[]", "{}", "{\"spec\": 3}", "\u{1}"] {
        let mut pod = object(&pod(&[]));
        pod.json = json.as_bytes().to_vec();
        let mut plugin = crate::plugin::Plugin::default();
        let answers = plugin.explain(&cluster, &pod, &["n1".to_owned()]);
        let answer: Value = serde_json::from_slice(&answers[0]).expect("JSON");
        assert_eq!(super::schema::violations(&answer), [""; 0], "{json}");
    }
}
