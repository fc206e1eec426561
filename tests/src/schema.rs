//! `dractl simulate -o json` against its published schema, and against itself: a field that the schema does not know is a
//! field that users cannot rely on.
//!
//! The few keywords that the schema uses are checked here. A schema crate would bring `regex` with features that the
//! component does not have, and the plugin's native tests would no longer test what runs.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../host/schemas/simulate.schema.json");

/// Everything that is wrong with `value`; paths as JSON pointers.
fn violations(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#'));
        let target = target.unwrap_or_else(|| panic!("{reference} does not exist"));
        return violations(root, target, value, path, found);
    }
    if let Some(types) = schema.get("type") {
        let names: Vec<&str> = match types {
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            name => name.as_str().into_iter().collect(),
        };
        if !names.iter().any(|name| has_type(value, name)) {
            found.push(format!("{path}: {value} is not {types}"));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        found.push(format!("{path}: {value} is not allowed"));
    }
    if let (Some(minimum), Some(number)) = (
        schema.get("minimum").and_then(Value::as_f64),
        value.as_f64(),
    ) && number < minimum
    {
        found.push(format!("{path}: {value} is too small"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            violations(root, items, item, &format!("{path}/{index}"), found);
        }
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        // A map with free keys.
        if let Some(values) = schema
            .get("additionalProperties")
            .filter(|values| values.is_object())
        {
            for (name, value) in value.as_object().into_iter().flatten() {
                violations(root, values, value, &format!("{path}/{name}"), found);
            }
        }
        return;
    };
    let Some(object) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if name.as_str().is_some_and(|name| !object.contains_key(name)) {
            found.push(format!("{path}: {name} is missing"));
        }
    }
    for (name, value) in object {
        match properties.get(name) {
            Some(schema) => violations(root, schema, value, &format!("{path}/{name}"), found),
            None => found.push(format!("{path}/{name}: not in the schema")),
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("type {other} is not known here"),
    }
}

/// Violations of the published schema of `simulate`.
pub fn check(output: &Value) -> Vec<String> {
    check_against(SCHEMA, output)
}

/// Violations of a schema.
pub fn check_against(schema: &str, output: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let mut found = Vec::new();
    violations(&schema, &schema, output, "", &mut found);
    found
}

fn simulate(arguments: &[&str], input: &str) -> Value {
    let mut stdin = input.as_bytes();
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut arguments: Vec<_> = ["dractl", "simulate", "-o", "json"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    arguments.push("-");
    let status = dractl::cli::run(arguments, &mut stdin, &mut stdout, &mut stderr);
    assert!(status < 2, "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

/// A pod that is placed, one that is not, one that waits for its template, one that is retried, one that is held.
const CLUSTER: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic}
spec: {selectors: [{cel: {expression: device.driver == "nic.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: nics}
spec:
  driver: nic.example.com
  nodeName: n1
  pool: {name: n1-nics, generation: 1, resourceSliceCount: 1}
  devices: [{name: nic-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {model: {string: a}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: failing}
spec:
  devices:
    requests:
    - {name: r, exactly: {deviceClassName: nic, selectors: [{cel: {expression: 'device.attributes["x"].y == "z"'}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: failing}, spec: {resourceClaims: [{name: c, resourceClaimName: failing}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: placed}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: t}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: refused}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: t}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: none}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: held}, spec: {schedulingGates: [{name: example.com/hold}]}}
"#;

#[test]
fn output_follows_the_schema() {
    let output = simulate(&["--stats"], CLUSTER);
    assert_eq!(check(&output), Vec::<String>::new());
    let verdicts: Vec<_> = output["pods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| {
            (
                pod["name"].as_str().unwrap(),
                pod["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("failing", "error"),
        ("placed", "scheduled"),
        ("refused", "unschedulable"),
        ("waits", "waiting"),
    ];
    assert_eq!(verdicts[..4], expected);
    assert!(output["stats"].is_object());
    assert!(simulate(&[], CLUSTER).get("stats").is_none());
}

#[test]
fn the_check_finds_what_is_wrong() {
    let mut output = simulate(&[], CLUSTER);
    output["pods"][0]["verdict"] = "maybe".into();
    output["pods"][1]["attempts"] = "two".into();
    output["pods"][2].as_object_mut().unwrap().remove("node");
    output["pods"][3]["extra"] = 1.into();
    let found = check(&output);
    assert_eq!(found.len(), 4, "{found:?}");
}
