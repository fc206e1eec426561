//! The same object in every version gives the same model.

use std::sync::Arc;

use super::*;
use crate::api::{
    AllocationConfiguration, AllocationResult, Attribute, ConfigSource, ConsumerReference, Device,
    DeviceConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector, DeviceToleration,
    ExactRequest, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta,
    PodResourceClaim, RequestBody,
};

fn requirement(key: &str, operator: &str, values: &[&str]) -> NodeSelectorRequirement {
    NodeSelectorRequirement {
        key: key.into(),
        operator: operator.into(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

#[test]
fn claims_of_all_versions_become_the_same_model() {
    for (api_version, version) in VERSIONS {
        let exactly = json!({
            "deviceClassName": "gpu",
            "selectors": [{"cel": {"expression": "device.driver == \"x\""}}, {}],
            "allocationMode": "ExactCount",
            "count": 2,
            "adminAccess": true,
            "tolerations": [{"operator": "Exists"}],
        });
        let mut json = claim_json(api_version, version, "r", exactly);
        json["spec"]["devices"]["constraints"] =
            json!([{"requests": ["r"], "matchAttribute": "gpu.example.com/numa"}, {}]);
        json["spec"]["devices"]["config"] = json!([{"requests": ["r"], "opaque": {"driver": "d", "parameters": {"b": 1, "a": [null]}}}]);
        let claim = read_claim(&json).unwrap();
        let selector = DeviceSelector {
            cel: Some(Arc::from("device.driver == \"x\"")),
        };
        let expected = ExactRequest {
            device_class_name: "gpu".into(),
            selectors: vec![selector, DeviceSelector { cel: None }],
            allocation_mode: "ExactCount".into(),
            count: 2,
            admin_access: true,
            tolerations: vec![DeviceToleration {
                operator: "Exists".into(),
                ..DeviceToleration::default()
            }],
        };
        assert_eq!(claim.version, version);
        assert_eq!(
            claim.requests,
            [DeviceRequest {
                name: "r".into(),
                body: RequestBody::Exactly(expected)
            }]
        );
        assert_eq!(
            claim.constraints,
            [
                DeviceConstraint {
                    requests: vec!["r".into()],
                    match_attribute: Some("gpu.example.com/numa".into()),
                    distinct_attribute: None,
                },
                DeviceConstraint::default(),
            ]
        );
        let opaque = json!({"driver": "d", "parameters": {"b": 1, "a": [null]}});
        assert_eq!(
            claim.config,
            [DeviceConfiguration {
                requests: vec!["r".into()],
                opaque: Some(opaque)
            }]
        );
    }
}

#[test]
fn defaults_are_not_applied() {
    for (api_version, version) in VERSIONS {
        let claim = read_claim(&claim_json(
            api_version,
            version,
            "r",
            json!({"deviceClassName": "gpu"}),
        ))
        .unwrap();
        let expected = ExactRequest {
            device_class_name: "gpu".into(),
            ..ExactRequest::default()
        };
        assert_eq!(claim.requests[0].body, RequestBody::Exactly(expected));
    }
}

#[test]
fn a_request_without_a_body_is_left_to_the_plugin() {
    let json = json!({"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "x"},
        "spec": {"devices": {"requests": [{"name": "r", "firstAvailable": []}]}}});
    assert_eq!(
        read_claim(&json).unwrap().requests[0].body,
        RequestBody::FirstAvailable(Vec::new())
    );
    let json = json!({"apiVersion": "resource.k8s.io/v1alpha3", "metadata": {"name": "x"},
        "spec": {"devices": {"requests": [{"name": "r"}]}}});
    assert_eq!(
        read_claim(&json).unwrap().requests[0].body,
        RequestBody::Exactly(ExactRequest::default())
    );
}

#[test]
fn status_and_metadata_of_a_claim() {
    let json = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": "x", "namespace": "default", "uid": "u", "resourceVersion": "7",
            "deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a", "b"],
            "ownerReferences": [{"uid": "1"}, {"uid": "2", "controller": false}, {"uid": "3", "controller": true},
                {"uid": "4", "controller": true}],
        },
        "spec": {"devices": {"requests": null}},
        "status": {
            "allocation": {
                "devices": {
                    "results": [{"request": "r", "driver": "d", "pool": "p", "device": "v", "adminAccess": true}],
                    "config": [{"source": "FromClass", "opaque": {"driver": "d"}}, {"source": "FromClaim", "requests": ["r"]}],
                },
                "nodeSelector": {"nodeSelectorTerms": [{
                    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}],
                    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
                }]},
                "controller": "ignored in this version",
            },
            "reservedFor": [{"apiGroup": "g", "resource": "pods", "name": "p", "uid": "1234"}],
        },
    });
    let claim = read_claim(&json).unwrap();
    let meta = ObjectMeta {
        name: "x".into(),
        namespace: "default".into(),
        uid: "u".into(),
        resource_version: "7".into(),
        being_deleted: true,
        finalizers: vec!["a".into(), "b".into()],
        controller_uid: Some("3".into()),
    };
    assert_eq!(claim.meta, meta);
    let allocation = AllocationResult {
        results: vec![crate::api::DeviceResult {
            request: "r".into(),
            driver: "d".into(),
            pool: "p".into(),
            device: "v".into(),
            admin_access: true,
            tolerations: vec![],
        }],
        config: vec![
            AllocationConfiguration {
                source: ConfigSource::Class,
                config: DeviceConfiguration {
                    requests: vec![],
                    opaque: Some(json!({"driver": "d"})),
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
                match_expressions: vec![requirement("zone", "In", &["a", "b"])],
                match_fields: vec![requirement("metadata.name", "In", &["n1"])],
            }],
        }),
        controller: String::new(),
    };
    assert_eq!(claim.allocation, Some(allocation));
    let consumer = ConsumerReference {
        api_group: "g".into(),
        resource: "pods".into(),
        name: "p".into(),
        uid: "1234".into(),
    };
    assert_eq!(claim.reserved_for, [consumer]);
}

#[test]
fn classic_fields_exist_in_v1alpha3_only() {
    for (api_version, version) in VERSIONS {
        let mut json = claim_json(api_version, version, "r", json!({"deviceClassName": "gpu"}));
        json["spec"]["controller"] = "some-driver".into();
        json["status"] = json!({"allocation": {"devices": {}, "controller": "some-driver"}, "deallocationRequested": true});
        let claim = read_claim(&json).unwrap();
        let classic = version == ApiVersion::V1Alpha3;
        assert_eq!(claim.controller, if classic { "some-driver" } else { "" });
        assert_eq!(claim.deallocation_requested, classic);
        assert_eq!(
            claim.allocation.unwrap().controller,
            if classic { "some-driver" } else { "" }
        );
        let class = json!({"apiVersion": api_version, "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": {
            "selectors": [{"cel": {"expression": "true"}}],
            "config": [{"opaque": {"driver": "d"}}],
            "suitableNodes": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]},
        }});
        let class = device_class(&bytes(&class), &Profile::current()).unwrap();
        assert_eq!(class.name, "c");
        assert_eq!(
            class.selectors,
            [DeviceSelector {
                cel: Some(Arc::from("true"))
            }]
        );
        assert_eq!(class.config[0].opaque, Some(json!({"driver": "d"})));
        assert_eq!(class.suitable_nodes.is_some(), classic);
    }
}

#[test]
fn slices_of_all_versions_become_the_same_model() {
    for (api_version, version) in VERSIONS {
        let device = json!({
            "attributes": {
                "z": {"int": 3}, "b": {"bool": false}, "gpu.example.com/model": {"string": "LATEST"},
                "v": {"version": "1.0.0"}, "nothing": {}, "later": {"duration": "3s"},
            },
            "capacity": {"memory": "80Gi", "cores": 4, "half": 1.5, "minus": -2},
            "skipNodeOperations": true, "taints": null,
        });
        let slice = read_slice(&slice_json(api_version, version, device)).unwrap();
        let attributes: Vec<(Arc<str>, Attribute)> = vec![
            ("b".into(), Attribute::Bool(false)),
            (
                "gpu.example.com/model".into(),
                Attribute::String("LATEST".into()),
            ),
            ("later".into(), Attribute::Unknown),
            ("nothing".into(), Attribute::Unknown),
            ("v".into(), Attribute::Version("1.0.0".into())),
            ("z".into(), Attribute::Int(3)),
        ];
        let capacity: Vec<(Arc<str>, Arc<str>)> = vec![
            ("cores".into(), "4".into()),
            ("half".into(), "1.5".into()),
            ("memory".into(), "80Gi".into()),
            ("minus".into(), "-2".into()),
        ];
        let expected = ResourceSlice {
            name: "s".into(),
            driver: "gpu.example.com".into(),
            pool: "n1".into(),
            generation: 3,
            resource_slice_count: 2,
            reach: Reach::NodeName("n1".into()),
            devices: vec![Device {
                name: "gpu-0".into(),
                usable: true,
                attributes: attributes.into(),
                capacity: capacity.into(),
                extra: None,
            }],
            counters: vec![],
        };
        assert_eq!(slice, expected);
    }
}

#[test]
fn names_that_repeat_are_shared() {
    let device = |i: usize| {
        let mut attributes = serde_json::Map::new();
        // More names than are remembered, in an order that changes from device to device.
        for a in 0..80 {
            attributes.insert(format!("a{}", (a + i) % 80), json!({"int": a}));
        }
        json!({"name": format!("d{i}"), "attributes": attributes})
    };
    let mut json = slice_json("resource.k8s.io/v1", ApiVersion::V1, json!({}));
    json["spec"]["devices"] = (0..3).map(device).collect();
    let slice = read_slice(&json).unwrap();
    for (i, device) in slice.devices.iter().enumerate() {
        assert_eq!(device.attributes.len(), 80);
        for (name, value) in &*device.attributes {
            let number: usize = name[1..].parse().unwrap();
            assert_eq!(
                *value,
                Attribute::Int(((number + 80 - i) % 80) as i64),
                "{name}"
            );
        }
    }
    let [first, second, _] = slice.devices.as_slice() else {
        panic!("three devices")
    };
    let shared = first
        .attributes
        .iter()
        .zip(&*second.attributes)
        .filter(|(a, b)| Arc::ptr_eq(&a.0, &b.0))
        .count();
    assert_eq!(shared, 64);
}

#[test]
fn reach_of_a_slice_in_order_of_precedence() {
    let selector =
        json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]});
    let parsed = NodeSelector {
        terms: vec![NodeSelectorTerm {
            match_expressions: vec![requirement("k", "Exists", &[])],
            match_fields: vec![],
        }],
    };
    let cases = [
        (
            json!({"nodeName": "n", "allNodes": true, "nodeSelector": selector}),
            Reach::NodeName("n".into()),
        ),
        (
            json!({"nodeName": "", "allNodes": true, "nodeSelector": selector}),
            Reach::AllNodes,
        ),
        (
            json!({"allNodes": false, "nodeSelector": selector}),
            Reach::NodeSelector(parsed),
        ),
        (json!({"allNodes": false}), Reach::Nowhere),
    ];
    for (reach, expected) in cases {
        let mut json = slice_json("resource.k8s.io/v1", ApiVersion::V1, json!({}));
        let spec = json["spec"].as_object_mut().unwrap();
        spec.remove("nodeName");
        spec.extend(reach.as_object().unwrap().clone());
        assert_eq!(read_slice(&json).unwrap().reach, expected);
        // A slice that is broken elsewhere reaches the same nodes; nowhere is not to be trusted.
        json["spec"]["devices"][0]["name"] = 7.into();
        assert!(read_slice(&json).is_err());
        let expected = if expected == Reach::Nowhere {
            Reach::AllNodes
        } else {
            expected
        };
        assert_eq!(reach_of_broken_slice(&bytes(&json)), expected);
    }
}

#[test]
fn reach_of_a_slice_that_tells_nothing_is_all_nodes() {
    for json in [
        "",
        "{",
        "[]",
        "null",
        r#"{"spec": 1}"#,
        r#"{"spec": {"nodeName": 7}}"#,
        r#"{"spec": {"nodeSelector": 7}}"#,
        r#"{"spec": {"nodeSelector": {"nodeselectorterms": []}}}"#,
        r#"{"Spec": {"nodeName": "n"}}"#,
    ] {
        assert_eq!(
            reach_of_broken_slice(json.as_bytes()),
            Reach::AllNodes,
            "{json}"
        );
    }
}

#[test]
fn a_device_without_basic_is_not_usable() {
    for (api_version, version) in VERSIONS {
        let mut json = slice_json(api_version, version, json!({}));
        json["spec"]["devices"] = json!([{"name": "d"}]);
        assert_eq!(read_slice(&json).unwrap().devices[0].usable, !flat(version));
    }
}

#[test]
fn of_a_repeated_attribute_the_last_stays() {
    let json = br#"{"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "s"}, "spec": {"driver": "d", "allNodes": true,
        "pool": {"name": "p"}, "devices": [{"name": "v", "attributes": {"a": {"int": 1}, "b": {"int": 5}, "a": {"int": 2}}}]}}"#;
    let slice = resource_slice(json, &Profile::current()).unwrap();
    let expected: Vec<(Arc<str>, Attribute)> = vec![
        ("a".into(), Attribute::Int(2)),
        ("b".into(), Attribute::Int(5)),
    ];
    assert_eq!(*slice.devices[0].attributes, *expected);
}

#[test]
fn pods_nodes_and_scheduling_contexts() {
    let json = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "1"},
        "spec": {"containers": null, "resourceClaims": [
            {"name": "a", "resourceClaimName": "c"}, {"name": "b", "resourceClaimTemplateName": "t"}, {"name": "e"}]},
        "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "p-b"}, {"name": "e"}]}});
    let read = pod(&bytes(&json)).unwrap();
    let claim = |name: &str, by_name: Option<&str>, by_template: Option<&str>| PodResourceClaim {
        name: name.into(),
        resource_claim_name: by_name.map(Into::into),
        resource_claim_template_name: by_template.map(Into::into),
    };
    assert_eq!(
        read.resource_claims,
        [
            claim("a", Some("c"), None),
            claim("b", None, Some("t")),
            claim("e", None, None)
        ]
    );
    assert_eq!(
        read.resource_claim_statuses,
        [("b".into(), Some("p-b".into())), ("e".into(), None)]
    );

    let json = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"z": "1", "a": ""}}});
    let read = node(&bytes(&json)).unwrap();
    let labels: Vec<(&str, &str)> = read.labels.iter().collect();
    assert_eq!(
        (read.name.as_str(), labels),
        ("n", vec![("a", ""), ("z", "1")])
    );

    let json = json!({"apiVersion": "resource.k8s.io/v1alpha3", "kind": "PodSchedulingContext",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"selectedNode": "n1", "potentialNodes": ["n1", "n2"]},
        "status": {"resourceClaims": [{"name": "a", "unsuitableNodes": ["n2"]}, {"name": "b"}]}});
    let read = pod_scheduling_context(&bytes(&json)).unwrap();
    assert_eq!(read.selected_node, "n1");
    assert_eq!(read.potential_nodes, ["n1", "n2"]);
    assert_eq!(
        read.claims,
        [("a".into(), vec!["n2".into()]), ("b".into(), vec![])]
    );
}

#[test]
fn devices_of_a_claim_that_cannot_be_read() {
    let mut json = claim_json(
        "resource.k8s.io/v1",
        ApiVersion::V1,
        "r",
        json!({"deviceClassName": "c"}),
    );
    json["spec"]["devices"]["requests"] =
        json!([{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}]);
    json["status"] = json!({"allocation": {"devices": {"results": [
        {"request": "r/s", "driver": "d", "pool": "p", "device": "v", "shareID": "x"},
        {"request": "r/s", "driver": "d", "pool": "p"}, 7,
        {"request": "a", "driver": "d", "pool": "p", "device": "w", "adminAccess": true}]}}});
    assert!(read_claim(&json).is_err());
    let devices: Vec<String> = devices_of_broken_claim(&bytes(&json))
        .unwrap()
        .iter()
        .map(|d| {
            format!(
                "{} {}/{}/{} {}",
                d.request, d.driver, d.pool, d.device, d.admin_access
            )
        })
        .collect();
    assert_eq!(devices, ["r/s d/p/v false", "a d/p/w true"]);
    assert_eq!(devices_of_broken_claim(b"{"), None);
    assert_eq!(devices_of_broken_claim(br#"{"status":{}}"#), None);
}

#[test]
fn alternatives_keep_their_order() {
    let json = r#"[{"name": "big", "deviceClassName": "a", "count": 2}, {"name": "small", "deviceClassName": "b"}]"#;
    let profile = Profile::current();
    let reading = Reading {
        version: ApiVersion::V1,
        profile: &profile,
        missed: Cell::new(false),
    };
    let body = claim::alternatives_of(serde_json::from_str(json).unwrap(), &reading).unwrap();
    let exact = |class: &str, count| ExactRequest {
        device_class_name: class.into(),
        count,
        ..ExactRequest::default()
    };
    let expected = vec![
        ("big".into(), exact("a", 2)),
        ("small".into(), exact("b", 0)),
    ];
    assert_eq!(body, RequestBody::FirstAvailable(expected));
    assert!(!reading.missed.get());
}
