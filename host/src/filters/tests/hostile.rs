//! Objects with random hostile values: the filters answer or refuse, and never panic.

use super::*;

const POD: &str = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", "labels": {"a": "b"}},
"spec": {"nodeName": "n", "priority": 5, "priorityClassName": "c", "schedulerName": "", "schedulingGates": [{"name": "g"}],
"nodeSelector": {"a": "b"}, "overhead": {"cpu": "1m"}, "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}],
"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}],
"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}},
"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}},
"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}], "volumes": [{"persistentVolumeClaim": {}}],
"initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1", "x/y": 1}}}],
"containers": [{"ports": [{"hostPort": 1}], "resources": {"requests": {"cpu": "1", "x/y": 1}, "limits": {"hugepages-2Mi": "2Mi"}}}]},
"status": {"phase": "Running"}}"#;

const NODE: &str = r#"{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "7"}},
"spec": {"unschedulable": false, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
"status": {"capacity": {"cpu": "8"}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": 110, "x/y": "3", "hugepages-2Mi": "0"}}}"#;

fn hostile(random: &mut fastrand::Rng) -> Value {
    match random.u8(..14) {
        0 => json!(null),
        1 => json!([]),
        2 => json!({}),
        3 => json!(""),
        4 => json!(-1),
        5 => json!(u64::MAX),
        6 => json!(1e308),
        7 => json!("9223372036854775807Ei"),
        8 => json!("1e999999999999"),
        9 => json!("-1n"),
        10 => json!("ß".repeat(1000)),
        11 => json!([[[{"key": [], "name": {}}]]]),
        12 => json!({"cpu": "1", "requests": {"cpu": "1E"}, "key": 1}),
        _ => json!(true),
    }
}

/// Puts a hostile value somewhere below.
fn damage(value: &mut Value, random: &mut fastrand::Rng) {
    let stop = random.u8(..6) == 0;
    match value {
        Value::Object(map) if !stop && !map.is_empty() => {
            let at = random.usize(..map.len());
            if let Some(child) = map.values_mut().nth(at) {
                damage(child, random);
            }
        }
        Value::Array(list) if !stop && !list.is_empty() => {
            let at = random.usize(..list.len());
            damage(&mut list[at], random);
        }
        other => *other = hostile(random),
    }
}

#[test]
fn hostile_objects_never_panic() {
    let mut random = fastrand::Rng::with_seed(3);
    let good = |text: &str| -> Value { serde_json::from_str(text).expect("good JSON") };
    let (mut passed, mut refused, mut unreadable) = (0, 0, 0);
    for _ in 0..5_000 {
        let (mut pod, mut node) = (good(POD), good(NODE));
        for _ in 0..random.u8(1..4) {
            damage(&mut pod["spec"], &mut random);
            damage(&mut node["status"], &mut random);
            damage(&mut node["spec"], &mut random);
        }
        let (pod, node) = (object(pod), object(node));
        let mut filters = Filters::new();
        let readable = filters.put_node(0, &node).is_ok() & filters.put_pod(&pod).is_ok();
        let _ = (
            held(&pod),
            not_imitated(&pod),
            PriorityClasses::default().of(&pod),
        );
        match filters.prepare(&pod) {
            Ok(requirements) => match filters.check(&requirements, 0) {
                Ok(()) => passed += 1,
                Err(_) => refused += 1,
            },
            Err(problem) => {
                assert!(problem.starts_with("Pod default/p: spec."), "{problem}");
                unreadable += 1;
            }
        }
        filters.remove_pod(pod.id());
        assert_eq!(filters.pods.len(), 0, "{readable}");
    }
    assert!(
        passed > 500 && refused > 500 && unreadable > 500,
        "{passed} {refused} {unreadable}"
    );
}

#[test]
fn sums_do_not_overflow() {
    let mut filters = with_node(&node(
        "n",
        json!({}),
        json!({}),
        json!({"allocatable": {"cpu": "16Ei", "x/y": "16Ei"}}),
    ));
    let huge = container(&json!({"cpu": "16Ei", "memory": "16Ei", "x/y": "16Ei"}));
    let spec = json!({"nodeName": "n", "containers": vec![huge; 10_000]});
    for index in 0..10 {
        put(&mut filters, &pod(&format!("p{index}"), spec.clone()));
    }
    let refusal = verdict(&filters, &pod("w", spec));
    assert_eq!(
        refusal,
        "NodeResourcesFit: Insufficient cpu, Insufficient x/y"
    );
}
