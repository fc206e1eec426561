//! Why each device of a node was refused, for a picture of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::object::Object;

use super::node::View;
use super::phrase::Phrase;
use super::reasons;
use crate::explain::document::Document;

/// A node that cannot take a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The pod as `namespace/name`.
    pub pod: String,
    /// The node.
    pub node: String,
    /// Devices that the plugin names, each with its reason: at most 128 per reason.
    pub devices: Vec<DeviceRefusal>,
    /// All reasons in one sentence.
    pub text: String,
}

/// A device that cannot serve a request of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the API's names")]
pub struct DeviceRefusal {
    pub driver: String,
    pub pool: String,
    pub device: String,
    pub reason: String,
}

/// One for each node that does not fit, by name.
pub fn of(pod: &Object, views: &[View]) -> Vec<Refusal> {
    let id = pod.id();
    let refused = views.iter().filter(|view| !view.found.is_empty());
    let refusals = refused.map(|view| {
        let phrases = view.found.iter().map(|found| found.phrase.clone());
        Refusal {
            pod: format!("{}/{}", id.namespace, id.name),
            text: Phrase::joined(phrases, "; ").to_string(),
            devices: view.document.as_ref().map(devices).unwrap_or_default(),
            node: view.name.clone(),
        }
    });
    refusals.collect()
}

fn devices(document: &Document) -> Vec<DeviceRefusal> {
    let requests = document.claims.iter().flat_map(|claim| &claim.requests);
    let mut refused = Refused::default();
    for reason in requests.flat_map(|request| &request.reasons) {
        // Devices of another class were never meant.
        if reason.count > 0 && reason.kind != "class-selector" {
            let held = match reason.holders.is_empty() {
                true => String::new(),
                false => format!(" by {}", reasons::holders(reason)),
            };
            let text = format!("{}{held}", reasons::of_devices(reason));
            let names = reason.devices.iter();
            names.for_each(|name| refused.add(name, &text));
        }
    }
    refused.devices
}

/// Devices, each once.
#[derive(Default)]
struct Refused<'d> {
    devices: Vec<DeviceRefusal>,
    positions: BTreeMap<&'d str, usize>,
}

impl<'d> Refused<'d> {
    fn add(&mut self, name: &'d str, text: &str) {
        if let Some(&position) = self.positions.get(name) {
            if let Some(one) = self.devices.get_mut(position)
                && !one.reason.contains(text)
            {
                one.reason = format!("{}; {text}", one.reason);
            }
            return;
        }
        // The name of a pool may have slashes itself.
        let split = name.split_once('/');
        let split = split.and_then(|(driver, rest)| Some((driver, rest.rsplit_once('/')?)));
        if let Some((driver, (pool, device))) = split {
            self.positions.insert(name, self.devices.len());
            self.devices.push(DeviceRefusal {
                driver: driver.to_owned(),
                pool: pool.to_owned(),
                device: device.to_owned(),
                reason: text.to_owned(),
            });
        }
    }
}
