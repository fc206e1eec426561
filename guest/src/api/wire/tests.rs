//! Readers: the same object in every version, what is refused, and where faults are found.

use serde_json::{Value, json};

use super::*;

mod gates;
mod models;
mod recorded;
mod refused;
mod schemas;

const V1: &str = "resource.k8s.io/v1";

const VERSIONS: [(&str, ApiVersion); 4] = [
    ("resource.k8s.io/v1alpha3", ApiVersion::V1Alpha3),
    ("resource.k8s.io/v1beta1", ApiVersion::V1Beta1),
    ("resource.k8s.io/v1beta2", ApiVersion::V1Beta2),
    (V1, ApiVersion::V1),
];

fn flat(version: ApiVersion) -> bool {
    version < ApiVersion::V1Beta2
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn read_claim(value: &Value) -> Result<ResourceClaim, Problem> {
    resource_claim(&bytes(value), &Profile::current())
}

fn read_slice(value: &Value) -> Result<ResourceSlice, Problem> {
    resource_slice(&bytes(value), &Profile::current())
}

/// A claim with these requests in the shape of v1, moved to where the version has them.
fn claim_json(api_version: &str, version: ApiVersion, name: &str, exactly: Value) -> Value {
    let mut request = json!({"name": name});
    if flat(version) {
        for (key, value) in exactly.as_object().into_iter().flatten() {
            request[key] = value.clone();
        }
    } else {
        request["exactly"] = exactly;
    }
    json!({
        "apiVersion": api_version,
        "kind": "ResourceClaim",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"devices": {"requests": [request]}},
    })
}

/// A slice with one device, moved to where the version has it; capacities are given bare.
fn slice_json(api_version: &str, version: ApiVersion, mut device: Value) -> Value {
    if version != ApiVersion::V1Alpha3
        && let Some(capacity) = device.get_mut("capacity").and_then(Value::as_object_mut)
    {
        capacity
            .values_mut()
            .for_each(|value| *value = json!({"value": value.take()}));
    }
    let device = if flat(version) {
        json!({"name": "gpu-0", "basic": device})
    } else {
        device["name"] = "gpu-0".into();
        device
    };
    json!({
        "apiVersion": api_version,
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "n1", "generation": 3, "resourceSliceCount": 2},
            "nodeName": "n1",
            "devices": [device],
        },
    })
}

fn claim_text(json: &Value) -> String {
    read_claim(json).unwrap_err().to_string()
}

fn slice_text(json: &Value) -> String {
    read_slice(json).unwrap_err().to_string()
}

fn with_request(api_version: &str, request: Value) -> Value {
    json!({"apiVersion": api_version, "kind": "ResourceClaim", "metadata": {"name": "x", "namespace": "default"},
        "spec": {"devices": {"requests": [request]}}})
}
