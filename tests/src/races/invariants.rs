//! What must hold after every step, and in the end.

use std::collections::BTreeMap;

use dractl::cluster::Cluster;
use dractl::object::{Kind, Object};
use dractl::plugin::Code;
use dractl::scheduler::outcome::{Ended, PodOutcome};
use serde_json::Value;

use super::classic::{is_classic, uses_classic};
use super::world::{
    CLAIM, FINALIZER, NETWORK, POD, SLICE, World, claim, claims_of, is_allocated, list, stored,
    text,
};

const RESULTS: &str = "/status/allocation/devices/results";

/// After every step.
///
/// In profile 1.31 (`literal`) a pod may reserve a claim that was allocated for another node since: see
/// `Profile::reservation_keeps_allocation`.
pub fn during(cluster: &Cluster, literal: bool) -> Result<(), String> {
    let mut held = BTreeMap::new();
    for claim in cluster.stored().list(&Kind::new(CLAIM)) {
        hold(&mut held, &claim.id().uid, claim.value())?;
        stored_claim(cluster, claim)?;
    }
    for entry in cluster.in_flight() {
        let object: Value =
            serde_json::from_slice(&entry.json).map_err(|error| error.to_string())?;
        hold(&mut held, &entry.target.uid, &object)?;
    }
    for pod in cluster.stored().list(&Kind::new(POD)) {
        bound_pod(cluster, pod, literal)?;
    }
    Ok(())
}

/// Devices are held by one claim, written or in flight.
fn hold(held: &mut BTreeMap<String, String>, uid: &str, claim: &Value) -> Result<(), String> {
    for result in list(claim, RESULTS) {
        let device = format!("{}/{}", text(result, "pool"), text(result, "device"));
        let other = held.insert(device.clone(), uid.to_owned());
        if let Some(other) = other.filter(|other| other != uid) {
            return Err(format!(
                "device {device} is in two claims, {other} and {uid}"
            ));
        }
    }
    Ok(())
}

fn stored_claim(cluster: &Cluster, claim: &Object) -> Result<(), String> {
    let value = claim.value();
    let consumers = list(value, "/status/reservedFor");
    let (allocated, structured) = (is_allocated(claim), !is_classic(value));
    let finalizers = list(value, "/metadata/finalizers");
    if !consumers.is_empty() && !allocated {
        return Err(format!("{} is reserved, but not allocated", claim.id()));
    }
    if structured && allocated && !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        return Err(format!("{} is allocated without the finalizer", claim.id()));
    }
    let limit = match text(value, "apiVersion").ends_with("alpha3") {
        true => 32,
        false => 256,
    };
    if consumers.len() > limit {
        return Err(format!(
            "{} is reserved for {} pods",
            claim.id(),
            consumers.len()
        ));
    }
    // What the scheduler wrote is never out of its sight: from Reserve to the informer's event something holds the devices.
    if structured && allocated && !is_seen(cluster, claim) {
        return Err(format!(
            "{} is allocated, and the scheduler takes its devices for free",
            claim.id()
        ));
    }
    Ok(())
}

fn is_seen(cluster: &Cluster, claim: &Object) -> bool {
    let id = claim.id();
    let shown = cluster.entry(&id.kind, &id.namespace, &id.name);
    shown.is_some_and(|shown| is_allocated(&shown.object))
        || cluster.in_flight().any(|entry| entry.target.uid == id.uid)
}

/// A pod has a node only with its claims.
fn bound_pod(cluster: &Cluster, pod: &Object, literal: bool) -> Result<(), String> {
    let node = pod.text("/spec/nodeName").unwrap_or_default();
    if node.is_empty() {
        return Ok(());
    }
    for (_, name) in claims_of(pod) {
        let Some(claim) = claim(cluster, name) else {
            return Err(format!("{} is bound without its claim {name}", pod.id()));
        };
        let reserved = list(claim.value(), "/status/reservedFor");
        let times = reserved
            .iter()
            .filter(|consumer| text(consumer, "uid") == &*pod.id().uid)
            .count();
        if times != 1 {
            return Err(format!(
                "{} is bound, and {name} is reserved for it {times} times",
                pod.id()
            ));
        }
        if !literal && !reaches(&claim, node) {
            return Err(format!(
                "{} is bound to {node}, where {name} is not: {}",
                pod.id(),
                claim.value()["status"]
            ));
        }
    }
    Ok(())
}

/// Whether an allocated claim can be used on a node.
fn reaches(claim: &Object, node: &str) -> bool {
    let terms = list(
        claim.value(),
        "/status/allocation/nodeSelector/nodeSelectorTerms",
    );
    let names = |term: &Value| {
        let fields = list(term, "/matchFields");
        fields.iter().any(|field| field["values"][0] == node)
    };
    is_allocated(claim) && (terms.is_empty() || terms.iter().any(names))
}

/// When nothing is left to do. `kicked`: every pod was tried again since the last disturbance.
pub fn finally(world: &World, outcomes: &[PodOutcome], kicked: bool) -> Result<(), String> {
    let cluster = &*world.cluster();
    during(cluster, world.literal())?;
    if let Some(entry) = cluster.in_flight().next() {
        return Err(format!("{} is still in flight", entry.target));
    }
    for claim in cluster.stored().list(&Kind::new(CLAIM)) {
        let id = claim.id();
        let shown = cluster.entry(&id.kind, &id.namespace, &id.name);
        let same = |shown: &Object| shown.resource_version() == claim.resource_version();
        if !shown.is_some_and(|shown| same(&shown.object)) {
            return Err(format!("the cache shows another {id} than the server"));
        }
    }
    for outcome in outcomes {
        let mut warnings = outcome.warnings.iter();
        if let Some(warning) = warnings.find(|warning| warning.contains("left claims in flight")) {
            return Err(format!("{}: {warning}", outcome.pod.id()));
        }
        refusal_is_true(world, cluster, outcome, kicked)?;
        if !world.keeps {
            nothing_is_kept(cluster, outcome)?;
        }
    }
    Ok(())
}

/// A pod that stays without a node cannot run anywhere.
fn refusal_is_true(
    world: &World,
    cluster: &Cluster,
    outcome: &PodOutcome,
    kicked: bool,
) -> Result<(), String> {
    let failure = match &outcome.ended {
        Ended::Failed(failure) => failure,
        Ended::Bound { .. } => return Ok(()),
        other => return Err(format!("{} ended as {other:?}", outcome.pod.id())),
    };
    if !kicked && ended_in_error(outcome) || uses_classic(cluster, &outcome.pod) {
        return Ok(());
    }
    match node_for(world, cluster, &outcome.pod) {
        Some(node) => Err(format!(
            "{} could run on {node}, but: {}",
            outcome.pod.id(),
            failure.status.message()
        )),
        None => Ok(()),
    }
}

/// An error is not repeated until something changes.
pub fn ended_in_error(outcome: &PodOutcome) -> bool {
    matches!(&outcome.ended, Ended::Failed(failure) if failure.status.code == Code::Error)
}

/// A node on which the pod's claims are or can be allocated.
fn node_for(world: &World, cluster: &Cluster, pod: &Object) -> Option<String> {
    let claims: Option<Vec<Object>> = claims_of(pod)
        .map(|(_, name)| claim(cluster, name))
        .collect();
    let claims = claims?;
    let (allocated, pending): (Vec<_>, Vec<_>) =
        claims.iter().partition(|claim| is_allocated(claim));
    let needed: usize = pending
        .iter()
        .filter_map(|claim| world.counts.get(&*claim.id().name))
        .sum();
    let nodes = stored(cluster, "Node");
    let mut names = nodes.iter().map(|node| node.id().name.to_string());
    names.find(|node| {
        allocated.iter().all(|claim| reaches(claim, node)) && free(cluster, node) >= needed
    })
}

/// How many devices that a node reaches are in no claim.
fn free(cluster: &Cluster, node: &str) -> usize {
    let claims = stored(cluster, CLAIM);
    let used = |pool: &str, device: &str| {
        claims.iter().any(|claim| {
            let mut results = list(claim.value(), RESULTS).iter();
            results.any(|result| text(result, "pool") == pool && text(result, "device") == device)
        })
    };
    let mut free = 0;
    for slice in stored(cluster, SLICE) {
        let pool = slice.text("/spec/pool/name").unwrap_or_default();
        if pool == node || pool == NETWORK {
            let devices = list(slice.value(), "/spec/devices").iter();
            free += devices
                .filter(|device| !used(pool, text(device, "name")))
                .count();
        }
    }
    free
}

/// A pod that is not bound has nothing reserved, unless the call that would have taken it back failed.
fn nothing_is_kept(cluster: &Cluster, outcome: &PodOutcome) -> Result<(), String> {
    if matches!(outcome.ended, Ended::Bound { .. }) {
        return Ok(());
    }
    let uid = &*outcome.pod.id().uid;
    for claim in stored(cluster, CLAIM) {
        let reserved = list(claim.value(), "/status/reservedFor");
        if reserved.iter().any(|consumer| text(consumer, "uid") == uid) {
            return Err(format!(
                "{} is not bound, and {} is reserved for it",
                outcome.pod.id(),
                claim.id()
            ));
        }
    }
    Ok(())
}
