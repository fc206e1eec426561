//! The list of devices: per pool what is published, which nodes reach it, and who holds what. Its form is published in
//! `schemas/devices.schema.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::scene::Scene;
use crate::allocator::rules;
use crate::api::{
    AllocationResult, Attribute, CounterSet, Device, DeviceTaint, DeviceTaintRule, Node, Reach,
    ResourceClaim, ResourceSlice,
};
use crate::host::ObjectRef;
use crate::node_selector::NodeSelector;

/// Driver, pool and device.
type Key = (Arc<str>, Arc<str>, Arc<str>);

#[derive(Serialize)]
pub(super) struct List<'a> {
    nodes: Vec<&'a str>,
    pools: Vec<Pool<'a>>,
    /// Devices that claims hold and no slice of the newest generation publishes.
    unpublished: Vec<Unpublished>,
    unreadable: Vec<Unreadable>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Pool<'a> {
    driver: &'a str,
    name: &'a str,
    generation: i64,
    resource_slice_count: i64,
    complete: bool,
    slices: Vec<Slice<'a>>,
    counters: Vec<Counters<'a>>,
    devices: Vec<Listed<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Slice<'a> {
    name: &'a str,
    generation: i64,
    stale: bool,
    nodes: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counters<'a> {
    set: &'a str,
    counters: BTreeMap<&'a str, Counter>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counter {
    total: String,
    left: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    name: &'a str,
    slice: &'a str,
    /// Only where the slice leaves it to its devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Option<Vec<&'a str>>>,
    usable: bool,
    attributes: BTreeMap<&'a str, serde_json::Value>,
    capacity: BTreeMap<&'a str, &'a str>,
    taints: Vec<Taint<'a>>,
    consumes: Vec<Consumed<'a>>,
    holders: Vec<Holder>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Taint<'a> {
    key: &'a str,
    value: &'a str,
    effect: &'static str,
    rule: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Consumed<'a> {
    set: &'a str,
    counters: BTreeMap<&'a str, String>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Holder {
    namespace: String,
    claim: String,
    request: String,
    admin_access: bool,
    in_flight: bool,
    pods: Vec<String>,
}

#[derive(Serialize)]
struct Unpublished {
    driver: String,
    pool: String,
    device: String,
    holders: Vec<Holder>,
}

#[derive(Serialize)]
struct Unreadable {
    object: String,
    message: String,
}

/// Everything in the order of driver, pool and slice.
pub(super) fn list(scene: &Scene) -> List<'_> {
    let mut slices: Vec<&ResourceSlice> = scene
        .slices
        .iter()
        .filter_map(|seen| seen.read.as_ref().ok())
        .collect();
    slices.sort_by(|a, b| (&a.driver, &a.pool, &a.name).cmp(&(&b.driver, &b.pool, &b.name)));
    let mut holders = holders(scene);
    let rules: Vec<&DeviceTaintRule> = scene
        .rules
        .iter()
        .filter_map(|seen| seen.read.as_ref().ok())
        .collect();
    let pools: Vec<Pool<'_>> = slices
        .chunk_by(|a, b| (&a.driver, &a.pool) == (&b.driver, &b.pool))
        .map(|slices| pool(slices, scene, &rules, &holders))
        .collect();
    let listed = |pool: &Pool<'_>| {
        let device =
            |device: &Listed<'_>| [pool.driver, pool.name, device.name].map(Arc::from).into();
        pool.devices.iter().map(device).collect::<Vec<Key>>()
    };
    let published: BTreeSet<Key> = pools.iter().flat_map(listed).collect();
    holders.retain(|key, _| !published.contains(key));
    let unpublished = holders
        .into_iter()
        .map(|((driver, pool, device), holders)| Unpublished {
            driver: driver.to_string(),
            pool: pool.to_string(),
            device: device.to_string(),
            holders,
        });
    List {
        nodes: scene.nodes.iter().map(|node| node.name.as_str()).collect(),
        pools,
        unpublished: unpublished.collect(),
        unreadable: unreadable(scene),
    }
}

fn keys(slice: &ResourceSlice) -> impl Iterator<Item = Key> + '_ {
    slice.devices.iter().map(|device| {
        (
            slice.driver.clone(),
            slice.pool.clone(),
            device.name.clone(),
        )
    })
}

fn pool<'a>(
    slices: &[&'a ResourceSlice],
    scene: &'a Scene,
    rules: &[&'a DeviceTaintRule],
    holders: &BTreeMap<Key, Vec<Holder>>,
) -> Pool<'a> {
    let newest = slices.iter().map(|slice| slice.generation).max();
    let generation = newest.unwrap_or_default();
    let current = || {
        slices
            .iter()
            .copied()
            .filter(move |slice| slice.generation == generation)
    };
    let first = slices[0];
    let count = current()
        .next()
        .map_or(0, |slice| slice.resource_slice_count);
    Pool {
        driver: &first.driver,
        name: &first.pool,
        generation,
        resource_slice_count: count,
        complete: current().count() as i64 == count,
        slices: slices
            .iter()
            .map(|slice| Slice {
                name: &slice.name,
                generation: slice.generation,
                stale: slice.generation != generation,
                nodes: reached(&slice.reach, scene),
            })
            .collect(),
        counters: counters(current(), holders),
        devices: current()
            .flat_map(|slice| {
                let each = move |device| listed(slice, device, scene, rules, holders);
                slice.devices.iter().map(each)
            })
            .collect(),
    }
}

fn listed<'a>(
    slice: &'a ResourceSlice,
    device: &'a Device,
    scene: &'a Scene,
    rules: &[&'a DeviceTaintRule],
    holders: &BTreeMap<Key, Vec<Holder>>,
) -> Listed<'a> {
    let key = (
        slice.driver.clone(),
        slice.pool.clone(),
        device.name.clone(),
    );
    let extra = device.extra.as_deref();
    let own = extra.map_or(&[][..], |extra| &extra.taints);
    let taint = |taint: &'a DeviceTaint, rule| Taint {
        key: &taint.key,
        value: &taint.value,
        effect: taint.effect.name(),
        rule,
    };
    let by_rules = rules
        .iter()
        .filter(|rule| rules::concerns(rule, slice) && rules::selects(rule, device));
    Listed {
        name: &device.name,
        slice: &slice.name,
        nodes: match slice.reach {
            Reach::PerDevice => {
                let reach = extra.and_then(|extra| extra.reach.as_ref());
                Some(reached(reach.unwrap_or(&Reach::Nowhere), scene))
            }
            _ => None,
        },
        usable: device.usable,
        attributes: device
            .attributes
            .iter()
            .map(|(name, value)| (&**name, attribute(value)))
            .collect(),
        capacity: device
            .capacity
            .iter()
            .map(|(name, quantity)| (&**name, &**quantity))
            .collect(),
        taints: own
            .iter()
            .map(|own| taint(own, None))
            .chain(by_rules.map(|rule| taint(&rule.taint, Some(rule.name.as_str()))))
            .collect(),
        consumes: extra
            .map_or(&[][..], |extra| &extra.consumes)
            .iter()
            .map(consumed)
            .collect(),
        holders: holders.get(&key).cloned().unwrap_or_default(),
    }
}

/// Names of the nodes; `None`: all of them.
fn reached<'a>(reach: &'a Reach, scene: &'a Scene) -> Option<Vec<&'a str>> {
    match reach {
        Reach::AllNodes => None,
        Reach::NodeName(name) => Some(vec![name]),
        Reach::NodeSelector(selector) => {
            let Ok(selector) = NodeSelector::parse(selector) else {
                return Some(Vec::new());
            };
            let matching = scene.nodes.iter().filter(|node| selector.matches(node));
            Some(matching.map(|node: &Node| node.name.as_str()).collect())
        }
        Reach::PerDevice | Reach::Nowhere => Some(Vec::new()),
    }
}

/// The attribute as resource.k8s.io/v1 writes it.
pub(super) fn attribute(value: &Attribute) -> serde_json::Value {
    use serde_json::json;
    match value {
        Attribute::Int(int) => json!({"int": int}),
        Attribute::Bool(bool) => json!({"bool": bool}),
        Attribute::String(text) => json!({"string": &**text}),
        Attribute::Version(text) => json!({"version": &**text}),
        Attribute::List(values) => {
            let name = match values.first() {
                Some(Attribute::Int(_)) => "ints",
                Some(Attribute::Bool(_)) => "bools",
                Some(Attribute::Version(_)) => "versions",
                _ => "strings",
            };
            let plain = |value: &Attribute| match value {
                Attribute::Int(int) => json!(int),
                Attribute::Bool(bool) => json!(bool),
                Attribute::String(text) | Attribute::Version(text) => json!(&**text),
                Attribute::List(_) | Attribute::Unknown => json!(null),
            };
            json!({name: values.iter().map(plain).collect::<Vec<_>>()})
        }
        Attribute::Unknown => json!({}),
    }
}

fn consumed(set: &CounterSet) -> Consumed<'_> {
    Consumed {
        set: &set.name,
        counters: set
            .counters
            .iter()
            .map(|(name, amount)| (&**name, decimal(*amount)))
            .collect(),
    }
}

/// What the pool has, and what is left of it: each device that somebody holds takes its share once.
fn counters<'a>(
    slices: impl Iterator<Item = &'a ResourceSlice> + Clone,
    holders: &BTreeMap<Key, Vec<Holder>>,
) -> Vec<Counters<'a>> {
    let mut taken: BTreeMap<(&str, &str), i128> = BTreeMap::new();
    for slice in slices.clone() {
        for (key, device) in keys(slice).zip(&slice.devices) {
            let held = holders
                .get(&key)
                .is_some_and(|holders| holders.iter().any(|holder| !holder.admin_access));
            let consumes = device.extra.iter().flat_map(|extra| &extra.consumes);
            for set in consumes.filter(|_| held) {
                for (name, amount) in &set.counters {
                    *taken.entry((&set.name, name)).or_default() += amount;
                }
            }
        }
    }
    let set = |set: &'a CounterSet| {
        let counter = |(name, total): &'a (Arc<str>, i128)| {
            let taken = taken.get(&(&*set.name, &**name)).copied();
            let left = total - taken.unwrap_or_default();
            let counter = Counter {
                total: decimal(*total),
                left: decimal(left),
            };
            (&**name, counter)
        };
        Counters {
            set: &set.name,
            counters: set.counters.iter().map(counter).collect(),
        }
    };
    slices.flat_map(|slice| &slice.counters).map(set).collect()
}

/// Billionths as a plain decimal number.
fn decimal(billionths: i128) -> String {
    const ONE: u128 = 1_000_000_000;
    let sign = if billionths < 0 { "-" } else { "" };
    let amount = billionths.unsigned_abs();
    let (whole, rest) = (amount / ONE, amount % ONE);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    let digits = format!("{rest:09}");
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}

/// By device, in the order of the claims: what the claim cache stores, or what is in flight in its place.
fn holders(scene: &Scene) -> BTreeMap<Key, Vec<Holder>> {
    let mut holders: BTreeMap<Key, Vec<Holder>> = BTreeMap::new();
    for (id, claim) in scene.claims.iter().filter_map(|seen| seen.usable()) {
        let flying = scene.in_flight.get(&id.uid);
        let holding = flying.unwrap_or(claim);
        for result in results(holding.allocation.as_ref()) {
            let key = (
                result.driver.clone(),
                result.pool.clone(),
                result.device.clone(),
            );
            holders
                .entry(key)
                .or_default()
                .push(holder(id, holding, result, flying.is_some()));
        }
    }
    holders
}

fn results(allocation: Option<&AllocationResult>) -> &[crate::api::DeviceResult] {
    allocation.map_or(&[], |allocation| &allocation.results)
}

fn holder(
    id: &ObjectRef,
    claim: &ResourceClaim,
    result: &crate::api::DeviceResult,
    in_flight: bool,
) -> Holder {
    let pods = claim.reserved_for.iter();
    Holder {
        namespace: id.namespace.clone(),
        claim: id.name.clone(),
        request: result.request.clone(),
        admin_access: result.admin_access,
        in_flight,
        pods: pods
            .filter(|consumer| consumer.resource == "pods")
            .map(|consumer| consumer.name.clone())
            .collect(),
    }
}

fn unreadable(scene: &Scene) -> Vec<Unreadable> {
    let slices = scene
        .slices
        .iter()
        .filter_map(|seen| seen.read.as_ref().err());
    let claims = scene
        .claims
        .iter()
        .filter_map(|seen| seen.read.as_ref().err());
    slices
        .chain(claims)
        .map(|problem| Unreadable {
            object: problem.object.clone(),
            message: problem.to_string(),
        })
        .collect()
}
