//! The users of a cluster under load.

use super::*;
use crate::cluster::Settings;

fn busy(seed: u64) -> (Cluster, Users) {
    let mut cluster = Cluster::new(Settings::default());
    let mut users = Users::new(Size::default(), seed);
    cluster.load(users.first_objects());
    for _ in 0..200 {
        users.act(&mut cluster).unwrap();
        cluster.deliver();
        cluster.run_claim_controller();
    }
    (cluster, users)
}

fn names(cluster: &Cluster, kind: &str) -> Vec<String> {
    let objects = listed(cluster, kind);
    objects
        .iter()
        .map(|object| format!("{} {}", object.id().name, object.resource_version()))
        .collect()
}

#[test]
fn the_same_seed_makes_the_same_cluster() {
    let (first, second, other) = (busy(1).0, busy(1).0, busy(2).0);
    for kind in [POD, CLAIM, SLICE] {
        assert_eq!(names(&first, kind), names(&second, kind));
    }
    assert_ne!(names(&first, POD), names(&other, POD));
    assert!(names(&first, POD).len() > 10);
    assert_eq!(names(&first, SLICE).len(), 8);
}

#[test]
fn pods_that_leave_take_their_claims_along() {
    let (mut cluster, mut users) = busy(3);
    // One is allocated and reserved, as a scheduler leaves it.
    let claim = listed(&cluster, CLAIM)
        .into_iter()
        .find(|claim| claim.text("/metadata/ownerReferences/0/uid").is_some())
        .unwrap();
    let owner = claim
        .text("/metadata/ownerReferences/0/uid")
        .unwrap()
        .to_owned();
    let mut value = claim.into_value();
    value["metadata"]["finalizers"] = json!(["resource.kubernetes.io/delete-protection"]);
    update(&mut cluster, value.clone()).unwrap();
    let mut value = listed(&cluster, CLAIM)
        .into_iter()
        .find(|other| value["metadata"]["name"].as_str() == Some(&other.id().name))
        .unwrap()
        .into_value();
    let result = json!({"request": "r", "driver": DRIVER, "pool": "node-000", "device": "d0"});
    value["status"] = json!({
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": owner}],
    });
    call_with(&mut cluster, value, |object| ApiCall::UpdateStatus {
        object,
    })
    .unwrap();

    users.leave(&mut cluster).unwrap();
    for _ in 0..3 {
        release_claims(&mut cluster).unwrap();
    }
    assert_eq!(names(&cluster, POD), Vec::<String>::new());
    let left = names(&cluster, CLAIM);
    assert!(
        left.iter().all(|name| name.starts_with("shared-")),
        "{left:?}"
    );
}
