//! The answers against the published schema: its few keywords are checked here.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../schemas/explain.schema.json");

/// Everything that is wrong with an answer.
pub fn violations(answer: &Value) -> Vec<String> {
    let root: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let mut found = Vec::new();
    check(&root, &root, answer, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return check(root, target.expect("it is there"), value, path, found);
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect::<Vec<_>>(),
    };
    if !types.is_empty() && !types.iter().any(|name| is_of(value, name)) {
        found.push(format!("{path}: {value} is not {types:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        found.push(format!("{path}: {value} is not allowed"));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        found.push(format!("{path}: {value} is too small"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        check(
            root,
            &schema["items"],
            item,
            &format!("{path}/{index}"),
            found,
        );
    }
    let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object())
    else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !object.contains_key(name.as_str().unwrap_or_default()) {
            found.push(format!("{path}: {name} is missing"));
        }
    }
    for (name, value) in object {
        match properties.get(name) {
            Some(schema) => check(root, schema, value, &format!("{path}/{name}"), found),
            None => found.push(format!("{path}/{name}: not in the schema")),
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other} is not known here"),
    }
}

#[test]
fn the_check_bites() {
    let answer = serde_json::json!({
        "node": 1, "verdict": {"at": "Score", "code": "x", "message": "", "other": 1}, "claims": [], "pools": [],
    });
    assert_eq!(
        violations(&answer),
        [
            ": \"unreachable\" is missing",
            "/node: 1 is not [\"string\"]",
            "/verdict/at: \"Score\" is not allowed",
            "/verdict/other: not in the schema"
        ]
    );
}
