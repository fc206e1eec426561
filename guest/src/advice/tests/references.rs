//! What expressions look up.

use crate::cel::{Environment, Usage};
use crate::profile::Profile;

fn references(expression: &str) -> Vec<(bool, String, Option<String>, Usage)> {
    let program = Environment::new(&Profile::current())
        .compile(expression)
        .unwrap();
    let found = program.references().into_iter();
    found
        .map(|(reference, usage)| (reference.capacity, reference.domain, reference.id, usage))
        .collect()
}

fn used(guarded: bool, wanted: &[&str]) -> Usage {
    Usage {
        guarded,
        wanted: wanted.iter().map(|text| (*text).into()).collect(),
    }
}

#[test]
fn names_literals_and_guards() {
    let attribute = |id: &str, usage: Usage| (false, "d".to_owned(), Some(id.to_owned()), usage);
    assert_eq!(
        references(r#"device.attributes["d"].a == "x" && 3 == device.attributes["d"]["b"]"#),
        [
            attribute("a", used(false, &["\"x\""])),
            attribute("b", used(false, &["3"]))
        ]
    );
    assert_eq!(
        references(r#"has(device.attributes["d"].a) && device.attributes["d"].?b.orValue(true)"#),
        [
            attribute("a", used(true, &[])),
            attribute("b", used(true, &[]))
        ]
    );
    assert_eq!(
        references(r#"device.attributes["d"].a in ["x", "y"]"#),
        [attribute("a", used(false, &["\"x\"", "\"y\""]))]
    );
    assert_eq!(
        references(
            r#"device.capacity["d"].m.compareTo(quantity("1Gi")) >= 0 || "d" in device.attributes"#
        ),
        [(true, "d".to_owned(), Some("m".to_owned()), used(false, &[]))]
    );
    // A guard at one place serves for all.
    assert_eq!(
        references(r#"has(device.attributes["d"].a) && device.attributes["d"].a"#),
        [attribute("a", used(true, &[]))]
    );
}
