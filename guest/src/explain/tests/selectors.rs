//! Selectors: which part was false, what it saw, what may help.

use serde_json::{Value, json};

use super::cluster::*;

/// The reasons of the only request of the only claim.
fn reasons(answer: &Value) -> Vec<Value> {
    all(answer, "/claims/0/requests/0/reasons/*")
        .into_iter()
        .cloned()
        .collect()
}

fn two_models() -> Value {
    let device_of = |name: &str, model: &str| {
        let mut device = device(
            name,
            json!({"model": {"string": model}, "cores": {"int": 4}}),
        );
        device["capacity"] = json!({"memory": {"value": "40Gi"}});
        device
    };
    slice(
        "gpu-a",
        json!([
            device_of("d0", "A100"),
            device_of("d1", "A100"),
            device_of("d2", "T4")
        ]),
    )
}

fn told(expression: &str) -> Vec<Value> {
    let cluster = Cluster::new(vec![
        class("gpu", &["device.driver == 'gpu.example.com'"]),
        two_models(),
        claim("c", json!([request("r", 1, &[expression])])),
        pod(&["c"]),
    ]);
    reasons(&cluster.explain(CURRENT, "n1"))
}

#[test]
fn the_first_false_conjunct_and_what_it_saw() {
    let expression = "device.attributes['gpu.example.com'].cores > 2 && device.attributes['gpu.example.com'].model == 'H100'";
    let reasons = told(expression);
    assert_eq!(
        reasons[0],
        json!({"type": "request-selector", "count": 3, "index": 0, "expression": expression,
            "devices": ["gpu.example.com/gpu-a/d0", "gpu.example.com/gpu-a/d1", "gpu.example.com/gpu-a/d2"],
            "part": "device.attributes['gpu.example.com'].model == 'H100'",
            "values": [
                {"saw": [{"expression": "device.attributes[\"gpu.example.com\"].model", "value": "\"A100\""}],
                    "count": 2, "device": "gpu.example.com/gpu-a/d0"},
                {"saw": [{"expression": "device.attributes[\"gpu.example.com\"].model", "value": "\"T4\""}],
                    "count": 1, "device": "gpu.example.com/gpu-a/d2"},
            ],
            "hints": [{"type": "near-value", "name": "\"H100\"", "nearest": ["\"A100\"", "\"T4\""]}]})
    );
    assert_eq!(reasons[1], json!({"type": "short", "needed": 1, "have": 0}));
}

#[test]
fn devices_that_fail_in_different_parts_are_told_apart() {
    let reasons = told(
        "device.attributes['gpu.example.com'].model == 'A100' && \
         device.capacity['gpu.example.com'].memory.compareTo(quantity('80Gi')) >= 0",
    );
    let parts: Vec<_> = reasons
        .iter()
        .map(|reason| (&reason["part"], &reason["count"]))
        .collect();
    assert_eq!(
        parts[0],
        (
            &json!("device.attributes['gpu.example.com'].model == 'A100'"),
            &json!(1)
        )
    );
    assert_eq!(parts[1].1, &json!(2));
    let saw = &reasons[1]["values"][0]["saw"][0];
    assert_eq!(
        saw,
        &json!({"expression": "device.capacity[\"gpu.example.com\"].memory", "value": "quantity(\"40Gi\")"})
    );
    // Some device has the model that the first part wants.
    assert_eq!(reasons[0].get("hints"), None);
}

/// `device.attributes[device.driver]` is the attribute of whatever driver the device has, and values are of that driver alone.
#[test]
fn attributes_of_the_devices_own_driver() {
    let mut other = slice(
        "nic-a",
        json!([device("n0", json!({"model": {"string": "H100"}}))]),
    );
    other["spec"]["driver"] = json!("nic.example.com");
    let cluster = Cluster::new(vec![
        class("gpu", &["device.driver == 'gpu.example.com'"]),
        two_models(),
        other,
        claim(
            "c",
            json!([request(
                "r",
                1,
                &["device.attributes[device.driver].model == 'H100'"]
            )]),
        ),
        pod(&["c"]),
    ]);
    let reasons = reasons(&cluster.explain(CURRENT, "n1"));
    let told = reasons.iter().find(|one| one["type"] == "request-selector");
    let told = told.expect("a reason");
    assert_eq!(
        told["values"][0]["saw"],
        json!([{"expression": "device.attributes[device.driver].model", "value": "\"A100\""}])
    );
    assert_eq!(
        told["hints"],
        json!([{"type": "near-value", "name": "\"H100\"", "nearest": ["\"A100\"", "\"T4\""]}])
    );
}

#[test]
fn an_attribute_that_is_not_there() {
    let reasons = told("device.attributes['gpu.example.com'].modle == 'A100'");
    assert_eq!(reasons[0]["type"], "request-selector-error");
    assert_eq!(
        reasons[0]["message"],
        "CEL runtime error: no such key: modle"
    );
    assert_eq!(reasons[0]["values"][0]["saw"][0]["value"], Value::Null);
    assert_eq!(
        reasons[0]["hints"],
        json!([
            {"type": "guard", "guard": "has(device.attributes[\"gpu.example.com\"].modle)"},
            {"type": "unknown-attribute", "name": "modle", "nearest": ["model", "cores"]},
        ])
    );
}

#[test]
fn a_domain_that_is_not_there() {
    let reasons = told("device.attributes['gpu.exampel.com'].model == 'A100'");
    assert_eq!(
        reasons[0]["hints"][1],
        json!({"type": "unknown-domain", "name": "gpu.exampel.com", "nearest": ["gpu.example.com"]})
    );
    let reasons = told("has(device.attributes['gpu.example.com'].Model)");
    assert_eq!(reasons[0]["type"], "request-selector");
    assert_eq!(
        reasons[0]["hints"],
        json!([{"type": "unknown-attribute", "name": "Model", "nearest": ["model", "cores"]}])
    );
}

#[test]
fn an_expression_that_does_not_compile() {
    let reasons = told("device.nosuch == 1");
    assert_eq!(reasons[0]["type"], "request-selector-error");
    assert_eq!(reasons[0].get("part"), None);
    let message = reasons[0]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("CEL compile error: "), "{message}");
}

#[test]
fn the_class_comes_first() {
    let cluster = Cluster::new(vec![
        class("gpu", &["true", "device.driver == 'gpu.exmple.com'"]),
        two_models(),
        claim("c", json!([request("r", 1, &["false"])])),
        pod(&["c"]),
    ]);
    let reasons = reasons(&cluster.explain(CURRENT, "n1"));
    let first = &reasons[0];
    assert_eq!(
        (&first["type"], &first["index"], &first["class"]),
        (&json!("class-selector"), &json!(1), &json!("gpu"))
    );
    assert_eq!(
        first["hints"],
        json!([{"type": "near-value", "name": "\"gpu.exmple.com\"", "nearest": ["\"gpu.example.com\""]}])
    );
}
