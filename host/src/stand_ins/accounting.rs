//! What must hold in a cluster whatever its scheduler went through: no device is promised twice, and a pod that has a node has
//! its claims.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::{CLAIM, POD};
use crate::cluster::Cluster;
use crate::object::{Kind, Object, ObjectRef};

/// Everything that is wrong, a sentence each.
pub fn violations(cluster: &Cluster) -> Vec<String> {
    let mut found = devices_held_twice(cluster);
    let kind = Kind::new(POD);
    let pods = cluster.stored().list(&kind);
    for pod in pods.filter(|pod| pod.text("/spec/nodeName").is_some()) {
        found.extend(unmet_claims(cluster, pod));
    }
    found
}

/// What is still in flight, to be asked when no pod is on its way: a sentence each.
pub fn left_in_flight(cluster: &Cluster) -> Vec<String> {
    cluster
        .in_flight()
        .map(|entry| {
            format!(
                "{} is still in flight for the pod {}",
                entry.target, entry.holder
            )
        })
        .collect()
}

/// Devices with admin access are held by nobody.
fn devices_held_twice(cluster: &Cluster) -> Vec<String> {
    let mut holders: BTreeMap<[&str; 3], &ObjectRef> = BTreeMap::new();
    let mut found = Vec::new();
    let kind = Kind::new(CLAIM);
    for claim in cluster.stored().list(&kind) {
        for result in results(claim) {
            if result.get("adminAccess") == Some(&Value::Bool(true)) {
                continue;
            }
            let device = ["driver", "pool", "device"]
                .map(|key| result.get(key).and_then(Value::as_str).unwrap_or_default());
            if let Some(other) = holders.insert(device, claim.id()) {
                let device = device.join("/");
                found.push(format!("{device} is in {other} and in {}", claim.id()));
            }
        }
    }
    found
}

fn results(claim: &Object) -> impl Iterator<Item = &Value> {
    let results = claim
        .value()
        .pointer("/status/allocation/devices/results")
        .and_then(Value::as_array);
    results.into_iter().flatten()
}

fn unmet_claims(cluster: &Cluster, pod: &Object) -> Vec<String> {
    let mut found = Vec::new();
    for name in claim_names(pod) {
        let stored = cluster
            .stored()
            .stored(&Kind::new(CLAIM), &pod.id().namespace, &name);
        let lacks = match stored {
            None => "does not exist",
            Some(claim) if claim.value().pointer("/status/allocation").is_none() => {
                "is not allocated"
            }
            Some(claim) if !is_reserved(claim, &pod.id().uid) => "is not reserved for it",
            Some(_) => continue,
        };
        found.push(format!(
            "{} has a node, but its claim {name} {lacks}",
            pod.id()
        ));
    }
    found
}

fn is_reserved(claim: &Object, uid: &str) -> bool {
    let consumers = claim
        .value()
        .pointer("/status/reservedFor")
        .and_then(Value::as_array);
    consumers
        .into_iter()
        .flatten()
        .any(|consumer| consumer.get("uid").and_then(Value::as_str) == Some(uid))
}

/// Named in the spec, or generated and named in the status.
fn claim_names(pod: &Object) -> Vec<String> {
    let list = |pointer: &str| {
        let list = pod.value().pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten()
    };
    let name = |entry: &Value| {
        let name = entry.get("resourceClaimName").and_then(Value::as_str);
        name.map(str::to_owned)
    };
    let named = list("/spec/resourceClaims").filter_map(name);
    named
        .chain(list("/status/resourceClaimStatuses").filter_map(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cluster::Settings;

    fn claim(name: &str, device: &str, admin: bool, reserved_for: &[&str]) -> Value {
        let reserved: Vec<Value> = reserved_for
            .iter()
            .map(|uid| json!({"resource": "pods", "name": uid, "uid": uid}))
            .collect();
        let result = json!({"request": "r", "driver": "d", "pool": "p", "device": device, "adminAccess": admin});
        json!({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"namespace": "ns", "name": name, "uid": name},
            "spec": {"devices": {"requests": []}},
            "status": {"allocation": {"devices": {"results": [result]}}, "reservedFor": reserved},
        })
    }

    fn pod(name: &str, claim: &str) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ns", "name": name, "uid": name},
            "spec": {"nodeName": "n", "containers": [], "resourceClaims": [{"name": "a", "resourceClaimName": claim}]},
        })
    }

    fn found(objects: Vec<Value>) -> Vec<String> {
        let mut cluster = Cluster::new(Settings::default());
        let objects = objects
            .into_iter()
            .map(|value| Object::from_value(value).unwrap());
        cluster.load(objects.collect());
        violations(&cluster)
    }

    #[test]
    fn a_cluster_in_order_has_no_violation() {
        let objects = vec![
            pod("a", "x"),
            pod("b", "x"),
            claim("x", "1", false, &["a", "b"]),
            claim("y", "2", false, &[]),
            claim("z", "1", true, &[]),
        ];
        assert_eq!(found(objects), Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_violation_is_named() {
        let objects = vec![
            pod("a", "x"),
            pod("b", "nowhere"),
            claim("x", "1", false, &["b"]),
            claim("y", "1", false, &[]),
        ];
        assert_eq!(
            found(objects),
            [
                "d/p/1 is in ResourceClaim ns/x and in ResourceClaim ns/y",
                "Pod ns/a has a node, but its claim x is not reserved for it",
                "Pod ns/b has a node, but its claim nowhere does not exist",
            ]
        );
    }
}
