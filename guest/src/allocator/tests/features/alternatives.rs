//! Prioritized lists.

use super::*;

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
    let cluster = |more| simple(devices(3), ask(more));
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
    let cluster = |second| simple(devices(60), ask(second));
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
    let cluster = |count| simple(devices(count), requests.clone());
    let (outcome, _, steps) = cluster(3).run(&Profile::current(), DEFAULT_STEPS);
    assert_eq!(short(&outcome), "does not fit");
    assert!(steps < 10_000, "{steps}");
    assert_eq!(
        answer(&cluster(4)),
        "r0/a7:p/d0 r1/a7:p/d1 r2/a7:p/d2 r3/a7:p/d3"
    );
}
