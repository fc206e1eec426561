//! One feature, one shape: what upstream got wrong at some time (the failing shape, and a near miss that must succeed), and
//! what results look like.

use super::support::*;
use crate::allocator::{DEFAULT_STEPS, Inventory, Limits, Outcome, TIMED_OUT};
use crate::api::{
    Attribute, Device, DeviceTaintRule, Reach, ResourceSlice, TaintEffect, TaintSelector,
};
use crate::profile::Profile;

fn answer(cluster: &Cluster) -> String {
    cluster.answer(&Profile::current())
}

/// One slice with these devices, one claim with one request.
fn one(devices: Vec<Device>, request: crate::api::DeviceRequest) -> Cluster {
    Cluster::new(
        vec![slice("s", "p", devices)],
        vec![claim("c", vec![request])],
    )
}

fn elsewhere(name: &str, devices: Vec<Device>) -> ResourceSlice {
    ResourceSlice {
        reach: Reach::NodeName("n2".into()),
        ..slice(name, "p", devices)
    }
}

fn of_two(slices: Vec<ResourceSlice>) -> Vec<ResourceSlice> {
    let count = slices.len() as i64;
    let with_count = |slice| ResourceSlice {
        resource_slice_count: count,
        ..slice
    };
    slices.into_iter().map(with_count).collect()
}

// Prioritized lists.

#[test]
fn an_alternative_that_fails_gives_everything_back() {
    let ask = first_of("r", vec![all("every"), count("one", 1)]);
    let cluster = one(devices(3), ask);
    assert_eq!(answer(&cluster), "r/every:p/d0 r/every:p/d1 r/every:p/d2");
    // The second device is in use: what was picked before is free again.
    assert_eq!(answer(&cluster.held("drv/p/d1")), "r/one:p/d0");
}

#[test]
fn what_follows_decides_about_alternatives() {
    let ask = |more| {
        vec![
            first_of("r", vec![count("two", 2), count("one", 1)]),
            count("last", more),
        ]
    };
    let cluster = |more| {
        Cluster::new(
            vec![slice("s", "p", devices(3))],
            vec![claim("c", ask(more))],
        )
    };
    assert_eq!(answer(&cluster(1)), "r/two:p/d0 r/two:p/d1 last:p/d2");
    assert_eq!(answer(&cluster(2)), "r/one:p/d0 last:p/d1 last:p/d2");
    assert_eq!(answer(&cluster(3)), "does not fit");
    // An alternative that needs nothing satisfies the request.
    let nothing = first_of("r", vec![count("four", 4), count("none", 0)]);
    assert_eq!(answer(&one(devices(3), nothing)), "");
}

#[test]
fn two_alternatives_for_all_devices_of_different_classes() {
    let ask = first_of(
        "r",
        vec![of_class(all("big"), "big"), of_class(all("small"), "small")],
    );
    let devices = ["big", "small", "small"];
    let devices = devices
        .iter()
        .enumerate()
        .map(|(i, size)| device(&format!("d{i}"), &[("size", text(size))]))
        .collect();
    let cluster = one(devices, ask)
        .class(class("big", &["size=big"]))
        .class(class("small", &["size=small"]));
    assert_eq!(answer(&cluster), "r/big:p/d0");
    assert_eq!(
        answer(&cluster.held("drv/p/d0")),
        "r/small:p/d1 r/small:p/d2"
    );
}

#[test]
fn more_devices_than_a_claim_may_get_is_a_reason_for_the_next_alternative() {
    let ask = |second| {
        vec![
            first_of("r", vec![count("many", 33), count("few", second)]),
            count("rest", 16),
        ]
    };
    let cluster = |second| {
        Cluster::new(
            vec![slice("s", "p", devices(60))],
            vec![claim("c", ask(second))],
        )
    };
    assert!(answer(&cluster(16)).starts_with("r/few:p/d0 "));
    assert_eq!(
        answer(&cluster(17)),
        "error: claim ns/c: number of requested devices 33 exceeds the claim limit of 32"
    );
}

#[test]
fn constraints_and_config_name_requests_or_alternatives() {
    let numbers = [1, 2, 2].map(Attribute::Int);
    let devices: Vec<_> = numbers
        .iter()
        .enumerate()
        .map(|(i, n)| device(&format!("d{i}"), &[("n", n.clone())]))
        .collect();
    let requests = || {
        vec![
            first_of("r", vec![count("a", 2), count("b", 1)]),
            count("s", 1),
        ]
    };
    let with = |names: &[&str]| {
        let claim = matching(claim("c", requests()), "drv/n", names);
        Cluster::new(vec![slice("s", "p", devices.clone())], vec![claim])
    };
    let unconstrained = "r/a:p/d0 r/a:p/d1 s:p/d2";
    let constrained = "r/a:p/d1 r/a:p/d2 s:p/d0";
    assert_eq!(answer(&with(&["zz"])), unconstrained);
    assert_eq!(answer(&with(&["r"])), constrained);
    assert_eq!(answer(&with(&["r/a"])), constrained);
    assert_eq!(answer(&with(&["r/b"])), unconstrained);
    assert_eq!(answer(&with(&["a"])), unconstrained);

    let mut asks = claim("c", requests());
    let lists: [&[&str]; 5] = [&["r"], &["r/a"], &["r/b"], &[], &["r", "r/a", "s"]];
    asks.config = lists.iter().map(|names| config("x", names)).collect();
    let mut cluster = Cluster::new(vec![slice("s", "p", devices)], vec![asks]);
    cluster.classes[0].config = vec![config("class", &[])];
    let found = cluster.allocation(&Profile::current()).config;
    let named: Vec<_> = found
        .iter()
        .map(|entry| entry.config.requests.clone())
        .collect();
    // That of the class with the names of those that use it; then once for each request that is named, whether by parent, by
    // alternative or by both; not for the alternative that was not chosen.
    let expected: [&[&str]; 6] = [
        &["r/a", "s"],
        &["r"],
        &["r/a"],
        &[],
        &["r", "r/a", "s"],
        &["r", "r/a", "s"],
    ];
    assert_eq!(named, expected);
}

#[test]
fn hopeless_alternatives_end_soon() {
    // Eight alternatives for each of four requests, none of them possible together.
    let alternatives = |r: usize| {
        let alternative = |a: usize| select(count(&format!("a{a}"), 8 - a as i64), &["has n"]);
        first_of(&format!("r{r}"), (0..8).map(alternative).collect())
    };
    let requests: Vec<_> = (0..4).map(alternatives).collect();
    let devices = |count: usize| -> Vec<_> {
        let one = |i| device(&format!("d{i}"), &[("n", Attribute::Int(1))]);
        (0..count).map(one).collect()
    };
    let cluster = |count| {
        Cluster::new(
            vec![slice("s", "p", devices(count))],
            vec![claim("c", requests.clone())],
        )
    };
    let (outcome, _, steps) = cluster(3).run(&Profile::current(), DEFAULT_STEPS);
    assert_eq!(short(&outcome), "does not fit");
    assert!(steps < 10_000, "{steps}");
    assert_eq!(
        answer(&cluster(4)),
        "r0/a7:p/d0 r1/a7:p/d1 r2/a7:p/d2 r3/a7:p/d3"
    );
}

// Taints.

#[test]
fn taints_and_tolerations() {
    let device = |effect| tainted(devices(1).remove(0), "k", effect);
    for effect in [TaintEffect::NoSchedule, TaintEffect::NoExecute] {
        for ask in [
            count("r", 1),
            admin(count("r", 1)),
            all("r"),
            admin(all("r")),
        ] {
            assert_eq!(
                answer(&one(vec![device(effect)], ask.clone())),
                "does not fit"
            );
            let tolerated = tolerating(ask.clone(), "k");
            assert_eq!(answer(&one(vec![device(effect)], tolerated)), "r:p/d0");
            let other = tolerating(ask, "l");
            assert_eq!(answer(&one(vec![device(effect)], other)), "does not fit");
        }
    }
    assert_eq!(
        answer(&one(vec![device(TaintEffect::None)], all("r"))),
        "r:p/d0"
    );
    // Each taint must be tolerated.
    let two = tainted(device(TaintEffect::NoSchedule), "l", TaintEffect::NoExecute);
    let half = tolerating(count("r", 1), "k");
    assert_eq!(
        answer(&one(vec![two.clone()], half.clone())),
        "does not fit"
    );
    assert_eq!(answer(&one(vec![two], tolerating(half, "l"))), "r:p/d0");
}

#[test]
fn a_tainted_device_is_evaluated_all_the_same() {
    let mut devices = devices(2);
    devices[0] = tainted(devices[0].clone(), "k", TaintEffect::NoSchedule);
    let cluster = one(devices, select(count("r", 1), &["true"]));
    let (outcome, log, _) = cluster.run(&Profile::current(), DEFAULT_STEPS);
    assert_eq!(short(&outcome), "r:p/d1");
    assert_eq!(log.len(), 2);
}

#[test]
fn tolerations_are_copied_into_results() {
    let device = tainted(devices(1).remove(0), "k", TaintEffect::NoExecute);
    let ask = first_of(
        "r",
        vec![
            count("not", 1),
            tolerating(tolerating(count("a", 1), "k"), "l"),
        ],
    );
    let result = one(vec![device], ask)
        .allocation(&Profile::current())
        .results;
    assert_eq!(result[0].request, "r/a");
    assert_eq!(result[0].tolerations, [toleration("k"), toleration("l")]);
    let result = one(devices(1), count("r", 1))
        .allocation(&Profile::current())
        .results;
    assert_eq!(result[0].tolerations, []);
}

#[test]
fn rules_select_nothing_everything_or_some() {
    let rule = |selector| DeviceTaintRule {
        name: "rule".into(),
        selector,
        taint: taint("k", TaintEffect::NoSchedule),
    };
    let selector = |driver: Option<&str>, pool: Option<&str>, device: Option<&str>| {
        Some(TaintSelector {
            driver: driver.map(Into::into),
            pool: pool.map(Into::into),
            device: device.map(Into::into),
        })
    };
    let with = |selector| {
        let mut cluster = one(devices(2), count("r", 1));
        cluster.rules.push(rule(selector));
        answer(&cluster)
    };
    assert_eq!(with(None), "r:p/d0");
    assert_eq!(with(Some(TaintSelector::default())), "does not fit");
    assert_eq!(with(selector(Some("drv"), None, None)), "does not fit");
    assert_eq!(with(selector(Some("oth"), None, None)), "r:p/d0");
    assert_eq!(with(selector(None, Some("p"), Some("d0"))), "r:p/d1");
    assert_eq!(with(selector(Some("drv"), Some("q"), Some("d0"))), "r:p/d0");
}

#[test]
fn rules_that_come_and_go() {
    let cluster = one(devices(1), count("r", 1));
    let mut inventory = cluster.inventory();
    let rule = |device: &str| DeviceTaintRule {
        name: "rule".into(),
        selector: Some(TaintSelector {
            device: Some(device.into()),
            ..TaintSelector::default()
        }),
        taint: taint("k", TaintEffect::NoSchedule),
    };
    let ask = |inventory: &Inventory| {
        let claims = cluster
            .claims
            .iter()
            .cloned()
            .map(std::rc::Rc::new)
            .collect();
        let mut allocator = crate::allocator::Allocator::new(claims);
        let mut stub = Stub::default();
        let profile = Profile::current();
        short(&cluster.attempt(
            &mut allocator,
            inventory,
            &mut stub,
            &profile,
            DEFAULT_STEPS,
        ))
    };
    inventory.put_taint_rule(7, rule("d0"));
    assert_eq!(ask(&inventory), "does not fit");
    inventory.put_taint_rule(7, rule("d1"));
    assert_eq!(ask(&inventory), "r:p/d0");
    inventory.put_taint_rule(3, rule("d0"));
    inventory.remove_taint_rule(7);
    assert_eq!(ask(&inventory), "does not fit");
    // A slice that comes later is tainted too.
    inventory.put(0, cluster.slices[0].clone());
    assert_eq!(ask(&inventory), "does not fit");
    inventory.remove_taint_rule(3);
    assert_eq!(ask(&inventory), "r:p/d0");
}

// Counters.

/// `count` devices that need `each` of counter `c` of set `s`, of which there is `total`.
fn partitions(count: usize, each: i64, total: i64) -> ResourceSlice {
    let consume = |device| consuming(device, "s", &[("c", each)]);
    ResourceSlice {
        counters: vec![counter_set("s", &[("c", total)])],
        ..slice("s", "p", devices(count).into_iter().map(consume).collect())
    }
}

#[test]
fn counters_limit_how_many_devices_can_be_had() {
    let ask = |request| Cluster::new(vec![partitions(4, 2, 5)], vec![claim("c", vec![request])]);
    assert_eq!(answer(&ask(count("r", 2))), "r:p/d0 r:p/d1");
    assert_eq!(answer(&ask(count("r", 3))), "does not fit");
    assert_eq!(answer(&ask(all("r"))), "does not fit");
    let enough = Cluster::new(vec![partitions(2, 2, 4)], vec![claim("c", vec![all("r")])]);
    assert_eq!(answer(&enough), "r:p/d0 r:p/d1");
    // What is held takes its part; what admin access holds does not.
    let one = ask(count("r", 2));
    assert_eq!(
        answer(&one.clone().held_by_admin("drv/p/d0")),
        "r:p/d0 r:p/d1"
    );
    assert_eq!(answer(&one.held("drv/p/d0")), "does not fit");
}

#[test]
fn counters_are_given_back_when_the_search_turns_round() {
    // The first device takes 20 of 70 and the others 10 each: seven fit only without it.
    let mut slice = partitions(8, 10, 70);
    slice.devices[0] = consuming(devices(1).remove(0), "s", &[("c", 20)]);
    let ask = |count_| {
        Cluster::new(
            vec![slice.clone()],
            vec![claim("c", vec![count("r", count_)])],
        )
    };
    assert_eq!(answer(&ask(6)), "r:p/d0 r:p/d1 r:p/d2 r:p/d3 r:p/d4 r:p/d5");
    assert_eq!(
        answer(&ask(7)),
        "r:p/d1 r:p/d2 r:p/d3 r:p/d4 r:p/d5 r:p/d6 r:p/d7"
    );
    assert_eq!(answer(&ask(8)), "does not fit");
}

#[test]
fn counters_of_equal_pool_names_are_kept_apart_by_driver() {
    let other = ResourceSlice {
        driver: "oth".into(),
        name: "o".into(),
        ..partitions(2, 1, 1)
    };
    let ask = |count_| {
        let asks = claim("c", vec![count("r", count_)]);
        Cluster::new(vec![partitions(2, 1, 1), other.clone()], vec![asks])
    };
    assert_eq!(answer(&ask(2)), "r:p/d0 r:p/d0");
    assert_eq!(answer(&ask(3)), "does not fit");
    assert_eq!(answer(&ask(1).held("drv/p/d1")), "r:p/d0");
    assert_eq!(answer(&ask(2).held("drv/p/d1")), "does not fit");
}

#[test]
fn counters_are_those_of_the_pool_whatever_the_slices_and_nodes() {
    let partitions = partitions(2, 2, 5);
    let counters = ResourceSlice {
        counters: partitions.counters.clone(),
        ..slice("counters", "p", Vec::new())
    };
    let own = ResourceSlice {
        counters: Vec::new(),
        ..partitions.clone()
    };
    let far = |name: &str| {
        let device = device(name, &[]);
        elsewhere("far", vec![consuming(device, "s", &[("c", 3)])])
    };
    for counters in [counters.clone(), elsewhere("counters", Vec::new())] {
        let counters = ResourceSlice {
            counters: partitions.counters.clone(),
            ..counters
        };
        let slices = of_two(vec![own.clone(), counters, far("far")]);
        let cluster = Cluster::new(slices, vec![claim("c", vec![count("r", 2)])]);
        assert_eq!(answer(&cluster), "r:p/d0 r:p/d1");
        // A device of another node took three.
        assert_eq!(answer(&cluster.held("drv/p/far")), "does not fit");
    }
}

#[test]
fn counters_fail_closed() {
    let ask = |slices| Cluster::new(slices, vec![claim("c", vec![count("r", 1)])]);
    // A device is held that no slice has any more: nobody knows what it took.
    let gone = ask(vec![partitions(2, 1, 9)]);
    assert_eq!(answer(&gone.clone().held("drv/p/d1")), "r:p/d0");
    assert_eq!(answer(&gone.clone().held("drv/q/gone")), "r:p/d0");
    assert_eq!(answer(&gone.held("drv/p/gone")), "does not fit");
    // Names that lead nowhere, and a set that is given twice.
    let with = |change: &dyn Fn(&mut ResourceSlice)| {
        let mut slice = partitions(2, 1, 9);
        change(&mut slice);
        answer(&ask(vec![slice]))
    };
    assert_eq!(with(&|_| {}), "r:p/d0");
    assert_eq!(with(&|slice| slice.counters.clear()), "invalid pools");
    assert_eq!(
        with(&|slice| slice.counters[0].counters[0].0 = "d".into()),
        "invalid pools"
    );
    assert_eq!(
        with(&|slice| slice.counters.push(slice.counters[0].clone())),
        "invalid pools"
    );
    // More is taken than there is.
    let overdrawn = ask(vec![partitions(3, 4, 7)])
        .held("drv/p/d1")
        .held("drv/p/d2");
    assert_eq!(answer(&overdrawn), "does not fit");
}

#[test]
fn devices_for_nodes_of_their_own() {
    let on = |name: &str, reach| {
        let mut device = device(name, &[]);
        extra(&mut device).reach = Some(reach);
        device
    };
    let slice = ResourceSlice {
        reach: Reach::PerDevice,
        ..slice(
            "s",
            "p",
            vec![
                on("far", Reach::NodeName("n2".into())),
                on("zone", Reach::NodeSelector(selector(&[("zone", &["a"])]))),
                on("any", Reach::AllNodes),
                on("own", Reach::NodeName("n1".into())),
                on("lost", Reach::Nowhere),
            ],
        )
    };
    let cluster = |request| Cluster::new(vec![slice.clone()], vec![claim("c", vec![request])]);
    assert_eq!(answer(&cluster(all("r"))), "r:p/zone r:p/any r:p/own");
    assert_eq!(answer(&cluster(count("r", 4))), "does not fit");
    let places = |count_| {
        let allocation = cluster(count("r", count_)).allocation(&Profile::current());
        let selector = allocation.node_selector.expect("a selector");
        let term = &selector.terms[0];
        (term.match_expressions.len(), term.match_fields.len())
    };
    // That of the zone; with the node's own device, the node.
    assert_eq!([places(2), places(3)], [(1, 0), (0, 1)]);
    // No device for the node: its slice is not reached at all.
    let mut far = slice.clone();
    far.devices.truncate(1);
    let cluster = Cluster::new(vec![far], vec![claim("c", vec![count("r", 1)])]);
    assert_eq!(answer(&cluster), "does not fit");
}

// Constraints.

#[test]
fn distinct_values_differ_from_all_others() {
    let devices: Vec<_> = [1, 2, 1, 3]
        .into_iter()
        .enumerate()
        .map(|(i, n)| device(&format!("d{i}"), &[("n", Attribute::Int(n))]))
        .collect();
    let ask = |requests| {
        let claim = distinct(claim("c", requests), "drv/n", &[]);
        answer(&Cluster::new(
            vec![slice("s", "p", devices.clone())],
            vec![claim],
        ))
    };
    assert_eq!(ask(vec![count("r", 3)]), "r:p/d0 r:p/d1 r:p/d3");
    assert_eq!(ask(vec![count("r", 4)]), "does not fit");
    assert_eq!(
        ask(vec![count("r", 2), count("s", 1)]),
        "r:p/d0 r:p/d1 s:p/d3"
    );
    let missing = distinct(claim("c", vec![count("r", 1)]), "drv/m", &[]);
    let cluster = Cluster::new(vec![slice("s", "p", devices.clone())], vec![missing]);
    assert_eq!(answer(&cluster), "does not fit");
}

#[test]
fn lists_must_have_something_in_common_or_nothing() {
    let letters = |values: &str| {
        let values: Vec<_> = values.chars().map(|c| text(&c.to_string())).collect();
        match values.as_slice() {
            [single] => single.clone(),
            many => list(many),
        }
    };
    let with = |values: &[&str], constrain: &dyn Fn(crate::api::ResourceClaim) -> _| {
        let devices = values
            .iter()
            .enumerate()
            .map(|(i, values)| device(&format!("d{i}"), &[("m", letters(values))]))
            .collect();
        let claim = constrain(claim("c", vec![count("r", 2)]));
        answer(&Cluster::new(vec![slice("s", "p", devices)], vec![claim]))
    };
    let equal = |claim| matching(claim, "drv/m", &[]);
    assert_eq!(with(&["ab", "bc"], &equal), "r:p/d0 r:p/d1");
    assert_eq!(with(&["a", "ab"], &equal), "r:p/d0 r:p/d1");
    assert_eq!(with(&["ab", "cd"], &equal), "does not fit");
    assert_eq!(with(&["ab", "cd", "bd"], &equal), "r:p/d0 r:p/d2");
    let three = |claim: crate::api::ResourceClaim| {
        let mut claim = matching(claim, "drv/m", &[]);
        claim.requests.push(count("s", 1));
        claim
    };
    // Pairwise something in common is not enough, and what the first two had is forgotten with the second.
    assert_eq!(with(&["ab", "bc", "ac"], &three), "does not fit");
    assert_eq!(
        with(&["ab", "bc", "ac", "a"], &three),
        "r:p/d0 r:p/d2 s:p/d3"
    );
    let different = |claim| distinct(claim, "drv/m", &[]);
    assert_eq!(with(&["ab", "bc", "cd"], &different), "r:p/d0 r:p/d2");
    assert_eq!(with(&["ab", "bc", "ca"], &different), "does not fit");
}

// Pools.

#[test]
fn all_devices_of_a_pool_that_spans_nodes() {
    let own = slice("own", "p", devices(1));
    let far = elsewhere("far", vec![device("far", &[])]);
    let ask = |slices| answer(&Cluster::new(slices, vec![claim("c", vec![all("r")])]));
    assert_eq!(ask(of_two(vec![own.clone(), far])), "r:p/d0");
    let missing = ResourceSlice {
        resource_slice_count: 2,
        ..own
    };
    assert_eq!(
        ask(vec![missing]),
        "error: claim ns/c, request r: asks for all devices, but resource pool drv/p is currently being updated"
    );
}

/// Eight equal devices are wanted where there are three of each kind, after many others: that takes long.
#[test]
fn a_search_that_takes_too_long_is_an_error_not_a_refusal() {
    let devices: Vec<_> = (0..60)
        .map(|i| {
            device(
                &format!("d{i}"),
                &[("n", Attribute::Int(i / 3)), ("m", Attribute::Int(i % 20))],
            )
        })
        .collect();
    let requests = (0..5).map(|i| count(&format!("r{i}"), 4)).collect();
    let asks = matching(claim("c", requests), "drv/n", &["r3", "r4"]);
    let cluster = Cluster::new(vec![slice("s", "p", devices)], vec![asks]);
    let (inventory, profile) = (cluster.inventory(), Profile::current());
    let fits = |is_late: bool| {
        let claims = cluster
            .claims
            .iter()
            .cloned()
            .map(std::rc::Rc::new)
            .collect();
        let mut allocator = crate::allocator::Allocator::new(claims);
        let mut lookup = |name: &str| cluster.find_class(name).cloned().map(std::rc::Rc::new);
        let looks = std::cell::Cell::new(0);
        let clock = || {
            looks.set(looks.get() + 1);
            is_late
        };
        let limits = Limits {
            steps: 50_000,
            is_late: Some(&clock),
        };
        let mut stub = Stub::default();
        let found = allocator.fits(
            &cluster.node,
            &inventory,
            &mut lookup,
            &mut stub,
            &profile,
            limits,
        );
        (found, looks.get())
    };
    assert_eq!(fits(true), (Err(Outcome::Error(TIMED_OUT.into())), 1));
    let (found, looks) = fits(false);
    assert!(
        matches!(found, Err(Outcome::BudgetExhausted(_))),
        "{found:?}"
    );
    assert_eq!(looks, 50_000 / 4_096);
}
