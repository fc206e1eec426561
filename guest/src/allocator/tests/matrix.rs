//! Random clusters with every feature at once, against the oracle: taints and rules, counters, lists, alternatives, All, admin
//! access, constraints of both kinds, nodes chosen per device. Upstream's faults of late are in such combinations.

use std::collections::BTreeMap;

use fastrand::Rng;

use super::oracle;
use super::support::*;
use crate::api::{
    Attribute, Device, DeviceRequest, DeviceTaintRule, Reach, ResourceClaim, ResourceSlice,
    TaintEffect, TaintSelector,
};
use crate::profile::Profile;

/// How many clusters; `DRACTL_SEEDS` asks for more.
fn seeds() -> u64 {
    let given = std::env::var("DRACTL_SEEDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(20_000)
}

fn one_of<'a, T: ?Sized>(rng: &mut Rng, values: &[&'a T]) -> &'a T {
    values[rng.usize(0..values.len())]
}

fn chance(rng: &mut Rng, probability: f32) -> bool {
    rng.f32() < probability
}

/// Which features a cluster uses; each is absent often enough that the others are seen by themselves.
struct Uses {
    taints: bool,
    counters: bool,
    lists: bool,
    alternatives: bool,
    all: bool,
    admin: bool,
    constraints: bool,
    per_device: bool,
    failing: bool,
}

pub fn cluster(seed: u64) -> Cluster {
    let mut rng = Rng::with_seed(seed);
    let mut used = || chance(&mut rng, 0.6);
    let uses = Uses {
        taints: used(),
        counters: used(),
        lists: used(),
        alternatives: used(),
        all: used(),
        admin: used(),
        constraints: used(),
        per_device: used(),
        failing: used(),
    };
    let slices = slices(&mut rng, &uses);
    let mut cluster = Cluster::new(slices, Vec::new())
        .class(class("has-n", &["has n"]))
        .class(class("m-a", &["has m", "m=a"]))
        .class(class("fails", &["n=1"]));
    let claims = if chance(&mut rng, 0.3) { 2 } else { 1 };
    let mut left = rng.usize(1..=3);
    for i in 0..claims {
        let requests = if i + 1 == claims {
            left
        } else {
            left.div_ceil(2)
        };
        left -= requests;
        if requests > 0 {
            cluster
                .claims
                .push(random_claim(&mut rng, &uses, i, requests));
        }
    }
    if uses.taints && chance(&mut rng, 0.4) {
        cluster.rules.push(random_rule(&mut rng));
    }
    for slice in cluster.slices.clone() {
        for device in &slice.devices {
            if chance(&mut rng, 0.15) {
                let name = format!("{}/{}/{}", slice.driver, slice.pool, device.name);
                cluster = match chance(&mut rng, 0.3) {
                    true => cluster.held_by_admin(&name),
                    false => cluster.held(&name),
                };
            }
        }
    }
    if chance(&mut rng, 0.05) {
        cluster = cluster.held("drv/p/gone");
    }
    cluster
}

fn slices(rng: &mut Rng, uses: &Uses) -> Vec<ResourceSlice> {
    let mut left = rng.usize(1..=6);
    let mut slices = Vec::new();
    while left > 0 {
        let count = rng.usize(1..=left);
        left -= count;
        let first = slices.len() * 10;
        let per_device = uses.per_device && chance(rng, 0.5);
        let devices = (0..count)
            .map(|i| random_device(rng, uses, first + i, per_device))
            .collect();
        slices.push(ResourceSlice {
            driver: one_of(rng, &["drv", "drv", "drv", "oth"]).into(),
            reach: match (per_device, rng.u32(0..8)) {
                (true, _) => Reach::PerDevice,
                (false, 0) => Reach::NodeName("n2".into()),
                (false, 1) => Reach::AllNodes,
                _ => Reach::NodeName("n1".into()),
            },
            generation: 1 + i64::from(chance(rng, 0.04)),
            ..slice(
                &format!("s{}", slices.len()),
                one_of(rng, &["p", "p", "q"]),
                devices,
            )
        });
    }
    if uses.counters {
        add_counters(rng, &mut slices);
    }
    complete(&mut slices);
    for slice in &mut slices {
        slice.resource_slice_count += i64::from(chance(rng, 0.03));
    }
    slices
}

/// Gives the pools counters, in slices of their own or together with devices, and rarely not those that devices need.
fn add_counters(rng: &mut Rng, slices: &mut Vec<ResourceSlice>) {
    for device in slices.iter_mut().flat_map(|slice| &mut slice.devices) {
        if chance(rng, 0.7) {
            let name = one_of(rng, &["s", "s", "t"]);
            let amounts = [("c", rng.i64(0..4)), ("d", rng.i64(0..3))];
            let amounts = &amounts[..rng.usize(1..=2)];
            *device = consuming(device.clone(), name, amounts);
        }
    }
    let pools: std::collections::BTreeSet<_> = slices
        .iter()
        .map(|slice| (slice.driver.clone(), slice.pool.clone(), slice.generation))
        .collect();
    for (i, (driver, pool, generation)) in pools.into_iter().enumerate() {
        let mut sets = vec![
            counter_set("s", &[("c", rng.i64(0..8)), ("d", rng.i64(0..6))]),
            counter_set("t", &[("c", rng.i64(0..8)), ("d", rng.i64(0..6))]),
        ];
        if chance(rng, 0.03) {
            sets.pop();
        }
        if chance(rng, 0.02) {
            sets.push(sets[0].clone());
        }
        if chance(rng, 0.4) {
            let same = |slice: &&mut ResourceSlice| {
                (&slice.driver, &slice.pool, slice.generation) == (&driver, &pool, generation)
            };
            if let Some(slice) = slices.iter_mut().find(same) {
                slice.counters = sets;
            }
            continue;
        }
        slices.push(ResourceSlice {
            driver,
            generation,
            counters: sets,
            reach: match rng.u32(0..4) {
                0 => Reach::AllNodes,
                1 => Reach::NodeName("n2".into()),
                2 => Reach::PerDevice,
                _ => Reach::NodeName("n1".into()),
            },
            ..slice(&format!("counters-{i}"), &pool, Vec::new())
        });
    }
}

fn random_device(rng: &mut Rng, uses: &Uses, number: usize, per_device: bool) -> Device {
    let mut attributes = Vec::new();
    if chance(rng, 0.9) {
        attributes.push(("n", Attribute::Int(rng.i64(1..=3))));
    }
    let letters: &[&str] = if uses.lists {
        &["a", "b", "c"]
    } else {
        &["a", "b"]
    };
    if chance(rng, 0.85) {
        let value = if uses.lists && chance(rng, 0.7) {
            let values: Vec<_> = (0..rng.usize(1..=3))
                .map(|_| text(one_of(rng, letters)))
                .collect();
            list(&values)
        } else {
            text(one_of(rng, letters))
        };
        attributes.push(("m", value));
    }
    if uses.failing && chance(rng, 0.05) {
        attributes.push(("drv/m", Attribute::Unknown));
    }
    let mut device = device(&format!("d{number}"), &attributes);
    if uses.taints && chance(rng, 0.4) {
        let effects = [
            TaintEffect::NoSchedule,
            TaintEffect::NoExecute,
            TaintEffect::None,
        ];
        let effect = effects[rng.usize(0..3)];
        device = tainted(device, one_of(rng, &["k", "l"]), effect);
    }
    if per_device {
        extra(&mut device).reach = Some(match rng.u32(0..6) {
            0 => Reach::NodeName("n2".into()),
            1 => Reach::AllNodes,
            2 => Reach::NodeSelector(selector(&[("zone", &["a"])])),
            3 => Reach::NodeSelector(selector(&[("zone", &["b"])])),
            _ => Reach::NodeName("n1".into()),
        });
    }
    device
}

fn random_rule(rng: &mut Rng) -> DeviceTaintRule {
    let mut maybe = |name: &str| chance(rng, 0.5).then(|| name.to_string());
    let selector = TaintSelector {
        driver: maybe("drv"),
        pool: maybe("p"),
        device: maybe("d0"),
    };
    DeviceTaintRule {
        name: "rule".into(),
        selector: chance(rng, 0.8).then_some(selector),
        taint: taint("k", TaintEffect::NoSchedule),
    }
}

fn random_claim(rng: &mut Rng, uses: &Uses, number: usize, requests: usize) -> ResourceClaim {
    let requests: Vec<_> = (0..requests)
        .map(|i| {
            let name = format!("r{i}");
            if !uses.alternatives || chance(rng, 0.4) {
                return random_request(rng, uses, &name, 3);
            }
            let alternatives = (0..rng.usize(1..=3))
                .map(|i| {
                    // Sometimes far more than a claim may get.
                    let most = if chance(rng, 0.15) { 40 } else { 3 };
                    random_request(rng, uses, &format!("a{i}"), most)
                })
                .collect();
            first_of(&name, alternatives)
        })
        .collect();
    let mut claim = claim(&format!("c{number}"), requests);
    while uses.constraints && chance(rng, 0.5) {
        let names: &[&str] = [
            &[][..],
            &["r0"],
            &["r1/a0", "r0"],
            &["r0/a0", "r1/a1"],
            &["r2", "zz"],
        ][rng.usize(0..5)];
        let attribute = one_of(rng, &["drv/n", "drv/m", "drv/m", "oth/n"]);
        claim = match chance(rng, 0.5) {
            true => matching(claim, attribute, names),
            false => distinct(claim, attribute, names),
        };
    }
    claim
}

fn random_request(rng: &mut Rng, uses: &Uses, name: &str, most: i64) -> DeviceRequest {
    let mut request = if uses.all && chance(rng, 0.3) {
        all(name)
    } else {
        count(name, if most > 3 { most } else { rng.i64(0..=most) })
    };
    // Alternatives have no admin access.
    if uses.admin && name.starts_with('r') && chance(rng, 0.3) {
        request = admin(request);
    }
    let classes: &[&str] = match uses.failing {
        true => &["any", "any", "has-n", "m-a", "fails"],
        false => &["any", "any", "has-n"],
    };
    request = of_class(request, one_of(rng, classes));
    let selectors: &[&str] = match uses.failing {
        true => &["true", "has m", "n=1", "driver=drv"],
        false => &["true", "has m", "has n", "driver=drv"],
    };
    let chosen: Vec<&str> = (0..rng.usize(0..2))
        .map(|_| one_of(rng, selectors))
        .collect();
    request = select(request, &chosen);
    while uses.taints && chance(rng, 0.3) {
        request = tolerating(request, one_of(rng, &["k", "l", ""]));
    }
    request
}

/// What the oracle's answer is, in a word.
fn kind_of(answer: &str) -> &'static str {
    match answer {
        "does not fit" => "refused",
        "invalid pools" => "invalid",
        _ if answer.contains("a claim constraint would not") => "constraint on all",
        _ if answer.contains("asks for all devices") => "bad pool",
        _ if answer.starts_with("error: ") => "error",
        _ if answer.contains('/') && answer.contains("/a") => "alternative",
        _ => "found",
    }
}

#[test]
fn the_matrix_of_features_is_equal_to_the_oracle() {
    let mut seen = BTreeMap::<&str, u64>::new();
    let profile = Profile::current();
    for seed in 0..seeds() {
        let cluster = cluster(seed);
        let (expected, ..) = oracle::compare(&cluster, &profile, u64::MAX, seed).expect("no limit");
        *seen.entry(kind_of(&expected)).or_default() += 1;
    }
    eprintln!("{seen:?}");
    for kind in [
        "found",
        "alternative",
        "refused",
        "invalid",
        "constraint on all",
        "bad pool",
        "error",
    ] {
        let least = seeds() / 1_000;
        assert!(
            seen.get(kind).is_some_and(|count| *count > least),
            "{kind} is rare: {seen:?}"
        );
    }
}

/// What is evaluated ahead, or remembered, changes no answer.
#[test]
fn the_matrix_of_features_is_equal_to_the_oracle_when_more_is_known() {
    let profile = Profile::current();
    for seed in 0..seeds() / 4 {
        let cluster = cluster(seed);
        let (expected, _, _) = oracle::answer(&cluster, &profile, u64::MAX).expect("no limit");
        check_with_knowledge(&cluster, &profile, seed, &expected);
    }
}
