//! What can be told of an object that could not be read, so that the refusal stays as narrow as is safe.

use std::cell::Cell;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::Reading;
use super::common::node_selector;
use super::raw;
use crate::api::{ApiVersion, DeviceResult, Reach};
use crate::profile::Profile;

pub(super) fn reach(json: &[u8]) -> Reach {
    let value = serde_json::from_slice::<Value>(json).unwrap_or_default();
    let spec = |key: &str| value.pointer(&format!("/spec/{key}"));
    if let Some(name) = spec("nodeName")
        .and_then(Value::as_str)
        .filter(|name| !name.is_empty())
    {
        return Reach::NodeName(name.to_owned());
    }
    if spec("allNodes") == Some(&Value::Bool(true)) {
        return Reach::AllNodes;
    }
    let selector = spec("nodeSelector").filter(|selector| !selector.is_null());
    let selector = selector.and_then(|selector| raw::NodeSelector::deserialize(selector).ok());
    match selector {
        Some(selector) => {
            let profile = Profile::current();
            let reading = Reading {
                version: ApiVersion::V1,
                profile: &profile,
                missed: Cell::new(false),
            };
            let selector = node_selector(selector, &reading);
            // A key that is missing or in another case would make the selector match less than was meant.
            if reading.missed.get() {
                Reach::AllNodes
            } else {
                Reach::NodeSelector(selector)
            }
        }
        None => Reach::AllNodes,
    }
}

pub(super) fn devices(json: &[u8]) -> Option<Vec<DeviceResult>> {
    let value = serde_json::from_slice::<Value>(json).unwrap_or_default();
    let allocation = value
        .pointer("/status/allocation")
        .filter(|allocation| !allocation.is_null())?;
    let results = allocation
        .pointer("/devices/results")
        .and_then(Value::as_array);
    Some(results.into_iter().flatten().filter_map(device).collect())
}

fn device(result: &Value) -> Option<DeviceResult> {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    Some(DeviceResult {
        request: text("request").unwrap_or_default().to_owned(),
        driver: Arc::from(text("driver")?),
        pool: Arc::from(text("pool")?),
        device: Arc::from(text("device")?),
        admin_access: result.get("adminAccess") == Some(&Value::Bool(true)),
        tolerations: Vec::new(),
    })
}
