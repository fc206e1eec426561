//! Traps of PreScore and Reserve.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{Scene, classic, on_both};
use super::{WAITING, assert_status, assert_success};

#[test]
fn t8_reserve_writes_nothing() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_device_and_claim();
        scene.claim(&classic("b"));
        let driver = scene.reserved_on_n1(plugin);
        assert_eq!(driver.double().calls, [] as [Value; 0]);
        assert_eq!(driver.double().in_flight_claims().len(), 1);
    });
}

#[test]
fn t9_reserve_succeeds_when_it_selects_a_node_although_nothing_is_allocated() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&classic("a"));
        scene.context(&json!({"potentialNodes": ["n1"]}), &json!([]));
        let mut driver = scene.reserved_on_n1(plugin);
        assert_status(driver.pre_bind("n1"), Code::Pending, WAITING);
        let spec = driver.double().bodies[0]["spec"].clone();
        assert_eq!(
            spec,
            json!({"potentialNodes": ["n1"], "selectedNode": "n1"})
        );
    });
}

/// Two claims without information: no node is selected, so potential nodes are all that Reserve can add.
fn two_classic_claims(potential_nodes: &Value) -> Scene {
    let mut scene = Scene::with_nodes(3);
    scene.claim(&classic("a"));
    scene.claim(&classic("b"));
    scene.context(&json!({"potentialNodes": potential_nodes}), &json!([]));
    scene
}

#[test]
fn t10_reserve_names_the_only_node_when_pre_score_was_skipped() {
    on_both("1.31", |plugin| {
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).pre_filtered(plugin);
        assert_success(driver.filter(2));
        assert_success(driver.reserve(2));
        assert_status(driver.pre_bind("n3"), Code::Pending, WAITING);
        assert_eq!(
            driver.double().bodies[0]["spec"],
            json!({"potentialNodes": ["n3"]})
        );
    });
}

#[test]
fn t10_reserve_leaves_a_known_node_alone_when_pre_score_was_skipped() {
    on_both("1.31", |plugin| {
        let mut driver = two_classic_claims(&json!(["n3"])).pre_filtered(plugin);
        assert_success(driver.filter(2));
        assert_status(
            driver.reserve(2),
            Code::Pending,
            "waiting for resource driver to provide information",
        );
    });
}

#[test]
fn t10_pre_score_counts_as_run_although_a_superset_left_it_nothing_to_do() {
    on_both("1.31", |plugin| {
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).pre_filtered(plugin);
        for slot in 0..3 {
            assert_success(driver.filter(slot));
        }
        assert_success(driver.pre_score(&[1]));
        // A third node would be published if PreScore did not count.
        assert_status(
            driver.reserve(2),
            Code::Pending,
            "waiting for resource driver to provide information",
        );
    });
}

#[test]
fn pre_score_replaces_potential_nodes_that_are_no_superset() {
    on_both("1.31", |plugin| {
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).pre_filtered(plugin);
        assert_success(driver.filter(1));
        assert_success(driver.filter(2));
        assert_success(driver.pre_score(&[2, 1]));
        assert_success(driver.reserve(1));
        assert_status(driver.pre_bind("n2"), Code::Pending, WAITING);
        assert_eq!(
            driver.double().bodies[0]["spec"],
            json!({"potentialNodes": ["n2", "n3"]})
        );
    });
}

#[test]
fn t14_of_many_potential_nodes_a_random_subset_is_sorted() {
    on_both("1.31", |plugin| {
        let published = |die: u64| -> Vec<String> {
            let mut scene = Scene::with_nodes(200);
            scene.claim(&classic("a"));
            let mut driver = scene.driver(plugin);
            driver.double().dice = (0..128).map(|_| die).collect();
            assert_success(driver.pre_filter());
            let slots: Vec<u32> = (0..200).collect();
            for slot in &slots {
                assert_success(driver.filter(*slot));
            }
            assert_success(driver.pre_score(&slots));
            assert_success(driver.reserve(0));
            assert_status(driver.pre_bind("n1"), Code::Pending, WAITING);
            let nodes = driver.double().bodies[0]["spec"]["potentialNodes"].clone();
            serde_json::from_value(nodes).unwrap()
        };
        let (some, others) = (published(0), published(71));
        for nodes in [&some, &others] {
            assert_eq!(nodes.len(), 128);
            assert!(nodes.is_sorted(), "{nodes:?}");
        }
        assert_ne!(some, others, "the choice has to depend on chance");
    });
}
