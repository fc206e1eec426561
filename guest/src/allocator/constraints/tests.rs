//! matchAttribute value by value (spec section 9.5, trap T16).

use super::*;
use crate::allocator::tests::support::{Cluster, claim, count, device, matching, slice, text};
use crate::profile::Profile;

fn version(value: &str) -> Attribute {
    Attribute::Version(value.into())
}

fn constraint(attribute: &str) -> Constraint {
    let given = DeviceConstraint {
        requests: Vec::new(),
        match_attribute: Some(attribute.into()),
        distinct_attribute: None,
    };
    Constraint::new(&given, &NameIds::default()).expect("a supported constraint")
}

/// Whether devices with these values can be allocated together; a third value is there for more than two.
fn accepted(values: &[Option<Attribute>]) -> bool {
    let devices = values.iter().enumerate().map(|(i, value)| {
        let attributes: Vec<_> = value.iter().map(|value| ("n", value.clone())).collect();
        device(&format!("d{i}"), &attributes)
    });
    let ask = matching(
        claim("c", vec![count("r", values.len() as i64)]),
        "drv/n",
        &[],
    );
    let cluster = Cluster::new(vec![slice("s", "p", devices.collect())], vec![ask]);
    let answers = [Profile::v1_31(), Profile::current()]
        .map(|profile| cluster.answer(&profile) != "does not fit");
    assert_eq!(answers[0], answers[1]);
    answers[0]
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
        assert!(accepted(&[
            Some(value.clone()),
            Some(value.clone()),
            Some(value.clone())
        ]));
        assert!(!accepted(&[Some(value.clone()), Some(other.clone())]));
    }
    assert!(!accepted(&[Some(text("1.0.0")), Some(version("1.0.0"))]));
    assert!(!accepted(&[
        Some(Attribute::Int(1)),
        Some(Attribute::Bool(true))
    ]));
}

#[test]
fn a_device_without_the_attribute_is_refused_even_as_the_first() {
    assert!(!accepted(&[None]));
    assert!(!accepted(&[None, Some(text("a"))]));
    assert!(accepted(&[Some(text("a"))]));
}

#[test]
fn a_value_of_unknown_kind_is_accepted_as_the_first_only() {
    let unknown = Some(Attribute::Unknown);
    assert!(accepted(std::slice::from_ref(&unknown)));
    assert!(!accepted(&[unknown.clone(), unknown.clone()]));
    assert!(!accepted(&[unknown.clone(), Some(text("a"))]));
    assert!(!accepted(&[Some(text("a")), unknown]));
}

#[test]
fn the_reference_is_forgotten_when_nothing_is_left() {
    let devices = ["a", "b", "b"]
        .iter()
        .enumerate()
        .map(|(i, value)| device(&format!("d{i}"), &[("n", text(value))]));
    let ask = matching(claim("c", vec![count("r", 2)]), "drv/n", &[]);
    let cluster = Cluster::new(vec![slice("s", "p", devices.collect())], vec![ask]);
    cluster.check("r:p/d1 r:p/d2", "r:p/d1 r:p/d2");
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
        let found = constraint(attribute).find(&driver.into(), &device);
        found.map(|i| match &device.attributes[i].1 {
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
    let mut names = NameIds::default();
    let [a, b, b_x] = ["a", "b", "b/x"].map(|name| names.acquire(name));
    assert_eq!(names.acquire("a"), a);
    let covered = |requests: &[&str]| {
        let requests = requests.iter().map(|name| name.to_string()).collect();
        let given = DeviceConstraint {
            requests,
            match_attribute: Some("drv/n".into()),
            distinct_attribute: None,
        };
        let constraint = Constraint::new(&given, &names).expect("a supported constraint");
        [[a; 2], [b; 2], [b, b_x]].map(|names| constraint.covers(names))
    };
    assert_eq!(covered(&[]), [true; 3]);
    assert_eq!(covered(&["b"]), [false, true, true]);
    assert_eq!(covered(&["b", "zz", "a"]), [true; 3]);
    assert_eq!(covered(&["b/x"]), [false, false, true]);
    assert_eq!(covered(&["x"]), [false; 3]);
    // A name that is no request does not turn the list into "all".
    assert_eq!(covered(&["zz"]), [false; 3]);
    assert!(Constraint::new(&DeviceConstraint::default(), &names).is_none());
}
