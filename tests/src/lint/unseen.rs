//! What the input does not show, or what cannot be read of it, is not held against the rest: no sentence of a missing thing is
//! told that may be false.

use super::{Found, lint};

/// A node, a class and a slice.
const BASE: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {model: {string: A100}}}]
---
"#;

/// A claim for a device that the base lacks.
const CLAIM: &str = r#"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].model == "H100"'}}]}}]}}
---
"#;

fn with_base(input: &str) -> Vec<Found> {
    lint(&format!("{BASE}{input}"), &[])
}

/// Severity, object and path of everything that is told.
fn places(found: &[Found]) -> Vec<[&str; 3]> {
    found
        .iter()
        .map(|found| [&*found.severity, &*found.object, &*found.path])
        .collect()
}

/// Another slice of a driver, with a device.
fn slice(driver: &str, device: &str) -> String {
    format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: other}}\nspec: {{driver: {driver}, nodeName: n1, pool: {{name: other, generation: 1, resourceSliceCount: 1}}, devices: [{device}]}}\n"
    )
}

#[test]
fn devices_of_slices_that_cannot_be_read_are_not_missed() {
    const EXPRESSION: &str = "spec.devices.requests[0].exactly.selectors[0].cel.expression";
    let claim = ["error", "ResourceClaim default/c", EXPRESSION];
    assert_eq!(places(&with_base(CLAIM)), [claim]);
    // A device, and where its slice is accused.
    let devices = [
        (
            "{name: d, attributes: {model: {String: H100}}}",
            "error",
            "spec.devices[0].attributes[model].String",
        ),
        (
            "{name: d, attributs: {model: {string: H100}}}",
            "error",
            "spec.devices[0].attributs",
        ),
        (
            "{name: D_, attributes: {model: {string: H100}}}",
            "error",
            "spec.devices[0].name",
        ),
        (
            "{name: d, allowMultipleAllocations: true, attributes: {model: {string: H100}}}",
            "warning",
            "spec.devices[0].allowMultipleAllocations",
        ),
        (
            "{name: d, attributes: {model: {string: H100}, n: {ints: [1]}}}",
            "warning",
            "spec.devices[0].attributes[n].ints",
        ),
    ];
    for (device, severity, path) in devices {
        let hidden = [severity, "ResourceSlice other", path];
        let found = with_base(&(CLAIM.to_owned() + &slice("gpu.example.com", device)));
        assert_eq!(places(&found), [hidden], "{device}");
        // Another driver's slice hides nothing of this one's.
        let found = with_base(&(CLAIM.to_owned() + &slice("nic.example.com", device)));
        assert_eq!(places(&found), [claim, hidden], "{device}");
    }
}

#[test]
fn an_expression_that_fails_on_the_devices_that_can_be_read() {
    let claim = CLAIM.replace("].model", "].size");
    let hidden = slice("gpu.example.com", "{name: d, attributes: {size: {Int: 1}}}");
    let found = with_base(&(claim.clone() + &hidden));
    let of_claim = found
        .iter()
        .find(|found| found.object.contains("Claim"))
        .unwrap();
    assert_eq!(of_claim.severity, "warning", "{found:#?}");
    assert!(
        of_claim.message.contains("the 1 device that could be read"),
        "{found:#?}"
    );
    assert_eq!(with_base(&claim)[0].severity, "error");
}

#[test]
fn counters_beside_devices_are_of_1_33_and_1_34() {
    let slice = slice(
        "gpu.example.com",
        "{name: d, attributes: {model: {string: H100}}, consumesCounters: [{counterSet: set, counters: {memory: {value: 1Gi}}}]}",
    );
    let both = slice.replace(
        "devices:",
        "sharedCounters: [{name: set, counters: {memory: {value: 1Gi}}}], devices:",
    );
    let found = with_base(&both);
    assert_eq!(
        places(&found),
        [["warning", "ResourceSlice other", "spec.sharedCounters"]]
    );
    assert!(
        found[0].message.contains("since Kubernetes 1.35"),
        "{found:#?}"
    );
}

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i, resources: {claims: [{name: x}]}}], resourceClaims: [{name: x, resourceClaimTemplateName: later}]}\n---\n";
const TEMPLATE: &str = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: NAME}\nspec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n---\n";

#[test]
fn templates_that_come_later() {
    const PATH: &str = "spec.resourceClaims[0].resourceClaimTemplateName";
    let with = |more: &str| with_base(&format!("{POD}{more}"));
    // No template at all: the dump may be without them.
    assert_eq!(places(&with("")), [["warning", "Pod default/p", PATH]]);
    let other = TEMPLATE.replace("NAME", "quite-another");
    assert_eq!(places(&with(&other)), [["error", "Pod default/p", PATH]]);
    assert!(with(&TEMPLATE.replace("NAME", "later")).is_empty());
    let promise = "apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomain\nmetadata: {name: d}\nspec: {numNodes: 1, channel: {resourceClaimTemplate: {name: NAME}}}\n---\n";
    assert!(with(&(other.clone() + &promise.replace("NAME", "later"))).is_empty());
    assert_eq!(with(&(other + &promise.replace("NAME", "never"))).len(), 1);
}

#[test]
fn admin_access_needs_a_label_of_the_namespace() {
    const ADMIN: &str = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: tools}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: All, adminAccess: true}}]}}\n---\n";
    let namespace = |labels: &str| {
        format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: tools, labels: {{{labels}}}}}\n---\n"
        )
    };
    let place = |severity| {
        [
            severity,
            "ResourceClaim tools/c",
            "spec.devices.requests[0].exactly.adminAccess",
        ]
    };
    // Of a namespace that is not there nothing is known.
    assert!(with_base(ADMIN).is_empty());
    let right = namespace("resource.kubernetes.io/admin-access: \"true\"");
    assert!(with_base(&(ADMIN.to_owned() + &right)).is_empty());
    for labels in ["", "resource.kubernetes.io/admin-access: \"yes\""] {
        let input = ADMIN.to_owned() + &namespace(labels);
        let found = with_base(&input);
        assert_eq!(places(&found), [place("error")], "{labels}");
        assert!(
            found[0].message.contains("admin-access: \"true\""),
            "{found:#?}"
        );
        // It was taken by a server that did not know the rule.
        let taken = input.replace("{name: c,", "{name: c, uid: u,");
        assert_eq!(places(&with_base(&taken)), [place("warning")], "{labels}");
        let other = input.replace("adminAccess: true", "adminAccess: false");
        assert!(with_base(&other).is_empty(), "{labels}");
        let old = lint(&format!("{BASE}{input}"), &["--profile", "1.31"]);
        assert!(
            !old.iter().any(|found| found.message.contains("label")),
            "{old:#?}"
        );
    }
}

#[test]
fn a_document_that_cannot_be_read_may_hold_what_is_missing() {
    let broken = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: [}\n---\n";
    let claim = CLAIM.replace("H100", "A100");
    let missing = claim.replace("deviceClassName: gpu", "deviceClassName: another");
    assert_eq!(with_base(&missing).len(), 1);
    let found = with_base(&format!("{missing}{broken}"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].message.contains("cannot be read"), "{found:#?}");
    // A kind without a name hides those of its kind only.
    let nameless =
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {nme: another}\n---\n";
    assert_eq!(with_base(&format!("{missing}{nameless}")).len(), 1);
    let nameless = nameless.replace("DeviceClass", "ResourceSlice");
    assert_eq!(with_base(&format!("{missing}{nameless}")).len(), 2);
}
