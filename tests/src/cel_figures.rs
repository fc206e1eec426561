//! What selectors cost in the component: `CEL_FIGURES=1 cargo test --release cel_figures -- --nocapture` prints a table. The
//! benchmark `cel` of the plugin's package measures the same natively.

use serde_json::{Value, json};

use crate::command::dractl_with;

/// Pods and so compilations, and devices of each slice and so evaluations.
const PODS: usize = 20;
const DEVICES: usize = 400;

/// As in the native benchmark; each is false for the devices here, so that all are looked at.
const SELECTORS: [(&str, &str); 8] = [
    ("(nothing)", "false"),
    (
        "driver && type",
        "device.driver == 'gpu.example.com' && device.attributes['gpu.example.com'].type == 'no'",
    ),
    (
        "in a list",
        "device.attributes['gpu.example.com'].model in ['a', 'b', 'c']",
    ),
    (
        "4 alternatives",
        "device.attributes['gpu.example.com'].index == 7 || device.attributes['gpu.example.com'].index == 8 || \
         device.attributes['gpu.example.com'].index == 9 || device.attributes['gpu.example.com'].index > 5",
    ),
    (
        "exists",
        "device.attributes['gpu.example.com'].exists(k, k.startsWith('no'))",
    ),
    (
        "quantity",
        "device.capacity['gpu.example.com'].memory.compareTo(quantity('90Gi')) >= 0",
    ),
    (
        "version",
        "device.attributes['gpu.example.com'].version.compareTo(semver('1.2.3')) < 0",
    ),
    (
        "pattern",
        "device.attributes['gpu.example.com'].model.lowerAscii().matches('^.*a200.*$')",
    ),
];

fn device(index: usize) -> Value {
    let mut attributes = json!({"type": {"string": "gpu"}, "model": {"string": "NVIDIA A100"}, "index": {"int": 3},
        "healthy": {"bool": true}, "version": {"version": "570.86.15"}});
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        attributes[name] = json!({"string": "value"});
    }
    json!({"name": format!("d{index}"), "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}})
}

/// Microseconds in the plugin for pods that each ask for a device by one of the expressions: the least of many short runs.
fn in_plugin(expressions: &[String], devices: usize) -> f64 {
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}}),
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {
            "driver": "gpu.example.com", "nodeName": "n", "devices": (0..devices).map(device).collect::<Vec<_>>(),
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}),
    ];
    for (index, expression) in expressions.iter().enumerate() {
        let name = format!("p{index}");
        let metadata = json!({"name": name, "namespace": "default"});
        let exactly =
            json!({"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]});
        objects.push(json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata,
            "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}}}));
        objects.push(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {
            "containers": [{"name": "x"}], "resourceClaims": [{"name": "c", "resourceClaimName": name}]}}));
    }
    let input = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    let run = || {
        let finished = dractl_with(
            &["simulate", "--stats", "-o", "json", "-"],
            input.clone().into_bytes(),
        );
        finished.json()["stats"]["pluginMs"]
            .as_f64()
            .expect("a number")
            * 1_000.0
    };
    (0..25).map(|_| run()).fold(f64::INFINITY, f64::min)
}

#[test]
fn figures() {
    if std::env::var_os("CEL_FIGURES").is_none() {
        eprintln!("SKIPPED: CEL_FIGURES=1 measures selectors in the component");
        return;
    }
    // A table, so that nothing else is printed between its lines.
    let mut table = String::from("\n| selector | compile | device and evaluate |\n|---|---|---|\n");
    let (mut base_compile, mut base_evaluate) = (0.0, 0.0);
    for (name, expression) in SELECTORS {
        // Spaces make another expression of it, which costs next to nothing more.
        let different: Vec<String> = (0..PODS)
            .map(|n| expression.to_owned() + &" ".repeat(n))
            .collect();
        let same = vec![expression.to_owned(); PODS];
        let compile = (in_plugin(&different, 1) - in_plugin(&same, 1)) / PODS as f64;
        let evaluate = (in_plugin(&same[..1], DEVICES) - in_plugin(&same[..1], 1)) / DEVICES as f64;
        if base_evaluate == 0.0 {
            (base_compile, base_evaluate) = (compile, evaluate);
        }
        table += &format!(
            "| {name} | {compile:.0} | {:.1} |\n",
            evaluate - base_evaluate
        );
    }
    table += &format!(
        "of {base_compile:.0} and {base_evaluate:.1} for nothing, the latter subtracted\n"
    );
    crate::conformance::say(&table);
}
