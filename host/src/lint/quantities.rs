//! Amounts of resources: whether they can be read, requests above limits, names that are no resource.
//!
//! Upstream: `ValidateResourceRequirements`, `validateContainerResourceName` and `ValidateResourceQuantityValue` of the core
//! API's validation.

use serde_json::Value;

use super::core_fields::Walk;
use super::labels::{KEY_REMEDY, not_a_map, wrong_key};
use super::meant::quantity_meant;
use crate::filters::Quantity;
use crate::nearest::meant;

const STANDARD: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
const OF_PODS: [&str; 2] = ["cpu", "memory"];
const HUGE_PAGES: &str = "hugepages-";

/// `resources` of a container.
pub(super) fn of_container(resources: &Value, path: &str, walk: &mut Walk) {
    if not_a_map(resources, path, walk) {
        return;
    }
    requirements(resources, path, &STANDARD, walk);
}

/// `resources` and `overhead` of a pod.
pub(super) fn of_pod(spec: &Value, path: &str, walk: &mut Walk) {
    let resources = &spec["resources"];
    let at = format!("{path}.resources");
    if !not_a_map(resources, &at, walk) {
        requirements(resources, &at, &OF_PODS, walk);
    }
    amounts(&spec["overhead"], &format!("{path}.overhead"), walk);
}

fn requirements(resources: &Value, path: &str, standard: &[&str], walk: &mut Walk) {
    for list in ["limits", "requests"] {
        let path = format!("{path}.{list}");
        amounts(&resources[list], &path, walk);
        for name in resources[list]
            .as_object()
            .into_iter()
            .flat_map(|map| map.keys())
        {
            resource_name(name, standard, &path, walk);
        }
    }
    let (limits, requests) = (&resources["limits"], &resources["requests"]);
    for (name, value) in requests.as_object().into_iter().flatten() {
        let at = format!("{path}.requests[{name}]");
        let Some(requested) = Quantity::from_value(value) else {
            continue;
        };
        match Quantity::from_value(&limits[name]) {
            Some(limit) if is_whole(name) && requested != limit => walk.error(
                at,
                format!(
                    "the request {} is not the limit {}, as it must be for {name}",
                    shown(value),
                    shown(&limits[name])
                ),
                "write the same in both, or only the limit",
            ),
            Some(limit) if requested > limit => walk.error(
                at,
                format!(
                    "the request {} is above the limit {}",
                    shown(value),
                    shown(&limits[name])
                ),
                "lower the request, or raise the limit",
            ),
            None if is_whole(name) && limits[name].is_null() => walk.error(
                at,
                format!("{name} is requested without a limit"),
                format!("write it in limits: {name}: {}", shown(value)),
            ),
            _ => {}
        }
    }
}

/// A map of amounts by name.
pub(super) fn amounts(map: &Value, path: &str, walk: &mut Walk) {
    if not_a_map(map, path, walk) {
        return;
    }
    for (name, value) in map.as_object().into_iter().flatten() {
        // Claims that stand here were told by the one who looks at fields.
        if name == "claims" {
            continue;
        }
        let path = format!("{path}[{name}]");
        let Some(quantity) = Quantity::from_value(value) else {
            let remedy = match value.as_str().and_then(quantity_meant) {
                Some(meant) => format!("write {meant}"),
                None => {
                    "write a number with one of the suffixes m, k, M, G, T, Ki, Mi, Gi, Ti, or none"
                        .to_owned()
                }
            };
            walk.error(path, format!("{} is no quantity", shown(value)), remedy);
            continue;
        };
        let is_integral = Quantity::parse(&quantity.units().to_string()) == Some(quantity);
        if quantity < Quantity::ZERO {
            walk.error(
                path,
                format!("{} is negative", shown(value)),
                "write what is needed",
            );
        } else if is_whole(name) && !is_integral {
            walk.error(
                path,
                format!(
                    "{} is no whole number, and {name} comes in pieces",
                    shown(value)
                ),
                "write a whole number",
            );
        } else if (name == "memory" || name == "ephemeral-storage") && !is_integral {
            walk.warning(
                path,
                format!("{} is a fraction of a byte", shown(value)),
                "m is for thousandths; write M or Mi for megabytes",
            );
        }
    }
}

/// Extended resources and huge pages, which cannot be shared or promised twice.
fn is_whole(name: &str) -> bool {
    let is_extended = name.contains('/') && !name.contains("kubernetes.io/");
    is_extended || name.starts_with(HUGE_PAGES)
}

fn resource_name(name: &str, standard: &[&str], path: &str, walk: &mut Walk) {
    let path = format!("{path}[{name}]");
    if name == "claims" || standard.contains(&name) || name.starts_with(HUGE_PAGES) {
        return;
    }
    if !name.contains('/') {
        // A short name that differs by a letter is another name.
        let is_slip = |known: &&str| name.len() > 4 || known.eq_ignore_ascii_case(name);
        let remedy = match meant(name, standard.iter().copied()).filter(is_slip) {
            Some(nearest) => format!("write {nearest}"),
            None => format!(
                "write one of {}, or an extended resource with its domain, for example example.com/{name}",
                standard.join(", ")
            ),
        };
        return walk.error(path, format!("{name:?} is no resource"), remedy);
    }
    if let Some(problem) = wrong_key(name) {
        walk.error(path, problem, KEY_REMEDY);
    }
}

/// A value as it stands in the object, within bounds.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
