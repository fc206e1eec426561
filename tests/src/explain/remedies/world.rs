//! Clusters of one or two nodes with few devices: taints, counters, constraints, holders, templates, too little CPU.

use fastrand::Rng;
use serde_json::{Value, json};

const CLASS: &str = "gpu";
const DRIVER: &str = "gpu.example.com";

/// The objects of a cluster with the pending pod `p` and its claim or template `want`.
pub fn objects(seed: u64) -> Vec<Value> {
    let mut random = Rng::with_seed(seed);
    let mut objects = vec![json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": CLASS},
        "spec": {"selectors": [{"cel": {"expression": format!("device.driver == {DRIVER:?}")}}]},
    })];
    let nodes = if one_in(&mut random, 5) { 2 } else { 1 };
    for number in 0..nodes {
        node(&mut random, &format!("n{number}"), &mut objects);
    }
    wanted(&mut random, &mut objects);
    objects
}

fn one_in(random: &mut Rng, number: u32) -> bool {
    random.u32(0..number) == 0
}

fn node(random: &mut Rng, name: &str, objects: &mut Vec<Value>) {
    let mut spec = json!({});
    if one_in(random, 10) {
        spec["taints"] = json!([{"key": "infra", "value": "yes", "effect": "NoSchedule"}]);
    }
    if one_in(random, 20) {
        spec["unschedulable"] = json!(true);
    }
    objects.push(
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec,
        "status": {"allocatable": {"cpu": "8", "pods": "110"}}}),
    );
    let counters = random.u32(0..5) < 2;
    let count = random.usize(2..7);
    let devices: Vec<Value> = (0..count).map(|at| device(random, at, counters)).collect();
    let missing = u32::from(one_in(random, 12));
    let slices = 1 + u32::from(counters) + missing;
    let slice = |what: &str, mut spec: Value| {
        spec["driver"] = json!(DRIVER);
        spec["nodeName"] = json!(name);
        spec["pool"] = json!({"name": name, "generation": 1, "resourceSliceCount": slices});
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("{name}-{what}")}, "spec": spec})
    };
    if counters {
        let set = |at: u32, memory: u32| json!({"name": format!("board-{at}"), "counters": {"memory": {"value": format!("{memory}Gi")}}});
        let sets = [set(0, random.u32(2..5) * 10), set(1, random.u32(2..5) * 10)];
        objects.push(slice("boards", json!({"sharedCounters": sets})));
    }
    objects.push(slice("devices", json!({"devices": devices})));
    for at in 0..count {
        if random.u32(0..10) < 3 {
            holder(name, at, objects);
        }
    }
}

fn device(random: &mut Rng, at: usize, counters: bool) -> Value {
    let mut device = json!({"name": format!("d{at}"), "attributes": {
        "numa": {"int": random.u32(0..2)}, "model": {"string": if one_in(random, 4) { "small" } else { "large" }}}});
    if !one_in(random, 10) {
        device["attributes"]["root"] = json!({"string": format!("r{}", random.u32(0..2))});
    }
    if counters {
        let memory = format!("{}Gi", random.u32(1..3) * 10);
        device["consumesCounters"] = json!([{"counterSet": format!("board-{}", at % 2), "counters": {"memory": {"value": memory}}}]);
    }
    if random.u32(0..20) < 3 {
        let key = format!("t{}", random.u32(0..2));
        let value = if random.bool() { "sick" } else { "" };
        device["taints"] = json!([{"key": key, "value": value, "effect": "NoSchedule"}]);
    }
    device
}

/// A running pod with a device and a CPU.
fn holder(node: &str, at: usize, objects: &mut Vec<Value>) {
    let (claim, pod) = (format!("{node}-h{at}"), format!("{node}-o{at}"));
    let result =
        json!({"request": "r", "driver": DRIVER, "pool": node, "device": format!("d{at}")});
    let here = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]});
    objects.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": claim},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": CLASS}}]}},
        "status": {"allocation": {"devices": {"results": [result]}, "nodeSelector": here},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": format!("u-{pod}")}]}}));
    objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod, "uid": format!("u-{pod}")},
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
            "resourceClaims": [{"name": "c", "resourceClaimName": claim}]},
        "status": {"phase": "Running"}}));
}

fn wanted(random: &mut Rng, objects: &mut Vec<Value>) {
    let requests = if one_in(random, 3) { 2 } else { 1 };
    let requests = (0..requests).map(|at| {
        let mut form = json!({"deviceClassName": CLASS, "count": random.u32(1..4)});
        if random.u32(0..10) < 4 {
            let expression = format!("device.attributes['{DRIVER}'].model == 'large'");
            form["selectors"] = json!([{"cel": {"expression": expression}}]);
        }
        if one_in(random, 12) {
            form = json!({"deviceClassName": CLASS, "allocationMode": "All"});
        }
        if one_in(random, 10) {
            let mut large = form.clone();
            let mut small = json!({"deviceClassName": CLASS, "count": 2});
            (large["name"], small["name"]) = (json!("large"), json!("small"));
            return json!({"name": format!("q{at}"), "firstAvailable": [large, small]});
        }
        json!({"name": format!("q{at}"), "exactly": form})
    });
    let requests: Vec<Value> = requests.collect();
    let mut constraints: Vec<Value> = Vec::new();
    let attribute = |name: &str| format!("{DRIVER}/{name}");
    if random.bool() {
        constraints.push(json!({"matchAttribute": attribute("root")}));
    }
    if random.u32(0..20) < 3 {
        constraints.push(json!({"matchAttribute": attribute("numa")}));
    }
    if one_in(random, 10) {
        constraints.push(json!({"distinctAttribute": attribute("numa")}));
    }
    let spec = json!({"devices": {"requests": requests, "constraints": constraints}});
    let metadata = json!({"name": "want"});
    let (kind, spec, source) = match one_in(random, 3) {
        true => (
            "ResourceClaimTemplate",
            json!({"spec": spec}),
            "resourceClaimTemplateName",
        ),
        false => ("ResourceClaim", spec, "resourceClaimName"),
    };
    objects.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}));
    let cpu = if one_in(random, 3) { "5" } else { "1" };
    objects.push(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u-p"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
            "resourceClaims": [{"name": "gpus", source: "want"}]}}),
    );
}

/// The same with everything done that could help: nobody else runs, nothing is tainted, all slices are there, each request asks for
/// one device, and of anything, without constraints. It is not what the pod asked for, but no other change of these kinds
/// does more.
pub fn with_everything_given(objects: &[Value]) -> Vec<Value> {
    let mut objects = objects.to_vec();
    let others = |object: &Value| {
        let is_held = object["status"]["allocation"].is_object();
        !is_held && (object["kind"] != "Pod" || object["metadata"]["name"] == "p")
    };
    objects.retain(others);
    let slices = |objects: &[Value], pool: &Value| {
        let of = objects
            .iter()
            .filter(|object| object["spec"]["pool"]["name"] == *pool);
        of.count()
    };
    let all = objects.clone();
    for object in &mut objects {
        let kind = object["kind"].as_str().expect("a kind").to_owned();
        match kind.as_str() {
            "Node" => object["spec"] = json!({}),
            "ResourceSlice" => {
                let count = slices(&all, &object["spec"]["pool"]["name"]);
                object["spec"]["pool"]["resourceSliceCount"] = json!(count);
                for device in object["spec"]["devices"]
                    .as_array_mut()
                    .into_iter()
                    .flatten()
                {
                    device["taints"] = json!([]);
                }
            }
            "ResourceClaim" => modest(&mut object["spec"]["devices"]),
            "ResourceClaimTemplate" => modest(&mut object["spec"]["spec"]["devices"]),
            _ => {}
        }
    }
    objects
}

fn modest(devices: &mut Value) {
    devices["constraints"] = json!([]);
    for request in devices["requests"].as_array_mut().into_iter().flatten() {
        let forms = match request.get("exactly") {
            Some(_) => vec![&mut request["exactly"]],
            None => request["firstAvailable"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .collect(),
        };
        for form in forms {
            form["allocationMode"] = json!("ExactCount");
            form["count"] = json!(1);
        }
    }
}
