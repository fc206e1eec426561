//! What is refused, and with which words.

use super::*;
use crate::api::wire::text::MAX_TEXT_BYTES;

#[test]
fn versions_and_kinds() {
    let claim = |api_version: Value, kind: &str| {
        let mut json = with_request("", json!({"name": "r"}));
        json["apiVersion"] = api_version;
        json["kind"] = kind.into();
        claim_text(&json)
    };
    let cases = [
        (
            claim("resource.k8s.io/v1alpha2".into(), "ResourceClaim"),
            "resource.k8s.io/v1alpha2 ResourceClaim default/x: this version is not supported; convert it to resource.k8s.io/v1",
        ),
        (
            claim("v1".into(), "ResourceClaim"),
            "v1 ResourceClaim default/x: this version is not supported; convert it to resource.k8s.io/v1",
        ),
        (
            claim(Value::Null, "ResourceClaim"),
            "ResourceClaim default/x: apiVersion: required, but missing; set it, for example to resource.k8s.io/v1",
        ),
        (
            claim(7.into(), "ResourceClaim"),
            "ResourceClaim default/x: apiVersion: required, but missing; set it, for example to resource.k8s.io/v1",
        ),
        (
            claim(V1.into(), "Pod"),
            "ResourceClaim default/x: kind: expected ResourceClaim, found \"Pod\"",
        ),
        (
            pod(br#"{"apiVersion": "v2", "metadata": {"name": "p"}}"#)
                .unwrap_err()
                .to_string(),
            "v2 Pod p: this version is not supported; convert it to v1",
        ),
        (
            pod(
                br#"{"apiVersion": "v1", "metadata": {"name": "p"}, "spec": {"resourceClaims": [
                    {"name": "a", "resourceClaimName": "b", "source": {"resourceClaimName": "c"}},
                    {"name": "d", "source": {"resourceClaimTemplateName": "e"}}]}}"#,
            )
            .unwrap_err()
            .to_string(),
            "Pod p: spec.resourceClaims[1].source: not a field since Kubernetes 1.31; move resourceClaimTemplateName from there up beside name",
        ),
        (
            pod_scheduling_context(
                br#"{"apiVersion": "resource.k8s.io/v1", "metadata": {"name": "p"}}"#,
            )
            .unwrap_err()
            .to_string(),
            "resource.k8s.io/v1 PodSchedulingContext p: this version is not supported; convert it to resource.k8s.io/v1alpha3",
        ),
        (
            node(br#"{"apiVersion": "v1", "metadata": {}}"#)
                .unwrap_err()
                .to_string(),
            "Node without a name: metadata.name: required, but missing or empty",
        ),
        (
            node(b"{").unwrap_err().to_string(),
            "Node: not valid JSON: EOF while parsing an object at line 1 column 1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text, expected);
    }
}

#[test]
fn a_version_is_named_even_if_its_shape_is_another() {
    let json = json!({"apiVersion": "resource.k8s.io/v1alpha2", "kind": "ResourceClaim", "metadata": {"name": "x"},
        "spec": {"devices": "what"}});
    assert_eq!(
        claim_text(&json),
        "resource.k8s.io/v1alpha2 ResourceClaim x: this version is not supported; convert it to resource.k8s.io/v1"
    );
}

#[test]
fn wrong_types_and_wrong_case() {
    let exactly = |key: &str, value: Value| {
        let mut request = json!({"name": "r", "exactly": {"deviceClassName": "c"}});
        request["exactly"][key] = value;
        claim_text(&with_request(V1, request))
    };
    let cases = [
        (
            claim_text(&with_request(
                "resource.k8s.io/v1alpha3",
                json!({"name": "r", "deviceClassName": "c", "count": "2"}),
            )),
            "spec.devices.requests[0].count: expected an integer, found a string",
        ),
        (
            exactly("count", json!(1.5)),
            "spec.devices.requests[0].exactly.count: expected a 64-bit integer, found the number 1.5",
        ),
        (
            exactly("count", json!(u64::MAX)),
            "spec.devices.requests[0].exactly.count: expected a 64-bit integer, found the number 18446744073709551615",
        ),
        (
            exactly("adminAccess", json!("yes")),
            "spec.devices.requests[0].exactly.adminAccess: expected a boolean, found a string",
        ),
        (
            exactly("selectors", json!([null])),
            "spec.devices.requests[0].exactly.selectors[0]: expected an object, found null",
        ),
        (
            claim_text(
                &json!({"apiVersion": V1, "metadata": {"name": "x", "namespace": "default"}, "spec": {"Devices": {}}}),
            ),
            "spec: unknown field \"Devices\", did you mean \"devices\"",
        ),
        (
            claim_text(&with_request(
                V1,
                json!({"name": "r", "exactly": {"deviceclassname": "c"}}),
            )),
            "spec.devices.requests[0].exactly: unknown field \"deviceclassname\", did you mean \"deviceClassName\"",
        ),
        (
            claim_text(&with_request(
                "resource.k8s.io/v1beta1",
                json!({"name": "r", "DeviceClassName": "c"}),
            )),
            "spec.devices.requests[0]: unknown field \"DeviceClassName\", did you mean \"deviceClassName\"",
        ),
        (
            claim_text(&with_request(V1, json!({"name": "r", "Exactly": {}}))),
            "spec.devices.requests[0]: unknown field \"Exactly\", did you mean \"exactly\"",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text, format!("ResourceClaim default/x: {expected}"));
    }
}

#[test]
fn a_list_is_not_taken_for_an_object() {
    let mut json = slice_json(V1, ApiVersion::V1, json!({}));
    json["spec"]["pool"] = json!(["p", 1, 1]);
    let expected = "ResourceSlice s: spec.pool: expected an object, found a list";
    assert_eq!(slice_text(&json), expected);
}

#[test]
fn other_unknown_fields_are_ignored() {
    let json = with_request(
        V1,
        json!({"name": "r", "exactly": {"deviceClassName": "c", "Count": 7, "wish": "all"}}),
    );
    assert_eq!(
        read_claim(&json),
        read_claim(&with_request(
            V1,
            json!({"name": "r", "exactly": {"deviceClassName": "c"}})
        ))
    );
}

#[test]
fn fields_that_other_versions_have_elsewhere() {
    let cases = [
        (
            claim_text(&with_request(
                V1,
                json!({"name": "r", "deviceClassName": "c"}),
            )),
            "ResourceClaim default/x: spec.devices.requests[0].deviceClassName: in this version the request's fields belong under \"exactly\"",
        ),
        (
            claim_text(&with_request(
                "resource.k8s.io/v1beta1",
                json!({"name": "r", "exactly": {"deviceClassName": "c"}}),
            )),
            "ResourceClaim default/x: spec.devices.requests[0].exactly: this version has no \"exactly\"; put its content directly into the request",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text, expected);
    }
    let slice = |api_version: &str, device: Value| {
        let mut json = slice_json(api_version, ApiVersion::V1, json!({}));
        json["spec"]["devices"] = json!([device]);
        slice_text(&json)
    };
    let cases = [
        (
            slice(V1, json!({"name": "d", "basic": {}})),
            "basic: this version has no \"basic\"; put its content directly into the device",
        ),
        (
            slice(
                "resource.k8s.io/v1beta1",
                json!({"name": "d", "attributes": {}}),
            ),
            "attributes: in this version the device's fields belong under \"basic\"",
        ),
        (
            slice(
                "resource.k8s.io/v1alpha3",
                json!({"name": "d", "basic": {"capacity": {"m": {"value": "1"}}}}),
            ),
            "basic.capacity[m]: expected a quantity, found an object",
        ),
        (
            slice(V1, json!({"name": "d", "capacity": {"m": "1"}})),
            "capacity[m]: expected an object with the key \"value\", found a string",
        ),
        (
            slice(V1, json!({"name": "d", "capacity": {"m": {}}})),
            "capacity[m].value: required, but missing or empty",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(text, format!("ResourceSlice s: spec.devices[0].{expected}"));
    }
}

#[test]
fn what_a_slice_cannot_do_without() {
    let without = |pointer: &str, key: &str| {
        let mut json = slice_json(V1, ApiVersion::V1, json!({}));
        json.pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(key);
        slice_text(&json)
    };
    let required = "required, but missing or empty";
    assert_eq!(
        without("/spec", "driver"),
        format!("ResourceSlice s: spec.driver: {required}")
    );
    assert_eq!(
        without("/spec", "pool"),
        format!("ResourceSlice s: spec.pool.name: {required}")
    );
    assert_eq!(
        without("/spec/pool", "name"),
        format!("ResourceSlice s: spec.pool.name: {required}")
    );
    assert_eq!(
        without("/spec/devices/0", "name"),
        format!("ResourceSlice s: spec.devices[0].name: {required}")
    );
    assert_eq!(
        without("", "spec"),
        format!("ResourceSlice s: spec.driver: {required}")
    );
}

#[test]
fn an_attribute_of_two_kinds() {
    let json = slice_json(
        V1,
        ApiVersion::V1,
        json!({"attributes": {"a/b": {"int": 1, "string": "x"}}}),
    );
    assert_eq!(
        slice_text(&json),
        "ResourceSlice s: spec.devices[0].attributes[a/b]: more than one of int, bool, string, version and their lists is set; keep exactly one"
    );
}

#[test]
fn taints_counters_and_node_selections_that_cannot_be_meant() {
    let cases = [
        (
            json!({"taints": [{"key": "k"}]}),
            "taints[0].effect: expected None, NoSchedule or NoExecute, found \"\"",
        ),
        (
            json!({"nodeName": "n1"}),
            "nodeName: needs perDeviceNodeSelection: true in the slice; set it, or remove this",
        ),
        (
            json!({"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "-1"}}}]}),
            "consumesCounters[0].counters[c].value: expected an amount between 0 and 10^23",
        ),
        (
            json!({"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1e30"}}}]}),
            "consumesCounters[0].counters[c].value: expected an amount between 0 and 10^23",
        ),
        (
            json!({"consumesCounters": [{"counterSet": "s", "counters": {"c": "1"}}]}),
            "consumesCounters[0].counters[c]: expected an object with the key \"value\", found a string",
        ),
    ];
    for (device, expected) in cases {
        assert_eq!(
            slice_text(&slice_json(V1, ApiVersion::V1, device)),
            format!("ResourceSlice s: spec.devices[0].{expected}")
        );
    }
}

#[test]
fn taint_rules_that_cannot_be_meant() {
    let rule = |api_version: &str, spec: Value| {
        let json = json!({"apiVersion": api_version, "kind": "DeviceTaintRule", "metadata": {"name": "t"}, "spec": spec});
        device_taint_rule(&bytes(&json), &Profile::current())
    };
    let taint = json!({"key": "k", "effect": "NoSchedule"});
    for version in ["v1alpha3", "v1beta2", "v1"] {
        let version = format!("resource.k8s.io/{version}");
        let read = rule(&version, json!({"taint": taint})).unwrap();
        assert_eq!(read.selector, None);
        let read = rule(&version, json!({"deviceSelector": {}, "taint": taint})).unwrap();
        assert_eq!(read.selector, Some(crate::api::TaintSelector::default()));
        let read = rule(
            &version,
            json!({"deviceSelector": {"pool": "p"}, "taint": taint}),
        );
        assert_eq!(read.unwrap().selector.unwrap().pool.as_deref(), Some("p"));
    }
    let text = |version: &str, spec: Value| rule(version, spec).unwrap_err().to_string();
    assert_eq!(
        text(
            "resource.k8s.io/v1alpha3",
            json!({"deviceSelector": {"deviceClassName": "c"}, "taint": taint})
        ),
        "DeviceTaintRule t: spec.deviceSelector.deviceClassName: this field was removed in Kubernetes 1.35; select by driver, pool or device"
    );
    assert_eq!(
        text(V1, json!({"deviceselector": {}, "taint": taint})),
        "DeviceTaintRule t: spec: unknown field \"deviceselector\", did you mean \"deviceSelector\""
    );
    assert_eq!(
        text(
            V1,
            json!({"deviceSelector": {}, "taint": {"key": "k", "effect": "NoEffect"}})
        ),
        "DeviceTaintRule t: spec.taint.effect: expected None, NoSchedule or NoExecute, found \"NoEffect\""
    );
    assert_eq!(
        text(V1, json!({"deviceSelector": {}})),
        "DeviceTaintRule t: spec.taint: required, but missing or empty"
    );
    assert!(rule("resource.k8s.io/v1beta1", json!({"taint": taint})).is_err());
}

#[test]
fn alternatives_that_cannot_be_meant() {
    let alternative = json!({"name": "s", "deviceClassName": "c"});
    let request = json!({"name": "r", "firstAvailable": vec![alternative; 9]});
    assert_eq!(
        claim_text(&with_request(V1, request)),
        "ResourceClaim default/x: spec.devices.requests[0].firstAvailable: 9 alternatives, at most 8 are allowed"
    );
}

#[test]
fn an_unknown_source_of_a_config() {
    let mut json = claim_json(V1, ApiVersion::V1, "r", json!({"deviceClassName": "c"}));
    json["status"] =
        json!({"allocation": {"devices": {"config": [{"source": "FromNowhere", "opaque": {}}]}}});
    assert_eq!(
        claim_text(&json),
        "ResourceClaim default/x: status.allocation.devices.config[0].source: expected \"FromClass\" or \"FromClaim\", found \"FromNowhere\""
    );
}

#[test]
fn hostile_bytes_are_refused_without_a_panic() {
    let slice = slice_json(
        V1,
        ApiVersion::V1,
        json!({"attributes": {"a": {"int": 1}}, "capacity": {"m": "1"}}),
    );
    let good = bytes(&slice);
    for end in 0..good.len() {
        assert!(
            resource_slice(&good[..end], &Profile::current()).is_err(),
            "{end}"
        );
        reach_of_broken_slice(&good[..end]);
    }
    for at in 0..good.len() {
        for byte in [0, b'"', b'{', b'9', 0xff] {
            let mut bad = good.clone();
            bad[at] = byte;
            // Whatever the outcome, it is one.
            let _ = resource_slice(&bad, &Profile::current());
            reach_of_broken_slice(&bad);
        }
    }
    let deep = "[".repeat(100_000);
    assert!(resource_claim(deep.as_bytes(), &Profile::current()).is_err());
    let deep = format!(
        r#"{{"apiVersion": "{V1}", "metadata": {{"name": "x"}}, "spec": {}"#,
        r#"{"basic": "#.repeat(100_000)
    );
    assert!(resource_slice(deep.as_bytes(), &Profile::current()).is_err());
}

#[test]
fn texts_too_long_for_any_field_are_refused_with_their_place() {
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    let fits = &long[1..];
    let slice = |version: &str, quantity: &str| {
        json!({"apiVersion": V1, "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {
            "driver": "d", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "g", "attributes": {"v": {"version": version}}, "capacity": {"c": {"value": quantity}}}]}})
    };
    assert!(read_slice(&slice(fits, fits)).is_ok());
    let message = "a text of 65537 bytes, at most 65536 are read";
    assert_eq!(
        read_slice(&slice(&long, "1")).unwrap_err().to_string(),
        format!("ResourceSlice s: spec.devices[0].attributes[v].version: {message}")
    );
    assert_eq!(
        read_slice(&slice("1.0.0", &long)).unwrap_err().to_string(),
        format!("ResourceSlice s: spec.devices[0].capacity[c].value: {message}")
    );
    let named = json!({"apiVersion": long, "kind": "ResourceClaim", "metadata": {"name": long, "namespace": long}});
    let text = read_claim(&named).unwrap_err().to_string();
    assert!(text.len() < 400, "{} bytes", text.len());
    assert!(text.contains("this version is not supported"), "{text}");
}
