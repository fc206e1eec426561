//! Devices, pools and constraints: one case for each reason.

use serde_json::{Value, json};

use super::cluster::*;

fn reasons(answer: &Value) -> Vec<Value> {
    all(answer, "/claims/0/requests/0/reasons/*")
        .into_iter()
        .cloned()
        .collect()
}

fn gpus(count: usize) -> Value {
    (0..count)
        .map(|i| device(&format!("d{i}"), json!({})))
        .collect()
}

/// Class `gpu` without selectors, claim `c` with these requests, pod with it.
fn asking(requests: Value, objects: Vec<Value>) -> Cluster {
    let mut all = vec![class("gpu", &[]), claim("c", requests), pod(&["c"])];
    all.extend(objects);
    Cluster::new(all)
}

#[test]
fn what_fits_is_told() {
    let answer =
        asking(json!([request("r", 2, &[])]), vec![slice("a", gpus(3))]).explain(CURRENT, "n1");
    let pick = |device: &str| json!({"claim": "ns/c", "request": "r", "driver": "gpu.example.com", "pool": "a", "device": device});
    assert_eq!(
        answer,
        json!({"node": "n1",
            "verdict": {"at": null, "code": "success", "message": "", "devices": [pick("d0"), pick("d1")]},
            "search": {"steps": 2, "limit": 1_000_000, "exhausted": false, "placed": 2},
            "claims": [{"name": "c-entry", "claim": "ns/c", "state": "pending", "reasons": [], "constraints": [],
                "requests": [{"name": "r", "class": "gpu", "count": 2, "looked": 3, "matching": 3, "free": 3, "missing": 0,
                    "reasons": []}]}],
            "pools": [{"driver": "gpu.example.com", "pool": "a", "generation": 1, "slices": 1, "expected": 1, "stale": [],
                "devices": 3, "state": "usable"}],
            "unreachable": []})
    );
}

#[test]
fn in_use_by_whom() {
    let held = |name: &str, devices: &[&str], pods: &[&str]| {
        allocated(claim(name, json!([request("r", 1, &[])])), devices, pods)
    };
    let one = held(
        "one",
        &["gpu.example.com/a/d0", "gpu.example.com/a/d1"],
        &["x", "y"],
    );
    let pending = claim("two", json!([request("r", 1, &[])]));
    let two = held("two", &["gpu.example.com/a/d2"], &[]);
    let answer = asking(
        json!([request("r", 1, &[])]),
        vec![slice("a", gpus(3)), one, pending],
    )
    .decided(&two, "uid-z")
    .explain(CURRENT, "n1");
    assert_eq!(
        reasons(&answer),
        [
            json!({"type": "in-use", "count": 3,
            "devices": ["gpu.example.com/a/d0", "gpu.example.com/a/d1", "gpu.example.com/a/d2"],
            "holders": [
                {"claim": "ns/one", "count": 2, "inFlight": false, "pods": ["ns/x", "ns/y"]},
                {"claim": "ns/two", "count": 1, "inFlight": true},
            ]}),
            json!({"type": "short", "needed": 1, "have": 0}),
        ]
    );
    assert_eq!(
        answer["search"],
        json!({"steps": 0, "limit": 1_000_000, "exhausted": false, "placed": 0, "stuck": {"claim": "ns/c", "request": "r"}})
    );
}

#[test]
fn all_taints_of_a_device_and_who_holds_it() {
    let mut devices = gpus(1);
    let taint = |key: &str| json!({"key": key, "effect": "NoSchedule"});
    devices[0]["taints"] = json!([taint("a"), taint("b")]);
    let used = claim("one", json!([request("r", 1, &[])]));
    let used = allocated(used, &["gpu.example.com/a/d0"], &["x"]);
    let answer = asking(
        json!([request("r", 1, &[])]),
        vec![slice("a", devices), used],
    )
    .explain(CURRENT, "n1");
    let told = reasons(&answer);
    let device = "gpu.example.com/a/d0";
    let tainted = |key: &str| {
        json!({"type": "taint", "count": 1, "devices": [device],
            "taint": {"key": key, "value": "", "effect": "NoSchedule"}})
    };
    let mut first = tainted("a");
    first["also"] = json!([tainted("b"),
        {"type": "in-use", "count": 1, "devices": [device], "holders": [
            {"claim": "ns/one", "count": 1, "inFlight": false, "pods": ["ns/x"]}]}]);
    assert_eq!(told[0], first);
}

#[test]
fn taints_of_slices_and_of_rules() {
    let mut devices = gpus(3);
    devices[0]["taints"] = json!([{"key": "broken", "value": "yes", "effect": "NoExecute"}]);
    let rule = json!({"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "drain"},
        "spec": {"deviceSelector": {"device": "d1"}, "taint": {"key": "drain", "effect": "NoSchedule"}}});
    let answer = asking(
        json!([request("r", 2, &[])]),
        vec![slice("a", devices), rule],
    )
    .explain(CURRENT, "n1");
    assert_eq!(
        reasons(&answer),
        [
            json!({"type": "taint", "count": 1, "devices": ["gpu.example.com/a/d0"],
                "taint": {"key": "broken", "value": "yes", "effect": "NoExecute"}}),
            json!({"type": "taint", "count": 1, "devices": ["gpu.example.com/a/d1"],
                "taint": {"key": "drain", "value": "", "effect": "NoSchedule", "rule": "drain"}}),
            json!({"type": "short", "needed": 2, "have": 1}),
        ]
    );
}

#[test]
fn counters_and_who_took_of_them() {
    let mut devices = gpus(2);
    let takes =
        |amount: &str| json!([{"counterSet": "board", "counters": {"memory": {"value": amount}}}]);
    devices[0]["consumesCounters"] = takes("30Gi");
    devices[1]["consumesCounters"] = takes("20Gi");
    let mut counters = slice("sets", json!([]));
    counters["spec"]["sharedCounters"] =
        json!([{"name": "board", "counters": {"memory": {"value": "40Gi"}}}]);
    let mut slices = [slice("a", devices), counters];
    for slice in &mut slices {
        slice["spec"]["pool"] = json!({"name": "a", "generation": 1, "resourceSliceCount": 2});
    }
    let [a, b] = slices;
    let other = allocated(
        claim("other", json!([request("r", 1, &[])])),
        &["gpu.example.com/a/d0"],
        &["x"],
    );
    let answer = asking(json!([request("r", 1, &[])]), vec![a, b, other]).explain(CURRENT, "n1");
    assert_eq!(
        reasons(&answer)[1],
        json!({"type": "counter", "count": 1, "devices": ["gpu.example.com/a/d1"], "pool": "gpu.example.com/a",
            "counter": {"set": "board", "name": "memory", "needed": "20Gi", "left": "10Gi", "total": "40Gi", "short": "10Gi"},
            "holders": [{"claim": "ns/other", "count": 1, "inFlight": false, "pods": ["ns/x"]}]})
    );
}

#[test]
fn pools_that_cannot_be_used() {
    let mut incomplete = slice("a", gpus(2));
    incomplete["spec"]["pool"]["resourceSliceCount"] = json!(3);
    let invalid = slice("b", json!([device("x", json!({})), device("x", json!({}))]));
    let mut old = slice("c-old", gpus(1));
    old["spec"]["pool"] = json!({"name": "c", "generation": 1, "resourceSliceCount": 2});
    let mut new = slice("c-new", gpus(1));
    new["spec"]["pool"] = json!({"name": "c", "generation": 2, "resourceSliceCount": 1});
    new["spec"]["nodeName"] = json!("n2");
    let answer = asking(
        json!([request("r", 1, &[])]),
        vec![incomplete, invalid, old, new],
    )
    .explain(CURRENT, "n1");
    let pool = |pool: &str, generation, slices, expected, stale: &[&str], devices, state: &str| {
        json!({"driver": "gpu.example.com", "pool": pool, "generation": generation, "slices": slices, "expected": expected,
            "stale": stale, "devices": devices, "state": state})
    };
    let mut twice = pool("b", 1, 1, 1, &[], 2, "invalid");
    twice["repeated"] = json!("x");
    twice["cause"] = json!({"type": "device-twice", "device": "x"});
    assert_eq!(
        answer["pools"],
        json!([
            pool("a", 1, 1, 3, &[], 2, "incomplete"),
            twice,
            pool("c", 2, 1, 1, &["c-old"], 0, "stale")
        ])
    );
    let found = reasons(&answer);
    let kinds: Vec<_> = found
        .iter()
        .map(|reason| (&reason["type"], &reason["count"], &reason["pool"]))
        .collect();
    assert_eq!(
        kinds[0],
        (
            &json!("pool-incomplete"),
            &json!(2),
            &json!("gpu.example.com/a")
        )
    );
    assert_eq!(
        kinds[1],
        (
            &json!("pool-invalid"),
            &json!(2),
            &json!("gpu.example.com/b")
        )
    );
}

/// Counter sets and counters that a device names and nobody defines, a set that is there twice, slices that differ in their number.
#[test]
fn why_a_pool_is_invalid() {
    let takes = |set: &str, counter: &str| {
        let mut devices = gpus(1);
        devices[0]["consumesCounters"] =
            json!([{"counterSet": set, "counters": {counter: {"value": "1"}}}]);
        devices
    };
    let board = json!({"name": "board", "counters": {"memory": {"value": "2"}}});
    let cause = |devices: Value, sets: Value, counts: [i64; 2]| {
        let mut counters = slice("sets", json!([]));
        counters["spec"]["sharedCounters"] = sets;
        let slices = [slice("a", devices), counters].into_iter().zip(counts);
        let slices = slices.map(|(mut slice, count)| {
            slice["spec"]["pool"] =
                json!({"name": "a", "generation": 1, "resourceSliceCount": count});
            slice
        });
        let answer = asking(json!([request("r", 1, &[])]), slices.collect()).explain(CURRENT, "n1");
        answer["pools"][0]["cause"].clone()
    };
    assert_eq!(
        cause(takes("bord", "memory"), json!([board]), [2, 2]),
        json!({"type": "counter-set-missing", "device": "d0", "set": "bord"})
    );
    assert_eq!(
        cause(takes("board", "cores"), json!([board]), [2, 2]),
        json!({"type": "counter-missing", "device": "d0", "set": "board", "counter": "cores"})
    );
    assert_eq!(
        cause(takes("board", "memory"), json!([board, board]), [2, 2]),
        json!({"type": "counter-set-twice", "set": "board"})
    );
    assert_eq!(
        cause(takes("board", "memory"), json!([board]), [2, 3])["type"],
        json!("slice-counts-differ")
    );
    assert_eq!(
        cause(takes("board", "memory"), json!([board]), [2, 2]),
        Value::Null
    );
}

/// Root 1 has a free device and two in use, root 2 two in use, root 3 a free one: root 1 lacks one of two.
#[test]
fn whose_devices_would_complete_a_group() {
    let root = |name: &str, root: i64| device(name, json!({"gpu.example.com/root": {"int": root}}));
    let devices = json!([
        root("a", 1),
        root("b", 1),
        root("c", 1),
        root("d", 2),
        root("e", 2),
        root("f", 3)
    ]);
    let held = |name: &str, device: &str| {
        allocated(
            claim(name, json!([request("r", 1, &[])])),
            &[&format!("gpu.example.com/p/{device}")],
            &["x"],
        )
    };
    let mut tied = claim("c", json!([request("r", 2, &[])]));
    tied["spec"]["devices"]["constraints"] = json!([{"matchAttribute": "gpu.example.com/root"}]);
    let objects = vec![
        class("gpu", &[]),
        slice("p", devices),
        tied,
        held("one", "b"),
        held("two", "c"),
        held("three", "d"),
        held("four", "e"),
        pod(&["c"]),
    ];
    let answer = Cluster::new(objects).explain(CURRENT, "n1");
    let nearest = &answer["claims"][0]["constraints"][0]["nearest"];
    assert_eq!(
        (&nearest["value"], &nearest["have"]),
        (&json!("1"), &json!(1))
    );
    assert_eq!(
        nearest["held"]["devices"],
        json!(["gpu.example.com/p/b", "gpu.example.com/p/c"])
    );
    assert_eq!(
        all(nearest, "/held/holders/*/claim"),
        [&json!("ns/one"), &json!("ns/two")]
    );
}

#[test]
fn slices_for_other_nodes() {
    let mut other = slice("other", gpus(2));
    other["spec"]["nodeName"] = json!("n2");
    let mut selected = slice("zone", gpus(1));
    selected["spec"]["driver"] = json!("net.example.com");
    selected["spec"]["nodeName"] = Value::Null;
    selected["spec"]["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchExpressions":
        [{"key": "zone", "operator": "In", "values": ["b", "c"]}]}]});
    let mut each = slice("each", gpus(2));
    each["spec"]["driver"] = json!("nic.example.com");
    each["spec"]["nodeName"] = Value::Null;
    each["spec"]["perDeviceNodeSelection"] = json!(true);
    each["spec"]["devices"][0]["nodeName"] = json!("n1");
    each["spec"]["devices"][1]["nodeName"] = json!("n2");
    let cluster = asking(json!([request("r", 2, &[])]), vec![other, selected, each]);
    let answer = cluster.explain(CURRENT, "n1");
    assert_eq!(
        answer["unreachable"],
        json!([
            {"driver": "gpu.example.com", "cause": "other-node", "slices": 1, "devices": 2, "example": "other", "nodes": "n2"},
            {"driver": "net.example.com", "cause": "selector", "slices": 1, "devices": 1, "example": "zone",
                "nodes": "zone in [b, c]"},
        ])
    );
    assert_eq!(
        reasons(&answer)[0],
        json!({"type": "other-nodes", "count": 1, "devices": ["nic.example.com/each/d1"]})
    );
}

#[test]
fn constraints_count_what_each_value_offers() {
    let root =
        |name: &str, root: &str| device(name, json!({"gpu.example.com/root": {"string": root}}));
    let devices = json!([
        root("d0", "p0"),
        root("d1", "p1"),
        root("d2", "p2"),
        device("d3", json!({}))
    ]);
    let mut tied = claim("c", json!([request("r", 2, &[])]));
    tied["spec"]["devices"]["constraints"] = json!([{"matchAttribute": "gpu.example.com/root"}]);
    let answer = Cluster::new(vec![
        class("gpu", &[]),
        slice("a", devices),
        tied,
        pod(&["c"]),
    ])
    .explain(CURRENT, "n1");
    let group = |value: Value| json!({"value": value, "free": 1, "requests": [1]});
    assert_eq!(
        answer["claims"][0]["constraints"],
        json!([{"index": 0, "attribute": "gpu.example.com/root", "distinct": false, "requests": ["r"], "needed": 2, "largest": 1,
            "blocks": true,
            "groups": [group(Value::Null), group(json!("\"p0\"")), group(json!("\"p1\"")), group(json!("\"p2\""))]}])
    );
    assert_eq!(
        reasons(&answer),
        [
            json!({"type": "constraint-alone", "count": 1, "devices": ["gpu.example.com/a/d3"], "index": 0,
            "attribute": "gpu.example.com/root"})
        ]
    );
    assert_eq!(answer["search"]["placed"], 1);
}

#[test]
fn what_spoils_all() {
    let mut devices = gpus(2);
    devices[1]["taints"] = json!([{"key": "broken", "effect": "NoSchedule"}]);
    let answer =
        asking(json!([request_all("r")]), vec![slice("a", devices)]).explain(CURRENT, "n1");
    assert_eq!(
        reasons(&answer)[1],
        json!({"type": "all-spoiled", "devices": ["gpu.example.com/a/d1"], "needed": 2, "have": 1})
    );
    let mut bad = slice("b", gpus(1));
    bad["spec"]["driver"] = json!("other.example.com");
    bad["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let answer =
        asking(json!([request_all("r")]), vec![slice("a", gpus(1)), bad]).explain(CURRENT, "n1");
    assert_eq!(reasons(&answer)[1]["pool"], "other.example.com/b");
    let answer = asking(json!([request_all("r")]), vec![]).explain(CURRENT, "n1");
    assert_eq!(reasons(&answer), [json!({"type": "all-without-device"})]);
    assert_eq!(all(&answer, "/claims/0/requests/0/missing"), [&json!(1)]);
}

#[test]
fn more_than_a_claim_may_get() {
    let answer =
        asking(json!([request_all("r")]), vec![slice("a", gpus(33))]).explain(CURRENT, "n1");
    assert_eq!(
        answer["claims"][0]["reasons"],
        json!([{"type": "too-many-devices", "needed": 33, "have": 32}])
    );
}

#[test]
fn alternatives_each_by_itself() {
    let one = |name: &str, count: i64| json!({"name": name, "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count});
    let requests = json!([{"name": "r", "firstAvailable": [one("big", 3), one("small", 1)]}]);
    let answer = asking(requests, vec![slice("a", gpus(2))]).explain(CURRENT, "n1");
    let told = all(&answer, "/claims/0/requests/*");
    let told: Vec<_> = told
        .iter()
        .map(|request| (&request["name"], &request["missing"]))
        .collect();
    assert_eq!(
        told,
        [(&json!("r/big"), &json!(1)), (&json!("r/small"), &json!(0))]
    );
    assert_eq!(answer["verdict"]["score"], 7);
    assert_eq!(answer["verdict"]["devices"][0]["request"], "r/small");
}

#[test]
fn a_search_that_is_given_up() {
    // Each of 3 claims wants 2 of 6 devices with one root; no two devices share one, which only the search finds out.
    let devices: Value = (0..6)
        .map(|i| {
            device(
                &format!("d{i}"),
                json!({"gpu.example.com/root": {"int": i}}),
            )
        })
        .collect();
    let config = r#"{"allocatorSteps": 1}"#;
    let answer = asking(
        json!([request("r", 2, &["true"])]),
        vec![slice("a", devices)],
    )
    .explain(config, "n1");
    assert_eq!(answer["search"]["exhausted"], true);
    assert_eq!(answer["search"]["placed"], 1);
    assert_eq!(reasons(&answer), [json!({"type": "budget", "steps": 1})]);
}
