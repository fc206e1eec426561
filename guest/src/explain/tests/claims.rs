//! Claims as such: one case for each reason.

use serde_json::{Value, json};

use super::cluster::*;

fn told(objects: Vec<Value>) -> Value {
    let mut all = vec![class("gpu", &[])];
    all.extend(objects);
    Cluster::new(all).explain(CURRENT, "n1")["claims"].clone()
}

fn wanted() -> Value {
    claim("c", json!([request("r", 1, &[])]))
}

#[test]
fn missing() {
    let claims = told(vec![pod(&["c"])]);
    let message = "ResourceClaim.resource.k8s.io \"c\" not found";
    assert_eq!(
        claims,
        json!([{"name": "c-entry", "claim": "ns/c", "state": "missing", "requests": [], "constraints": [],
            "reasons": [{"type": "claim-missing", "message": message}]}])
    );
    let mut pod = pod(&["c"]);
    pod["spec"]["resourceClaims"] = json!([{"name": "e", "resourceClaimTemplateName": "t"}]);
    let claims = told(vec![pod.clone()]);
    assert_eq!(
        (&claims[0]["state"], &claims[0]["claim"]),
        (&json!("missing"), &Value::Null)
    );
    pod["status"] = json!({"resourceClaimStatuses": [{"name": "e"}]});
    assert_eq!(told(vec![pod])[0]["state"], "not-needed");
}

#[test]
fn one_does_not_hide_the_others() {
    let mut deleted = wanted();
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut other = claim(
        "o",
        json!([{"name": "r", "exactly": {"deviceClassName": "nosuch", "allocationMode": "ExactCount", "count": 1}}]),
    );
    let requests = &mut other["spec"]["devices"]["requests"];
    *requests = json!([requests[0], request("s", 1, &[])]);
    let claims = told(vec![deleted, other, pod(&["c", "o"])]);
    assert_eq!(claims[0]["reasons"], json!([{"type": "claim-deleted"}]));
    assert_eq!(claims[1]["reasons"][0]["type"], "class-missing");
    assert_eq!(claims[1]["reasons"][0]["class"], "nosuch");
    let missing = all(&claims, "/1/requests/*/missing");
    assert_eq!(missing, [&json!(1), &json!(1)]);
}

#[test]
fn of_another_owner() {
    let mut pod = pod(&["c"]);
    pod["spec"]["resourceClaims"] = json!([{"name": "e", "resourceClaimTemplateName": "t"}]);
    pod["status"] = json!({"resourceClaimStatuses": [{"name": "e", "resourceClaimName": "c"}]});
    let claims = told(vec![wanted(), pod]);
    assert_eq!(claims[0]["reasons"][0]["type"], "claim-not-owned");
}

#[test]
fn allocated_elsewhere_or_full() {
    // `p` is the pod itself.
    let mut elsewhere = allocated(wanted(), &["gpu.example.com/a/d0"], &["p", "x"]);
    elsewhere["status"]["allocation"]["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchFields":
        [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]});
    let claims = told(vec![elsewhere, pod(&["c"])]);
    assert_eq!(claims[0]["state"], "allocated");
    assert_eq!(
        claims[0]["reasons"],
        json!([{"type": "claim-elsewhere", "nodes": "metadata.name in [n2]", "pods": ["ns/x"]}])
    );
    let names: Vec<String> = (0..256).map(|i| format!("x{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let full = allocated(wanted(), &["gpu.example.com/a/d0"], &names);
    let claims = told(vec![full, pod(&["c"])]);
    let reason = &claims[0]["reasons"][0];
    assert_eq!(
        (&reason["type"], &reason["needed"], &reason["have"]),
        (&json!("claim-full"), &json!(256), &json!(256))
    );
}

#[test]
fn in_flight() {
    let decided = allocated(wanted(), &["gpu.example.com/a/d0"], &[]);
    let cluster =
        Cluster::new(vec![class("gpu", &[]), wanted(), pod(&["c"])]).decided(&decided, "uid-x");
    let answer = cluster.explain(CURRENT, "n1");
    assert_eq!(answer["claims"][0]["state"], "in-flight");
    assert_eq!(
        answer["claims"][0]["reasons"],
        json!([{"type": "claim-in-flight"}])
    );
    assert_eq!(answer["verdict"]["at"], "PreFilter");
}

#[test]
fn what_cannot_be_read_or_asked() {
    let mut broken = wanted();
    broken["spec"]["devices"]["requests"][0]["exactly"]["count"] = json!("two");
    assert_eq!(
        told(vec![broken, pod(&["c"])])[0]["reasons"][0]["type"],
        "invalid-object"
    );
    let mut mode = wanted();
    mode["spec"]["devices"]["requests"][0]["exactly"]["allocationMode"] = json!("Some");
    assert_eq!(
        told(vec![mode, pod(&["c"])])[0]["reasons"][0]["type"],
        "bad-request"
    );
    let mut admin = wanted();
    admin["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = json!(true);
    let cluster = Cluster::new(vec![class("gpu", &[]), admin, pod(&["c"])]);
    let config = r#"{"features": {"DRAAdminAccess": false}}"#;
    let reason = cluster.explain(config, "n1")["claims"][0]["reasons"][0].clone();
    assert_eq!(
        (&reason["type"], &reason["gate"]),
        (&json!("gate-disabled"), &json!("DRAAdminAccess"))
    );
}

#[test]
fn a_slice_that_cannot_be_read() {
    let mut broken = slice("a", json!([device("d0", json!({}))]));
    broken["spec"]["devices"][0]["name"] = json!(7);
    let claims = told(vec![wanted(), broken, pod(&["c"])]);
    assert_eq!(claims[0]["reasons"][0]["type"], "invalid-object");
}

fn classic() -> Value {
    json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ns", "uid": "uid-c"},
        "spec": {"controller": "old.example.com", "devices": {"requests": [
            {"name": "r", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}]}}})
}

#[test]
fn classic_states() {
    let mut class = json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"suitableNodes": {"nodeSelectorTerms": [{"matchExpressions":
            [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}});
    let context = json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "PodSchedulingContext",
        "metadata": {"name": "p", "namespace": "ns", "uid": "uid-ctx",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": true}]},
        "spec": {}, "status": {"resourceClaims": [{"name": "c-entry", "unsuitableNodes": ["n1"]}]}});
    let reasons = |objects: Vec<Value>, config: &str| {
        Cluster::new(objects).explain(config, "n1")["claims"][0].clone()
    };
    let waiting = reasons(vec![class.clone(), classic(), pod(&["c"])], COMPAT);
    assert_eq!(
        (&waiting["state"], &waiting["reasons"]),
        (&json!("classic"), &json!([{"type": "classic-waiting"}]))
    );
    let unsuitable = reasons(vec![class.clone(), classic(), context, pod(&["c"])], COMPAT);
    assert_eq!(
        unsuitable["reasons"],
        json!([{"type": "classic-unsuitable"}])
    );
    class["spec"]["suitableNodes"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] =
        json!(["b"]);
    let nodes = reasons(vec![class.clone(), classic(), pod(&["c"])], COMPAT);
    assert_eq!(
        nodes["reasons"],
        json!([{"type": "classic-class-nodes", "class": "gpu"}])
    );
    let mut again = classic();
    again["status"] = json!({"deallocationRequested": true});
    let again = reasons(vec![class.clone(), again, pod(&["c"])], COMPAT);
    assert_eq!(
        again["reasons"],
        json!([{"type": "deallocation-requested"}])
    );
    let off = reasons(
        vec![class, classic(), pod(&["c"])],
        r#"{"profile": "1.31"}"#,
    );
    assert_eq!(
        off["reasons"],
        json!([{"type": "gate-disabled", "gate": "DRAControlPlaneController"}])
    );
}

#[test]
fn a_node_or_pod_that_is_not_there() {
    let cluster = Cluster::new(vec![pod(&[])]);
    let answer = cluster.explain(CURRENT, "n1");
    assert_eq!(
        answer["verdict"],
        json!({"at": null, "code": "success", "message": ""})
    );
    let mut plugin = crate::plugin::Plugin::default();
    let answers = plugin.explain(
        &cluster,
        &object(&pod(&[])),
        &["n9".to_owned(), "n1".to_owned()],
    );
    let answer: Value = serde_json::from_slice(&answers[0]).expect("JSON");
    assert_eq!(answer["verdict"]["message"], "node n9 is not known");
}
