//! ResourceClaim and DeviceClass.

use super::Reading;
use super::common::{config, configs, metadata, node_selector, selectors, shared};
use super::fault::Fault;
use super::raw;
use super::taint::tolerations;
use super::text::{Filled, Str, text, texts};
use crate::api::{
    AllocationConfiguration, AllocationResult, ApiVersion, ConfigSource, ConsumerReference,
    DeviceClass, DeviceConstraint, DeviceRequest, DeviceResult, ExactRequest, MAX_ALTERNATIVES,
    RequestBody, ResourceClaim,
};
use crate::profile::Feature;

const CONSUMABLE_CAPACITY: &str = "DRAConsumableCapacity";

pub(super) fn class(wire: raw::Class<'_>, reading: &Reading<'_>) -> Result<DeviceClass, Fault> {
    let spec = reading.should(wire.spec).unwrap_or_default();
    let suitable_nodes = spec.suitable_nodes.filter(|_| classic(reading));
    Ok(DeviceClass {
        name: metadata(wire.metadata).name,
        selectors: selectors(spec.selectors, reading),
        config: configs(spec.config, reading, "spec.config")?,
        suitable_nodes: suitable_nodes.map(|nodes| node_selector(nodes, reading)),
    })
}

pub(super) fn claim(wire: raw::Claim<'_>, reading: &Reading<'_>) -> Result<ResourceClaim, Fault> {
    let spec = reading.should(wire.spec).unwrap_or_default();
    let devices = reading.should(spec.devices).unwrap_or_default();
    let status = wire.status.unwrap_or_default();
    let requests = reading.should(devices.requests).unwrap_or_default();
    Ok(ResourceClaim {
        meta: metadata(wire.metadata),
        version: reading.version,
        requests: each(requests, "spec.devices.requests", |wire| {
            request(wire, reading)
        })?,
        constraints: each(
            devices.constraints.unwrap_or_default(),
            "spec.devices.constraints",
            |wire| constraint(wire, reading),
        )?,
        config: configs(devices.config, reading, "spec.devices.config")?,
        controller: text(spec.controller.filter(|_| classic(reading))),
        allocation: status
            .allocation
            .map(|wire| allocation(wire, reading))
            .transpose()
            .map_err(|fault| fault.under("status.allocation"))?,
        reserved_for: status
            .reserved_for
            .unwrap_or_default()
            .into_iter()
            .map(|wire| consumer(wire, reading))
            .collect(),
        deallocation_requested: classic(reading) && status.deallocation_requested == Some(true),
    })
}

/// The claim that a template makes; only its spec is looked at.
pub(super) fn template(
    wire: raw::Template<'_>,
    reading: &Reading<'_>,
) -> Result<ResourceClaim, Fault> {
    let mut made = raw::Claim::default();
    made.metadata = wire.metadata;
    made.spec = reading
        .should(wire.spec)
        .and_then(|spec| reading.should(spec.spec));
    claim(made, reading).map_err(|fault| fault.under("spec"))
}

/// Fields of classic DRA exist in v1alpha3 only; elsewhere they are unknown fields.
fn classic(reading: &Reading<'_>) -> bool {
    reading.version == ApiVersion::V1Alpha3
}

fn each<W, T>(
    wires: Vec<W>,
    field: &str,
    convert: impl Fn(W) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let element = |(i, wire)| convert(wire).map_err(|fault| fault.under_index(field, i));
    wires.into_iter().enumerate().map(element).collect()
}

fn request(mut wire: raw::Request<'_>, reading: &Reading<'_>) -> Result<DeviceRequest, Fault> {
    let name = text(reading.should(wire.name.take()));
    let alternatives = wire.first_available.take().unwrap_or_default();
    let body = if !alternatives.is_empty() {
        first_available(&wire, alternatives, reading)?
    } else if matches!(reading.version, ApiVersion::V1Alpha3 | ApiVersion::V1Beta1) {
        flat_request(wire, reading)?
    } else {
        nested_request(wire, reading)?
    };
    Ok(DeviceRequest { name, body })
}

fn first_available(
    rest: &raw::Request<'_>,
    alternatives: Vec<raw::Request<'_>>,
    reading: &Reading<'_>,
) -> Result<RequestBody, Fault> {
    reading.need(
        true,
        "firstAvailable",
        "prioritized lists",
        Feature::DraPrioritizedList,
    )?;
    if rest.exactly.is_some() || rest.device_class_name.is_some() {
        return Err(Fault::new(
            "firstAvailable",
            "cannot be combined with a request for one class; remove one of them",
        ));
    }
    if alternatives.len() > MAX_ALTERNATIVES {
        let message = format!(
            "{} alternatives, at most {MAX_ALTERNATIVES} are allowed",
            alternatives.len()
        );
        return Err(Fault::new("firstAvailable", message));
    }
    alternatives_of(alternatives, reading)
}

/// In order of preference, with the rules of an exact request for each but admin access, which no alternative has.
pub(super) fn alternatives_of(
    wires: Vec<raw::Request<'_>>,
    reading: &Reading<'_>,
) -> Result<RequestBody, Fault> {
    let alternative = |mut wire: raw::Request<'_>| {
        let name = text(reading.should(wire.name.take()));
        let admin_access = false;
        let exact = exact_request(wire, reading)?;
        Ok((
            name,
            ExactRequest {
                admin_access,
                ..exact
            },
        ))
    };
    each(wires, "firstAvailable", alternative).map(RequestBody::FirstAvailable)
}

/// v1alpha3 and v1beta1: the request itself is the exact one.
fn flat_request(wire: raw::Request<'_>, reading: &Reading<'_>) -> Result<RequestBody, Fault> {
    if wire.exactly.is_some() && wire.device_class_name.is_none() {
        return Err(moved(
            "exactly",
            "this version has no \"exactly\"; put its content directly into the request",
        ));
    }
    exact_request(wire, reading).map(RequestBody::Exactly)
}

/// v1beta2 and v1: the exact request is below `exactly`.
fn nested_request(wire: raw::Request<'_>, reading: &Reading<'_>) -> Result<RequestBody, Fault> {
    if let Some(exactly) = wire.exactly {
        let exactly = exact_request(*exactly, reading).map_err(|fault| fault.under("exactly"))?;
        return Ok(RequestBody::Exactly(exactly));
    }
    reading.miss();
    if wire.device_class_name.is_some() {
        return Err(moved(
            "deviceClassName",
            "in this version the request's fields belong under \"exactly\"",
        ));
    }
    Ok(RequestBody::FirstAvailable(Vec::new()))
}

fn moved(field: &str, what_to_do: &str) -> Fault {
    Fault::new(field, what_to_do)
}

fn exact_request(wire: raw::Request<'_>, reading: &Reading<'_>) -> Result<ExactRequest, Fault> {
    refuse(
        wire.capacity.map_or(Filled(false), |c| c.requests),
        "capacity.requests",
        "capacity requests",
        CONSUMABLE_CAPACITY,
    )?;
    refuse(
        wire.derived_attributes,
        "derivedAttributes",
        "derived attributes",
        "DRADerivedAttributes",
    )?;
    Ok(ExactRequest {
        device_class_name: text(reading.should(wire.device_class_name)),
        selectors: selectors(wire.selectors, reading),
        allocation_mode: text(wire.allocation_mode),
        count: wire.count.unwrap_or_default(),
        admin_access: wire.admin_access.unwrap_or_default(),
        tolerations: tolerations(wire.tolerations)?,
    })
}

/// Fails closed on a field that is not implemented and says something.
pub(super) fn refuse(
    filled: Filled,
    path: &str,
    what: &str,
    gate: &'static str,
) -> Result<(), Fault> {
    if filled.0 {
        Err(Fault::unsupported(path, what, gate))
    } else {
        Ok(())
    }
}

fn constraint(wire: raw::Constraint<'_>, reading: &Reading<'_>) -> Result<DeviceConstraint, Fault> {
    reading.need(
        wire.distinct_attribute.is_some(),
        "distinctAttribute",
        "distinctAttribute constraints",
        Feature::DraConsumableCapacity,
    )?;
    let owned = |name: Str<'_>| name.0.into_owned();
    match (&wire.match_attribute, &wire.distinct_attribute) {
        (None, None) => reading.miss(),
        (Some(_), Some(_)) => {
            let message = "cannot be combined with matchAttribute; use two constraints";
            return Err(Fault::new("distinctAttribute", message));
        }
        _ => {}
    }
    Ok(DeviceConstraint {
        requests: texts(wire.requests),
        match_attribute: wire.match_attribute.map(owned),
        distinct_attribute: wire.distinct_attribute.map(owned),
    })
}

fn consumer(wire: raw::Consumer<'_>, reading: &Reading<'_>) -> ConsumerReference {
    ConsumerReference {
        api_group: text(wire.api_group),
        resource: text(reading.should(wire.resource)),
        name: text(reading.should(wire.name)),
        uid: text(reading.should(wire.uid)),
    }
}

fn allocation(wire: raw::Allocation<'_>, reading: &Reading<'_>) -> Result<AllocationResult, Fault> {
    let devices = wire.devices.unwrap_or_default();
    Ok(AllocationResult {
        results: each(
            devices.results.unwrap_or_default(),
            "devices.results",
            |wire| result(wire, reading),
        )?,
        config: each(
            devices.config.unwrap_or_default(),
            "devices.config",
            |wire| allocated_config(wire, reading),
        )?,
        node_selector: wire
            .node_selector
            .map(|nodes| node_selector(nodes, reading)),
        controller: text(wire.controller.filter(|_| classic(reading))),
    })
}

fn result(wire: raw::AllocatedDevice<'_>, reading: &Reading<'_>) -> Result<DeviceResult, Fault> {
    refuse(
        wire.share_id,
        "shareID",
        "shared devices",
        CONSUMABLE_CAPACITY,
    )?;
    refuse(
        wire.consumed_capacity,
        "consumedCapacity",
        "shared devices",
        CONSUMABLE_CAPACITY,
    )?;
    let conditions = "DRADeviceBindingConditions";
    refuse(
        wire.binding_conditions,
        "bindingConditions",
        "binding conditions",
        conditions,
    )?;
    refuse(
        wire.binding_failure_conditions,
        "bindingFailureConditions",
        "binding conditions",
        conditions,
    )?;
    let groups = "DRADeviceCompatibilityGroups";
    refuse(
        wire.compatibility_groups,
        "compatibilityGroups",
        "compatibility groups",
        groups,
    )?;
    Ok(DeviceResult {
        request: text(reading.should(wire.request)),
        driver: shared(reading.should(wire.driver)),
        pool: shared(reading.should(wire.pool)),
        device: shared(reading.should(wire.device)),
        admin_access: wire.admin_access.unwrap_or_default(),
        tolerations: Vec::new(),
    })
}

fn allocated_config(
    mut wire: raw::Config<'_>,
    reading: &Reading<'_>,
) -> Result<AllocationConfiguration, Fault> {
    let source = reading.should(wire.source.take());
    let source = match source.as_ref().map(Str::as_str) {
        Some("FromClass") => ConfigSource::Class,
        Some("FromClaim") => ConfigSource::Claim,
        other => {
            let message = format!(
                "expected \"FromClass\" or \"FromClaim\", found {:?}",
                other.unwrap_or_default()
            );
            return Err(Fault::new("source", message));
        }
    };
    Ok(AllocationConfiguration {
        source,
        config: config(wire, reading)?,
    })
}
