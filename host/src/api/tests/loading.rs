//! What the server makes of objects as they were read: versions, uids, namespaces.

use super::*;

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
    let gone = delete(&mut one, &target).expect("a deletion");
    assert!(gone.is_none());
    let again = create(&mut one, value).expect("a creation");
    assert_ne!(again.id().uid, uids[0]);
}
