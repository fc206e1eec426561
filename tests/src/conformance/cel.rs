//! `cel-compile-*`: expressions compiled and matched against a device. Natively, and as a selector through the component
//! where the API has such a device.

use dynamic_resources::cel::Environment;
use dynamic_resources::profile::Profile;
use serde_json::{Value, json};

use super::allocator::case::{Answer, Case};
use super::allocator::component::Scene;
use super::compare::same_text;
use super::{Outcome, Verdict};
use crate::cel_cases::{device_input, flag, text};

/// Runs one line.
pub fn run(file: &str, _number: usize, json: &Value) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Passed,
        component: false,
        native: false,
    };
    outcome.verdict = match run_both(file, json, &mut outcome) {
        Ok(verdict) => verdict,
        Err(why) => Verdict::Failed(format!("{why}: {}", json["expression"])),
    };
    outcome
}

const ADMISSION: &str =
    "not part of the plugin: expressions that are new refuse what belongs to a gate that is off";

/// Whether the API server would refuse to store an expression that the plugin, which reads stored ones, takes.
fn is_only_for_admission(json: &Value, ours: &Match, recorded: &Match) -> bool {
    let gates = ["enableConsumableCapacity", "enableListTypeAttributes"];
    text(json, "envType") == "NewExpressions"
        && matches!(recorded, Match::CompileError(_))
        && !matches!(ours, Match::CompileError(_))
        && gates.iter().any(|gate| !flag(json, gate))
}

/// What came of an expression and a device.
#[derive(Clone, Debug, PartialEq)]
enum Match {
    Verdict(bool),
    CompileError(String),
    RuntimeError(String),
}

fn run_both(file: &str, json: &Value, outcome: &mut Outcome) -> Result<Verdict, String> {
    // The same objects as in the allocator's tables; a line here has none of them.
    let with_lists =
        json!({"tag": json["tag"], "classes": [], "slices": [], "claimsToAllocate": []});
    let case = Case::new(file, &with_lists)?;
    let recorded = recorded(json)?;
    let native = native(&case, json)?;
    outcome.native = true;
    if is_only_for_admission(json, &native, &recorded.answer) {
        return Ok(Verdict::Differs(ADMISSION));
    }
    check("native", &native, &recorded)?;
    if let Some(mut scene) = scene(&case, json)? {
        outcome.component = true;
        let component = of_answer(scene.answer("node")?)?;
        check("component", &component, &recorded)?;
    }
    Ok(Verdict::Passed)
}

/// What was recorded.
struct Recorded {
    answer: Match,
    /// The text is a part of the error's.
    partly: bool,
}

/// The recorded answer, which has to be what upstream's table expects.
fn recorded(json: &Value) -> Result<Recorded, String> {
    if !json["expression"].is_string() {
        return Err("expression is missing".to_owned());
    }
    for kind in ["Compile", "Match"] {
        let whole = text(json, &format!("actual{kind}Error"));
        let part = text(json, &format!("expect{kind}ErrorContains"));
        if !whole.is_empty() && !whole.contains(part) {
            return Err(format!("recorded {whole:?} does not contain {part:?}"));
        }
        let partly = whole.is_empty();
        let text = if partly { part } else { whole }.to_owned();
        let answer = match kind {
            _ if text.is_empty() => continue,
            "Compile" => Match::CompileError(text),
            _ => Match::RuntimeError(text),
        };
        return Ok(Recorded { answer, partly });
    }
    match json.get("actualMatch").or_else(|| json.get("expectMatch")) {
        Some(Value::Bool(matches)) => Ok(Recorded {
            answer: Match::Verdict(*matches),
            partly: false,
        }),
        other => Err(format!("actualMatch is {other:?}")),
    }
}

fn check(implementation: &str, ours: &Match, recorded: &Recorded) -> Result<(), String> {
    let answer = &recorded.answer;
    let same = match (ours, answer) {
        (Match::CompileError(ours), Match::CompileError(text))
        | (Match::RuntimeError(ours), Match::RuntimeError(text)) => {
            same_text(text, ours) || (recorded.partly && ours.contains(text))
        }
        _ => ours == answer,
    };
    match same {
        true => Ok(()),
        false => Err(format!("{implementation}: {ours:?}, recorded {answer:?}")),
    }
}

fn native(case: &Case<'_>, json: &Value) -> Result<Match, String> {
    let profile = match case.minor {
        31 => Profile::v1_31(),
        _ => Profile::current(),
    };
    let environment = match flag(json, "enableListTypeAttributes") {
        true => Environment::with_list_type_attributes(&profile),
        false => Environment::new(&profile),
    };
    let program = match environment.compile(text(json, "expression")) {
        Ok(program) => program,
        Err(error) => return Ok(Match::CompileError(error.to_string())),
    };
    let device = environment.device_from(&device_input(json)?);
    Ok(match program.matches(&device) {
        Ok(matches) => Match::Verdict(matches),
        Err(error) => Match::RuntimeError(error.to_string()),
    })
}

/// One node, one slice with the device, and a claim that selects it; `None` where that needs a feature which the component
/// does not have.
fn scene(case: &Case<'_>, json: &Value) -> Result<Option<Scene>, String> {
    let gated = [
        "enableListTypeAttributes",
        "enableConsumableCapacity",
        "allowMultipleAllocations",
    ];
    if gated.iter().any(|field| flag(json, field)) {
        return Ok(None);
    }
    let Some(driver) = driver(json) else {
        return Ok(None);
    };
    let mut device = json!({});
    for field in ["attributes", "capacity"] {
        if json[field].is_object() {
            device[field] = json[field].clone();
        }
    }
    let selectors = json!([{"cel": {"expression": text(json, "expression")}}]);
    let exactly = json!({"deviceClassName": "any", "selectors": selectors, "allocationMode": "ExactCount", "count": 1});
    let (device, request) = match case.minor {
        31 => {
            let mut request = exactly;
            request["name"] = "r".into();
            (json!({"name": "d", "basic": device}), request)
        }
        _ => {
            device["name"] = "d".into();
            (device, json!({"name": "r", "exactly": exactly}))
        }
    };
    let node = json!({"metadata": {"name": "node"}});
    let class = json!({"metadata": {"name": "any"}, "spec": {}});
    let slice = json!({"metadata": {"name": "slice"}, "spec": {"driver": driver, "nodeName": "node",
        "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 1}, "devices": [device]}});
    let claim =
        json!({"metadata": {"name": "claim"}, "spec": {"devices": {"requests": [request]}}});
    let others = vec![
        case.object("Node", &node),
        case.object("DeviceClass", &class),
        case.object("ResourceSlice", &slice),
    ];
    Scene::new(
        &case.config(),
        others,
        vec![case.object("ResourceClaim", &claim)],
    )
}

/// The driver of the slice. A line without one can have any if nothing depends on it.
fn driver(json: &Value) -> Option<&str> {
    let named = ["attributes", "capacity"]
        .iter()
        .filter_map(|field| json[field].as_object())
        .all(|entries| entries.keys().all(|name| name.contains('/')));
    match text(json, "driver") {
        "" if named && !text(json, "expression").contains("driver") => Some("driver.example.com"),
        "" => None,
        driver => Some(driver),
    }
}

fn of_answer(answer: Answer) -> Result<Match, String> {
    match answer {
        Answer::Allocated(_) => Ok(Match::Verdict(true)),
        Answer::DoesNotFit => Ok(Match::Verdict(false)),
        Answer::Error(text) => {
            let selector = text.strip_prefix("claim claim: selector #0: ");
            let (kind, text) = selector
                .and_then(|text| text.split_once(": "))
                .ok_or_else(|| format!("component: {text}"))?;
            match kind {
                "CEL compile error" => Ok(Match::CompileError(text.to_owned())),
                "CEL runtime error" => Ok(Match::RuntimeError(text.to_owned())),
                _ => Err(format!("component: {kind}: {text}")),
            }
        }
        Answer::NotImplemented(gate) => Err(format!("component: needs {gate}")),
    }
}
