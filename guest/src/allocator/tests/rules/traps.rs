//! What all versions do, and a reimplementation easily misses (T3, T4, T15, T18, T25).

use super::*;

#[test]
fn t3_selector_errors_end_the_attempt() {
    let cluster = |request| {
        simple(numbered(&["d0"], 1), vec![request])
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
    let cluster = simple(
        vec![device("d0", &[]), device("d1", &[("n", Attribute::Int(1))])],
        vec![select(count("r", 1), &["n=1"])],
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
    simple(devices(1), vec![count("r", big)]).check(&text, &text);
    // Taken modulo 2^32 the pool would be complete, and the generation not newer.
    let odd = ResourceSlice {
        resource_slice_count: (1 << 32) + 1,
        ..slice("s", "p", devices(1))
    };
    Cluster::new(vec![odd], vec![claim("c", vec![all("r")])]).check(BEING_UPDATED, BEING_UPDATED);
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
