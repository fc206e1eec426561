//! Traps of PostFilter: which claim is freed, and how.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{
    POD_UID, PROFILES, Scene, allocated, classic, on_both, on_node, reserved, structured,
};
use super::{FREED, NOT_AVAILABLE, UTS, assert_status, assert_success};

#[test]
fn t1_an_unavailable_claim_is_noted_when_the_allocator_succeeds() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x"]);
        scene.claim(&structured("b"));
        scene.claim(&allocated(structured("a"), &on_node("n9")));
        let mut driver = scene.pre_filtered(plugin);
        assert_status(driver.filter(0), UTS, NOT_AVAILABLE);
        // The node's allocation was not noted.
        assert_status(
            driver.reserve(0),
            Code::Error,
            "claim allocation not found for node",
        );
        assert_status(driver.post_filter(), Code::Unschedulable, FREED);
        let stored = driver
            .double()
            .stored("ResourceClaim.resource.k8s.io", "ns", "a")
            .cloned();
        assert_eq!(
            stored.and_then(|claim| claim.pointer("/status/allocation").cloned()),
            None
        );
    });
}

#[test]
fn t12_post_filter_copes_with_a_rejected_pre_filter() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            let mut claim = allocated(structured("a"), &on_node("n9"));
            claim["spec"]["devices"]["requests"][0]["deviceClassName"] = "gone".into();
            scene.claim(&claim);
            scene.claim(&structured("b"));
            let mut b = structured("c");
            b["spec"]["devices"]["requests"][0]["deviceClassName"] = "gone".into();
            scene.claim(&b);
            let mut driver = scene.driver(plugin);
            // The allocated claim's class is not looked at; the third claim's is, and then nothing of the state counts.
            assert_status(
                driver.pre_filter(),
                UTS,
                "request r: device class gone does not exist",
            );
            assert_success(driver.filter(0));
            assert_status(
                driver.post_filter(),
                Code::Unschedulable,
                "no new claims to deallocate",
            );
            assert_eq!(driver.double().calls, [] as [Value; 0]);
        });
    }
}

#[test]
fn t13_post_filter_frees_one_claim_at_random_by_one_write_without_retry() {
    for (die, freed) in [(0, "a"), (1, "b")] {
        on_both("1.31", |plugin| {
            let mut scene = Scene::with_nodes(1);
            for name in ["a", "b"] {
                scene.claim(&reserved(
                    allocated(structured(name), &on_node("n9")),
                    &[POD_UID],
                ));
            }
            let mut driver = scene.pre_filtered(plugin);
            assert_status(driver.filter(0), UTS, NOT_AVAILABLE);
            driver.double().dice = [die].into();
            assert_status(driver.post_filter(), Code::Unschedulable, FREED);
            let double = driver.double();
            assert_eq!(
                double.calls,
                [
                    json!({"verb": "update", "resource": "resourceclaims", "subresource": "status",
                    "namespace": "ns", "name": freed})
                ]
            );
            assert_eq!(double.assumed(), [] as [Value; 0]);
            let claim = double
                .stored("ResourceClaim.resource.k8s.io", "ns", freed)
                .unwrap();
            assert_eq!(claim.pointer("/status/allocation"), None);
            assert_eq!(
                claim["metadata"]["finalizers"],
                json!(["resource.kubernetes.io/delete-protection"])
            );
        });
    }
}

#[test]
fn t13_post_filter_passes_over_a_claim_that_others_use() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        for (name, consumers) in [("a", vec!["other"]), ("b", vec![POD_UID, "other"])] {
            scene.claim(&reserved(
                allocated(structured(name), &on_node("n9")),
                &consumers,
            ));
        }
        scene.claim(&allocated(structured("c"), &on_node("n9")));
        let mut driver = scene.pre_filtered(plugin);
        assert_status(driver.filter(0), UTS, NOT_AVAILABLE);
        assert_status(driver.post_filter(), Code::Unschedulable, FREED);
        assert_eq!(driver.double().calls.len(), 1);
        assert_eq!(driver.double().calls[0]["name"], "c");
    });
}

#[test]
fn post_filter_unselects_the_node_before_it_asks_a_driver_to_deallocate() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&allocated(classic("a"), &on_node("n9")));
        scene.context(
            &json!({"selectedNode": "n9", "potentialNodes": ["n9"]}),
            &json!([]),
        );
        let mut driver = scene.pre_filtered(plugin);
        assert_status(driver.filter(0), UTS, NOT_AVAILABLE);
        assert_status(driver.post_filter(), Code::Unschedulable, FREED);
        let double = driver.double();
        assert_eq!(
            double.journal,
            ["Update PodSchedulingContext", "UpdateStatus ResourceClaim"]
        );
        let selected = double.bodies[0].pointer("/spec/selectedNode");
        assert!(
            selected.is_none_or(|node| node == ""),
            "{:?}",
            double.bodies[0]
        );
        assert_eq!(double.bodies[0]["spec"]["potentialNodes"], json!(["n9"]));
        assert_eq!(double.bodies[1]["status"]["deallocationRequested"], true);
        assert!(double.bodies[1].pointer("/status/allocation").is_some());
    });
}
