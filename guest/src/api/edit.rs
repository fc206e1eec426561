//! Writes: edits on the JSON that was received, so that fields this plugin does not know survive (design section 4).
//!
//! Pure functions on `serde_json::Value`; what to write when is decided elsewhere (spec sections 7.4, 7.8, 7.9). Where a
//! level that an edit needs is missing it is created. Optional fields are left out when empty, as Go does.

use serde_json::{Map, Value, json};

use super::{
    AllocationConfiguration, AllocationResult, ApiVersion, ConfigSource, DeviceResult,
    DeviceToleration, NodeSelector, NodeSelectorRequirement, ObjectMeta,
};
use crate::go_quote::quoted;

mod context;

pub use context::{SchedulingContextEdits, context_apply, context_create, context_update};

/// Finalizer that keeps an allocated claim (spec section 1.8).
pub const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

/// `metadata.resourceVersion`; empty when missing.
pub fn resource_version(object: &Value) -> &str {
    metadata(object, "resourceVersion")
}

/// `metadata.uid`; empty when missing.
pub fn uid(object: &Value) -> &str {
    metadata(object, "uid")
}

fn metadata<'a>(object: &'a Value, key: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(key))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// `metadata.name`; empty when missing.
pub fn name(object: &Value) -> &str {
    metadata(object, "name")
}

/// `metadata.namespace`; empty when missing.
pub fn namespace(object: &Value) -> &str {
    metadata(object, "namespace")
}

/// `namespace/name`, for messages.
pub fn full_name(object: &Value) -> String {
    format!("{}/{}", namespace(object), name(object))
}

/// Whether a pod with this uid is in `status.reservedFor`.
pub fn is_reserved_for(claim: &Value, pod_uid: &str) -> bool {
    let consumers = claim
        .pointer("/status/reservedFor")
        .and_then(Value::as_array);
    consumers.is_some_and(|consumers| {
        consumers
            .iter()
            .any(|consumer| consumer.get("uid").and_then(Value::as_str) == Some(pod_uid))
    })
}

/// The object as it travels.
pub fn to_bytes(object: &Value) -> Vec<u8> {
    // Not by `to_string`, which goes through a formatter piece by piece. A tree with string keys can always be written.
    serde_json::to_vec(object).unwrap_or_default()
}

/// Whether `metadata.deletionTimestamp` is there.
pub fn is_being_deleted(object: &Value) -> bool {
    object
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|timestamp| !timestamp.is_null())
}

/// Whether `status.allocation` is there.
pub fn is_allocated(claim: &Value) -> bool {
    claim
        .pointer("/status/allocation")
        .is_some_and(|allocation| !allocation.is_null())
}

/// Whether two copies of a claim have the same `status.allocation`.
pub fn is_allocated_alike(claim: &Value, other: &Value) -> bool {
    claim.pointer("/status/allocation") == other.pointer("/status/allocation")
}

/// Appends the finalizer unless it is there; tells whether it had to.
pub fn add_finalizer(claim: &mut Value) -> bool {
    let finalizers = list(child(claim, "metadata"), "finalizers");
    let missing = !finalizers.iter().any(|finalizer| finalizer == FINALIZER);
    if missing {
        finalizers.push(FINALIZER.into());
    }
    missing
}

/// Sets `status.allocation` in the shape of the claim's version.
pub fn set_allocation(claim: &mut Value, version: ApiVersion, allocation: &AllocationResult) {
    insert_allocation(claim, allocation_json(version, allocation));
}

/// Sets `status.allocation` to what [`allocation_json`] made.
pub fn insert_allocation(claim: &mut Value, allocation: Value) {
    child(claim, "status").insert("allocation".into(), allocation);
}

/// Appends the pod to `status.reservedFor`, without looking for it there (T20).
pub fn reserve_for(claim: &mut Value, pod: &ObjectMeta) {
    let consumer = json!({"resource": "pods", "name": pod.name, "uid": pod.uid});
    list(child(claim, "status"), "reservedFor").push(consumer);
}

/// Removes `status.allocation`.
pub fn clear_allocation(claim: &mut Value) {
    child(claim, "status").shift_remove("allocation");
}

/// Removes `status.reservedFor`.
pub fn clear_reserved_for(claim: &mut Value) {
    child(claim, "status").shift_remove("reservedFor");
}

/// Removes `status.devices`, what drivers reported about devices that are no longer allocated (1.32 and later).
pub fn clear_device_status(claim: &mut Value) {
    child(claim, "status").shift_remove("devices");
}

/// Sets `status.deallocationRequested`, classic DRA.
pub fn request_deallocation(claim: &mut Value) {
    child(claim, "status").insert("deallocationRequested".into(), true.into());
}

/// Strategic merge patch for the status subresource that removes a pod from `reservedFor` of the claim with this uid.
/// Byte for byte upstream's, spaces included (T24).
pub fn unreserve_patch(claim_uid: &str, pod_uid: &str) -> String {
    format!(
        r#"{{"metadata": {{"uid": {}}}, "status": {{ "reservedFor": [ {{"$patch": "delete", "uid": {}}} ] }}}}"#,
        quoted(claim_uid),
        quoted(pod_uid)
    )
}

/// An AllocationResult as written in this version (spec section 1.4).
pub fn allocation_json(version: ApiVersion, allocation: &AllocationResult) -> Value {
    let mut devices = Map::new();
    insert_list(&mut devices, "results", &allocation.results, |result| {
        result_json(version, result)
    });
    insert_list(&mut devices, "config", &allocation.config, config_json);
    let mut out = Map::new();
    out.insert("devices".into(), devices.into());
    if let Some(selector) = &allocation.node_selector {
        out.insert("nodeSelector".into(), node_selector_json(selector));
    }
    if version == ApiVersion::V1Alpha3 {
        insert_text(&mut out, "controller", &allocation.controller);
    }
    out.into()
}

fn result_json(version: ApiVersion, result: &DeviceResult) -> Value {
    let mut out = Map::new();
    out.insert("request".into(), result.request.as_str().into());
    out.insert("driver".into(), (*result.driver).into());
    out.insert("pool".into(), (*result.pool).into());
    out.insert("device".into(), (*result.device).into());
    // 1.31 has no such field (D6).
    if result.admin_access && version != ApiVersion::V1Alpha3 {
        out.insert("adminAccess".into(), true.into());
    }
    insert_list(
        &mut out,
        "tolerations",
        &result.tolerations,
        toleration_json,
    );
    out.into()
}

fn toleration_json(toleration: &DeviceToleration) -> Value {
    let mut out = Map::new();
    insert_text(&mut out, "key", &toleration.key);
    insert_text(&mut out, "operator", &toleration.operator);
    insert_text(&mut out, "value", &toleration.value);
    insert_text(&mut out, "effect", &toleration.effect);
    if let Some(seconds) = toleration.toleration_seconds {
        out.insert("tolerationSeconds".into(), seconds.into());
    }
    out.into()
}

fn config_json(entry: &AllocationConfiguration) -> Value {
    let source = match entry.source {
        ConfigSource::Class => "FromClass",
        ConfigSource::Claim => "FromClaim",
    };
    let mut out = Map::new();
    out.insert("source".into(), source.into());
    insert_list(&mut out, "requests", &entry.config.requests, |request| {
        request.as_str().into()
    });
    if let Some(opaque) = &entry.config.opaque {
        out.insert("opaque".into(), opaque.clone());
    }
    out.into()
}

/// A core/v1 NodeSelector.
pub fn node_selector_json(selector: &NodeSelector) -> Value {
    let terms: Vec<Value> = selector
        .terms
        .iter()
        .map(|term| {
            let mut out = Map::new();
            insert_list(
                &mut out,
                "matchExpressions",
                &term.match_expressions,
                requirement_json,
            );
            insert_list(
                &mut out,
                "matchFields",
                &term.match_fields,
                requirement_json,
            );
            out.into()
        })
        .collect();
    json!({ "nodeSelectorTerms": terms })
}

fn requirement_json(requirement: &NodeSelectorRequirement) -> Value {
    let mut out = Map::new();
    out.insert("key".into(), requirement.key.as_str().into());
    out.insert("operator".into(), requirement.operator.as_str().into());
    insert_list(&mut out, "values", &requirement.values, |value| {
        value.as_str().into()
    });
    out.into()
}

fn insert_list<T>(
    out: &mut Map<String, Value>,
    key: &str,
    values: &[T],
    convert: impl Fn(&T) -> Value,
) {
    if !values.is_empty() {
        out.insert(key.into(), values.iter().map(convert).collect());
    }
}

fn insert_text(out: &mut Map<String, Value>, key: &str, text: &str) {
    if !text.is_empty() {
        out.insert(key.into(), text.into());
    }
}

/// The object under `key`, created if it is missing.
fn child<'a>(parent: &'a mut Value, key: &str) -> &'a mut Map<String, Value> {
    as_object(as_object(parent).entry(key).or_insert(Value::Null))
}

fn as_object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(object) => object,
        _ => unreachable!("made an object just above"),
    }
}

/// The list under `key`, created if it is missing.
fn list<'a>(object: &'a mut Map<String, Value>, key: &str) -> &'a mut Vec<Value> {
    let value = object.entry(key).or_insert(Value::Null);
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(values) => values,
        _ => unreachable!("made a list just above"),
    }
}

#[cfg(test)]
mod tests;
