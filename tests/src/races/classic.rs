//! A driver with a control plane controller: answers scheduling contexts, allocates for the selected node, and deallocates.

use dractl::api::Caller;
use dractl::cluster::Cluster;
use dractl::object::Object;
use dractl::plugin::ApiCall;
use serde_json::{Value, json};

use super::world::{
    CLAIM, CONTEXT, DRIVER, POD, claim, claims_of, is_allocated, list, of, on_node, stored, text,
};

/// Does all that is to be done now. Tells whether there was anything.
pub fn drive(cluster: &mut Cluster) -> bool {
    let mut busy = deallocate(cluster);
    let pods = stored(cluster, POD);
    for context in stored(cluster, CONTEXT) {
        let pod = pods.iter().find(|pod| pod.id().name == context.id().name);
        match pod.filter(|pod| pod.text("/spec/nodeName").is_none()) {
            Some(pod) => {
                busy |= answer(cluster, &context, pod);
                busy |= allocate(cluster, &context, pod);
            }
            None => {
                let target = context.id().clone();
                busy |= call(cluster, &ApiCall::Delete { target });
            }
        }
    }
    busy
}

/// Whether the pod has a claim of this driver.
pub fn uses_classic(cluster: &Cluster, pod: &Object) -> bool {
    let is_classic = |claim: &Object| claim.text("/spec/controller").is_some();
    claims_of(pod).any(|(_, name)| claim(cluster, name).as_ref().is_some_and(is_classic))
}

/// The pod's classic claims that are not allocated, with its names for them.
fn pending(cluster: &Cluster, pod: &Object) -> Vec<(String, Object)> {
    claims_of(pod)
        .filter_map(|(entry, name)| Some((entry.to_owned(), claim(cluster, name)?)))
        .filter(|(_, claim)| claim.text("/spec/controller") == Some(DRIVER) && !is_allocated(claim))
        .collect()
}

/// Some nodes do not suit, but no claim is left without one.
fn dislikes(claim: &Object, node: &str) -> bool {
    node == "n0" && &*claim.id().name == "c0"
}

fn answer(cluster: &mut Cluster, context: &Object, pod: &Object) -> bool {
    let nodes = list(context.value(), "/spec/potentialNodes");
    let entry = |(entry, claim): &(String, Object)| {
        let unsuitable = nodes
            .iter()
            .filter(|node| dislikes(claim, node.as_str().unwrap_or_default()));
        json!({"name": entry, "unsuitableNodes": unsuitable.cloned().collect::<Value>()})
    };
    let entries: Vec<Value> = pending(cluster, pod).iter().map(entry).collect();
    if list(context.value(), "/status/resourceClaims") == entries {
        return false;
    }
    write_status(cluster, context, json!({"resourceClaims": entries}))
}

fn allocate(cluster: &mut Cluster, context: &Object, pod: &Object) -> bool {
    let node = context.text("/spec/selectedNode").unwrap_or_default();
    let pending = pending(cluster, pod);
    if node.is_empty() || pending.iter().any(|(_, claim)| dislikes(claim, node)) {
        return false;
    }
    let mut busy = false;
    for (_, claim) in pending {
        let results = json!([{"request": "r", "driver": DRIVER, "pool": "classic", "device": &*claim.id().name}]);
        let allocation = json!({"controller": DRIVER, "nodeSelector": on_node(node), "devices": {"results": results}});
        busy |= write_status(cluster, &claim, json!({"allocation": allocation}));
    }
    busy
}

fn deallocate(cluster: &mut Cluster) -> bool {
    let requested = |claim: &Object| {
        let requested = claim.value().pointer("/status/deallocationRequested");
        requested == Some(&Value::Bool(true))
            && list(claim.value(), "/status/reservedFor").is_empty()
    };
    let mut busy = false;
    for claim in stored(cluster, CLAIM)
        .iter()
        .filter(|claim| requested(claim))
    {
        busy |= write_status(cluster, claim, json!({}));
    }
    busy
}

fn write_status(cluster: &mut Cluster, object: &Object, status: Value) -> bool {
    let mut value = object.value().clone();
    value["status"] = status;
    call(cluster, &ApiCall::UpdateStatus { object: of(value) })
}

fn call(cluster: &mut Cluster, call: &ApiCall) -> bool {
    cluster.api().call(Caller::Other, call).is_ok()
}

/// Whether a claim belongs to a driver's controller.
pub fn is_classic(claim: &Value) -> bool {
    !text(&claim["spec"], "controller").is_empty()
}
