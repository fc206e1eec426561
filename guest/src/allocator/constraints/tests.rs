use std::collections::BTreeMap;

use super::*;
use crate::allocator::tests::support::device;

fn version(value: &str) -> Attribute {
    Attribute::Version(value.into())
}

fn text(value: &str) -> Attribute {
    Attribute::String(value.into())
}

fn constraint(attribute: &str) -> Constraint {
    let given = DeviceConstraint {
        requests: Vec::new(),
        match_attribute: Some(attribute.into()),
    };
    Constraint::new(&given, &BTreeMap::new()).expect("a supported constraint")
}

/// Which of the values a constraint accepts, one after the other.
fn accepted(values: &[Option<Attribute>]) -> Vec<bool> {
    let mut state = ConstraintState::default();
    values
        .iter()
        .map(|value| state.add(value.as_ref()))
        .collect()
}

#[test]
fn values_must_be_equal_in_kind_and_value() {
    let equal = [
        text("a"),
        Attribute::Int(1),
        Attribute::Bool(true),
        version("1.0.0"),
    ];
    let other = [
        text("b"),
        Attribute::Int(2),
        Attribute::Bool(false),
        version("1.0.0+build"),
    ];
    for (value, other) in equal.iter().zip(&other) {
        assert_eq!(
            accepted(&[Some(value.clone()), Some(value.clone())]),
            [true, true]
        );
        assert_eq!(
            accepted(&[Some(value.clone()), Some(other.clone())]),
            [true, false]
        );
    }
    assert_eq!(
        accepted(&[Some(text("1.0.0")), Some(version("1.0.0"))]),
        [true, false]
    );
    assert_eq!(
        accepted(&[Some(Attribute::Int(1)), Some(Attribute::Bool(true))]),
        [true, false]
    );
}

#[test]
fn a_device_without_the_attribute_is_refused_even_as_the_first() {
    assert_eq!(
        accepted(&[None, Some(text("a")), None]),
        [false, true, false]
    );
}

#[test]
fn a_value_of_unknown_kind_is_accepted_as_the_first_only() {
    let unknown = Some(Attribute::Unknown);
    assert_eq!(accepted(&[unknown.clone(), unknown.clone()]), [true, false]);
    assert_eq!(accepted(&[unknown.clone(), Some(text("a"))]), [true, false]);
    assert_eq!(accepted(&[Some(text("a")), unknown]), [true, false]);
}

#[test]
fn the_reference_is_forgotten_when_nothing_is_left() {
    let (a, b) = (text("a"), text("b"));
    let mut state = ConstraintState::default();
    assert!(state.add(Some(&a)) && state.add(Some(&a)) && !state.add(Some(&b)));
    state.remove();
    assert!(!state.add(Some(&b)));
    state.remove();
    assert!(state.add(Some(&b)));
}

#[test]
fn the_bare_id_counts_for_the_own_domain_only() {
    let device = device(
        "d",
        &[
            ("example.com/full", text("full")),
            ("bare", text("bare")),
            ("x/y", text("deep")),
        ],
    );
    let value = |attribute: &str, driver: &str| {
        constraint(attribute)
            .value(&driver.into(), &device)
            .map(|value| match value {
                Attribute::String(text) => text.to_string(),
                other => panic!("{other:?}"),
            })
    };
    assert_eq!(value("example.com/full", "other").as_deref(), Some("full"));
    assert_eq!(value("drv/bare", "drv").as_deref(), Some("bare"));
    assert_eq!(value("drv/bare", "other"), None);
    // Without a domain only the exact name counts; the domain ends at the first slash.
    assert_eq!(value("bare", "drv").as_deref(), Some("bare"));
    assert_eq!(value("full", "drv"), None);
    assert_eq!(value("drv/x/y", "drv").as_deref(), Some("deep"));
}

#[test]
fn requests_that_are_covered() {
    let names = BTreeMap::from([("a", 0), ("b", 1)]);
    let covered = |requests: &[&str]| {
        let requests = requests.iter().map(|name| name.to_string()).collect();
        let given = DeviceConstraint {
            requests,
            match_attribute: Some("drv/n".into()),
        };
        let constraint = Constraint::new(&given, &names).expect("a supported constraint");
        [constraint.covers(0), constraint.covers(1)]
    };
    assert_eq!(covered(&[]), [true, true]);
    assert_eq!(covered(&["b"]), [false, true]);
    assert_eq!(covered(&["b", "zz", "a"]), [true, true]);
    // A name that is no request does not turn the list into "all".
    assert_eq!(covered(&["zz"]), [false, false]);
    assert!(Constraint::new(&DeviceConstraint::default(), &names).is_none());
}
