//! Recorded calls of the plugin, step by step: through the component and through the plugin linked natively, both behind
//! the host's plugin trait, with the double of the recordings as services.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use dractl::object::Kind;
use dractl::plugin::{BUILT_IN, Component, Limits, Plugin, Settings, Slot, Status};
use serde_json::{Value, json};

use super::compare::{same_created_object, same_object, same_step, same_text};
use super::double::{Double, Key, Stale, typed};
use super::driver::Driver;
use super::{Outcome, both};
use crate::fixture::RUNTIME;
use crate::native::Native;

/// The version of the API that the recordings use.
pub const API_VERSION: &str = "resource.k8s.io/v1alpha3";

/// Runs one case with both implementations.
pub fn run(_file: &str, _number: usize, case: &Value) -> Outcome {
    let config = config(case.get("features"));
    both(
        run_case(&component(&config), case),
        run_case(&Native::new(&config), case),
    )
}

/// Profile 1.31 with the case's gates.
pub fn config(features: Option<&Value>) -> String {
    let features = features.cloned().unwrap_or_else(|| json!({}));
    super::with_caches(&json!({"profile": "1.31", "features": features})).to_string()
}

/// The built-in component with a configuration, loaded once.
pub fn component(config: &str) -> Component {
    static LOADED: LazyLock<Mutex<BTreeMap<String, Component>>> = LazyLock::new(Mutex::default);
    let mut loaded = LOADED.lock().unwrap_or_else(|broken| broken.into_inner());
    loaded
        .entry(config.to_owned())
        .or_insert_with(|| {
            let settings = Settings {
                config: config.as_bytes().to_vec(),
                limits: Limits::default(),
                ..Settings::default()
            };
            RUNTIME
                .load(BUILT_IN, "built-in", &settings)
                .unwrap_or_else(|error| panic!("{error}"))
        })
        .clone()
}

/// The recorded answer, or another one that was observed, has to come out; where PostFilter chooses among claims, for one of
/// its choices.
fn run_case(plugin: &dyn Plugin, case: &Value) -> Result<(), String> {
    let chooses = list(case, "steps")
        .iter()
        .any(|step| text(step, "step") == "postfilter" && !list(step, "apiCalls").is_empty());
    let dice = if chooses { 0..4 } else { 0..1 };
    let first = run_once(plugin, case, 0);
    if first.is_ok() {
        return first;
    }
    let others = list(case, "alsoObserved").iter().map(|other| {
        let mut case = case.clone();
        if let (Some(case), Some(other)) = (case.as_object_mut(), other.as_object()) {
            case.extend(other.clone());
        }
        case
    });
    let mut cases = std::iter::once(case.clone()).chain(others);
    match cases.any(|case| dice.clone().any(|die| run_once(plugin, &case, die).is_ok())) {
        true => Ok(()),
        false => first,
    }
}

fn run_once(plugin: &dyn Plugin, case: &Value, die: u64) -> Result<(), String> {
    let mut run = Run::new(plugin, case)?;
    run.driver.double().dice = [die; 4].into();
    for (number, step) in list(case, "steps").iter().enumerate() {
        let name = text(step, "step");
        run.step(step)
            .map_err(|why| format!("step {number} {name} {}: {why}", text(step, "node")))?;
    }
    run.driver.end_cycle()
}

struct Run<'a> {
    driver: Driver<'a>,
    /// By slot.
    nodes: Vec<String>,
    /// What the recorded server stores.
    recorded: BTreeMap<Key, Value>,
    /// Claims as loaded, by uid.
    loaded: BTreeMap<String, Value>,
}

impl<'a> Run<'a> {
    fn new(plugin: &'a dyn Plugin, case: &Value) -> Result<Self, String> {
        let mut double = Double::default();
        if text(case, "staleUpdateAnswer").contains("Conflict") {
            double.stale = Stale::Conflict;
        }
        for node in list(case, "nodes") {
            double.load("v1", "Node", node);
        }
        for class in list(case, "deviceClasses") {
            double.load(API_VERSION, "DeviceClass", class);
        }
        for slice in list(case, "resourceSlices") {
            double.load(API_VERSION, "ResourceSlice", slice);
        }
        let (mut recorded, mut loaded) = (BTreeMap::new(), BTreeMap::new());
        for stored in list(case, "objects") {
            double.load(API_VERSION, text(stored, "kind"), &stored["object"]);
            recorded.insert(key(stored), stored["object"].clone());
            loaded.insert(uid(&stored["object"]), stored["object"].clone());
        }
        let pod = typed("v1", "Pod", &case["pod"]);
        for claim in list(case, "inFlightBefore") {
            let claim = claim.get("object").unwrap_or(claim);
            loaded.entry(uid(claim)).or_insert_with(|| claim.clone());
            // In the recorded map nobody owns an entry: whoever asks may take it out.
            double.load_in_flight(&pod.id().uid, claim);
        }
        let driver = Driver::new(plugin, double, pod).map_err(|error| error.to_string())?;
        Ok(Self {
            driver,
            nodes: list(case, "nodes").iter().map(name).collect(),
            recorded,
            loaded,
        })
    }

    fn step(&mut self, step: &Value) -> Result<(), String> {
        for change in list(step, "apiServerChangesBefore") {
            self.interfere(change);
        }
        let before = {
            let mut double = self.driver.double();
            double.calls.clear();
            double.server.clone()
        };
        let status = self.perform(step)?;
        compare_status(step.get("status"), status.as_ref())?;
        let (calls, after, assumed, in_flight) = {
            let double = self.driver.double();
            (
                double.calls.clone(),
                double.server.clone(),
                double.assumed(),
                double.in_flight_claims(),
            )
        };
        compare_calls(list(step, "apiCalls"), &calls)?;
        self.compare_changes(list(step, "changes"), &before, &after)?;
        self.compare_claims("assumed", list(step, "assumedClaims"), &assumed)?;
        self.compare_claims("in flight", list(step, "inFlightClaims"), &in_flight)
    }

    fn interfere(&mut self, change: &Value) {
        let key = key(change);
        if text(change, "op") == "delete" {
            self.recorded.remove(&key);
            self.driver.double().interfere(key, None, false);
            return;
        }
        let object = &change["object"];
        let keep_version = self
            .recorded
            .get(&key)
            .is_some_and(|old| same_step((old, object), (old, old)));
        self.recorded.insert(key.clone(), object.clone());
        let object = typed(API_VERSION, text(change, "kind"), object);
        self.driver
            .double()
            .interfere(key, Some(object.into_value()), keep_version);
    }

    fn perform(&mut self, step: &Value) -> Result<Option<Status>, String> {
        for result in ["preFilterResult", "postFilterResult"] {
            // The driver takes anything but none for a failure.
            if step.get(result).is_some_and(|result| !result.is_null()) {
                return Err(format!("a recorded {result} is not understood"));
            }
        }
        let node = text(step, "node");
        match text(step, "step") {
            "preenqueue" => self.driver.pre_enqueue().map(Some),
            "prefilter" => self.driver.pre_filter().map(Some),
            "filter" => self.driver.filter(self.slot(node)?).map(Some),
            "postfilter" => self.driver.post_filter().map(Some),
            "prescore" => {
                let nodes = list(step, "nodes").iter().filter_map(Value::as_str);
                let slots: Result<Vec<Slot>, _> = nodes.map(|node| self.slot(node)).collect();
                self.driver.pre_score(&slots?).map(Some)
            }
            "reserve" => self.driver.reserve(self.slot(node)?).map(Some),
            "prebind" => self.driver.pre_bind(node).map(Some),
            "unreserve" => self.driver.unreserve(node).map(|()| None),
            "postbind" => self.driver.post_bind(node).map(|()| None),
            other => Err(format!("there is no step {other:?}")),
        }
    }

    fn slot(&self, node: &str) -> Result<Slot, String> {
        let slot = self.nodes.iter().position(|name| name == node);
        slot.map(|slot| slot as Slot)
            .ok_or_else(|| format!("there is no node {node:?}"))
    }

    fn compare_changes(
        &mut self,
        expected: &[Value],
        before: &BTreeMap<Key, Value>,
        after: &BTreeMap<Key, Value>,
    ) -> Result<(), String> {
        let keys = before.keys().chain(after.keys());
        let mut changed: BTreeMap<_, _> = keys
            .filter(|key| before.get(key) != after.get(key))
            .map(|key| (key.clone(), (before.get(key), after.get(key))))
            .collect();
        for change in expected {
            let key = key(change);
            let object = &change["object"];
            let actual = changed.remove(&key);
            let old = self.recorded.remove(&key);
            let same = match (text(change, "op"), &actual) {
                ("create", Some((None, Some(new)))) => same_created_object(object, new),
                ("update", Some((Some(before), Some(after)))) => {
                    let old = old.as_ref().unwrap_or(&Value::Null);
                    same_object(object, after) && same_step((old, object), (before, after))
                }
                ("delete", Some((Some(_), None))) => true,
                _ => false,
            };
            if !same {
                return Err(format!("change is {}, not {change}", show(actual)));
            }
            if text(change, "op") != "delete" {
                self.recorded.insert(key, object.clone());
            }
        }
        match changed.into_iter().next() {
            Some((key, change)) => Err(format!(
                "unexpected change of {key:?}: {}",
                show(Some(change))
            )),
            None => Ok(()),
        }
    }

    fn compare_claims(
        &self,
        what: &str,
        expected: &[Value],
        actual: &[Value],
    ) -> Result<(), String> {
        let by_uid = |claims: &[Value]| -> BTreeMap<String, Value> {
            claims
                .iter()
                .map(|claim| (uid(claim), claim.clone()))
                .collect()
        };
        let (expected, mut actual) = (by_uid(expected), by_uid(actual));
        for (uid, claim) in expected {
            let Some(found) = actual.remove(&uid) else {
                return Err(format!("{what}: missing {claim}"));
            };
            let loaded = self.loaded.get(&uid).unwrap_or(&Value::Null);
            if !same_object(&claim, &found) || !same_step((loaded, &claim), (loaded, &found)) {
                return Err(format!("{what}: {found}, not {claim}"));
            }
        }
        match actual.into_values().next() {
            Some(claim) => Err(format!("{what}: unexpected {claim}")),
            None => Ok(()),
        }
    }
}

fn compare_status(expected: Option<&Value>, actual: Option<&Status>) -> Result<(), String> {
    let (Some(expected), Some(actual)) = (expected, actual) else {
        return match (expected, actual) {
            (None, None) => Ok(()),
            _ => Err(format!("status {actual:?}, not {expected:?}")),
        };
    };
    let code = text(expected, "code");
    let reasons: Vec<_> = list(expected, "reasons")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let same_reasons = reasons.len() == actual.reasons.len()
        && reasons
            .iter()
            .zip(&actual.reasons)
            .all(|(expected, actual)| same_text(expected, actual));
    let error = expected.get("error").and_then(Value::as_str);
    let same_error = error.is_none_or(|error| same_text(error, &actual.message()));
    match format!("{:?}", actual.code) == code && same_reasons && same_error {
        true => Ok(()),
        false => Err(format!("status {actual:?}, not {expected}")),
    }
}

fn compare_calls(expected: &[Value], actual: &[Value]) -> Result<(), String> {
    match expected == actual {
        true => Ok(()),
        false => Err(format!(
            "API calls {}, not {}",
            Value::from(actual),
            Value::from(expected)
        )),
    }
}

fn show(change: Option<(Option<&Value>, Option<&Value>)>) -> String {
    let object = |object: Option<&Value>| object.map_or("nothing".to_owned(), Value::to_string);
    match change {
        Some((before, after)) => format!("{} -> {}", object(before), object(after)),
        None => "none".into(),
    }
}

/// Kind, namespace and name of `{"kind": ..., "object": ...}`.
fn key(stored: &Value) -> Key {
    let metadata = &stored["object"]["metadata"];
    (
        Kind::of(API_VERSION, text(stored, "kind")),
        text(metadata, "namespace").to_owned(),
        text(metadata, "name").to_owned(),
    )
}

fn name(object: &Value) -> String {
    text(&object["metadata"], "name").to_owned()
}

fn uid(object: &Value) -> String {
    text(&object["metadata"], "uid").to_owned()
}

/// A string; absent is empty.
pub fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A list; absent and null are empty.
pub fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value
        .get(field)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
