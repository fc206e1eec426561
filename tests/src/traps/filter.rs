//! Traps of PreFilter and Filter.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{PROFILES, Scene, allocated, classic, on_both, on_node, structured};
use super::{NOT_AVAILABLE, UTS, assert_status, assert_success};

#[test]
fn t1_the_allocator_still_runs_when_a_claim_is_unavailable_and_its_failure_wins() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&allocated(structured("a"), &on_node("n9")));
            scene.claim(&structured("b"));
            let mut driver = scene.pre_filtered(plugin);
            assert_status(driver.filter(0), UTS, "cannot allocate all claims");
            // Nothing was noted, so nothing is freed.
            assert_status(
                driver.post_filter(),
                Code::Unschedulable,
                "still not schedulable",
            );
            assert_eq!(driver.double().calls, [] as [Value; 0]);
        });
    }
}

#[test]
fn t1_an_error_of_the_allocator_wins_over_an_unavailable_claim() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x"]);
        scene.claim(&allocated(structured("a"), &on_node("n9")));
        let mut b = structured("b");
        b["spec"]["devices"]["requests"][0]["allocationMode"] = "Some".into();
        scene.claim(&b);
        let mut driver = scene.pre_filtered(plugin);
        assert_status(
            driver.filter(0),
            Code::Error,
            "claim ns/b, request r: unsupported count mode Some",
        );
    });
}

#[test]
fn t2_rejections_are_unresolvable_except_in_post_filter() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        let mut claim = structured("a");
        claim["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into();
        scene.claim(&claim);
        let mut driver = scene.driver(plugin);
        let being_deleted = "resourceclaim \"a\" is being deleted";
        assert_status(driver.pre_enqueue(), UTS, being_deleted);
        assert_status(driver.pre_filter(), UTS, being_deleted);
        assert_status(
            driver.post_filter(),
            Code::Unschedulable,
            "no new claims to deallocate",
        );
    });
}

#[test]
fn t3_an_error_of_a_selector_ends_the_pod_instead_of_excluding_the_device() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.devices("n1", &["x"]);
            let mut claim = structured("a");
            claim["spec"]["devices"]["requests"][0]["selectors"] =
                json!([{"cel": {"expression": "device.attributes['d.example.com'].absent"}}]);
            scene.claim(&claim);
            let mut driver = scene.pre_filtered(plugin);
            assert_status(
                driver.filter(0),
                Code::Error,
                "claim ns/a: selector #0: CEL runtime error: no such key: absent",
            );
        });
    }
}

#[test]
fn t17_a_selector_with_not_in_matches_nodes_without_the_label_and_nothing_matches_nothing() {
    let not_in =
        json!([{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}]);
    for (terms, fits) in [(not_in, true), (json!([{}]), false), (json!([]), false)] {
        on_both("1.31", |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&allocated(structured("a"), &terms));
            let mut driver = scene.pre_filtered(plugin);
            match fits {
                true => assert_success(driver.filter(0)),
                false => assert_status(driver.filter(0), UTS, NOT_AVAILABLE),
            }
        });
    }
}

#[test]
fn t19_a_device_of_a_classic_claim_is_taken() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x"]);
        let mut other = allocated(classic("other"), &on_node("n1"));
        other["status"]["allocation"]["devices"]["results"][0]["pool"] = "n1".into();
        scene.foreign(&other);
        scene.claim(&structured("a"));
        let mut driver = scene.pre_filtered(plugin);
        assert_status(driver.filter(0), UTS, "cannot allocate all claims");
    });
}

#[test]
fn t21_only_an_unallocated_claim_in_flight_holds_the_pod_back() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let in_flight = |claim: &Value| {
                let mut scene = Scene::with_nodes(1);
                scene.claim(claim);
                scene
                    .double
                    .load_in_flight("other-pod", &allocated(structured("a"), &on_node("n1")));
                scene
            };
            let mut driver = in_flight(&structured("a")).driver(plugin);
            assert_status(
                driver.pre_filter(),
                UTS,
                "resource claim ns/a is in the process of being allocated",
            );
            // As an assumed allocation shows it.
            let shown = allocated(structured("a"), &on_node("n1"));
            let mut driver = in_flight(&shown).pre_filtered(plugin);
            assert_success(driver.filter(0));
        });
    }
}

#[test]
fn t27_filter_may_run_twice_for_a_node() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(2);
        scene.devices("n2", &["x", "y"]);
        scene.claim(&structured("a"));
        let mut driver = scene.pre_filtered(plugin);
        for _ in 0..2 {
            assert_status(driver.filter(0), UTS, "cannot allocate all claims");
            assert_success(driver.filter(1));
        }
        assert_success(driver.reserve(1));
        assert_eq!(driver.double().in_flight_claims().len(), 1);
    });
}

#[test]
fn t28_the_order_in_which_slices_arrive_does_not_show() {
    for order in [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]] {
        on_both("1.31", |plugin| {
            let mut scene = Scene::with_nodes(1);
            for name in order {
                let pool = format!("pool-{name}");
                scene.slice(name, (&pool, 1), json!({"allNodes": true}), &["x"]);
            }
            scene.claim(&structured("a"));
            let driver = scene.reserved_on_n1(plugin);
            let claims = driver.double().in_flight_claims();
            // Pools ascending by driver and name (spec section 9.1.5).
            assert_eq!(
                claims[0].pointer("/status/allocation/devices/results/0/pool"),
                Some(&"pool-a".into())
            );
        });
    }
}
