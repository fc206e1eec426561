//! Random small clusters from seeds: the allocator against the oracle, and properties that relate runs.

use fastrand::Rng;

use super::oracle;
use super::support::*;
use crate::allocator::{DEFAULT_STEPS, Inventory};
use crate::api::{Attribute, Device, DeviceRequest, Reach, ResourceClaim, ResourceSlice};
use crate::profile::Profile;

/// What the generator may use.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Failing selectors, All, admin access, incomplete and repeated things.
    wild: bool,
    devices: usize,
    requests: usize,
    count: i64,
    claims: usize,
}

pub const WILD: Shape = Shape {
    wild: true,
    devices: 6,
    requests: 3,
    count: 3,
    claims: 2,
};
/// Only exact counts, only selectors that cannot fail.
pub const TAME: Shape = Shape {
    wild: false,
    ..WILD
};

/// How many clusters; `DRACTL_SEEDS` asks for more.
fn seeds() -> u64 {
    let given = std::env::var("DRACTL_SEEDS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

pub fn cluster(seed: u64, shape: Shape) -> Cluster {
    let mut rng = Rng::with_seed(seed);
    let mut cluster = Cluster::new(slices(&mut rng, shape), Vec::new())
        .class(class("has-n", &["has n"]))
        .class(class("drv", &["driver=drv"]));
    if shape.wild {
        cluster = cluster
            .class(class("fails", &["has m", "n=1"]))
            .class(class("broken", &["has n", "broken"]));
    }
    cluster.claims = (0..rng.usize(1..=shape.claims))
        .map(|i| random_claim(&mut rng, shape, i))
        .collect();
    for slice in cluster.slices.clone() {
        for device in slice.devices {
            if rng.f32() < 0.2 {
                let name = format!("{}/{}/{}", slice.driver, slice.pool, device.name);
                cluster = if rng.f32() < 0.3 {
                    cluster.held_by_admin(&name)
                } else {
                    cluster.held(&name)
                };
            }
        }
    }
    cluster
}

fn slices(rng: &mut Rng, shape: Shape) -> Vec<ResourceSlice> {
    let mut left = rng.usize(1..=shape.devices);
    let mut slices = Vec::new();
    while left > 0 {
        let count = rng.usize(1..=left);
        left -= count;
        let first = if shape.wild && rng.f32() < 0.15 {
            0
        } else {
            slices.len() * 10
        };
        let devices = (0..count)
            .map(|i| random_device(rng, shape, first + i))
            .collect();
        let driver = if rng.f32() < 0.75 { "drv" } else { "oth" };
        slices.push(ResourceSlice {
            driver: driver.into(),
            generation: if shape.wild && rng.f32() < 0.15 { 2 } else { 1 },
            reach: random_reach(rng),
            ..slice(
                ["d", "b", "a", "c"][rng.usize(0..4)],
                ["p", "q"][rng.usize(0..2)],
                devices,
            )
        });
    }
    complete(&mut slices);
    for slice in &mut slices {
        if shape.wild && rng.f32() < 0.1 {
            slice.resource_slice_count = rng.i64(0..4);
        }
    }
    slices
}

fn random_reach(rng: &mut Rng) -> Reach {
    match rng.u32(0..20) {
        0 => Reach::NodeName("n2".into()),
        1..3 => Reach::AllNodes,
        3..5 => Reach::NodeSelector(selector(&[("zone", &["a", "b"])])),
        5 => Reach::NodeSelector(selector(&[("zone", &["b"])])),
        6 => Reach::Nowhere,
        _ => Reach::NodeName("n1".into()),
    }
}

fn random_device(rng: &mut Rng, shape: Shape, number: usize) -> Device {
    let mut attributes = Vec::new();
    if rng.f32() < 0.85 {
        attributes.push(("n", Attribute::Int(rng.i64(1..=2))));
    }
    if rng.f32() < 0.8 {
        attributes.push(("m", text(["a", "b"][rng.usize(0..2)])));
    }
    if rng.f32() < 0.1 {
        attributes.push(("drv/n", Attribute::Int(rng.i64(1..=2))));
    }
    if shape.wild && rng.f32() < 0.03 {
        attributes.push(("drv/m", Attribute::Unknown));
    }
    let usable = !(shape.wild && rng.f32() < 0.05);
    Device {
        usable,
        ..device(&format!("d{number}"), &attributes)
    }
}

fn random_claim(rng: &mut Rng, shape: Shape, number: usize) -> ResourceClaim {
    let requests: Vec<_> = (0..rng.usize(1..=shape.requests))
        .map(|i| random_request(rng, shape, i))
        .collect();
    let mut claim = claim(&format!("c{number}"), requests);
    while rng.f32() < 0.4 {
        let names: &[&str] = [
            &[][..],
            &["r0"],
            &["r1"],
            &["r0", "r1"],
            &["r2", "zz"],
            &["zz"],
        ][rng.usize(0..6)];
        claim = matching(
            claim,
            ["drv/n", "drv/m", "n", "oth/n"][rng.usize(0..4)],
            names,
        );
    }
    claim
}

fn random_request(rng: &mut Rng, shape: Shape, number: usize) -> DeviceRequest {
    let name = format!("r{number}");
    let mut request = if shape.wild && rng.f32() < 0.25 {
        all(&name)
    } else {
        count(&name, rng.i64(0..=shape.count))
    };
    if shape.wild && rng.f32() < 0.2 {
        request = admin(request);
    }
    let classes: &[&str] = if shape.wild {
        &["any", "any", "any", "has-n", "drv", "fails", "broken"]
    } else {
        &["any", "has-n", "drv"]
    };
    request = of_class(request, classes[rng.usize(0..classes.len())]);
    let selectors: &[&str] = if shape.wild {
        &[
            "true",
            "has m",
            "has n",
            "n=1",
            "m=a",
            "driver=drv",
            "false",
        ]
    } else {
        &["true", "has m", "has n", "driver=drv"]
    };
    let chosen: Vec<&str> = (0..rng.usize(0..3))
        .map(|_| selectors[rng.usize(0..selectors.len())])
        .collect();
    select(request, &chosen)
}

#[test]
fn equal_to_the_oracle() {
    let mut seen = std::collections::BTreeMap::<String, u64>::new();
    let (mut steps_saved, mut deepest) = (0, 0);
    for seed in 0..seeds() {
        for profile in [Profile::v1_31(), Profile::current()] {
            let cluster = cluster(seed, if seed % 4 == 0 { TAME } else { WILD });
            let (expected, visits, steps) =
                oracle::compare(&cluster, &profile, u64::MAX, seed).expect("no limit");
            let kind = match expected.split_once(": ") {
                Some(("error", text)) => text
                    .rsplit(": ")
                    .next()
                    .unwrap_or_default()
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_string(),
                _ if expected.contains(':') => "found".into(),
                _ => expected.clone(),
            };
            *seen.entry(kind).or_default() += 1;
            steps_saved += visits.saturating_sub(steps);
            deepest = deepest.max(visits);
        }
    }
    eprintln!("{seen:?}, steps saved {steps_saved}, deepest {deepest}");
    // The generator reaches what it is for.
    for kind in [
        "found",
        "does not fit",
        "invalid pools",
        "stop",
        "m",
        "n",
        "does",
        "asks",
        "cannot",
    ] {
        assert!(
            seen.get(kind).is_some_and(|count| *count > 20),
            "{kind} is rare: {seen:?}"
        );
    }
    assert!(
        deepest > 2_000 && steps_saved > 10_000,
        "{deepest} {steps_saved}"
    );
}

/// More requests and more devices of few kinds, so that the search has to backtrack a lot and passes over many devices; where
/// the oracle takes too long, the case is left out.
#[test]
fn equal_to_the_oracle_with_many_alike() {
    let (mut compared, mut left_out, mut saved) = (0, 0, 0);
    for seed in 0..seeds() / 2 {
        let wild = seed % 3 == 0;
        let shape = Shape {
            wild,
            devices: 9,
            requests: 4,
            count: 4,
            claims: 3,
        };
        let mut cluster = cluster(seed, shape);
        let mut rng = Rng::with_seed(seed);
        for claim in &mut cluster.claims {
            if rng.bool() {
                *claim = matching(claim.clone(), "drv/n", &[]);
            }
        }
        for profile in [Profile::v1_31(), Profile::current()] {
            let Some((_, visits, steps)) = oracle::compare(&cluster, &profile, 20_000, seed) else {
                left_out += 1;
                continue;
            };
            compared += 1;
            saved += u32::from(visits > 4 * steps);
        }
    }
    assert!(
        saved > 100 && compared > 20 * left_out,
        "compared {compared}, left out {left_out}, saved much {saved}"
    );
}

/// Found by a long run: an admin request visits a device that another claim picked, so that devices are alike for it only if
/// it knows both or neither.
#[test]
fn an_admin_request_visits_a_picked_device() {
    let attributes = [("n", Attribute::Int(2))];
    let three = ["d0", "d1", "d2"]
        .map(|name| device(name, &attributes))
        .to_vec();
    let requests = vec![
        select(count("r0", 2), &["true"]),
        admin(select(count("r1", 1), &["n=1"])),
    ];
    let claims = vec![
        claim("c0", vec![select(count("r0", 1), &["has n"])]),
        claim("c1", requests),
    ];
    let cluster = Cluster::new(vec![slice("s", "p", three)], claims);
    let profile = Profile::current();
    let (expected, evaluations, _) =
        oracle::answer(&cluster, &profile, u64::MAX).expect("no limit");
    let (outcome, log, _) = cluster.run(&profile, DEFAULT_STEPS);
    assert_eq!((short(&outcome), log), (expected, evaluations));
}

/// What is evaluated ahead, or remembered, changes no answer, and no error is seen too early or too late.
#[test]
fn equal_to_the_oracle_when_more_is_known() {
    for seed in 0..seeds() / 2 {
        let shape = Shape {
            devices: 8,
            requests: 4,
            count: 4,
            ..WILD
        };
        let cluster = cluster(seed, shape);
        for profile in [Profile::v1_31(), Profile::current()] {
            let Some((expected, _, _)) = oracle::answer(&cluster, &profile, 20_000) else {
                continue;
            };
            check_with_knowledge(&cluster, &profile, seed, &expected);
        }
    }
}

/// A device that is published twice, with two contents: the first one counts, also if only the second is remembered.
#[test]
fn of_a_repeated_device_the_first_content_counts() {
    let of = |name: &str, n| device(name, &[("n", Attribute::Int(n))]);
    let devices = vec![of("d0", 1), of("d0", 2), of("d1", 2), of("d2", 2)];
    let request = select(count("r", 2), &["n=2"]);
    let cluster = simple(devices, vec![request]);
    for seed in 0..32 {
        check_with_knowledge(&cluster, &Profile::v1_31(), seed, "r:p/d1 r:p/d2");
    }
}

#[test]
fn slots_and_arrival_order_do_not_matter() {
    for seed in 0..seeds() / 8 {
        let cluster = cluster(seed, WILD);
        // Slices with equal names are ordered by slot, which no cluster has.
        let mut names: Vec<_> = cluster
            .slices
            .iter()
            .map(|slice| (&slice.driver, &slice.pool, &slice.name))
            .collect();
        names.sort();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            continue;
        }
        let mut rng = Rng::with_seed(seed);
        let mut shuffled = cluster.clone();
        rng.shuffle(&mut shuffled.slices);
        rng.shuffle(&mut shuffled.held);
        for profile in [Profile::v1_31(), Profile::current()] {
            assert_eq!(
                shuffled.answer(&profile),
                cluster.answer(&profile),
                "seed {seed}: {cluster:#?}"
            );
        }
    }
}

#[test]
fn an_index_with_a_history_equals_a_fresh_one() {
    let mut inventory = Inventory::default();
    for seed in 0..seeds() / 8 {
        let cluster = cluster(seed, WILD);
        let mut rng = Rng::with_seed(seed);
        if rng.u32(0..20) == 0 {
            inventory.clear_slices();
        }
        for slot in 0..8_u32 {
            match cluster.slices.get(slot as usize) {
                Some(slice) => inventory.put(slot, slice.clone()),
                None => inventory.remove(slot),
            }
        }
        for i in 0..8 {
            let uid = format!("held-{i}");
            match cluster.held.get(i) {
                Some(held) => inventory.set_stored(&uid, Some(held)),
                None => inventory.remove_stored(&uid),
            }
        }
        for profile in [Profile::v1_31(), Profile::current()] {
            let mut allocator = cluster.allocator();
            let mut selectors = Stub::default();
            for _ in 0..2 {
                let outcome = cluster.attempt(
                    &mut allocator,
                    &inventory,
                    &mut selectors,
                    &profile,
                    DEFAULT_STEPS,
                );
                assert_eq!(
                    short(&outcome),
                    cluster.answer(&profile),
                    "seed {seed}: {cluster:#?}"
                );
            }
        }
    }
}

#[test]
fn another_device_never_hurts() {
    let mut helped = 0;
    for seed in 0..seeds() / 4 {
        let before = cluster(seed, TAME);
        let mut after = before.clone();
        let mut rng = Rng::with_seed(seed);
        let slot = rng.usize(0..after.slices.len());
        let device = random_device(&mut rng, TAME, 99);
        after.slices[slot].devices.push(device);
        for profile in [Profile::v1_31(), Profile::current()] {
            let refused = ["does not fit", "invalid pools"];
            let (before, after) = (before.answer(&profile), after.answer(&profile));
            let fits = |answer: &str| !refused.contains(&answer);
            assert!(
                !fits(&before) || fits(&after),
                "seed {seed}: {before} -> {after}"
            );
            helped += u32::from(!fits(&before) && fits(&after));
        }
    }
    assert!(helped > 20, "{helped}");
}

#[test]
fn one_constraint_less_never_hurts() {
    for seed in 0..seeds() / 4 {
        let before = cluster(seed, TAME);
        let mut after = before.clone();
        for claim in &mut after.claims {
            claim.constraints.pop();
        }
        for profile in [Profile::v1_31(), Profile::current()] {
            let fits = |cluster: &Cluster| cluster.answer(&profile) != "does not fit";
            assert!(!fits(&before) || fits(&after), "seed {seed}");
        }
    }
}
