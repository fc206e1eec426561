//! Each field of a cluster that is in order, misspelt: one error, at its place, and nothing that follows from it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{CLUSTER, lint};

/// Maps whose keys are names, and what is not looked into.
const FREE: [&str; 6] = [
    "attributes",
    "capacity",
    "counters",
    "labels",
    "matchLabels",
    "parameters",
];

/// Steps to each field below `spec`, indexes as numbers.
fn fields(value: &Value, at: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let last = at.iter().rev().find(|step| step.parse::<usize>().is_err());
    if last.is_some_and(|last| FREE.contains(&last.as_str())) && value.is_object() {
        return;
    }
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(list) => (0..)
            .zip(list)
            .map(|(i, value): (usize, _)| (i.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (step, value) in entries {
        at.push(step);
        if at.last().is_some_and(|step| step.parse::<usize>().is_err()) {
            found.push(at.clone());
        }
        fields(value, at, found);
        at.pop();
    }
}

fn path(steps: &[String]) -> String {
    let mut path = String::from("spec");
    for step in steps {
        match step.parse::<usize>() {
            Ok(i) => path.push_str(&format!("[{i}]")),
            Err(_) => path.push_str(&format!(".{step}")),
        }
    }
    path
}

/// Without its last letter but one, or with one more if it is short.
fn misspelt(key: &str) -> String {
    match key.len() {
        0..=4 => format!("{key}x"),
        length => format!("{}{}", &key[..length - 2], &key[length - 1..]),
    }
}

#[test]
fn each_field_misspelt_is_one_error() {
    let documents = CLUSTER.split("\n---");
    let objects: Vec<Value> = documents
        .map(|text| serde_saphyr::from_str(text.trim_start_matches("---")).unwrap())
        .collect();
    let mut seen = BTreeSet::new();
    for (i, object) in objects.iter().enumerate() {
        let is_ours = |object: &Value| {
            object["apiVersion"]
                .as_str()
                .is_some_and(|version| version.starts_with("resource."))
        };
        if !is_ours(object) {
            continue;
        }
        let mut all = Vec::new();
        fields(&object["spec"], &mut Vec::new(), &mut all);
        for steps in all {
            let plain: Vec<&String> = steps
                .iter()
                .filter(|step| step.parse::<usize>().is_err())
                .collect();
            if !seen.insert(format!("{} {plain:?}", object["kind"])) {
                continue;
            }
            let (key, outer) = steps.split_last().unwrap();
            let mut changed = objects.clone();
            let pointer: String = outer.iter().map(|step| format!("/{step}")).collect();
            let map = changed[i]["spec"]
                .pointer_mut(&pointer)
                .and_then(Value::as_object_mut)
                .unwrap();
            let value = map.remove(key).unwrap();
            let wrong = misspelt(key);
            map.insert(wrong.clone(), value);
            let texts: Vec<String> = changed.iter().map(Value::to_string).collect();
            let found = lint(&texts.join("\n---\n"), &[]);
            let errors: Vec<&str> = found
                .iter()
                .filter(|found| found.severity == "error")
                .map(|found| found.path.as_str())
                .collect();
            let place = path(&[outer, &[wrong]].concat());
            assert_eq!(errors, [place], "{found:#?}");
        }
    }
    assert!(seen.len() > 30, "{seen:?}");
}
