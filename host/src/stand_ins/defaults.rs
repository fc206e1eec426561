//! API defaulting of device requests (upstream: `pkg/apis/resource/*/defaults.go`): an absent allocation mode is
//! `ExactCount`, and an absent count is 1 in that mode.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schema::{CLAIM, CLAIM_TEMPLATE};
use crate::object::{Kind, Object};

/// Whether [`apply`] would fill in something. Nearly all objects of a dump have their defaults, and need not become trees.
pub fn are_missing(object: &Object) -> bool {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        spec: Value,
    }
    let kind = &object.id().kind;
    if requests_of(kind).is_none() {
        return false;
    }
    let Ok(Part { spec }) = serde_json::from_slice(object.bytes()) else {
        return true;
    };
    apply(
        kind,
        &mut json!({"apiVersion": object.api_version(), "spec": spec}),
    )
}

/// Where a kind has its device requests.
fn requests_of(kind: &Kind) -> Option<&'static str> {
    match kind.as_str() {
        CLAIM => Some("/spec/devices/requests"),
        CLAIM_TEMPLATE => Some("/spec/spec/devices/requests"),
        _ => None,
    }
}

/// Fills in what the API server would, and says whether there was anything to fill in.
pub fn apply(kind: &Kind, object: &mut Value) -> bool {
    let version = object.get("apiVersion").and_then(Value::as_str);
    let (Some(pointer), Some(shape)) = (requests_of(kind), version.and_then(Shape::of)) else {
        return false;
    };
    let requests = object.pointer_mut(pointer).and_then(Value::as_array_mut);
    let requests = requests.into_iter().flatten();
    requests
        .filter_map(Value::as_object_mut)
        .fold(false, |any, request| default_request(shape, request) | any)
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

fn default_request(shape: Shape, request: &mut Map<String, Value>) -> bool {
    let alternatives = request
        .get_mut("firstAvailable")
        .and_then(Value::as_array_mut);
    if let Some(alternatives) = alternatives.filter(|list| !list.is_empty()) {
        let alternatives = alternatives.iter_mut().filter_map(Value::as_object_mut);
        alternatives.fold(false, |any, request| default_mode(request) | any)
    } else if shape == Shape::Flat {
        default_mode(request)
    } else {
        let exactly = request.get_mut("exactly").and_then(Value::as_object_mut);
        exactly.is_some_and(default_mode)
    }
}

fn default_mode(request: &mut Map<String, Value>) -> bool {
    let absent = |value: Option<&Value>| match value {
        None | Some(Value::Null) => true,
        Some(value) => value == "" || value == 0,
    };
    let lacks_mode = absent(request.get("allocationMode"));
    if lacks_mode {
        request.insert("allocationMode".into(), "ExactCount".into());
    }
    let is_exact = request
        .get("allocationMode")
        .is_some_and(|mode| mode == "ExactCount");
    let lacks_count = is_exact && absent(request.get("count"));
    if lacks_count {
        request.insert("count".into(), 1.into());
    }
    lacks_mode || lacks_count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defaulted(kind: &str, version: &str, spec: Value) -> Value {
        let mut object = json!({
            "apiVersion": format!("resource.k8s.io/{version}"),
            "kind": kind.split('.').next(),
            "metadata": {"name": "a"},
            "spec": spec,
        });
        let before = Object::from_value(object.clone()).unwrap();
        let is_changed = apply(&Kind::new(kind), &mut object);
        assert_eq!(is_changed, object != *before.value(), "{object}");
        assert_eq!(are_missing(&before), is_changed, "{object}");
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
