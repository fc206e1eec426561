//! Owners that own each other.

use std::fmt::Write;

use super::*;
use crate::manifest::read_text;

/// Kind, name and uid.
type Named<'a> = (&'a str, &'a str, &'a str);

/// The same, and its owners.
type Owned<'a> = (&'a str, &'a str, &'a str, &'a [Named<'a>]);

fn text(objects: &[Owned<'_>]) -> String {
    let mut text = String::new();
    for (kind, name, uid, owners) in objects {
        let version = if *kind == "Pod" { "v1" } else { "apps/v1" };
        write!(
            text,
            "---\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n"
        )
        .unwrap();
        if !uid.is_empty() {
            writeln!(text, "  uid: {uid:?}").unwrap();
        }
        writeln!(text, "  ownerReferences:").unwrap();
        for (kind, name, uid) in *owners {
            let version = if *kind == "Pod" { "v1" } else { "apps/v1" };
            writeln!(
                text,
                "  - {{apiVersion: {version}, kind: {kind}, name: {name}, uid: {uid:?}}}"
            )
            .unwrap();
        }
        writeln!(
            text,
            "spec: {{template: {{spec: {{containers: []}}}}, containers: []}}"
        )
        .unwrap();
    }
    text
}

fn after(objects: &[Owned<'_>]) -> (Vec<String>, Vec<String>) {
    let mut input = read_text("in.yaml", &text(objects), &|_| true).unwrap();
    remove(&mut input);
    assert_eq!(input.objects.len(), input.origins.len());
    let left = input
        .objects
        .iter()
        .map(|object| object.id().name.to_string());
    let errors = input.object_errors.iter();
    (
        left.collect(),
        errors
            .map(|error| format!("{}: {}", error.object, error.message))
            .collect(),
    )
}

#[test]
fn chains_and_forks_are_left_alone() {
    let objects = [
        ("Deployment", "d", "1", &[][..]),
        ("ReplicaSet", "r", "2", &[("Deployment", "d", "1")][..]),
        (
            "Pod",
            "p",
            "3",
            &[("ReplicaSet", "r", "2"), ("Deployment", "d", "1")][..],
        ),
        // The owner was replaced by one of the same name: by uid this is no circle.
        ("ReplicaSet", "s", "4", &[("ReplicaSet", "s", "9")][..]),
    ];
    assert_eq!(
        after(&objects),
        (["d", "r", "p", "s"].map(str::to_owned).to_vec(), vec![])
    );
}

#[test]
fn a_circle_is_named_by_each_of_its_objects_and_by_nobody_else() {
    let objects = [
        ("Pod", "behind", "", &[("ReplicaSet", "a", "1")][..]),
        (
            "ReplicaSet",
            "a",
            "1",
            &[("ReplicaSet", "top", "9"), ("ReplicaSet", "b", "2")][..],
        ),
        ("ReplicaSet", "b", "2", &[("Deployment", "c", "3")][..]),
        ("Deployment", "c", "3", &[("ReplicaSet", "a", "1")][..]),
        ("ReplicaSet", "top", "9", &[][..]),
    ];
    let (left, errors) = after(&objects);
    assert_eq!(left, ["behind", "top"]);
    let circle = "its owners form a circle, ReplicaSet default/a -> ReplicaSet default/b -> Deployment default/c -> \
        ReplicaSet default/a; remove one of these owner references";
    let named = [
        "ReplicaSet default/a",
        "ReplicaSet default/b",
        "Deployment default/c",
    ];
    assert_eq!(errors, named.map(|object| format!("{object}: {circle}")));
}

#[test]
fn an_object_may_not_own_itself_by_uid_or_by_name() {
    let message = "names itself as its owner; remove that owner reference";
    let objects = [
        ("Pod", "p", "1", &[("Pod", "other", "1")][..]),
        ("ReplicaSet", "r", "", &[("ReplicaSet", "r", "7")][..]),
        ("ReplicaSet", "s", "5", &[("ReplicaSet", "s", "")][..]),
    ];
    let (left, errors) = after(&objects);
    assert_eq!(left, [""; 0]);
    let named = [
        "Pod default/p",
        "ReplicaSet default/r",
        "ReplicaSet default/s",
    ];
    assert_eq!(errors, named.map(|object| format!("{object}: {message}")));
}

/// As long as an input may make it, and two circles with a bridge.
#[test]
fn long_circles_end_with_short_errors() {
    let count = 20_000;
    let uids: Vec<String> = (0..=count).map(|index| format!("u{index}")).collect();
    let owners: Vec<_> = (0..count)
        .map(|index| [("Pod", "by-uid", uids[(index + 1) % count].as_str())])
        .collect();
    let mut objects: Vec<_> = (0..count)
        .map(|index| {
            (
                "Pod",
                uids[index].as_str(),
                uids[index].as_str(),
                &owners[index][..],
            )
        })
        .collect();
    let itself = [
        ("Pod", "x", uids[count].as_str()),
        ("Pod", "x", uids[0].as_str()),
    ];
    objects.push(("Pod", &uids[count], &uids[count], &itself));
    let (left, errors) = after(&objects);
    assert_eq!((left.len(), errors.len()), (0, count + 1));
    assert!(
        errors.iter().all(|error| error.len() < 300),
        "{}",
        errors[0]
    );
    assert!(
        errors[0].contains("-> 19992 more -> Pod default/u0;"),
        "{}",
        errors[0]
    );
    // Whoever owns itself and stands in another's circle too is told of one of them.
    assert!(errors[count].contains("form a circle"), "{}", errors[count]);
}
