//! The stand-in for the drivers of classic DRA.

use serde_json::json;

use super::*;
use crate::api::{Fault, Operation};
use crate::cluster::{Cluster, Settings};
use crate::plugin::{ApiErrorReason, Verb};

const DRIVER: &str = "gpu.example.com";

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn claim(name: &str, requests: Value) -> Value {
    json!({"apiVersion": VERSION, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "ns"},
        "spec": {"controller": DRIVER, "devices": {"requests": requests}}})
}

fn one() -> Value {
    json!([{"name": "r", "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}])
}

fn allocated(name: &str, device: &str) -> Value {
    let mut claim = claim(name, one());
    let result = json!({"request": "r", "driver": DRIVER, "pool": "n1", "device": device});
    claim["status"] =
        json!({"allocation": {"controller": DRIVER, "devices": {"results": [result]}}});
    claim
}

/// With an entry `c0`, `c1`, ... for each claim.
fn pod(claims: &[&str]) -> Value {
    let entries = (0..).zip(claims);
    let entries: Vec<Value> = entries
        .map(|(index, claim)| json!({"name": format!("c{index}"), "resourceClaimName": claim}))
        .collect();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "uid": "uid-p"},
        "spec": {"resourceClaims": entries}})
}

fn context(selected: &str, potential: &[&str]) -> Value {
    let owner =
        json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": true});
    let mut spec = json!({"potentialNodes": potential});
    if !selected.is_empty() {
        spec["selectedNode"] = selected.into();
    }
    json!({"apiVersion": VERSION, "kind": "PodSchedulingContext",
        "metadata": {"name": "p", "namespace": "ns", "ownerReferences": [owner]}, "spec": spec})
}

fn slice(name: &str, place: Value, devices: &[&str]) -> Value {
    let devices: Vec<Value> = devices
        .iter()
        .map(|name| json!({"name": name, "basic": {}}))
        .collect();
    let mut slice = json!({"apiVersion": VERSION, "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {"driver": DRIVER, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": devices}});
    for (key, value) in place.as_object().into_iter().flatten() {
        slice["spec"][key] = value.clone();
    }
    slice
}

fn on(node: &str) -> Value {
    json!({"nodeName": node})
}

fn class() -> Value {
    json!({"apiVersion": VERSION, "kind": "DeviceClass", "metadata": {"name": "c"}})
}

/// With a class; the clock stands at 0.
fn cluster(objects: Vec<Value>) -> Cluster {
    let mut cluster = Cluster::new(Settings {
        start: 0,
        classic_driver: true,
        ..Settings::default()
    });
    let objects = objects.into_iter().chain([class()]).map(object).collect();
    assert_eq!(cluster.load(objects), []);
    cluster
}

/// Lets the driver do what it has to do, until nothing is left. Times and warnings.
fn run(cluster: &mut Cluster) -> (Vec<u64>, Vec<Warning>) {
    let (mut times, mut warnings) = (Vec::new(), Vec::new());
    while let Some(due) = cluster.driver_due() {
        assert!(times.len() < 100, "{times:?}");
        times.push(due);
        cluster.advance_to(due);
        warnings.extend(cluster.run_classic_driver());
        cluster.deliver();
    }
    (times, warnings)
}

fn stored<'a>(cluster: &'a Cluster, kind: &str, name: &str) -> &'a Value {
    let namespace = if kind == CLAIM || kind == CONTEXT {
        "ns"
    } else {
        ""
    };
    let stored = cluster.stored().stored(&Kind::new(kind), namespace, name);
    stored.unwrap_or_else(|| panic!("{kind} {name}")).value()
}

/// Claim entries with the nodes that will not do.
fn unsuitable(cluster: &Cluster) -> Value {
    stored(cluster, CONTEXT, "p")["status"]["resourceClaims"].clone()
}

fn writes(cluster: &Cluster) -> Vec<String> {
    let calls = cluster.stored().journal().filter(|call| call.took_effect);
    calls
        .map(|call| format!("{:?} {}", call.operation, call.target.name))
        .collect()
}

/// The claim's finalizer, its allocation, and the nodes that do not suit it.
const WRITES_OF_AN_ALLOCATION: [&str; 3] = [
    "Api(Update) c",
    "Api(UpdateStatus) c",
    "Api(UpdateStatus) p",
];

#[test]
fn a_claim_is_allocated_on_the_selected_node() {
    let objects = vec![
        claim("c", one()),
        pod(&["c"]),
        context("n1", &["n1", "n2"]),
        slice("n1", on("n1"), &["a", "b"]),
    ];
    let mut cluster = cluster(objects);
    let (times, warnings) = run(&mut cluster);
    // Its own writes make it look twice, and the allocation is worth a periodic look.
    assert_eq!((times[0], warnings), (ANSWER_TIME, vec![]));
    let claim = stored(&cluster, CLAIM, "c");
    assert_eq!(
        claim["metadata"]["finalizers"],
        json!(["gpu.example.com/deletion-protection"])
    );
    let field = json!({"key": "metadata.name", "operator": "In", "values": ["n1"]});
    assert_eq!(
        claim["status"],
        json!({
            "allocation": {
                "devices": {"results": [{"request": "r", "driver": DRIVER, "pool": "n1", "device": "a"}]},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
                "controller": DRIVER,
            },
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "uid-p"}],
        })
    );
    assert_eq!(
        unsuitable(&cluster),
        json!([{"name": "c0", "unsuitableNodes": ["n2"]}])
    );
    assert_eq!(writes(&cluster), WRITES_OF_AN_ALLOCATION);
}

#[test]
fn a_driver_without_slices_takes_every_node() {
    let mut cluster = cluster(vec![claim("c", one()), pod(&["c"]), context("n9", &["n1"])]);
    run(&mut cluster);
    let allocation = &stored(&cluster, CLAIM, "c")["status"]["allocation"];
    assert_eq!(allocation["devices"], json!({}));
    let terms = &allocation["nodeSelector"]["nodeSelectorTerms"];
    assert_eq!(terms[0]["matchFields"][0]["values"], json!(["n9"]));
    assert_eq!(unsuitable(&cluster), json!([{"name": "c0"}]));
}

/// Each driver answers for its own claims, and leaves the other's entry alone. Allocated and structured claims are nobody's business.
#[test]
fn drivers_answer_for_their_own_claims() {
    let mut other = claim("other", one());
    other["spec"]["controller"] = "nic.example.com".into();
    let mut structured = claim("structured", one());
    structured["spec"]["controller"] = Value::Null;
    let mut context = context("", &["n1", "n2"]);
    context["status"] = json!({"resourceClaims": [{"name": "c1", "unsuitableNodes": ["old"]}]});
    let names = ["c", "other", "structured", "done"];
    let objects = vec![
        claim("c", one()),
        other,
        structured,
        allocated("done", "x"),
        pod(&names),
        context,
        slice("n1", on("n1"), &["a"]),
    ];
    let mut cluster = cluster(objects);
    run(&mut cluster);
    let expected = json!([{"name": "c1"}, {"name": "c0", "unsuitableNodes": ["n2"]}]);
    assert_eq!(unsuitable(&cluster), expected);
    for name in ["c", "other", "structured"] {
        assert_eq!(
            stored(&cluster, CLAIM, name).pointer("/status/allocation"),
            None,
            "{name}"
        );
    }
}

/// Two claims need three devices together; each node has room for one claim only, or for both.
#[test]
fn claims_of_a_pod_are_judged_together() {
    let two = json!([{"name": "r", "deviceClassName": "c", "count": 2}]);
    let all = json!([{"name": "r", "deviceClassName": "c", "allocationMode": "All"}]);
    let nodes = ["n1", "n2", "n3", "n4"];
    for (requests, expected) in [
        (two, json!(["n1", "n2", "n4"])),
        // Nothing is left for the second claim where the first takes all, and `x` is held.
        (all, json!(["n1", "n2", "n3", "n4"])),
    ] {
        let objects = vec![
            claim("c", requests),
            claim("d", one()),
            allocated("held", "x"),
            pod(&["c", "d"]),
            context("", &nodes),
            slice("n1", on("n1"), &["x", "a", "b"]),
            slice("n2", on("n2"), &["a", "b"]),
            slice("n3", on("n3"), &["a", "b", "c"]),
        ];
        let mut cluster = cluster(objects);
        run(&mut cluster);
        let entry = |name: &str| json!({"name": name, "unsuitableNodes": expected});
        assert_eq!(unsuitable(&cluster), json!([entry("c0"), entry("c1")]));
    }
}

#[test]
fn slices_reach_nodes_by_name_by_selector_or_all() {
    let selector = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]});
    let node = |name: &str, zone: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}},
            "spec": {"unschedulable": true}})
    };
    let mut old = slice("stale", json!({"allNodes": true}), &["gone"]);
    old["spec"]["pool"]["name"] = "everywhere".into();
    old["spec"]["pool"]["generation"] = 0.into();
    for (place, fits, pinned) in [
        (json!({"nodeSelector": selector}), ["n1"].as_slice(), true),
        (json!({"allNodes": true}), &["n1", "n2"], false),
        (on("n2"), &["n2"], true),
    ] {
        let objects = vec![
            node("n1", "a"),
            node("n2", "b"),
            claim("c", one()),
            pod(&["c"]),
            context(fits[0], &["n1", "n2"]),
            slice("everywhere", place, &["a"]),
            old.clone(),
        ];
        let mut cluster = cluster(objects);
        run(&mut cluster);
        let mut expected = json!({"name": "c0"});
        let unfit: Vec<&str> = ["n1", "n2"]
            .into_iter()
            .filter(|node| !fits.contains(node))
            .collect();
        if !unfit.is_empty() {
            expected["unsuitableNodes"] = json!(unfit);
        }
        assert_eq!(unsuitable(&cluster), json!([expected]));
        let allocation = &stored(&cluster, CLAIM, "c")["status"]["allocation"];
        assert_eq!(allocation["devices"]["results"][0]["device"], "a");
        assert_eq!(allocation.get("nodeSelector").is_some(), pinned);
    }
}

/// 128 potential nodes and the selected one, all without devices: the list has room for 128, the selected one among them.
#[test]
fn the_list_is_cut_but_for_the_selected_node() {
    let names: Vec<String> = (0..128).map(|index| format!("n{index:03}")).collect();
    let potential: Vec<&str> = names.iter().map(String::as_str).collect();
    let objects = vec![
        claim("c", one()),
        pod(&["c"]),
        context("selected", &potential),
        slice("elsewhere", on("elsewhere"), &["a"]),
    ];
    let mut cluster = cluster(objects);
    run(&mut cluster);
    let status = unsuitable(&cluster);
    let nodes = status[0]["unsuitableNodes"].as_array().expect("a list");
    assert_eq!(
        (nodes.len(), &nodes[0], &nodes[127]),
        (128, &json!("n001"), &json!("selected"))
    );
    assert_eq!(
        stored(&cluster, CLAIM, "c").pointer("/status/allocation"),
        None
    );
}

#[test]
fn a_claim_to_be_freed_is_freed_when_nobody_uses_it() {
    let requested = |reserved: Value, finalizers: Value| {
        let mut claim = allocated("c", "a");
        claim["status"]["deallocationRequested"] = true.into();
        claim["status"]["reservedFor"] = reserved;
        claim["metadata"]["finalizers"] = finalizers;
        claim
    };
    let ours = finalizer_of(DRIVER);
    let mut freed = cluster(vec![requested(json!([]), json!(["x/y", ours]))]);
    assert_eq!(run(&mut freed).1, []);
    let claim = stored(&freed, CLAIM, "c");
    assert_eq!(claim["metadata"]["finalizers"], json!(["x/y"]));
    assert_eq!(claim["status"], json!({"reservedFor": []}));
    assert_eq!(writes(&freed), ["Api(UpdateStatus) c", "Api(Update) c"]);

    let mut foreign = cluster(vec![requested(json!([]), json!(["x/y"]))]);
    let (_, warnings) = run(&mut foreign);
    assert!(
        warnings.len() == 1 && warnings[0].message.contains(&ours),
        "{warnings:?}"
    );
    assert_eq!(writes(&foreign), [""; 0]);
}

#[test]
fn contexts_that_are_not_to_be_answered() {
    let pods = [
        // Another pod of the same name, one that is going, none.
        Some(json!({"uid": "other"})),
        Some(
            json!({"uid": "uid-p", "deletionTimestamp": "2025-01-01T00:00:00Z", "finalizers": ["x/y"]}),
        ),
        None,
    ];
    for changes in pods {
        let mut objects = vec![claim("c", one()), context("n1", &["n1"])];
        if let Some(changes) = changes {
            let mut pod = pod(&["c"]);
            for (key, value) in changes.as_object().into_iter().flatten() {
                pod["metadata"][key] = value.clone();
            }
            objects.push(pod);
        }
        let mut cluster = cluster(objects);
        run(&mut cluster);
        assert_eq!(writes(&cluster), [""; 0]);
    }
    let mut silent = cluster(vec![claim("c", one()), pod(&["c"]), context("", &[])]);
    run(&mut silent);
    assert_eq!(writes(&silent), [""; 0]);
}

/// 5 ms, then 10 ms, after a failed write; the claim keeps its finalizer, so only the rest is done again.
#[test]
fn what_fails_is_done_again() {
    let mut cluster = cluster(vec![claim("c", one()), pod(&["c"]), context("n1", &["n1"])]);
    for nth in [1, 2] {
        cluster.api().inject(Fault {
            operation: Some(Operation::Api(Verb::UpdateStatus)),
            kind: Some(Kind::new(CLAIM)),
            nth,
            error: ApiError {
                reason: ApiErrorReason::Timeout,
                message: "too late".into(),
            },
            after_effect: false,
        });
    }
    let (times, warnings) = run(&mut cluster);
    let millisecond = SECOND / 1_000;
    assert_eq!(times[..3], [100, 105, 115].map(|time| time * millisecond));
    assert_eq!(warnings, []);
    assert_eq!(writes(&cluster), WRITES_OF_AN_ALLOCATION);
}

#[test]
fn what_fails_again_and_again_is_left_alone_and_that_is_said() {
    let mut unknown = claim("c", one());
    unknown["spec"]["devices"]["requests"][0]["deviceClassName"] = "nobody's".into();
    let mut cluster = cluster(vec![unknown, pod(&["c"]), context("n1", &["n1"])]);
    let (times, warnings) = run(&mut cluster);
    assert_eq!(times.len(), 10);
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}")
    };
    assert_eq!(warning.object, "PodSchedulingContext ns/p");
    assert!(
        warning
            .message
            .ends_with("pod claim c0: there is no DeviceClass nobody's"),
        "{warning:?}"
    );
}

/// The device is freed at 40 s; the driver looked at 0.1 s and so looks again at 60.1 s.
#[test]
fn a_change_is_found_by_the_next_periodic_look() {
    let objects = vec![
        claim("c", one()),
        allocated("held", "a"),
        pod(&["c"]),
        context("", &["n1"]),
        slice("n1", on("n1"), &["a"]),
    ];
    let mut cluster = cluster(objects);
    run(&mut cluster);
    assert_eq!(unsuitable(&cluster)[0]["unsuitableNodes"], json!(["n1"]));
    cluster.advance_to(40 * SECOND);
    let target = object(stored(&cluster, CLAIM, "held").clone()).id().clone();
    let delete = ApiCall::Delete { target };
    cluster
        .api()
        .call(Caller::Other, &delete)
        .expect("a deletion");
    cluster.deliver();
    // The first answer's own event made the driver look once more, at 0.2 s.
    assert_eq!(cluster.driver_due(), Some(60 * SECOND + SECOND / 5));
    run(&mut cluster);
    assert_eq!(unsuitable(&cluster), json!([{"name": "c0"}]));
}
