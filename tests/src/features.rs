//! Features of today on the whole way, from a dump to the verdict: what the tests beside the allocator cannot show.

use serde_json::{Value, json};

use crate::command::{Finished, dractl_with};

const API: &str = "resource.k8s.io/v1";

fn object(kind: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec})
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

fn slice(node: &str, devices: Value) -> Value {
    let spec = json!({"driver": "gpu.example.com", "nodeName": node, "devices": devices,
        "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}});
    object("ResourceSlice", node, spec)
}

fn claim(name: &str, requests: Value) -> Value {
    object(
        "ResourceClaim",
        name,
        json!({"devices": {"requests": requests}}),
    )
}

fn one_device() -> Value {
    json!([{"name": "r", "exactly": {"deviceClassName": "gpu"}}])
}

fn pod(name: &str, claims: &[&str]) -> Value {
    let entries: Vec<Value> = claims
        .iter()
        .map(|claim| json!({"name": claim, "resourceClaimName": claim}))
        .collect();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"resourceClaims": entries}})
}

fn simulate(flags: &[&str], objects: Vec<Value>) -> Finished {
    let mut items = vec![object("DeviceClass", "gpu", json!({}))];
    items.extend(objects);
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    let mut args = vec!["simulate", "-o", "json"];
    args.extend(flags);
    args.push("-");
    dractl_with(&args, list.to_string().into_bytes())
}

/// Verdict, node and message of the pod with this number.
fn told(finished: &Finished, pod: usize) -> (String, String, String) {
    let json = finished.json();
    let text = |field: &str| {
        json["pods"][pod][field]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text("verdict"), text("node"), text("message"))
}

/// Two nodes, of which the second has the device that is preferred.
fn two_nodes() -> Vec<Value> {
    let device =
        |model: &str| json!([{"name": "gpu-0", "attributes": {"model": {"string": model}}}]);
    vec![
        node("n1"),
        node("n2"),
        slice("n1", device("old")),
        slice("n2", device("new")),
    ]
}

fn prefer(models: [&str; 2]) -> Value {
    let alternative = |model: &str| {
        let expression = format!("device.attributes[\"gpu.example.com\"].model == \"{model}\"");
        json!({"name": model, "deviceClassName": "gpu", "selectors": [{"cel": {"expression": expression}}]})
    };
    json!([{"name": "r", "firstAvailable": models.map(alternative)}])
}

#[test]
fn the_node_with_the_preferred_alternative_is_taken() {
    for (models, node) in [(["new", "old"], "n2"), (["old", "new"], "n1")] {
        let mut objects = two_nodes();
        objects.extend([claim("c", prefer(models)), pod("p", &["c"])]);
        let finished = simulate(&[], objects);
        let (verdict, chosen, _) = told(&finished, 0);
        assert_eq!((verdict.as_str(), chosen.as_str()), ("scheduled", node));
        let request = &finished.json()["pods"][0]["claims"][0]["devices"][0]["request"];
        assert_eq!(*request, format!("r/{}", models[0]));
    }
}

/// Upstream failed in Score where one claim of a pod was allocated before.
#[test]
fn claims_that_are_allocated_count_nothing_in_the_score() {
    let mut shared = claim("shared", prefer(["old", "new"]));
    shared["status"] = json!({"allocation": {"devices": {"results": [
        {"request": "r/old", "driver": "net.example.com", "pool": "net", "device": "net-0"}]}}});
    let mut objects = two_nodes();
    objects.extend([
        shared,
        claim("c", prefer(["new", "old"])),
        pod("p", &["shared", "c"]),
    ]);
    let (verdict, chosen, message) = told(&simulate(&[], objects), 0);
    assert_eq!(
        (verdict.as_str(), chosen.as_str()),
        ("scheduled", "n2"),
        "{message}"
    );
}

#[test]
fn a_claim_has_256_consumers_at_most() {
    let with = |count: usize| {
        let consumer =
            |i: usize| json!({"resource": "pods", "name": format!("p{i}"), "uid": format!("u{i}")});
        let mut shared = claim("shared", one_device());
        shared["status"] = json!({
            "allocation": {"devices": {"results": [
                {"request": "r", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}]}},
            "reservedFor": (0..count).map(consumer).collect::<Vec<_>>()});
        told(
            &simulate(&[], vec![node("n1"), shared, pod("p", &["shared"])]),
            0,
        )
    };
    assert_eq!(with(255).0, "scheduled");
    let (verdict, _, message) = with(256);
    assert_eq!(verdict, "unschedulable");
    let expected = "resourceclaim in use: claim default/shared is reserved for 256 consumers, at most 256 are allowed";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn taint_rules_apply_to_the_slices_of_drivers() {
    let with = |flags: &[&str], selector: Option<Value>, tolerations: Value| {
        let mut rule = json!({"taint": {"key": "broken", "value": "yes", "effect": "NoExecute"}});
        if let Some(selector) = selector {
            rule["deviceSelector"] = selector;
        }
        let request = json!([{"name": "r", "exactly": {"deviceClassName": "gpu", "tolerations": tolerations}}]);
        let mut objects = vec![
            node("n1"),
            slice("n1", json!([{"name": "gpu-0"}])),
            claim("c", request),
            pod("p", &["c"]),
        ];
        for version in ["v1alpha3", "v1beta2", "v1"] {
            let mut rule = object("DeviceTaintRule", version, rule.clone());
            rule["apiVersion"] = format!("resource.k8s.io/{version}").into();
            objects.push(rule);
        }
        simulate(flags, objects)
    };
    let on: &[&str] = &["--feature", "DRADeviceTaintRules=true"];
    let verdict = |finished: &Finished| told(finished, 0).0;
    assert_eq!(verdict(&with(on, None, json!([]))), "scheduled");
    assert_eq!(
        verdict(&with(on, Some(json!({})), json!([]))),
        "unschedulable"
    );
    let other = json!({"driver": "gpu.example.com", "device": "gpu-1"});
    assert_eq!(verdict(&with(on, Some(other), json!([]))), "scheduled");
    let tolerations = json!([{"key": "broken", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]);
    let finished = with(on, Some(json!({})), tolerations.clone());
    assert_eq!(verdict(&finished), "scheduled");
    let allocation = &finished.json()["pods"][0]["claims"][0]["allocation"];
    assert_eq!(
        allocation["devices"]["results"][0]["tolerations"],
        tolerations
    );
    // The gate is off unless somebody says otherwise; then a rule is not ignored.
    let (verdict, _, message) = told(&with(&[], None, json!([])), 0);
    assert_eq!(verdict, "input-error");
    assert!(
        message.contains("DeviceTaintRule ") && message.contains("(gate DRADeviceTaintRules)"),
        "{message}"
    );
}

#[test]
fn pods_share_the_counters_of_a_pool() {
    let consuming = |name: &str, memory: &str| json!({"name": name, "consumesCounters": [{"counterSet": "s", "counters": {"memory": {"value": memory}}}]});
    let mut counters = slice(
        "n1",
        json!([
            consuming("half-0", "40Gi"),
            consuming("half-1", "40Gi"),
            consuming("whole", "80Gi")
        ]),
    );
    counters["spec"]["sharedCounters"] =
        json!([{"name": "s", "counters": {"memory": {"value": "80Gi"}}}]);
    let mut objects = vec![node("n1"), counters];
    for name in ["a", "b", "c"] {
        objects.extend([claim(name, one_device()), pod(name, &[name])]);
    }
    let finished = simulate(&[], objects);
    let verdicts = [0, 1, 2].map(|pod| told(&finished, pod).0);
    assert_eq!(verdicts, ["scheduled", "scheduled", "unschedulable"]);
    // A gate that is off refuses the slice by name.
    let off = ["--feature", "DRAPartitionableDevices=false"];
    let finished = simulate(
        &off,
        vec![
            node("n1"),
            slice("n1", json!([consuming("d", "1Gi")])),
            claim("a", one_device()),
            pod("a", &["a"]),
        ],
    );
    let (verdict, _, message) = told(&finished, 0);
    assert_eq!(verdict, "input-error");
    assert!(
        message.contains("(gate DRAPartitionableDevices)"),
        "{message}"
    );
}
