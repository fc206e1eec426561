//! Whether a path of a finding is one of the object's: what is there, or what is to be put there.

use serde_json::Value;

use super::Found;

/// Maps whose keys are names, written in brackets.
const MAPS: [&str; 9] = [
    "allocatable",
    "annotations",
    "attributes",
    "capacity",
    "counters",
    "labels",
    "limits",
    "matchLabels",
    "requests",
];

/// Objects of a text, those of Lists too; documents that cannot be read are left out.
fn objects(input: &str) -> Vec<Value> {
    let documents = input.split("\n---");
    let read = |text: &str| serde_saphyr::from_str::<Value>(text.trim_start_matches("---")).ok();
    let mut objects = Vec::new();
    for document in documents.filter_map(read) {
        match document["items"].as_array() {
            Some(items) => objects.extend(items.iter().cloned()),
            None => objects.push(document),
        }
    }
    objects
}

fn name_of(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
    match text(&object["metadata"]["namespace"]) {
        namespace if namespace.is_empty() => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}

/// Findings whose path leads astray, or that do not say what to do.
pub fn astray(input: &str, findings: &[Found]) -> Vec<String> {
    let objects = objects(input);
    let told = |found: &Found| {
        let name = found.object.replace(" default/", " ");
        let candidates: Vec<&Value> = objects
            .iter()
            .filter(|object| name_of(object).replace(" default/", " ") == name)
            .collect();
        let wrong: Vec<String> = candidates
            .iter()
            .filter_map(|object| leads_astray(object, &found.path))
            .collect();
        if found.remedy.is_empty() {
            Some(format!("no remedy: {found:?}"))
        } else if !candidates.is_empty() && wrong.len() == candidates.len() {
            Some(format!("{}: {found:?}", wrong[0]))
        } else {
            None
        }
    };
    findings.iter().filter_map(told).collect()
}

/// Where the path leaves the object; what is missing may be the last two steps.
fn leads_astray(object: &Value, path: &str) -> Option<String> {
    let steps = steps(path);
    let mut value = object;
    for (i, (step, is_bracket)) in steps.iter().enumerate() {
        let before = i.checked_sub(1).map_or("", |i| steps[i].0.as_str());
        // A request for capacity has a map of its own.
        let is_map = MAPS.contains(&before) && step != "requests";
        if value.is_object() && is_map && !is_bracket {
            return Some(format!("{step} is a name and not in brackets"));
        }
        let next = match value {
            Value::Array(list) => match step.parse::<usize>() {
                Ok(i) => list.get(i),
                Err(_) => list.iter().find(|entry| entry["name"] == **step),
            },
            value => value.get(step),
        };
        match next {
            Some(next) => value = next,
            None if *is_bracket && value.is_array() => return Some(format!("no entry {step}")),
            None if i + 2 >= steps.len() => return None,
            None => return Some(format!("no {step}")),
        }
    }
    None
}

/// Keys, and whether each stands in brackets.
fn steps(path: &str) -> Vec<(String, bool)> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.trim_start_matches('.');
        let (step, after) = match rest.strip_prefix('[') {
            Some(inner) => inner.split_once(']').unwrap_or((inner, "")),
            None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        steps.push((step.to_owned(), rest.starts_with('[')));
        rest = after;
    }
    steps
}

#[test]
fn paths_that_lead_astray() {
    let slice = serde_json::json!({"spec": {"devices": [{"attributes": {"a": {"string": "x"}}}]}});
    for (path, is_right) in [
        ("spec.devices[0].attributes[a].string", true),
        ("spec.devices[0].attributes.string", false),
        ("spec.devices[1]", false),
        ("spec.pool.name", true),
        ("spec.pool.name.x", false),
        ("", true),
    ] {
        assert_eq!(leads_astray(&slice, path).is_none(), is_right, "{path}");
    }
}
