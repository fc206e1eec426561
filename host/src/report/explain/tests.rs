//! Answers in words, from documents written by hand.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::cluster::Settings;
use crate::cycle::{Failure, Point};
use crate::explain::NodeAnswer;
use crate::filters::Obstacle;
use crate::object::Object;
use crate::plugin::{Code, Status};
use crate::queue::Rejection;
use crate::report::table::Colour;

mod changes;
mod findings;
mod sentences;

const PLUGIN: &str = "DynamicResources";

fn object(value: Value) -> Object {
    Object::from_value(value).unwrap()
}

fn pod() -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "ml", "name": "trainer", "uid": "u"},
        "spec": {"resourceClaims": [{"name": "gpus", "resourceClaimName": "pair"}]}}),
    )
}

/// The pod's claim: two devices of one PCIe root.
fn cluster(count: u64) -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    let request =
        json!({"name": "gpus", "exactly": {"deviceClassName": "gpu.example.com", "count": count}});
    let constraints: Vec<Value> = (count > 1)
        .then(|| json!({"matchAttribute": "resource.kubernetes.io/pcieRoot"}))
        .into_iter()
        .collect();
    let claim = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"namespace": "ml", "name": "pair"},
        "spec": {"devices": {"requests": [request], "constraints": constraints}}});
    cluster.load(vec![object(claim), pod()]);
    cluster.deliver();
    cluster
}

/// What the plugin says about a node, where one request does not get what it needs.
fn refused(node: &str, request: Value, constraints: Value) -> NodeAnswer {
    let mut whole = json!({"name": "gpus", "class": "gpu.example.com", "count": 2, "looked": 0, "matching": 0, "free": 0,
        "missing": 0, "reasons": []});
    for (name, value) in request.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let document = json!({"node": node,
        "verdict": {"at": "Filter", "code": "unschedulable-and-unresolvable", "message": "cannot allocate all claims"},
        "claims": [{"name": "gpus", "claim": "ml/pair", "state": "pending", "reasons": [], "requests": [whole], "constraints": constraints}],
        "pools": [], "unreachable": []});
    NodeAnswer {
        name: node.into(),
        native: Vec::new(),
        document: Some(document),
    }
}

fn root(largest: u64) -> Value {
    json!([{"index": 0, "attribute": "resource.kubernetes.io/pcieRoot", "distinct": false, "requests": ["gpus"], "needed": 2,
        "groups": [{"value": "pci0000:10", "free": 1, "requests": [1]}], "largest": largest, "blocks": largest < 2}])
}

fn no_driver(node: &str) -> NodeAnswer {
    refused(node, json!({"missing": 2}), root(0))
}

fn in_use(node: &str, free: u64, used: u64, holder: &str) -> NodeAnswer {
    let devices: Vec<String> = (0..used)
        .map(|at| format!("gpu.example.com/{node}/gpu-{at}"))
        .collect();
    let pods = [format!("ml/{holder}-pod")];
    let holders =
        [json!({"claim": format!("ml/{holder}"), "count": used, "inFlight": false, "pods": pods})];
    let reason = json!({"type": "in-use", "count": used, "devices": devices, "holders": holders});
    let looked = free + used;
    let missing = 2_u64.saturating_sub(free);
    let request = json!({"looked": looked, "matching": looked, "free": free, "missing": missing, "reasons": [reason]});
    let mut root = root(free.min(1));
    if missing > 0 && looked > 1 {
        root[0]["nearest"] = json!({"value": "\"pci0000:10\"", "have": free, "held": reason});
    }
    refused(node, request, root)
}

fn answer(nodes: Vec<NodeAnswer>) -> Answer {
    let mut outcome = PodOutcome::new(pod(), 0);
    outcome.ended = Ended::Failed(Failure {
        at: Point::Filter,
        status: Status::new(Code::UnschedulableAndUnresolvable, "0 nodes are available"),
        rejection: Rejection::default(),
    });
    Answer {
        pod: pod(),
        standing: Standing::Pending,
        outcome: Some(outcome),
        after_queue: false,
        queued: None,
        nodes,
        ahead: Vec::new(),
        plugin: PLUGIN.to_owned(),
        silence: None,
        unreadable: None,
        notes: Vec::new(),
    }
}

fn check(answer: &Answer, count: u64, asked: &[&str], expected: &Expect) {
    let asked: Vec<String> = asked.iter().map(|&name| name.to_owned()).collect();
    let explained = Sorted::of(answer, &cluster(count)).explained(&[], &asked, &[]);
    let mut text = Vec::new();
    text::write(&explained, Colour::Off, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    expected.assert_eq(&text);
}

#[test]
fn the_example_of_two_devices_at_one_root() {
    let mut nodes = vec![
        in_use("gpu-a", 3, 1, "other"),
        in_use("gpu-b", 1, 3, "many"),
    ];
    nodes.extend(["cpu-1", "cpu-2", "cpu-3", "cpu-4"].map(no_driver));
    check(
        &answer(nodes),
        2,
        &["gpu-b"],
        &expect![[r#"
            ml/trainer: unschedulable (Filter)
            Pod ml/trainer needs 2 devices of class gpu.example.com with equal resource.kubernetes.io/pcieRoot
            on one node, but no node has that: on gpu-a 3 devices free, but at most 1 with equal
            resource.kubernetes.io/pcieRoot, 2 needed; on gpu-b 1 of 4 matching devices free, 2 needed: 3 in
            use; on 4 nodes no device of class gpu.example.com.

            TO MAKE IT FIT
              (not tried)
                - `dractl explain -n ml trainer` tries what would help

            NODES  WHY
                1  3 devices free, but at most 1 with equal resource.kubernetes.io/pcieRoot, 2 needed
                   [gpu-a]
                1  1 of 4 matching devices free, 2 needed: 3 in use
                   [gpu-b]
                4  no device of class gpu.example.com
                   [cpu-1, cpu-2, cpu-3 and cpu-4]

            NODE gpu-b: does not fit
              Filter: unschedulable-and-unresolvable, cannot allocate all claims
              claim gpus (ml/pair): pending
                request gpus (2 of class gpu.example.com): 4 devices looked at, 4 match, 1 free, 1 missing
                  3 in use [gpu-0, gpu-1 and gpu-2]
                    held by claim ml/many (pod ml/many-pod)
                constraint: equal resource.kubernetes.io/pcieRoot for gpus: 2 needed, 1 at most: impossible
                    here
                  pci0000:10 (1 free)
        "#]],
    );
}

#[test]
fn a_basic_filter_beside_the_plugin() {
    let mut full = in_use("n1", 0, 2, "a");
    full.native = vec![
        Obstacle::Taint {
            key: "gpu".to_owned(),
            value: "only".to_owned(),
            effect: "NoSchedule",
        },
        Obstacle::Resource {
            name: "cpu".to_owned(),
            wanted: 4000,
            allocatable: 8000,
            used: 6500,
        },
    ];
    check(
        &answer(vec![full]),
        1,
        &[],
        &expect![[r#"
            ml/trainer: unschedulable (Filter)
            Pod ml/trainer needs 1 device of class gpu.example.com on one node, but on n1 taint
            gpu=only:NoSchedule not tolerated, and cpu: 4 needed, 1500m of 8 left, and 0 of 2 matching devices
            free, 2 needed: 2 in use.

            TO MAKE IT FIT
              (not tried)
                - `dractl explain -n ml trainer` tries what would help

            NODES  WHY
                1  taint gpu=only:NoSchedule not tolerated, and cpu: 4 needed, 1500m of 8 left, and 0 of 2
                   matching devices free, 2 needed: 2 in use
                   [n1]
        "#]],
    );
}

#[test]
fn nodes_that_differ_in_numbers_share_a_line() {
    let nodes = (0..60).map(|at| in_use(&format!("n{at:02}"), at % 2, 4 + at % 3, "a"));
    let answer = answer(nodes.collect());
    let explained = collect(&answer, &cluster(2));
    let counts: Vec<usize> = explained.groups.iter().map(|group| group.count).collect();
    // One free device is nearer than none.
    assert_eq!(counts, [30, 30]);
    assert_eq!(
        explained.groups[0].text,
        "1 of 5 to 7 matching devices free, 2 needed: 4 to 6 in use"
    );
    assert_eq!(explained.groups[0].nodes[0], "n01");
}

#[test]
fn a_plugin_without_explanations() {
    let silent = |name: &str| NodeAnswer {
        name: name.into(),
        native: Vec::new(),
        document: None,
    };
    let mut answer = answer(vec![silent("n1"), silent("n2")]);
    answer.silence = Some("it does not explain itself".to_owned());
    let outcome = answer.outcome.as_mut().unwrap();
    outcome.refusals = vec![crate::cycle::refusals::Refusal {
        plugin: PLUGIN.into(),
        status: Status::new(Code::Unschedulable, "cannot allocate all claims"),
        count: 2,
        nodes: vec!["n1".into(), "n2".into()],
    }];
    check(
        &answer,
        1,
        &[],
        &expect![[r#"
            ml/trainer: unschedulable (Filter)
            Pod ml/trainer needs 1 device of class gpu.example.com on one node, but on both nodes cannot
            allocate all claims.
            Note: the plugin DynamicResources gives no reasons (it does not explain itself): the messages
                  of its decisions are all there is.

            NODES  WHY
                2  cannot allocate all claims
                   [n1 and n2]
        "#]],
    );
}

#[test]
fn what_cannot_be_understood_is_said() {
    let mut other = no_driver("n1");
    other.document = Some(json!({"verdict": "no"}));
    let explained = collect(&answer(vec![other]), &cluster(1));
    assert_eq!(
        explained.groups[0].text,
        "what the plugin says cannot be understood"
    );
}

#[test]
fn each_device_is_refused_for_a_reason() {
    let answer = answer(vec![in_use("n1", 0, 1, "a"), no_driver("n2")]);
    let refusals = refusals::of(
        &answer.pod,
        &views_of(&answer, &cluster(1)).collect::<Vec<_>>(),
    );
    assert_eq!(
        serde_json::to_value(&refusals).unwrap(),
        json!([
            {"pod": "ml/trainer", "node": "n1", "text": "0 of 1 matching device free, 2 needed: 1 in use",
                "devices": [{"driver": "gpu.example.com", "pool": "n1", "device": "gpu-0",
                    "reason": "in use by claim ml/a (pod ml/a-pod)"}]},
            {"pod": "ml/trainer", "node": "n2", "text": "no device of class gpu.example.com", "devices": []},
        ])
    );
}
