//! Traps of the scheduling cycle: PreFilter to Reserve.

use dractl::plugin::Code;
use serde_json::{Value, json};

use super::scene::{
    POD_UID, PROFILES, Scene, allocated, classic, on_both, on_node, reserved, structured,
    with_gates,
};
use super::{assert_status, assert_success};

const UTS: Code = Code::UnschedulableAndUnresolvable;

#[test]
fn t1_the_allocator_still_runs_when_a_claim_is_unavailable_and_its_failure_wins() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&allocated(structured("a"), &on_node("n9")));
            scene.claim(&structured("b"));
            let mut driver = scene.driver(plugin);
            assert_success(driver.pre_filter());
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
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_status(
            driver.filter(0),
            Code::Error,
            "claim ns/b, request r: unsupported count mode Some",
        );
    });
}

#[test]
fn t1_an_unavailable_claim_is_noted_when_the_allocator_succeeds() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x"]);
        scene.claim(&structured("b"));
        scene.claim(&allocated(structured("a"), &on_node("n9")));
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_status(
            driver.filter(0),
            UTS,
            "resourceclaim not available on the node",
        );
        // The node's allocation was not noted.
        assert_status(
            driver.reserve(0),
            Code::Error,
            "claim allocation not found for node",
        );
        assert_status(
            driver.post_filter(),
            Code::Unschedulable,
            "deallocation of ResourceClaim completed",
        );
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
            let mut driver = scene.driver(plugin);
            assert_success(driver.pre_filter());
            assert_status(
                driver.filter(0),
                Code::Error,
                "claim ns/a: selector #0: CEL runtime error: no such key: absent",
            );
        });
    }
}

#[test]
fn t8_reserve_writes_nothing() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x"]);
        scene.claim(&structured("a"));
        scene.claim(&classic("b"));
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(0));
        assert_success(driver.reserve(0));
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
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(0));
        assert_success(driver.reserve(0));
        assert_status(
            driver.pre_bind("n1"),
            Code::Pending,
            "waiting for resource driver",
        );
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
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(2));
        assert_success(driver.reserve(2));
        assert_status(
            driver.pre_bind("n3"),
            Code::Pending,
            "waiting for resource driver",
        );
        assert_eq!(
            driver.double().bodies[0]["spec"],
            json!({"potentialNodes": ["n3"]})
        );
    });
}

#[test]
fn t10_reserve_leaves_a_known_node_alone_when_pre_score_was_skipped() {
    on_both("1.31", |plugin| {
        let mut driver = two_classic_claims(&json!(["n3"])).driver(plugin);
        assert_success(driver.pre_filter());
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
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).driver(plugin);
        assert_success(driver.pre_filter());
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
        let mut driver = two_classic_claims(&json!(["n1", "n2"])).driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(1));
        assert_success(driver.filter(2));
        assert_success(driver.pre_score(&[2, 1]));
        assert_success(driver.reserve(1));
        assert_status(
            driver.pre_bind("n2"),
            Code::Pending,
            "waiting for resource driver",
        );
        assert_eq!(
            driver.double().bodies[0]["spec"],
            json!({"potentialNodes": ["n2", "n3"]})
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
            let mut driver = scene.driver(plugin);
            assert_success(driver.pre_filter());
            assert_status(
                driver.filter(0),
                UTS,
                "resourceclaim not available on the node",
            );
            driver.double().dice = [die].into();
            assert_status(
                driver.post_filter(),
                Code::Unschedulable,
                "deallocation of ResourceClaim completed",
            );
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
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_status(
            driver.filter(0),
            UTS,
            "resourceclaim not available on the node",
        );
        assert_status(
            driver.post_filter(),
            Code::Unschedulable,
            "deallocation of ResourceClaim completed",
        );
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
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_status(
            driver.filter(0),
            UTS,
            "resourceclaim not available on the node",
        );
        assert_status(
            driver.post_filter(),
            Code::Unschedulable,
            "deallocation of ResourceClaim completed",
        );
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
            assert_status(
                driver.pre_bind("n1"),
                Code::Pending,
                "waiting for resource driver",
            );
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

#[test]
fn t17_a_selector_with_not_in_matches_nodes_without_the_label_and_nothing_matches_nothing() {
    let not_in =
        json!([{"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}]);
    for (terms, fits) in [(not_in, true), (json!([{}]), false), (json!([]), false)] {
        on_both("1.31", |plugin| {
            let mut scene = Scene::with_nodes(1);
            scene.claim(&allocated(structured("a"), &terms));
            let mut driver = scene.driver(plugin);
            assert_success(driver.pre_filter());
            match fits {
                true => assert_success(driver.filter(0)),
                false => assert_status(
                    driver.filter(0),
                    UTS,
                    "resourceclaim not available on the node",
                ),
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
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
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
            let mut driver = in_flight(&shown).driver(plugin);
            assert_success(driver.pre_filter());
            assert_success(driver.filter(0));
        });
    }
}

#[test]
fn t25_counts_and_generations_beyond_32_bits() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        let mut claim = structured("a");
        claim["spec"]["devices"]["requests"][0]["count"] = (4_294_967_297_u64).into();
        scene.claim(&claim);
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_status(
            driver.filter(0),
            Code::Error,
            "claim ns/a: number of requested devices 4294967297 exceeds the claim limit of 32",
        );
        // 2^32 + 1 is newer than 2, and not the same as 1.
        let mut scene = Scene::with_nodes(1);
        for (generation, device) in [(4_294_967_297_u64, "new"), (2, "old")] {
            let slice = json!({"metadata": {"name": format!("slice-{device}")}, "spec": {"driver": "d.example.com",
                "nodeName": "n1", "devices": [{"name": device, "basic": {}}],
                "pool": {"name": "n1", "generation": generation, "resourceSliceCount": 1}}});
            scene
                .double
                .load("resource.k8s.io/v1alpha3", "ResourceSlice", &slice);
        }
        scene.claim(&structured("a"));
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(0));
        assert_success(driver.reserve(0));
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
fn t27_filter_may_run_twice_for_a_node() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(2);
        scene.devices("n2", &["x", "y"]);
        scene.claim(&structured("a"));
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
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
    let chosen = |order: &[&str]| {
        let mut all = Vec::new();
        on_both_collect(&mut all, order);
        all
    };
    let answers = [
        chosen(&["a", "b", "c"]),
        chosen(&["c", "b", "a"]),
        chosen(&["b", "c", "a"]),
    ];
    for answer in answers.iter().flatten() {
        // Pools ascending by driver and name (spec section 9.1.5).
        assert_eq!(answer, &json!("pool-a"));
    }
}

fn on_both_collect(answers: &mut Vec<Value>, order: &[&str]) {
    let collected = std::cell::RefCell::new(answers);
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        for name in order {
            let slice = json!({"metadata": {"name": format!("slice-{name}")}, "spec": {"driver": "d.example.com",
                "allNodes": true, "devices": [{"name": "x", "basic": {}}],
                "pool": {"name": format!("pool-{name}"), "generation": 1, "resourceSliceCount": 1}}});
            scene
                .double
                .load("resource.k8s.io/v1alpha3", "ResourceSlice", &slice);
        }
        scene.claim(&structured("a"));
        let mut driver = scene.driver(plugin);
        assert_success(driver.pre_filter());
        assert_success(driver.filter(0));
        assert_success(driver.reserve(0));
        let claims = driver.double().in_flight_claims();
        let pool = claims[0].pointer("/status/allocation/devices/results/0/pool");
        collected
            .borrow_mut()
            .push(pool.cloned().unwrap_or_default());
    });
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
