//! Makes one pod from the template of a workload object.

use serde_json::{Map, Value, json};

use super::namespace_of;
use crate::manifest::problem_of;
use crate::object::{Kind, Object};

/// One pod to make.
pub(super) struct Target {
    number: u64,
    /// Node that the pod is meant for, for a DaemonSet.
    node: Option<String>,
}

impl Target {
    /// A pod for any node.
    pub(super) fn numbered(number: u64) -> Self {
        Self { number, node: None }
    }

    /// A pod for one node.
    pub(super) fn on_node(number: u64, node: &str) -> Self {
        Self {
            number,
            node: Some(node.to_owned()),
        }
    }
}

/// Where a kind of workload has its pod template.
pub fn path_of(kind: &str) -> &'static str {
    match kind {
        "CronJob" => "spec.jobTemplate.spec.template",
        _ => "spec.template",
    }
}

/// The pod template of a workload object. The error names the field.
pub(super) fn template_of(workload: &Object) -> Result<Map<String, Value>, String> {
    let at = path_of(workload.id().kind.short());
    match workload
        .value()
        .pointer(&format!("/{}", at.replace('.', "/")))
    {
        Some(Value::Object(template)) => Ok(template.clone()),
        _ => Err(format!("{at} is missing or not a mapping")),
    }
}

/// Makes a pod. The error names what is wrong with the template.
pub(super) fn make(
    workload: &Object,
    template: &Map<String, Value>,
    target: &Target,
) -> Result<Object, String> {
    let at = path_of(workload.id().kind.short());
    let name = format!("{}-{}", workload.id().name, target.number);
    let mut pod = Map::new();
    pod.insert("apiVersion".to_owned(), "v1".into());
    pod.insert("kind".to_owned(), "Pod".into());
    pod.insert("metadata".to_owned(), metadata(workload, template, &name)?);
    let mut spec = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    let Some(fields) = spec.as_object_mut() else {
        return Err(format!("{at}.spec is not a mapping"));
    };
    if let Some(node) = &target.node {
        pin_to(fields, node);
    }
    add_claimed_volumes(fields, workload, &name);
    pod.insert("spec".to_owned(), spec);
    if let Some(problem) = problem_of(&pod, &Kind::new("Pod")) {
        return Err(format!("{at} makes no good pod: {problem}"));
    }
    Object::from_value(Value::Object(pod))
        .map_err(|error| format!("{at} makes no good pod: {error}"))
}

fn metadata(workload: &Object, template: &Map<String, Value>, name: &str) -> Result<Value, String> {
    let mut metadata = match template.get("metadata") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(metadata)) => metadata.clone(),
        Some(_) => {
            let at = path_of(workload.id().kind.short());
            return Err(format!("{at}.metadata is not a mapping"));
        }
    };
    metadata.retain(|key, _| matches!(key.as_str(), "labels" | "annotations" | "finalizers"));
    metadata.insert("name".to_owned(), name.into());
    metadata.insert("namespace".to_owned(), namespace_of(workload).into());
    let mut owner = json!({
        "apiVersion": workload.api_version(),
        "kind": workload.id().kind.short(),
        "name": &*workload.id().name,
        "controller": true,
    });
    if !workload.id().uid.is_empty() {
        owner["uid"] = (*workload.id().uid).into();
    }
    metadata.insert("ownerReferences".to_owned(), json!([owner]));
    Ok(Value::Object(metadata))
}

/// Requires the node by name, in place of whatever node affinity the template requires: that was used to choose the node.
fn pin_to(spec: &mut Map<String, Value>, node: &str) {
    let term =
        json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]});
    let required = json!({"nodeSelectorTerms": [term]});
    let affinity = spec.entry("affinity").or_insert(Value::Null);
    if !affinity.is_object() {
        *affinity = json!({});
    }
    if !affinity["nodeAffinity"].is_object() {
        affinity["nodeAffinity"] = json!({});
    }
    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = required;
}

/// A StatefulSet gives each pod a volume per claim template.
fn add_claimed_volumes(spec: &mut Map<String, Value>, workload: &Object, pod: &str) {
    let templates = workload
        .value()
        .pointer("/spec/volumeClaimTemplates")
        .and_then(Value::as_array);
    let names = templates
        .into_iter()
        .flatten()
        .filter_map(|template| template.pointer("/metadata/name")?.as_str());
    let volumes: Vec<Value> = names
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": format!("{name}-{pod}")}}))
        .collect();
    if volumes.is_empty() {
        return;
    }
    match spec.get_mut("volumes") {
        Some(Value::Array(existing)) => existing.extend(volumes),
        _ => {
            spec.insert("volumes".to_owned(), Value::Array(volumes));
        }
    }
}
