//! What a driver knows of its hardware. Real ones know it from elsewhere; here it stands in ResourceSlices whose driver is the
//! claim's controller. A driver without any takes every claim on every node, and names no devices.
//!
//! Devices are counted, not selected: selectors and constraints of classic claims are for the driver to understand.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::list;
use crate::api::ApiServer;
use crate::filters::Selection;
use crate::object::{Kind, Object};
use crate::stand_ins::schema::{CLAIM, SLICE};

/// A device for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub request: String,
    pub pool: String,
    pub device: String,
    /// It can be used from every node.
    pub everywhere: bool,
}

/// The devices of one driver.
pub(super) struct Devices {
    /// Newest generation of each pool, by pool, then by name.
    slices: Vec<Object>,
    /// Which of them are for one node, by its name; without one, those for several.
    by_node: BTreeMap<Option<String>, Vec<usize>>,
    /// Pools and names of devices that some claim holds.
    held: BTreeSet<(String, String)>,
}

impl Devices {
    /// As the API server has them.
    pub(super) fn of(api: &ApiServer, driver: &str) -> Self {
        let mut newest: BTreeMap<String, i64> = BTreeMap::new();
        let kind = Kind::new(SLICE);
        let mut slices: Vec<Object> = api
            .list(&kind)
            .filter(|slice| slice.text("/spec/driver") == Some(driver))
            .cloned()
            .collect();
        for slice in &slices {
            let known = newest.entry(pool(slice)).or_insert(i64::MIN);
            *known = generation(slice).max(*known);
        }
        slices.retain(|slice| newest.get(&pool(slice)) == Some(&generation(slice)));
        slices.sort_by_cached_key(|slice| (pool(slice), slice.id().name.clone()));
        let held = match slices.is_empty() {
            true => BTreeSet::new(),
            false => held(api, driver),
        };
        let mut by_node: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, slice) in slices.iter().enumerate() {
            let node = slice.text("/spec/nodeName").map(str::to_owned);
            by_node.entry(node).or_default().push(index);
        }
        Self {
            slices,
            by_node,
            held,
        }
    }

    /// Devices on a node for all these claims, one list each. `None`: there are too few.
    pub(super) fn choose(
        &self,
        api: &ApiServer,
        node: &str,
        claims: &[&Value],
    ) -> Option<Vec<Vec<Choice>>> {
        if self.slices.is_empty() {
            return Some(vec![Vec::new(); claims.len()]);
        }
        let all = self.reached_from(api, node);
        let mut free = all.iter().filter(|(device, _)| !self.held.contains(device));
        let mut choices = Vec::new();
        for claim in claims {
            let mut chosen = Vec::new();
            for request in list(claim, "/spec/devices/requests") {
                let text = |key: &str| request.get(key).and_then(Value::as_str).unwrap_or_default();
                let before = chosen.len();
                let wanted = match text("allocationMode") {
                    "All" => all.len().max(1),
                    _ => {
                        let count = request.get("count").and_then(Value::as_u64).unwrap_or(1);
                        usize::try_from(count).unwrap_or(usize::MAX).max(1)
                    }
                };
                chosen.extend(
                    free.by_ref()
                        .take(wanted)
                        .map(|((pool, device), everywhere)| Choice {
                            request: text("name").to_owned(),
                            pool: pool.clone(),
                            device: device.clone(),
                            everywhere: *everywhere,
                        }),
                );
                if chosen.len() - before < wanted {
                    return None;
                }
            }
            choices.push(chosen);
        }
        Some(choices)
    }

    /// Pools and names of devices, and whether every node reaches them.
    fn reached_from(&self, api: &ApiServer, node: &str) -> Vec<((String, String), bool)> {
        let mut devices = Vec::new();
        let of = |node: Option<&str>| self.by_node.get(&node.map(str::to_owned));
        let mut candidates: Vec<usize> = [of(Some(node)), of(None)]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect();
        candidates.sort_unstable();
        for slice in candidates.into_iter().map(|index| &self.slices[index]) {
            let everywhere = slice.value().pointer("/spec/allNodes") == Some(&Value::Bool(true));
            let reached = match slice.text("/spec/nodeName") {
                Some(name) => name == node,
                None => everywhere || is_selected(api, slice, node),
            };
            if reached {
                let names = list(slice.value(), "/spec/devices")
                    .filter_map(|device| device.get("name")?.as_str());
                devices.extend(names.map(|name| ((pool(slice), name.to_owned()), everywhere)));
            }
        }
        devices
    }
}

fn pool(slice: &Object) -> String {
    slice.text("/spec/pool/name").unwrap_or_default().to_owned()
}

fn generation(slice: &Object) -> i64 {
    let generation = slice.value().pointer("/spec/pool/generation");
    generation.and_then(Value::as_i64).unwrap_or_default()
}

/// Devices in the results of all claims, whoever allocated them.
fn held(api: &ApiServer, driver: &str) -> BTreeSet<(String, String)> {
    let kind = Kind::new(CLAIM);
    let claims = api.list(&kind);
    let results =
        claims.flat_map(|claim| list(claim.value(), "/status/allocation/devices/results"));
    let text = |result: &Value, key: &str| Some(result.get(key)?.as_str()?.to_owned());
    results
        .filter(|result| result.get("driver").and_then(Value::as_str) == Some(driver))
        .filter_map(|result| Some((text(result, "pool")?, text(result, "device")?)))
        .collect()
}

/// Whether the slice's node selector matches the node.
fn is_selected(api: &ApiServer, slice: &Object, node: &str) -> bool {
    let selector = slice.value().pointer("/spec/nodeSelector");
    let node = api.stored(&Kind::new("Node"), "", node);
    let (Some(selector), Some(node)) = (selector, node) else {
        return false;
    };
    Selection::of([node])
        .matching(selector)
        .is_some_and(|matching| !matching.is_empty())
}
