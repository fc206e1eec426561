//! Recorded answers of cel-go with Kubernetes' libraries.

use super::*;

fn shared(path: &str) -> Option<String> {
    let root = std::env::var("DRACTL_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").to_string());
    let path = format!("{root}/{path}");
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("SKIPPED: {path} is not there");
    }
    text
}

fn profiles() -> [Profile; 2] {
    [Profile::v1_31(), Profile::current()]
}

#[test]
fn cel_cases() {
    let text = match std::env::var("CEL_CASES") {
        Ok(path) => std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}")),
        Err(_) => match shared("data/cel/cases.jsonl") {
            Some(text) => text,
            None => return,
        },
    };
    for profile in profiles() {
        let summary = cases::run(&text, &profile).expect("cases");
        println!(
            "profile 1.{}: cost-differs={}\n{}",
            profile.minor(),
            summary.cost_differs,
            summary.details
        );
        println!("{summary}");
        assert_eq!(
            summary.wrong_without_note,
            0,
            "profile 1.{}:\n{}",
            profile.minor(),
            summary.details
        );
    }
}

#[test]
fn real_selectors() {
    let Some(text) = shared("data/cel/selectors.jsonl") else {
        return;
    };
    let env = Environment::new(&Profile::current());
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).expect("selector");
        let expression = case["expression"].as_str().expect("expression");
        let compiled = env.compile(expression);
        assert_eq!(
            Some(compiled.is_ok()),
            case["compiles"].as_bool(),
            "{expression}: {:?}",
            compiled.err()
        );
        let Ok(program) = compiled else { continue };
        let driver = expression.split(['"', '\'']).nth(1).unwrap_or_default();
        for driver in ["", driver] {
            // Errors about missing attributes are fine; anything else is not.
            match program.matches(&env.device(driver, &api::Device::default())) {
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

#[test]
fn compile_tables() {
    for (file, profile) in [
        ("cel-compile-v0.31.jsonl", Profile::v1_31()),
        ("cel-compile-v0.36.jsonl", Profile::current()),
    ] {
        let Some(table) = shared(&format!("conformance/{file}")) else {
            return;
        };
        let (passed, failed) = cases::conformance::run(&table, &profile).expect("table");
        println!("conformance {file} passed={passed} failed={}", failed.len());
        assert!(failed.is_empty(), "{file}:\n{}", failed.join("\n"));
    }
}
