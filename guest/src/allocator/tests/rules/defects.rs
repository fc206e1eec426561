//! What 1.31 got wrong (D1 to D9).

use super::*;

#[test]
fn d1_all_applies_class_selectors() {
    let request = of_class(all("r"), "none");
    simple(devices(2), vec![request, count("x", 0)])
        .class(class("none", &["false"]))
        .check("r:p/d0 r:p/d1", "does not fit");
    let request = of_class(all("r"), "first");
    let two = one_and_two();
    simple(two, vec![request])
        .class(class("first", &["n=1"]))
        .check("r:p/d0 r:p/d1", "r:p/d0");
}

#[test]
fn d2_all_refuses_devices_in_use() {
    let cluster = simple(devices(3), vec![all("r")]);
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
    Cluster::new(vec![old.clone(), new("b", 1)], ask()).check(BEING_UPDATED, "r:p/d0");
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
    Cluster::new(vec![old.clone(), new("b", 2)], ask()).check("r:p/d0", BEING_UPDATED);
    let admin_ask = vec![claim("c", vec![admin(all("r"))])];
    Cluster::new(vec![old, new("b", 2)], admin_ask).check("r:p/d0 r:p/d0", BEING_UPDATED);
}

#[test]
fn d4_all_backtracks() {
    // The request after All cannot be satisfied.
    let requests = vec![all("r0"), count("r1", 1)];
    simple(devices(2), requests).check("error: stop allocation", "does not fit");
    // Backtracking into the request before All finds the solution: r0 takes d0 first, which r1 wants.
    let mixed = one_and_two();
    let requests = vec![count("r0", 1), select(all("r1"), &["n=1"])];
    simple(mixed.clone(), requests.clone()).check("r0:p/d0", "r0:p/d1 r1:p/d0");
    // What All took is undone.
    let requests = vec![
        count("r0", 1),
        select(all("r1"), &["n=2"]),
        select(count("r2", 1), &["n=1"]),
    ];
    simple([mixed, numbered(&["d2"], 3)].concat(), requests)
        .check("error: stop allocation", "r0:p/d2 r1:p/d1 r2:p/d0");
}

#[test]
fn d4_a_refusing_constraint_stays_an_error() {
    let mixed = one_and_two();
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
    Cluster::new(pair(1), vec![claim("c", vec![all("r")])]).check("r:p/d0", INVALID);
    Cluster::new(pair(1), vec![claim("c", vec![admin(all("r"))])]).check("r:p/d0 r:p/d0", INVALID);
    Cluster::new(pair(1), vec![claim("c", vec![count("r", 1)])]).check("r:p/d0", "invalid pools");
    Cluster::new(pair(1), vec![claim("c", vec![count("r", 2)])])
        .check("does not fit", "invalid pools");
    let mut with_other = pair(1);
    with_other.push(slice("c", "q", devices(1)));
    Cluster::new(with_other, vec![claim("c", vec![count("r", 1)])]).check("r:p/d0", "r:q/d0");
    // The repetition may be on another node.
    let mut apart = pair(1);
    apart[1].reach = Reach::NodeName("n2".into());
    Cluster::new(apart, vec![claim("c", vec![all("r")])]).check(BEING_UPDATED, "r:p/d0");
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
    simple(devices(1), vec![count("r", 1)])
        .held_by_admin("drv/p/d0")
        .check("does not fit", "r:p/d0");
    let cluster = simple(devices(1), vec![admin(count("r", 1))]);
    assert!(!cluster.allocation(&Profile::v1_31()).results[0].admin_access);
    assert!(cluster.allocation(&Profile::current()).results[0].admin_access);
}

#[test]
fn d7_admin_requests_do_not_repeat_a_device() {
    let cluster = |requests| simple(devices(2), requests);
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
    let cluster = |requests| simple(devices(1), requests);
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
