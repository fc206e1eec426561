//! What later versions decide otherwise (L1 to L6, and what came after).

use super::*;

#[test]
fn l1_all_needs_a_device() {
    let nothing = || select(all("r"), &["false"]);
    let cluster = |requests| simple(devices(1), requests);
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
    let two = one_and_two();
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
    Cluster::new(vec![part("a", "n1", 1), part("b", "n2", 1)], ask()).check(BEING_UPDATED, "r:p/a");
    Cluster::new(vec![part("a", "n1", 2), part("b", "n2", 1)], ask())
        .check(BEING_UPDATED, BEING_UPDATED);
    // A newer generation elsewhere drops the pool.
    Cluster::new(vec![part("a", "n1", 1), part("b", "n2", 2)], ask())
        .check(BEING_UPDATED, "does not fit");
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
    Cluster::new(nowhere, ask()).check(BEING_UPDATED, "r:p/a");
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
    // In 1.31 the first one decides.
    with(3, all("r")).check(BEING_UPDATED, INVALID);
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
fn admin_access_without_its_gate() {
    let mut profile = Profile::current();
    profile.set(crate::profile::Feature::DraAdminAccess, false);
    let cluster = simple(devices(1), vec![admin(count("r", 1))]);
    let text =
        "error: claim ns/c, request r: admin access is requested, but the feature is disabled";
    assert_eq!(cluster.answer(&profile), text);
    let mut old = Profile::v1_31();
    old.set(crate::profile::Feature::DraAdminAccess, false);
    assert_eq!(cluster.answer(&old), "r:p/d0");
}
