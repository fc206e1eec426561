//! Who holds which device: looked up among the claims when somebody asks, since no decision needs names.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::{AllocationResult, ConsumerReference, DeviceResult, ResourceClaim, wire};
use crate::cluster::View;
use crate::host::{Host, kinds};
use crate::profile::Profile;

use super::report;
use super::words;

/// Claims and pods that are told of one reason.
const MOST_HOLDERS: usize = 16;

/// A device's name: driver, pool, device.
pub type DeviceName = [Arc<str>; 3];

/// A claim that holds devices.
struct Holding {
    claim: String,
    in_flight: bool,
    pods: Vec<String>,
}

/// Claims by the devices that they hold.
#[derive(Default)]
pub struct Holders {
    claims: Vec<Holding>,
    by_device: BTreeMap<DeviceName, Vec<usize>>,
}

impl Holders {
    /// Looks at all claims.
    pub fn new(view: &View, host: &dyn Host, profile: &Profile) -> Self {
        let mut holders = Self::default();
        let admin_holds = !profile.admin_access_in_results();
        for (id, read) in view.claims() {
            let decided = in_flight(view, host, &id.uid, profile);
            let is_in_flight = decided.is_some();
            let (results, reserved_for) = match (decided, read) {
                (Some(results), Ok(claim)) => (results, claim.reserved_for.as_slice()),
                (Some(results), Err(_)) => (results, &[][..]),
                (None, Ok(claim)) => (results_of(claim), claim.reserved_for.as_slice()),
                (None, Err(_)) => (broken(host, &id.namespace, &id.name), &[][..]),
            };
            let mut results = results
                .into_iter()
                .filter(|result| admin_holds || !result.admin_access)
                .peekable();
            if results.peek().is_none() {
                continue;
            }
            holders.claims.push(Holding {
                claim: words::name(&format!("{}/{}", id.namespace, id.name)),
                in_flight: is_in_flight,
                pods: pods(&id.namespace, reserved_for),
            });
            let holding = holders.claims.len() - 1;
            for result in results {
                let device = [result.driver, result.pool, result.device];
                holders.by_device.entry(device).or_default().push(holding);
            }
        }
        holders
    }

    /// Who holds these devices, the most first.
    pub fn of<'a>(&self, devices: impl Iterator<Item = &'a DeviceName>) -> Vec<report::Holder> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for device in devices {
            for holding in self.by_device.get(device).into_iter().flatten() {
                *counts.entry(*holding).or_default() += 1;
            }
        }
        let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
        counts.sort_by_key(|(holding, count)| (usize::MAX - count, &self.claims[*holding].claim));
        counts.truncate(MOST_HOLDERS);
        let holder = |(holding, count): (usize, usize)| {
            let holding = &self.claims[holding];
            report::Holder {
                claim: holding.claim.clone(),
                count,
                in_flight: holding.in_flight,
                pods: holding.pods.clone(),
            }
        };
        counts.into_iter().map(holder).collect()
    }
}

/// What some pod decided about the claim and has not written yet.
fn in_flight(
    view: &View,
    host: &dyn Host,
    uid: &str,
    profile: &Profile,
) -> Option<Vec<DeviceResult>> {
    if !view.is_in_flight(uid) {
        return None;
    }
    let entry = host.get_in_flight(kinds::RESOURCE_CLAIM, uid)?;
    let claim = wire::resource_claim(&entry.json, profile).ok()?;
    Some(results_of(&claim))
}

fn results_of(claim: &ResourceClaim) -> Vec<DeviceResult> {
    let results = |allocation: &AllocationResult| allocation.results.clone();
    claim.allocation.as_ref().map(results).unwrap_or_default()
}

/// What a claim holds counts even if the rest of it cannot be used.
fn broken(host: &dyn Host, namespace: &str, name: &str) -> Vec<DeviceResult> {
    let object = host.cached(kinds::RESOURCE_CLAIM, namespace, name);
    let results = object
        .ok()
        .and_then(|object| wire::devices_of_broken_claim(&object.json));
    results.unwrap_or_default()
}

/// The pods among those for which a claim is reserved.
pub fn pods(namespace: &str, reserved_for: &[ConsumerReference]) -> Vec<String> {
    let pods = reserved_for
        .iter()
        .filter(|consumer| consumer.resource == "pods");
    pods.take(MOST_HOLDERS)
        .map(|pod| words::name(&format!("{namespace}/{}", pod.name)))
        .collect()
}
