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
    assert!(size(&answer) < 8 * LARGEST, "{}", size(&answer));
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

/// A long expression of a class that a pod uses as often as it can.
#[test]
fn one_expression_many_times() {
    let expression = format!("device.driver == '{}' && true", "d".repeat(9_000));
    let requests: Value = (0..200)
        .map(|i| request(&format!("r{i}"), 1, &[]))
        .collect();
    let names: Vec<&str> = std::iter::repeat_n("c", 100).collect();
    let answer = Cluster::new(vec![
        class("gpu", &[&expression]),
        slice("a", json!([device("d0", json!({}))])),
        claim("c", requests),
        pod(&names),
    ])
    .explain(CURRENT, "n1");
    assert!(size(&answer) < 8 * LARGEST, "{}", size(&answer));
    let last = "/claims/63/requests/199/reasons/0";
    assert_eq!(
        all(&answer, last),
        [&json!({"type": "class-selector", "count": 1, "index": 0})]
    );
}

#[test]
fn many_nodes_in_one_call() {
    let mut cluster = Cluster::new(vec![class("gpu", &["device.driver == 'x'"])]);
    let names: Vec<String> = (0..300).map(|i| format!("m{i}")).collect();
    for name in &names {
        cluster.add(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}));
        let mut slice = slice(
            name,
            (0..8)
                .map(|i| device(&format!("d{i}"), json!({})))
                .collect(),
        );
        slice["spec"]["nodeName"] = json!(name);
        cluster.add(slice);
    }
    cluster.add(claim("c", json!([request("r", 1, &[])])));
    let mut plugin = crate::plugin::Plugin::default();
    let answers = plugin.explain(&cluster, &object(&pod(&["c"])), &names);
    assert_eq!(answers.len(), names.len());
    for (answer, name) in answers.iter().zip(&names) {
        let answer: Value = serde_json::from_slice(answer).expect("JSON");
        assert_eq!(super::schema::violations(&answer), [""; 0], "{answer:#}");
        assert_eq!(
            (&answer["node"], &answer["verdict"]["at"]),
            (&json!(name), &json!("Filter"))
        );
        assert_eq!(
            all(&answer, "/claims/0/requests/0/reasons/0/count"),
            [&json!(8)]
        );
    }
}
