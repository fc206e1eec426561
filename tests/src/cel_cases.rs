//! Recorded answers of cel-go with Kubernetes' libraries (`data/cel/cases.jsonl`), and selectors that people use.
//!
//! `CEL_CASES=FILE cargo test cel_cases -- --nocapture` runs another file of the same form. A case counts once, for both
//! profiles together: it is right if it is right in each where it exists, and wrong if it is wrong in one.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dynamic_resources::api::{Attribute, Device};
use dynamic_resources::cel::{AttributeValue, DeviceInput, Environment};
use dynamic_resources::profile::Profile;
use serde_json::Value;

/// How a case ended, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Judgement {
    /// As recorded.
    Right,
    /// An error, but at run time instead of compile time or the reverse.
    KindDiffers,
    /// Another verdict, or an error whose text is fixed and differs.
    Wrong,
}

/// Counts of a run.
#[derive(Default)]
struct Summary {
    right: usize,
    kind_differs: usize,
    wrong: usize,
    /// What is not right, of cases without a note.
    failed: String,
    /// The same of those with a note: known oddities of cel-go.
    noted: String,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            right,
            kind_differs,
            wrong,
            ..
        } = self;
        write!(
            f,
            "cel right={right} kind-differs={kind_differs} wrong={wrong}"
        )
    }
}

/// The environments of a version.
struct Version {
    name: &'static str,
    plain: Environment,
    lists: Environment,
}

impl Version {
    fn both() -> [Self; 2] {
        let version = |name, profile: Profile| Self {
            name,
            plain: Environment::new(&profile),
            lists: Environment::with_list_type_attributes(&profile),
        };
        [
            version("1.31", Profile::v1_31()),
            version("current", Profile::current()),
        ]
    }

    /// What a case expects of this version; `None` if it does not exist there.
    fn expected<'c>(&self, case: &'c Value) -> Result<Option<&'c str>, String> {
        let is_old = self.name == "1.31";
        // List attributes came later.
        if is_old && flag(case, "listTypeAttributes") {
            return Ok(None);
        }
        let old = case["expected_1_31"].as_str().filter(|_| is_old);
        match old.or(case["expected"].as_str()) {
            Some("n/a") => Ok(None),
            Some(kind @ ("match" | "no-match" | "compile-error" | "runtime-error")) => {
                Ok(Some(kind))
            }
            other => Err(format!("expected is {other:?}")),
        }
    }
}

fn run(cases: &str) -> Result<Summary, String> {
    let versions = Version::both();
    let mut summary = Summary::default();
    for (number, line) in cases.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let judged = serde_json::from_str(line)
            .map_err(|error| error.to_string())
            .and_then(|case: Value| judge(&case, &versions, &mut summary));
        judged.map_err(|why| format!("line {}: not a case: {why}", number + 1))?;
    }
    Ok(summary)
}

fn judge(case: &Value, versions: &[Version], summary: &mut Summary) -> Result<(), String> {
    let mut worst = Judgement::Right;
    let mut details = String::new();
    for version in versions {
        let Some(expected) = version.expected(case)? else {
            continue;
        };
        let (kind, error) = answer(case, version)?;
        // Texts were recorded with the newer version.
        let text_counts = version.name == "current" || case["expected"] == *expected;
        let text_differs = text_counts && fixed_text_differs(text(case, "error"), &error);
        let judgement = match kind == expected {
            true if text_differs => Judgement::Wrong,
            true => Judgement::Right,
            false if kind.ends_with("-error") && expected.ends_with("-error") => {
                Judgement::KindDiffers
            }
            false => Judgement::Wrong,
        };
        if judgement > Judgement::Right {
            let (id, expression) = (text(case, "id"), text(case, "expression"));
            let recorded = text(case, "error");
            write!(
                details,
                "{judgement:?} in {}: {id}: {expression}\n    expected {expected} {recorded}\n    got      {kind} {error}\n",
                version.name
            )
            .map_err(|error| error.to_string())?;
        }
        worst = worst.max(judgement);
    }
    match worst {
        Judgement::Right => summary.right += 1,
        Judgement::KindDiffers => summary.kind_differs += 1,
        Judgement::Wrong => summary.wrong += 1,
    }
    match text(case, "note") {
        "" => summary.failed += &details,
        _ => summary.noted += &details,
    }
    Ok(())
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

/// Kind of the answer, and the first line of the error.
fn answer(case: &Value, version: &Version) -> Result<(&'static str, String), String> {
    let environment = match flag(case, "listTypeAttributes") {
        true => &version.lists,
        false => &version.plain,
    };
    let expression = case["expression"].as_str().ok_or("expression is missing")?;
    let first_line = |error: String| error.lines().next().unwrap_or_default().to_owned();
    let input = device_input(case)?;
    let program = match environment.compile(expression) {
        Ok(program) => program,
        Err(error) => return Ok(("compile-error", first_line(error.to_string()))),
    };
    Ok(match program.matches(&environment.device_from(&input)) {
        Ok(true) => ("match", String::new()),
        Ok(false) => ("no-match", String::new()),
        Err(error) => ("runtime-error", first_line(error.to_string())),
    })
}

/// A boolean of a case; false if it is missing.
pub fn flag(case: &Value, name: &str) -> bool {
    case[name] == true
}

/// A text of a case; empty if it is missing.
pub fn text<'c>(case: &'c Value, name: &str) -> &'c str {
    case[name].as_str().unwrap_or_default()
}

/// The device of a case.
pub fn device_input(case: &Value) -> Result<DeviceInput<'_>, String> {
    let mut input = DeviceInput {
        driver: text(case, "driver"),
        allow_multiple_allocations: flag(case, "allowMultipleAllocations"),
        ..DeviceInput::default()
    };
    let entries = |field: &str| case[field].as_object().into_iter().flatten();
    for (name, value) in entries("attributes") {
        let value = attribute(value).ok_or_else(|| format!("attribute {name} is {value}"))?;
        input.attributes.push((name, value));
    }
    for (name, value) in entries("capacity") {
        let quantity = value.as_str().or_else(|| value["value"].as_str());
        let quantity = quantity.ok_or_else(|| format!("capacity {name} is {value}"))?;
        input.capacity.push((name, quantity));
    }
    Ok(input)
}

fn attribute(value: &Value) -> Option<AttributeValue> {
    let mut entries = value
        .as_object()?
        .iter()
        .filter(|(_, value)| !value.is_null());
    let Some((kind, value)) = entries.next() else {
        // Of a kind that this version does not know.
        return Some(AttributeValue::Scalar(Attribute::Unknown));
    };
    match value.as_array() {
        Some(values) => {
            let kind = kind.strip_suffix('s')?;
            let values = values.iter().map(|value| scalar(kind, value));
            values.collect::<Option<Vec<_>>>().map(AttributeValue::List)
        }
        None => scalar(kind, value).map(AttributeValue::Scalar),
    }
}

fn scalar(kind: &str, value: &Value) -> Option<Attribute> {
    Some(match kind {
        "int" => Attribute::Int(value.as_i64()?),
        "bool" => Attribute::Bool(value.as_bool()?),
        "string" => Attribute::String(Arc::from(value.as_str()?)),
        "version" => Attribute::Version(Arc::from(value.as_str()?)),
        _ => return None,
    })
}

/// A file of the shared folder, unless it is not there.
fn shared(file: &str) -> Option<String> {
    let folder = std::env::var_os("DRACTL_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: cel_cases: {} is not there", path.display());
    }
    text
}

#[test]
fn cel_cases() {
    let cases = match std::env::var("CEL_CASES") {
        Ok(path) => {
            let file = crate::repository::given(&path);
            std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
        }
        Err(_) => match shared("data/cel/cases.jsonl") {
            Some(cases) => cases,
            None => return,
        },
    };
    let summary = run(&cases).unwrap_or_else(|error| panic!("{error}"));
    // The harness may have left its line open.
    crate::conformance::say(&format!("\n{}{summary}", summary.noted));
    let total = summary.right + summary.kind_differs + summary.wrong;
    assert!(total > 0, "no case in the file");
    assert!(
        summary.failed.is_empty(),
        "cases without a note are not right:\n{}",
        summary.failed
    );
}

#[test]
fn a_wrong_answer_is_counted() {
    let case = |expression: &str, expected: &str, note: &str| {
        let case = serde_json::json!({"id": "i", "expression": expression, "driver": "d", "attributes": {}, "capacity": {},
            "expected": expected, "expected_1_31": expected, "error": "no such key: a", "note": note});
        case.to_string()
    };
    let missing = "device.attributes['d'].a == 1";
    let count = |lines: &[String]| run(&lines.join("\n")).unwrap().to_string();
    assert_eq!(
        count(&[
            case(missing, "runtime-error", ""),
            case(missing, "compile-error", ""),
            case(missing, "match", "noted"),
            case("device.attributes['d'].b == 1", "runtime-error", ""),
        ]),
        "cel right=1 kind-differs=1 wrong=2"
    );
    let summary = run(&case(missing, "match", "noted")).unwrap();
    assert!(summary.failed.is_empty() && !summary.noted.is_empty());
    let error = run("{\"expression\": \"true\", \"expected\": \"maybe\"}").err();
    assert!(error.unwrap().starts_with("line 1: not a case"));
}

/// The limit counts cel-go's costs (spec section 10.5). Upstream's own table has them exact; elsewhere a few depend on the
/// order of a map, or on what is still evaluated after an error that is absorbed.
#[test]
fn costs_are_those_of_cel_go() {
    let table = "conformance/cel-compile-v0.36.jsonl";
    if let Some((_, different)) = costs(table, "actualCost", "enableListTypeAttributes") {
        assert!(different.is_empty(), "{}", different.join("\n"));
    }
    if let Some((count, different)) = costs("data/cel/cases.jsonl", "cost", "listTypeAttributes") {
        assert!(
            different.len() * 20 < count,
            "of {count}:\n{}",
            different.join("\n")
        );
    }
}

/// The number of costs that were recorded, and those that are not ours.
fn costs(file: &str, field: &str, lists: &str) -> Option<(usize, Vec<String>)> {
    let cases = shared(file)?;
    let [_, version] = Version::both();
    let (mut count, mut different) = (0, Vec::new());
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("a line of JSON");
        let environment = match flag(&case, lists) {
            true => &version.lists,
            false => &version.plain,
        };
        let compiled = environment.compile(text(&case, "expression"));
        let (Ok(program), Some(recorded)) = (compiled, case[field].as_u64()) else {
            continue;
        };
        let input = device_input(&case).expect("a device");
        let ours = program.evaluate(&environment.device_from(&input));
        // What a failed evaluation cost depends on where it stopped.
        if ours.verdict.is_err() {
            continue;
        }
        count += 1;
        if ours.cost != recorded {
            different.push(format!(
                "{}: {}, not {recorded}",
                case["expression"], ours.cost
            ));
        }
    }
    Some((count, different))
}

#[test]
fn selectors_that_people_use() {
    let Some(selectors) = shared("data/cel/selectors.jsonl") else {
        return;
    };
    for version in Version::both() {
        for line in selectors.lines() {
            let case: Value = serde_json::from_str(line).expect("a line of JSON");
            let expression = text(&case, "expression");
            let compiled = version.plain.compile(expression);
            // Recorded with the newer version; 1.31 knows less.
            if version.name == "current" || case["compiles"] == false {
                assert_eq!(
                    Some(compiled.is_ok()),
                    case["compiles"].as_bool(),
                    "{}: {expression}: {:?}",
                    version.name,
                    compiled.err()
                );
            }
            let Ok(program) = compiled else { continue };
            let literal = expression.split(['"', '\'']).nth(1).unwrap_or_default();
            for driver in ["", program.required_driver().unwrap_or(literal)] {
                let device = version.plain.device(driver, &Device::default());
                // Without attributes there is nothing but the driver that can match.
                match program.matches(&device) {
                    Err(error) => assert!(
                        error.to_string().starts_with("no such key: "),
                        "{expression}: {error}"
                    ),
                    Ok(matches) => assert!(
                        !matches || expression.contains("device.driver"),
                        "{expression}"
                    ),
                }
            }
        }
    }
}
