//! API defaulting of device requests (upstream: `pkg/apis/resource/*/defaults.go`): an absent allocation mode is
//! `ExactCount`, and an absent count is 1 in that mode.

use serde_json::{Map, Value};

use super::schema::{CLAIM, CLAIM_TEMPLATE};
use crate::object::Kind;

/// Fills in what the API server would.
pub fn apply(kind: &Kind, object: &mut Value) {
    let pointer = match kind.as_str() {
        CLAIM => "/spec/devices/requests",
        CLAIM_TEMPLATE => "/spec/spec/devices/requests",
        _ => return,
    };
    let Some(shape) = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .and_then(Shape::of)
    else {
        return;
    };
    let requests = object.pointer_mut(pointer).and_then(Value::as_array_mut);
    for request in requests
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        default_request(shape, request);
    }
}

/// Where a request of an API version keeps its mode and count.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// In the request.
    Flat,
    /// In `exactly`.
    Nested,
}

impl Shape {
    /// `None` for versions without device requests.
    fn of(api_version: &str) -> Option<Self> {
        match api_version.rsplit('/').next()? {
            "v1alpha3" | "v1beta1" => Some(Self::Flat),
            "v1beta2" | "v1" => Some(Self::Nested),
            _ => None,
        }
    }
}

fn default_request(shape: Shape, request: &mut Map<String, Value>) {
    let alternatives = request
        .get_mut("firstAvailable")
        .and_then(Value::as_array_mut);
    if let Some(alternatives) = alternatives.filter(|list| !list.is_empty()) {
        alternatives
            .iter_mut()
            .filter_map(Value::as_object_mut)
            .for_each(default_mode);
    } else if shape == Shape::Flat {
        default_mode(request);
    } else if let Some(exactly) = request.get_mut("exactly").and_then(Value::as_object_mut) {
        default_mode(exactly);
    }
}

fn default_mode(request: &mut Map<String, Value>) {
    let absent = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(value) => value == "" || value == 0,
    };
    if absent(request.get("allocationMode")) {
        request.insert("allocationMode".into(), "ExactCount".into());
    }
    if request
        .get("allocationMode")
        .is_some_and(|mode| mode == "ExactCount")
        && absent(request.get("count"))
    {
        request.insert("count".into(), 1.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn defaulted(kind: &str, version: &str, spec: Value) -> Value {
        let mut object = json!({"apiVersion": format!("resource.k8s.io/{version}"), "spec": spec});
        apply(&Kind::new(kind), &mut object);
        object["spec"].clone()
    }

    fn check(version: &str, request: Value, expected: Value) {
        let spec = |request: &Value| json!({"devices": {"requests": [request]}});
        assert_eq!(
            defaulted(CLAIM, version, spec(&request)),
            spec(&expected),
            "{version}"
        );
        let nested = |request: &Value| json!({"spec": spec(request)});
        assert_eq!(
            defaulted(CLAIM_TEMPLATE, version, nested(&request)),
            nested(&expected),
            "{version}, template"
        );
    }

    #[test]
    fn flat_requests() {
        let full = json!({"name": "r", "allocationMode": "ExactCount", "count": 1});
        for version in ["v1alpha3", "v1beta1"] {
            check(version, json!({"name": "r"}), full.clone());
            check(
                version,
                json!({"name": "r", "allocationMode": "", "count": 0}),
                full.clone(),
            );
            check(
                version,
                json!({"name": "r", "allocationMode": null, "count": null}),
                full.clone(),
            );
            check(
                version,
                json!({"count": 3}),
                json!({"count": 3, "allocationMode": "ExactCount"}),
            );
            check(
                version,
                json!({"allocationMode": "All"}),
                json!({"allocationMode": "All"}),
            );
            check(
                version,
                json!({"allocationMode": "Odd"}),
                json!({"allocationMode": "Odd"}),
            );
        }
    }

    #[test]
    fn nested_requests() {
        for version in ["v1beta2", "v1"] {
            let full =
                json!({"name": "r", "exactly": {"allocationMode": "ExactCount", "count": 1}});
            check(version, json!({"name": "r", "exactly": {}}), full);
            let all = json!({"exactly": {"allocationMode": "All"}});
            check(version, all.clone(), all);
            // Fields in the wrong place stay as they are, for whoever reads the request to complain about.
            let misplaced = json!({"name": "r", "deviceClassName": "c"});
            check(version, misplaced.clone(), misplaced);
        }
    }

    #[test]
    fn alternatives() {
        for version in ["v1beta1", "v1beta2", "v1"] {
            check(
                version,
                json!({"firstAvailable": [{"name": "a"}, {"name": "b", "allocationMode": "All"}]}),
                json!({"firstAvailable": [{"name": "a", "allocationMode": "ExactCount", "count": 1},
                    {"name": "b", "allocationMode": "All"}]}),
            );
        }
    }

    #[test]
    fn other_objects_are_left_alone() {
        let spec = json!({"devices": {"requests": [{"name": "r"}, "odd"]}});
        assert_eq!(defaulted("Pod", "v1", spec.clone()), spec);
        assert_eq!(defaulted(CLAIM, "v1alpha2", spec.clone()), spec);
        assert_eq!(
            defaulted(CLAIM, "v1", json!({"devices": {"requests": 5}})),
            json!({"devices": {"requests": 5}})
        );
    }
}
