//! What claims hold: results that name nothing, devices that two claims have.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::known_names;
use super::findings::{Findings, some_of};
use super::pools::newest;
use super::scene::Scene;
use crate::api::{DeviceResult, ResourceClaim};
use crate::host::ObjectRef;

/// Most users of one claim.
const MOST_USERS: usize = 256;

/// All allocated claims.
pub(super) fn check(scene: &Scene, findings: &mut Findings) {
    let devices = newest(scene).flat_map(|slice| {
        let device = |device: &'_ crate::api::Device| {
            (
                slice.driver.to_string(),
                slice.pool.to_string(),
                device.name.to_string(),
            )
        };
        slice.devices.iter().map(device).collect::<Vec<_>>()
    });
    let published: BTreeSet<(String, String, String)> = devices.collect();
    let mut holders: BTreeMap<[&str; 3], &ObjectRef> = BTreeMap::new();
    for (id, claim) in scene.claims.iter().filter_map(|seen| seen.usable()) {
        let mut about = findings.about(id);
        about.at_most(
            "status.reservedFor",
            "users",
            claim.reserved_for.len(),
            MOST_USERS,
        );
        let Some(allocation) = &claim.allocation else {
            if !claim.reserved_for.is_empty() {
                about.error(
                    "status.reservedFor",
                    "the claim is reserved, but not allocated",
                    "remove the entries; a claim is reserved after it was allocated",
                );
            }
            continue;
        };
        for (i, result) in allocation.results.iter().enumerate() {
            let path = format!("status.allocation.devices.results[{i}]");
            self::result(claim, result, &path, id, findings);
            let key = [&*result.driver, &*result.pool, &*result.device];
            if key.iter().any(|part| part.is_empty()) {
                continue;
            }
            let name = key.join("/");
            let mut about = findings.about(id);
            let owned = key.map(str::to_owned).into();
            if !published.is_empty() && !published.contains(&owned) {
                let message = format!("no slice publishes the device {name}");
                about.warning(
                    &path,
                    message,
                    "its driver may be gone, or the slices are not all in the input",
                );
            }
            if result.admin_access {
                continue;
            }
            if let Some(other) = holders.insert(key, id) {
                let message = match other == id {
                    true => format!("the claim holds the device {name} twice"),
                    false => format!(
                        "ResourceClaim {}/{} holds the device {name} as well",
                        other.namespace, other.name
                    ),
                };
                about.error(
                    &path,
                    message,
                    "deallocate one of them: delete its pods, or the claim",
                );
            }
        }
    }
}

fn result(
    claim: &ResourceClaim,
    result: &DeviceResult,
    path: &str,
    id: &ObjectRef,
    findings: &mut Findings,
) {
    let mut about = findings.about(id);
    let parts = [
        ("driver", &result.driver),
        ("pool", &result.pool),
        ("device", &result.device),
    ];
    for (field, _) in parts.into_iter().filter(|(_, value)| value.is_empty()) {
        about.error(
            format!("{path}.{field}"),
            format!("the result has no {field}: which device it is cannot be told, and it counts as free"),
            "let the scheduler write it",
        );
    }
    let known = known_names(&claim.requests);
    if !known.contains(&result.request) {
        about.warning(
            format!("{path}.request"),
            format!("the claim has no request {:?}", result.request),
            format!("its requests are {}", some_of(known)),
        );
    }
}
