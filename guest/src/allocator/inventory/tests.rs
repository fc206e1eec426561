//! Slices, claims and rules that come and go, and what the index then says.

use std::rc::Rc;

use super::*;
use crate::allocator::tests::support::*;
use crate::allocator::{Allocator, Outcome};
use crate::profile::Profile;

fn node(name: &str) -> Node {
    Node {
        name: name.into(),
        labels: [("zone", "a")].into_iter().collect(),
        number: None,
    }
}

fn attempt(inventory: &Inventory, node: &Node, wanted: i64) -> Outcome {
    let mut allocator = Allocator::new(vec![Rc::new(claim("c", vec![count("r", wanted)]))]);
    let mut classes = |_: &str| Ok(Rc::new(class("any", &[])));
    allocator.allocate(
        node,
        inventory,
        &mut classes,
        &mut Stub::default(),
        &Profile::current(),
        1_000,
    )
}

fn answer(inventory: &Inventory, wanted: i64) -> String {
    short(&attempt(inventory, &node("n1"), wanted))
}

#[test]
fn slices_come_and_go() {
    let mut inventory = Inventory::default();
    assert_eq!(answer(&inventory, 1), "does not fit");
    inventory.put(7, slice("b", "q", devices(1)));
    inventory.put(2, slice("a", "p", devices(1)));
    assert_eq!(answer(&inventory, 2), "r:p/d0 r:q/d0");
    inventory.remove(2);
    inventory.remove(2);
    inventory.remove(99);
    assert_eq!(answer(&inventory, 1), "r:q/d0");
    // Replaced in its slot, now for all nodes and in another pool.
    inventory.put(
        7,
        ResourceSlice {
            reach: Reach::AllNodes,
            ..slice("b", "z", devices(1))
        },
    );
    assert_eq!(answer(&inventory, 1), "r:z/d0");
    assert_eq!(short(&attempt(&inventory, &node("n2"), 1)), "r:z/d0");
    inventory.put(2, slice("a", "zz", devices(1)));
    assert_eq!(answer(&inventory, 2), "r:z/d0 r:zz/d0");
    inventory.clear_slices();
    assert_eq!(answer(&inventory, 1), "does not fit");
    assert_eq!(inventory.names.live(), [0; 5]);
}

#[test]
fn a_removed_slice_no_longer_counts_for_its_pool() {
    let mut inventory = Inventory::default();
    let part = |name: &str, generation| ResourceSlice {
        generation,
        resource_slice_count: 2,
        ..slice(name, "p", vec![device(name, &[])])
    };
    let elsewhere = |generation| ResourceSlice {
        reach: Reach::NodeName("n2".into()),
        ..part("b", generation)
    };
    inventory.put(0, part("a", 1));
    assert_eq!(answer(&inventory, 1), "does not fit");
    inventory.put(1, elsewhere(1));
    assert_eq!(answer(&inventory, 1), "r:p/a");
    inventory.put(1, elsewhere(2));
    assert_eq!(answer(&inventory, 1), "does not fit");
    inventory.put(1, elsewhere(1));
    assert_eq!(answer(&inventory, 1), "r:p/a");
    // Repeated names make the pool invalid while they are there.
    inventory.put(1, part("a", 1));
    assert_eq!(answer(&inventory, 1), "invalid pools");
    inventory.put(1, part("b", 1));
    assert_eq!(answer(&inventory, 2), "r:p/a r:p/b");
}

#[test]
fn broken_selectors_block_until_they_are_gone() {
    let mut inventory = Inventory::default();
    inventory.put(0, slice("a", "p", devices(1)));
    let mut selector = selector(&[("zone", &["a"])]);
    selector.terms[0].match_expressions[0].values.clear();
    inventory.put(
        1,
        ResourceSlice {
            reach: Reach::NodeSelector(selector),
            ..slice("b", "q", devices(1))
        },
    );
    assert!(
        answer(&inventory, 1)
            .starts_with("error: gather pool information: node selector in resource slice b: ")
    );
    inventory.remove(1);
    assert_eq!(answer(&inventory, 1), "r:p/d0");
}

#[test]
fn invalid_slices_close_the_nodes_that_reach_them() {
    let mut inventory = Inventory::default();
    inventory.put(0, slice("a", "p", devices(1)));
    let answers =
        |inventory: &Inventory| ["n1", "n2"].map(|name| short(&attempt(inventory, &node(name), 1)));
    let open = ["r:p/d0".to_string(), "does not fit".to_string()];
    let closed = "invalid object: no".to_string();
    let mut broken = selector(&[("zone", &["a"])]);
    broken.terms[0].match_expressions[0].operator = "X".into();
    let cases = [
        (
            Reach::NodeName("n1".into()),
            [closed.clone(), open[1].clone()],
        ),
        (
            Reach::NodeName("n2".into()),
            [open[0].clone(), closed.clone()],
        ),
        (Reach::AllNodes, [closed.clone(), closed.clone()]),
        (
            Reach::NodeSelector(selector(&[("zone", &["a"])])),
            [closed.clone(), closed.clone()],
        ),
        (
            Reach::NodeSelector(selector(&[("zone", &["b"])])),
            open.clone(),
        ),
        (Reach::NodeSelector(broken), [closed.clone(), closed]),
        (Reach::Nowhere, open.clone()),
    ];
    for (reach, expect) in cases {
        inventory.put_invalid(1, &reach, "no".into());
        assert_eq!(answers(&inventory), expect, "{reach:?}");
    }
    inventory.put_invalid(0, &Reach::AllNodes, "first".into());
    assert_eq!(answer(&inventory, 1), "invalid object: first");
    inventory.put(0, slice("a", "p", devices(1)));
    assert_eq!(answer(&inventory, 1), "r:p/d0");
}

#[test]
fn devices_in_use_are_counted() {
    let mut inventory = Inventory::default();
    inventory.put(0, slice("a", "p", devices(1)));
    let d0 = allocation(&["drv/p/d0"], false);
    inventory.set_stored("a", Some(&d0));
    inventory.set_stored("b", Some(&d0));
    inventory.set_stored("a", None);
    assert_eq!(answer(&inventory, 1), "does not fit");
    inventory.remove_stored("b");
    inventory.remove_stored("b");
    assert_eq!(answer(&inventory, 1), "r:p/d0");
    // Named before any slice publishes it, and while none does.
    inventory.remove(0);
    inventory.set_stored(
        "a",
        Some(&allocation(&["drv/p/d0", "drv/p/gone", "x/y/z"], false)),
    );
    inventory.put(3, slice("a", "p", devices(2)));
    assert_eq!(answer(&inventory, 1), "r:p/d1");
    inventory.clear_stored();
    assert_eq!(answer(&inventory, 1), "r:p/d0");
    inventory.remove(3);
    assert_eq!(inventory.names.live(), [0; 5]);
}

#[test]
fn claims_of_classic_controllers_hold_devices() {
    let mut inventory = Inventory::default();
    inventory.put(0, slice("a", "p", devices(1)));
    let classic = AllocationResult {
        controller: "ctrl".into(),
        ..allocation(&["drv/p/d0"], false)
    };
    inventory.set_stored("a", Some(&classic));
    assert_eq!(answer(&inventory, 1), "does not fit");
}

/// Spec 9.6: for each claim in the cache, the in-flight object if there is one, else the stored one.
#[test]
fn in_flight_overlays_stored() {
    let mut inventory = Inventory::default();
    inventory.put(0, slice("a", "p", devices(3)));
    let (d0, d1) = (
        allocation(&["drv/p/d0"], false),
        allocation(&["drv/p/d1"], false),
    );
    let free = |inventory: &Inventory| match attempt(inventory, &node("n1"), 3) {
        Outcome::Allocated(_) => 3,
        _ => match attempt(inventory, &node("n1"), 2) {
            Outcome::Allocated(results) => results[0]
                .results
                .iter()
                .map(|result| if &*result.device == "d0" { 10 } else { 20 })
                .sum(),
            other => panic!("{other:?}"),
        },
    };
    const ALL: i32 = 3;
    const WITHOUT_D0: i32 = 40;
    const WITHOUT_D1: i32 = 30;
    // Not in the cache: not listed.
    inventory.set_in_flight("a", &d0);
    assert_eq!(free(&inventory), ALL);
    inventory.set_stored("a", None);
    assert_eq!(free(&inventory), WITHOUT_D0);
    // Replaces the stored allocation.
    inventory.set_stored("a", Some(&d1));
    assert_eq!(free(&inventory), WITHOUT_D0);
    inventory.remove_in_flight("a");
    assert_eq!(free(&inventory), WITHOUT_D1);
    inventory.set_in_flight("a", &d0);
    inventory.remove_stored("a");
    assert_eq!(free(&inventory), ALL);
    inventory.set_stored("a", Some(&d1));
    assert_eq!(free(&inventory), WITHOUT_D0);
    inventory.clear_in_flight();
    assert_eq!(free(&inventory), WITHOUT_D1);
    inventory.set_in_flight("b", &d0);
    assert_eq!(free(&inventory), WITHOUT_D1);
    inventory.clear_stored();
    inventory.clear_in_flight();
    assert_eq!(free(&inventory), ALL);
}

#[test]
fn equal_contents_have_one_number_and_no_number_means_two() {
    let mut inventory = Inventory::default();
    let with = |value: &str| vec![device("d0", &[("a", text(value))])];
    let content = |inventory: &Inventory, slot| inventory.entry(slot).contents[0];
    inventory.put(0, slice("a", "p", with("x")));
    inventory.put(1, slice("b", "q", with("x")));
    inventory.put(2, slice("c", "q", with("y")));
    assert_eq!(content(&inventory, 0), content(&inventory, 1));
    assert_ne!(content(&inventory, 0), content(&inventory, 2));
    let other_driver = crate::api::ResourceSlice {
        driver: "other".into(),
        ..slice("d", "q", with("x"))
    };
    inventory.put(3, other_driver);
    assert_ne!(content(&inventory, 0), content(&inventory, 3));
    // A number that is free again is used for something else, or for the same anew.
    let mut seen = std::collections::BTreeSet::new();
    for round in 0..4 {
        inventory.clear_slices();
        inventory.put(0, slice("a", "p", with(["x", "y"][round % 2])));
        let now = content(&inventory, 0);
        assert!(seen.insert((now.number, now.birth)), "round {round}");
    }
    let numbers = seen.iter().map(|(number, _)| number);
    assert!(numbers.collect::<std::collections::BTreeSet<_>>().len() < 4);
}

#[test]
fn strings_are_kept_once() {
    let mut inventory = Inventory::default();
    for slot in 0..2 {
        inventory.put(
            slot,
            slice(
                &format!("s{slot}"),
                "p",
                vec![device("d", &[("a", text("v"))])],
            ),
        );
    }
    let parts = [0, 1].map(|slot| {
        let device = &inventory.entry(slot).slice.devices[0];
        let crate::api::Attribute::String(value) = &device.attributes[0].1 else {
            panic!("not a string")
        };
        [
            device.name.clone(),
            device.attributes[0].0.clone(),
            value.clone(),
        ]
    });
    for (a, b) in parts[0].iter().zip(&parts[1]) {
        assert!(Arc::ptr_eq(a, b));
    }
}

#[test]
fn a_node_is_found_by_its_number_as_by_its_name() {
    let mut inventory = Inventory::default();
    let reaching = |name: &str| ResourceSlice {
        reach: Reach::NodeName(name.into()),
        ..slice(name, name, devices(1))
    };
    // The node comes before its slice, or after it.
    let first = inventory.acquire_node("n1");
    inventory.put(0, reaching("n1"));
    inventory.put(1, reaching("n2"));
    let second = inventory.acquire_node("n2");
    let numbered = |name: &str, number| Node {
        number: Some(number),
        ..node(name)
    };
    assert_eq!(
        short(&attempt(&inventory, &numbered("n1", first), 1)),
        "r:n1/d0"
    );
    assert_eq!(
        short(&attempt(&inventory, &numbered("n2", second), 1)),
        "r:n2/d0"
    );
    // A node that goes leaves its slice; one that comes instead gets another number.
    inventory.release_node(first);
    let third = inventory.acquire_node("n3");
    assert_eq!(
        short(&attempt(&inventory, &numbered("n3", third), 1)),
        "does not fit"
    );
    assert_eq!(short(&attempt(&inventory, &node("n1"), 1)), "r:n1/d0");
    inventory.clear_slices();
    inventory.release_node(second);
    inventory.release_node(third);
    assert_eq!(inventory.names.live(), [0; 5]);
}
