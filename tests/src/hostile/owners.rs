//! Objects that own each other, and pods whose devices cannot be known.

use serde_json::{Value, json};

use super::{
    Placed, Refused, assert_fate, assert_warned, claim, cluster, list, node, pod, request,
    simulate, warnings, with,
};

fn replica_set(name: &str, owner: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": "default", "uid": name,
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": true}]},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "x"}]}}}})
}

fn owned_by_itself(object: Value) -> Value {
    let owner = json!([{"apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": "itself", "controller": true}]);
    let object = with(object, "/metadata/uid", "itself".into());
    with(object, "/metadata/ownerReferences", owner)
}

/// The workloads stand for their pods, which are input errors; a pod that only belongs to one of them is placed.
#[test]
fn workloads_in_a_circle() {
    let mut objects = cluster(vec![with(
        pod(),
        "/metadata/ownerReferences",
        replica_set("a", "a")["metadata"]["ownerReferences"].clone(),
    )]);
    objects.extend([
        replica_set("a", "b"),
        replica_set("b", "a"),
        replica_set("self", "self"),
    ]);
    let finished = simulate("circles", list(objects).to_string().into_bytes());
    assert_eq!(finished.status, 1);
    let output = finished.json();
    let verdict = |name: &str| {
        let mut pods = output["pods"].as_array().into_iter().flatten();
        let pod = pods
            .find(|pod| pod["name"] == name)
            .unwrap_or_else(|| panic!("{name}"));
        (
            pod["verdict"].as_str().unwrap_or_default(),
            pod["message"].as_str().unwrap_or_default(),
        )
    };
    assert_eq!(verdict("p").0, "scheduled");
    for name in ["a", "b"] {
        let (verdict, message) = verdict(name);
        let (first, second) = if name == "a" { ("a", "b") } else { ("b", "a") };
        assert_eq!(verdict, "input-error");
        let circle = format!(
            "ReplicaSet default/{first} -> ReplicaSet default/{second} -> ReplicaSet default/{first}"
        );
        let circles = [
            circle,
            "ReplicaSet default/a -> ReplicaSet default/b -> ReplicaSet default/a".to_owned(),
        ];
        assert!(
            circles
                .iter()
                .any(|circle| message.contains(circle.as_str())),
            "{message}"
        );
        assert_warned(
            &output,
            &format!("ReplicaSet default/{name}: not used: its owners form a circle"),
        );
    }
    assert!(verdict("self").1.contains("names itself as its owner"));
}

#[test]
fn objects_that_own_themselves() {
    let part = "names itself as its owner";
    assert_fate(
        "a pod",
        cluster(vec![owned_by_itself(pod())]),
        Refused("input-error", part),
    );
    let own = owned_by_itself(claim(vec![request("r")]));
    assert_fate(
        "a claim",
        cluster(vec![own]),
        Refused(
            "input-error",
            "ResourceClaim default/c: names itself as its owner",
        ),
    );
    let mut objects = cluster(vec![]);
    objects.push(owned_by_itself(with(node(), "/metadata/name", "n2".into())));
    assert_fate("another node", objects, Placed(1));
}

/// Its devices are free as far as anybody can see.
#[test]
fn a_bound_pod_whose_claim_is_missing_or_empty() {
    let entry = |name: &str, claim: &str| json!({"name": name, "resourceClaimName": claim});
    let generated = json!([{"name": "g", "resourceClaimTemplateName": "t"}, entry("c", "c")]);
    let running = with(
        with(pod(), "/metadata/name", "running".into()),
        "/spec/nodeName",
        "n1".into(),
    );
    let running = with(running, "/spec/resourceClaims", generated);
    let running = with(
        running,
        "/status",
        json!({"phase": "Running", "resourceClaimStatuses": [entry("g", "running-g-x7k2p")]}),
    );
    let done = with(
        with(running.clone(), "/metadata/name", "done".into()),
        "/status/phase",
        "Succeeded".into(),
    );
    let mut objects = cluster(vec![]);
    objects.extend([running, done]);
    let finished = simulate("bound", list(objects).to_string().into_bytes());
    let output = finished.json();
    assert_eq!(output["pods"][0]["verdict"], "scheduled");
    let expected = [
        "Pod default/running: runs on n1, but its ResourceClaim default/running-g-x7k2p is not in the input: the devices that it uses look free",
        "Pod default/running: runs on n1, but its ResourceClaim default/c is not allocated in the input: the devices that it uses look free",
    ];
    assert_eq!(warnings(&output), expected);
}
