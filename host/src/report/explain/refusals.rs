//! Why each device of a node was refused, for a picture of it.

use serde::Serialize;

use crate::explain::Answer;

use super::document::{Document, Reason};
use super::phrase::Phrase;
use super::reasons;
use super::views_of;

/// A node that cannot take a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// The pod as `namespace/name`.
    pub pod: String,
    /// The node.
    pub node: String,
    /// Devices that the plugin names, each with its reason: at most 8 per reason.
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
pub fn refusals(answer: &Answer) -> Vec<Refusal> {
    let id = answer.pod.id();
    let refused = views_of(answer, None).filter(|view| !view.found.is_empty());
    let refusals = refused.map(|view| {
        let phrases = view.found.iter().map(|found| found.phrase.clone());
        Refusal {
            pod: format!("{}/{}", id.namespace, id.name),
            text: Phrase::joined(phrases, "; ").to_string(),
            devices: view.document.as_ref().map(devices).unwrap_or_default(),
            node: view.name,
        }
    });
    refusals.collect()
}

fn devices(document: &Document) -> Vec<DeviceRefusal> {
    let requests = document.claims.iter().flat_map(|claim| &claim.requests);
    let mut refused: Vec<DeviceRefusal> = Vec::new();
    for reason in requests.flat_map(|request| &request.reasons) {
        // Devices of another class were never meant.
        let of_class = reason.count > 0 && reason.kind != "class-selector";
        for name in reason.devices.iter().filter(|_| of_class) {
            add(name, reason, &mut refused);
        }
    }
    refused
}

fn add(name: &str, reason: &Reason, refused: &mut Vec<DeviceRefusal>) {
    // The name of a pool may have slashes itself.
    let split = name.split_once('/');
    let Some((driver, (pool, device))) =
        split.and_then(|(driver, rest)| Some((driver, rest.rsplit_once('/')?)))
    else {
        return;
    };
    let held = match reason.holders.is_empty() {
        true => String::new(),
        false => format!(" by {}", reasons::holders(reason)),
    };
    let text = format!("{}{held}", reasons::of_devices(reason));
    let known =
        |one: &&mut DeviceRefusal| one.driver == driver && one.pool == pool && one.device == device;
    match refused.iter_mut().find(known) {
        Some(one) if !one.reason.contains(&text) => one.reason = format!("{}; {text}", one.reason),
        Some(_) => {}
        None => refused.push(DeviceRefusal {
            driver: driver.to_owned(),
            pool: pool.to_owned(),
            device: device.to_owned(),
            reason: text,
        }),
    }
}
