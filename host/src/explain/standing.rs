//! How those stand who hold devices: pods that have ended, are being deleted or are gone, claims that are being deleted or that
//! nobody uses. A plugin names them; what became of them is in the cluster.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::nearest::nearest;
use crate::object::{Kind, Object};
use crate::stand_ins::schema::{CLAIM, CLASS, POD};

use super::document::{Document, Holder, Reason};

/// What became of a pod that holds devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its phase says so.
    Ended,
    /// It has a deletion timestamp.
    Deleted,
    /// There is none with this uid.
    Gone,
}

impl Fate {
    /// Goes on after the pod's name and `which`.
    pub fn text(self) -> &'static str {
        match self {
            Fate::Ended => "has ended",
            Fate::Deleted => "is being deleted",
            Fate::Gone => "does not exist any more",
        }
    }
}

/// How a holder stands.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The claim has a deletion timestamp.
    pub is_deleted: bool,
    /// It has devices and is reserved for nobody.
    pub is_idle: bool,
    /// Pods that do not use it any more, by `namespace/name`.
    pub pods: BTreeMap<String, Fate>,
}

/// Looks all holders of a document up.
pub fn look_up(document: &mut Document, cluster: &Cluster) {
    for claim in &mut document.claims {
        let own = claim.claim.as_deref();
        claim.standing = own.and_then(|own| of(own, cluster)).unwrap_or_default();
        let missing = claim.reasons.iter_mut();
        for reason in missing.filter(|reason| reason.kind == "class-missing") {
            reason.there = classes_near(reason.missing_class(), cluster);
        }
        let requests = claim.requests.iter_mut();
        let reasons = requests.flat_map(|request| &mut request.reasons);
        let nearest = claim
            .constraints
            .iter_mut()
            .filter_map(|one| one.nearest.as_mut());
        let held = nearest.map(|nearest| &mut nearest.held);
        reasons
            .chain(held)
            .for_each(|reason| of_reason(reason, cluster));
    }
    let together = document.together.iter_mut();
    let counters = together.flat_map(|together| &mut together.counters);
    counters.for_each(|reason| of_reason(reason, cluster));
}

/// What classes there are, the nearest to a name first.
fn classes_near(name: &str, cluster: &Cluster) -> Vec<String> {
    let kind = Kind::new(CLASS);
    let classes = cluster.list(&kind).map(|entry| &*entry.object.id().name);
    let near = nearest(name, classes, |class| class, usize::MAX);
    near.into_iter().map(str::to_owned).collect()
}

fn of_reason(reason: &mut Reason, cluster: &Cluster) {
    let others = reason.also.iter_mut();
    let holders = others.flat_map(|other| &mut other.holders);
    for holder in reason.holders.iter_mut().chain(holders) {
        if !holder.in_flight {
            holder.standing = of(&holder.claim, cluster).unwrap_or_default();
        }
    }
}

/// How a claim stands, by `namespace/name`.
pub fn of(claim: &str, cluster: &Cluster) -> Option<Standing> {
    let (namespace, name) = claim.split_once('/')?;
    let claim = &cluster.entry(&Kind::new(CLAIM), namespace, name)?.object;
    let reserved = claim.value().pointer("/status/reservedFor");
    let reserved = reserved
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let mut standing = Standing {
        is_deleted: claim.text("/metadata/deletionTimestamp").is_some(),
        is_idle: reserved.is_empty() && claim.value().pointer("/status/allocation").is_some(),
        pods: BTreeMap::new(),
    };
    for consumer in reserved.iter().filter(|one| one["resource"] == "pods") {
        let Some(name) = consumer["name"].as_str() else {
            continue;
        };
        let pod = cluster.entry(&Kind::new(POD), namespace, name);
        let fate = match pod.map(|entry| &entry.object) {
            Some(pod)
                if consumer["uid"]
                    .as_str()
                    .is_none_or(|uid| uid == &*pod.id().uid) =>
            {
                fate(pod)
            }
            _ => Some(Fate::Gone),
        };
        if let Some(fate) = fate {
            standing.pods.insert(format!("{namespace}/{name}"), fate);
        }
    }
    Some(standing)
}

fn fate(pod: &Object) -> Option<Fate> {
    match pod.text("/status/phase") {
        Some("Succeeded" | "Failed") => Some(Fate::Ended),
        _ if pod.text("/metadata/deletionTimestamp").is_some() => Some(Fate::Deleted),
        _ => None,
    }
}

/// What has to be waited for, if that is all that has to be done for these holders: their pods are over.
pub fn awaited(holders: &[Holder]) -> Option<&'static str> {
    fn over(holder: &Holder) -> Option<Vec<&Fate>> {
        let fates = holder.pods.iter().map(|pod| holder.standing.pods.get(pod));
        fates
            .collect::<Option<Vec<_>>>()
            .filter(|fates| !fates.is_empty())
    }
    let fates = holders.iter().map(over).collect::<Option<Vec<_>>>()?;
    let mut fates = fates.iter().flatten();
    fates.next()?;
    let all = holders
        .iter()
        .flat_map(|holder| holder.standing.pods.values());
    let deleted = all.filter(|fate| **fate == Fate::Deleted).count();
    Some(match (deleted, holders.len()) {
        (0, 1) => "kube-controller-manager takes the reservation off",
        (0, _) => "kube-controller-manager takes the reservations off",
        (_, 1) => "free when the pod is gone",
        (..) => "free when the pods are gone",
    })
}
