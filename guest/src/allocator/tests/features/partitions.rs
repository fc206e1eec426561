//! Partitionable devices: counters that they share, and nodes of their own.

use super::*;

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
