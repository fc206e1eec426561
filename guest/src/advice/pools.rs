//! Slices by themselves, and the pools that they make: limits, generations, completeness, devices that are there twice, and
//! taint rules that mean no device.

use std::collections::{BTreeMap, BTreeSet};

use super::Severity;
use super::findings::{About, Findings, count, some_of};
use super::limits::fewer;
use super::scene::{Scene, Seen};
use crate::api::{Attribute, CounterSet, Device, DeviceTaintRule, Reach, ResourceSlice};
use crate::host::ObjectRef;
use crate::nearest::{meant, meant_qualified};
use crate::profile::Profile;

const MOST_DEVICES: usize = 128;
/// If devices have taints, consume counters, or have lists as attributes.
const MOST_RICH_DEVICES: usize = 64;
type Pool<'a> = Vec<(&'a ObjectRef, &'a ResourceSlice)>;

/// The slices that count: those of the newest generation of their pool.
pub(super) fn newest(scene: &Scene) -> impl Iterator<Item = &ResourceSlice> + Clone {
    let mut generations: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    let slices = || {
        let sure = scene.slices.iter().filter_map(Seen::usable);
        sure.filter(|(id, _)| !scene.unsure.contains_key(*id))
            .map(|(_, slice)| slice)
    };
    for slice in slices() {
        let newest = generations
            .entry((&slice.driver, &slice.pool))
            .or_insert(slice.generation);
        *newest = slice.generation.max(*newest);
    }
    slices().filter(move |slice| {
        generations.get(&(&*slice.driver, &*slice.pool)) == Some(&slice.generation)
    })
}

/// Drivers of which not all devices are in the input.
pub(super) struct Gaps<'a> {
    drivers: BTreeSet<&'a str>,
    /// Drivers of slices whose devices cannot be told; empty: anybody.
    unsure: BTreeSet<&'a str>,
}

impl<'a> Gaps<'a> {
    pub(super) fn of(scene: &'a Scene) -> Self {
        let mut pools: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
        for slice in newest(scene) {
            let pool = pools.entry((&slice.driver, &slice.pool)).or_default();
            pool.0 += 1;
            pool.1 = slice.resource_slice_count;
        }
        let gap = pools
            .into_iter()
            .filter(|(_, (count, wanted))| count != wanted);
        Self {
            drivers: gap.map(|((driver, _), _)| driver).collect(),
            unsure: scene
                .unsure
                .values()
                .map(|[driver, _]| driver.as_str())
                .collect(),
        }
    }

    /// Whether more devices of these drivers may be there, or of anybody if there are none.
    pub(super) fn concern(&self, drivers: &BTreeSet<String>) -> bool {
        let mine = |driver: &&str| drivers.is_empty() || drivers.contains(*driver);
        self.drivers.iter().any(mine) || self.hide(drivers)
    }

    /// Whether slices that cannot be told may be of these drivers: what these publish is then not known, and nothing can be
    /// said of what they do not.
    pub(super) fn hide(&self, drivers: &BTreeSet<String>) -> bool {
        let mine = |driver: &&str| driver.is_empty() || drivers.contains(*driver);
        !self.unsure.is_empty() && (drivers.is_empty() || self.unsure.iter().any(mine))
    }

    /// Drivers whose devices are not all known.
    pub(super) fn hidden(&self) -> impl Iterator<Item = &str> {
        self.unsure.iter().copied()
    }
}

/// Everything about slices and taint rules.
pub(super) fn check(scene: &Scene, profile: &Profile, findings: &mut Findings) {
    let nodes: BTreeSet<&str> = scene.nodes.iter().map(|node| node.name.as_str()).collect();
    let mut pools: BTreeMap<(&str, &str), Pool<'_>> = BTreeMap::new();
    for (id, slice) in scene.slices.iter().filter_map(|seen| seen.usable()) {
        self::slice(slice, profile, &nodes, &mut findings.about(id));
        pools
            .entry((&slice.driver, &slice.pool))
            .or_default()
            .push((id, slice));
    }
    for (name, slices) in &pools {
        pool(*name, slices, scene, profile, findings);
    }
    for (id, rule) in scene.rules.iter().filter_map(|seen| seen.usable()) {
        self::rule(rule, scene, &mut findings.about(id));
    }
}

fn slice(slice: &ResourceSlice, profile: &Profile, nodes: &BTreeSet<&str>, about: &mut About<'_>) {
    let is_rich = |device: &Device| {
        let extra = device.extra.as_ref();
        let is_list = |(_, value): &(_, Attribute)| matches!(value, Attribute::List(_));
        extra.is_some_and(|extra| !extra.taints.is_empty() || !extra.consumes.is_empty())
            || device.attributes.iter().any(is_list)
    };
    let most = match slice.devices.iter().any(is_rich) {
        true => MOST_RICH_DEVICES,
        false => MOST_DEVICES,
    };
    let devices = slice.devices.len();
    about.at_most("spec.devices", "devices", devices, most, fewer("devices"));
    let separate = profile.minor() >= 35;
    if separate && !slice.devices.is_empty() && !slice.counters.is_empty() {
        // API validation since 1.35. Drivers publish in the way of their cluster, and that one may be of 1.33 or 1.34.
        about.warning(
            "spec.sharedCounters",
            "a slice has either devices or shared counters since Kubernetes 1.35, which refuses this one",
            "put the counters into a slice of their own in the same pool, unless the cluster is of 1.33 or 1.34",
        );
    }
    if slice.generation < 0 {
        about.error(
            "spec.pool.generation",
            "the generation is negative",
            "count from 0 or 1",
        );
    }
    if slice.resource_slice_count < 1 {
        about.lacking(
            "spec.pool.resourceSliceCount",
            format!(
                "the pool has {} slices, it says",
                slice.resource_slice_count
            ),
            "say how many slices the pool has at this generation, this one included",
        );
    }
    reach(&slice.reach, nodes, about);
    for (i, device) in slice.devices.iter().enumerate() {
        named_twice(device, &slice.driver, i, about);
    }
    let devices = slice.devices.iter().enumerate();
    for (i, _) in devices.filter(|(_, device)| !device.usable) {
        about.lacking(
            format!("spec.devices[{i}]"),
            "the device has no content: basic is missing",
            "add basic, or remove the device",
        );
    }
}

fn reach(reach: &Reach, nodes: &BTreeSet<&str>, about: &mut About<'_>) {
    match reach {
        Reach::NodeName(name) if !nodes.is_empty() && !nodes.contains(name.as_str()) => {
            let remedy = match meant(name, nodes.iter().copied()) {
                Some(nearest) => format!("did you mean {nearest:?}?"),
                None => "add the node to the input, or remove the slice".to_owned(),
            };
            about.warning(
                "spec.nodeName",
                format!("there is no Node {name:?}"),
                remedy,
            );
        }
        Reach::Nowhere => about.lacking(
            "spec",
            "no node reaches the devices",
            "set one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection",
        ),
        _ => {}
    }
}

/// A name without a domain is in that of the driver.
fn named_twice(device: &Device, driver: &str, i: usize, about: &mut About<'_>) {
    let names = |field| match field {
        "attributes" => device.attributes.iter().map(|(name, _)| name).collect(),
        _ => device
            .capacity
            .iter()
            .map(|(name, _)| name)
            .collect::<Vec<_>>(),
    };
    for field in ["attributes", "capacity"] {
        let names = names(field);
        let full = names.iter().filter(|name| name.starts_with(driver));
        for name in full {
            let short = name[driver.len()..].strip_prefix('/');
            if short.is_some_and(|short| names.iter().any(|name| &***name == short)) {
                about.warning(
                    format!("spec.devices[{i}].{field}[{name}]"),
                    format!("{name} is there a second time, without the driver's domain"),
                    "keep one of them",
                );
            }
        }
    }
}

fn pool(
    (driver, name): (&str, &str),
    slices: &Pool<'_>,
    scene: &Scene,
    profile: &Profile,
    findings: &mut Findings,
) {
    let is_unsure = scene.is_unsure(driver, name);
    let generation = slices
        .iter()
        .map(|(_, slice)| slice.generation)
        .max()
        .unwrap_or_default();
    let pool = format!("{driver}/{name}");
    let (kept, stale): (Pool<'_>, Pool<'_>) = slices
        .iter()
        .copied()
        .partition(|(_, slice)| slice.generation == generation);
    for (id, slice) in &stale {
        findings.about(id).hint(
            "spec.pool.generation",
            format!("the slice is of generation {}, its pool {pool} is at {generation}: its devices are not used", slice.generation),
            "delete it; its driver should have",
        );
    }
    let (first, wanted) = (kept[0].0, kept[0].1.resource_slice_count);
    if let Some((id, other)) = kept
        .iter()
        .find(|(_, slice)| slice.resource_slice_count != wanted)
    {
        findings.about(id).error(
            "spec.pool.resourceSliceCount",
            format!(
                "the pool {pool} has {} slices by this one, {wanted} by {}",
                other.resource_slice_count, first.name
            ),
            "all slices of a generation must give the same number",
        );
    } else if kept.len() as i64 != wanted && wanted >= 1 && !is_unsure {
        let effect = match profile.exact_count_skips_bad_pools() {
            true => "its devices are not used",
            false => "requests for all devices do not use it",
        };
        let relation = if (kept.len() as i64) < wanted {
            "incomplete"
        } else {
            "too large"
        };
        findings.about(first).warning(
            "spec.pool.resourceSliceCount",
            format!(
                "the pool {pool} is {relation}: {} of generation {generation} where it says {wanted}; {effect}",
                count(kept.len(), "slice")
            ),
            "publish exactly as many slices as it says, or wait until the driver has",
        );
    }
    duplicates(&pool, &kept, findings);
    if !is_unsure {
        counters(&pool, &kept, findings);
    }
}

fn duplicates(pool: &str, slices: &Pool<'_>, findings: &mut Findings) {
    let mut seen: BTreeMap<&str, (&ObjectRef, &ResourceSlice)> = BTreeMap::new();
    for (id, slice) in slices {
        for (i, device) in slice.devices.iter().enumerate() {
            let Some((other, earlier)) = seen.insert(&device.name, (id, slice)) else {
                continue;
            };
            let place = match (&earlier.reach, &slice.reach) {
                (Reach::NodeName(one), Reach::NodeName(other)) if one != other => {
                    format!("on the nodes {one} and {other}")
                }
                _ if other.name == id.name => "in this slice".to_owned(),
                _ => format!("also by ResourceSlice {}", other.name),
            };
            findings.about(id).error(
                format!("spec.devices[{i}].name"),
                format!("the device {:?} is published twice in the pool {pool}, {place}", device.name),
                "device names are unique within a pool; use a pool of its own for each node, or other names",
            );
        }
    }
}

fn counters(pool: &str, slices: &Pool<'_>, findings: &mut Findings) {
    let mut sets: BTreeMap<&str, &CounterSet> = BTreeMap::new();
    for (id, slice) in slices {
        for (i, set) in slice.counters.iter().enumerate() {
            if sets.insert(&set.name, set).is_some() {
                findings.about(id).error(
                    format!("spec.sharedCounters[{i}].name"),
                    format!("the pool {pool} has the counter set {:?} twice", set.name),
                    "give each set a name of its own",
                );
            }
        }
    }
    for (id, slice) in slices {
        for (i, device) in slice.devices.iter().enumerate() {
            let consumed = device
                .extra
                .iter()
                .flat_map(|extra| &extra.consumes)
                .enumerate();
            for (j, consumed) in consumed {
                let path = format!("spec.devices[{i}].consumesCounters[{j}]");
                let names = || sets.keys().copied();
                let Some(set) = sets.get(&*consumed.name) else {
                    let remedy = match meant(&consumed.name, names()) {
                        Some(nearest) => format!("did you mean {nearest:?}?"),
                        None if sets.is_empty() => {
                            "add it to spec.sharedCounters of a slice of the pool".to_owned()
                        }
                        None => format!("the pool has {}", some_of(names())),
                    };
                    let message = format!("the pool {pool} has no counter set {:?}", consumed.name);
                    let path = format!("{path}.counterSet");
                    findings
                        .about(id)
                        .once(Severity::Error, path, message, remedy);
                    continue;
                };
                for (name, _) in &consumed.counters {
                    if !set.counters.iter().any(|(known, _)| known == name) {
                        let known = set.counters.iter().map(|(known, _)| known);
                        findings.about(id).error(
                            format!("{path}.counters[{name}]"),
                            format!("the counter set {:?} has no counter {name:?}", set.name),
                            format!("it has {}", some_of(known)),
                        );
                    }
                }
            }
        }
    }
}

fn rule(rule: &DeviceTaintRule, scene: &Scene, about: &mut About<'_>) {
    let Some(selector) = &rule.selector else {
        return about.lacking_perhaps(
            "spec.deviceSelector",
            "the rule has no selector and taints nothing",
            "name driver, pool or device; {} means every device",
        );
    };
    if scene.slices.is_empty() || !scene.unsure.is_empty() {
        return;
    }
    let slices = || newest(scene);
    let is_or_any =
        |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let concerned = || {
        slices().filter(|slice| {
            is_or_any(&selector.driver, &slice.driver) && is_or_any(&selector.pool, &slice.pool)
        })
    };
    let mut devices = concerned().flat_map(|slice| &slice.devices);
    if devices.any(|device| is_or_any(&selector.device, &device.name)) {
        return;
    }
    let driver = selector.driver.as_deref().unwrap_or_default();
    let drivers: BTreeSet<&str> = slices().map(|slice| &*slice.driver).collect();
    let pools: BTreeSet<&str> = slices().map(|slice| &*slice.pool).collect();
    let (field, name, known) = if !driver.is_empty() && !drivers.contains(driver) {
        ("driver", driver, drivers)
    } else if let Some(pool) = selector
        .pool
        .as_deref()
        .filter(|pool| !pools.contains(pool))
    {
        ("pool", pool, pools)
    } else {
        let devices = concerned()
            .flat_map(|slice| &slice.devices)
            .map(|device| &*device.name);
        (
            "device",
            selector.device.as_deref().unwrap_or_default(),
            devices.collect(),
        )
    };
    let nearest = match field {
        "driver" => meant_qualified(name, known.iter().copied()),
        _ => meant(name, known.iter().copied()),
    };
    let remedy = match nearest {
        Some(nearest) => format!("did you mean {nearest:?}?"),
        None if known.is_empty() => "no device has this driver and pool".to_owned(),
        None => format!("published are {}", some_of(known)),
    };
    about.warning(
        format!("spec.deviceSelector.{field}"),
        format!("the rule taints no device: none has the {field} {name:?}"),
        remedy,
    );
}
