//! Recorded answers of the three hint functions.

use dractl::object::{Kind, Object, ObjectRef};
use dractl::plugin::{Action, Hint, ObjectEvent, Plugin, SharedServices};
use serde_json::{Value, json};

use super::double::{Double, shared, typed};
use super::plugin::{API_VERSION, component, config, list, text};
use super::{Outcome, both};
use crate::native::Native;

/// Runs one case with both implementations.
pub fn run(_file: &str, _number: usize, case: &Value) -> Outcome {
    let gates = json!({"DRAControlPlaneController": true, "SchedulerQueueingHints": true});
    let config = config(Some(case.get("features").unwrap_or(&gates)));
    both(
        run_case(&component(&config), case),
        run_case(&Native::new(&config), case),
    )
}

fn run_case(plugin: &dyn Plugin, case: &Value) -> Result<(), String> {
    let mut double = Double::default();
    for claim in list(case, "claimsInCacheAfterEvent") {
        double.load(API_VERSION, "ResourceClaim", claim);
    }
    let kind = text(case, "event");
    let (old, new) = (
        object(kind, case.get("oldObj")),
        object(kind, case.get("newObj")),
    );
    let action = match (&old, &new) {
        (None, _) => Action::Add,
        (Some(_), Some(_)) => Action::Update,
        (Some(_), None) => Action::Delete,
    };
    let event = ObjectEvent {
        kind: Kind::of(API_VERSION, kind),
        action,
        old,
        new,
    };
    let pod = typed("v1", "Pod", &case["pod"]);
    let services: SharedServices = shared(double);
    let answers = plugin
        .scheduling(services)
        .and_then(|mut instance| instance.hints(&event, &[pod]))
        .map_err(|error| error.to_string())?;
    let expected = match case.get("error").and_then(Value::as_str) {
        Some(error) => Err(error.to_owned()),
        None => Ok(text(case, "hint")),
    };
    let [answer] = answers.as_slice() else {
        return Err(format!("{answers:?} for one pod"));
    };
    let answer = answer.clone().map(|hint| match hint {
        Hint::Skip => "QueueSkip",
        Hint::Queue => "Queue",
    });
    match answer == expected {
        true => Ok(()),
        false => Err(format!("{answer:?}, not {expected:?}")),
    }
}

/// An object of the event; the wrapper of a missed deletion is taken off as the host does. Anything else, such as a string,
/// is handed on as it is.
fn object(kind: &str, value: Option<&Value>) -> Option<Object> {
    let value = value.filter(|value| !value.is_null())?;
    let value = value.get("deletedFinalStateUnknown").unwrap_or(value);
    if value.is_object() {
        return Some(typed(API_VERSION, kind, value));
    }
    let id = ObjectRef {
        kind: Kind::of(API_VERSION, kind),
        namespace: "".into(),
        name: "".into(),
        uid: "".into(),
    };
    Some(Object::unchecked(id, String::new(), value.clone()))
}
