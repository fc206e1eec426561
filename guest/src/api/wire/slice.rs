//! ResourceSlice: the kind that there is most of, so strings that repeat from device to device are shared.

use std::sync::Arc;

use super::Reading;
use super::claim::refuse;
use super::common::{metadata, node_selector, shared};
use super::fault::Fault;
use super::raw;
use super::text::{Filled, Pairs, Quantity, text};
use crate::api::{ApiVersion, Attribute, Device, Reach, ResourceSlice};

const PARTITIONABLE: &str = "DRAPartitionableDevices";
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
    refuse(
        spec.shared_counters,
        "sharedCounters",
        "shared counters",
        PARTITIONABLE,
    )?;
    refuse(
        spec.per_device_node_selection,
        "perDeviceNodeSelection",
        "per-device node selections",
        PARTITIONABLE,
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
        reach: reach(
            spec.node_name.map(|n| text(Some(n))),
            spec.all_nodes,
            spec.node_selector,
            reading,
        ),
        devices: devices(reading.should(spec.devices).unwrap_or_default(), reading)?,
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

fn devices(wires: Vec<raw::Device<'_>>, reading: &Reading<'_>) -> Result<Vec<Device>, Fault> {
    let mut names = Names::default();
    let mut devices = Vec::with_capacity(wires.len());
    for (i, wire) in wires.into_iter().enumerate() {
        devices.push(
            device(wire, &mut names, reading).map_err(|fault| fault.under_index("devices", i))?,
        );
    }
    Ok(devices)
}

fn device(
    mut wire: raw::Device<'_>,
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
        (true, Some(basic)) => {
            device_body(name, *basic, names, reading).map_err(|fault| fault.under("basic"))
        }
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
        (false, None) => device_body(name, wire, names, reading),
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
    wire: raw::Device<'_>,
    names: &mut Names,
    reading: &Reading<'_>,
) -> Result<Device, Fault> {
    refuse_unsupported(&wire)?;
    Ok(Device {
        name,
        usable: true,
        attributes: sorted(wire.attributes, names, "attributes", |wire| {
            attribute(wire, reading)
        })?,
        capacity: sorted(wire.capacity, names, "capacity", |wire| {
            capacity(wire, reading)
        })?,
    })
}

fn refuse_unsupported(wire: &raw::Device<'_>) -> Result<(), Fault> {
    // A taint with the effect None only informs.
    let taints = wire
        .taints
        .iter()
        .flatten()
        .any(|taint| taint.effect.as_ref().is_none_or(|e| e.as_str() != "None"));
    refuse(Filled(taints), "taints", "device taints", "DRADeviceTaints")?;
    refuse(
        wire.consumes_counters,
        "consumesCounters",
        "shared counters",
        PARTITIONABLE,
    )?;
    let selections = [
        ("nodeName", wire.node_name),
        ("nodeSelector", wire.node_selector),
        ("allNodes", wire.all_nodes),
    ];
    for (field, filled) in selections {
        refuse(filled, field, "per-device node selections", PARTITIONABLE)?;
    }
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
        ("ints", wire.ints),
        ("bools", wire.bools),
        ("strings", wire.strings),
        ("versions", wire.versions),
    ];
    for (field, filled) in lists {
        refuse(filled, field, "list attributes", "DRAListTypeAttributes")?;
    }
    let mut kinds = [
        wire.int.map(Attribute::Int),
        wire.bool.map(Attribute::Bool),
        wire.string
            .map(|value| Attribute::String(Arc::from(value.as_str()))),
        wire.version
            .map(|value| Attribute::Version(Arc::from(value.as_str()))),
    ]
    .into_iter()
    .flatten();
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Ok(kind),
        (None, _) => {
            reading.miss();
            Ok(Attribute::Unknown)
        }
        (Some(_), Some(_)) => Err(Fault::new(
            "",
            "more than one of int, bool, string and version is set; keep exactly one",
        )),
    }
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
