//! Defects of 1.31 in plugin calls: the literal answer in profile 1.31, the later one in `current` (spec section 14).

use dractl::object::Kind;
use dractl::plugin::{Action, Code, Hint, ObjectEvent, Plugin, Verb};
use serde_json::{Value, json};

use super::scene::{
    POD_UID, Scene, allocated, classic, on_both, on_node, one_claim_reserved, structured,
};
use super::{UTS, WAITING, assert_status, assert_success};
use crate::conformance::double::{CLAIM, CONTEXT, Stale, typed};
use crate::conformance::driver::Driver;

const API_VERSION: &str = "resource.k8s.io/v1alpha3";

/// The driver says `n1` is unsuitable for the claim of the second entry; the first entry needs no claim.
fn d10(plugin: &dyn Plugin) -> Driver<'_> {
    let mut scene = Scene::with_nodes(1);
    scene.entry_without_claim("none");
    scene.claim(&classic("a"));
    scene.context(
        &json!({"potentialNodes": ["n1"]}),
        &json!([{"name": "a", "unsuitableNodes": ["n1"]}]),
    );
    scene.pre_filtered(plugin)
}

#[test]
fn d10_compat_the_index_of_a_shortened_list_names_the_wrong_entry() {
    on_both("1.31", |plugin| assert_success(d10(plugin).filter(0)));
}

#[test]
fn d10_fixed_the_claim_keeps_its_entry() {
    on_both("current", |plugin| {
        let text = "resourceclaim cannot be allocated for the node (unsuitable)";
        assert_status(d10(plugin).filter(0), UTS, text);
    });
}

/// Two classic claims and one structured claim; the driver answered for this many.
fn d11(plugin: &dyn Plugin, answered: usize) -> Driver<'_> {
    let mut scene = Scene::with_nodes(1);
    scene.devices("n1", &["x"]);
    for claim in [classic("a"), classic("b"), structured("s")] {
        scene.claim(&claim);
    }
    let claims: Vec<_> = ["a", "b"]
        .iter()
        .take(answered)
        .map(|name| json!({"name": name}))
        .collect();
    scene.context(&json!({"potentialNodes": ["n1"]}), &claims.into());
    let mut driver = scene.pre_filtered(plugin);
    assert_success(driver.filter(0));
    driver
}

/// `D = 2, A = 1`: S + A = D holds for one answer.
#[track_caller]
fn assert_selects(mut driver: Driver<'_>, selects: bool) {
    if !selects {
        assert_status(
            driver.reserve(0),
            Code::Pending,
            "waiting for resource driver to provide information",
        );
        return;
    }
    assert_success(driver.reserve(0));
    assert_status(driver.pre_bind("n1"), Code::Pending, WAITING);
    assert_eq!(driver.double().bodies[0]["spec"]["selectedNode"], "n1");
}

#[test]
fn d11_compat_structured_claims_count_as_information() {
    on_both("1.31", |plugin| {
        assert_selects(d11(plugin, 0), false);
        assert_selects(d11(plugin, 1), true);
        assert_selects(d11(plugin, 2), false);
    });
}

#[test]
fn d11_fixed_only_drivers_give_information() {
    on_both("current", |plugin| {
        assert_selects(d11(plugin, 0), false);
        assert_selects(d11(plugin, 1), false);
        assert_selects(d11(plugin, 2), true);
    });
}

/// The driver answered for the classic claim of a pod that has a structured one too.
fn d12(plugin: &dyn Plugin) -> Hint {
    let mut scene = Scene::with_nodes(1);
    scene.claim(&classic("a"));
    scene.claim(&structured("s"));
    let context = |claims: Value| {
        let context = json!({"metadata": {"name": "p", "namespace": "ns", "uid": "context-uid",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": POD_UID, "controller": true}]},
            "spec": {"potentialNodes": ["n1"]}, "status": {"resourceClaims": claims}});
        Some(typed(API_VERSION, "PodSchedulingContext", &context))
    };
    let event = ObjectEvent {
        kind: Kind::new(CONTEXT),
        action: Action::Update,
        old: context(json!([])),
        new: context(json!([{"name": "a"}])),
    };
    let pod = typed("v1", "Pod", &scene.pod());
    let mut driver = scene.driver(plugin);
    let mut hints = driver.instance.hints(&event, &[pod]).unwrap();
    hints.remove(0).unwrap()
}

#[test]
fn d12_compat_the_hint_waits_for_an_answer_about_a_structured_claim() {
    on_both("1.31", |plugin| assert_eq!(d12(plugin), Hint::Skip));
}

#[test]
fn d12_fixed_the_hint_waits_for_classic_claims_only() {
    on_both("current", |plugin| assert_eq!(d12(plugin), Hint::Queue));
}

fn d13(plugin: &dyn Plugin) -> String {
    let mut driver = one_claim_reserved(plugin);
    driver.unreserve("n1").unwrap();
    let double = driver.double();
    double.journal[0].clone()
}

#[test]
fn d13_compat_nobody_hears_that_a_claim_left_flight() {
    on_both("1.31", |plugin| {
        assert_eq!(d13(plugin), "remove-in-flight uid-a held=true wake=false");
    });
}

#[test]
fn d13_fixed_waiting_pods_are_woken() {
    on_both("current", |plugin| {
        assert_eq!(d13(plugin), "remove-in-flight uid-a held=true wake=true");
    });
}

/// The claim is deleted and made anew between Reserve and PreBind. Returns what is left in flight.
fn d14(plugin: &dyn Plugin) -> Vec<Value> {
    let mut driver = one_claim_reserved(plugin);
    let mut again = typed(API_VERSION, "ResourceClaim", &structured("a")).into_value();
    again["metadata"]["uid"] = "uid-again".into();
    let key = (Kind::new(CLAIM), "ns".to_owned(), "a".to_owned());
    driver.double().interfere(key, Some(again), false);
    assert_success(driver.pre_bind("n1"));
    driver.double().in_flight_claims()
}

#[test]
fn d14_compat_the_uid_that_was_seen_last_is_removed() {
    on_both("1.31", |plugin| {
        let left = d14(plugin);
        assert_eq!(left.len(), 1);
        assert_eq!(left[0]["metadata"]["uid"], "uid-a");
    });
}

#[test]
fn d14_fixed_the_original_uid_is_removed() {
    on_both("current", |plugin| {
        assert_eq!(d14(plugin), [] as [Value; 0]);
    });
}

/// The context selects the node already, only its potential nodes change; somebody else writes it at the same time. Returns
/// the body of the server-side apply.
fn d15(plugin: &dyn Plugin) -> Value {
    let mut scene = Scene::with_nodes(1);
    scene.claim(&classic("a"));
    scene.context(
        &json!({"selectedNode": "n1", "potentialNodes": ["n2"]}),
        &json!([]),
    );
    scene.double.stale = Stale::Conflict;
    let mut driver = scene.reserved_on_n1(plugin);
    driver.double().before(Verb::Update, |double| {
        let mut context = double.stored(CONTEXT, "ns", "p").cloned().unwrap();
        context["metadata"]["labels"] = json!({"a": "b"});
        let key = (Kind::new(CONTEXT), "ns".to_owned(), "p".to_owned());
        double.interfere(key, Some(context), false);
    });
    assert_status(driver.pre_bind("n1"), Code::Pending, WAITING);
    let double = driver.double();
    assert_eq!(
        double.journal,
        ["Update PodSchedulingContext", "Apply PodSchedulingContext"]
    );
    double.bodies[1].clone()
}

#[test]
fn d15_compat_apply_leaves_out_a_selected_node_that_did_not_change() {
    on_both("1.31", |plugin| {
        assert_eq!(
            d15(plugin),
            json!({"apiVersion": API_VERSION, "kind": "PodSchedulingContext",
                "metadata": {"name": "p", "namespace": "ns"}, "spec": {"potentialNodes": ["n1"]}})
        );
    });
}

#[test]
fn d15_fixed_apply_repeats_it() {
    on_both("current", |plugin| {
        assert_eq!(
            d15(plugin)["spec"],
            json!({"selectedNode": "n1", "potentialNodes": ["n1"]})
        );
    });
}

/// Pod A's bind has assumed the claim and not yet dropped its entry; pod B, which shares the claim, is unreserved.
#[test]
fn d16_only_the_owner_takes_an_entry_out_and_restores() {
    for profile in ["1.31", "current"] {
        on_both(profile, |plugin| {
            let mut scene = Scene::with_nodes(1);
            let claim = allocated(structured("a"), &on_node("n1"));
            scene.claim(&claim);
            scene.double.load_in_flight("pod-a", &claim);
            let mut driver = scene.reserved_on_n1(plugin);
            driver.unreserve("n1").unwrap();
            let double = driver.double();
            assert_eq!(double.in_flight_claims().len(), 1);
            assert!(
                !double
                    .journal
                    .iter()
                    .any(|line| line.starts_with("restore")),
                "{:?}",
                double.journal
            );
        });
    }
}
