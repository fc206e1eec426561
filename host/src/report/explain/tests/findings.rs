//! Findings and needs as a whole.

use serde_json::{Value, json};

use crate::explain::document::Document;
use crate::report::explain::{findings, needs};

fn document(requests: &Value, constraints: &Value) -> Document {
    let claim =
        json!({"name": "c", "claim": "ns/c", "requests": requests, "constraints": constraints});
    let verdict = json!({"at": "Filter", "code": "unschedulable", "message": "no"});
    Document::read(&json!({"verdict": verdict, "claims": [claim]})).unwrap()
}

fn taint(key: &str, devices: &[&str]) -> Value {
    let taint = json!({"key": key, "value": "", "effect": "NoSchedule"});
    json!({"type": "taint", "count": devices.len(), "devices": devices, "taint": taint})
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
        format!("{devices} of z, which is no request of the claim (it has a, b and c)")
    );
}
