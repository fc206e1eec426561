//! Taints, tolerations, and rules that taint.

use super::*;

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
        let mut allocator = cluster.allocator();
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
