//! CEL that is large, deep or slow.

use serde_json::{Value, json};

use super::{Fate, Placed, Refused, assert_fate, claim, cluster, request, with};

fn selecting(expressions: &[&str]) -> Vec<Value> {
    let selectors: Vec<Value> = expressions
        .iter()
        .map(|expression| json!({"cel": {"expression": expression}}))
        .collect();
    cluster(vec![with(
        claim(vec![request("r")]),
        "/spec/devices/requests/0/exactly/selectors",
        selectors.into(),
    )])
}

/// Refused when it is compiled; the claim is named.
const COMPILE: Fate = Refused("error", "claim default/c: selector #0: CEL compile error");
/// Stopped when it is evaluated.
const COST: Fate = Refused(
    "error",
    "selector #0: CEL runtime error: operation cancelled: actual cost limit exceeded",
);

#[test]
fn long_expressions() {
    // 10 KiB are allowed, and one more is not.
    let padded = |length: usize| format!("true{}", " ".repeat(length - 4));
    assert_fate("10 KiB", selecting(&[&padded(10 << 10)]), Placed(1));
    assert_fate(
        "10 KiB and one",
        selecting(&[&padded((10 << 10) + 1)]),
        COMPILE,
    );
    let equal = |length: usize| format!("{:?} == 'x'", "y".repeat(length));
    assert_fate(
        "a long text",
        selecting(&[&equal(10_000)]),
        Refused("unschedulable", "cannot allocate all claims"),
    );
    assert_fate(
        "1 MB",
        selecting(&[&equal(1 << 20)]),
        Refused("input-error", "ResourceClaim default/c"),
    );
    assert_fate(
        "10,000 selectors",
        selecting(&vec!["true"; 10_000]),
        Placed(1),
    );
    let or = vec!["device.driver == 'no'"; 400].join(" || ");
    assert_fate(
        "400 alternatives",
        selecting(&[&or]),
        Refused("unschedulable", "cannot allocate all claims"),
    );
}

#[test]
fn deep_expressions() {
    let around =
        |open: &str, close: &str, times: usize| open.repeat(times) + "true" + &close.repeat(times);
    for (what, expression) in [
        ("parentheses", around("(", ")", 5_000)),
        ("brackets", "[".repeat(5_000) + &"]".repeat(5_000)),
        ("fields", format!("device{}", ".a".repeat(5_000))),
        ("sums", format!("{} == 1", vec!["1"; 5_000].join(" + "))),
        ("macros", around("[1].exists(a, ", ")", 500)),
        ("conditions", around("true ? ", " : true", 600)),
    ] {
        assert_fate(what, selecting(&[&expression]), COMPILE);
    }
}

#[test]
fn slow_expressions() {
    let digits = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    let mut nested = "0".to_owned();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        nested = format!("{digits}.map({name}, {nested})");
    }
    assert_fate(
        "nested loops",
        selecting(&[&format!("{nested}.size() > 3")]),
        COST,
    );
    let doubled = format!("'a'{}.size() > 0", ".replace('a', 'aa')".repeat(60));
    assert_fate("doubling", selecting(&[&doubled]), COST);
    let pattern = |pattern: &str| format!("device.driver.matches('{pattern}')");
    assert_fate(
        "stars",
        selecting(&[&pattern(&"(a*)*".repeat(2_000))]),
        Placed(1),
    );
    assert_fate(
        "repetitions",
        selecting(&[&pattern("(((a{1000}){1000}){1000}){1000}")]),
        COMPILE,
    );
}
