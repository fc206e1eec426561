//! Explanations in the page's data: by position, each text once, and no word of the pod's standing lost.

use serde_json::json;

use super::*;
use crate::report::explain::{DeviceRefusal, GroupReport, Nearest};
use crate::report::{ClaimReport, DeviceReport};

fn explained(verdict: &str) -> Explained {
    let group = GroupReport {
        count: 2,
        nodes: vec!["n2".into(), "n1".into()],
        fits: false,
        distance: 3,
        text: "too few".into(),
        reasons: Vec::new(),
    };
    Explained {
        namespace: "ns".into(),
        name: "pod".into(),
        verdict: verdict.into(),
        node: Some("n1".into()),
        at: None,
        code: "success",
        message: String::new(),
        after_queue: false,
        plugin: "P".into(),
        summary: vec!["One.".into(), "Two <b>.".into()],
        needs: Vec::new(),
        claims: Vec::new(),
        nearest: vec![Nearest {
            node: Some("n2".into()),
            steps: vec!["wait".into()],
            ways: vec![vec!["wait".into()]],
            tried: "fits",
            changes: Vec::new(),
            left: None,
        }],
        groups: vec![group],
        nodes: Vec::new(),
        ahead: Vec::new(),
        ahead_in_all: 0,
        notes: Vec::new(),
        warnings: Vec::new(),
    }
}

fn refusal(node: &str, text: &str, devices: &[(&str, &str)]) -> Refusal {
    let device = |(device, reason): &(&str, &str)| DeviceRefusal {
        driver: "d".into(),
        pool: "p".into(),
        device: (*device).into(),
        reason: (*reason).into(),
    };
    Refusal {
        pod: "ns/pod".into(),
        node: node.into(),
        devices: devices.iter().map(device).collect(),
        text: text.into(),
    }
}

/// Two nodes, a pool of four devices on the second.
fn two_nodes() -> Cluster {
    let devices = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]);
    cluster(vec![
        node("n1", "r"),
        node("n2", "r"),
        slice("s", 1, json!({"nodeName": "n2", "devices": devices})),
    ])
}

fn whole_page(explanation: Explanation, report: &Report) -> String {
    page_of(&[explanation], report)
}

fn page_of(explained: &[Explanation], report: &Report) -> String {
    let before = BTreeSet::new();
    let contents = Contents {
        command: "explain",
        explained,
        opens: true,
        ..contents("in", report, &before)
    };
    let mut out = Vec::new();
    write(contents, &two_nodes(), &mut out).expect("a page");
    String::from_utf8(out).expect("text")
}

#[test]
fn the_page_opens_on_a_refused_pod() {
    let of = |name: &str, verdict: &str| Explanation {
        explained: Explained {
            name: name.into(),
            ..explained(verdict)
        },
        refusals: Vec::new(),
    };
    let open = |all: &[Explanation]| data(&page_of(all, &Report::default()))["open"].clone();
    let (fits, runs) = (of("a", "scheduled"), of("b", "placed"));
    assert_eq!(open(&[of("c", "scheduled"), of("d", "placed")]), "ns/c");
    assert_eq!(
        open(&[fits, runs, of("e", "error"), of("f", "waiting")]),
        "ns/e"
    );
}

#[test]
fn reasons_are_told_by_position() {
    let devices = [
        ("b", "in use"),
        ("a", "in use"),
        ("d", "in use"),
        ("c", "tainted"),
        ("gone", "in use"),
    ];
    let explanation = Explanation {
        explained: explained("unschedulable"),
        refusals: vec![
            refusal("n1", "none", &[]),
            refusal("n2", "in use", &devices),
            refusal("gone", "never shown", &[]),
        ],
    };
    let page = whole_page(explanation, &Report::default());
    let data = data(&page);
    let told = &data["explained"][0];
    assert_eq!(
        (&data["open"], &told["pod"]),
        (&json!("ns/pod"), &json!("ns/pod"))
    );
    assert_eq!(told["texts"], json!(["none", "in use", "tainted"]));
    // Of n2: a and b, c for another reason, d.
    let n2 = [1, 1, 1, 0, 0, 1, 2, 0, 2, 2, 1, 0, 3, 3];
    assert_eq!(told["refused"], json!([[0, 0], n2]));
    // The nearest first.
    assert_eq!(
        told["groups"],
        json!([{"text": "too few", "nodes": [[1, 1], [0, 0]]}])
    );
    assert_eq!(
        told["nearest"],
        json!([{"node": "n2", "steps": [["wait"]], "tried": "tried: then it fits"}])
    );
    assert_eq!(told.get("would"), None);
}

#[test]
fn what_a_pod_would_get_is_marked() {
    let device = |name: &str| DeviceReport {
        request: "r".into(),
        driver: "d".into(),
        pool: "p".into(),
        device: name.into(),
    };
    let claim = ClaimReport {
        name: "dev".into(),
        claim: None,
        devices: vec![device("d"), device("b")],
        allocation: json!({}),
    };
    for (verdict, would) in [
        ("scheduled", json!([[0, 3], [0, 1]])),
        ("placed", json!(null)),
    ] {
        let explanation = Explanation {
            explained: Explained {
                claims: vec![claim.clone()],
                ..explained(verdict)
            },
            refusals: Vec::new(),
        };
        let data = data(&whole_page(explanation, &Report::default()));
        assert_eq!(data["explained"][0]["would"], would, "{verdict}");
    }
}

/// What would become of it if it were pending is not what it is.
#[test]
fn a_pod_that_has_a_node_is_told_by_it() {
    let report = Report {
        pods: vec![refused("other", "no"), refused("pod", "no")],
        ..Report::default()
    };
    for (verdict, shown) in [
        ("placed", json!(["running", "n1", null])),
        ("ended", json!(["ended", "n1", null])),
        ("deleted", json!(["deleted", "n1", null])),
        ("unschedulable", json!(["unschedulable", null, "no"])),
    ] {
        let explanation = Explanation {
            explained: explained(verdict),
            refusals: Vec::new(),
        };
        let data = data(&whole_page(explanation, &report));
        let pods = data["pods"].as_array().expect("pods");
        let pod = pods.iter().find(|pod| pod["name"] == "pod").expect("it");
        assert_eq!(pods.len(), 2);
        assert_eq!(
            json!([pod["verdict"], pod["node"], pod["message"]]),
            shown,
            "{verdict}"
        );
    }
}

#[test]
fn without_scripts_the_answer_is_text() {
    let explanation = Explanation {
        explained: explained("unschedulable"),
        refusals: Vec::new(),
    };
    let page = whole_page(explanation, &Report::default());
    for told in [
        "<h1>dractl explain</h1>",
        "<h2>ns/pod: unschedulable</h2>",
        "<p>One. Two &lt;b&gt;.</p>",
        "<p>To make it fit on n2 (tried: then it fits):</p>\n<ul><li>wait</li></ul>",
        "<tr><td>2</td><td>too few</td><td>n2, n1</td></tr>",
    ] {
        assert!(page.contains(told), "{told}");
    }
}

#[test]
fn pools_that_nobody_is_given_devices_of() {
    let one = |name: &str, count: u64, device: &str| {
        let devices = json!([{"name": device}]);
        let mut slice = slice(name, 1, json!({"nodeName": "n", "devices": devices}));
        slice["spec"]["pool"]["resourceSliceCount"] = count.into();
        slice
    };
    let unusable = |slices: [Value; 2]| {
        let [a, b] = slices;
        data_of(vec![node("n", "r"), a, b])["groups"][0]["unusable"].clone()
    };
    let two = || one("a", 2, "x");
    assert_eq!(unusable([two(), one("b", 2, "y")]), json!(null));
    assert_eq!(
        unusable([two(), one("b", 2, "x")]),
        "its pool is invalid: the name \"x\" is given twice"
    );
    assert_eq!(
        unusable([two(), one("b", 3, "y")]),
        "its pool is invalid: the slices announce different numbers"
    );
    assert_eq!(
        unusable([one("a", 3, "x"), one("b", 3, "y")]),
        "its pool is incomplete: 2 of 3 slices"
    );
}
