//! What claims hold: results that name nothing, devices that two claims have.

use std::collections::{BTreeMap, BTreeSet};

use super::claims::known_names;
use super::findings::{Findings, some_of};
use super::pools::newest;
use super::scene::Scene;
use crate::api::{DeviceResult, ResourceClaim};
use crate::host::ObjectRef;

/// All allocated claims.
pub(super) fn check(scene: &Scene, findings: &mut Findings) {
    let mut published: BTreeSet<[&str; 3]> = BTreeSet::new();
    for slice in newest(scene) {
        for device in &slice.devices {
            published.insert([&slice.driver, &slice.pool, &device.name]);
        }
    }
    let mut holders: BTreeMap<[&str; 3], &ObjectRef> = BTreeMap::new();
    for (id, claim) in scene.claims.iter().filter_map(|seen| seen.usable()) {
        let mut about = findings.about(id);
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
            let name = || key.join("/");
            let mut about = findings.about(id);
            let is_known =
                published.contains(&key) || scene.is_unsure(&result.driver, &result.pool);
            if !published.is_empty() && !is_known {
                let message = format!("no slice publishes the device {}", name());
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
                    true => format!("the claim holds the device {} twice", name()),
                    false => format!(
                        "ResourceClaim {}/{} holds the device {} as well",
                        other.namespace,
                        other.name,
                        name()
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
            match known.is_empty() {
                true => "correct the requests of the claim first".to_owned(),
                false => format!("its requests are {}", some_of(known)),
            },
        );
    }
}
