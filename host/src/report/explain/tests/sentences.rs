//! One sentence per type of reason.

use serde_json::{Value, json};

use crate::explain::document::{Claim, Reason, Request};
use crate::filters::Obstacle;
use crate::report::explain::{advice, native, reasons};

fn reason(value: Value) -> Reason {
    serde_json::from_value(value).unwrap()
}

#[test]
fn of_claims() {
    let claim: Claim = serde_json::from_value(json!({"name": "c", "claim": "ns/x"})).unwrap();
    for (value, sentence, what) in [
        (
            json!({"type": "claim-missing"}),
            "claim ns/x does not exist",
            "create ResourceClaim ns/x, or the template that it is made from",
        ),
        (
            json!({"type": "claim-not-owned"}),
            "claim ns/x was made for another pod",
            "",
        ),
        (
            json!({"type": "claim-deleted"}),
            "claim ns/x is being deleted",
            "wait until ResourceClaim ns/x is gone, and create it anew",
        ),
        (
            json!({"type": "claim-reserved", "pods": ["ns/a", "ns/b"]}),
            "claim ns/x is in use by ns/a and ns/b",
            "",
        ),
        (
            json!({"type": "claim-full", "needed": 32, "have": 32}),
            "claim ns/x is reserved for 32 pods, and no more may share it",
            "",
        ),
        (
            json!({"type": "claim-in-flight"}),
            "claim ns/x is being allocated for another pod at this moment",
            "wait until ResourceClaim ns/x is allocated",
        ),
        (
            json!({"type": "claim-elsewhere", "nodes": "kubernetes.io/hostname in [a]", "pods": ["ns/a"]}),
            "claim ns/x is allocated on a node with kubernetes.io/hostname in [a], in use by pod ns/a",
            "",
        ),
        (
            json!({"type": "class-missing", "class": "gpu"}),
            "DeviceClass gpu does not exist",
            "create DeviceClass gpu, as no class is there",
        ),
        (
            json!({"type": "invalid-object", "message": "ResourceClaim ns/x: spec.y is not implemented"}),
            "ResourceClaim ns/x: spec.y is not implemented",
            "correct ResourceClaim ns/x, or the template that it is made from",
        ),
        (
            json!({"type": "bad-request", "message": "request r: no class"}),
            "claim ns/x: request r: no class",
            "correct ResourceClaim ns/x, or the template that it is made from",
        ),
        (
            json!({"type": "gate-disabled", "gate": "DRAAdminAccess"}),
            "claim ns/x needs the feature gate DRAAdminAccess, which is off",
            "turn the gate on (here: --feature DRAAdminAccess=true)",
        ),
        (
            json!({"type": "classic-waiting"}),
            "claim ns/x waits for its resource driver to allocate it",
            "wait for the driver; --classic-driver stands in for it",
        ),
        (
            json!({"type": "classic-unsuitable"}),
            "claim ns/x is refused by its resource driver (unsuitable)",
            "see the log of the driver: its answer is in the unsuitableNodes of the pod's PodSchedulingContext",
        ),
        (
            json!({"type": "classic-class-nodes"}),
            "the class of claim ns/x does not allow this node",
            "",
        ),
        (
            json!({"type": "deallocation-requested"}),
            "claim ns/x has to be freed first, which was asked of its driver",
            "",
        ),
        (
            json!({"type": "too-many-devices", "needed": 40, "have": 32}),
            "claim ns/x asks for 40 devices, and a claim may have 32",
            "",
        ),
        (
            json!({"type": "of-tomorrow", "message": "why", "moon": "full"}),
            "of-tomorrow: why, moon full",
            "",
        ),
    ] {
        let reason = reason(value);
        assert_eq!(reasons::of_claim(&claim, &reason).to_string(), sentence);
        let found = advice::of_claim(&claim, &reason).unwrap_or_default();
        assert_eq!(found, what, "{sentence}");
    }
}

#[test]
fn of_devices() {
    let seen = json!([{"saw": [{"expression": "device.attributes[\"d\"].family", "value": "\"Arc\""}], "count": 2, "device": "d/p/a"},
        {"saw": [{"expression": "device.attributes[\"d\"].family", "value": null}], "count": 1, "device": "d/p/b"}]);
    let two = json!(["d/p/a", "d/p/b"]);
    for (value, sentence, what) in [
        (
            json!({"type": "content-missing", "count": 1}),
            "with content that cannot be read",
            "",
        ),
        (
            json!({"type": "other-nodes", "count": 1}),
            "for other nodes",
            "",
        ),
        (
            json!({"type": "class-selector", "count": 3, "expression": "a && b", "part": "b"}),
            "not of the class",
            "change the class's selector, or add a device for which `b` is true",
        ),
        (
            json!({"type": "request-selector", "count": 3, "expression": "a &&\n b", "part": "", "values": seen}),
            "not what `a && b` wants: family is \"Arc\" (2x) and not there (1x)",
            "change the selector, or add a device for which `a && b` is true",
        ),
        (
            json!({"type": "request-selector", "count": 3, "part": "f == 'Flex'",
                "hints": [{"type": "near-value", "name": "'Flex'", "nearest": ["'Data Center Flex'"]}]}),
            "not what `f == 'Flex'` wants",
            "the selector wants 'Flex', devices here have 'Data Center Flex': write that, or add such a device",
        ),
        (
            json!({"type": "request-selector-error", "count": 1, "index": 0, "message": "no such key: y", "part": "x.y",
                "hints": [{"type": "guard", "name": "x.y", "guard": "has(x.y)"}, {"type": "unknown-attribute", "name": "y", "nearest": ["z"]}]}),
            "on which selector #0 fails at `x.y`: no such key: y",
            "no device publishes y (there is z); or put `has(x.y) && ` before it",
        ),
        (
            json!({"type": "class-selector-error", "count": 1, "message": "bad",
                "hints": [{"type": "unknown-domain", "name": "d"}]}),
            "on which selector of the class fails: bad",
            "no device publishes anything under d",
        ),
        (
            json!({"type": "pool-incomplete", "count": 2, "pool": "d/p", "needed": 2, "have": 1}),
            "in a pool that is incomplete (1 of 2 slices published)",
            "",
        ),
        (
            json!({"type": "pool-invalid", "count": 2, "pool": "d/p"}),
            "in a pool that contradicts itself (lint says how)",
            "have the driver correct d/p",
        ),
        (
            json!({"type": "taint", "count": 2, "devices": two, "taint": {"key": "k", "value": "v", "effect": "NoSchedule", "rule": "r"}}),
            "tainted k=v:NoSchedule (by rule r)",
            "",
        ),
        (
            json!({"type": "in-use", "count": 2, "devices": two,
                "holders": [{"claim": "ns/c", "count": 2, "inFlight": false, "pods": ["ns/p"]}]}),
            "in use",
            "",
        ),
        (
            json!({"type": "counter", "count": 2, "devices": two, "counter": {"set": "s", "name": "memory", "needed": "40Gi", "neededAtMost": "50Gi", "left": "20Gi", "total": "80Gi"},
                "holders": [{"claim": "ns/c", "count": 2, "inFlight": true, "pods": []}]}),
            "needing 40Gi to 50Gi of counter s/memory (20Gi left)",
            "",
        ),
        (
            json!({"type": "constraint-alone", "count": 2, "devices": two, "index": 0, "attribute": "d/numa"}),
            "without d/numa",
            "have the driver publish d/numa for a and b",
        ),
        (
            json!({"type": "of-tomorrow", "count": 1, "moon": 7}),
            "of-tomorrow, moon 7",
            "",
        ),
    ] {
        let reason = reason(value);
        assert_eq!(reasons::of_devices(&reason).to_string(), sentence);
        let found = advice::of_devices(&reason).unwrap_or_default();
        assert_eq!(found, what, "{sentence}");
    }
}

#[test]
fn of_requests() {
    let request: Request = serde_json::from_value(json!({"name": "r", "class": "gpu"})).unwrap();
    for (value, sentence) in [
        (
            json!({"type": "all-spoiled", "devices": ["d/p/a"]}),
            "every matching device is wanted, and a cannot be had",
        ),
        (
            json!({"type": "all-without-device"}),
            "every matching device of class gpu is wanted, and there is none",
        ),
        (
            json!({"type": "budget", "steps": 5}),
            "the search was given up after 5 steps; --search-steps raises the limit",
        ),
    ] {
        let phrase = reasons::of_request(&request, &reason(value));
        assert_eq!(
            phrase.map(|phrase| phrase.to_string()).as_deref(),
            Some(sentence)
        );
    }
    assert!(reasons::of_request(&request, &reason(json!({"type": "in-use"}))).is_none());
}

#[test]
fn of_basic_filters() {
    let taint = Obstacle::Taint {
        key: "k".to_owned(),
        value: String::new(),
        effect: "NoExecute",
    };
    let label = Obstacle::Label {
        key: "zone".to_owned(),
        wanted: "one of a, b".to_owned(),
        found: None,
    };
    let resource = |name: &str, wanted, allocatable, used| Obstacle::Resource {
        name: name.to_owned(),
        wanted,
        allocatable,
        used,
    };
    for (obstacle, sentence, what) in [
        (Obstacle::Unschedulable, "marked unschedulable", ""),
        (
            Obstacle::NodeName {
                wanted: "m".to_owned(),
            },
            "the pod wants node m",
            "",
        ),
        (taint, "taint k:NoExecute not tolerated", ""),
        (label, "label zone must be one of a, b and is not set", ""),
        (
            resource("cpu", 4000, 8000, 6500),
            "cpu: 4 needed, 1500m of 8 left",
            "",
        ),
        (
            resource("memory", 3 << 30, 2 << 30, 0),
            "memory: 3Gi needed, 2Gi of 2Gi left",
            "",
        ),
        (
            resource("pods", 1, 110, 110),
            "pods: 1 needed, 0 of 110 left",
            "",
        ),
        (
            Obstacle::Unreadable("status.allocatable[cpu]: \"x\" is not a quantity".to_owned()),
            "the node cannot be read: status.allocatable[cpu]: \"x\" is not a quantity",
            "correct node n",
        ),
    ] {
        assert_eq!(native::sentence(&obstacle).to_string(), sentence);
        let found = native::advice(&obstacle, "n").unwrap_or_default();
        assert_eq!(found, what, "{sentence}");
    }
}
