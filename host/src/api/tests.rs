//! Writes, conflicts, faults, loading. Expected behaviour: spec sections 1.3 and 1.9, contract interface `api`.

use serde_json::{Value, json};

use super::*;
use crate::clock::SECOND;
use crate::plugin::{ApiErrorReason, PatchType};
use crate::stand_ins;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";

fn server() -> ApiServer {
    ApiServer::new(stand_ins::RULES, Clock::starting_at(1_725_184_800 * SECOND))
}

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn claim_value() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ns", "uid": "uid-c", "resourceVersion": "7", "labels": {"a": "1"}},
        "spec": {"devices": {"requests": [], "odd": {"kept": true}}},
    })
}

fn loaded(value: Value) -> ApiServer {
    let mut server = server();
    assert_eq!(server.load(vec![object(value)]), []);
    server
}

fn stored(server: &ApiServer) -> Value {
    server
        .stored(&Kind::new(CLAIM), "ns", "c")
        .expect("the claim is there")
        .value()
        .clone()
}

fn call(server: &mut ApiServer, call: ApiCall) -> Result<Option<Object>, ApiError> {
    server.call(Caller::Plugin, &call)
}

fn update(server: &mut ApiServer, value: Value) -> Result<Object, ApiError> {
    call(
        server,
        ApiCall::Update {
            object: object(value),
        },
    )
    .map(|object| object.expect("an object"))
}

fn update_status(server: &mut ApiServer, value: Value) -> Result<Object, ApiError> {
    call(
        server,
        ApiCall::UpdateStatus {
            object: object(value),
        },
    )
    .map(|object| object.expect("an object"))
}

fn patch_status(
    server: &mut ApiServer,
    patch_type: PatchType,
    patch: Value,
) -> Result<Object, ApiError> {
    let (namespace, name, patch) = ("ns".into(), "c".into(), patch.to_string().into_bytes());
    let patch = ApiCall::PatchStatus {
        kind: Kind::new(CLAIM),
        namespace,
        name,
        patch_type,
        patch,
    };
    call(server, patch).map(|object| object.expect("an object"))
}

fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a field");
    value.pointer_mut(parent).expect("a parent")[field] = new;
    value
}

fn reason<T: std::fmt::Debug>(result: Result<T, ApiError>) -> ApiErrorReason {
    result.expect_err("a failure").reason
}

fn allocation() -> Value {
    json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}})
}

fn user(uid: &str) -> Value {
    json!({"resource": "pods", "name": uid, "uid": uid})
}

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
    let apply = |value: &Value| ApiCall::Apply {
        object: object(value.clone()),
        field_manager: "m".into(),
        force: true,
    };
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
            reason(call(&mut server, apply(value))),
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
    let target = object(other).id().clone();
    assert_eq!(
        reason(call(&mut server, ApiCall::Delete { target })),
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
    let get = ApiCall::Get {
        kind: Kind::new(CLAIM),
        namespace: "ns".into(),
        name: "c".into(),
    };
    let errors = [
        update(&mut server, claim_value()).expect_err("no object"),
        update_status(&mut server, claim_value()).expect_err("no object"),
        patch_status(&mut server, PatchType::Merge, json!({})).expect_err("no object"),
        call(
            &mut server,
            ApiCall::Delete {
                target: target.clone(),
            },
        )
        .expect_err("no object"),
        call(&mut server, get).expect_err("no object"),
    ];
    for error in errors {
        assert_eq!(
            (error.reason, error.message.as_str()),
            (ApiErrorReason::NotFound, expected)
        );
    }
}

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
    let (kind, namespace, name) = (Kind::new(CLAIM), "ns".to_owned(), "c".to_owned());
    for patch in [b"{".to_vec(), "[".repeat(20_000).into_bytes(), vec![0xff]] {
        let (kind, namespace, name) = (kind.clone(), namespace.clone(), name.clone());
        let patch = ApiCall::PatchStatus {
            kind,
            namespace,
            name,
            patch_type: PatchType::Merge,
            patch,
        };
        assert_eq!(reason(call(&mut server, patch)), ApiErrorReason::Invalid);
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
    let create = ApiCall::Create {
        object: object(sent),
    };
    let made = call(&mut server, create.clone())
        .expect("a creation")
        .expect("an object");
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
    let error = call(&mut server, create).expect_err("the name is taken");
    assert_eq!(error.reason, ApiErrorReason::AlreadyExists);
    assert_eq!(
        error.message,
        "resourceclaims.resource.k8s.io \"new\" already exists"
    );
}

#[test]
fn uids_are_stable_and_differ_between_lives() {
    let value = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let (mut one, mut two) = (server(), server());
    let pod = Kind::new("Pod");
    let mut uids = Vec::new();
    for server in [&mut one, &mut two] {
        server.load(vec![object(value.clone())]);
        uids.push(
            server
                .stored(&pod, "default", "p")
                .expect("the pod")
                .id()
                .uid
                .clone(),
        );
    }
    assert_eq!(uids[0], uids[1]);
    assert_eq!(uids[0].len(), 36);
    let target = ObjectRef {
        kind: pod,
        namespace: "".into(),
        name: "p".into(),
        uid: "".into(),
    };
    let gone = call(&mut one, ApiCall::Delete { target }).expect("a deletion");
    assert!(gone.is_none());
    let again = call(
        &mut one,
        ApiCall::Create {
            object: object(value),
        },
    )
    .expect("a creation")
    .expect("an object");
    assert_ne!(again.id().uid, uids[0]);
}

#[test]
fn finalizers_hold_an_object() {
    let mut server = loaded(with(claim_value(), "/metadata/finalizers", json!(["f"])));
    let target = object(claim_value()).id().clone();
    call(
        &mut server,
        ApiCall::Delete {
            target: target.clone(),
        },
    )
    .expect("a deletion");
    let now = stored(&server);
    assert_eq!(now["metadata"]["deletionTimestamp"], "2024-09-01T10:00:00Z");
    assert_eq!(now["metadata"]["resourceVersion"], "8");
    call(&mut server, ApiCall::Delete { target }).expect("again");
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
    let get = ApiCall::Get {
        kind: Kind::new(CLAIM),
        namespace: "ns".into(),
        name: "c".into(),
    };
    let shown = call(&mut server, get).expect("a read").expect("an object");
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
    let apply = |manager: &str, object: Object, force: bool| ApiCall::Apply {
        object,
        field_manager: manager.into(),
        force,
    };
    let spec = |server: &ApiServer| {
        let kind = Kind::new("PodSchedulingContext.resource.k8s.io");
        server
            .stored(&kind, "ns", "p")
            .expect("the context")
            .value()["spec"]
            .clone()
    };
    call(&mut server, apply("a", context(Some("n1"), &["n1"]), false)).expect("a creation");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n1"], "selectedNode": "n1"})
    );
    call(&mut server, apply("a", context(None, &["n2"]), false)).expect("own fields");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n2"]}),
        "what is no longer applied goes"
    );
    let error = call(&mut server, apply("b", context(Some("n3"), &["n3"]), false))
        .expect_err("another's field");
    assert_eq!(error.reason, ApiErrorReason::Conflict);
    assert!(
        error.message.contains(".spec.potentialNodes"),
        "{}",
        error.message
    );
    call(&mut server, apply("b", context(Some("n3"), &["n3"]), true)).expect("by force");
    assert_eq!(
        spec(&server),
        json!({"potentialNodes": ["n3"], "selectedNode": "n3"})
    );
    let nobody = call(&mut server, apply("", context(None, &[]), true));
    assert_eq!(reason(nobody), ApiErrorReason::Invalid);
}

/// Spec section 8: the fallback after a conflict, on an object that somebody else labelled.
#[test]
fn apply_leaves_what_it_does_not_mention() {
    let mut value = context(Some("n1"), &["n1"]).into_value();
    value["metadata"]["labels"] = json!({"hello": "world"});
    value["status"] = json!({"resourceClaims": []});
    let mut server = loaded(value);
    let apply = ApiCall::Apply {
        object: context(None, &["n2"]),
        field_manager: "kube-scheduler".into(),
        force: true,
    };
    let now = call(&mut server, apply)
        .expect("an apply")
        .expect("an object");
    assert_eq!(
        now.value()["spec"],
        json!({"potentialNodes": ["n2"], "selectedNode": "n1"})
    );
    assert_eq!(now.value()["metadata"]["labels"], json!({"hello": "world"}));
    assert_eq!(now.value()["status"], json!({"resourceClaims": []}));
}

fn fault(nth: u32, after_effect: bool) -> Fault {
    let error = ApiError {
        reason: ApiErrorReason::Timeout,
        message: "the answer was lost".into(),
    };
    Fault {
        operation: Some(Verb::Update.into()),
        kind: Some(Kind::new(CLAIM)),
        nth,
        error,
        after_effect,
    }
}

#[test]
fn faults_strike_the_nth_matching_call() {
    let mut server = loaded(claim_value());
    server.inject(fault(2, false));
    let labelled = |server: &ApiServer, label: &str| {
        with(stored(server), "/metadata/labels", json!({"a": label}))
    };
    let get = ApiCall::Get {
        kind: Kind::new(CLAIM),
        namespace: "ns".into(),
        name: "c".into(),
    };
    let sent = labelled(&server, "2");
    update(&mut server, sent).expect("the first");
    call(&mut server, get).expect("another verb does not count");
    let sent = labelled(&server, "3");
    assert_eq!(
        reason(update(&mut server, sent.clone())),
        ApiErrorReason::Timeout
    );
    assert_eq!(
        stored(&server)["metadata"]["labels"]["a"],
        "2",
        "it did not take effect"
    );
    update(&mut server, sent).expect("the third");
    assert_eq!(server.outstanding_faults(), 0);
    let outcomes: Vec<(bool, bool)> = server
        .journal()
        .map(|call| (call.error.is_none(), call.took_effect))
        .collect();
    assert_eq!(
        outcomes,
        [(true, true), (true, true), (false, false), (true, true)]
    );
}

#[test]
fn after_a_timeout_the_write_may_be_there() {
    let mut server = loaded(claim_value());
    server.inject(fault(1, true));
    let sent = with(claim_value(), "/metadata/labels", json!({"a": "2"}));
    assert_eq!(
        reason(update(&mut server, sent.clone())),
        ApiErrorReason::Timeout
    );
    assert_eq!(stored(&server)["metadata"]["labels"]["a"], "2");
    assert_eq!(
        server.watch().outstanding(&Kind::new(CLAIM)),
        2,
        "watchers see it"
    );
    assert_eq!(
        reason(update(&mut server, sent)),
        ApiErrorReason::Conflict,
        "the caller's version is old now"
    );
    let calls = server.take_journal();
    assert_eq!(
        (calls[0].took_effect, calls[0].error.is_some()),
        (true, true)
    );
    assert_eq!(server.journal().count(), 0);
}

#[test]
fn five_faults_for_five_tries() {
    let mut server = loaded(claim_value());
    (1..=5).for_each(|nth| server.inject(fault(nth, false)));
    for _ in 0..5 {
        assert_eq!(
            reason(update(&mut server, claim_value())),
            ApiErrorReason::Timeout
        );
    }
    update(&mut server, claim_value()).expect("the sixth");
}

#[test]
fn load_fills_in_what_is_missing() {
    let mut server = server();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "namespace": "wrong"}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "status": {"phase": "Running"}});
    let dumped = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "q", "namespace": "x", "uid": "u", "resourceVersion": "900"}});
    let odd = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "odd", "resourceVersion": "abc"}});
    let huge = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge", "resourceVersion": u64::MAX}});
    let warnings = server.load([node, pod, dumped, odd, huge].map(object).into());
    let warned: Vec<&str> = warnings
        .iter()
        .map(|warning| warning.object.as_str())
        .collect();
    assert_eq!(warned, ["Pod odd", "Pod huge", "Node wrong/n"]);
    let version = |kind: &str, namespace: &str, name: &str| {
        let object = server
            .stored(&Kind::new(kind), namespace, name)
            .expect("it is there");
        object.resource_version().to_owned()
    };
    assert_eq!(
        version("Node", "", "n"),
        "901",
        "larger than every given one"
    );
    assert_eq!(version("Pod", "default", "p"), "902");
    assert_eq!(version("Pod", "x", "q"), "900");
    assert_eq!(version("Pod", "default", "odd"), "903");
    assert_eq!(version("Pod", "default", "huge"), "904");
    let pod = server
        .stored(&Kind::new("Pod"), "default", "p")
        .expect("the pod");
    assert_eq!(
        pod.text("/status/phase"),
        Some("Running"),
        "status is taken as it is"
    );
}

#[test]
fn load_replaces_and_keeps_uids_apart() {
    let mut server = loaded(claim_value());
    let again = with(claim_value(), "/metadata/labels", json!({"a": "2"}));
    let mut copy = with(claim_value(), "/metadata/name", json!("copy"));
    copy["metadata"]["resourceVersion"] = json!("5");
    let warnings = server.load(vec![object(again), object(copy)]);
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].object, "ResourceClaim ns/copy");
    let now = stored(&server);
    assert_eq!(now["metadata"]["labels"], json!({"a": "2"}));
    assert_eq!(
        now["metadata"]["resourceVersion"], "8",
        "newer than what the watchers have"
    );
    let copy = server
        .stored(&Kind::new(CLAIM), "ns", "copy")
        .expect("the copy");
    assert_ne!(&*copy.id().uid, "uid-c");
}

#[test]
fn watch_events_can_be_delayed_lost_and_shuffled() {
    let mut server = server();
    let pod =
        |name: &str| object(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}));
    let node = object(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}));
    server.load(vec![pod("a"), node, pod("b"), pod("c")]);
    let kind = Kind::new("Pod");
    server.watch().hold(&kind);
    let names = |events: std::collections::VecDeque<WatchEvent>| -> Vec<String> {
        events
            .iter()
            .map(|event| event.object.id().name.to_string())
            .collect()
    };
    assert_eq!(names(server.watch().take_due()), ["n"]);
    assert_eq!(server.watch().outstanding(&kind), 3);
    assert!(server.watch().exchange(&kind, 0, 2));
    assert!(!server.watch().exchange(&kind, 0, 3));
    let lost = server.watch().lose(&kind, 1).expect("an event");
    assert_eq!(&*lost.object.id().name, "b");
    server.watch().release(&kind);
    assert_eq!(names(server.watch().take_due()), ["c", "a"]);
}
