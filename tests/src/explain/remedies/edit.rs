//! Makes the changes that an answer documents to manifests, as `host/schemas/explain.schema.json` describes them: written for
//! this test, from the schema.

use serde_json::{Value, json};

/// The objects with these changes made.
pub fn with(objects: &[Value], changes: &[Value]) -> Vec<Value> {
    let mut objects = objects.to_vec();
    let mut changes = changes.to_vec();
    // Constraints before requests, the larger numbers first.
    changes.sort_by_key(|change| match change["change"].as_str() {
        Some("give-up-constraint") => 1_000 - change["index"].as_u64().expect("an index"),
        Some("drop-request") => 2_000,
        _ => 0,
    });
    for change in &changes {
        make(&mut objects, change);
    }
    objects
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("{key} of {value}"))
}

fn make(objects: &mut Vec<Value>, change: &Value) {
    match text(change, "change") {
        "free-claim" => {
            delete_pods(objects, change);
            for claim in named(objects, "ResourceClaim", text(change, "claim")) {
                let status = claim["status"].as_object_mut().expect("a status");
                status.remove("allocation");
                status.remove("reservedFor");
            }
        }
        "end-pods" => delete_pods(objects, change),
        "uncordon" => node(objects, change)["spec"]["unschedulable"] = json!(false),
        "tolerate-node-taint" => {
            let pod = named(objects, "Pod", "default/p").remove(0);
            push(&mut pod["spec"], "tolerations", toleration(change));
        }
        "remove-node-taint" => {
            let taints = node(objects, change)["spec"]["taints"].as_array_mut();
            let differs = |taint: &Value| {
                taint["key"] != change["key"] || taint["effect"] != change["effect"]
            };
            taints.expect("taints").retain(differs);
        }
        "ask-resource" => {
            let pod = named(objects, "Pod", "default/p").remove(0);
            let requests = &mut pod["spec"]["containers"][0]["resources"]["requests"];
            requests[text(change, "resource")] = change["amount"].clone();
        }
        "remove-taint" => untaint(objects, change),
        "complete-pool" => {
            let is_of = |slice: &Value| {
                slice["kind"] == "ResourceSlice"
                    && slice["spec"]["driver"] == change["driver"]
                    && slice["spec"]["pool"]["name"] == change["pool"]
            };
            let count = objects.iter().filter(|one| is_of(one)).count();
            for slice in objects.iter_mut().filter(|one| is_of(one)) {
                slice["spec"]["pool"]["resourceSliceCount"] = json!(count);
            }
        }
        "tolerate" => {
            let toleration = toleration(change);
            push(form(objects, change), "tolerations", toleration);
        }
        "ask-for" => {
            let form = form(objects, change);
            form["allocationMode"] = json!("ExactCount");
            form["count"] = change["count"].clone();
        }
        "change-selector" => {
            let index = change["index"].as_u64().expect("an index");
            let index = usize::try_from(index).expect("small");
            let selectors = form(objects, change)["selectors"].as_array_mut();
            let selectors = selectors.expect("selectors");
            match change["expression"].as_str() {
                Some(text) => selectors[index] = json!({"cel": {"expression": text}}),
                None => drop(selectors.remove(index)),
            }
        }
        "give-up-constraint" => {
            let index = change["index"].as_u64().expect("an index");
            let constraints = devices(objects, change)["constraints"].as_array_mut();
            constraints
                .expect("constraints")
                .remove(usize::try_from(index).expect("small"));
        }
        "drop-request" => {
            let name = text(change, "request").to_owned();
            let requests = devices(objects, change)["requests"].as_array_mut();
            let requests = requests.expect("requests");
            match name.split_once('/') {
                None => requests.retain(|one| one["name"] != *name),
                Some((parent, name)) => {
                    let parents = requests.iter_mut();
                    for one in parents.filter(|one| one["name"] == *parent) {
                        let all = one["firstAvailable"].as_array_mut();
                        all.expect("alternatives")
                            .retain(|one| one["name"] != *name);
                    }
                }
            }
        }
        other => panic!("{other} is not known here"),
    }
}

fn named<'o>(objects: &'o mut [Value], kind: &str, name: &str) -> Vec<&'o mut Value> {
    let (_, name) = name.split_once('/').expect("namespace/name");
    let is_it = |one: &&mut Value| one["kind"] == kind && one["metadata"]["name"] == name;
    objects.iter_mut().filter(is_it).collect()
}

fn node<'o>(objects: &'o mut [Value], change: &Value) -> &'o mut Value {
    named(objects, "Node", &format!("/{}", text(change, "node"))).remove(0)
}

fn delete_pods(objects: &mut Vec<Value>, change: &Value) {
    let pods = change["pods"].as_array().expect("pods");
    objects.retain(|one| {
        let name = format!("default/{}", text(&one["metadata"], "name"));
        one["kind"] != "Pod" || !pods.contains(&json!(name))
    });
}

fn devices<'o>(objects: &'o mut [Value], change: &Value) -> &'o mut Value {
    match change["template"].as_str() {
        Some(template) => {
            let template = named(objects, "ResourceClaimTemplate", template).remove(0);
            &mut template["spec"]["spec"]["devices"]
        }
        None => {
            let claim = named(objects, "ResourceClaim", text(change, "claim")).remove(0);
            &mut claim["spec"]["devices"]
        }
    }
}

fn form<'o>(objects: &'o mut [Value], change: &Value) -> &'o mut Value {
    let (request, alternative) = match text(change, "request").split_once('/') {
        Some((request, alternative)) => (request, Some(alternative)),
        None => (text(change, "request"), None),
    };
    let of_name = |list: &'o mut Value, name: &str| {
        let list = list.as_array_mut().expect("a list").iter_mut();
        list.into_iter()
            .find(|one| one["name"] == name)
            .expect("is there")
    };
    let request = of_name(&mut devices(objects, change)["requests"], request);
    match alternative {
        Some(name) => of_name(&mut request["firstAvailable"], name),
        None => &mut request["exactly"],
    }
}

fn toleration(change: &Value) -> Value {
    json!({"key": change["key"], "operator": "Equal", "value": change["value"], "effect": change["effect"]})
}

fn push(fields: &mut Value, list: &str, item: Value) {
    match fields[list].as_array_mut() {
        Some(items) => items.push(item),
        None => fields[list] = json!([item]),
    }
}

fn untaint(objects: &mut [Value], change: &Value) {
    let wanted = change["devices"].as_array().expect("devices");
    for slice in objects
        .iter_mut()
        .filter(|one| one["kind"] == "ResourceSlice")
    {
        let spec = &mut slice["spec"];
        let pool = format!("{}/{}", text(spec, "driver"), text(&spec["pool"], "name"));
        for device in spec["devices"].as_array_mut().into_iter().flatten() {
            let name = json!(format!("{pool}/{}", text(device, "name")));
            if let Some(taints) = device["taints"]
                .as_array_mut()
                .filter(|_| wanted.contains(&name))
            {
                taints.retain(|taint| {
                    ["key", "value", "effect"]
                        .iter()
                        .any(|field| taint[field] != change[field])
                });
            }
        }
    }
}
