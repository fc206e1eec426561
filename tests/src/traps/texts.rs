//! Texts and codes of spec sections 6 to 8 that no other test and no recorded case in this repository asks for.

use dractl::object::Kind;
use dractl::plugin::{ApiErrorReason, Code, Verb};
use serde_json::json;

use super::scene::{
    POD_UID, PROFILES, Scene, allocated, classic, on_both, on_node, reserved, structured,
    with_gates,
};
use super::{UTS, assert_status, assert_success};
use crate::conformance::double::{CLAIM, Stale, api_error};

#[test]
fn a_classic_claim_needs_its_gate_even_when_it_is_allocated() {
    for claim in [
        classic("a"),
        reserved(allocated(classic("a"), &on_node("n1")), &[POD_UID]),
    ] {
        with_gates("1.31", &json!({}), |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&claim);
            let mut driver = scene.driver(plugin);
            assert_success(driver.pre_enqueue());
            assert_status(
                driver.pre_filter(),
                UTS,
                "resourceclaim depends on disabled DRAControlPlaneController feature",
            );
            assert_status(
                driver.post_filter(),
                Code::Unschedulable,
                "no new claims to deallocate",
            );
        });
    }
}

/// Whatever comes first in the pod decides: the steps of spec 7.2.6 are done claim by claim.
#[test]
fn a_claim_to_be_deallocated_is_found_before_the_class_of_a_later_one() {
    on_both("1.31", |plugin| {
        let mut requested = allocated(classic("a"), &on_node("n1"));
        requested["status"]["deallocationRequested"] = true.into();
        let mut no_class = structured("b");
        no_class["spec"]["devices"]["requests"][0]["deviceClassName"] = "gone".into();
        let mut scene = Scene::with_nodes(1);
        scene.claim(&requested);
        scene.claim(&no_class);
        let mut driver = scene.driver(plugin);
        assert_status(
            driver.pre_filter(),
            UTS,
            "resourceclaim must be reallocated",
        );
        let mut scene = Scene::with_nodes(1);
        scene.claim(&no_class);
        scene.claim(&requested);
        let mut driver = scene.driver(plugin);
        assert_status(
            driver.pre_filter(),
            UTS,
            "request r: device class gone does not exist",
        );
    });
}

#[test]
fn suitable_nodes_of_a_class_count_for_classic_claims_only() {
    let spec = json!({"suitableNodes": {"nodeSelectorTerms": on_node("n2")}});
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(2);
        scene.class_named("picky", &spec);
        let mut claim = classic("a");
        claim["spec"]["devices"]["requests"][0]["deviceClassName"] = "picky".into();
        scene.claim(&claim);
        let mut driver = scene.pre_filtered(plugin);
        assert_status(
            driver.filter(0),
            UTS,
            "excluded by device class node filter",
        );
        assert_success(driver.filter(1));

        let mut scene = Scene::with_nodes(1);
        scene.class_named("picky", &spec);
        scene.devices("n1", &["x"]);
        let mut claim = structured("a");
        claim["spec"]["devices"]["requests"][0]["deviceClassName"] = "picky".into();
        scene.claim(&claim);
        let mut driver = scene.pre_filtered(plugin);
        assert_success(driver.filter(0));
    });
}

/// A selector that cannot be parsed ends the attempt, in the class of a classic claim as in an allocation.
#[test]
fn node_selectors_that_cannot_be_parsed_end_the_attempt() {
    let terms = json!([{"matchExpressions": [{"key": "zone", "operator": "Is", "values": ["a"]}]}]);
    let text = "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"Is\": supported values: \
                \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\"";
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&allocated(structured("a"), &terms));
        let mut driver = scene.driver(plugin);
        assert_status(driver.pre_filter(), Code::Error, text);
        assert_success(driver.filter(0));

        let mut scene = Scene::with_nodes(1);
        scene.class_named(
            "odd",
            &json!({"suitableNodes": {"nodeSelectorTerms": terms}}),
        );
        let mut claim = classic("a");
        claim["spec"]["devices"]["requests"][0]["deviceClassName"] = "odd".into();
        scene.claim(&claim);
        let mut driver = scene.driver(plugin);
        assert_status(driver.pre_filter(), Code::Error, text);
    });
}

#[test]
fn a_context_of_another_pod_is_an_error() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&classic("a"));
        let context = json!({"metadata": {"name": "p", "namespace": "ns", "uid": "context-uid",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": POD_UID},
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "old", "controller": true}]}});
        scene
            .double
            .load("resource.k8s.io/v1alpha3", "PodSchedulingContext", &context);
        let mut driver = scene.driver(plugin);
        assert_status(
            driver.pre_filter(),
            Code::Error,
            "PodSchedulingContext object with UID context-uid is not owned by Pod ns/p",
        );
    });
}

/// A claim with one writer more than expected: what the second try finds decides.
#[test]
fn a_claim_that_is_deleted_between_two_tries_ends_the_attempt() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_device_and_claim();
            scene.double.stale = Stale::Conflict;
            let mut driver = scene.reserved_on_n1(plugin);
            driver.double().before(Verb::Update, |double| {
                let mut claim = double.stored(CLAIM, "ns", "a").cloned().unwrap();
                claim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into();
                let key = (Kind::new(CLAIM), "ns".to_owned(), "a".to_owned());
                double.interfere(key, Some(claim), false);
            });
            assert_status(
                driver.pre_bind("n1"),
                Code::Error,
                "claim ns/a got deleted in the meantime",
            );
            assert_eq!(
                driver.double().in_flight_claims(),
                [] as [serde_json::Value; 0]
            );
        });
    }
}

#[test]
fn a_reservation_that_fails_is_named() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&allocated(structured("a"), &on_node("n1")));
            let mut driver = scene.reserved_on_n1(plugin);
            driver.double().faults.push_back((
                Verb::UpdateStatus,
                api_error(ApiErrorReason::Forbidden, "no"),
            ));
            assert_status(
                driver.pre_bind("n1"),
                Code::Error,
                "add reservation to claim ns/a: no",
            );
        });
    }
}

/// Upstream's list of claims has the claim twice; both results go to the first place, and the second is bound without one.
#[test]
fn a_claim_that_a_pod_lists_twice_is_allocated_once_and_reserved_twice() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x", "y"]);
        scene.claim(&structured("a"));
        scene.claim_that_is_missing("a");
        scene.double.stale = Stale::Conflict;
        let mut driver = scene.reserved_on_n1(plugin);
        assert_success(driver.pre_bind("n1"));
        let double = driver.double();
        let stored = double.stored(CLAIM, "ns", "a").unwrap();
        assert_eq!(
            stored.pointer("/status/allocation/devices/results/0/device"),
            Some(&"y".into())
        );
        assert_eq!(
            stored["status"]["reservedFor"].as_array().map(Vec::len),
            Some(2)
        );
        let verbs: Vec<_> = double
            .calls
            .iter()
            .map(|call| call["verb"].clone())
            .collect();
        assert_eq!(verbs, ["update", "update", "update", "get", "update"]);
    });
}
