//! ResourceSlice: the kind that there is most of, so strings that repeat from device to device are shared.

use std::sync::Arc;

use super::Reading;
use super::claim::refuse;
use super::common::{metadata, node_selector, shared};
use super::fault::Fault;
use super::raw;
use super::taint::taint;
use super::text::{Pairs, Quantity, Str, text};
use crate::api::{
    ApiVersion, Attribute, CounterSet, Device, DeviceExtra, DeviceTaint, Reach, ResourceSlice,
    TaintEffect,
};
use crate::profile::Feature;

const NODE_SELECTIONS: &str = "per-device node selections";
const BINDING_CONDITIONS: &str = "DRADeviceBindingConditions";
const NODE_ALLOCATABLE: &str = "DRANodeAllocatableResources";

pub(super) fn slice(wire: raw::Slice<'_>, reading: &Reading<'_>) -> Result<ResourceSlice, Fault> {
    let spec = reading.should(wire.spec).unwrap_or_default();
    let name = metadata(wire.metadata).name;
    slice_spec(name, spec, reading).map_err(|fault| fault.under("spec"))
}

fn slice_spec(
    name: String,
    spec: raw::SliceSpec<'_>,
    reading: &Reading<'_>,
) -> Result<ResourceSlice, Fault> {
    let per_device = spec.per_device_node_selection == Some(true);
    reading.need(
        per_device,
        "perDeviceNodeSelection",
        NODE_SELECTIONS,
        Feature::DraPartitionableDevices,
    )?;
    let counters = counter_sets(
        spec.shared_counters,
        "sharedCounters",
        |set| set.name.take(),
        reading,
    )?;
    let driver = shared(reading.should(spec.driver));
    let pool = reading.should(spec.pool).unwrap_or_default();
    let pool_name = shared(reading.should(pool.name));
    if driver.is_empty() {
        return Err(Fault::required("driver"));
    }
    if pool_name.is_empty() {
        return Err(Fault::required("pool.name"));
    }
    Ok(ResourceSlice {
        name,
        driver,
        pool: pool_name,
        generation: reading.should(pool.generation).unwrap_or_default(),
        resource_slice_count: reading
            .should(pool.resource_slice_count)
            .unwrap_or_default(),
        reach: match per_device {
            true => Reach::PerDevice,
            false => reach(
                spec.node_name.map(|n| text(Some(n))),
                spec.all_nodes,
                spec.node_selector,
                reading,
            ),
        },
        devices: match (spec.devices, counters.is_empty()) {
            (None, false) => Vec::new(),
            (given, _) => devices(
                reading.should(given).unwrap_or_default(),
                per_device,
                reading,
            )?,
        },
        counters,
    })
}

fn reach(
    node_name: Option<String>,
    all_nodes: Option<bool>,
    selector: Option<raw::NodeSelector<'_>>,
    reading: &Reading<'_>,
) -> Reach {
    if let Some(name) = node_name.filter(|name| !name.is_empty()) {
        return Reach::NodeName(name);
    }
    if all_nodes == Some(true) {
        return Reach::AllNodes;
    }
    match reading.should(selector) {
        Some(selector) => Reach::NodeSelector(node_selector(selector, reading)),
        None => Reach::Nowhere,
    }
}

/// `name` takes the name out of an entry. Amounts that are negative or absurdly large make the object unusable.
fn counter_sets<'a>(
    wires: Option<Vec<raw::CounterSet<'a>>>,
    field: &str,
    name: fn(&mut raw::CounterSet<'a>) -> Option<Str<'a>>,
    reading: &Reading<'_>,
) -> Result<Vec<CounterSet>, Fault> {
    let wires = wires.unwrap_or_default();
    reading.need(
        !wires.is_empty(),
        field,
        "shared counters",
        Feature::DraPartitionableDevices,
    )?;
    let amount = |wire: Quantity<'_>| {
        let Quantity::Wrapped(Some(text)) = wire else {
            return Err(Fault::new(
                "",
                "expected an object with a quantity under \"value\"",
            ));
        };
        let quantity = crate::quantity::Quantity::parse(&text)
            .map_err(|error| Fault::new("value", error.to_string()))?;
        let amount = quantity.billionths().filter(|amount| *amount >= 0);
        let message = "expected an amount between 0 and 10^23";
        amount.ok_or_else(|| Fault::new("value", message))
    };
    let set = |(i, mut wire): (usize, raw::CounterSet<'a>)| {
        let name = shared(reading.should(name(&mut wire)));
        refuse(
            wire.compatibility_groups,
            "compatibilityGroups",
            "compatibility groups",
            "DRADeviceCompatibilityGroups",
        )
        .and_then(|()| {
            let given = reading.should(wire.counters);
            sorted(given, &mut Names::default(), "counters", amount)
        })
        .map(|counters| CounterSet { name, counters })
        .map_err(|fault| fault.under_index(field, i))
    };
    wires.into_iter().enumerate().map(set).collect()
}

fn devices(
    wires: Vec<raw::Device<'_>>,
    per_device: bool,
    reading: &Reading<'_>,
) -> Result<Vec<Device>, Fault> {
    let mut names = Names::default();
    let mut devices = Vec::with_capacity(wires.len());
    for (i, wire) in wires.into_iter().enumerate() {
        devices.push(
            device(wire, per_device, &mut names, reading)
                .map_err(|fault| fault.under_index("devices", i))?,
        );
    }
    Ok(devices)
}

fn device(
    mut wire: raw::Device<'_>,
    per_device: bool,
    names: &mut Names,
    reading: &Reading<'_>,
) -> Result<Device, Fault> {
    let name = shared(reading.should(wire.name.take()));
    if name.is_empty() {
        return Err(Fault::required("name"));
    }
    match (
        matches!(reading.version, ApiVersion::V1Alpha3 | ApiVersion::V1Beta1),
        wire.basic.take(),
    ) {
        (true, Some(basic)) => device_body(name, *basic, per_device, names, reading)
            .map_err(|fault| fault.under("basic")),
        (true, None) if wire.attributes.is_some() => Err(belongs_under_basic("attributes")),
        (true, None) if wire.capacity.is_some() => Err(belongs_under_basic("capacity")),
        (true, None) => {
            reading.miss();
            Ok(Device {
                name,
                ..Device::default()
            })
        }
        (false, Some(_)) => {
            let message = "this version has no \"basic\"; put its content directly into the device";
            Err(Fault::new("basic", message))
        }
        (false, None) => device_body(name, wire, per_device, names, reading),
    }
}

fn belongs_under_basic(field: &str) -> Fault {
    Fault::new(
        field,
        "in this version the device's fields belong under \"basic\"",
    )
}

fn device_body(
    name: Arc<str>,
    mut wire: raw::Device<'_>,
    per_device: bool,
    names: &mut Names,
    reading: &Reading<'_>,
) -> Result<Device, Fault> {
    refuse_unsupported(&wire)?;
    let extra = extra(&mut wire, per_device, reading)?;
    Ok(Device {
        name,
        usable: true,
        attributes: sorted(wire.attributes, names, "attributes", |wire| {
            attribute(wire, reading)
        })?
        .into(),
        capacity: sorted(wire.capacity, names, "capacity", |wire| {
            capacity(wire, reading)
        })?
        .into(),
        extra: (extra != DeviceExtra::default()).then(|| Box::new(extra)),
    })
}

/// What few devices have.
fn extra(
    wire: &mut raw::Device<'_>,
    per_device: bool,
    reading: &Reading<'_>,
) -> Result<DeviceExtra, Fault> {
    let taints = wire.taints.take().unwrap_or_default().into_iter();
    let taints = taints
        .enumerate()
        .map(|(i, wire)| taint(wire, reading).map_err(|fault| fault.under_index("taints", i)));
    let taints: Vec<_> = taints.collect::<Result<_, _>>()?;
    // One with the effect None only informs.
    let matters = |taint: &DeviceTaint| taint.effect != TaintEffect::None;
    reading.need(
        taints.iter().any(matters),
        "taints",
        "device taints",
        Feature::DraDeviceTaints,
    )?;
    let selections = [
        (
            "nodeName",
            wire.node_name
                .as_ref()
                .is_some_and(|name| !name.as_str().is_empty()),
        ),
        (
            "nodeSelector",
            wire.node_selector
                .as_ref()
                .is_some_and(|selector| selector.node_selector_terms.is_some()),
        ),
        ("allNodes", wire.all_nodes == Some(true)),
    ];
    for (field, given) in selections {
        reading.need(
            given,
            field,
            NODE_SELECTIONS,
            Feature::DraPartitionableDevices,
        )?;
        if given && !per_device {
            let message = "needs perDeviceNodeSelection: true in the slice; set it, or remove this";
            return Err(Fault::new(field, message));
        }
    }
    let node_name = wire.node_name.take().map(|name| text(Some(name)));
    Ok(DeviceExtra {
        taints,
        consumes: counter_sets(
            wire.consumes_counters.take(),
            "consumesCounters",
            |set| set.counter_set.take(),
            reading,
        )?,
        reach: per_device.then(|| {
            reach(
                node_name,
                wire.all_nodes,
                wire.node_selector.take(),
                reading,
            )
        }),
    })
}

fn refuse_unsupported(wire: &raw::Device<'_>) -> Result<(), Fault> {
    let multiple = wire.allow_multiple_allocations;
    refuse(
        multiple,
        "allowMultipleAllocations",
        "multiple allocations of a device",
        "DRAConsumableCapacity",
    )?;
    let conditions = [
        ("bindsToNode", wire.binds_to_node),
        ("bindingConditions", wire.binding_conditions),
        ("bindingFailureConditions", wire.binding_failure_conditions),
    ];
    for (field, filled) in conditions {
        refuse(filled, field, "binding conditions", BINDING_CONDITIONS)?;
    }
    let resources = [
        ("nodeAllocatableResources", wire.node_allocatable_resources),
        (
            "nodeAllocatableResourceMappings",
            wire.node_allocatable_resource_mappings,
        ),
    ];
    resources.into_iter().try_for_each(|(field, filled)| {
        refuse(
            filled,
            field,
            "node allocatable resources of devices",
            NODE_ALLOCATABLE,
        )
    })
}

fn attribute(wire: raw::Attribute<'_>, reading: &Reading<'_>) -> Result<Attribute, Fault> {
    let lists = [
        (
            "ints",
            wire.ints
                .map(|list| list.into_iter().map(Attribute::Int).collect()),
        ),
        (
            "bools",
            wire.bools
                .map(|list| list.into_iter().map(Attribute::Bool).collect()),
        ),
        (
            "strings",
            wire.strings.map(|list| texts_as(list, Attribute::String)),
        ),
        (
            "versions",
            wire.versions.map(|list| texts_as(list, Attribute::Version)),
        ),
    ];
    let mut list: Option<Vec<Attribute>> = None;
    let mut given = 0;
    for (field, values) in lists {
        // An empty list says nothing.
        let Some(values) = values.filter(|values| !values.is_empty()) else {
            continue;
        };
        reading.need(
            true,
            field,
            "list attributes",
            Feature::DraListTypeAttributes,
        )?;
        given += 1;
        list = Some(values);
    }
    let kinds = [
        wire.int.map(Attribute::Int),
        wire.bool.map(Attribute::Bool),
        wire.string
            .map(|value| Attribute::String(value.as_str().into())),
        wire.version
            .map(|value| Attribute::Version(value.as_str().into())),
        list.map(|values| Attribute::List(values.into())),
    ];
    given += kinds[..4].iter().flatten().count();
    let kind = kinds.into_iter().flatten().next();
    match kind {
        Some(kind) if given == 1 => Ok(kind),
        None => {
            reading.miss();
            Ok(Attribute::Unknown)
        }
        Some(_) => Err(Fault::new(
            "",
            "more than one of int, bool, string, version and their lists is set; keep exactly one",
        )),
    }
}

fn texts_as(list: Vec<Str<'_>>, make: fn(Arc<str>) -> Attribute) -> Vec<Attribute> {
    list.into_iter()
        .map(|text| make(text.as_str().into()))
        .collect()
}

fn capacity(wire: Quantity<'_>, reading: &Reading<'_>) -> Result<Arc<str>, Fault> {
    match (wire, reading.version) {
        (Quantity::Bare(text), ApiVersion::V1Alpha3) => Ok(Arc::from(&*text)),
        (
            Quantity::Wrapped(Some(text)),
            ApiVersion::V1Beta1 | ApiVersion::V1Beta2 | ApiVersion::V1,
        ) => Ok(Arc::from(&*text)),
        (Quantity::Wrapped(None), ApiVersion::V1Beta1 | ApiVersion::V1Beta2 | ApiVersion::V1) => {
            reading.miss();
            Err(Fault::required("value"))
        }
        (Quantity::Bare(_), _) => Err(Fault::new(
            "",
            "expected an object with the key \"value\", found a quantity",
        )),
        (Quantity::Wrapped(_), _) => Err(Fault::new("", "expected a quantity, found an object")),
    }
}

/// Entries sorted by name. Of a repeated name the last stays, as in Go.
fn sorted<W, T>(
    wire: Option<Pairs<'_, W>>,
    names: &mut Names,
    field: &str,
    convert: impl Fn(W) -> Result<T, Fault>,
) -> Result<Vec<(Arc<str>, T)>, Fault> {
    let Some(Pairs(pairs)) = wire else {
        return Ok(Vec::new());
    };
    let mut entries: Vec<(Arc<str>, T)> = Vec::with_capacity(pairs.len());
    for (name, wire) in pairs {
        let value = convert(wire).map_err(|fault| fault.under_key(field, name.as_str()))?;
        entries.push((names.shared(name.as_str()), value));
    }
    if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        entries.reverse();
        entries.dedup_by(|later, kept| later.0 == kept.0);
        entries.reverse();
    }
    Ok(entries)
}

/// Names of attributes and capacities: devices of a slice mostly repeat the same ones in the same order.
#[derive(Default)]
struct Names {
    known: Vec<Arc<str>>,
    next: usize,
}

/// A slice with more distinct names than this is not worth the comparing.
const MAX_KNOWN_NAMES: usize = 64;

impl Names {
    fn shared(&mut self, name: &str) -> Arc<str> {
        let expected = self
            .known
            .get(self.next)
            .filter(|known| &***known == name)
            .map(|_| self.next);
        match expected.or_else(|| self.known.iter().position(|known| &**known == name)) {
            Some(at) => {
                self.next = (at + 1) % self.known.len();
                Arc::clone(&self.known[at])
            }
            None => self.add(name),
        }
    }

    fn add(&mut self, name: &str) -> Arc<str> {
        let name: Arc<str> = Arc::from(name);
        if self.known.len() < MAX_KNOWN_NAMES {
            self.known.push(Arc::clone(&name));
            self.next = 0;
        }
        name
    }
}
