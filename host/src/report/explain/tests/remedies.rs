//! Steps that are not enough are not told as if they were. Numbers by hand, above each case.

use serde_json::{Value, json};

use crate::report::explain::document::Document;
use crate::report::explain::findings::{self, Context};
use crate::report::explain::{needs, remedies};

fn document(requests: &Value, constraints: &Value) -> Document {
    let claim =
        json!({"name": "c", "claim": "ns/c", "requests": requests, "constraints": constraints});
    let verdict = json!({"at": "Filter", "code": "unschedulable", "message": "no"});
    Document::read(&json!({"verdict": verdict, "claims": [claim]})).unwrap()
}

/// What is to be done for a request of so many devices, of which some match and some of these are free.
fn steps((count, matching, free): (u64, u64, u64), reasons: &Value, constraints: &Value) -> String {
    let request = json!({"name": "gpu", "class": "gpu", "count": count, "looked": matching, "matching": matching, "free": free,
        "missing": count - free, "reasons": reasons});
    let document = document(&json!([request]), constraints);
    let claim = &document.claims[0];
    remedies::of(claim, &claim.requests[0], &Context::of(&document)).join(" / ")
}

fn holders() -> Value {
    json!([{"claim": "ns/h", "count": 1, "inFlight": false, "pods": ["ns/o"]}])
}

fn taint(key: &str, devices: &[&str]) -> Value {
    let taint = json!({"key": key, "value": "", "effect": "NoSchedule"});
    json!({"type": "taint", "count": devices.len(), "devices": devices, "taint": taint})
}

#[test]
fn fewer_devices_than_are_needed() {
    let used = json!({"type": "in-use", "count": 1, "devices": ["d/p/g1"], "holders": holders()});
    // 1 of 2 is free: 1 can be had, and 2 if the other one becomes free.
    assert_eq!(
        steps((3, 2, 1), &json!([used]), &json!([])),
        "ask for at most 1, or ask for at most 2 and free g1, held by claim ns/h (pod ns/o)"
    );
    // None of 2 is free.
    let tainted = taint("bad", &["d/p/g0", "d/p/g1"]);
    assert_eq!(
        steps((3, 2, 0), &json!([tainted]), &json!([])),
        "ask for at most 2 and tolerate bad:NoSchedule in the request, or take the taint off g0 and g1"
    );
    // Nobody knows how many devices the slices have that are missing.
    let incomplete =
        json!({"type": "pool-incomplete", "count": 1, "devices": ["d/p/g0"], "pool": "d/p"});
    assert_eq!(
        steps((2, 1, 0), &json!([incomplete]), &json!([])),
        "first: have the driver publish all slices of d/p, then see what is left"
    );
    // 2 are free, of 2 roots.
    let root = json!([{"index": 0, "attribute": "a/root", "requests": ["gpu"], "needed": 3, "largest": 1, "blocks": true}]);
    assert_eq!(steps((3, 2, 2), &json!([]), &root), "ask for at most 1");
}

#[test]
fn counters_for_all_devices() {
    let counter = |total: &str| {
        let counter = json!({"set": "s", "name": "memory", "needed": "20Gi", "left": "0", "total": total, "short": "20Gi"});
        json!([{"type": "counter", "count": 2, "devices": ["d/p/b", "d/p/c"], "counter": counter, "holders": holders()}])
    };
    // 2 times 20Gi less 0.
    assert_eq!(
        steps((2, 2, 0), &counter("60Gi"), &json!([])),
        "free at least 40Gi of counter s/memory, held by claim ns/h (pod ns/o)"
    );
    // 20Gi are all there is: 1 device.
    assert_eq!(
        steps((2, 2, 0), &counter("20Gi"), &json!([])),
        "first: ask for fewer devices (all of counter s/memory, 20Gi, is enough for 1), then see what is left"
    );
}

#[test]
fn all_that_is_known_of_a_device() {
    let mut tainted = taint("k", &["d/p/g1"]);
    let used = json!({"type": "in-use", "count": 1, "devices": ["d/p/g1"], "holders": holders()});
    tainted["also"] = json!([taint("l", &["d/p/g1"]), used]);
    assert_eq!(
        steps((1, 1, 0), &json!([tainted]), &json!([])),
        "tolerate k:NoSchedule in the request, or take the taint off g1; besides, tolerate l:NoSchedule in the request, \
         or take the taint off g1; besides, free g1, held by claim ns/h (pod ns/o)"
    );
}

#[test]
fn taints_beside_a_constraint() {
    let request = json!({"name": "gpu", "class": "gpu", "count": 2, "looked": 3, "matching": 3, "free": 2,
        "reasons": [taint("k", &["d/p/g1"])]});
    let root = json!([{"index": 0, "attribute": "a/root", "requests": ["gpu"], "needed": 2, "largest": 1, "blocks": true}]);
    let found = findings::of(&document(&json!([request]), &root), "P");
    assert_eq!(
        found[0].phrase.to_string(),
        "2 devices free, but at most 1 with equal a/root, 2 needed, 1 more tainted k:NoSchedule"
    );
    let fix = &found[0].fixes[0];
    assert!(
        fix.starts_with("tolerate k:NoSchedule in the request"),
        "{fix}"
    );
}

#[test]
fn too_many_slices() {
    let request = json!({"name": "gpu", "class": "gpu", "count": 1, "looked": 1, "matching": 1, "free": 0, "missing": 1,
        "reasons": [{"type": "pool-incomplete", "count": 1, "devices": ["d/p/g0"], "pool": "d/p", "have": 2, "needed": 1}]});
    let found = findings::of(&document(&json!([request]), &json!([])), "P");
    assert_eq!(
        found[0].phrase.to_string(),
        "0 of 1 matching device free: 1 in a pool that is incomplete (2 slices published, and a resourceSliceCount of 1)"
    );
    assert_eq!(
        found[0].fixes,
        [
            "have the driver correct d/p: its slices must be as many as their resourceSliceCount says"
        ]
    );
}

#[test]
fn a_hopeless_alternative_hides_no_other() {
    let lacking = json!({"set": "s", "name": "memory", "needed": "40Gi", "left": "30Gi", "total": "30Gi", "short": "10Gi"});
    let lacking = json!({"type": "counter", "count": 1, "devices": ["d/p/a"], "counter": lacking});
    let one = |name: &str, reason: Value| json!({"name": name, "class": "gpu", "count": 1, "looked": 1, "matching": 1, "free": 0, "missing": 1, "reasons": [reason]});
    let requests = json!([one("gpu/x", lacking), one("gpu/y", taint("k", &["d/p/b"]))]);
    let found = findings::of(&document(&requests, &json!([])), "P");
    assert_eq!(
        found[0].fixes,
        ["tolerate k:NoSchedule in the request, or take the taint off b"]
    );
}

#[test]
fn a_constraint_of_some_requests() {
    let need = |covered: &[&str]| {
        let request = |name: &str| needs::RequestNeed {
            name: name.to_owned(),
            class: "gpu".to_owned(),
            count: Some(1),
            admin_access: false,
            selectors: Vec::new(),
        };
        let constraint = needs::ConstraintNeed {
            attribute: "a/root".to_owned(),
            distinct: false,
            requests: covered.iter().map(|&name| name.to_owned()).collect(),
        };
        let need = needs::Need {
            name: "c".to_owned(),
            claim: None,
            template: None,
            exists: true,
            requests: ["a", "b", "c"].map(request).to_vec(),
            constraints: vec![constraint],
        };
        needs::sentence(&[need]).unwrap()
    };
    let devices = "3 times 1 device of class gpu with equal a/root";
    assert_eq!(need(&[]), devices);
    assert_eq!(need(&["a", "b", "c"]), devices);
    assert_eq!(need(&["a", "b"]), format!("{devices} of a and b"));
    assert_eq!(
        need(&["z"]),
        format!("{devices} of no request that there is")
    );
}
