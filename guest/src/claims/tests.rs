//! Rules of spec section 6; the recorded tables of upstream's helpers are run by the package `tests`.

use std::rc::Rc;

use serde_json::{Value, json};

use super::*;
use crate::api::wire;

/// A pod of namespace `ns` with uid 1; entries are (name, claim name, template name).
fn pod(entries: &[(&str, Option<&str>, Option<&str>)], statuses: &[(&str, Option<&str>)]) -> Pod {
    let owned = |text: &Option<&str>| text.map(str::to_owned);
    Pod {
        meta: ObjectMeta {
            name: "p".into(),
            namespace: "ns".into(),
            uid: "1".into(),
            ..ObjectMeta::default()
        },
        resource_claims: entries
            .iter()
            .map(|(name, by_name, by_template)| PodResourceClaim {
                name: (*name).into(),
                resource_claim_name: owned(by_name),
                resource_claim_template_name: owned(by_template),
            })
            .collect(),
        resource_claim_statuses: statuses
            .iter()
            .map(|(name, claim)| ((*name).into(), owned(claim)))
            .collect(),
    }
}

fn claim(name: &str, change: impl FnOnce(&mut Value)) -> Rc<ResourceClaim> {
    let mut json = json!({"apiVersion": "resource.k8s.io/v1", "metadata": {"name": name, "namespace": "ns"},
        "spec": {"devices": {"requests": []}}});
    change(&mut json);
    Rc::new(wire::resource_claim(json.to_string().as_bytes(), &Profile::current()).unwrap())
}

/// Walks with a cache of these claims; gives the entries' indices and the claims' names.
fn walk(
    pod: &Pod,
    claims: &[Rc<ResourceClaim>],
    profile: &Profile,
) -> Result<Vec<(usize, String)>, String> {
    let get = |namespace: &str, name: &str| {
        let found = claims
            .iter()
            .find(|c| c.meta.namespace == namespace && c.meta.name == name);
        found
            .cloned()
            .ok_or_else(|| format!("could not find ResourceClaim \"{namespace}/{name}\""))
    };
    let found = pod_claims(pod, profile, get)?;
    Ok(found
        .into_iter()
        .map(|c| (c.entry, c.claim.meta.name.clone()))
        .collect())
}

#[test]
fn claims_come_in_the_order_of_the_spec_and_entries_without_claim_are_left_out() {
    let pod = pod(
        &[
            ("a", None, Some("t")),
            ("b", Some("second"), None),
            ("c", None, Some("t")),
        ],
        &[("a", None), ("c", Some("p-c")), ("c", Some("ignored"))],
    );
    let generated = claim("p-c", |json| {
        json["metadata"]["ownerReferences"] = json!([{"uid": "1", "controller": true}])
    });
    let claims = [generated, claim("second", |_| {})];
    for profile in [Profile::v1_31(), Profile::current()] {
        let expected = Ok(vec![(1, "second".to_owned()), (2, "p-c".to_owned())]);
        assert_eq!(walk(&pod, &claims, &profile), expected);
    }
}

#[test]
fn the_first_trouble_ends_the_walk() {
    let deleted = claim("gone", |json| {
        json["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into()
    });
    let foreign = claim("foreign", |json| {
        json["metadata"]["ownerReferences"] = json!([{"uid": "2", "controller": true}])
    });
    let claims = [deleted, foreign];
    let v1_31 = Profile::v1_31();
    let check = |pod: Pod, expected: &str| {
        assert_eq!(walk(&pod, &claims, &v1_31), Err(expected.to_owned()))
    };
    check(
        pod(&[("a", None, Some("t"))], &[("b", Some("x"))]),
        "pod \"ns/p\": ResourceClaim not created yet",
    );
    check(
        pod(&[("a\"b", None, None), ("c", Some("gone"), None)], &[]),
        "pod \"ns/p\", spec.resourceClaim \"a\\\"b\": none of the supported fields are set",
    );
    check(
        pod(&[("a", Some("missing"), None)], &[]),
        "could not find ResourceClaim \"ns/missing\"",
    );
    check(
        pod(&[("a", Some("gone"), None)], &[]),
        "resourceclaim \"gone\" is being deleted",
    );
    check(
        pod(&[("a", None, Some("t"))], &[("a", Some("foreign"))]),
        "ResourceClaim ns/foreign was not created for pod ns/p (pod is not owner)",
    );
    assert_eq!(
        walk(
            &pod(&[("a", None, Some("t"))], &[("a", Some("foreign"))]),
            &claims,
            &Profile::current()
        ),
        Err("ResourceClaim ns/foreign was not created for Pod ns/p (Pod is not owner)".to_owned())
    );
    // Named directly, the owner does not matter.
    assert!(walk(&pod(&[("a", Some("foreign"), None)], &[]), &claims, &v1_31).is_ok());
}

#[test]
fn only_the_first_controlling_owner_counts() {
    let owned = |owners: Value| claim("c", |json| json["metadata"]["ownerReferences"] = owners);
    let cases = [
        (json!([{"uid": "1"}]), false),
        (json!([{"uid": "1", "controller": false}]), false),
        (
            json!([{"uid": "2", "controller": true}, {"uid": "1", "controller": true}]),
            false,
        ),
        (
            json!([{"uid": "2"}, {"uid": "1", "controller": true}]),
            true,
        ),
    ];
    for (owners, expected) in cases {
        assert_eq!(
            is_controlled_by(&owned(owners.clone()).meta, "1"),
            expected,
            "{owners}"
        );
    }
}

#[test]
fn reservations() {
    let reserved = |uids: Value| {
        let consumers: Vec<Value> = uids
            .as_array()
            .unwrap()
            .iter()
            .map(|uid| json!({"resource": "pods", "name": "p", "uid": uid}))
            .collect();
        claim("c", |json| {
            json["status"] = json!({"reservedFor": consumers})
        })
    };
    for (uids, here, nobody_else) in [
        (json!([]), false, true),
        (json!(["1"]), true, true),
        (json!(["2"]), false, false),
        (json!(["2", "1"]), true, false),
    ] {
        let claim = reserved(uids);
        assert_eq!(is_reserved_for(&claim, "1"), here);
        assert_eq!(is_reserved_for_nobody_else(&claim, "1"), nobody_else);
    }
}

#[test]
fn the_entry_of_a_claim_after_one_without_claim() {
    // D10: 1.31 takes the position among the claims for the index in the spec.
    let pod = pod(
        &[("none", None, Some("t")), ("b", Some("b"), None)],
        &[("none", None)],
    );
    let claims = [PodClaim {
        entry: 1,
        claim: (),
    }];
    assert_eq!(
        entry_name(&pod, &claims, 0, &Profile::v1_31()),
        Some("none")
    );
    assert_eq!(entry_name(&pod, &claims, 0, &Profile::current()), Some("b"));
    assert_eq!(entry_name(&pod, &claims, 1, &Profile::current()), None);
    assert_eq!(entry_name(&pod, &claims, 2, &Profile::v1_31()), None);
}
