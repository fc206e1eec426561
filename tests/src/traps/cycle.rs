//! Traps of the scheduling cycle as a whole.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{PROFILES, Scene, on_both, structured, with_gates};
use super::{assert_status, assert_success};

#[test]
fn t25_counts_and_generations_beyond_32_bits() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        let mut claim = structured("a");
        claim["spec"]["devices"]["requests"][0]["count"] = (4_294_967_297_u64).into();
        scene.claim(&claim);
        let mut driver = scene.pre_filtered(plugin);
        assert_status(
            driver.filter(0),
            Code::Error,
            "claim ns/a: number of requested devices 4294967297 exceeds the claim limit of 32",
        );
        // 2^32 + 1 is newer than 2, and not the same as 1.
        let mut scene = Scene::with_nodes(1);
        for (generation, device) in [(4_294_967_297_u64, "new"), (2, "old")] {
            scene.slice(
                device,
                ("n1", generation),
                json!({"nodeName": "n1"}),
                &[device],
            );
        }
        scene.claim(&structured("a"));
        let driver = scene.reserved_on_n1(plugin);
        let claims = driver.double().in_flight_claims();
        assert_eq!(
            claims[0].pointer("/status/allocation/devices/results/0/device"),
            Some(&"new".into())
        );
    });
}

#[test]
fn t26_after_skip_all_other_calls_cope() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut driver = Scene::with_nodes(1).driver(plugin);
            assert_status(driver.pre_filter(), Code::Skip, "");
            assert_success(driver.pre_score(&[0]));
            assert_status(
                driver.post_filter(),
                Code::Unschedulable,
                "no new claims to deallocate",
            );
            assert_success(driver.reserve(0));
            assert_success(driver.pre_bind("n1"));
            driver.unreserve("n1").unwrap();
            driver.post_bind("n1").unwrap();
            assert_eq!(driver.double().calls, [] as [Value; 0]);
        });
    }
}

#[test]
fn a_disabled_plugin_does_nothing() {
    for profile in PROFILES {
        with_gates(
            profile,
            &json!({"DynamicResourceAllocation": false}),
            |plugin| {
                let mut scene = Scene::with_nodes(1);
                scene.claim(&structured("a"));
                let mut driver = scene.driver(plugin);
                assert_eq!(driver.instance.events_to_register().unwrap(), []);
                assert_success(driver.pre_enqueue());
                assert_status(driver.pre_filter(), Code::Skip, "");
                assert_success(driver.filter(0));
                assert_status(driver.post_filter(), Code::Unschedulable, "plugin disabled");
                assert_success(driver.pre_score(&[0]));
                assert_success(driver.reserve(0));
                assert_success(driver.pre_bind("n1"));
                driver.unreserve("n1").unwrap();
                driver.post_bind("n1").unwrap();
                assert_eq!(driver.double().calls, [] as [Value; 0]);
            },
        );
    }
}
