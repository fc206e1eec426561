//! That every defect and every trap of the specification has its test, found by name: `cargo test --release d16_`.

use std::collections::{BTreeMap, BTreeSet};

use crate::repository::text_files;

const DEFECTS: usize = 16;
const TRAPS: usize = 28;

/// Defects without a test of each kind, and why.
const NOT_IN_PAIRS: [(usize, &str); 10] = [
    (1, "one test states both answers of the allocator"),
    (2, "one test states both answers of the allocator"),
    (3, "one test states both answers of the allocator"),
    (4, "one test states both answers of the allocator"),
    (5, "one test states both answers of the allocator"),
    (6, "one test states both answers of the allocator"),
    (7, "one test states both answers of the allocator"),
    (
        8,
        "upstream crashes, so both profiles refuse; what is observable is the refusal",
    ),
    (9, "one test states both answers of the allocator"),
    (
        16,
        "the contract lets only the holder take an entry out, in every profile",
    ),
];

/// Names of the test functions that begin with an id, by id.
fn named() -> BTreeMap<String, BTreeSet<String>> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in text_files() {
        if !file.path.ends_with(".rs") || !file.path.contains("tests") {
            continue;
        }
        let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[test]") {
            let name = pair[1]
                .strip_prefix("fn ")
                .and_then(|rest| rest.split('(').next());
            if let Some((id, _)) = name.and_then(|name| name.split_once('_')) {
                let name = name.unwrap_or_default().to_owned();
                named.entry(id.to_owned()).or_default().insert(name);
            }
        }
    }
    named
}

#[test]
fn every_defect_and_trap_has_its_test() {
    let named = named();
    let ids = (1..=DEFECTS)
        .map(|number| format!("d{number}"))
        .chain((1..=TRAPS).map(|number| format!("t{number}")));
    let missing: Vec<String> = ids.filter(|id| !named.contains_key(id)).collect();
    assert_eq!(missing, [""; 0]);
    for number in 1..=DEFECTS {
        let tests = &named[&format!("d{number}")];
        let has = |kind: &str| tests.iter().any(|test| test.contains(kind));
        let pair = has("_compat_") && has("_fixed_");
        let excused = NOT_IN_PAIRS.iter().any(|(excused, _)| *excused == number);
        assert_ne!(pair, excused, "D{number}: {tests:?}");
    }
}
