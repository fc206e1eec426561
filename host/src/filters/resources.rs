//! What pods request, what nodes have, and whether the one fits into the rest of the other.
//!
//! Upstream: plugin NodeResourcesFit and `PodRequests` of `component-helpers/resource`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{list_at, map_at, text_at};
use super::names::{Id, Name, Names};
use super::quantity::Quantity;

const CPU: &str = "cpu";
const MEMORY: &str = "memory";
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
const PODS: &str = "pods";

/// Quantities by resource name, exact.
type Amounts = BTreeMap<String, Quantity>;

/// An amount per resource: thousandths of a CPU, bytes, or pieces.
#[derive(Clone, Debug, Default)]
pub(super) struct Resources {
    cpu: i128,
    memory: i128,
    ephemeral_storage: i128,
    /// Extended resources, huge pages and the like; none of them zero.
    others: Vec<(Name, i128)>,
}

impl Resources {
    /// What the scheduler counts for a pod.
    pub(super) fn requested_by(pod: &Value) -> Result<Self, String> {
        let mut total = Amounts::new();
        for (index, container) in list_at(pod, "/spec/containers").iter().enumerate() {
            add(
                &mut total,
                &container_requests(container, &format!("spec.containers[{index}]"))?,
            );
        }
        add_init_containers(pod, &mut total)?;
        override_by_pod(pod, &mut total)?;
        add(
            &mut total,
            &amounts(map_at(pod, "/spec/overhead"), "spec.overhead")?,
        );
        Ok(Self::rounded(&total))
    }

    /// Names of the extended resources that no node offers.
    pub(super) fn not_offered(&self, is_offered: impl Fn(Id) -> bool) -> Vec<&str> {
        let names = self.others.iter().map(|(name, _)| name);
        names
            .filter(|name| !is_checked(name, &is_offered))
            .map(|name| name.text.as_str())
            .collect()
    }

    /// Looks up the numbers of all names.
    pub(super) fn resolve(&mut self, names: &Names) {
        self.others
            .iter_mut()
            .for_each(|(name, _)| name.resolve(names));
    }

    /// Gives numbers to all names.
    pub(super) fn intern(&mut self, names: &mut Names) {
        self.others
            .iter_mut()
            .for_each(|(name, _)| name.id = names.intern(&name.text));
    }

    fn rounded(amounts: &Amounts) -> Self {
        let units = |name: &str| amounts.get(name).copied().unwrap_or_default().units();
        Self {
            cpu: amounts.get(CPU).copied().unwrap_or_default().milli_units(),
            memory: units(MEMORY),
            ephemeral_storage: units(EPHEMERAL_STORAGE),
            others: amounts
                .iter()
                .filter(|(name, amount)| is_scalar(name) && amount.units() != 0)
                .map(|(name, amount)| (Name::new(name), amount.units()))
                .collect(),
        }
    }
}

/// Amounts by number of the name, sorted.
type Others = Vec<(Id, i128)>;

fn find(others: &Others, name: Id) -> i128 {
    let at = others.binary_search_by_key(&name, |(known, _)| *known);
    at.ok()
        .and_then(|at| others.get(at))
        .map_or(0, |(_, amount)| *amount)
}

/// Whether upstream counts a resource beside the four named ones.
fn is_scalar(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")
}

/// Extended resources, which device plugins offer, are checked if some node offers them.
fn is_checked(name: &Name, is_offered: impl Fn(Id) -> bool) -> bool {
    !name.text.contains('/') || is_offered(name.id)
}

/// Init containers run one after another, before the others: the largest counts, on top of the sidecars started before it.
fn add_init_containers(pod: &Value, total: &mut Amounts) -> Result<(), String> {
    let (mut sidecars, mut largest) = (Amounts::new(), Amounts::new());
    for (index, container) in list_at(pod, "/spec/initContainers").iter().enumerate() {
        let own = container_requests(container, &format!("spec.initContainers[{index}]"))?;
        if text_at(container, "restartPolicy") == "Always" {
            add(total, &own);
            add(&mut sidecars, &own);
            maximum(&mut largest, &sidecars);
        } else {
            let mut at_once = sidecars.clone();
            add(&mut at_once, &own);
            maximum(&mut largest, &at_once);
        }
    }
    maximum(total, &largest);
    Ok(())
}

/// Requests for the pod as a whole take the place of the sum over its containers.
fn override_by_pod(pod: &Value, total: &mut Amounts) -> Result<(), String> {
    let is_allowed = |name: &str| name == CPU || name == MEMORY || name.starts_with("hugepages-");
    for (name, amount) in amounts(
        map_at(pod, "/spec/resources/limits"),
        "spec.resources.limits",
    )? {
        if is_allowed(&name) {
            total.entry(name).or_insert(amount);
        }
    }
    for (name, amount) in amounts(
        map_at(pod, "/spec/resources/requests"),
        "spec.resources.requests",
    )? {
        if is_allowed(&name) {
            total.insert(name, amount);
        }
    }
    Ok(())
}

/// Requests of a container; a limit without a request is a request, as API defaulting makes it one.
fn container_requests(container: &Value, path: &str) -> Result<Amounts, String> {
    let part = |key: &str| {
        let map = container
            .get("resources")
            .and_then(|resources| resources.get(key))
            .and_then(Value::as_object);
        amounts(map, &format!("{path}.resources.{key}"))
    };
    let mut requests = part("requests")?;
    for (name, limit) in part("limits")? {
        requests.entry(name).or_insert(limit);
    }
    Ok(requests)
}

fn amounts(map: Option<&Map<String, Value>>, path: &str) -> Result<Amounts, String> {
    let mut amounts = Amounts::new();
    for (name, value) in map.into_iter().flatten() {
        let quantity = Quantity::from_value(value).ok_or_else(|| {
            let mut shown = value.to_string();
            if shown.len() > 40 {
                shown = shown.chars().take(40).chain("...".chars()).collect();
            }
            format!("{path}[{name}]: {shown} is not a quantity")
        })?;
        if quantity < Quantity::ZERO {
            return Err(format!("{path}[{name}] must not be negative"));
        }
        amounts.insert(name.clone(), quantity);
    }
    Ok(amounts)
}

fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = total.entry(name.clone()).or_default();
        *sum = sum.plus(*amount);
    }
}

fn maximum(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let largest = total.entry(name.clone()).or_default();
        *largest = (*largest).max(*amount);
    }
}

/// What a node offers. What it does not state is not checked; only the absence of an extended resource means none of it, if
/// the node states anything at all.
#[derive(Clone, Debug, Default)]
pub(super) struct Allocatable {
    cpu: Option<i128>,
    memory: Option<i128>,
    ephemeral_storage: Option<i128>,
    pods: Option<i128>,
    others: Option<Others>,
}

impl Allocatable {
    /// Reads `status.allocatable`, or `status.capacity` in its place as API defaulting does.
    pub(super) fn of(node: &Value, names: &mut Names) -> Result<Self, String> {
        let stated = ["allocatable", "capacity"].into_iter().find_map(|key| {
            Some((
                key,
                map_at(node, &format!("/status/{key}")).filter(|map| !map.is_empty())?,
            ))
        });
        let Some((key, map)) = stated else {
            return Ok(Self::default());
        };
        let amounts = amounts(Some(map), &format!("status.{key}"))?;
        let scalars = amounts.iter().filter(|(name, _)| is_scalar(name));
        let mut others: Others = scalars
            .map(|(name, amount)| (names.intern(name), amount.units()))
            .collect();
        others.sort_unstable();
        let units = |name: &str| amounts.get(name).map(|amount| amount.units());
        Ok(Self {
            cpu: amounts.get(CPU).map(|amount| amount.milli_units()),
            memory: units(MEMORY),
            ephemeral_storage: units(EPHEMERAL_STORAGE),
            pods: units(PODS),
            others: Some(others),
        })
    }
}

impl Allocatable {
    /// The resources beside the four named ones.
    pub(super) fn others(&self) -> impl Iterator<Item = Id> {
        self.others.iter().flatten().map(|(name, _)| *name)
    }
}

/// What the pods of a node use.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    pods: i128,
    cpu: i128,
    memory: i128,
    ephemeral_storage: i128,
    others: Others,
}

impl Used {
    /// Counts a pod in. Its names must have numbers.
    pub(super) fn add(&mut self, pod: &Resources) {
        self.change(pod, 1);
    }

    /// Counts a pod out.
    pub(super) fn remove(&mut self, pod: &Resources) {
        self.change(pod, -1);
    }

    fn change(&mut self, pod: &Resources, sign: i128) {
        self.pods += sign;
        self.cpu += sign * pod.cpu;
        self.memory += sign * pod.memory;
        self.ephemeral_storage += sign * pod.ephemeral_storage;
        for (name, amount) in &pod.others {
            let at = match self
                .others
                .binary_search_by_key(&name.id, |(known, _)| *known)
            {
                Ok(at) => at,
                Err(at) => {
                    self.others.insert(at, (name.id, 0));
                    at
                }
            };
            self.others[at].1 += sign * amount;
        }
    }
}

/// Why a pod does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shortage {
    /// Upstream's texts.
    pub reasons: Vec<String>,
    /// It would not fit into the empty node either.
    pub unresolvable: bool,
}

/// A resource of which a node has too little left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lack {
    pub name: String,
    /// In thousandths for CPU, else in units.
    pub wanted: i128,
    pub stated: i128,
    pub used: i128,
}

/// Whether a pod fits into what is left of a node. `is_offered` tells whether any node states a resource.
pub(super) fn check(
    pod: &Resources,
    allocatable: &Allocatable,
    used: &Used,
    is_offered: impl Fn(Id) -> bool,
) -> Result<(), Shortage> {
    let native = [
        (pod.cpu, allocatable.cpu, used.cpu),
        (pod.memory, allocatable.memory, used.memory),
        (
            pod.ephemeral_storage,
            allocatable.ephemeral_storage,
            used.ephemeral_storage,
        ),
    ];
    let exceeds =
        |wanted: i128, free: Option<i128>| wanted > 0 && free.is_some_and(|free| wanted > free);
    let too_many = allocatable
        .pods
        .is_some_and(|allowed| used.pods + 1 > allowed);
    let fits = !too_many
        && native
            .iter()
            .all(|(wanted, stated, used)| !exceeds(*wanted, stated.map(|stated| stated - used)))
        && allocatable.others.as_ref().is_none_or(|stated| {
            pod.others.iter().all(|(name, wanted)| {
                *wanted <= find(stated, name.id) - find(&used.others, name.id)
                    || !is_checked(name, &is_offered)
            })
        });
    if fits {
        return Ok(());
    }
    let lacks = lacks(pod, allocatable, used, is_offered);
    let reason = |lack: &Lack| match lack.name.as_str() {
        PODS => "Too many pods".to_owned(),
        name => format!("Insufficient {name}"),
    };
    Err(Shortage {
        reasons: lacks.iter().map(reason).collect(),
        unresolvable: lacks.iter().any(|lack| lack.wanted > lack.stated),
    })
}

/// Everything of which there is too little, in upstream's order.
#[cold]
pub(super) fn lacks(
    pod: &Resources,
    allocatable: &Allocatable,
    used: &Used,
    is_offered: impl Fn(Id) -> bool,
) -> Vec<Lack> {
    let mut lacks = Vec::new();
    let mut compare = |name: &str, wanted: i128, stated: Option<i128>, used: i128| {
        if let Some(stated) = stated
            && wanted > 0
            && wanted > stated - used
        {
            let name = name.to_owned();
            lacks.push(Lack {
                name,
                wanted,
                stated,
                used,
            });
        }
    };
    compare(PODS, 1, allocatable.pods, used.pods);
    compare(CPU, pod.cpu, allocatable.cpu, used.cpu);
    compare(MEMORY, pod.memory, allocatable.memory, used.memory);
    compare(
        EPHEMERAL_STORAGE,
        pod.ephemeral_storage,
        allocatable.ephemeral_storage,
        used.ephemeral_storage,
    );
    if let Some(stated) = &allocatable.others {
        let checked = pod.others.iter();
        for (name, wanted) in checked.filter(|(name, _)| is_checked(name, &is_offered)) {
            compare(
                &name.text,
                *wanted,
                Some(find(stated, name.id)),
                find(&used.others, name.id),
            );
        }
    }
    lacks
}
