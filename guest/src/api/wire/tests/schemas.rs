//! Every value of every schema once with a wrong type, every key that should be there once in the wrong case: the readers
//! must notice, and say where.

use super::*;
use crate::api::wire::fault::join;
use crate::api::wire::schema::{Field, Need, Shape, shape};

const KINDS: [Kind; 8] = [
    Kind::ResourceClaimTemplate,
    Kind::DeviceTaintRule,
    Kind::Pod,
    Kind::Node,
    Kind::ResourceClaim,
    Kind::DeviceClass,
    Kind::ResourceSlice,
    Kind::PodSchedulingContext,
];

/// All (kind, version) that can be read, with the `apiVersion`.
fn readable() -> Vec<(Kind, &'static str, ApiVersion)> {
    let versions = VERSIONS.into_iter().chain([("v1", ApiVersion::V1)]);
    versions
        .flat_map(|(text, _)| KINDS.map(|kind| (kind, text)))
        .filter_map(|(kind, text)| kind.version(text).map(|version| (kind, text, version)))
        .collect()
}

fn read_any(kind: Kind, api_version: &str, mut value: Value) -> Result<(), Problem> {
    value["apiVersion"] = api_version.into();
    value["kind"] = kind.name().into();
    let json = bytes(&value);
    let profile = Profile::current();
    match kind {
        Kind::Pod => pod(&json).map(drop),
        Kind::Node => node(&json).map(drop),
        Kind::ResourceClaim => resource_claim(&json, &profile).map(drop),
        Kind::ResourceClaimTemplate => resource_claim_template(&json, &profile).map(drop),
        Kind::DeviceClass => device_class(&json, &profile).map(drop),
        Kind::ResourceSlice => resource_slice(&json, &profile).map(drop),
        Kind::DeviceTaintRule => device_taint_rule(&json, &profile).map(drop),
        Kind::PodSchedulingContext => pod_scheduling_context(&json).map(drop),
    }
}

/// A value of the shape with everything in it; of keys that exclude each other, the first.
fn sample(shape: &Shape, key: &str) -> Value {
    match shape {
        Shape::Text if key == "source" => "FromClaim".into(),
        Shape::Text if key == "effect" => "None".into(),
        Shape::Text if key == "operator" => "Exists".into(),
        Shape::Text => "x".into(),
        Shape::Integer => 1.into(),
        Shape::Boolean => true.into(),
        Shape::Quantity => "1".into(),
        Shape::WrappedQuantity => json!({"value": "1"}),
        Shape::Anything => Value::Null,
        Shape::List(element) => json!([sample(element, key)]),
        Shape::Map(entry) => json!({"k": sample(entry, key)}),
        Shape::Object(fields) => {
            let mut object = json!({});
            let first = fields.iter().position(|field| field.need == Need::OneOf);
            // Of devices only, and only where the slice leaves it to them.
            let is_other_way = |field: &Field| {
                field.need == Need::No
                    && ["nodeName", "nodeSelector", "allNodes"].contains(&field.key)
            };
            for (i, field) in fields.iter().enumerate() {
                if is_other_way(field) {
                    continue;
                }
                if field.need != Need::OneOf || Some(i) == first {
                    object[field.key] = sample(field.shape, field.key);
                }
            }
            object
        }
    }
}

/// Values that differ from the sample in one place, with the path of that place.
fn variants(
    shape: &Shape,
    change: &dyn Fn(&Shape) -> Vec<(String, Value)>,
) -> Vec<(String, Value)> {
    let mut out = change(shape);
    match shape {
        Shape::List(element) => {
            let inner = variants(element, change).into_iter();
            out.extend(inner.map(|(path, value)| (join("[0]", &path), json!([value]))));
        }
        Shape::Map(entry) => {
            let inner = variants(entry, change).into_iter();
            out.extend(inner.map(|(path, value)| (join("[k]", &path), json!({"k": value}))));
        }
        Shape::Object(fields) => {
            for field in *fields {
                for (path, value) in variants(field.shape, change) {
                    let mut object = sample_without_alternatives(shape, fields, field);
                    object[field.key] = value;
                    out.push((join(field.key, &path), object));
                }
            }
        }
        _ => {}
    }
    out
}

/// The sample; if `field` is one of several that exclude each other, without any of these.
fn sample_without_alternatives(shape: &Shape, fields: &[Field], field: &Field) -> Value {
    let mut object = sample(shape, "");
    if field.need == Need::OneOf {
        let keys = fields
            .iter()
            .filter(|f| f.need == Need::OneOf)
            .map(|f| f.key);
        keys.for_each(|key| drop(object.as_object_mut().unwrap().shift_remove(key)));
    }
    object
}

fn wrong_type(shape: &Shape) -> Vec<(String, Value)> {
    let wrong = match shape {
        Shape::Anything => return Vec::new(),
        Shape::WrappedQuantity => {
            return vec![
                ("".into(), "80".into()),
                ("value".into(), json!({"value": []})),
            ];
        }
        Shape::Integer => json!(true),
        Shape::Object(_) => return vec![("".into(), "x".into()), ("".into(), json!(["x"]))],
        Shape::Boolean | Shape::Map(_) | Shape::List(_) => json!("x"),
        Shape::Text | Shape::Quantity => json!({}),
    };
    vec![(String::new(), wrong)]
}

fn wrong_case(shape: &Shape) -> Vec<(String, Value)> {
    let Shape::Object(fields) = shape else {
        return Vec::new();
    };
    // What is not looked into has no sample, so nothing that could be misspelt.
    let needed = |field: &&Field| field.need != Need::No && !matches!(field.shape, Shape::Anything);
    let misspell = |field: &Field| {
        let mut object = sample_without_alternatives(shape, fields, field);
        object.as_object_mut().unwrap().shift_remove(field.key);
        let lower = field.key.to_lowercase();
        let other = if lower == field.key {
            field.key.to_uppercase()
        } else {
            lower
        };
        object[other] = sample(field.shape, field.key);
        (String::new(), object)
    };
    fields.iter().filter(needed).map(misspell).collect()
}

#[test]
fn a_complete_object_reads_in_every_version() {
    for (kind, api_version, version) in readable() {
        read_any(kind, api_version, sample(shape(kind, version), "")).unwrap();
    }
    // Claims, templates, classes and slices in four versions, rules in three.
    assert_eq!(readable().len(), 4 * 4 + 3 + 3);
}

#[test]
fn a_value_of_a_wrong_type_is_found() {
    for (kind, api_version, version) in readable() {
        let cases = variants(shape(kind, version), &wrong_type);
        for (path, value) in cases.into_iter().filter(|(path, _)| !path.is_empty()) {
            let problem = read_any(kind, api_version, value.clone())
                .expect_err(&format!("{api_version} {path}: {value}"));
            assert_eq!(problem.path, path, "{api_version} {problem}");
            assert!(problem.message.starts_with("expected "), "{problem}");
        }
    }
}

#[test]
fn a_key_in_the_wrong_case_is_found() {
    for (kind, api_version, version) in readable() {
        let cases = variants(shape(kind, version), &wrong_case);
        assert!(cases.len() > 1, "metadata and name at least");
        for (path, value) in cases {
            // Below firstAvailable everything is refused in any case.
            if path.contains("firstAvailable") {
                continue;
            }
            let problem = read_any(kind, api_version, value.clone())
                .expect_err(&format!("{api_version} {path}: {value}"));
            assert_eq!(problem.path, path, "{api_version} {problem}");
            assert!(problem.message.starts_with("unknown field "), "{problem}");
        }
    }
}
