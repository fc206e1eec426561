//! What is refused, in which order, and with which words (spec sections 9.1, 9.2, 9.5).

use super::support::*;
use crate::allocator::{Allocator, DEFAULT_STEPS};
use crate::api::{
    DeviceConstraint, DeviceRequest, DeviceSelector, ExactRequest, NodeSelector, Reach,
    RequestBody, ResourceSlice,
};
use crate::profile::Profile;

fn with(change: impl Fn(&mut ExactRequest)) -> DeviceRequest {
    let mut request = count("r", 1);
    change(exact(&mut request));
    request
}

fn one(requests: Vec<DeviceRequest>) -> Cluster {
    simple(devices(1), requests)
}

#[track_caller]
fn refused(cluster: &Cluster, text: &str) {
    let text = format!("error: {text}");
    cluster.check(&text, &text);
}

fn broken_slice(name: &str) -> ResourceSlice {
    let mut broken = selector(&[("zone", &["a"])]);
    broken.terms[0].match_expressions[0].operator = "X".into();
    ResourceSlice {
        reach: Reach::NodeSelector(broken),
        ..slice(name, name, devices(1))
    }
}

#[test]
fn requests() {
    refused(
        &one(vec![with(|exact| {
            exact.selectors = vec![
                DeviceSelector {
                    cel: Some("true".into()),
                },
                DeviceSelector::default(),
            ]
        })]),
        "claim ns/c, request r, selector #1: CEL expression empty (unsupported selector type?)",
    );
    let missing = "claim ns/c, request r: missing device class name (unsupported request type?)";
    refused(
        &one(vec![with(|exact| exact.device_class_name.clear())]),
        missing,
    );
    let neither = DeviceRequest {
        name: "r".into(),
        body: RequestBody::FirstAvailable(Vec::new()),
    };
    refused(&one(vec![neither]), missing);
    refused(
        &one(vec![with(|exact| exact.device_class_name = "gone".into())]),
        "claim ns/c, request r: could not retrieve device class gone: not found",
    );
    refused(
        &one(vec![with(|exact| exact.allocation_mode = "Some".into())]),
        "claim ns/c, request r: unsupported count mode Some",
    );
    refused(
        &one(vec![with(|exact| exact.allocation_mode.clear())]),
        "claim ns/c, request r: unsupported count mode ",
    );
    // Of an alternative, its own name counts.
    let alternatives = RequestBody::FirstAvailable(vec![("x".into(), ExactRequest::default())]);
    refused(
        &one(vec![DeviceRequest {
            name: "r".into(),
            body: alternatives,
        }]),
        "claim ns/c, request x: missing device class name (unsupported request type?)",
    );
}

#[test]
fn the_first_fault_of_a_request_wins() {
    let mut request = with(|exact| {
        exact.selectors = vec![DeviceSelector::default()];
        exact.device_class_name.clear();
        exact.allocation_mode = "Some".into();
    });
    refused(
        &one(vec![request.clone()]),
        "claim ns/c, request r, selector #0: CEL expression empty (unsupported selector type?)",
    );
    exact(&mut request).selectors.clear();
    refused(
        &one(vec![request.clone()]),
        "claim ns/c, request r: missing device class name (unsupported request type?)",
    );
    exact(&mut request).device_class_name = "gone".into();
    refused(
        &one(vec![request]),
        "claim ns/c, request r: could not retrieve device class gone: not found",
    );
}

#[test]
fn limit_and_constraints() {
    refused(
        &one(vec![count("a", 30), count("b", 3)]),
        "claim ns/c: number of requested devices 33 exceeds the claim limit of 32",
    );
    // The limit is one of the claim, not of the pod.
    let claims = vec![
        claim("c", vec![count("a", 20)]),
        claim("d", vec![count("a", 20)]),
    ];
    let cluster = Cluster::new(vec![slice("s", "p", devices(45))], claims);
    for profile in [Profile::v1_31(), Profile::current()] {
        assert!(cluster.answer(&profile).ends_with("a:p/d38 a:p/d39"));
    }
    // Devices found for All count as well.
    let many = simple(devices(30), vec![all("a"), count("b", 3)]);
    refused(
        &many,
        "claim ns/c: number of requested devices 33 exceeds the claim limit of 32",
    );
    let mut unsupported = one(vec![count("r", 1)]);
    unsupported.claims[0] = matching(unsupported.claims[0].clone(), "drv/n", &[]);
    unsupported.claims[0]
        .constraints
        .push(DeviceConstraint::default());
    refused(
        &unsupported,
        "claim ns/c, constraint #1: empty constraint (unsupported constraint type?)",
    );
    // The limit is checked before the constraints.
    unsupported.claims[0].requests = vec![count("r", 33)];
    refused(
        &unsupported,
        "claim ns/c: number of requested devices 33 exceeds the claim limit of 32",
    );
}

#[test]
fn all_claims_are_checked_before_any_device_is_tried() {
    let failing = claim("c", vec![select(count("r", 1), &["missing=1"])]);
    let faulty = claim(
        "d",
        vec![with(|exact| exact.device_class_name = "gone".into())],
    );
    let mut cluster = one(vec![]);
    cluster.claims = vec![failing, faulty];
    refused(
        &cluster,
        "claim ns/d, request r: could not retrieve device class gone: not found",
    );
    // All mode evaluates while checking, so its errors come first.
    cluster.claims[0] = claim("c", vec![select(all("r"), &["missing=1"])]);
    refused(
        &cluster,
        "claim ns/c: selector #0: CEL runtime error: no such key: missing",
    );
    // And it reports an incomplete pool only when the check gets there.
    cluster.slices[0].resource_slice_count = 2;
    refused(
        &cluster,
        "claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated",
    );
    cluster.claims.swap(0, 1);
    refused(
        &cluster,
        "claim ns/d, request r: could not retrieve device class gone: not found",
    );
}

#[test]
fn broken_node_selector_of_any_slice() {
    let error = |name: &str| {
        let known = r#""In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#;
        let what = format!(r#"Unsupported value: "X": supported values: {known}"#);
        format!(
            "gather pool information: node selector in resource slice {name}: \
             nodeSelectorTerms[0].matchExpressions[0].operator: {what}"
        )
    };
    let mut cluster = one(vec![with(|exact| exact.device_class_name = "gone".into())]);
    cluster
        .slices
        .extend([broken_slice("z"), broken_slice("y")]);
    refused(&cluster, &error("y"));
    // nodeName wins over a broken selector only in the sense that a slice has one reach.
    cluster.slices.pop();
    refused(&cluster, &error("z"));
}

#[test]
fn a_claim_without_namespace_prints_its_bare_name() {
    let mut cluster = one(vec![with(|exact| exact.device_class_name.clear())]);
    cluster.claims[0].meta.namespace.clear();
    refused(
        &cluster,
        "claim c, request r: missing device class name (unsupported request type?)",
    );
}

#[test]
fn claims_without_needs() {
    one(vec![]).check("", "");
    one(vec![count("r", 0), count("q", -5)]).check("", "");
    Cluster::new(vec![], vec![]).check("", "");
    assert_eq!(
        one(vec![]).allocation(&Profile::current()),
        Default::default()
    );
}

#[test]
fn devices_without_content_are_never_selected() {
    let mut cluster = one(vec![count("r", 1)]);
    cluster.slices[0].devices[0].usable = false;
    cluster.check("does not fit", "does not fit");
    cluster.claims = vec![claim("c", vec![select(count("r", 1), &["missing=1"])])];
    cluster.check("does not fit", "does not fit");
}

#[test]
fn the_step_budget() {
    let cluster = simple(devices(4), vec![count("q", 1), count("r", 1)]);
    let text = |request: &str, steps: u64| {
        format!(
            "budget: claim ns/c, request {request}: undecided after {steps} search steps (raise the limit with --search-steps)"
        )
    };
    // d0 for q, d1 for r.
    let run = |steps| {
        let (outcome, _, used) = cluster.run(&Profile::current(), steps);
        (short(&outcome), used)
    };
    assert_eq!(run(0), (text("q", 0), 0));
    assert_eq!(run(1), (text("r", 1), 1));
    assert_eq!(run(2), ("q:p/d0 r:p/d1".into(), 2));
    assert_eq!(run(DEFAULT_STEPS), ("q:p/d0 r:p/d1".into(), 2));
    let cluster = simple(devices(4), vec![all("r")]);
    assert_eq!(short(&cluster.run(&Profile::current(), 3).0), text("r", 3));
    assert_eq!(
        short(&cluster.run(&Profile::current(), 8).0),
        "r:p/d0 r:p/d1 r:p/d2 r:p/d3"
    );
}

#[test]
fn ten_thousand_requests() {
    let requests = |n: i64| (0..10_000).map(|i| count(&format!("r{i}"), n)).collect();
    one(requests(0)).check("", "");
    refused(
        &one(requests(1)),
        "claim ns/c: number of requested devices 10000 exceeds the claim limit of 32",
    );
    let everything = (0..10_000)
        .map(|i| select(all(&format!("r{i}")), &["false"]))
        .collect();
    one(everything).check("", "does not fit");
    let claims = (0..3_000)
        .map(|i| claim(&format!("c{i}"), vec![count("r", 1)]))
        .collect();
    let mut deep = Cluster::new(vec![slice("s", "p", devices(3_000))], claims);
    assert!(
        deep.answer(&Profile::current()).ends_with(" | r:p/d2999")
            || deep.answer(&Profile::current()).starts_with("budget: ")
    );
    deep.slices[0].devices.truncate(100);
    deep.claims.truncate(100);
    assert!(deep.answer(&Profile::current()).ends_with(" | r:p/d99"));
}

#[test]
fn one_allocator_for_many_nodes() {
    let mut cluster = Cluster::new(
        vec![
            slice("a", "p", devices(2)),
            ResourceSlice {
                reach: Reach::NodeName("n2".into()),
                ..slice("b", "q", devices(1))
            },
            ResourceSlice {
                reach: Reach::NodeSelector(NodeSelector::default()),
                ..slice("c", "none", devices(1))
            },
        ],
        vec![matching(
            claim("c", vec![count("r", 1), select(all("s"), &["false"])]),
            "drv/n",
            &["zz"],
        )],
    );
    let inventory = cluster.inventory();
    let mut allocator = Allocator::new(
        cluster
            .claims
            .iter()
            .cloned()
            .map(std::rc::Rc::new)
            .collect(),
    );
    let mut selectors = Stub::default();
    let mut answers = Vec::new();
    for name in ["n1", "n2", "n3", "n1"] {
        cluster.node.name = name.into();
        let outcome = cluster.attempt(
            &mut allocator,
            &inventory,
            &mut selectors,
            &Profile::v1_31(),
            DEFAULT_STEPS,
        );
        answers.push(short(&outcome));
    }
    assert_eq!(answers, ["r:p/d0", "r:q/d0", "does not fit", "r:p/d0"]);
}
