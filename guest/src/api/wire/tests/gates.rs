//! Fields of features that are not there, or whose gate is off.

use super::*;

/// `current` without the features whose gates can be switched off.
fn without_features() -> Profile {
    let mut profile = Profile::current();
    for feature in Feature::ALL {
        profile.set(feature, false);
    }
    profile
}

fn read_slice_without(json: &Value) -> Result<ResourceSlice, Problem> {
    resource_slice(&bytes(json), &without_features())
}

/// Fields of features that are not implemented: where, what, gate; the value says something.
fn unsupported_in_devices() -> Vec<(&'static str, Value, &'static str)> {
    let partitionable = "shared counters are not supported (gate DRAPartitionableDevices)";
    let nodes = "per-device node selections are not supported (gate DRAPartitionableDevices)";
    let conditions = "binding conditions are not supported (gate DRADeviceBindingConditions)";
    let resources = "node allocatable resources of devices are not supported (gate DRANodeAllocatableResources)";
    vec![
        (
            "taints",
            json!([{"key": "k", "effect": "NoSchedule"}]),
            "device taints are not supported (gate DRADeviceTaints)",
        ),
        (
            "consumesCounters",
            json!([{"counterSet": "s", "counters": {"c": {"value": "1"}}}]),
            partitionable,
        ),
        ("nodeName", json!("n"), nodes),
        ("nodeSelector", json!({"nodeSelectorTerms": []}), nodes),
        ("allNodes", json!(true), nodes),
        (
            "allowMultipleAllocations",
            json!(true),
            "multiple allocations of a device are not supported (gate DRAConsumableCapacity)",
        ),
        ("bindsToNode", json!(true), conditions),
        ("bindingConditions", json!(["c"]), conditions),
        ("bindingFailureConditions", json!(["c"]), conditions),
        ("nodeAllocatableResources", json!({"cpu": {}}), resources),
        (
            "nodeAllocatableResourceMappings",
            json!({"cpu": {}}),
            resources,
        ),
    ]
}

#[test]
fn unsupported_fields_of_devices() {
    for (api_version, version) in VERSIONS {
        let at = if flat(version) {
            "spec.devices[0].basic"
        } else {
            "spec.devices[0]"
        };
        for (field, value, message) in unsupported_in_devices() {
            let problem =
                read_slice_without(&slice_json(api_version, version, json!({field: value})))
                    .unwrap_err();
            assert_eq!(
                problem.to_string(),
                format!("ResourceSlice s: {at}.{field}: {message}")
            );
            assert!(message.contains(problem.gate.unwrap()));
            for empty in [json!(null), empty_of(&value)] {
                read_slice_without(&slice_json(api_version, version, json!({field: empty})))
                    .unwrap();
            }
        }
        for (kind, value) in [
            ("ints", json!([1])),
            ("bools", json!([true])),
            ("strings", json!(["x"])),
            ("versions", json!(["1.0.0"])),
        ] {
            let device = json!({"attributes": {"a": {kind: value}}});
            assert_eq!(
                slice_text(&slice_json(api_version, version, device)),
                format!(
                    "ResourceSlice s: {at}.attributes[a].{kind}: list attributes are not supported (gate DRAListTypeAttributes)"
                )
            );
        }
        let informs = json!({"taints": [{"key": "k", "effect": "None"}]});
        read_slice_without(&slice_json(api_version, version, informs)).unwrap();
    }
}

fn empty_of(value: &Value) -> Value {
    match value {
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
        Value::String(_) => json!(""),
        _ => json!(false),
    }
}

#[test]
fn unsupported_fields_of_slices() {
    for (field, value, what) in [
        (
            "sharedCounters",
            json!([{"name": "c", "counters": {}}]),
            "shared counters",
        ),
        (
            "perDeviceNodeSelection",
            json!(true),
            "per-device node selections",
        ),
    ] {
        let mut json = slice_json(V1, ApiVersion::V1, json!({}));
        json["spec"][field] = empty_of(&value);
        read_slice_without(&json).unwrap();
        json["spec"][field] = value;
        read_slice(&json).unwrap();
        assert_eq!(
            read_slice_without(&json).unwrap_err().to_string(),
            format!(
                "ResourceSlice s: spec.{field}: {what} are not supported (gate DRAPartitionableDevices)"
            )
        );
    }
}

#[test]
fn unsupported_fields_of_claims() {
    for (api_version, version) in VERSIONS {
        let at = if flat(version) {
            "spec.devices.requests[0]"
        } else {
            "spec.devices.requests[0].exactly"
        };
        let cases = [
            (
                "capacity",
                json!({"requests": {"memory": "1Gi"}}),
                "capacity.requests: capacity requests are not supported (gate DRAConsumableCapacity)",
            ),
            (
                "derivedAttributes",
                json!([{"name": "x"}]),
                "derivedAttributes: derived attributes are not supported (gate DRADerivedAttributes)",
            ),
        ];
        for (field, value, expected) in cases {
            let exactly = json!({"deviceClassName": "c", field: value});
            assert_eq!(
                claim_text(&claim_json(api_version, version, "r", exactly)),
                format!("ResourceClaim default/x: {at}.{expected}")
            );
            for empty in [json!(null), json!({})] {
                read_claim(&claim_json(
                    api_version,
                    version,
                    "r",
                    json!({"deviceClassName": "c", field: empty}),
                ))
                .unwrap();
            }
        }
        let request =
            json!({"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]});
        let json = bytes(&with_request(api_version, request));
        let problem = resource_claim(&json, &without_features()).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "ResourceClaim default/x: spec.devices.requests[0].firstAvailable: prioritized lists are not supported (gate DRAPrioritizedList)"
        );
        assert_eq!(problem.gate, Some("DRAPrioritizedList"));
        let mut json = claim_json(api_version, version, "r", json!({"deviceClassName": "c"}));
        json["spec"]["devices"]["constraints"] = json!([{"distinctAttribute": "a/b"}]);
        let problem = resource_claim(&bytes(&json), &without_features()).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "ResourceClaim default/x: spec.devices.constraints[0].distinctAttribute: distinctAttribute constraints are not supported (gate DRAConsumableCapacity)"
        );
    }
}

#[test]
fn unsupported_fields_of_allocations() {
    for (field, value, expected) in [
        (
            "shareID",
            json!("x"),
            "shared devices are not supported (gate DRAConsumableCapacity)",
        ),
        (
            "consumedCapacity",
            json!({"m": "1"}),
            "shared devices are not supported (gate DRAConsumableCapacity)",
        ),
        (
            "bindingConditions",
            json!(["c"]),
            "binding conditions are not supported (gate DRADeviceBindingConditions)",
        ),
        (
            "bindingFailureConditions",
            json!(["c"]),
            "binding conditions are not supported (gate DRADeviceBindingConditions)",
        ),
        (
            "compatibilityGroups",
            json!(["c"]),
            "compatibility groups are not supported (gate DRADeviceCompatibilityGroups)",
        ),
    ] {
        let mut json = claim_json(V1, ApiVersion::V1, "r", json!({"deviceClassName": "c"}));
        let mut result = json!({"request": "r", "driver": "d", "pool": "p", "device": "v"});
        result[field] = empty_of(&value);
        json["status"] = json!({"allocation": {"devices": {"results": [result]}}});
        read_claim(&json).unwrap();
        json["status"]["allocation"]["devices"]["results"][0][field] = value;
        assert_eq!(
            claim_text(&json),
            format!(
                "ResourceClaim default/x: status.allocation.devices.results[0].{field}: {expected}"
            )
        );
    }
}
