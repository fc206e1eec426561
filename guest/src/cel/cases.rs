//! Runs recorded CEL cases (JSON lines, see the data's description) and counts right, kind differs and wrong.
//! For tests; nothing of the plugin calls it.

pub mod conformance;

use std::fmt::Write;
use std::sync::Arc;

use serde_json::Value as Json;

use super::{AttributeValue, DeviceInput, Environment};
use crate::api;
use crate::profile::Profile;

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// As recorded.
    pub right: usize,
    /// An error, but at run time instead of compile time or the reverse.
    pub kind_differs: usize,
    /// Another verdict, or an error whose text is fixed and differs.
    pub wrong: usize,
    /// As above, of those whose case has no note.
    pub wrong_without_note: usize,
    /// Cases whose cost is recorded and differs (information only).
    pub cost_differs: usize,
    /// A line for each case that is not right.
    pub details: String,
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cel right={} kind-differs={} wrong={}",
            self.right, self.kind_differs, self.wrong
        )
    }
}

/// Runs the cases of a file for a profile. Cases that do not exist in it are left out.
///
/// # Errors
/// If a line is not a case.
pub fn run(text: &str, profile: &Profile) -> Result<Summary, String> {
    let plain = Environment::new(profile);
    let lists = Environment::with_list_type_attributes(profile);
    let mut summary = Summary::default();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let case: Json =
            serde_json::from_str(line).map_err(|e| format!("line {}: {e}", number + 1))?;
        let expected = match case.get("expected_1_31").and_then(Json::as_str) {
            Some(expected) if profile.minor() == 31 => expected,
            _ => case
                .get("expected")
                .and_then(Json::as_str)
                .unwrap_or_default(),
        };
        if expected == "n/a" || (profile.minor() == 31 && flag(&case, "listTypeAttributes")) {
            continue;
        }
        let env = if flag(&case, "listTypeAttributes") {
            &lists
        } else {
            &plain
        };
        summary.judge(&case, expected, env, profile.minor());
    }
    Ok(summary)
}

fn flag(case: &Json, name: &str) -> bool {
    case.get(name).and_then(Json::as_bool).unwrap_or(false)
}

fn text<'c>(case: &'c Json, name: &str) -> &'c str {
    case.get(name).and_then(Json::as_str).unwrap_or_default()
}

/// What came of a case.
struct Answer {
    kind: &'static str,
    error: String,
    cost: Option<u64>,
}

impl Summary {
    fn judge(&mut self, case: &Json, expected: &str, env: &Environment, minor: u32) {
        let answer = answer(case, env);
        let is_error = |kind: &str| kind.ends_with("-error");
        // Texts are those of the newer version.
        let same_kind_recorded =
            minor != 31 || case.get("expected").and_then(Json::as_str) == Some(expected);
        let text_differs =
            same_kind_recorded && fixed_text_differs(text(case, "error"), &answer.error);
        let verdict = if answer.kind == expected {
            if text_differs { "text" } else { "right" }
        } else if is_error(answer.kind) && is_error(expected) {
            "kind-differs"
        } else {
            "wrong"
        };
        match verdict {
            "right" => self.right += 1,
            "kind-differs" => self.kind_differs += 1,
            _ => self.wrong += 1,
        }
        let recorded_cost = case.get("cost").and_then(Json::as_u64);
        let cost_differs = minor != 31
            && verdict == "right"
            && !is_error(expected)
            && answer.cost.is_some()
            && answer.cost != recorded_cost;
        self.cost_differs += usize::from(cost_differs && recorded_cost.is_some());
        let noted = case.get("note").is_some_and(|note| !note.is_null());
        if verdict != "right" && !noted {
            self.wrong_without_note += 1;
        }
        if verdict != "right" || (cost_differs && recorded_cost.is_some()) {
            let (id, expression) = (text(case, "id"), text(case, "expression"));
            let _written = writeln!(
                self.details,
                "{verdict}{} {id}: {expression}\n    expected {expected} {} cost {recorded_cost:?}\n    got      {} {} \
                 cost {:?}",
                if noted { " (noted)" } else { "" },
                text(case, "error"),
                answer.kind,
                answer.error.lines().next().unwrap_or_default(),
                answer.cost,
            );
        }
    }
}

/// Whether an error has a text that must be kept, and it was not.
fn fixed_text_differs(recorded: &str, got: &str) -> bool {
    const FIXED: [&str; 9] = [
        "no such key",
        "no such overload",
        "must evaluate to bool",
        "CEL result of type",
        "quantities must match",
        "unable to parse",
        "cannot convert value to integer",
        "Prerelease is empty",
        "found no matching overload",
    ];
    FIXED.iter().any(|fixed| recorded.starts_with(fixed)) && !got.contains(recorded)
}

fn answer(case: &Json, env: &Environment) -> Answer {
    let program = match env.compile(text(case, "expression")) {
        Ok(program) => program,
        Err(error) => {
            return Answer {
                kind: "compile-error",
                error: error.to_string(),
                cost: None,
            };
        }
    };
    let input = match device_input(case) {
        Ok(input) => input,
        Err(error) => {
            return Answer {
                kind: "bad-case",
                error,
                cost: None,
            };
        }
    };
    let evaluation = program.evaluate(&env.device_from(&input));
    let cost = Some(evaluation.cost);
    match evaluation.verdict {
        Ok(true) => Answer {
            kind: "match",
            error: String::new(),
            cost,
        },
        Ok(false) => Answer {
            kind: "no-match",
            error: String::new(),
            cost,
        },
        Err(error) => Answer {
            kind: "runtime-error",
            error: error.to_string(),
            cost,
        },
    }
}

/// The device of a case.
///
/// # Errors
/// If its attributes or capacities are not in the recorded form.
pub fn device_input(case: &Json) -> Result<DeviceInput<'_>, String> {
    let mut input = DeviceInput {
        driver: text(case, "driver"),
        allow_multiple_allocations: flag(case, "allowMultipleAllocations"),
        ..DeviceInput::default()
    };
    for (name, value) in case
        .get("attributes")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
    {
        let (kind, value) = value
            .as_object()
            .and_then(|value| value.iter().next())
            .ok_or_else(|| format!("attribute {name} has no value"))?;
        let value = attribute(kind, value)
            .ok_or_else(|| format!("attribute {name} has unknown kind {kind}"))?;
        input.attributes.push((name, value));
    }
    for (name, value) in case
        .get("capacity")
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
    {
        let quantity = value
            .as_str()
            .or_else(|| value.get("value").and_then(Json::as_str));
        input.capacity.push((
            name,
            quantity.ok_or_else(|| format!("capacity {name} is no quantity"))?,
        ));
    }
    Ok(input)
}

fn attribute(kind: &str, value: &Json) -> Option<AttributeValue> {
    if let Some(values) = value.as_array() {
        let kind = kind.strip_suffix('s')?;
        return values
            .iter()
            .map(|v| scalar(kind, v))
            .collect::<Option<Vec<_>>>()
            .map(AttributeValue::List);
    }
    scalar(kind, value).map(AttributeValue::Scalar)
}

fn scalar(kind: &str, value: &Json) -> Option<api::Attribute> {
    Some(match kind {
        "int" => api::Attribute::Int(value.as_i64()?),
        "bool" => api::Attribute::Bool(value.as_bool()?),
        "string" => api::Attribute::String(Arc::from(value.as_str()?)),
        "version" => api::Attribute::Version(Arc::from(value.as_str()?)),
        _ => return None,
    })
}
