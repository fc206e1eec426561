//! Edits: what is written, and that the rest survives.

use serde_json::{Value, json};

use super::*;
use crate::api::{DeviceConfiguration, NodeSelectorTerm, PodSchedulingContext};
use crate::profile::Profile;

fn pod() -> ObjectMeta {
    ObjectMeta {
        name: "my-pod".into(),
        namespace: "default".into(),
        uid: "1234".into(),
        ..ObjectMeta::default()
    }
}

/// Applies an edit and compares the text, so that the order of keys counts.
fn check(before: Value, edit: impl FnOnce(&mut Value), after: &str) {
    let mut value = before;
    edit(&mut value);
    assert_eq!(value.to_string(), after);
}

fn allocation() -> AllocationResult {
    let result = |request: &str, device: &str, admin_access| DeviceResult {
        request: request.into(),
        driver: "d".into(),
        pool: "p".into(),
        device: device.into(),
        admin_access,
        tolerations: Vec::new(),
    };
    AllocationResult {
        results: vec![result("r", "v0", false), result("r/s", "v1", true)],
        config: vec![
            AllocationConfiguration {
                source: ConfigSource::Class,
                config: DeviceConfiguration {
                    requests: vec![],
                    opaque: Some(json!({"driver": "d", "parameters": {"z": 1, "a": {}}})),
                },
            },
            AllocationConfiguration {
                source: ConfigSource::Claim,
                config: DeviceConfiguration {
                    requests: vec!["r".into()],
                    opaque: None,
                },
            },
        ],
        node_selector: Some(NodeSelector {
            terms: vec![NodeSelectorTerm {
                match_expressions: vec![],
                match_fields: vec![NodeSelectorRequirement {
                    key: "metadata.name".into(),
                    operator: "In".into(),
                    values: vec!["n1".into()],
                }],
            }],
        }),
        controller: String::new(),
    }
}

#[test]
fn the_finalizer_is_added_once() {
    let mut claim = json!({"metadata": {"name": "x", "finalizers": ["other"], "labels": {"l": "1"}}, "spec": {}});
    assert!(add_finalizer(&mut claim));
    assert!(!add_finalizer(&mut claim));
    assert_eq!(
        claim.to_string(),
        r#"{"metadata":{"name":"x","finalizers":["other","resource.kubernetes.io/delete-protection"],"labels":{"l":"1"}},"spec":{}}"#
    );
    check(
        json!({"metadata": {"finalizers": null}}),
        |claim| assert!(add_finalizer(claim)),
        r#"{"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"]}}"#,
    );
}

#[test]
fn an_allocation_in_each_version() {
    let rest = r#""config":[{"source":"FromClass","opaque":{"driver":"d","parameters":{"z":1,"a":{}}}},{"source":"FromClaim","requests":["r"]}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}"#;
    let first = r#"{"request":"r","driver":"d","pool":"p","device":"v0"}"#;
    for version in [
        ApiVersion::V1Alpha3,
        ApiVersion::V1Beta1,
        ApiVersion::V1Beta2,
        ApiVersion::V1,
    ] {
        let admin = if version == ApiVersion::V1Alpha3 {
            ""
        } else {
            r#","adminAccess":true"#
        };
        let second = format!(r#"{{"request":"r/s","driver":"d","pool":"p","device":"v1"{admin}}}"#);
        check(
            json!({"status": {"other": 1}}),
            |claim| set_allocation(claim, version, &allocation()),
            &format!(
                r#"{{"status":{{"other":1,"allocation":{{"devices":{{"results":[{first},{second}],{rest}}}}}}}"#
            ),
        );
    }
}

#[test]
fn an_empty_allocation_still_has_devices() {
    let mut empty = AllocationResult::default();
    assert_eq!(
        allocation_json(ApiVersion::V1, &empty).to_string(),
        r#"{"devices":{}}"#
    );
    empty.controller = "c".into();
    assert_eq!(
        allocation_json(ApiVersion::V1Alpha3, &empty).to_string(),
        r#"{"devices":{},"controller":"c"}"#
    );
    assert_eq!(
        allocation_json(ApiVersion::V1, &empty).to_string(),
        r#"{"devices":{}}"#
    );
}

#[test]
fn what_is_written_reads_back() {
    for (api_version, version) in [
        ("resource.k8s.io/v1alpha3", ApiVersion::V1Alpha3),
        ("resource.k8s.io/v1beta1", ApiVersion::V1Beta1),
        ("resource.k8s.io/v1", ApiVersion::V1),
    ] {
        let mut claim = json!({"apiVersion": api_version, "metadata": {"name": "x"}, "spec": {"devices": {"requests": []}}});
        set_allocation(&mut claim, version, &allocation());
        let read =
            crate::api::wire::resource_claim(claim.to_string().as_bytes(), &Profile::current())
                .unwrap();
        let mut expected = allocation();
        expected.results[1].admin_access = version != ApiVersion::V1Alpha3;
        assert_eq!(read.allocation, Some(expected));
        assert!(is_allocated(&claim));
        clear_allocation(&mut claim);
        assert!(!is_allocated(&claim));
    }
}

#[test]
fn reservations_are_appended_blindly() {
    let entry = r#"{"resource":"pods","name":"my-pod","uid":"1234"}"#;
    check(
        json!({}),
        |claim| reserve_for(claim, &pod()),
        &format!(r#"{{"status":{{"reservedFor":[{entry}]}}}}"#),
    );
    check(
        json!({"status": {"reservedFor": [{"resource": "pods", "name": "my-pod", "uid": "1234"}]}}),
        |claim| reserve_for(claim, &pod()),
        &format!(r#"{{"status":{{"reservedFor":[{entry},{entry}]}}}}"#),
    );
}

#[test]
fn deallocation() {
    let claim = json!({"metadata": {"finalizers": ["f"]},
        "status": {"allocation": {"devices": {}}, "reservedFor": [{"uid": "1"}], "devices": [{}], "later": 1}});
    check(
        claim.clone(),
        |claim| {
            clear_allocation(claim);
            clear_reserved_for(claim);
            clear_device_status(claim);
        },
        r#"{"metadata":{"finalizers":["f"]},"status":{"later":1}}"#,
    );
    check(
        claim,
        |claim| {
            clear_reserved_for(claim);
            request_deallocation(claim);
        },
        r#"{"metadata":{"finalizers":["f"]},"status":{"allocation":{"devices":{}},"devices":[{}],"later":1,"deallocationRequested":true}}"#,
    );
}

#[test]
fn metadata_is_read() {
    let claim =
        json!({"metadata": {"uid": "u", "resourceVersion": "12", "deletionTimestamp": null}});
    assert_eq!(
        (
            uid(&claim),
            resource_version(&claim),
            is_being_deleted(&claim)
        ),
        ("u", "12", false)
    );
    let claim = json!({"metadata": {"uid": 7, "deletionTimestamp": "2024-01-01T00:00:00Z"}});
    assert_eq!(
        (
            uid(&claim),
            resource_version(&claim),
            is_being_deleted(&claim)
        ),
        ("", "", true)
    );
    assert_eq!(uid(&Value::Null), "");
}

#[test]
fn edits_do_not_stumble_over_nonsense() {
    let edited = r#"{"status":{"reservedFor":[{"resource":"pods","name":"my-pod","uid":"1234"}]}}"#;
    for value in [
        json!(null),
        json!(7),
        json!({"status": []}),
        json!({"status": {"reservedFor": "x"}}),
    ] {
        check(value, |claim| reserve_for(claim, &pod()), edited);
    }
}

#[test]
fn the_patch_has_upstreams_spaces() {
    // Spec section 7.9, 3b.
    assert_eq!(
        unreserve_patch("UID-0", "12\"34"),
        r#"{"metadata": {"uid": "UID-0"}, "status": { "reservedFor": [ {"$patch": "delete", "uid": "12\"34"} ] }}"#
    );
    assert!(serde_json::from_str::<Value>(&unreserve_patch("a\\b", "\"")).is_ok());
}

fn edits(selected_node: Option<&str>, potential_nodes: Option<&[&str]>) -> SchedulingContextEdits {
    SchedulingContextEdits {
        selected_node: selected_node.map(str::to_owned),
        potential_nodes: potential_nodes
            .map(|nodes| nodes.iter().map(|node| (*node).to_owned()).collect()),
    }
}

#[test]
fn a_scheduling_context_is_created_for_the_pod() {
    let head = r#"{"apiVersion":"resource.k8s.io/v1alpha3","kind":"PodSchedulingContext","metadata":{"name":"my-pod","namespace":"default","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"my-pod","uid":"1234","controller":true,"blockOwnerDeletion":true}]},"#;
    let cases = [
        (
            edits(Some("worker"), Some(&["worker"])),
            r#""spec":{"selectedNode":"worker","potentialNodes":["worker"]}}"#,
        ),
        (
            edits(None, Some(&["a", "b"])),
            r#""spec":{"potentialNodes":["a","b"]}}"#,
        ),
        (edits(Some(""), None), r#""spec":{}}"#),
    ];
    for (edits, spec) in cases {
        assert!(edits.is_dirty());
        assert_eq!(
            context_create(&pod(), &edits).to_string(),
            format!("{head}{spec}")
        );
    }
    assert!(!edits(None, None).is_dirty());
}

#[test]
fn a_known_scheduling_context_is_updated() {
    let known = json!({"metadata": {"name": "my-pod", "resourceVersion": "3", "labels": {"hello": "world"}},
        "spec": {"selectedNode": "a", "potentialNodes": ["a"], "later": 1}, "status": {"resourceClaims": [{"name": "c"}]}});
    let updated = |edits: SchedulingContextEdits, spec: &str| {
        let expected = format!(
            r#"{{"metadata":{{"name":"my-pod","resourceVersion":"3","labels":{{"hello":"world"}}}},"spec":{spec},"status":{{"resourceClaims":[{{"name":"c"}}]}}}}"#
        );
        assert_eq!(
            context_update(&known, &edits),
            serde_json::from_str::<Value>(&expected).unwrap()
        );
    };
    updated(
        edits(Some("b"), Some(&["b", "c"])),
        r#"{"later":1,"selectedNode":"b","potentialNodes":["b","c"]}"#,
    );
    updated(
        edits(Some(""), None),
        r#"{"potentialNodes":["a"],"later":1}"#,
    );
    updated(edits(None, Some(&[])), r#"{"selectedNode":"a","later":1}"#);
}

#[test]
fn applying_a_scheduling_context() {
    let known = PodSchedulingContext {
        selected_node: "old".into(),
        potential_nodes: vec!["a".into()],
        ..PodSchedulingContext::default()
    };
    let check = |profile: Profile, edits: SchedulingContextEdits, spec: &str| {
        let expected = format!(
            r#"{{"apiVersion":"resource.k8s.io/v1alpha3","kind":"PodSchedulingContext","metadata":{{"name":"my-pod","namespace":"default"}},"spec":{spec}}}"#
        );
        assert_eq!(
            context_apply(&pod(), &known, &edits, &profile).to_string(),
            expected
        );
    };
    for profile in [Profile::v1_31(), Profile::current()] {
        check(
            profile.clone(),
            edits(Some("new"), None),
            r#"{"selectedNode":"new","potentialNodes":["a"]}"#,
        );
        check(
            profile.clone(),
            edits(Some(""), Some(&["b"])),
            r#"{"selectedNode":"","potentialNodes":["b"]}"#,
        );
    }
    // D15.
    check(
        Profile::v1_31(),
        edits(None, Some(&["b"])),
        r#"{"potentialNodes":["b"]}"#,
    );
    check(
        Profile::current(),
        edits(None, Some(&["b"])),
        r#"{"selectedNode":"old","potentialNodes":["b"]}"#,
    );
}
