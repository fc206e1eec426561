//! Patches of the status, and apply.

use super::*;

/// The patch of Unreserve, as the plugin writes it (spec section 7.9).
#[test]
fn a_reservation_is_removed_by_strategic_merge() {
    let status = json!({"allocation": allocation(), "reservedFor": [user("1"), user("2")]});
    let mut server = loaded(with(claim_value(), "/status", status));
    let patch = |uid: &str| json!({"metadata": {"uid": uid}, "status": {"reservedFor": [{"$patch": "delete", "uid": "1"}]}});
    let refused = patch_status(&mut server, PatchType::StrategicMerge, patch("other"))
        .expect_err("another uid");
    assert_eq!(
        refused.message,
        "Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"c\": Precondition failed: UID in \
         precondition: other, UID in object meta: uid-c"
    );
    patch_status(&mut server, PatchType::StrategicMerge, patch("uid-c")).expect("a patch");
    assert_eq!(
        stored(&server)["status"],
        json!({"allocation": allocation(), "reservedFor": [user("2")]})
    );
    let again =
        patch_status(&mut server, PatchType::StrategicMerge, patch("uid-c")).expect("a patch");
    assert_eq!(
        again.resource_version(),
        "8",
        "nothing changed, so nobody is told"
    );
    assert_eq!(server.watch().outstanding(&Kind::new(CLAIM)), 2);
}

#[test]
fn patches_of_status_leave_the_rest_alone() {
    let mut server = loaded(claim_value());
    let merge =
        json!({"metadata": {"labels": null}, "spec": null, "status": {"allocation": allocation()}});
    patch_status(&mut server, PatchType::Merge, merge).expect("a merge patch");
    let json_patch = json!([{"op": "test", "path": "/metadata/uid", "value": "uid-c"},
        {"op": "add", "path": "/status/reservedFor", "value": [user("1")]}]);
    patch_status(&mut server, PatchType::JsonPatch, json_patch).expect("a JSON patch");
    let now = stored(&server);
    assert_eq!(
        now["status"],
        json!({"allocation": allocation(), "reservedFor": [user("1")]})
    );
    assert_eq!(
        (&now["metadata"]["labels"], &now["spec"]),
        (&json!({"a": "1"}), &claim_value()["spec"])
    );
    let odd =
        patch_status(&mut server, PatchType::Merge, json!("text")).expect_err("no object remains");
    assert_eq!(odd.reason, ApiErrorReason::Invalid);
}

#[test]
fn a_patch_that_is_no_json_is_invalid() {
    let mut server = loaded(claim_value());
    for patch in [b"{".to_vec(), "[".repeat(20_000).into_bytes(), vec![0xff]] {
        let refused = patch_status_with(&mut server, PatchType::Merge, patch);
        assert_eq!(reason(refused), ApiErrorReason::Invalid);
    }
}

fn context(selected: Option<&str>, potential: &[&str]) -> Object {
    let mut value = json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "PodSchedulingContext",
        "metadata": {"name": "p", "namespace": "ns"}, "spec": {"potentialNodes": potential}});
    if let Some(node) = selected {
        value["spec"]["selectedNode"] = json!(node);
    }
    object(value)
}

#[test]
fn apply_creates_or_merges_owned_fields() {
    let mut server = server();
    let spec = |server: &ApiServer| {
        let kind = Kind::new("PodSchedulingContext.resource.k8s.io");
        server
            .stored(&kind, "ns", "p")
            .expect("the context")
            .value()["spec"]
            .clone()
    };
    apply(&mut server, "a", context(Some("n1"), &["n1"]), false).expect("a creation");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n1"], "selectedNode": "n1"})
    );
    apply(&mut server, "a", context(None, &["n2"]), false).expect("own fields");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n2"]}),
        "what is no longer applied goes"
    );
    let error =
        apply(&mut server, "b", context(Some("n3"), &["n3"]), false).expect_err("another's field");
    assert_eq!(error.reason, ApiErrorReason::Conflict);
    assert!(
        error.message.contains(".spec.potentialNodes"),
        "{}",
        error.message
    );
    apply(&mut server, "b", context(Some("n3"), &["n3"]), true).expect("by force");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n3"], "selectedNode": "n3"})
    );
    let nobody = apply(&mut server, "", context(None, &[]), true);
    assert_eq!(reason(nobody), ApiErrorReason::Invalid);
}

/// Spec section 8: the fallback after a conflict, on an object that somebody else labelled.
#[test]
fn apply_leaves_what_it_does_not_mention() {
    let mut value = context(Some("n1"), &["n1"]).into_value();
    value["metadata"]["labels"] = json!({"hello": "world"});
    value["status"] = json!({"resourceClaims": []});
    let mut server = loaded(value);
    let applied = context(None, &["n2"]);
    let now = apply(&mut server, "kube-scheduler", applied, true).expect("an apply");
    assert_eq!(
        now.value()["spec"],
        json!({"potentialNodes": ["n2"], "selectedNode": "n1"})
    );
    assert_eq!(now.value()["metadata"]["labels"], json!({"hello": "world"}));
    assert_eq!(now.value()["status"], json!({"resourceClaims": []}));
}
