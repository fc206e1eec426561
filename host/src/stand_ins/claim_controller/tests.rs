//! Templates to claims.

use super::*;
use crate::api::Fault;
use crate::cluster::{Cluster, Settings};
use crate::plugin::Verb;

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn template(version: &str) -> Object {
    object(
        json!({"apiVersion": format!("resource.k8s.io/{version}"), "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t", "namespace": "ns", "labels": {"of": "the template"}},
        "spec": {"metadata": {"labels": {"l": "1"}, "annotations": {"a": "2"}}, "spec": {"devices": {"x": [1]}}}}),
    )
}

fn pod_value(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        "spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}})
}

fn pod(name: &str) -> Object {
    object(pod_value(name))
}

fn cluster(objects: Vec<Object>) -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    assert_eq!(cluster.load(objects), []);
    cluster
}

fn claims(cluster: &Cluster) -> Vec<&Value> {
    cluster
        .stored()
        .list(&Kind::new(CLAIM))
        .map(Object::value)
        .collect()
}

fn statuses(cluster: &Cluster, pod: &str) -> Value {
    let pod = cluster
        .stored()
        .stored(&Kind::new(POD), "ns", pod)
        .expect("the pod");
    pod.value()
        .pointer("/status/resourceClaimStatuses")
        .cloned()
        .unwrap_or_default()
}

#[test]
fn a_claim_is_generated_from_its_template() {
    for version in ["v1alpha3", "v1"] {
        let mut cluster = cluster(vec![template(version), pod("p")]);
        assert_eq!(cluster.run_claim_controller(), []);
        assert_eq!(
            statuses(&cluster, "p"),
            json!([{"name": "gpu", "resourceClaimName": "p-gpu"}])
        );
        let claim = claims(&cluster)[0].clone();
        assert_eq!(claim["apiVersion"], format!("resource.k8s.io/{version}"));
        assert_eq!(claim["spec"], json!({"devices": {"x": [1]}}));
        let metadata = &claim["metadata"];
        assert_eq!(
            (&metadata["name"], &metadata["namespace"]),
            (&json!("p-gpu"), &json!("ns"))
        );
        assert_eq!(metadata["labels"], json!({"l": "1"}));
        assert_eq!(
            metadata["annotations"],
            json!({"a": "2", "resource.kubernetes.io/pod-claim-name": "gpu"})
        );
        let owner = json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": true,
            "blockOwnerDeletion": true}]);
        assert_eq!(metadata["ownerReferences"], owner);
        cluster.deliver();
        assert!(cluster.entry(&Kind::new(CLAIM), "ns", "p-gpu").is_some());
        assert_eq!(cluster.run_claim_controller(), []);
        assert_eq!(claims(&cluster).len(), 1, "once is enough");
    }
}

#[test]
fn pods_that_need_nothing_are_left_alone() {
    let with = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut value = pod_value(name);
        change(&mut value);
        object(value)
    };
    let mut cluster = cluster(vec![
        template("v1"),
        with("done", &|pod| pod["status"] = json!({"phase": "Succeeded"})),
        with("failed", &|pod| pod["status"] = json!({"phase": "Failed"})),
        with("deleted", &|pod| {
            pod["metadata"]["deletionTimestamp"] = json!("2024-09-01T10:00:00Z")
        }),
        with(
            "has",
            &|pod| {
                pod["status"] =
                    json!({"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "c"}]})
            },
        ),
        with("unneeded", &|pod| {
            pod["status"] = json!({"resourceClaimStatuses": [{"name": "gpu"}]})
        }),
        with("named", &|pod| {
            pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": "c"}])
        }),
        with("odd", &|pod| {
            pod["spec"]["resourceClaims"] = json!([5, {"name": 3}, {}])
        }),
    ]);
    assert_eq!(cluster.run_claim_controller(), []);
    assert!(claims(&cluster).is_empty());
    assert_eq!(cluster.api().journal().count(), 0);
}

#[test]
fn a_missing_template_is_named_once_and_waited_for() {
    let mut cluster = cluster(vec![pod("p")]);
    let warnings = cluster.run_claim_controller();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].object, "Pod ns/p");
    for part in ["\"gpu\"", "ResourceClaimTemplate ns/t"] {
        assert!(
            warnings[0].message.contains(part),
            "{}",
            warnings[0].message
        );
    }
    assert!(claims(&cluster).is_empty() && statuses(&cluster, "p").is_null());
    cluster.load(vec![pod("p")]);
    assert_eq!(cluster.run_claim_controller(), [], "it was said already");
    cluster.load(vec![template("v1")]);
    assert_eq!(cluster.run_claim_controller(), []);
    assert_eq!(claims(&cluster).len(), 1);
}

#[test]
fn an_own_claim_is_used_again() {
    let mut claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": {},
        "metadata": {"name": "p-gpu-x7k2p", "namespace": "ns",
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": true}]}});
    // Also when the caches have not seen it: then the name tells.
    for (name, delivered) in [("p-gpu-x7k2p", true), ("p-gpu", false)] {
        claim["metadata"]["name"] = json!(name);
        let mut cluster = Cluster::new(Settings::default());
        if !delivered {
            cluster.api().watch().hold(&Kind::new(CLAIM));
        }
        cluster.load(vec![template("v1"), pod("p"), object(claim.clone())]);
        assert_eq!(cluster.run_claim_controller(), []);
        assert_eq!(claims(&cluster).len(), 1);
        assert_eq!(
            statuses(&cluster, "p"),
            json!([{"name": "gpu", "resourceClaimName": name}])
        );
    }
}

#[test]
fn a_taken_name_gets_a_stable_end() {
    let other = object(
        json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "p-gpu", "namespace": "ns"}, "spec": {}}),
    );
    let name = || {
        let mut cluster = cluster(vec![template("v1"), other.clone(), pod("p")]);
        assert_eq!(cluster.run_claim_controller(), []);
        assert_eq!(claims(&cluster).len(), 2);
        statuses(&cluster, "p")[0]["resourceClaimName"]
            .as_str()
            .expect("a name")
            .to_owned()
    };
    let first = name();
    assert!(
        first.starts_with("p-gpu-") && first.len() == "p-gpu-".len() + 8,
        "{first}"
    );
    assert_eq!(name(), first);
}

#[test]
fn long_names_are_cut() {
    let name = "p".repeat(253);
    let mut cluster = cluster(vec![template("v1"), pod(&name)]);
    assert_eq!(cluster.run_claim_controller(), []);
    let made = claims(&cluster)[0]["metadata"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    assert_eq!(made.len(), 253);
    assert_eq!(
        with_hash(&"ä".repeat(200), "")
            .chars()
            .filter(|c| *c == 'ä')
            .count(),
        122,
        "244 bytes are left"
    );
}

#[test]
fn several_entries_are_written_together() {
    let mut value = pod_value("p");
    value["spec"]["resourceClaims"] = json!([
        {"name": "a", "resourceClaimTemplateName": "t"},
        {"name": "b", "resourceClaimTemplateName": "missing"},
        {"name": "c", "resourceClaimTemplateName": "t"},
    ]);
    let mut cluster = cluster(vec![template("v1"), object(value)]);
    assert_eq!(cluster.run_claim_controller().len(), 1);
    let names = json!([{"name": "a", "resourceClaimName": "p-a"}, {"name": "c", "resourceClaimName": "p-c"}]);
    assert_eq!(statuses(&cluster, "p"), names);
}

#[test]
fn what_fails_is_tried_again() {
    for (verb, kind) in [(Verb::Create, CLAIM), (Verb::UpdateStatus, POD)] {
        let mut cluster = cluster(vec![template("v1"), pod("p")]);
        let error = ApiError {
            reason: ApiErrorReason::Other,
            message: "no".into(),
        };
        let (operation, kind) = (Some(verb.into()), Some(Kind::new(kind)));
        cluster.api().inject(Fault {
            operation,
            kind,
            nth: 1,
            error,
            after_effect: false,
        });
        let warnings = cluster.run_claim_controller();
        assert_eq!(warnings.len(), 1, "{verb:?}");
        assert!(statuses(&cluster, "p").is_null());
        assert_eq!(cluster.run_claim_controller(), []);
        assert_eq!(claims(&cluster).len(), 1, "{verb:?}");
        assert_eq!(
            statuses(&cluster, "p"),
            json!([{"name": "gpu", "resourceClaimName": "p-gpu"}])
        );
    }
}

#[test]
fn a_deleted_claim_is_forgotten() {
    let mut cluster = cluster(vec![template("v1"), pod("p")]);
    cluster.run_claim_controller();
    cluster.deliver();
    let target = cluster
        .entry(&Kind::new(CLAIM), "ns", "p-gpu")
        .expect("the claim")
        .object
        .id()
        .clone();
    cluster
        .api()
        .call(Caller::Other, &ApiCall::Delete { target })
        .expect("a deletion");
    cluster.deliver();
    cluster.load(vec![pod("p")]);
    assert_eq!(cluster.run_claim_controller(), []);
    assert_eq!(
        claims(&cluster).len(),
        1,
        "made anew for the pod whose status was lost"
    );
}
