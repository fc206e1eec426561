//! The devices that there are: from the newest slices of each pool, grouped by the nodes that use them.
//!
//! Upstream: `dynamic-resource-allocation/structured`, `GatherPools`, without a node in view.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::data::{FieldKind, Group, Node, ranges};
use crate::cluster::Cluster;
use crate::filters::Selection;
use crate::object::{Kind, Object};

const SLICE: &str = "ResourceSlice.resource.k8s.io";

/// Driver and pool.
type PoolName = (String, String);

/// Groups of devices, and where each device is.
#[derive(Default)]
pub(super) struct Inventory {
    /// By driver, pool and place.
    pub groups: Vec<Group>,
    /// What devices are described by.
    pub fields: Vec<(FieldKind, String)>,
    /// Group and position of each; several if a name was given twice.
    places: BTreeMap<PoolName, BTreeMap<String, Vec<[usize; 2]>>>,
    known_fields: BTreeMap<(FieldKind, String), usize>,
    /// Whether devices of pools that are incomplete or contradict themselves are given to nobody.
    skips_broken: bool,
    /// Groups of devices that no slice publishes.
    apart: BTreeMap<PoolName, usize>,
}

/// What the slices of a pool say together.
#[derive(Default)]
struct Pool<'a> {
    generation: i64,
    slices: Vec<&'a Object>,
    outdated: usize,
}

/// From where a device is used. Ordered for the page: nodes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(String),
    All,
    /// JSON text of the selector.
    Selected(String),
    Nowhere,
}

impl Inventory {
    /// Of all slices.
    pub(super) fn of(
        cluster: &Cluster,
        nodes: &[Node],
        selection: &Selection,
        skips_broken: bool,
    ) -> Self {
        let mut inventory = Self {
            skips_broken,
            ..Self::default()
        };
        let positions: BTreeMap<&str, usize> = (nodes.iter().enumerate())
            .map(|(position, node)| (node.name.as_str(), position))
            .collect();
        let slices = sorted_slices(cluster);
        for (name, pool) in pools(&slices) {
            for (place, devices) in by_place(&pool) {
                let mut group = inventory.describe(&name, Some(pool.generation), &devices);
                group.problems = problems(&pool, &group.devices);
                group.settle(&place, &positions, selection);
                if inventory.skips_broken && group.unusable.is_none() {
                    group.unusable = broken(&pool, &group.devices);
                }
                inventory.add(group);
            }
        }
        inventory
    }

    /// Where a published device is.
    pub(super) fn places(&self, driver: &str, pool: &str, device: &str) -> &[[usize; 2]] {
        let name = (driver.to_owned(), pool.to_owned());
        let pool = self.places.get(&name);
        pool.and_then(|pool| pool.get(device))
            .map_or(&[], Vec::as_slice)
    }

    /// Where a device is: several places if its name was given twice. One that no slice publishes gets a place apart.
    pub(super) fn find(&mut self, driver: &str, pool: &str, device: &str) -> Vec<[usize; 2]> {
        let known = self.places(driver, pool, device);
        if !known.is_empty() {
            return known.to_vec();
        }
        let name = (driver.to_owned(), pool.to_owned());
        let group = match self.apart.get(&name) {
            Some(group) => *group,
            None => {
                let mut group = self.describe(&name, None, &[]);
                group.reach = Some("no slice publishes these devices".to_owned());
                self.add(group);
                self.apart.insert(name.clone(), self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        let place = [group, self.groups[group].devices.len()];
        self.groups[group].devices.push(vec![device.into()]);
        let pool = self.places.entry(name).or_default();
        pool.insert(device.to_owned(), vec![place]);
        vec![place]
    }

    fn describe(&mut self, name: &PoolName, generation: Option<i64>, devices: &[&Value]) -> Group {
        let (driver, pool) = name.clone();
        Group {
            driver,
            pool,
            generation,
            node: None,
            reach: None,
            nodes: Vec::new(),
            unusable: None,
            problems: Vec::new(),
            devices: devices.iter().map(|device| self.device(device)).collect(),
        }
    }

    fn add(&mut self, group: Group) {
        let name = (group.driver.clone(), group.pool.clone());
        let pool = self.places.entry(name).or_default();
        for (position, device) in group.devices.iter().enumerate() {
            let name = device.first().and_then(Value::as_str).unwrap_or_default();
            let places = pool.entry(name.to_owned()).or_default();
            places.push([self.groups.len(), position]);
        }
        self.groups.push(group);
    }

    /// A device in any API version: `basic` is of v1alpha3 and v1beta1.
    fn device(&mut self, device: &Value) -> Vec<Value> {
        let body = device.get("basic").unwrap_or(device);
        let mut described = vec![text(device, "/name").into()];
        let map = |key: &str| {
            body.get(key)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        for (name, value) in map("attributes") {
            // The one key of an attribute is its type.
            let plain = value.as_object().and_then(|value| value.values().next());
            self.put(
                &mut described,
                FieldKind::Attribute,
                name,
                plain.unwrap_or(value).clone(),
            );
        }
        for (name, value) in map("capacity") {
            let plain = value.get("value").unwrap_or(value).clone();
            self.put(&mut described, FieldKind::Capacity, name, plain);
        }
        for taint in list(body, "/taints") {
            let (value, effect) = (text(taint, "/value"), text(taint, "/effect"));
            let told = format!(
                "{value}{}{effect}",
                if value.is_empty() { "" } else { ": " }
            );
            self.put(
                &mut described,
                FieldKind::Taint,
                text(taint, "/key"),
                told.into(),
            );
        }
        described
    }

    fn put(&mut self, device: &mut Vec<Value>, kind: FieldKind, name: &str, value: Value) {
        let field = (kind, name.to_owned());
        let position = *self.known_fields.entry(field.clone()).or_insert_with(|| {
            self.fields.push(field);
            self.fields.len() - 1
        });
        device.extend([position.into(), value]);
    }
}

impl Group {
    fn settle(&mut self, place: &Place, nodes: &BTreeMap<&str, usize>, selection: &Selection) {
        match place {
            Place::Node(name) => match nodes.get(name.as_str()) {
                Some(position) => self.node = Some(*position),
                None => {
                    self.reach = Some(format!("node {name}, which is not in the input"));
                    self.unusable = self.reach.clone().map(|reach| format!("for {reach}"));
                }
            },
            Place::All => {
                self.reach = Some("all nodes".to_owned());
                self.nodes = ranges(0..nodes.len());
            }
            Place::Selected(selector) => {
                let selector: Value = serde_json::from_str(selector).unwrap_or_default();
                let matching = selection.matching(&selector);
                self.reach = Some(match &matching {
                    Some(_) => format!("nodes with {}", in_words(&selector)),
                    None => "a node selector that cannot be read".to_owned(),
                });
                self.nodes = ranges(matching.unwrap_or_default());
                if self.nodes.is_empty() {
                    self.unusable = Some("for no node of the input".to_owned());
                }
            }
            Place::Nowhere => {
                self.reach = Some("no node: the slice names none".to_owned());
                self.unusable = Some("for no node: the slice names none".to_owned());
            }
        }
    }
}

fn sorted_slices(cluster: &Cluster) -> Vec<&Object> {
    let kind = Kind::new(SLICE);
    let mut slices: Vec<&Object> = cluster.list(&kind).map(|entry| &entry.object).collect();
    slices.sort_by_key(|slice| &slice.id().name);
    slices
}

fn pools<'a>(slices: &[&'a Object]) -> BTreeMap<PoolName, Pool<'a>> {
    let mut pools: BTreeMap<PoolName, Pool<'_>> = BTreeMap::new();
    for slice in slices {
        let at = |path: &str| slice.text(path).unwrap_or_default().to_owned();
        let pool = pools
            .entry((at("/spec/driver"), at("/spec/pool/name")))
            .or_default();
        let generation = number(slice, "/spec/pool/generation").unwrap_or_default();
        if pool.slices.is_empty() || generation > pool.generation {
            pool.outdated += std::mem::take(&mut pool.slices).len();
            pool.generation = generation;
        }
        match generation == pool.generation {
            true => pool.slices.push(slice),
            false => pool.outdated += 1,
        }
    }
    pools
}

fn by_place<'a>(pool: &Pool<'a>) -> BTreeMap<Place, Vec<&'a Value>> {
    let mut places: BTreeMap<Place, Vec<&Value>> = BTreeMap::new();
    for slice in &pool.slices {
        let spec = slice.value().get("spec").unwrap_or(&Value::Null);
        let own = place(spec);
        for device in list(spec, "/devices") {
            let body = device.get("basic").unwrap_or(device);
            let place = match spec.get("perDeviceNodeSelection") {
                Some(Value::Bool(true)) => place(body),
                _ => own.clone(),
            };
            places.entry(place).or_default().push(device);
        }
        // A pool without devices is worth seeing too.
        if list(spec, "/devices").next().is_none() {
            places.entry(own).or_default();
        }
    }
    places
}

/// Of a slice, or of a device in a slice that leaves it to its devices.
fn place(spec: &Value) -> Place {
    let node = text(spec, "/nodeName");
    match (node, spec.get("allNodes"), spec.get("nodeSelector")) {
        ("", Some(Value::Bool(true)), _) => Place::All,
        ("", _, Some(selector)) if !selector.is_null() => Place::Selected(selector.to_string()),
        ("", _, _) => Place::Nowhere,
        (node, _, _) => Place::Node(node.to_owned()),
    }
}

/// How many slices the pool announces, if it has another number of them.
fn announced(pool: &Pool<'_>) -> Option<i64> {
    let announced = number(pool.slices.first()?, "/spec/pool/resourceSliceCount")?;
    (i64::try_from(pool.slices.len()) != Ok(announced)).then_some(announced)
}

/// Why the allocator passes a pool over: upstream's `IsIncomplete` and `IsInvalid`.
fn broken(pool: &Pool<'_>, devices: &[Vec<Value>]) -> Option<String> {
    if disagrees(pool) {
        return Some("its pool is invalid: the slices announce different numbers".to_owned());
    }
    if let Some(announced) = announced(pool) {
        let present = pool.slices.len();
        return Some(format!(
            "its pool is incomplete: {present} of {announced} slices"
        ));
    }
    let name = repeated(devices)?;
    Some(format!(
        "its pool is invalid: the name {name:?} is given twice"
    ))
}

/// Whether the slices of the newest generation differ about how many they are.
fn disagrees(pool: &Pool<'_>) -> bool {
    let count = |slice: &Object| number(slice, "/spec/pool/resourceSliceCount");
    let mut counts = pool.slices.iter().map(|slice| count(slice));
    let first = counts.next();
    counts.any(|count| Some(count) != first)
}

/// A name that two devices have.
fn repeated(devices: &[Vec<Value>]) -> Option<&str> {
    let mut names = BTreeSet::new();
    let name = |device: &'_ Vec<Value>| device.first().map(Value::to_string);
    let device = devices.iter().find(|device| !names.insert(name(device)))?;
    Some(device.first().and_then(Value::as_str).unwrap_or_default())
}

fn problems(pool: &Pool<'_>, devices: &[Vec<Value>]) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(announced) = announced(pool) {
        let present = pool.slices.len();
        problems.push(format!("incomplete: {present} of {announced} slices"));
    }
    if disagrees(pool) {
        problems.push("its slices announce different numbers of slices".to_owned());
    }
    if pool.outdated > 0 {
        let outdated = pool.outdated;
        problems.push(format!("{outdated} more of an older generation, left out"));
    }
    if let Some(name) = repeated(devices) {
        problems.push(format!("the name {name:?} is given twice"));
    }
    problems
}

/// A node selector, for people.
fn in_words(selector: &Value) -> String {
    let requirement = |requirement: &Value| {
        let values: Vec<&str> = list(requirement, "/values")
            .filter_map(Value::as_str)
            .collect();
        let (key, operator) = (text(requirement, "/key"), text(requirement, "/operator"));
        match operator {
            "In" if values.len() == 1 => format!("{key} = {}", values[0]),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("no {key}"),
            _ => format!("{key} {operator} {}", values.join(", ")),
        }
    };
    let term = |term: &Value| {
        let all = list(term, "/matchExpressions").chain(list(term, "/matchFields"));
        all.map(requirement).collect::<Vec<_>>().join(" and ")
    };
    let terms: Vec<String> = list(selector, "/nodeSelectorTerms").map(term).collect();
    terms.join(", or ")
}

fn list<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.pointer(path).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value
        .pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn number(slice: &Object, path: &str) -> Option<i64> {
    slice.value().pointer(path).and_then(Value::as_i64)
}
