//! Create, update, update of the status, delete and bind: spec sections 1.3 and 1.9.

use super::*;

#[test]
fn update_writes_metadata_and_spec_but_not_status() {
    let mut server = loaded(with(
        claim_value(),
        "/status",
        json!({"allocation": allocation()}),
    ));
    let mut sent = with(claim_value(), "/metadata/finalizers", json!(["f"]));
    sent["status"] = json!({"allocation": null});
    sent["metadata"]["creationTimestamp"] = json!("2000-01-01T00:00:00Z");
    let answer = update(&mut server, sent).expect("an update");
    assert_eq!(answer.resource_version(), "8");
    let now = stored(&server);
    assert_eq!(now["metadata"]["finalizers"], json!(["f"]));
    assert_eq!(now["status"], json!({"allocation": allocation()}));
    assert_eq!(
        now["spec"]["devices"]["odd"],
        json!({"kept": true}),
        "unknown fields survive"
    );
    assert!(
        now["metadata"].get("creationTimestamp").is_none(),
        "it belongs to the server"
    );
}

#[test]
fn update_status_writes_nothing_else() {
    let mut server = loaded(claim_value());
    let mut sent = with(
        claim_value(),
        "/status",
        json!({"allocation": allocation(), "devices": [{"odd": 1}]}),
    );
    sent["metadata"]["finalizers"] = json!(["f"]);
    sent["metadata"]["labels"] = json!({"b": "2"});
    sent["spec"] = json!({});
    update_status(&mut server, sent).expect("an update");
    let now = stored(&server);
    assert_eq!(
        now["status"],
        json!({"allocation": allocation(), "devices": [{"odd": 1}]})
    );
    assert_eq!(
        now["metadata"],
        with(claim_value(), "/metadata/resourceVersion", json!("8"))["metadata"]
    );
    assert_eq!(now["spec"], claim_value()["spec"]);
}

/// Trap T6: the finalizer goes by Update, the allocation by UpdateStatus with the version that the first returned.
#[test]
fn a_fresh_claim_is_written_in_two_steps() {
    let mut server = loaded(claim_value());
    let first = update(
        &mut server,
        with(claim_value(), "/metadata/finalizers", json!(["f"])),
    )
    .expect("step one");
    let status = json!({"allocation": allocation(), "reservedFor": [user("1")]});
    let from_the_start = with(claim_value(), "/status", status.clone());
    assert_eq!(
        reason(update_status(&mut server, from_the_start)),
        ApiErrorReason::Conflict
    );
    let second = with(first.value().clone(), "/status", status.clone());
    let second = update_status(&mut server, second).expect("step two");
    assert_eq!(second.resource_version(), "9");
    assert_eq!(second.value()["status"], status);
    assert_eq!(second.value()["metadata"]["finalizers"], json!(["f"]));
}

#[test]
fn stale_versions_and_other_uids_conflict_in_every_write() {
    let stale = with(claim_value(), "/metadata/resourceVersion", json!("6"));
    let other = with(claim_value(), "/metadata/uid", json!("other"));
    let patch = |metadata: Value| json!({"metadata": metadata, "status": {"x": 1}});
    for value in [&stale, &other] {
        let mut server = loaded(claim_value());
        assert_eq!(
            reason(update(&mut server, value.clone())),
            ApiErrorReason::Conflict
        );
        assert_eq!(
            reason(update_status(&mut server, value.clone())),
            ApiErrorReason::Conflict
        );
        assert_eq!(
            reason(apply(&mut server, "m", object(value.clone()), true)),
            ApiErrorReason::Conflict
        );
        assert_eq!(stored(&server), claim_value(), "nothing was written");
    }
    let mut server = loaded(claim_value());
    for metadata in [json!({"uid": "other"}), json!({"resourceVersion": "6"})] {
        for patch_type in [PatchType::Merge, PatchType::StrategicMerge] {
            let refused = patch_status(&mut server, patch_type, patch(metadata.clone()));
            assert_eq!(reason(refused), ApiErrorReason::Conflict);
        }
    }
    let other = object(other);
    assert_eq!(
        reason(delete(&mut server, other.id())),
        ApiErrorReason::Conflict
    );
    assert_eq!(stored(&server), claim_value());
}

#[test]
fn without_a_version_the_last_write_wins() {
    let mut server = loaded(claim_value());
    let mut sent = with(claim_value(), "/metadata/labels", json!({"a": "2"}));
    sent["metadata"]
        .as_object_mut()
        .expect("metadata")
        .retain(|name, _| name != "resourceVersion" && name != "uid");
    let answer = update(&mut server, sent).expect("an update");
    assert_eq!(
        (answer.resource_version(), &*answer.id().uid),
        ("8", "uid-c")
    );
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut server = server();
    let expected = "resourceclaims.resource.k8s.io \"c\" not found";
    let target = object(claim_value()).id().clone();
    let errors = [
        update(&mut server, claim_value()).expect_err("no object"),
        update_status(&mut server, claim_value()).expect_err("no object"),
        patch_status(&mut server, PatchType::Merge, json!({})).expect_err("no object"),
        delete(&mut server, &target).expect_err("no object"),
        get(&mut server).expect_err("no object"),
    ];
    for error in errors {
        assert_eq!(
            (error.reason, error.message.as_str()),
            (ApiErrorReason::NotFound, expected)
        );
    }
}

#[test]
fn claim_status_invariants_are_answered_with_invalid() {
    let mut server = loaded(claim_value());
    let error = update_status(
        &mut server,
        with(
            claim_value(),
            "/status",
            json!({"reservedFor": [user("1")]}),
        ),
    )
    .expect_err("no allocation");
    assert_eq!(error.reason, ApiErrorReason::Invalid);
    assert_eq!(
        error.message,
        "ResourceClaim.resource.k8s.io \"c\" is invalid: status.reservedFor: Forbidden: a claim that is not allocated \
         cannot be reserved"
    );
}

#[test]
fn another_api_version_is_refused() {
    let mut server = loaded(claim_value());
    let sent = with(
        claim_value(),
        "/apiVersion",
        json!("resource.k8s.io/v1beta1"),
    );
    for refused in [
        update(&mut server, sent.clone()),
        update_status(&mut server, sent),
    ] {
        let error = refused.expect_err("another version");
        assert_eq!(error.reason, ApiErrorReason::Invalid);
        for version in [
            "\"resource.k8s.io/v1beta1\"",
            "stored as resource.k8s.io/v1 ",
        ] {
            assert!(error.message.contains(version), "{}", error.message);
        }
    }
}

#[test]
fn create_makes_what_the_server_makes() {
    let mut server = loaded(claim_value());
    let sent = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "new", "uid": "mine"}, "status": {"allocation": allocation()},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "x"}}]}}});
    let made = create(&mut server, sent.clone()).expect("a creation");
    assert_eq!(
        (&*made.id().namespace, made.resource_version()),
        ("default", "8")
    );
    assert!(!made.id().uid.is_empty() && &*made.id().uid != "mine");
    assert_eq!(
        made.text("/metadata/creationTimestamp"),
        Some("2024-09-01T10:00:00Z")
    );
    assert_eq!(made.value().get("status"), None);
    assert_eq!(
        made.value()
            .pointer("/spec/devices/requests/0/exactly/count"),
        Some(&json!(1)),
        "defaults"
    );
    let error = create(&mut server, sent).expect_err("the name is taken");
    assert_eq!(error.reason, ApiErrorReason::AlreadyExists);
    assert_eq!(
        error.message,
        "resourceclaims.resource.k8s.io \"new\" already exists"
    );
}

#[test]
fn finalizers_hold_an_object() {
    let mut server = loaded(with(claim_value(), "/metadata/finalizers", json!(["f"])));
    let target = object(claim_value()).id().clone();
    delete(&mut server, &target).expect("a deletion");
    let now = stored(&server);
    assert_eq!(now["metadata"]["deletionTimestamp"], "2024-09-01T10:00:00Z");
    assert_eq!(now["metadata"]["resourceVersion"], "8");
    delete(&mut server, &target).expect("again");
    assert_eq!(stored(&server), now, "it is being deleted already");
    let added = update(
        &mut server,
        with(now.clone(), "/metadata/finalizers", json!(["f", "g"])),
    );
    assert_eq!(reason(added), ApiErrorReason::Invalid);
    update(&mut server, with(now, "/metadata/finalizers", json!([])))
        .expect("the last finalizer goes");
    assert!(server.stored(&Kind::new(CLAIM), "ns", "c").is_none());
    let whats: Vec<WatchType> = server
        .watch()
        .take_due()
        .iter()
        .map(|event| event.what)
        .collect();
    assert_eq!(
        whats,
        [WatchType::Added, WatchType::Modified, WatchType::Deleted]
    );
}

#[test]
fn readers_are_spared_managed_fields_and_writers_keep_them() {
    let mut value = with(
        claim_value(),
        "/metadata/managedFields",
        json!([{"manager": "m"}]),
    );
    value["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": "{}", "b": "2"});
    let mut server = loaded(value.clone());
    let shown = get(&mut server).expect("a read");
    assert_eq!(shown.value()["metadata"].get("managedFields"), None);
    assert_eq!(shown.value()["metadata"]["annotations"], json!({"b": "2"}));
    assert!(
        server.watch().take_due()[0].object.is(&shown),
        "one copy for everybody"
    );
    update(
        &mut server,
        with(shown.value().clone(), "/metadata/labels", json!({})),
    )
    .expect("an update");
    let now = stored(&server);
    assert_eq!(
        now["metadata"]["managedFields"],
        value["metadata"]["managedFields"]
    );
    assert_eq!(
        now["metadata"]["annotations"],
        value["metadata"]["annotations"]
    );
    assert_eq!(now["metadata"]["labels"], json!({}));
}

#[test]
fn binding_sets_the_node_once() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u"}, "spec": {"x": 1},
        "status": {"conditions": [{"type": "PodScheduled", "status": "False"}]}});
    let mut server = loaded(pod.clone());
    let id = object(pod).id().clone();
    let stranger = ObjectRef {
        uid: "other".into(),
        ..id.clone()
    };
    assert_eq!(
        reason(server.bind(Caller::Scheduler, &stranger, "n")),
        ApiErrorReason::Conflict
    );
    let bound = server.bind(Caller::Scheduler, &id, "n").expect("a binding");
    assert_eq!(bound.value()["spec"], json!({"x": 1, "nodeName": "n"}));
    assert_eq!(bound.text("/status/conditions/0/status"), Some("True"));
    let again = server
        .bind(Caller::Scheduler, &id, "m")
        .expect_err("bound already");
    assert_eq!(again.reason, ApiErrorReason::Conflict);
    let calls: Vec<(Operation, bool)> = server
        .journal()
        .map(|call| (call.operation, call.took_effect))
        .collect();
    assert_eq!(
        calls,
        [
            (Operation::Bind, false),
            (Operation::Bind, true),
            (Operation::Bind, false)
        ]
    );
}
