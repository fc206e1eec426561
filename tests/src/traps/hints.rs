//! Each numbered step of the hint functions (spec section 12), and the events that are registered.

use dractl::object::{Kind, Object};
use dractl::plugin::{Action, Hint, ObjectEvent, Plugin};
use serde_json::{Value, json};

use super::scene::{
    POD_UID, PROFILES, Scene, allocated, classic, on_both, on_node, reserved, structured,
    with_gates,
};
use crate::conformance::double::{CLAIM, CONTEXT, typed};

const API_VERSION: &str = "resource.k8s.io/v1alpha3";
const SLICE: &str = "ResourceSlice.resource.k8s.io";

/// The answer for a pod with these claims, all in the cache.
fn hint(
    plugin: &dyn Plugin,
    claims: &[Value],
    kind: &str,
    old: Option<Value>,
    new: Option<Value>,
) -> Result<Hint, String> {
    let mut scene = Scene::with_nodes(1);
    for claim in claims {
        scene.claim(claim);
    }
    ask(plugin, scene, kind, old, new)
}

fn ask(
    plugin: &dyn Plugin,
    scene: Scene,
    kind: &str,
    old: Option<Value>,
    new: Option<Value>,
) -> Result<Hint, String> {
    let short = kind.split('.').next().unwrap_or(kind);
    let object = |value: Option<Value>| -> Option<Object> {
        value.map(|value| typed(API_VERSION, short, &value))
    };
    let (old, new) = (object(old), object(new));
    let action = match (&old, &new) {
        (None, _) => Action::Add,
        (Some(_), Some(_)) => Action::Update,
        (Some(_), None) => Action::Delete,
    };
    let event = ObjectEvent {
        kind: Kind::new(kind),
        action,
        old,
        new,
    };
    let pod = typed("v1", "Pod", &scene.pod());
    let mut driver = scene.driver(plugin);
    let mut hints = driver.instance.hints(&event, &[pod]).unwrap();
    assert_eq!(hints.len(), 1);
    hints.remove(0)
}

const SKIP: Result<Hint, String> = Ok(Hint::Skip);
const QUEUE: Result<Hint, String> = Ok(Hint::Queue);

/// A pod whose second claim is not there.
fn unresolvable() -> Scene {
    let mut scene = Scene::with_nodes(1);
    scene.claim(&structured("a"));
    scene.claim_that_is_missing("b");
    scene
}

#[test]
fn claim_1_a_pod_without_its_claims_stays_even_if_devices_become_free() {
    on_both("1.31", |plugin| {
        let freed = allocated(structured("other"), &on_node("n1"));
        let answer = ask(
            plugin,
            unresolvable(),
            CLAIM,
            Some(freed),
            Some(structured("other")),
        );
        assert_eq!(answer, SKIP);
    });
}

#[test]
fn claim_2_devices_that_become_free_help_any_pod() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let other = structured("other");
            let freed = allocated(other.clone(), &on_node("n1"));
            let pod = [structured("a")];
            assert_eq!(hint(plugin, &pod, CLAIM, Some(freed), Some(other)), QUEUE);
            // A driver's devices are the driver's business.
            let other = classic("other");
            let freed = allocated(other.clone(), &on_node("n1"));
            assert_eq!(hint(plugin, &pod, CLAIM, Some(freed), Some(other)), SKIP);
        });
    }
}

#[test]
fn claim_3_to_6_only_the_status_of_its_own_claim_helps() {
    for profile in PROFILES {
        on_both(profile, |plugin| {
            let a = structured("a");
            let there = allocated(a.clone(), &on_node("n1"));
            let pod = [there.clone()];
            let other = reserved(allocated(structured("other"), &on_node("n1")), &["x"]);
            assert_eq!(hint(plugin, &pod, CLAIM, None, Some(other)), SKIP);
            assert_eq!(hint(plugin, &pod, CLAIM, None, Some(there.clone())), QUEUE);
            let mut labelled = there.clone();
            labelled["metadata"]["labels"] = json!({"a": "b"});
            labelled["status"]["reservedFor"] = json!([]);
            assert_eq!(
                hint(plugin, &pod, CLAIM, Some(there.clone()), Some(labelled)),
                SKIP
            );
            let taken = reserved(there.clone(), &["x"]);
            assert_eq!(
                hint(plugin, &pod, CLAIM, Some(taken), Some(there.clone())),
                QUEUE
            );
            // Absent and empty are different allocations.
            let mut empty = a.clone();
            empty["status"] = json!({"allocation": {"devices": {}}});
            assert_eq!(hint(plugin, &pod, CLAIM, Some(a), Some(empty)), QUEUE);
        });
    }
}

#[test]
fn a_deleted_claim_frees_its_devices_for_others_since_it_is_registered() {
    let deleted = allocated(structured("other"), &on_node("n1"));
    for (profile, expected) in [("1.31", SKIP), ("current", QUEUE)] {
        on_both(profile, |plugin| {
            let answer = hint(
                plugin,
                &[structured("a")],
                CLAIM,
                Some(deleted.clone()),
                None,
            );
            assert_eq!(answer, expected);
        });
    }
}

#[test]
fn slices_help_every_pod_whose_claims_are_there() {
    on_both("1.31", |plugin| {
        let slice = json!({"metadata": {"name": "s", "uid": "s"}, "spec": {"driver": "d.example.com",
            "allNodes": true, "devices": [],
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}});
        assert_eq!(
            hint(plugin, &[structured("a")], SLICE, None, Some(slice.clone())),
            QUEUE
        );
        assert_eq!(hint(plugin, &[], SLICE, None, Some(slice.clone())), QUEUE);
        assert_eq!(ask(plugin, unresolvable(), SLICE, None, Some(slice)), SKIP);
    });
}

fn context(name: &str, spec: &Value, claims: &Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns", "uid": "context-uid",
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": POD_UID, "controller": true}]},
        "spec": spec, "status": {"resourceClaims": claims}})
}

#[test]
fn context_1_and_2_a_deletion_and_another_pods_context_do_not_help() {
    on_both("1.31", |plugin| {
        let pod = [classic("a")];
        let full = json!([{"name": "a"}]);
        let own = context("p", &json!({}), &full);
        assert_eq!(hint(plugin, &pod, CONTEXT, Some(own.clone()), None), SKIP);
        assert_eq!(hint(plugin, &pod, CONTEXT, None, Some(own)), QUEUE);
        let other = context("q", &json!({}), &full);
        assert_eq!(hint(plugin, &pod, CONTEXT, None, Some(other)), SKIP);
    });
}

#[test]
fn context_3_every_unallocated_claim_needs_an_answer() {
    on_both("1.31", |plugin| {
        let answered = |names: &[&str]| {
            let claims: Vec<_> = names.iter().map(|name| json!({"name": name})).collect();
            Some(context("p", &json!({}), &claims.into()))
        };
        let pod = [classic("a"), classic("b")];
        assert_eq!(hint(plugin, &pod, CONTEXT, None, answered(&["a"])), SKIP);
        assert_eq!(
            hint(plugin, &pod, CONTEXT, None, answered(&["b", "a"])),
            QUEUE
        );
        let pod = [classic("a"), allocated(classic("b"), &on_node("n1"))];
        assert_eq!(hint(plugin, &pod, CONTEXT, None, answered(&["a"])), QUEUE);
    });
}

#[test]
fn context_4_to_7_what_changed_decides() {
    on_both("1.31", |plugin| {
        let pod = [classic("a")];
        let (one, two) = (
            json!([{"name": "a"}]),
            json!([{"name": "a"}, {"name": "b"}]),
        );
        let unsuitable = json!([{"name": "a", "unsuitableNodes": ["n1"]}]);
        let (none, selected) = (json!({}), json!({"selectedNode": "n1"}));
        let cases = [
            // 4: more answers than before.
            (
                context("p", &none, &one),
                context("p", &selected, &two),
                QUEUE,
            ),
            // 5: the selected node is unsuitable, whatever else changed.
            (
                context("p", &none, &unsuitable),
                context("p", &selected, &unsuitable),
                QUEUE,
            ),
            // 6: the scheduler's own change.
            (
                context("p", &none, &one),
                context("p", &selected, &one),
                SKIP,
            ),
            (
                context("p", &none, &two),
                context("p", &selected, &two),
                SKIP,
            ),
            // 7: the driver's change, and anything else.
            (
                context("p", &selected, &one),
                context("p", &selected, &one),
                QUEUE,
            ),
            (
                context("p", &none, &one),
                context(
                    "p",
                    &selected,
                    &json!([{"name": "a", "unsuitableNodes": ["n2"]}]),
                ),
                QUEUE,
            ),
        ];
        for (old, new, expected) in cases {
            let answer = hint(plugin, &pod, CONTEXT, Some(old.clone()), Some(new.clone()));
            assert_eq!(answer, expected, "{old} -> {new}");
        }
    });
}

/// Kinds with actions, in order; a star where hints are asked.
fn registered(plugin: &dyn Plugin) -> Vec<String> {
    let mut driver = Scene::with_nodes(1).driver(plugin);
    let interests = driver.instance.events_to_register().unwrap();
    let mut registered: Vec<_> = interests
        .into_iter()
        .map(|interest| {
            let star = if interest.hinted { "*" } else { "" };
            format!("{}{star} {:?}", interest.kind.short(), interest.actions)
        })
        .collect();
    registered.sort();
    registered
}

#[test]
fn registered_events_depend_on_the_gates() {
    with_gates("1.31", &json!({}), |plugin| {
        assert_eq!(
            registered(plugin),
            [
                "DeviceClass [Add, Update]",
                "Node [Add, Update]",
                "ResourceClaim [Add, Update]",
                "ResourceSlice [Add, Update]"
            ]
        );
    });
    let all = json!({"DRAControlPlaneController": true, "SchedulerQueueingHints": true});
    with_gates("1.31", &all, |plugin| {
        assert_eq!(
            registered(plugin),
            [
                "DeviceClass [Add, Update]",
                "Node [Add, Update]",
                "PodSchedulingContext* [Add, Update]",
                "ResourceClaim* [Add, Update]",
                "ResourceSlice* [Add, Update]"
            ]
        );
    });
}
