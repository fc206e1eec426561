//! The dialect case by case: `dialect.txt` says what cel-go with Kubernetes' libraries answers, and why where that is not
//! obvious. The answers come from the language definition, cel-go's and Kubernetes' documentation and sources, not from
//! this implementation.

use super::*;

/// A line: an expression and what must come of it, per profile where they differ.
struct Case {
    expression: String,
    current: String,
    old: String,
}

/// `EXPRESSION => ANSWER` or `EXPRESSION => ANSWER @1.31 ANSWER`.
fn cases() -> Vec<Case> {
    let lines = include_str!("dialect.txt").lines();
    let parse = |line: &str| {
        let (expression, answers) = line.rsplit_once(" => ").unwrap_or_else(|| panic!("{line}"));
        let (current, old) = answers.split_once(" @1.31 ").unwrap_or((answers, answers));
        Case {
            expression: expression
                .replace("$A", "device.attributes['d.example.com']")
                .replace("$C", "device.capacity['d.example.com']")
                .replace("$n", "\n"),
            current: current.to_string(),
            old: old.to_string(),
        }
    };
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(parse)
        .collect()
}

fn device() -> DeviceInput<'static> {
    let scalar = AttributeValue::Scalar;
    let string = |text: &str| scalar(api::Attribute::String(text.into()));
    let version = |text: &str| scalar(api::Attribute::Version(text.into()));
    DeviceInput {
        driver: "d.example.com",
        attributes: vec![
            ("name", string("NVIDIA A100")),
            ("unicode", string("aé☃b")),
            ("empty", string("")),
            ("index", scalar(api::Attribute::Int(3))),
            ("negative", scalar(api::Attribute::Int(-5))),
            ("flag", scalar(api::Attribute::Bool(true))),
            ("version", version("570.86.15")),
            ("pre", version("1.2.3-beta.1+build.7")),
            ("e.example.com/name", string("x")),
        ],
        capacity: vec![
            ("memory", "80Gi"),
            ("frac", "1500m"),
            ("zero", "0"),
            ("big", "100000000000000000000"),
        ],
        allow_multiple_allocations: false,
    }
}

fn answer(environment: &Environment, expression: &str) -> String {
    let device = environment.device_from(&device());
    match environment.compile(expression) {
        Err(error) => format!("compile-error: {error}"),
        Ok(program) => match program.matches(&device) {
            Ok(true) => "match".to_string(),
            Ok(false) => "no-match".to_string(),
            Err(error) => format!("runtime-error: {error}"),
        },
    }
}

/// Whether an answer is the expected one: its kind, and its text where that is given.
fn is_as_expected(expected: &str, got: &str) -> bool {
    let (kind, text) = expected.split_once(": ").unwrap_or((expected, ""));
    got.starts_with(kind) && got.contains(text)
}

#[test]
fn every_case_is_answered_as_by_cel_go() {
    let profiles = [
        ("current", Environment::new(&Profile::current())),
        ("1.31", Environment::new(&Profile::v1_31())),
    ];
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        for (name, environment) in &profiles {
            let expected = match *name {
                "current" => &case.current,
                _ => &case.old,
            };
            let got = answer(environment, &case.expression);
            if !is_as_expected(expected, &got) {
                wrong.push(format!(
                    "{name}: {}\n  expected {expected}\n  got      {got}",
                    case.expression
                ));
            }
        }
    }
    assert!(cases.len() > 150, "only {} cases", cases.len());
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
