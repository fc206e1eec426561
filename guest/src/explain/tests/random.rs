//! The random clusters of the allocator's tests as objects, with selectors in CEL: what is told is what a cycle decides, and
//! what the survey finds does not contradict it.

use serde_json::{Map, Value, json};

use super::cluster::{self, CURRENT, all};
use crate::allocator::tests::{matrix, random, support};
use crate::api::{
    Attribute, CounterSet, Device, DeviceSelector, DeviceToleration, ExactRequest, NodeSelector,
    Reach, RequestBody, ResourceClaim, ResourceSlice,
};
use crate::plugin::Plugin;

/// The tests' selector language in CEL.
fn cel(selectors: &[DeviceSelector]) -> Value {
    let expression = |selector: &DeviceSelector| {
        let text = selector.cel.as_deref().unwrap_or_default();
        let of = "device.attributes[device.driver]";
        match (text.strip_prefix("has "), text.split_once('=')) {
            (Some(name), _) => format!("'{name}' in {of}"),
            (None, Some(("driver", driver))) => format!("device.driver == '{driver}'"),
            (None, Some(("n", value))) => format!("{of}.n == {value}"),
            (None, Some((name, value))) => format!("{of}.{name} == '{value}'"),
            _ if text == "broken" => "device.nosuch == 1".to_owned(),
            _ => text.to_owned(),
        }
    };
    let selectors = selectors.iter();
    selectors
        .map(|selector| json!({"cel": {"expression": expression(selector)}}))
        .collect()
}

fn attribute(value: &Attribute) -> Value {
    match value {
        Attribute::Int(value) => json!({"int": value}),
        Attribute::Bool(value) => json!({"bool": value}),
        Attribute::String(value) => json!({"string": &**value}),
        Attribute::Version(value) => json!({"version": &**value}),
        Attribute::Unknown => json!({}),
        Attribute::List(values) => {
            let mut merged = Map::new();
            for value in values.iter() {
                for (kind, value) in attribute(value).as_object().into_iter().flatten() {
                    let list = merged
                        .entry(format!("{kind}s"))
                        .or_insert_with(|| json!([]));
                    list.as_array_mut()
                        .into_iter()
                        .for_each(|list| list.push(value.clone()));
                }
            }
            Value::Object(merged)
        }
    }
}

fn selector(selector: &NodeSelector) -> Value {
    let terms = selector.terms.iter().map(|term| {
        let requirements = term.match_expressions.iter();
        let requirements: Value = requirements
            .map(|one| json!({"key": one.key, "operator": one.operator, "values": one.values}))
            .collect();
        json!({"matchExpressions": requirements})
    });
    json!({"nodeSelectorTerms": terms.collect::<Vec<_>>()})
}

fn reach(reach: &Reach, value: &mut Value) {
    match reach {
        Reach::NodeName(name) => value["nodeName"] = json!(name),
        Reach::AllNodes => value["allNodes"] = json!(true),
        Reach::NodeSelector(given) => value["nodeSelector"] = selector(given),
        Reach::PerDevice => value["perDeviceNodeSelection"] = json!(true),
        Reach::Nowhere => {}
    }
}

fn counters(sets: &[CounterSet], name: &str) -> Value {
    let set = |set: &CounterSet| {
        let counters = set.counters.iter();
        let counters: Map<String, Value> = counters
            .map(|(name, amount)| {
                (
                    name.to_string(),
                    json!({"value": (amount / 1_000_000_000).to_string()}),
                )
            })
            .collect();
        json!({name: &*set.name, "counters": counters})
    };
    sets.iter().map(set).collect()
}

fn device(device: &Device) -> Value {
    let attributes = device.attributes.iter();
    let attributes: Map<String, Value> = attributes
        .map(|(name, value)| (name.to_string(), attribute(value)))
        .collect();
    let mut value = json!({"name": &*device.name, "attributes": attributes});
    if let Some(extra) = &device.extra {
        let taint = |taint: &crate::api::DeviceTaint| json!({"key": &*taint.key, "value": &*taint.value, "effect": taint.effect.name()});
        value["taints"] = extra.taints.iter().map(taint).collect();
        value["consumesCounters"] = counters(&extra.consumes, "counterSet");
        if let Some(given) = &extra.reach {
            reach(given, &mut value);
        }
    }
    value
}

fn slice(given: &ResourceSlice, number: usize) -> Value {
    let mut value = cluster::slice(
        &format!("{}-{number}", given.name),
        given.devices.iter().map(device).collect(),
    );
    let spec = &mut value["spec"];
    spec["driver"] = json!(&*given.driver);
    spec["pool"] = json!({"name": &*given.pool, "generation": given.generation,
        "resourceSliceCount": given.resource_slice_count});
    spec["nodeName"] = Value::Null;
    spec["sharedCounters"] = counters(&given.counters, "name");
    reach(&given.reach, spec);
    value
}

fn exact(exact: &ExactRequest) -> Value {
    let toleration = |one: &DeviceToleration| json!({"key": one.key, "operator": one.operator, "value": one.value, "effect": one.effect});
    let mut value = json!({"deviceClassName": exact.device_class_name, "selectors": cel(&exact.selectors),
        "allocationMode": exact.allocation_mode, "tolerations": exact.tolerations.iter().map(toleration).collect::<Vec<_>>()});
    if exact.allocation_mode == "ExactCount" {
        value["count"] = json!(exact.count);
    }
    if exact.admin_access {
        value["adminAccess"] = json!(true);
    }
    value
}

fn claim(given: &ResourceClaim) -> Value {
    let requests = given.requests.iter().map(|request| match &request.body {
        RequestBody::Exactly(body) => json!({"name": request.name, "exactly": exact(body)}),
        RequestBody::FirstAvailable(alternatives) => {
            let alternative = |(name, body): &(String, ExactRequest)| {
                let mut value = exact(body);
                value["name"] = json!(name);
                value
            };
            json!({"name": request.name, "firstAvailable": alternatives.iter().map(alternative).collect::<Vec<_>>()})
        }
    });
    let mut value = cluster::claim(&given.meta.name, requests.collect());
    let constraints = given.constraints.iter().map(|one| {
        json!({"requests": one.requests, "matchAttribute": one.match_attribute, "distinctAttribute": one.distinct_attribute})
    });
    value["spec"]["devices"]["constraints"] = constraints.collect();
    value
}

fn objects(given: &support::Cluster) -> cluster::Cluster {
    let mut objects: Vec<Value> = Vec::new();
    for class in &given.classes {
        let mut value = cluster::class(&class.name, &[]);
        value["spec"]["selectors"] = cel(&class.selectors);
        objects.push(value);
    }
    objects.extend(
        given
            .slices
            .iter()
            .enumerate()
            .map(|(number, one)| slice(one, number)),
    );
    for (i, rule) in given.rules.iter().enumerate() {
        let selector = rule.selector.as_ref();
        let selector = selector
            .map(|one| json!({"driver": one.driver, "pool": one.pool, "device": one.device}));
        let taint = &rule.taint;
        objects.push(json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule",
            "metadata": {"name": format!("rule-{i}")}, "spec": {"deviceSelector": selector,
                "taint": {"key": &*taint.key, "value": &*taint.value, "effect": taint.effect.name()}}}));
    }
    for (i, held) in given.held.iter().enumerate() {
        let results = held.results.iter().map(|result| {
            json!({"request": "r", "driver": &*result.driver, "pool": &*result.pool, "device": &*result.device,
                "adminAccess": result.admin_access})
        });
        let mut value =
            cluster::claim(&format!("held-{i}"), json!([cluster::request("r", 1, &[])]));
        value["status"] =
            json!({"allocation": {"devices": {"results": results.collect::<Vec<_>>()}}});
        objects.push(value);
    }
    objects.extend(given.claims.iter().map(claim));
    let names: Vec<&str> = given
        .claims
        .iter()
        .map(|claim| claim.meta.name.as_str())
        .collect();
    objects.push(cluster::pod(&names));
    cluster::Cluster::new(objects)
}

/// Contradictions between the verdict and what was found.
fn check(answer: &Value, case: &str) -> &'static str {
    let fits = answer["verdict"]["at"].is_null();
    if !fits {
        return match answer["verdict"]["code"].as_str() {
            Some("error") => "error",
            Some("invalid-object") => "invalid",
            _ if answer["together"].is_object() => "together",
            _ => "refused",
        };
    }
    for request in all(answer, "/claims/*/requests/*") {
        let is_alternative = request["name"]
            .as_str()
            .is_some_and(|name| name.contains('/'));
        assert!(
            is_alternative || request["missing"] == 0,
            "{case}: {answer:#}"
        );
    }
    assert!(answer["together"].is_null(), "{case}: {answer:#}");
    for blocks in all(answer, "/claims/*/constraints/*/blocks") {
        assert_eq!(blocks, false, "{case}: {answer:#}");
    }
    let picked = all(answer, "/verdict/devices/*").len();
    // An alternative that was given up may have had more.
    let placed = answer["search"]["placed"].as_u64().unwrap_or_default();
    assert!(placed >= picked as u64, "{case}: {answer:#}");
    assert_eq!(
        all(answer, "/claims/*/reasons/*"),
        [&Value::Null; 0],
        "{case}: {answer:#}"
    );
    "fits"
}

#[test]
fn what_is_told_is_what_is_decided() {
    let mut plugin = Plugin::default();
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for seed in 0..5_200 {
        let shape = if seed % 4 == 0 {
            random::TAME
        } else {
            random::WILD
        };
        let clusters = [
            (random::cluster(seed, shape), "random"),
            (matrix::cluster(seed), "matrix"),
        ];
        for (given, name) in clusters {
            let cluster = objects(&given);
            if seed == 0 {
                plugin
                    .configure(&cluster, CURRENT.as_bytes())
                    .expect("configuration");
            }
            let answer = cluster.explain_with(&mut plugin, "n1");
            *seen
                .entry(check(&answer, &format!("{name} {seed}")))
                .or_default() += 1;
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.values().sum::<u32>() > 10_000, "{seen:?}");
    assert!(
        ["fits", "refused", "error", "together"]
            .iter()
            .all(|kind| seen[kind] > 500),
        "{seen:?}"
    );
}
