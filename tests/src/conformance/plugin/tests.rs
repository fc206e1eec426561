//! That the runner notices what it is there for.

use std::path::Path;

use super::*;

fn own_rows() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/plugin-seed.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn native(case: &Value) -> Result<(), String> {
    run_case(&Native::new(&config(case.get("features"))), case)
}

/// Pointers to all strings and list entries that a step states of the outcome.
fn statements(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                let at = format!("{at}/{number}");
                if item.is_object() {
                    found.push(at.clone());
                }
                statements(item, &at, found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                // Compared for change only; and `$`-names need no escape in pointers, but slashes do.
                let ignored = name == "resourceVersion" || name == "upstreamTableStatus";
                let input = name == "step" || name == "node" || name == "apiServerChangesBefore";
                if !ignored && !input {
                    statements(field, &format!("{at}/{}", name.replace('/', "~1")), found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn every_change_of_a_recorded_outcome_is_noticed() {
    let mut tried = 0;
    for case in own_rows() {
        assert_eq!(native(&case), Ok(()));
        let mut found = Vec::new();
        for (number, step) in list(&case, "steps").iter().enumerate() {
            statements(step, &format!("/steps/{number}"), &mut found);
        }
        for pointer in found {
            let mut changed = case.clone();
            let place = changed.pointer_mut(&pointer).unwrap();
            match place {
                Value::String(text) => text.push('X'),
                other => *other = Value::Null,
            }
            assert!(native(&changed).is_err(), "{pointer} may be anything");
            tried += 1;
        }
    }
    assert!(tried > 200, "only {tried} changes tried");
}

/// The claim of the row that binds, in flight since before the first call.
fn in_flight_before(row: &Value) -> Value {
    let mut case = row.clone();
    let steps = list(row, "steps");
    let entry = steps[3]["inFlightClaims"].clone();
    assert_eq!(entry.as_array().map(Vec::len), Some(1));
    let rejected = json!({"code": "UnschedulableAndUnresolvable",
        "reasons": ["resource claim default/my-pod-my-resource is in the process of being allocated"]});
    let step = |step: &str, status: Value| json!({"step": step, "status": status, "apiCalls": [], "changes": [], "assumedClaims": [], "inFlightClaims": entry});
    case["inFlightBefore"] = entry.clone();
    case["steps"] = json!([
        step("preenqueue", json!({"code": "Success"})),
        step("prefilter", rejected),
        step(
            "postfilter",
            json!({"code": "Unschedulable", "reasons": ["no new claims to deallocate"]})
        ),
    ]);
    case
}

#[test]
fn claims_may_be_in_flight_before() {
    let rows = own_rows();
    let row = rows
        .iter()
        .find(|row| text(row, "name") == "structured-with-resources")
        .unwrap();
    let case = in_flight_before(row);
    assert_eq!(native(&case), Ok(()));
    let mut without = case;
    without["inFlightBefore"] = json!([]);
    assert!(native(&without).is_err());
}

#[test]
fn another_observed_answer_counts() {
    let mut case = own_rows().remove(0);
    let steps = case["steps"].clone();
    case["steps"][0]["status"]["code"] = "Error".into();
    assert!(native(&case).is_err());
    case["alsoObserved"] = json!([{"steps": steps}]);
    assert_eq!(native(&case), Ok(()));
}
