//! Requests for a part of a device, tolerations, taints and extended resources: each rule with what is in order and what is not.
//! The rules are those of the comments of `CapacityRequestPolicy`, `DeviceToleration` and `DeviceClassSpec` in
//! `k8s.io/api/resource/v1`.

use super::{Found, lint};

const NODE: &str = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n";

/// A slice with a device that is shared and has 10 units of a capacity, with this policy.
fn with_policy(policy: &str) -> Vec<Found> {
    let slice = format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s}}\nspec: {{driver: d.example.com, nodeName: n1, pool: {{name: n1, generation: 1, resourceSliceCount: 1}}, devices: [{{name: d, allowMultipleAllocations: true, capacity: {{units: {{value: \"10\", requestPolicy: {{{policy}}}}}}}}}]}}\n"
    );
    let found = lint(&format!("{NODE}{slice}"), &[]);
    // That sharing is not implemented is another matter.
    let of_policy = |found: &Found| !found.path.ends_with("allowMultipleAllocations");
    found.into_iter().filter(of_policy).collect()
}

/// What is in order, what is not, the path below the policy, and part of the message.
const POLICIES: [[&str; 4]; 14] = [
    [
        "default: \"2\", validValues: [\"1\", \"2\"]",
        "default: \"2\", validValues: [\"2\", \"1\"]",
        "validValues[1]",
        "not larger than the one before",
    ],
    [
        "default: \"2\", validValues: [\"2\", \"10\"]",
        "default: \"2\", validValues: [\"2\", \"11\"]",
        "validValues[1]",
        "more than the capacity",
    ],
    [
        "default: \"2\", validValues: [\"2\"]",
        "default: \"3\", validValues: [\"2\"]",
        "default",
        "none of validValues",
    ],
    [
        "default: \"2\", validValues: [\"2\"]",
        "validValues: [\"2\"]",
        "default",
        "default is missing",
    ],
    [
        "default: \"2\", validRange: {min: \"1\"}",
        "validRange: {min: \"1\"}",
        "default",
        "default is missing",
    ],
    [
        "default: \"2\", validRange: {min: \"1\"}",
        "default: \"2\", validValues: [\"2\"], validRange: {min: \"1\"}",
        "validRange",
        "both set",
    ],
    [
        "default: \"2\", validRange: {min: \"1\"}",
        "default: \"2\", validRange: {max: \"3\"}",
        "validRange.min",
        "min is missing",
    ],
    [
        "default: \"2\", validRange: {min: \"2\"}",
        "default: \"2\", validRange: {min: \"3\"}",
        "default",
        "less than min",
    ],
    [
        "default: \"2\", validRange: {min: \"1\", max: \"2\"}",
        "default: \"3\", validRange: {min: \"1\", max: \"2\"}",
        "default",
        "more than max",
    ],
    [
        "default: \"2\", validRange: {min: \"1\", max: \"10\"}",
        "default: \"2\", validRange: {min: \"1\", max: \"11\"}",
        "validRange.max",
        "more than the capacity",
    ],
    [
        // 2 + 8 is all that there is.
        "default: \"2\", validRange: {min: \"2\", step: \"8\"}",
        "default: \"2\", validRange: {min: \"2\", step: \"9\"}",
        "validRange.step",
        "more than the capacity",
    ],
    [
        // 1 + 2 * 3 = 7.
        "default: \"7\", validRange: {min: \"1\", step: \"3\"}",
        "default: \"6\", validRange: {min: \"1\", step: \"3\"}",
        "default",
        "multiple of step",
    ],
    [
        "default: \"2\"",
        "default: 2GB",
        "default",
        "is not a quantity",
    ],
    [
        "default: \"2\", validRange: {min: \"1\"}",
        "default: \"2\", validrange: {min: \"1\"}",
        "validrange",
        "may not be set here",
    ],
];

#[test]
fn policies_for_requests() {
    for [right, wrong, path, message] in POLICIES {
        let found = with_policy(right);
        assert!(found.is_empty(), "{right}: {found:#?}");
        let found = with_policy(wrong);
        let [it] = &found[..] else {
            panic!("{wrong}: {found:#?}");
        };
        let place = format!("spec.devices[0].capacity[units].requestPolicy.{path}");
        assert_eq!([&*it.severity, &*it.path], ["error", &*place], "{wrong}");
        assert!(it.message.contains(message), "{wrong}: {it:#?}");
    }
}

const CLASS: &str = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {extendedResourceName: example.com/gpu, selectors: [{cel: {expression: \"device.driver == 'gpu.example.com'\"}}]}\n---\n";

/// Two devices with taints, and a claim with tolerations.
fn tainted([one, other]: [&str; 2], tolerations: &str) -> Vec<Found> {
    let slice = format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: s}}\nspec: {{driver: gpu.example.com, nodeName: n1, pool: {{name: n1, generation: 1, resourceSliceCount: 1}}, devices: [{{name: a, taints: [{one}]}}, {{name: b, taints: [{other}]}}]}}\n---\n"
    );
    let claim = format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, tolerations: [{tolerations}]}}}}]}}}}\n"
    );
    lint(&format!("{NODE}{CLASS}{slice}{claim}"), &[])
}

#[test]
fn taints_that_nobody_tolerates() {
    const SCHEDULE: &str = "{key: k, value: v, effect: NoSchedule}";
    const EXECUTE: &str = "{key: l, effect: NoExecute}";
    let right: [([&str; 2], &str); 5] = [
        (["", SCHEDULE], ""),
        (["{key: k, effect: None}", SCHEDULE], ""),
        ([SCHEDULE, EXECUTE], "{key: k, operator: Exists}"),
        ([SCHEDULE, EXECUTE], "{operator: Exists, effect: NoExecute}"),
        ([SCHEDULE, EXECUTE], "{key: k, operator: Equal, value: v}"),
    ];
    for (taints, tolerations) in right {
        let found = tainted(taints, tolerations);
        assert!(found.is_empty(), "{taints:?} {tolerations}: {found:#?}");
    }
    let wrong = [
        "",
        "{key: k, operator: Equal, value: w}",
        "{key: l, operator: Exists, effect: NoSchedule}",
    ];
    for tolerations in wrong {
        let found = tainted([SCHEDULE, EXECUTE], tolerations);
        let [it] = &found[..] else {
            panic!("{tolerations}: {found:#?}");
        };
        assert_eq!(
            [&*it.severity, &*it.path],
            ["warning", "spec.devices.requests[0].exactly"]
        );
        assert!(it.message.contains("k=v:NoSchedule"), "{it:#?}");
        assert!(
            it.remedy
                .contains("{key: k, operator: Exists, effect: NoSchedule}"),
            "{it:#?}"
        );
    }
}

#[test]
fn tolerations_that_do_something_else() {
    const OPEN: [&str; 2] = ["", ""];
    let rows = [
        (
            "{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 5}",
            "{key: k, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}",
            "warning",
            "tolerationSeconds",
        ),
        (
            "{key: k, operator: Equal, value: v}",
            "{operator: Equal, value: v}",
            "warning",
            "key",
        ),
        (
            "{operator: Exists}",
            "{operator: Exists, value: v}",
            "error",
            "value",
        ),
        (
            "{key: k, operator: Exists, effect: None}",
            "{key: k, operator: Exists, effect: PreferNoSchedule}",
            "error",
            "effect",
        ),
        (
            "{key: k, operator: Exists}",
            "{key: k, operator: Exits}",
            "error",
            "operator",
        ),
    ];
    for (right, wrong, severity, path) in rows {
        let found = tainted(OPEN, right);
        assert!(found.is_empty(), "{right}: {found:#?}");
        let found = tainted(OPEN, wrong);
        let [it] = &found[..] else {
            panic!("{wrong}: {found:#?}");
        };
        let place = format!("spec.devices.requests[0].exactly.tolerations[0].{path}");
        assert_eq!([&*it.severity, &*it.path], [severity, &*place], "{wrong}");
    }
}

#[test]
fn extended_resources_that_nobody_has() {
    let plain = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n";
    let full = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"4\", vendor.com/nic: \"2\"}}\n---\n";
    let rows = [
        // Of a class, of a node, and what is none.
        (plain, "example.com/gpu", None),
        (full, "vendor.com/nic", None),
        (full, "hugepages-2Mi", None),
        (full, "deviceclass.resource.kubernetes.io/gpu", None),
        // Nodes that are written by hand do not say what they have.
        (plain, "other.com/thing", None),
        (
            full,
            "other.com/thing",
            Some(["warning", "no node has other.com/thing"]),
        ),
        (
            plain,
            "example.com/gpux",
            Some(["warning", "no node has example.com/gpux"]),
        ),
        (
            plain,
            "deviceclass.resource.kubernetes.io/gpux",
            Some(["error", "there is no DeviceClass"]),
        ),
    ];
    for (node, name, expected) in rows {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: i, resources: {{limits: {{{name}: 1}}, requests: {{{name}: 1}}}}}}]}}\n"
        );
        let found = lint(&format!("{node}{CLASS}{pod}"), &[]);
        let told: Vec<[&str; 2]> = found
            .iter()
            .map(|found| [&*found.severity, &*found.path])
            .collect();
        let path = format!("spec.containers[0].resources.limits[{name}]");
        match expected {
            None => assert!(told.is_empty(), "{name}: {found:#?}"),
            Some([severity, message]) => {
                assert_eq!(told, [[severity, &*path]], "{name}");
                assert!(found[0].message.contains(message), "{found:#?}");
            }
        }
    }
}
