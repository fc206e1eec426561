//! The page's data: nothing lost, nothing that breaks out of it.

use serde_json::{Value, json};

use super::data::ranges;
use super::*;
use crate::cluster::Settings;
use crate::object::Object;
use crate::report::{PodReport, ReasonReport, Verdict};

fn cluster(objects: Vec<Value>) -> Cluster {
    let mut cluster = Cluster::new(Settings::default());
    let objects = objects.into_iter().map(|mut value| {
        let uid = format!("uid of {} {}", value["kind"], value["metadata"]["name"]);
        value["metadata"]["uid"] = uid.into();
        Object::from_value(value).expect("an object")
    });
    cluster.load(objects.collect());
    cluster
}

fn node(name: &str, rack: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"rack": rack}}})
}

fn slice(name: &str, generation: i64, spec: Value) -> Value {
    let mut slice = json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
        "spec": {"driver": "d", "pool": {"name": "p", "generation": generation, "resourceSliceCount": 1}}});
    for (key, value) in spec.as_object().expect("fields") {
        slice["spec"][key] = value.clone();
    }
    slice
}

fn claim(name: &str, results: Value) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name, "namespace": "ns"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
        "status": {"allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": "user", "uid": "u"}]}})
}

fn result(pool: &str, device: &str) -> Value {
    json!({"request": "r", "driver": "d", "pool": pool, "device": device})
}

fn refused(name: &str, message: &str) -> PodReport {
    PodReport {
        namespace: "ns".into(),
        at: Some("Filter".into()),
        code: "unschedulable",
        message: message.into(),
        ..crate::report::tests::pod(name, Verdict::Unschedulable)
    }
}

/// The whole page.
fn page(source: &str, report: &Report, cluster: &Cluster) -> String {
    let (before, summary) = (BTreeSet::new(), report.summary());
    let mut out = Vec::new();
    let contents = Contents {
        summary: &summary,
        ..contents(source, report, &before)
    };
    write(contents, cluster, &mut out).expect("a page");
    String::from_utf8(out).expect("text")
}

fn contents<'a>(
    source: &'a str,
    report: &'a Report,
    allocated: &'a BTreeSet<Arc<str>>,
) -> Contents<'a> {
    Contents {
        command: "simulate",
        source,
        summary: "",
        report,
        allocated,
        explained: &[],
        opens: false,
        skips_broken_pools: true,
    }
}

/// The data, as a browser takes it from the page: from its start tag to the first end tag.
fn data(page: &str) -> Value {
    let (_, from) = page.split_once(r#"id="data">"#).expect("data");
    let (data, _) = from.split_once("</script").expect("an end");
    serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
}

fn data_of(objects: Vec<Value>) -> Value {
    data(&page("in", &Report::default(), &cluster(objects)))
}

#[test]
fn runs_of_positions() {
    assert_eq!(ranges([]), Vec::<[usize; 2]>::new());
    assert_eq!(ranges([0, 1, 2, 5, 7, 8]), [[0, 2], [5, 5], [7, 8]]);
}

#[test]
fn no_text_of_the_input_becomes_markup() {
    let hostile = "</script><!-- <script>alert(1)</script> & \" ' {{data}} {{nonce}}";
    let report = Report {
        pods: vec![refused(hostile, hostile)],
        ..Report::default()
    };
    let labelled = node("n1", hostile);
    let pool = slice(
        "s",
        1,
        json!({"nodeName": "n1", "driver": hostile, "devices": [{"name": hostile}]}),
    );
    let page = page(hostile, &report, &cluster(vec![labelled, pool]));
    let data = data(&page);
    assert_eq!(data["source"], hostile);
    assert_eq!(data["pods"][0]["name"], hostile);
    assert_eq!(data["pods"][0]["message"], hostile);
    assert_eq!(data["nodes"][0]["labels"]["rack"], hostile);
    assert_eq!(data["groups"][0]["driver"], hostile);
    assert_eq!(data["groups"][0]["devices"], json!([[hostile]]));
    // Those of the template, and no others.
    let count = |what: &str| page.matches(what).count();
    assert_eq!(
        (count("<script"), count("</script"), count("<!--")),
        (2, 2, 0)
    );
    let told = "&lt;/script&gt;&lt;!-- &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot; &#39; {{data}} {{nonce}}";
    assert!(page.contains(&format!("<td>{told}</td>")));
    assert!(page.contains(&format!("<title>{told} - dractl simulate</title>")));
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    let report = Report {
        pods: vec![refused("a\u{1b}[2Jb", "\u{7}\u{9b}31m\r\u{7f}")],
        ..Report::default()
    };
    let page = page("\u{1b}", &report, &cluster(vec![node("n", "r")]));
    let raw: Vec<char> = page
        .chars()
        .filter(|c| c.is_control() && *c != '\n')
        .collect();
    assert_eq!(raw, []);
    assert_eq!(data(&page)["pods"][0]["message"], "\u{7}\u{9b}31m\r\u{7f}");
}

#[test]
fn nothing_is_fetched_and_only_our_scripts_run() {
    let page = page("in", &Report::default(), &cluster(vec![]));
    for outside in ["http:", "https:", "src=", "@import", "url(", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let nonce = page
        .split_once("script-src 'nonce-")
        .and_then(|(_, from)| Some(from.split_once('\'')?.0))
        .expect("a nonce");
    assert_eq!(nonce.len(), 32);
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains(&format!("<script nonce=\"{nonce}\">")));
    assert!(!page.contains("{{"), "a piece is missing");
    assert_ne!(super::nonce("a"), super::nonce("b"));
}

#[test]
fn nothing_at_all_is_a_page_too() {
    let empty = data_of(vec![]);
    for list in [
        "nodes",
        "fields",
        "groups",
        "claims",
        "pods",
        "warnings",
        "explained",
    ] {
        assert_eq!(empty[list], json!([]), "{list}");
    }
    assert!(
        empty["summary"]
            .as_str()
            .is_some_and(|text| text.contains("nothing is pending"))
    );
}

#[test]
fn devices_go_where_they_are_used() {
    let devices = json!([{"name": "x"}]);
    let terms = |rack: &str| json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": [rack]}]}]});
    let place = |pool: &str, place: Value| {
        let mut slice = slice(pool, 1, place);
        slice["spec"]["pool"]["name"] = pool.into();
        slice["spec"]["devices"] = devices.clone();
        slice
    };
    let own =
        json!([{"name": "d0", "nodeName": "b"}, {"name": "d1", "allNodes": true}, {"name": "d2"}]);
    let mut each = place("g", json!({"perDeviceNodeSelection": true}));
    each["spec"]["devices"] = own;
    let data = data_of(vec![
        node("b", "1"),
        node("a", "1"),
        node("c", "2"),
        place("1-node", json!({"nodeName": "b"})),
        place("2-gone", json!({"nodeName": "z"})),
        place("3-all", json!({"allNodes": true})),
        place("4-rack", json!({"nodeSelector": terms("1")})),
        place("5-none", json!({})),
        place(
            "6-bad",
            json!({"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "Near"}]}]}}),
        ),
        each,
    ]);
    let names: Vec<&Value> = data["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| &node["name"])
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let told: Vec<Value> = data["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            json!([
                group["pool"],
                group["node"],
                group["reach"],
                group["nodes"],
                group["unusable"]
            ])
        })
        .collect();
    assert_eq!(
        Value::from(told),
        json!([
            ["1-node", 1, null, null, null],
            [
                "2-gone",
                null,
                "node z, which is not in the input",
                null,
                "for node z, which is not in the input"
            ],
            ["3-all", null, "all nodes", [[0, 2]], null],
            ["4-rack", null, "nodes with rack = 1", [[0, 1]], null],
            [
                "5-none",
                null,
                "no node: the slice names none",
                null,
                "for no node: the slice names none"
            ],
            [
                "6-bad",
                null,
                "a node selector that cannot be read",
                null,
                "for no node of the input"
            ],
            ["g", 1, null, null, null],
            ["g", null, "all nodes", [[0, 2]], null],
            [
                "g",
                null,
                "no node: the slice names none",
                null,
                "for no node: the slice names none"
            ],
        ])
    );
}

#[test]
fn the_newest_generation_counts_and_what_is_wrong_is_told() {
    let devices = |name: &str| json!({"nodeName": "n", "devices": [{"name": name}]});
    let mut newest = slice(
        "b",
        7,
        json!({"nodeName": "n", "devices": [{"name": "x"}, {"name": "x"}]}),
    );
    newest["spec"]["pool"]["resourceSliceCount"] = 2.into();
    let data = data_of(vec![
        node("n", "r"),
        slice("a", 6, devices("old")),
        newest,
        slice("c", 5, devices("older")),
    ]);
    let group = &data["groups"][0];
    assert_eq!(data["groups"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&group["generation"], &group["unusable"]),
        (&json!(7), &json!("its pool is incomplete: 1 of 2 slices"))
    );
    assert_eq!(group["devices"], json!([["x"], ["x"]]));
    let problems = json!([
        "incomplete: 1 of 2 slices",
        "2 more of an older generation, left out",
        "the name \"x\" is given twice"
    ]);
    assert_eq!(group["problems"], problems);
}

#[test]
fn a_pool_without_devices_is_there() {
    let data = data_of(vec![
        node("n", "r"),
        slice("s", 1, json!({"nodeName": "n"})),
    ]);
    assert_eq!(data["groups"][0]["node"], 0);
    assert_eq!(data["groups"][0]["devices"], json!([]));
}

#[test]
fn devices_are_described_in_every_version() {
    let new = json!({"name": "new", "attributes": {"model": {"string": "A"}, "v": {"version": "1.2.3"}},
        "capacity": {"memory": {"value": "40Gi"}}, "taints": [{"key": "t", "value": "hot", "effect": "NoSchedule"}, {"key": "u", "effect": "None"}]});
    let old = json!({"name": "old", "basic": {"attributes": {"model": {"int": 3}, "ok": {"bool": false}}, "capacity": {"memory": "8Gi"}}});
    let odd = json!({"attributes": {"model": 5}, "capacity": 1});
    let devices = json!({"nodeName": "n", "devices": [new, old, odd]});
    let data = data_of(vec![node("n", "r"), slice("s", 1, devices)]);
    let fields = json!([
        ["attribute", "model"],
        ["attribute", "v"],
        ["capacity", "memory"],
        ["taint", "t"],
        ["taint", "u"],
        ["attribute", "ok"]
    ]);
    assert_eq!(data["fields"], fields);
    let rows = json!([
        [
            "new",
            0,
            "A",
            1,
            "1.2.3",
            2,
            "40Gi",
            3,
            "hot: NoSchedule",
            4,
            "None"
        ],
        ["old", 0, 3, 5, false, 2, "8Gi"],
        ["", 0, 5]
    ]);
    assert_eq!(data["groups"][0]["devices"], rows);
}

#[test]
fn claims_hold_devices_by_position() {
    let devices =
        json!({"nodeName": "n", "devices": [{"name": "x"}, {"name": "y"}, {"name": "y"}]});
    let objects = vec![
        node("n", "r"),
        slice("s", 1, devices),
        claim(
            "a",
            json!([result("p", "y"), result("gone", "g0"), result("gone", "g0")]),
        ),
        claim("b", json!([result("gone", "g1"), {}])),
    ];
    let cluster = cluster(objects);
    let report = Report::default();
    let before = BTreeSet::from([Arc::from("uid of \"ResourceClaim\" \"b\"")]);
    assert_eq!(allocated(&cluster).len(), 2);
    let document = collect::document(contents("in", &report, &before), &cluster);
    let data = serde_json::to_value(document).expect("JSON");
    let held = |claim: usize| {
        let devices = data["claims"][claim]["devices"].as_array();
        let places = devices.into_iter().flatten().map(|held| held["at"].clone());
        Value::from(places.collect::<Vec<_>>())
    };
    // The second name of a pair cannot be told from the first; what is not published lies apart, once each.
    assert_eq!(held(0), json!([[0, 1], [0, 2], [1, 0], [1, 0]]));
    assert_eq!(held(1), json!([[1, 1], [2, 0]]));
    assert_eq!(data["claims"][0]["given"], true);
    assert_eq!(data["claims"][1].get("given"), None);
    assert_eq!(data["claims"][0]["users"], json!(["ns/user"]));
    assert_eq!(
        data["claims"][0]["requests"],
        json!([{"name": "r", "text": "1 of class c"}])
    );
    assert_eq!(
        data["groups"][1]["reach"],
        "no slice publishes these devices"
    );
    assert_eq!(data["groups"][1]["devices"], json!([["g0"], ["g1"]]));
}

#[test]
fn other_pods_are_there_if_they_have_claims() {
    let pod = |name: &str, node: &str, phase: &str, claims: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ns"},
            "spec": {"nodeName": node, "resourceClaims": claims}, "status": {"phase": phase}})
    };
    let one = json!([{"name": "gpu", "resourceClaimName": "a"}]);
    let objects = vec![
        node("n0", "r"),
        node("n1", "r"),
        claim("a", json!([])),
        pod("pending", "n1", "Running", one.clone()),
        pod("user", "n1", "Running", one.clone()),
        pod("plain", "n1", "Running", json!([])),
        pod("over", "n1", "Succeeded", one.clone()),
        pod("nowhere", "", "Pending", one),
    ];
    let reason = ReasonReport {
        plugin: "P".into(),
        code: "unschedulable",
        message: "no".into(),
        count: 3,
        nodes: vec!["n1".into(), "n0".into(), "gone".into()],
    };
    let report = Report {
        pods: vec![PodReport {
            reasons: vec![reason],
            feasible_nodes: vec!["n1".into()],
            ..refused("pending", "no")
        }],
        ..Report::default()
    };
    let data = data(&page("in", &report, &cluster(objects)));
    let pods = data["pods"].as_array().expect("pods");
    let told: Vec<(&Value, &Value)> = pods
        .iter()
        .map(|pod| (&pod["name"], &pod["verdict"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("pending"), &json!("unschedulable")),
            (&json!("nowhere"), &json!("pending")),
            (&json!("user"), &json!("running"))
        ]
    );
    assert_eq!(pods[0]["feasible"], json!([[1, 1]]));
    assert_eq!(
        pods[0]["reasons"],
        json!([{"plugin": "P", "message": "no", "count": 3, "nodes": [[0, 1]]}])
    );
    assert_eq!(pods[2]["claims"], json!([["gpu", "a"]]));
    assert_eq!(pods[2]["node"], "n1");
}

#[test]
fn without_scripts_there_is_a_table() {
    let report = Report {
        pods: vec![refused("b", "no devices")],
        ..Report::default()
    };
    let page = page("in", &report, &cluster(vec![]));
    let (_, from) = page
        .split_once("<noscript>")
        .expect("a part without scripts");
    let (plain, _) = from.split_once("</noscript>").expect("an end");
    assert!(plain.contains("<p>1 pod: 1 unschedulable</p>"), "{plain}");
    let row = "<tr><td>ns</td><td>b</td><td>unschedulable</td><td>-</td><td>no devices</td></tr>";
    assert!(plain.contains(row), "{plain}");
}

mod explained;
mod words;
