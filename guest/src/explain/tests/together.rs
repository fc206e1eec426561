//! What cannot be had together: counters, constraints, and requests that want the same devices. The numbers are worked out by
//! hand beside each cluster.

use serde_json::{Value, json};

use super::cluster::*;

/// A device that takes so much of the counter `memory` of a set.
fn part(name: &str, set: &str, memory: &str) -> Value {
    let mut part = device(name, json!({}));
    part["consumesCounters"] =
        json!([{"counterSet": set, "counters": {"memory": {"value": memory}}}]);
    part
}

/// Pool `a` with these devices, and boards with 80Gi of memory each.
fn boards(devices: Value, boards: &[&str]) -> Vec<Value> {
    let set = |name: &&str| json!({"name": name, "counters": {"memory": {"value": "80Gi"}}});
    let mut counters = slice("sets", json!([]));
    counters["spec"]["sharedCounters"] = boards.iter().map(set).collect();
    let mut slices = vec![slice("a", devices), counters];
    for slice in &mut slices {
        slice["spec"]["pool"] = json!({"name": "a", "generation": 1, "resourceSliceCount": 2});
    }
    slices
}

fn asking(claims: Vec<Value>, objects: Vec<Value>) -> Value {
    let names: Vec<String> = claims
        .iter()
        .map(|claim| {
            claim["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut all = vec![class("gpu", &[]), pod(&names)];
    all.extend(claims.iter().cloned());
    all.extend(objects);
    Cluster::new(all).explain(CURRENT, "n1")
}

fn request_of(claim: &str, name: &str) -> Value {
    json!({"claim": claim, "request": name})
}

/// 30Gi of 80Gi are held, so that 50Gi are left: room for one of 40Gi, or one of 40Gi and none of 20Gi beside it.
#[test]
fn devices_that_compete_for_a_counter() {
    let devices = json!([
        part("held", "board", "30Gi"),
        part("x", "board", "40Gi"),
        part("y", "board", "40Gi"),
        part("z", "board", "20Gi")
    ]);
    let other = allocated(
        claim("other", json!([request("r", 1, &[])])),
        &["gpu.example.com/a/held"],
        &["p2"],
    );
    let mut objects = boards(devices, &["board"]);
    objects.push(other);
    let answer = asking(vec![claim("c", json!([request("r", 2, &[])]))], objects);
    // 20Gi and 40Gi are 10Gi more than 50Gi.
    assert_eq!(
        answer["together"],
        json!({"requests": [request_of("ns/c", "r")], "needed": 2, "most": 1,
            "counters": [{"type": "counter", "count": 3, "pool": "gpu.example.com/a",
                "devices": ["gpu.example.com/a/x", "gpu.example.com/a/y", "gpu.example.com/a/z"],
                "counter": {"set": "board", "name": "memory", "needed": "20Gi", "neededAtMost": "40Gi", "left": "50Gi", "total": "80Gi", "short": "10Gi"},
                "holders": [{"claim": "ns/other", "count": 1, "inFlight": false, "pods": ["ns/p2"]}]}]})
    );
    assert_eq!(answer["claims"][0]["requests"][0]["missing"], 0);
}

/// Each board has room for one of 50Gi; three are wanted.
#[test]
fn each_of_two_boards_has_room_for_one() {
    let devices = json!([
        part("a0", "left", "50Gi"),
        part("a1", "left", "50Gi"),
        part("b0", "right", "50Gi"),
        part("b1", "right", "50Gi")
    ]);
    let answer = asking(
        vec![claim("c", json!([request("r", 3, &[])]))],
        boards(devices, &["left", "right"]),
    );
    let together = &answer["together"];
    assert_eq!(
        (&together["needed"], &together["most"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        all(together, "/counters/*/counter/set"),
        [&json!("left"), &json!("right")]
    );
}

/// Two claims of the pod want 50Gi each, of 80Gi.
#[test]
fn claims_that_compete_for_a_counter() {
    let devices = json!([part("a", "board", "50Gi"), part("b", "board", "50Gi")]);
    let claims = ["c", "d"].map(|name| claim(name, json!([request("r", 1, &[])])));
    let answer = asking(claims.to_vec(), boards(devices, &["board"]));
    let together = &answer["together"];
    assert_eq!(
        together["requests"],
        json!([request_of("ns/c", "r"), request_of("ns/d", "r")])
    );
    assert_eq!(
        (&together["needed"], &together["most"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(all(together, "/counters/*/count"), [&json!(2)]);
}

fn placed(name: &str, root: i64, numa: i64) -> Value {
    device(
        name,
        json!({"gpu.example.com/root": {"int": root}, "gpu.example.com/numa": {"int": numa}}),
    )
}

/// d0 and d1 share a root, d1 and d2 a NUMA node; no two share both.
#[test]
fn constraints_that_exclude_each_other() {
    let devices = json!([placed("d0", 1, 1), placed("d1", 1, 2), placed("d2", 2, 2)]);
    let mut tied = claim("c", json!([request("r", 2, &[])]));
    tied["spec"]["devices"]["constraints"] = json!([
        {"matchAttribute": "gpu.example.com/root"}, {"matchAttribute": "gpu.example.com/numa"}]);
    let answer = asking(vec![tied], vec![slice("a", devices)]);
    assert_eq!(
        all(&answer, "/claims/0/constraints/*/blocks"),
        [&json!(false); 2]
    );
    assert_eq!(
        answer["together"],
        json!({"requests": [request_of("ns/c", "r")], "needed": 2, "most": 1,
            "constraints": [
                {"claim": "ns/c", "index": 0, "attribute": "gpu.example.com/root", "distinct": false},
                {"claim": "ns/c", "index": 1, "attribute": "gpu.example.com/numa", "distinct": false}]})
    );
}

/// Three share root 1, but only two of them differ in their NUMA node; a third root does not help.
#[test]
fn equal_and_different_values() {
    let devices = json!([
        placed("d0", 1, 1),
        placed("d1", 1, 1),
        placed("d2", 1, 2),
        placed("d3", 2, 3)
    ]);
    let mut tied = claim("c", json!([request("r", 3, &[])]));
    tied["spec"]["devices"]["constraints"] = json!([
        {"matchAttribute": "gpu.example.com/root"}, {"distinctAttribute": "gpu.example.com/numa"}]);
    let answer = asking(vec![tied], vec![slice("a", devices)]);
    let together = &answer["together"];
    assert_eq!(
        (&together["needed"], &together["most"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        all(together, "/constraints/*/distinct"),
        [&json!(false), &json!(true)]
    );
}

/// With equal root only d0 and d1 are two, and they take 100Gi of 80Gi.
#[test]
fn a_constraint_and_a_counter() {
    let of_board = |name: &str, root: i64, memory: &str| {
        let mut device = placed(name, root, 1);
        device["consumesCounters"] = part(name, "board", memory)["consumesCounters"].clone();
        device
    };
    let devices = json!([
        of_board("d0", 1, "50Gi"),
        of_board("d1", 1, "50Gi"),
        of_board("d2", 2, "10Gi")
    ]);
    let mut tied = claim("c", json!([request("r", 2, &[])]));
    tied["spec"]["devices"]["constraints"] = json!([{"matchAttribute": "gpu.example.com/root"}]);
    let answer = asking(vec![tied], boards(devices, &["board"]));
    let together = &answer["together"];
    assert_eq!(
        (&together["needed"], &together["most"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(all(together, "/constraints/*/index"), [&json!(0)]);
    assert_eq!(
        all(together, "/counters/*/counter/name"),
        [&json!("memory")]
    );
}

/// Two requests of two devices each, and three devices; the third request has one of its own.
#[test]
fn requests_that_want_the_same_devices() {
    let devices = json!([
        placed("d0", 1, 1),
        placed("d1", 1, 1),
        placed("d2", 1, 1),
        placed("d3", 2, 2)
    ]);
    let of_root = |name: &str, count: i64, root: i64| {
        let expression = format!(r#"device.attributes["gpu.example.com"].root == {root}"#);
        request(name, count, &[&expression])
    };
    let requests = json!([of_root("x", 2, 1), of_root("y", 2, 1), of_root("z", 1, 2)]);
    let answer = asking(vec![claim("c", requests)], vec![slice("a", devices)]);
    assert_eq!(
        answer["together"],
        json!({"requests": [request_of("ns/c", "x"), request_of("ns/c", "y")], "needed": 4, "most": 3})
    );
}

/// What is impossible by itself is told there; the rest is told as if that were not asked for.
#[test]
fn beside_what_is_impossible_by_itself() {
    let devices = json!([part("a", "board", "50Gi"), part("b", "board", "50Gi")]);
    let claims = vec![
        claim("c", json!([request("r", 2, &[])])),
        claim("d", json!([request("r", 3, &[])])),
    ];
    let answer = asking(claims, boards(devices, &["board"]));
    assert_eq!(answer["claims"][1]["requests"][0]["missing"], 1);
    assert_eq!(
        answer["together"]["requests"],
        json!([request_of("ns/c", "r")])
    );
}
