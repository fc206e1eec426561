//! Why an answer may differ from the recorded one: rules, decided from the objects of a line, never from its name. The ids
//! are those of the behaviour specification, section 14.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::{Answer, Case};

/// Why an object is refused for a field: its feature is not implemented, or it is off in the line, where upstream ignores the
/// field.
const REFUSED: [&str; 7] = [
    "feature not implemented: DRAConsumableCapacity",
    "feature not implemented: DRADerivedAttributes",
    "feature not implemented: DRADeviceBindingConditions",
    "feature not implemented: DRADeviceCompatibilityGroups",
    "feature not implemented: DRANodeAllocatableResources",
    "fields of a feature that is off are refused: DRADeviceTaints",
    "fields of a feature that is off are refused: DRAPartitionableDevices",
];

/// The rule for a gate that an object needs.
pub fn refused(gate: &str) -> Option<&'static str> {
    REFUSED
        .into_iter()
        .find(|rule| rule.ends_with(&format!(" {gate}")))
}

/// What makes `current` differ from the recording of 1.31 on a node.
pub fn of_difference(case: &Case<'_>, node: &Value, recorded: &Answer) -> Option<&'static str> {
    let requests = || {
        let lists = case.list("claimsToAllocate").iter();
        lists.flat_map(|claim| {
            let requests = claim.pointer("/spec/devices/requests");
            requests.and_then(Value::as_array).into_iter().flatten()
        })
    };
    let all = requests().any(|request| request["allocationMode"] == "All");
    if *recorded == Answer::Error("stop allocation".to_owned()) {
        return Some("D4: an All request is undone and the search goes on since 1.32");
    }
    let held_by_admin = case
        .list("allocatedClaims")
        .iter()
        .any(|claim| claim.to_string().contains("\"adminAccess\":true"));
    if held_by_admin || requests().any(|request| request["adminAccess"] == true) {
        return Some("D6, D7, L2: admin access leaves devices free, and picks each device once");
    }
    let pools = pools(case, node);
    if all && pools.values().any(|pool| pool.renewed) {
        return Some("D3: a slice of a newer generation is stored once since 1.32");
    }
    if all {
        return Some(
            "D1, D2, L1: All looks at class selectors, refuses devices in use, needs a device",
        );
    }
    if pools.values().any(|pool| pool.slices != pool.wanted) {
        return Some("L3, L4: incomplete pools are skipped since 1.35");
    }
    if pools.values().any(|pool| pool.repeats) {
        return Some("D5: a pool that repeats a device name is invalid since 1.32");
    }
    None
}

/// A pool as 1.31 gathers it for a node.
#[derive(Default)]
struct Pool<'a> {
    generation: i64,
    slices: i64,
    wanted: i64,
    devices: Vec<&'a Value>,
    repeats: bool,
    /// A newer generation came after an older one.
    renewed: bool,
}

fn pools<'a>(case: &Case<'a>, node: &Value) -> BTreeMap<String, Pool<'a>> {
    let mut pools: BTreeMap<String, Pool<'a>> = BTreeMap::new();
    for slice in case.list("slices") {
        let spec = &slice["spec"];
        let only = spec["nodeName"].as_str().unwrap_or_default();
        if !only.is_empty() && node["metadata"]["name"] != only {
            continue;
        }
        let generation = spec["pool"]["generation"].as_i64().unwrap_or_default();
        let pool = pools
            .entry(format!("{} {}", spec["driver"], spec["pool"]["name"]))
            .or_default();
        if pool.slices > 0 && generation < pool.generation {
            continue;
        }
        if pool.slices == 0 || generation > pool.generation {
            *pool = Pool {
                generation,
                wanted: spec["pool"]["resourceSliceCount"]
                    .as_i64()
                    .unwrap_or_default(),
                renewed: pool.slices > 0,
                ..Pool::default()
            };
        }
        pool.slices += 1;
        for device in spec["devices"].as_array().into_iter().flatten() {
            pool.repeats |= pool.devices.contains(&&device["name"]);
            pool.devices.push(&device["name"]);
        }
    }
    pools
}
