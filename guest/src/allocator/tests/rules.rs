//! One test for each rule that differs between versions (spec section 14): 1.31 first, then current.

use super::support::*;
use crate::allocator::{DEFAULT_STEPS, Outcome};
use crate::api::{Attribute, ConfigSource, DeviceClass, NodeSelectorTerm, Reach, ResourceSlice};
use crate::profile::Profile;

fn numbered(names: &[&str], value: i64) -> Vec<crate::api::Device> {
    names
        .iter()
        .map(|name| device(name, &[("n", Attribute::Int(value))]))
        .collect()
}

#[test]
fn d1_all_applies_class_selectors() {
    let request = of_class(all("r"), "none");
    Cluster::new(
        vec![slice("s", "p", devices(2))],
        vec![claim("c", vec![request, count("x", 0)])],
    )
    .class(class("none", &["false"]))
    .check("r:p/d0 r:p/d1", "does not fit");
    let request = of_class(all("r"), "first");
    let two = vec![
        device("d0", &[("n", Attribute::Int(1))]),
        device("d1", &[("n", Attribute::Int(2))]),
    ];
    Cluster::new(vec![slice("s", "p", two)], vec![claim("c", vec![request])])
        .class(class("first", &["n=1"]))
        .check("r:p/d0 r:p/d1", "r:p/d0");
}

#[test]
fn d2_all_refuses_devices_in_use() {
    let cluster = Cluster::new(
        vec![slice("s", "p", devices(3))],
        vec![claim("c", vec![all("r")])],
    );
    cluster
        .clone()
        .held("drv/p/d1")
        .check("r:p/d0 r:p/d2", "does not fit");
    cluster
        .held("drv/p/d0")
        .held("drv/p/d1")
        .held("drv/p/d2")
        .check("", "does not fit");
}

#[test]
fn d3_newer_generation_is_stored_once() {
    let old = slice("a", "p", vec![device("old", &[])]);
    let new = |name: &str, count| ResourceSlice {
        generation: 2,
        resource_slice_count: count,
        ..slice(name, "p", devices(1))
    };
    let ask = || vec![claim("c", vec![all("r")])];
    // A one-slice pool looks incomplete when the newer slice comes later in the list, but not when it comes first.
    let error = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated";
    Cluster::new(vec![old.clone(), new("b", 1)], ask()).check(error, "r:p/d0");
    Cluster::new(
        vec![
            ResourceSlice {
                name: "z".into(),
                ..old.clone()
            },
            new("b", 1),
        ],
        ask(),
    )
    .check("r:p/d0", "r:p/d0");
    // One slice of a two-slice pool looks complete, and its device is listed twice.
    Cluster::new(vec![old.clone(), new("b", 2)], ask()).check("r:p/d0", error);
    let admin_ask = vec![claim("c", vec![admin(all("r"))])];
    Cluster::new(vec![old, new("b", 2)], admin_ask).check("r:p/d0 r:p/d0", error);
}

#[test]
fn d4_all_backtracks() {
    // The request after All cannot be satisfied.
    let requests = vec![all("r0"), count("r1", 1)];
    Cluster::new(
        vec![slice("s", "p", devices(2))],
        vec![claim("c", requests)],
    )
    .check("error: stop allocation", "does not fit");
    // Backtracking into the request before All finds the solution: r0 takes d0 first, which r1 wants.
    let mixed = vec![
        device("d0", &[("n", Attribute::Int(1))]),
        device("d1", &[("n", Attribute::Int(2))]),
    ];
    let requests = vec![count("r0", 1), select(all("r1"), &["n=1"])];
    Cluster::new(
        vec![slice("s", "p", mixed.clone())],
        vec![claim("c", requests.clone())],
    )
    .check("r0:p/d0", "r0:p/d1 r1:p/d0");
    // What All took is undone.
    let requests = vec![
        count("r0", 1),
        select(all("r1"), &["n=2"]),
        select(count("r2", 1), &["n=1"]),
    ];
    Cluster::new(
        vec![slice("s", "p", [mixed, numbered(&["d2"], 3)].concat())],
        vec![claim("c", requests)],
    )
    .check("error: stop allocation", "r0:p/d2 r1:p/d1 r2:p/d0");
}

#[test]
fn d4_a_refusing_constraint_stays_an_error() {
    let mixed = vec![
        device("d0", &[("n", Attribute::Int(1))]),
        device("d1", &[("n", Attribute::Int(2))]),
    ];
    let ask = matching(claim("c", vec![all("r")]), "drv/n", &[]);
    let error = "error: claim ns/c, request r: cannot add device drv/p/d1 because a claim constraint would not be satisfied";
    Cluster::new(vec![slice("s", "p", mixed)], vec![ask]).check(error, error);
}

#[test]
fn d5_repeated_device_names() {
    let pair = |count| {
        ["a", "b"]
            .map(|name| ResourceSlice {
                resource_slice_count: 2,
                ..slice(name, "p", devices(count))
            })
            .to_vec()
    };
    // One device for allocation, two candidates.
    let error = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently invalid";
    Cluster::new(pair(1), vec![claim("c", vec![all("r")])]).check("r:p/d0", error);
    Cluster::new(pair(1), vec![claim("c", vec![admin(all("r"))])]).check("r:p/d0 r:p/d0", error);
    Cluster::new(pair(1), vec![claim("c", vec![count("r", 1)])]).check("r:p/d0", "invalid pools");
    Cluster::new(pair(1), vec![claim("c", vec![count("r", 2)])])
        .check("does not fit", "invalid pools");
    let mut with_other = pair(1);
    with_other.push(slice("c", "q", devices(1)));
    Cluster::new(with_other, vec![claim("c", vec![count("r", 1)])]).check("r:p/d0", "r:q/d0");
    // The repetition may be on another node.
    let mut apart = pair(1);
    apart[1].reach = Reach::NodeName("n2".into());
    Cluster::new(apart, vec![claim("c", vec![all("r")])])
        .check("error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated", "r:p/d0");
}

#[test]
fn d5_the_first_evaluated_of_equal_names_answers_for_both() {
    let named = |value| vec![device("d0", &[("n", Attribute::Int(value))])];
    let slices = vec![
        ResourceSlice {
            resource_slice_count: 2,
            ..slice("a", "p", named(1))
        },
        ResourceSlice {
            resource_slice_count: 2,
            ..slice("b", "p", named(2))
        },
    ];
    Cluster::new(
        slices.clone(),
        vec![claim("c", vec![select(count("r", 1), &["n=2"])])],
    )
    .check("does not fit", "invalid pools");
    let cluster = Cluster::new(
        slices,
        vec![claim("c", vec![select(admin(count("r", 2)), &["n=1"])])],
    );
    let (_, evaluations, _) = cluster.run(&Profile::v1_31(), 100);
    assert_eq!(evaluations, [("n=1".to_string(), 0, 0)]);
}

#[test]
fn d6_admin_results_hold_their_device_in_1_31_only() {
    Cluster::new(
        vec![slice("s", "p", devices(1))],
        vec![claim("c", vec![count("r", 1)])],
    )
    .held_by_admin("drv/p/d0")
    .check("does not fit", "r:p/d0");
    let cluster = Cluster::new(
        vec![slice("s", "p", devices(1))],
        vec![claim("c", vec![admin(count("r", 1))])],
    );
    assert!(!cluster.allocation(&Profile::v1_31()).results[0].admin_access);
    assert!(cluster.allocation(&Profile::current()).results[0].admin_access);
}

#[test]
fn d7_admin_requests_do_not_repeat_a_device() {
    let cluster = |requests| {
        Cluster::new(
            vec![slice("s", "p", devices(2))],
            vec![claim("c", requests)],
        )
    };
    cluster(vec![admin(count("r", 2))]).check("r:p/d0 r:p/d0", "r:p/d0 r:p/d1");
    cluster(vec![admin(count("r", 3))]).check("r:p/d0 r:p/d0 r:p/d0", "does not fit");
    cluster(vec![count("a", 1), admin(count("b", 1))]).check("a:p/d0 b:p/d0", "a:p/d0 b:p/d1");
    cluster(vec![count("a", 1), admin(all("b"))]).check("a:p/d0 b:p/d0 b:p/d1", "does not fit");
    // The skipped device is not evaluated again.
    let asks = vec![count("a", 1), select(admin(count("b", 1)), &["true"])];
    let (_, evaluations, _) = cluster(asks).run(&Profile::current(), 100);
    assert_eq!(evaluations, [("true".to_string(), 0, 1)]);
}

#[test]
fn d8_sum_of_counts_saturates() {
    let text = |sum: &str| {
        format!(
            "error: claim ns/c: number of requested devices {sum} exceeds the claim limit of 32"
        )
    };
    let max = text("9223372036854775807");
    let cluster = |requests| {
        Cluster::new(
            vec![slice("s", "p", devices(1))],
            vec![claim("c", requests)],
        )
    };
    cluster(vec![count("a", i64::MAX), count("b", i64::MAX)]).check(&max, &max);
    cluster(vec![
        count("a", i64::MAX),
        count("b", i64::MAX),
        count("c", 3),
    ])
    .check(&max, &max);
    cluster(vec![count("a", 40), count("b", -20)]).check(&text("40"), &text("40"));
    cluster(vec![count("a", i64::MIN), count("b", 1)]).check("b:p/d0", "b:p/d0");
}

#[test]
fn d9_class_config() {
    let mut configured = class("configured", &[]);
    configured.config = vec![config("one", &[]), config("two", &[])];
    let mut ask = claim(
        "c",
        vec![
            of_class(count("a", 1), "configured"),
            count("b", 1),
            of_class(count("c", 0), "configured"),
        ],
    );
    ask.config = vec![config("three", &["a"])];
    let cluster = Cluster::new(vec![slice("s", "p", devices(2))], vec![ask]).class(configured);
    let list = |profile: Profile| -> Vec<(ConfigSource, String, String)> {
        let config = cluster.allocation(&profile).config;
        let parameters = |value: &serde_json::Value| {
            value["parameters"].as_str().unwrap_or_default().to_string()
        };
        let row = |entry: crate::api::AllocationConfiguration| {
            let parameters = entry
                .config
                .opaque
                .as_ref()
                .map(parameters)
                .unwrap_or_default();
            (entry.source, entry.config.requests.join(","), parameters)
        };
        config.into_iter().map(row).collect()
    };
    let row = |source, requests: &str, parameters: &str| {
        (source, requests.to_string(), parameters.to_string())
    };
    let (of_class, of_claim) = (ConfigSource::Class, ConfigSource::Claim);
    let compat = [
        row(of_class, "", "one"),
        row(of_class, "", "two"),
        row(of_class, "", "one"),
        row(of_class, "", "two"),
        row(of_claim, "a", "three"),
    ];
    let fixed = [
        row(of_class, "a,c", "one"),
        row(of_class, "a,c", "two"),
        row(of_claim, "a", "three"),
    ];
    assert_eq!(list(Profile::v1_31()), compat);
    assert_eq!(list(Profile::current()), fixed);
}

#[test]
fn l1_all_needs_a_device() {
    let nothing = || select(all("r"), &["false"]);
    let cluster = |requests| {
        Cluster::new(
            vec![slice("s", "p", devices(1))],
            vec![claim("c", requests)],
        )
    };
    cluster(vec![nothing()]).check("", "does not fit");
    cluster(vec![count("a", 1), nothing()]).check("a:p/d0", "does not fit");
    Cluster::new(vec![], vec![claim("c", vec![all("r")])]).check("", "does not fit");
    // Decided when the search arrives there: the error of a request before it wins, one after it does not come up.
    let failing = || select(count("a", 1), &["missing=1"]);
    let error = "error: claim ns/c: selector #0: CEL runtime error: no such key: missing";
    cluster(vec![failing(), nothing()]).check(error, error);
    cluster(vec![nothing(), failing()]).check(error, "does not fit");
}

#[test]
fn l2_admin_picks_are_in_use_for_later_ordinary_requests() {
    let one = |claims| Cluster::new(vec![slice("s", "p", devices(1))], claims);
    one(vec![claim("c", vec![admin(count("a", 1)), count("b", 1)])])
        .check("a:p/d0 b:p/d0", "does not fit");
    one(vec![claim("c", vec![count("a", 1), admin(count("b", 1))])])
        .check("a:p/d0 b:p/d0", "does not fit");
    one(vec![
        claim("c", vec![admin(count("a", 1))]),
        claim("d", vec![count("b", 1)]),
    ])
    .check("a:p/d0 | b:p/d0", "does not fit");
    one(vec![
        claim("c", vec![count("a", 1)]),
        claim("d", vec![admin(count("b", 1))]),
    ])
    .check("a:p/d0 | b:p/d0", "a:p/d0 | b:p/d0");
    one(vec![
        claim("c", vec![admin(count("a", 1))]),
        claim("d", vec![admin(count("b", 1))]),
    ])
    .check("a:p/d0 | b:p/d0", "a:p/d0 | b:p/d0");
    // What a backtracked admin pick marked is free again.
    let two = vec![
        device("d0", &[("n", Attribute::Int(1))]),
        device("d1", &[("n", Attribute::Int(2))]),
    ];
    let claims = vec![
        claim("c", vec![admin(count("a", 1))]),
        claim("d", vec![select(count("b", 1), &["n=1"])]),
    ];
    Cluster::new(vec![slice("s", "p", two)], claims).check("a:p/d0 | b:p/d0", "a:p/d1 | b:p/d0");
}

#[test]
fn l3_exact_count_skips_incomplete_pools() {
    let incomplete = ResourceSlice {
        resource_slice_count: 2,
        ..slice("a", "p", devices(1))
    };
    let ask = || vec![claim("c", vec![count("r", 1)])];
    Cluster::new(vec![incomplete.clone()], ask()).check("r:p/d0", "does not fit");
    Cluster::new(vec![incomplete, slice("b", "q", devices(1))], ask()).check("r:p/d0", "r:q/d0");
}

#[test]
fn l4_completeness_over_the_whole_pool() {
    let part = |name: &str, node: &str, generation| ResourceSlice {
        resource_slice_count: 2,
        generation,
        reach: Reach::NodeName(node.into()),
        ..slice(name, "p", vec![device(name, &[])])
    };
    let ask = || vec![claim("c", vec![all("r")])];
    let error = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated";
    Cluster::new(vec![part("a", "n1", 1), part("b", "n2", 1)], ask()).check(error, "r:p/a");
    Cluster::new(vec![part("a", "n1", 2), part("b", "n2", 1)], ask()).check(error, error);
    // A newer generation elsewhere drops the pool.
    Cluster::new(vec![part("a", "n1", 1), part("b", "n2", 2)], ask()).check(error, "does not fit");
    let exact = vec![claim("c", vec![count("r", 1)])];
    Cluster::new(vec![part("a", "n1", 1), part("b", "n2", 2)], exact.clone())
        .check("r:p/a", "does not fit");
    // With the count reached nothing else is looked at.
    let mut reached = vec![part("a", "n1", 1), part("b", "n2", 2)];
    reached[0].resource_slice_count = 1;
    Cluster::new(reached, exact).check("r:p/a", "r:p/a");
    // Slices that nobody can reach count as well.
    let mut nowhere = vec![part("a", "n1", 1), part("b", "n1", 1)];
    nowhere[1].reach = Reach::Nowhere;
    Cluster::new(nowhere, ask()).check(error, "r:p/a");
}

#[test]
fn slices_that_disagree_about_their_number() {
    let shared = |count| ResourceSlice {
        resource_slice_count: count,
        reach: Reach::AllNodes,
        ..slice("a", "p", vec![device("x", &[])])
    };
    let own = ResourceSlice {
        resource_slice_count: 2,
        ..slice("b", "p", vec![device("y", &[])])
    };
    let with = |count, request| {
        Cluster::new(
            vec![shared(count), own.clone()],
            vec![claim("c", vec![request])],
        )
    };
    let bad = |what| {
        format!(
            "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently {what}"
        )
    };
    // In 1.31 the first one decides.
    with(3, all("r")).check(&bad("being updated"), &bad("invalid"));
    with(3, count("r", 1)).check("r:p/x", "invalid pools");
    with(2, all("r")).check("r:p/x r:p/y", "r:p/x r:p/y");
}

#[test]
fn a_pool_that_is_not_to_be_used_refuses_the_node_not_the_pod() {
    let incomplete = ResourceSlice {
        resource_slice_count: 2,
        ..slice("a", "p", devices(1))
    };
    let cluster = Cluster::new(vec![incomplete], vec![claim("c", vec![all("r")])]);
    let outcome = |profile: Profile| cluster.run(&profile, DEFAULT_STEPS).0;
    assert!(matches!(outcome(Profile::v1_31()), Outcome::Error(_)));
    assert!(matches!(outcome(Profile::current()), Outcome::BadPool(_)));
}

#[test]
fn l5_claim_config_once_per_named_request() {
    let mut ask = claim("c", vec![count("a", 1), count("b", 1)]);
    ask.config = vec![
        config("both", &["b", "a"]),
        config("none", &["zz"]),
        config("all", &[]),
    ];
    let cluster = Cluster::new(vec![slice("s", "p", devices(2))], vec![ask]);
    let list = |profile: Profile| -> Vec<String> {
        let config = cluster.allocation(&profile).config;
        config
            .into_iter()
            .map(|entry| entry.config.requests.join(","))
            .collect()
    };
    assert_eq!(list(Profile::v1_31()), ["b,a", "zz", ""]);
    assert_eq!(list(Profile::current()), ["b,a", "b,a", ""]);
}

#[test]
fn l6_pools_and_slices_are_visited_in_order() {
    let slices = vec![
        slice("z", "q", vec![device("q0", &[])]),
        ResourceSlice {
            driver: "a-driver".into(),
            ..slice("y", "zz", vec![device("z0", &[])])
        },
        ResourceSlice {
            resource_slice_count: 2,
            ..slice("b", "p", vec![device("p1", &[]), device("p0", &[])])
        },
        ResourceSlice {
            resource_slice_count: 2,
            reach: Reach::AllNodes,
            ..slice("a", "p", vec![device("p2", &[])])
        },
    ];
    let expect = "r:zz/z0 r:p/p2 r:p/p1 r:p/p0 r:q/q0";
    Cluster::new(slices, vec![claim("c", vec![count("r", 5)])]).check(expect, expect);
}

#[test]
fn t3_selector_errors_end_the_attempt() {
    let cluster = |request| {
        Cluster::new(
            vec![slice("s", "p", numbered(&["d0"], 1))],
            vec![claim("c", vec![request])],
        )
        .class(class("bad", &["true", "broken"]))
        .class(DeviceClass {
            selectors: vec![Default::default()],
            ..class("odd", &[])
        })
    };
    let both = |request, text: &str| cluster(request).check(text, text);
    both(
        select(count("r", 1), &["n=1", "m=1"]),
        "error: claim ns/c: selector #1: CEL runtime error: no such key: m",
    );
    both(
        select(count("r", 1), &["broken"]),
        "error: claim ns/c: selector #0: CEL compile error: does not parse",
    );
    both(
        of_class(count("r", 1), "bad"),
        "error: class bad: selector #1: CEL compile error: does not parse",
    );
    both(
        of_class(count("r", 1), "odd"),
        "error: class odd: selector #0: CEL expression empty (unsupported selector type?)",
    );
    // Not reached: the selector before it is false, or nothing is needed.
    both(select(count("r", 1), &["n=2", "m=1"]), "does not fit");
    both(of_class(count("r", 0), "bad"), "");
}

#[test]
fn t4_evaluation_is_lazy_and_ordered() {
    let evaluated = |cluster: &Cluster, profile| -> Vec<String> {
        let (_, log, _) = cluster.run(&profile, 1000);
        log.into_iter()
            .map(|(text, slot, index)| format!("{text}@{slot}.{index}"))
            .collect()
    };
    let slices = vec![slice("s", "p", numbered(&["d0", "d1", "d2", "d3"], 1))];
    let ask = of_class(select(count("r", 1), &["n=1"]), "classy");
    let cluster = Cluster::new(slices, vec![claim("c", vec![ask])])
        .class(class("classy", &["has n"]))
        .held("drv/p/d0");
    for profile in [Profile::v1_31(), Profile::current()] {
        // In use first, class before request, nothing after the solution.
        assert_eq!(evaluated(&cluster, profile), ["has n@0.1", "n=1@0.1"]);
    }
    // A false class selector hides the request's, whatever that would say.
    let hidden = of_class(select(count("r", 1), &["missing=1"]), "no");
    let cluster = Cluster::new(cluster.slices.clone(), vec![claim("c", vec![hidden])])
        .class(class("no", &["false"]));
    assert_eq!(
        evaluated(&cluster, Profile::v1_31()),
        ["false@0.0", "false@0.1", "false@0.2", "false@0.3"]
    );
    // Devices in use are never evaluated, so their errors do not appear.
    let cluster = Cluster::new(
        vec![slice(
            "s",
            "p",
            vec![device("d0", &[]), device("d1", &[("n", Attribute::Int(1))])],
        )],
        vec![claim("c", vec![select(count("r", 1), &["n=1"])])],
    );
    cluster.check(
        "error: claim ns/c: selector #0: CEL runtime error: no such key: n",
        "error: claim ns/c: selector #0: CEL runtime error: no such key: n",
    );
    cluster.held("drv/p/d0").check("r:p/d1", "r:p/d1");
}

#[test]
fn t15_incomplete_is_judged_after_node_filtering() {
    let network = |name: &str, zone: &str| ResourceSlice {
        resource_slice_count: 2,
        reach: Reach::NodeSelector(selector(&[("zone", &[zone])])),
        ..slice(name, "net", vec![device(name, &[])])
    };
    let slices = vec![network("a", "a"), network("b", "b")];
    let error = "error: claim ns/c, request r: asks for all devices, but resource pool drv/net is currently being updated";
    Cluster::new(slices.clone(), vec![claim("c", vec![all("r")])]).check(error, "r:net/a");
    Cluster::new(slices, vec![claim("c", vec![count("r", 1)])]).check("r:net/a", "r:net/a");
}

#[test]
fn t18_a_slice_of_one_node_replaces_the_collected_selector() {
    let shared = |name: &str, selector_of| ResourceSlice {
        reach: Reach::NodeSelector(selector_of),
        ..slice(name, name, vec![device(name, &[])])
    };
    let ask = |n| vec![claim("c", vec![count("r", n)])];
    let slices = vec![
        shared("a", selector(&[("zone", &["a", "b"])])),
        ResourceSlice {
            reach: Reach::AllNodes,
            ..slice("b", "b", vec![device("b", &[])])
        },
        // The same requirement with the values in another order, and a new one.
        shared("c", selector(&[("zone", &["b", "a"]), ("zone", &["a"])])),
    ];
    for profile in [Profile::v1_31(), Profile::current()] {
        let merged = Cluster::new(slices.clone(), ask(3))
            .allocation(&profile)
            .node_selector;
        assert_eq!(
            merged,
            Some(selector(&[("zone", &["a", "b"]), ("zone", &["a"])]))
        );
        let mut with_own = slices.clone();
        with_own.push(slice("d", "d", vec![device("d", &[])]));
        let only = Cluster::new(with_own, ask(4))
            .allocation(&profile)
            .node_selector
            .expect("a selector");
        assert_eq!(only.terms.len(), 1);
        assert!(only.terms[0].match_expressions.is_empty());
        assert_eq!(only.terms[0].match_fields[0].key, "metadata.name");
        assert_eq!(only.terms[0].match_fields[0].values, ["n1"]);
        let everywhere = Cluster::new(vec![slices[1].clone()], ask(1)).allocation(&profile);
        assert_eq!(everywhere.node_selector, None);
    }
    let mut two_terms = selector(&[("zone", &["a"])]);
    two_terms.terms.push(NodeSelectorTerm::default());
    let error = "error: create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 terms";
    Cluster::new(vec![shared("a", two_terms)], ask(1)).check(error, error);
}

#[test]
fn t25_counts_are_64_bit() {
    let big = i64::from(u32::MAX) + 2;
    let text = format!(
        "error: claim ns/c: number of requested devices {big} exceeds the claim limit of 32"
    );
    Cluster::new(
        vec![slice("s", "p", devices(1))],
        vec![claim("c", vec![count("r", big)])],
    )
    .check(&text, &text);
    // Taken modulo 2^32 the pool would be complete, and the generation not newer.
    let odd = ResourceSlice {
        resource_slice_count: (1 << 32) + 1,
        ..slice("s", "p", devices(1))
    };
    let error = "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated";
    Cluster::new(vec![odd], vec![claim("c", vec![all("r")])]).check(error, error);
    let newer = ResourceSlice {
        generation: 1 << 32,
        ..slice("a", "p", vec![device("new", &[])])
    };
    Cluster::new(
        vec![newer, slice("b", "p", devices(1))],
        vec![claim("c", vec![count("r", 1)])],
    )
    .check("r:p/new", "r:p/new");
}

#[test]
fn admin_access_without_its_gate() {
    let mut profile = Profile::current();
    profile.set(crate::profile::Feature::DraAdminAccess, false);
    let cluster = Cluster::new(
        vec![slice("s", "p", devices(1))],
        vec![claim("c", vec![admin(count("r", 1))])],
    );
    let text =
        "error: claim ns/c, request r: admin access is requested, but the feature is disabled";
    assert_eq!(cluster.answer(&profile), text);
    let mut old = Profile::v1_31();
    old.set(crate::profile::Feature::DraAdminAccess, false);
    assert_eq!(cluster.answer(&old), "r:p/d0");
}
