//! Extended resources, such as `example.com/gpu`, that no node of the input states.
//!
//! A real scheduler refuses every node for them. Here the node objects may have been written by hand, or be older than the
//! device plugin, so such a request is left out of the check, and the user is told.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::object::Object;

/// Names of the extended resources that a node states.
pub fn stated_by(node: &Object) -> impl Iterator<Item = &str> {
    let allocatable = node.value().pointer("/status/allocatable");
    let names = allocatable
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.keys());
    names.map(String::as_str).filter(|name| is_extended(name))
}

/// Names of the extended resources that a pod asks for and that are not in `stated`.
pub fn unknown(pod: &Object, stated: &BTreeSet<String>) -> BTreeSet<String> {
    let lists = ["/spec/initContainers", "/spec/containers"].into_iter();
    let containers = lists
        .filter_map(|list| pod.value().pointer(list)?.as_array())
        .flatten();
    let amounts = containers.flat_map(|container| {
        ["/resources/requests", "/resources/limits"]
            .map(|amounts| container.pointer(amounts)?.as_object())
    });
    let names = amounts.flatten().flat_map(|amounts| amounts.keys());
    names
        .filter(|name| is_extended(name) && !stated.contains(*name))
        .cloned()
        .collect()
}

/// The pod without its requests for these resources.
pub fn without(pod: &Object, names: &BTreeSet<String>) -> Option<Object> {
    let mut value = pod.value().clone();
    for list in ["/spec/initContainers", "/spec/containers"] {
        for container in value
            .pointer_mut(list)
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            for amounts in ["/resources/requests", "/resources/limits"] {
                if let Some(amounts) = container
                    .pointer_mut(amounts)
                    .and_then(Value::as_object_mut)
                {
                    amounts.retain(|name, _| !names.contains(name));
                }
            }
        }
    }
    Object::from_value(value).ok()
}

/// Names with a domain are extended resources, unless the domain is Kubernetes' own.
fn is_extended(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(domain, _)| !domain.ends_with("kubernetes.io"))
}
