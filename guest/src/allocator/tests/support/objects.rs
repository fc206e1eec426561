//! Devices, slices, classes and claims, written shortly.

use std::sync::Arc;

use crate::api::{
    AllocationResult, ApiVersion, Attribute, CounterSet, Device, DeviceClass, DeviceConfiguration,
    DeviceConstraint, DeviceExtra, DeviceRequest, DeviceResult, DeviceSelector, DeviceTaint,
    DeviceToleration, ExactRequest, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
    ObjectMeta, Reach, RequestBody, ResourceClaim, ResourceSlice, TaintEffect,
};

/// Devices `d0`, `d1` and so on without content.
pub fn devices(count: usize) -> Vec<Device> {
    (0..count).map(|i| device(&format!("d{i}"), &[])).collect()
}

pub fn device(name: &str, attributes: &[(&str, Attribute)]) -> Device {
    let attributes = attributes
        .iter()
        .map(|(name, value)| (Arc::from(*name), value.clone()))
        .collect();
    Device {
        name: name.into(),
        usable: true,
        attributes,
        capacity: Arc::default(),
        extra: None,
    }
}

pub fn extra(device: &mut Device) -> &mut DeviceExtra {
    device.extra.get_or_insert_default()
}

pub fn taint(key: &str, effect: TaintEffect) -> DeviceTaint {
    DeviceTaint {
        key: key.into(),
        value: "v".into(),
        effect,
    }
}

pub fn tainted(mut device: Device, key: &str, effect: TaintEffect) -> Device {
    extra(&mut device).taints.push(taint(key, effect));
    device
}

/// Tolerates a key with any value and effect.
pub fn tolerating(mut request: DeviceRequest, key: &str) -> DeviceRequest {
    exact(&mut request).tolerations.push(toleration(key));
    request
}

pub fn toleration(key: &str) -> DeviceToleration {
    DeviceToleration {
        key: key.into(),
        operator: "Exists".into(),
        ..DeviceToleration::default()
    }
}

/// Counters in whole units.
pub fn counter_set(name: &str, counters: &[(&str, i64)]) -> CounterSet {
    let counters = counters
        .iter()
        .map(|(name, amount)| (Arc::from(*name), i128::from(*amount) * 1_000_000_000));
    CounterSet {
        name: name.into(),
        counters: counters.collect(),
    }
}

pub fn consuming(mut device: Device, set: &str, counters: &[(&str, i64)]) -> Device {
    extra(&mut device).consumes.push(counter_set(set, counters));
    device
}

/// A request for the first of these that can be had; each is given by its own name.
pub fn first_of(name: &str, alternatives: Vec<DeviceRequest>) -> DeviceRequest {
    let alternative = |request: DeviceRequest| match request.body {
        RequestBody::Exactly(exact) => (request.name, exact),
        RequestBody::FirstAvailable(_) => panic!("alternatives have none"),
    };
    DeviceRequest {
        name: name.into(),
        body: RequestBody::FirstAvailable(alternatives.into_iter().map(alternative).collect()),
    }
}

pub fn list(values: &[Attribute]) -> Attribute {
    Attribute::List(values.into())
}

pub fn text(value: &str) -> Attribute {
    Attribute::String(value.into())
}

/// A slice of driver `drv` for node `n1`: generation 1, the only one of its pool.
pub fn slice(name: &str, pool: &str, devices: Vec<Device>) -> ResourceSlice {
    ResourceSlice {
        name: name.into(),
        driver: "drv".into(),
        pool: pool.into(),
        generation: 1,
        resource_slice_count: 1,
        reach: Reach::NodeName("n1".into()),
        devices,
        counters: Vec::new(),
    }
}

/// Each slice says how many its pool has of its generation.
pub fn complete(slices: &mut [ResourceSlice]) {
    let pool = |slice: &ResourceSlice| (slice.driver.clone(), slice.pool.clone(), slice.generation);
    let pools: Vec<_> = slices.iter().map(pool).collect();
    for slice in slices {
        let pool = pool(slice);
        slice.resource_slice_count = pools.iter().filter(|other| **other == pool).count() as i64;
    }
}

/// Selects nodes with `label In [values]` for each pair.
pub fn selector(labels: &[(&str, &[&str])]) -> NodeSelector {
    let requirement = |(key, values): &(&str, &[&str])| NodeSelectorRequirement {
        key: key.to_string(),
        operator: "In".into(),
        values: values.iter().map(|value| value.to_string()).collect(),
    };
    let match_expressions = labels.iter().map(requirement).collect();
    NodeSelector {
        terms: vec![NodeSelectorTerm {
            match_expressions,
            match_fields: Vec::new(),
        }],
    }
}

pub fn class(name: &str, selectors: &[&str]) -> DeviceClass {
    DeviceClass {
        name: name.into(),
        selectors: cel(selectors),
        ..DeviceClass::default()
    }
}

fn cel(selectors: &[&str]) -> Vec<DeviceSelector> {
    selectors
        .iter()
        .map(|text| DeviceSelector {
            cel: Some((*text).into()),
        })
        .collect()
}

pub fn claim(name: &str, requests: Vec<DeviceRequest>) -> ResourceClaim {
    let meta = ObjectMeta {
        name: name.into(),
        namespace: "ns".into(),
        uid: name.into(),
        ..ObjectMeta::default()
    };
    ResourceClaim {
        meta,
        version: ApiVersion::V1Alpha3,
        requests,
        constraints: Vec::new(),
        config: Vec::new(),
        controller: String::new(),
        allocation: None,
        reserved_for: Vec::new(),
        deallocation_requested: false,
    }
}

/// An ExactCount request for class `any`.
pub fn count(name: &str, count: i64) -> DeviceRequest {
    request(
        name,
        ExactRequest {
            allocation_mode: "ExactCount".into(),
            count,
            ..any()
        },
    )
}

/// An All request for class `any`.
pub fn all(name: &str) -> DeviceRequest {
    request(
        name,
        ExactRequest {
            allocation_mode: "All".into(),
            ..any()
        },
    )
}

fn any() -> ExactRequest {
    ExactRequest {
        device_class_name: "any".into(),
        ..ExactRequest::default()
    }
}

fn request(name: &str, exact: ExactRequest) -> DeviceRequest {
    DeviceRequest {
        name: name.into(),
        body: RequestBody::Exactly(exact),
    }
}

pub fn exact(request: &mut DeviceRequest) -> &mut ExactRequest {
    match &mut request.body {
        RequestBody::Exactly(exact) => exact,
        RequestBody::FirstAvailable(_) => panic!("not an exact request"),
    }
}

pub fn admin(mut request: DeviceRequest) -> DeviceRequest {
    exact(&mut request).admin_access = true;
    request
}

pub fn of_class(mut request: DeviceRequest, class: &str) -> DeviceRequest {
    exact(&mut request).device_class_name = class.into();
    request
}

pub fn select(mut request: DeviceRequest, selectors: &[&str]) -> DeviceRequest {
    exact(&mut request).selectors = cel(selectors);
    request
}

pub fn matching(mut claim: ResourceClaim, attribute: &str, requests: &[&str]) -> ResourceClaim {
    let requests = requests.iter().map(|name| name.to_string()).collect();
    claim.constraints.push(DeviceConstraint {
        requests,
        match_attribute: Some(attribute.into()),
        distinct_attribute: None,
    });
    claim
}

pub fn distinct(mut claim: ResourceClaim, attribute: &str, requests: &[&str]) -> ResourceClaim {
    claim = matching(claim, attribute, requests);
    if let Some(constraint) = claim.constraints.last_mut() {
        constraint.distinct_attribute = constraint.match_attribute.take();
    }
    claim
}

pub fn config(parameters: &str, requests: &[&str]) -> DeviceConfiguration {
    DeviceConfiguration {
        requests: requests.iter().map(|name| name.to_string()).collect(),
        opaque: Some(serde_json::json!({ "driver": "drv", "parameters": parameters })),
    }
}

/// Devices as `driver/pool/device`.
pub fn allocation(devices: &[&str], admin_access: bool) -> AllocationResult {
    let result = |name: &&str| {
        let mut parts = name.split('/').map(Arc::<str>::from);
        let mut next = || parts.next().expect("driver/pool/device");
        DeviceResult {
            request: "r".into(),
            driver: next(),
            pool: next(),
            device: next(),
            admin_access,
            tolerations: Vec::new(),
        }
    };
    AllocationResult {
        results: devices.iter().map(result).collect(),
        ..AllocationResult::default()
    }
}
