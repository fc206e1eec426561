//! Makes a change to a copy of a cluster's objects. What it names and is not there is left alone.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::objects::{Objects, is_called};
use super::{Change, Specified};
use crate::filters::Quantity;
use crate::object::{Kind, Object, ObjectRef};
use crate::stand_ins::schema::{CLAIM, CLAIM_TEMPLATE, POD, SLICE};

/// Makes all changes for a pod.
pub fn apply(objects: &mut Objects, changes: &[Change], pod: &ObjectRef) {
    let mut changes: Vec<&Change> = changes.iter().collect();
    changes.sort_by_key(|change| change.phase());
    for change in changes {
        one(objects, change, pod);
    }
}

fn one(objects: &mut Objects, change: &Change, pod: &ObjectRef) {
    match change {
        Change::FreeClaim { claim, pods, .. } => {
            objects.remove(POD, |one| pods.iter().any(|pod| is_called(one, pod)));
            objects.edit(CLAIM, |one| is_called(one, claim), free);
        }
        Change::DeleteClaim { claim } => objects.remove(CLAIM, |one| is_called(one, claim)),
        Change::EndPods { pods, .. } => {
            objects.remove(POD, |one| pods.iter().any(|pod| is_called(one, pod)));
        }
        Change::DeleteTaintRule { rule } => objects
            .0
            .retain(|one| one.id().kind.short() != "DeviceTaintRule" || *one.id().name != **rule),
        Change::RemoveTaint { .. } | Change::CompletePool { .. } => of_slices(objects, change),
        Change::Uncordon { node }
        | Change::RemoveNodeTaint { node, .. }
        | Change::LabelNode { node, .. } => {
            objects.edit(
                "Node",
                |one| *one.id().name == **node,
                |one| of_node(one, change),
            );
        }
        Change::TolerateNodeTaint { .. }
        | Change::DropNodeSelection {}
        | Change::AskResource { .. } => {
            objects.edit(POD, |one| one.id() == pod, |one| of_pod(one, change));
        }
        Change::Tolerate { of, .. }
        | Change::AskFor { of, .. }
        | Change::ChangeSelector { of, .. }
        | Change::GiveUpConstraint { of, .. }
        | Change::DropRequest { of, .. }
        | Change::UseClass { of, .. } => {
            specified(objects, of, |devices| of_claim(devices, change))
        }
    }
}

impl Objects {
    fn remove(&mut self, kind: &str, which: impl Fn(&Object) -> bool) {
        let kind = Kind::new(kind);
        self.0.retain(|one| one.id().kind != kind || !which(one));
    }

    fn edit(&mut self, kind: &str, which: impl Fn(&Object) -> bool, how: impl Fn(&mut Value)) {
        let kind = Kind::new(kind);
        for one in self
            .0
            .iter_mut()
            .filter(|one| one.id().kind == kind && which(one))
        {
            let mut value = one.value().clone();
            how(&mut value);
            if let Ok(changed) = Object::from_value(value) {
                *one = changed;
            }
        }
    }
}

/// Changes `spec.devices` of a claim, and of its template.
fn specified(objects: &mut Objects, of: &Specified, how: impl Fn(&mut Map<String, Value>)) {
    objects.edit(
        CLAIM,
        |one| is_called(one, &of.claim),
        |one| how(map(one, &["spec", "devices"])),
    );
    let template = of.template.as_deref();
    objects.edit(
        CLAIM_TEMPLATE,
        |one| template.is_some_and(|name| is_called(one, name)),
        |one| how(map(one, &["spec", "spec", "devices"])),
    );
}

/// Nobody uses the claim any more.
fn free(claim: &mut Value) {
    let status = map(claim, &["status"]);
    status.shift_remove("allocation");
    status.shift_remove("reservedFor");
    status.shift_remove("devices");
}

fn of_node(node: &mut Value, change: &Change) {
    match change {
        Change::Uncordon { .. } => {
            map(node, &["spec"]).shift_remove("unschedulable");
            // The node controller's mark of it.
            retain(map(node, &["spec"]), "taints", |taint| {
                taint["key"] != "node.kubernetes.io/unschedulable"
            });
        }
        Change::RemoveNodeTaint { key, effect, .. } => {
            retain(map(node, &["spec"]), "taints", |taint| {
                taint["key"] != **key || taint["effect"] != **effect
            });
        }
        Change::LabelNode { key, value, .. } => {
            map(node, &["metadata", "labels"]).insert(key.clone(), json!(value));
        }
        _ => {}
    }
}

fn of_pod(pod: &mut Value, change: &Change) {
    match change {
        Change::TolerateNodeTaint { key, value, effect } => {
            let tolerations = list(map(pod, &["spec"]), "tolerations");
            tolerations.push(toleration(key, value, effect));
        }
        Change::DropNodeSelection {} => {
            map(pod, &["spec"]).shift_remove("nodeSelector");
            let path = "/spec/affinity/nodeAffinity";
            if let Some(affinity) = pod.pointer_mut(path).and_then(Value::as_object_mut) {
                affinity.shift_remove("requiredDuringSchedulingIgnoredDuringExecution");
            }
        }
        Change::AskResource { resource, amount } => ask_resource(pod, resource, amount),
        _ => {}
    }
}

/// What the containers of a pod ask for together, in thousandths.
pub(super) fn asked(pod: &Value, resource: &str) -> i128 {
    let containers = pod.pointer("/spec/containers").and_then(Value::as_array);
    let amounts = containers.into_iter().flatten().filter_map(|container| {
        let amount = container.get("resources")?.get("requests")?.get(resource)?;
        Some(Quantity::from_value(amount)?.milli_units())
    });
    amounts.sum()
}

/// Each container keeps what it asks for, as long as something is left.
fn ask_resource(pod: &mut Value, resource: &str, amount: &str) {
    let Some(most) = Quantity::parse(amount).map(Quantity::milli_units) else {
        return;
    };
    let mut left = most;
    for (path, together) in [("/spec/containers", true), ("/spec/initContainers", false)] {
        let containers = pod.pointer_mut(path).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let requests = container.pointer_mut("/resources/requests");
            let Some(wanted) = requests.and_then(|requests| requests.get_mut(resource)) else {
                continue;
            };
            let room = if together { left } else { most };
            let own = Quantity::from_value(wanted).map_or(0, Quantity::milli_units);
            if own > room {
                *wanted = json!(format!("{room}m"));
            }
            if together {
                left -= own.min(room);
            }
        }
    }
}

fn of_slices(objects: &mut Objects, change: &Change) {
    match change {
        Change::RemoveTaint {
            devices,
            key,
            value,
            effect,
        } => {
            let devices: BTreeSet<&str> = devices.iter().map(String::as_str).collect();
            objects.edit(
                SLICE,
                |_| true,
                |slice| {
                    let text = |path| {
                        slice
                            .pointer(path)
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                    };
                    let pool = format!("{}/{}", text("/spec/driver"), text("/spec/pool/name"));
                    let published = slice
                        .pointer_mut("/spec/devices")
                        .and_then(Value::as_array_mut);
                    for device in published.into_iter().flatten() {
                        let name = device["name"].as_str().unwrap_or_default();
                        if !devices.contains(format!("{pool}/{name}").as_str()) {
                            continue;
                        }
                        // Older versions have the fields of a device in `basic`.
                        let form = match device.get("basic") {
                            Some(_) => map(device, &["basic"]),
                            None => map(device, &[]),
                        };
                        retain(form, "taints", |taint| {
                            let own = taint["value"].as_str().unwrap_or_default();
                            taint["key"] != **key || taint["effect"] != **effect || own != value
                        });
                    }
                },
            );
        }
        Change::CompletePool { driver, pool, .. } => {
            let is_of = |slice: &Object| {
                slice.text("/spec/driver") == Some(driver)
                    && slice.text("/spec/pool/name") == Some(pool)
            };
            let generation = |slice: &Object| {
                let generation = slice.value().pointer("/spec/pool/generation");
                generation.and_then(Value::as_i64).unwrap_or_default()
            };
            let latest = objects
                .of_kind(SLICE)
                .filter(|one| is_of(one))
                .map(generation)
                .max();
            let is_newest = |slice: &Object| is_of(slice) && Some(generation(slice)) == latest;
            let count = objects.of_kind(SLICE).filter(|one| is_newest(one)).count();
            objects.edit(SLICE, is_newest, |slice| {
                map(slice, &["spec", "pool"]).insert("resourceSliceCount".into(), json!(count));
            });
        }
        _ => {}
    }
}

fn of_claim(devices: &mut Map<String, Value>, change: &Change) {
    match change {
        Change::Tolerate {
            request,
            key,
            value,
            effect,
            ..
        } => {
            if let Some(form) = form(devices, request) {
                list(form, "tolerations").push(toleration(key, value, effect));
            }
        }
        Change::AskFor { request, count, .. } => {
            if let Some(form) = form(devices, request) {
                form.insert("allocationMode".into(), json!("ExactCount"));
                form.insert("count".into(), json!(count));
            }
        }
        Change::ChangeSelector {
            request,
            index,
            expression,
            ..
        } => {
            if let Some(form) = form(devices, request) {
                selector(list(form, "selectors"), *index, expression.as_deref());
            }
        }
        Change::UseClass { from, class, .. } => {
            for form in all_forms(devices) {
                if form.get("deviceClassName").and_then(Value::as_str) == Some(from) {
                    form.insert("deviceClassName".into(), json!(class));
                }
            }
        }
        Change::GiveUpConstraint { index, .. } => {
            let constraints = list(devices, "constraints");
            if *index < constraints.len() {
                constraints.remove(*index);
            }
        }
        Change::DropRequest { request, .. } => {
            match request.split_once('/') {
                None => retain(devices, "requests", |one| one["name"] != **request),
                Some((parent, name)) => {
                    let requests = list(devices, "requests").iter_mut();
                    for one in requests.filter(|one| one["name"] == *parent) {
                        retain(map(one, &[]), "firstAvailable", |one| one["name"] != *name);
                    }
                }
            }
            let is_other = |name: &Value| {
                let name = name.as_str().unwrap_or_default();
                name != request && name.split('/').next() != Some(request)
            };
            let mut kept = Vec::new();
            for mut constraint in std::mem::take(list(devices, "constraints")) {
                let names = constraint.get_mut("requests").and_then(Value::as_array_mut);
                let is_left = names.is_none_or(|names| {
                    let any = !names.is_empty();
                    names.retain(&is_other);
                    !any || !names.is_empty()
                });
                kept.extend(is_left.then_some(constraint));
            }
            *list(devices, "constraints") = kept;
        }
        _ => {}
    }
}

/// Gives a selector another expression, or none.
fn selector(selectors: &mut Vec<Value>, index: usize, expression: Option<&str>) {
    match expression {
        Some(text) => {
            if let Some(selector) = selectors.get_mut(index) {
                *selector = json!({"cel": {"expression": text}});
            }
        }
        None if index < selectors.len() => {
            selectors.remove(index);
        }
        None => {}
    }
}

/// The request of this name, or the alternative `parent/name`, in any API version.
fn form<'d>(devices: &'d mut Map<String, Value>, name: &str) -> Option<&'d mut Map<String, Value>> {
    let (parent, alternative) = match name.split_once('/') {
        Some((parent, alternative)) => (parent, Some(alternative)),
        None => (name, None),
    };
    let requests = devices.get_mut("requests")?.as_array_mut()?;
    let request = requests.iter_mut().find(|one| one["name"] == *parent)?;
    let form = match alternative {
        Some(name) => {
            let all = request.get_mut("firstAvailable")?.as_array_mut()?;
            all.iter_mut().find(|one| one["name"] == *name)?
        }
        None if request.get("exactly").is_some() => request.get_mut("exactly")?,
        None => request,
    };
    form.as_object_mut()
}

fn all_forms(devices: &mut Map<String, Value>) -> Vec<&mut Map<String, Value>> {
    let requests = devices.get_mut("requests").and_then(Value::as_array_mut);
    let each = requests.into_iter().flatten().flat_map(|request| {
        if request.get("firstAvailable").is_some() {
            let all = request
                .get_mut("firstAvailable")
                .and_then(Value::as_array_mut);
            return all.map(|all| all.iter_mut().collect()).unwrap_or_default();
        }
        match request.get("exactly") {
            Some(_) => request.get_mut("exactly").into_iter().collect(),
            None => vec![request],
        }
    });
    let each: Vec<&mut Value> = each.collect();
    each.into_iter().filter_map(Value::as_object_mut).collect()
}

/// Of this taint and no other: one without a value is not that of any value.
fn toleration(key: &str, value: &str, effect: &str) -> Value {
    json!({"key": key, "operator": "Equal", "value": value, "effect": effect})
}

/// The fields at a path, made where they are missing.
fn map<'v>(value: &'v mut Value, path: &[&str]) -> &'v mut Map<String, Value> {
    let mut at = crate::api::metadata::as_map(value);
    for name in path {
        let child = at.entry(*name).or_insert_with(|| json!({}));
        at = crate::api::metadata::as_map(child);
    }
    at
}

/// The list in a field, made where it is missing.
fn list<'m>(fields: &'m mut Map<String, Value>, name: &str) -> &'m mut Vec<Value> {
    let value = fields.entry(name).or_insert_with(|| json!([]));
    if !value.is_array() {
        *value = json!([]);
    }
    match value {
        Value::Array(items) => items,
        _ => unreachable!("the value was just made a list"),
    }
}

fn retain(fields: &mut Map<String, Value>, name: &str, keep: impl Fn(&Value) -> bool) {
    if let Some(items) = fields.get_mut(name).and_then(Value::as_array_mut) {
        items.retain(keep);
    }
}
