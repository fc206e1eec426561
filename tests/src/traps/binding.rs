//! Traps of the binding cycle: PreBind, Unreserve, PostBind.

use dractl::object::Kind;
use dractl::plugin::{ApiErrorReason, Code, Plugin, Verb};
use serde_json::{Value, json};

use super::scene::{
    POD_UID, PROFILES, Scene, allocated, classic, on_both, on_node, one_claim_reserved, reserved,
    structured, with_gates,
};
use super::{WAITING, assert_status, assert_success};
use crate::conformance::double::{CLAIM, CONTEXT, Double, Stale, api_error, conflict};

fn key(kind: &str, name: &str) -> (Kind, String, String) {
    (Kind::new(kind), "ns".into(), name.into())
}

#[test]
fn t6_the_finalizer_goes_by_update_and_the_allocation_by_status_with_the_returned_version() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut driver = one_claim_reserved(plugin);
            assert_success(driver.pre_bind("n1"));
            let double = driver.double();
            let [update, status] = double.bodies.as_slice() else {
                panic!("{:?}", double.calls);
            };
            assert_eq!(double.calls[0].get("subresource"), None);
            assert_eq!(double.calls[1]["subresource"], "status");
            assert_eq!(update.pointer("/status/allocation"), None);
            let finalizers = json!(["resource.kubernetes.io/delete-protection"]);
            assert_eq!(update["metadata"]["finalizers"], finalizers);
            assert_eq!(update["metadata"]["resourceVersion"], "7");
            assert!(status.pointer("/status/allocation").is_some());
            // The first version that the double gives.
            assert_eq!(status["metadata"]["resourceVersion"], "1000001");
        });
    }
}

#[test]
fn t7_the_claim_is_assumed_before_it_leaves_flight() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut driver = one_claim_reserved(plugin);
            assert_success(driver.pre_bind("n1"));
            assert_eq!(
                driver.double().journal,
                [
                    "Update ResourceClaim",
                    "UpdateStatus ResourceClaim",
                    "assume uid-a",
                    "remove-in-flight uid-a held=true wake=false"
                ]
            );
        });
    }
}

#[test]
fn t8_pre_bind_publishes_instead_of_binding() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_device_and_claim();
        scene.claim(&classic("b"));
        let mut driver = scene.reserved_on_n1(plugin);
        assert_status(driver.pre_bind("n1"), Code::Pending, WAITING);
        let double = driver.double();
        assert_eq!(
            double.calls,
            [
                json!({"verb": "create", "resource": "podschedulingcontexts", "namespace": "ns", "name": "p"})
            ]
        );
        assert_eq!(double.in_flight_claims().len(), 1, "Unreserve takes it out");
    });
}

#[test]
fn unreserve_publishes_what_pre_bind_did_not_reach() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&classic("a"));
        let mut driver = scene.reserved_on_n1(plugin);
        driver.unreserve("n1").unwrap();
        let double = driver.double();
        let context = double.stored(CONTEXT, "ns", "p").unwrap();
        assert_eq!(
            context["spec"],
            json!({"selectedNode": "n1", "potentialNodes": ["n1"]})
        );
        assert_eq!(
            context["metadata"]["ownerReferences"],
            json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": POD_UID, "controller": true,
                "blockOwnerDeletion": true}])
        );
    });
}

#[test]
fn t11_post_bind_deletes_the_context_of_a_pod_without_classic_claims_and_without_the_gate() {
    with_gates(
        "1.31",
        &json!({"DRAControlPlaneController": false}),
        |plugin| {
            let mut driver = one_claim_reserved(plugin);
            assert_success(driver.pre_bind("n1"));
            driver.double().calls.clear();
            driver.post_bind("n1").unwrap();
            assert_eq!(
                driver.double().calls,
                [
                    json!({"verb": "delete", "resource": "podschedulingcontexts", "namespace": "ns", "name": "p"})
                ]
            );
        },
    );
    // The object is gone since 1.32.
    with_gates("current", &json!({}), |plugin| {
        let mut driver = one_claim_reserved(plugin);
        assert_success(driver.pre_bind("n1"));
        driver.double().calls.clear();
        driver.post_bind("n1").unwrap();
        assert_eq!(driver.double().calls, [] as [Value; 0]);
    });
}

#[test]
fn t20_the_cached_claim_decides_whether_it_is_reserved_and_the_pod_is_appended_blindly() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        let claim = allocated(structured("a"), &on_node("n1"));
        scene.claim(&claim);
        scene.double.stale = Stale::Conflict;
        let mut driver = scene.reserved_on_n1(plugin);
        let mut meanwhile = reserved(claim, &[POD_UID]);
        meanwhile["apiVersion"] = "resource.k8s.io/v1alpha3".into();
        meanwhile["kind"] = "ResourceClaim".into();
        driver
            .double()
            .interfere(key(CLAIM, "a"), Some(meanwhile), false);
        assert_success(driver.pre_bind("n1"));
        let double = driver.double();
        let stored = double.stored(CLAIM, "ns", "a").unwrap();
        let uids: Vec<_> = stored["status"]["reservedFor"]
            .as_array()
            .unwrap()
            .iter()
            .map(|consumer| consumer["uid"].clone())
            .collect();
        assert_eq!(uids, [POD_UID, POD_UID]);
    });
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.claim(&reserved(
            allocated(structured("a"), &on_node("n1")),
            &[POD_UID],
        ));
        let mut driver = scene.reserved_on_n1(plugin);
        // Nobody asks the server, which would not even know the claim.
        driver.double().interfere(key(CLAIM, "a"), None, false);
        assert_success(driver.pre_bind("n1"));
        assert_eq!(driver.double().calls, [] as [Value; 0]);
    });
}

/// Somebody adds a label.
fn relabel(double: &mut Double, number: usize) {
    let mut claim = double.stored(CLAIM, "ns", "a").cloned().unwrap();
    claim["metadata"]["labels"] = json!({"changed": number.to_string()});
    double.interfere(key(CLAIM, "a"), Some(claim), false);
}

#[test]
fn t23_a_conflict_is_seen_through_its_wrapping_and_tried_five_times() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut driver = one_claim_reserved(plugin);
            for number in 0..5 {
                driver
                    .double()
                    .before(Verb::Update, move |double| relabel(double, number));
            }
            let text = format!(
                "add finalizer to claim ns/a: {}",
                conflict(&key(CLAIM, "a")).message
            );
            assert_status(driver.pre_bind("n1"), Code::Error, &text);
            let double = driver.double();
            let calls: Vec<_> = double
                .journal
                .iter()
                .filter(|line| !line.starts_with("sleep"))
                .cloned()
                .collect();
            let again = ["Get ResourceClaim", "Update ResourceClaim"];
            let expected = ["Update ResourceClaim"]
                .into_iter()
                .chain([again; 4].concat());
            assert!(
                calls.iter().map(String::as_str).take(9).eq(expected),
                "{calls:?}"
            );
            assert_eq!(calls.len(), 10, "the in-flight entry is dropped: {calls:?}");
            let pauses: Vec<u64> = double
                .journal
                .iter()
                .filter_map(|line| line.strip_prefix("sleep ")?.parse().ok())
                .collect();
            assert_eq!(pauses.len(), 4);
            assert!(
                pauses
                    .iter()
                    .all(|pause| (10_000_000..11_000_000).contains(pause)),
                "{pauses:?}"
            );
            assert_eq!(double.in_flight_claims(), [] as [Value; 0]);
        });
    }
}

#[test]
fn t23_success_on_the_last_try() {
    on_both("1.31", |plugin| {
        let mut driver = one_claim_reserved(plugin);
        for number in 0..4 {
            driver
                .double()
                .before(Verb::Update, move |double| relabel(double, number));
        }
        assert_success(driver.pre_bind("n1"));
        assert_eq!(driver.double().assumed().len(), 1);
    });
}

#[test]
fn t23_other_errors_are_final_and_named() {
    let cases = [
        (Verb::Update, "add finalizer to claim ns/a: no"),
        (
            Verb::UpdateStatus,
            "add allocation and reservation to claim ns/a: no",
        ),
    ];
    for (verb, text) in cases {
        on_both("1.31", |plugin| {
            let mut driver = one_claim_reserved(plugin);
            driver
                .double()
                .faults
                .push_back((verb, api_error(ApiErrorReason::Timeout, "no")));
            assert_status(driver.pre_bind("n1"), Code::Error, text);
            assert_eq!(driver.double().in_flight_claims(), [] as [Value; 0]);
            assert_eq!(driver.double().assumed(), [] as [Value; 0]);
        });
    }
    on_both("1.31", |plugin| {
        let mut driver = one_claim_reserved(plugin);
        driver
            .double()
            .before(Verb::Update, |double| relabel(double, 0));
        driver
            .double()
            .faults
            .push_back((Verb::Get, api_error(ApiErrorReason::Timeout, "no")));
        let text = "get updated claim ns/a after conflict: no";
        assert_status(driver.pre_bind("n1"), Code::Error, text);
    });
}

#[test]
fn t24_the_patch_of_unreserve_is_this_text_and_may_be_repeated() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let mut driver = one_claim_reserved(plugin);
            assert_success(driver.pre_bind("n1"));
            driver.double().bodies.clear();
            for _ in 0..2 {
                driver.unreserve("n1").unwrap();
            }
            let patch = r#"{"metadata": {"uid": "uid-a"}, "status": { "reservedFor": [ {"$patch": "delete", "uid": "pod-uid"} ] }}"#;
            assert_eq!(driver.double().bodies, [patch, patch]);
            let double = driver.double();
            let stored = double.stored(CLAIM, "ns", "a").unwrap();
            assert_eq!(stored["status"]["reservedFor"], json!([]));
            assert!(stored.pointer("/status/allocation").is_some());
        });
    }
}

#[test]
fn unreserve_restores_only_what_was_in_flight() {
    on_both("1.31", |plugin| {
        let mut driver = one_claim_reserved(plugin);
        driver.unreserve("n1").unwrap();
        driver.unreserve("n1").unwrap();
        assert_eq!(
            driver.double().journal,
            [
                "remove-in-flight uid-a held=true wake=false",
                "restore ns/a",
                "remove-in-flight uid-a held=false wake=false"
            ]
        );
    });
}

#[test]
fn a_failed_second_claim_leaves_the_first_written_and_unreserve_gives_it_back() {
    on_both("1.31", |plugin| {
        let mut scene = Scene::with_nodes(1);
        scene.devices("n1", &["x", "y"]);
        scene.claim(&structured("a"));
        scene.claim(&structured("b"));
        let mut driver = scene.reserved_on_n1(plugin);
        driver.double().before(Verb::UpdateStatus, |double| {
            double.faults.clear();
        });
        driver.double().before(Verb::UpdateStatus, |double| {
            let error = api_error(ApiErrorReason::Other, "no");
            double.faults.push_back((Verb::UpdateStatus, error));
        });
        let text = "add allocation and reservation to claim ns/b: no";
        assert_status(driver.pre_bind("n1"), Code::Error, text);
        driver.double().calls.clear();
        driver.unreserve("n1").unwrap();
        let double = driver.double();
        assert_eq!(double.calls.len(), 1, "{:?}", double.calls);
        assert_eq!(double.calls[0]["name"], "a");
        assert_eq!(double.in_flight_claims(), [] as [Value; 0]);
    });
}

/// Found by the random interleavings: while a pod binds, another one's PostFilter frees the claim, and it is allocated for
/// another node. What comes of the reservation, which is tried again after a conflict; with `between`, after one that finds
/// the claim without an allocation.
fn reserves_what_moved(plugin: &dyn Plugin, between: bool) -> (Code, usize) {
    let mut scene = Scene::with_nodes(2);
    scene.claim(&allocated(structured("a"), &on_node("n1")));
    scene.double.stale = Stale::Conflict;
    let mut driver = scene.reserved_on_n1(plugin);
    let change = |change: fn(&mut Value)| {
        move |double: &mut Double| {
            let mut claim = double.stored(CLAIM, "ns", "a").cloned().unwrap();
            change(&mut claim["status"]);
            double.interfere(key(CLAIM, "a"), Some(claim), false);
        }
    };
    if between {
        let free = |status: &mut Value| *status = json!({});
        driver.double().before(Verb::UpdateStatus, change(free));
    }
    let elsewhere = |status: &mut Value| {
        let result =
            json!({"request": "r", "driver": "d.example.com", "pool": "n2", "device": "x"});
        *status = json!({"allocation": {"devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": on_node("n2")}}});
    };
    driver
        .double()
        .before(Verb::UpdateStatus, change(elsewhere));
    let status = driver.pre_bind("n1").unwrap();
    let double = driver.double();
    let claim = double.stored(CLAIM, "ns", "a").unwrap();
    let consumers = claim
        .pointer("/status/reservedFor")
        .and_then(Value::as_array);
    (status.code, consumers.map_or(0, Vec::len))
}

#[test]
fn moved_claim_compat_is_reserved_for_a_pod_on_another_node() {
    on_both("1.31", |plugin| {
        for between in [false, true] {
            assert_eq!(reserves_what_moved(plugin, between), (Code::Success, 1));
        }
    });
}

#[test]
fn moved_claim_fixed_ends_the_attempt() {
    on_both("current", |plugin| {
        for between in [false, true] {
            assert_eq!(reserves_what_moved(plugin, between), (Code::Error, 0));
        }
    });
}
