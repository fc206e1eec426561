//! What the survey says about random clusters against what the search decides about them: they cannot disagree.

use fastrand::Rng;

use super::support::*;
use super::{matrix, oracle, random};
use crate::allocator::survey::{Answer, Asked, ClaimQuestions, Conflict, Fate, Survey, Together};
use crate::allocator::{DEFAULT_STEPS, Outcome, TIMED_OUT};
use crate::api::{Attribute, DeviceResult, RequestBody};
use crate::profile::Profile;

/// Claims, what each request finds, what each constraint finds.
struct Told {
    survey: Survey,
    claims: Vec<ClaimQuestions>,
    answers: Vec<Vec<Answer>>,
    conflicts: Vec<Vec<Conflict>>,
    together: Option<Together>,
}

fn told(cluster: &Cluster, profile: &Profile) -> Option<Told> {
    let (inventory, mut selectors) = (cluster.inventory(), Stub::default());
    let mut survey = Survey::new(profile);
    survey.gather(&cluster.node, &inventory, profile).ok()?;
    let mut classes = cluster.lookup();
    let claims = cluster.claims.iter();
    let claims: Vec<_> = claims
        .map(|claim| ClaimQuestions::new(claim, &mut classes, &mut selectors, profile))
        .collect();
    let mut answers = Vec::new();
    let mut conflicts = Vec::new();
    for claim in &claims {
        let asked = claim.requests.iter();
        let found: Vec<Answer> = asked
            .map(|question| survey.answer(claim, question, &inventory, &mut selectors, profile))
            .collect();
        let constraints = 0..claim.constraints.len();
        conflicts.push(
            constraints
                .filter_map(|i| survey.conflict(claim, i, &found, &inventory, profile))
                .collect(),
        );
        answers.push(found);
    }
    let asked = cluster.claims.iter().zip(&claims).zip(&answers);
    let asked: Vec<Asked<'_>> = asked
        .map(|((claim, questions), answers)| Asked {
            claim,
            questions,
            answers,
        })
        .collect();
    let mut classes = cluster.lookup();
    let whole: crate::allocator::Cluster<'_, '_, '_, '_, '_, _> =
        (&cluster.node, &inventory, &mut classes, &mut selectors);
    let together = survey.together(&asked, whole, profile, &mut u64::MAX.clone());
    Some(Told {
        survey,
        claims,
        answers,
        conflicts,
        together,
    })
}

impl Told {
    /// Whether the survey by itself says that the node is impossible.
    fn is_hopeless(&self) -> bool {
        let short = self
            .claims
            .iter()
            .zip(&self.answers)
            .any(|(claim, answers)| {
                let asked: Vec<_> = claim.requests.iter().zip(answers).collect();
                let mut groups = asked.chunk_by(|a, b| a.0.group == b.0.group);
                groups.any(|group| group.iter().all(|(_, answer)| answer.missing > 0))
            });
        short
            || self
                .conflicts
                .iter()
                .flatten()
                .any(|conflict| conflict.blocks)
    }

    /// Whether a search can end in an error, after which nobody knows whether there is a solution.
    fn may_fail(&self) -> bool {
        let answers = self.answers.iter().flatten();
        let mut fates = answers.flat_map(|answer| &answer.fates);
        fates.any(|fate| matches!(fate, Fate::SelectorError(..)))
    }

    fn fate_of(&self, cluster: &Cluster, claim: usize, result: &DeviceResult) -> Vec<&Fate> {
        let inventory = cluster.inventory();
        let asked = self.claims[claim].requests.iter().zip(&self.answers[claim]);
        let (_, answer) = asked
            .into_iter()
            .find(|(question, _)| question.name == result.request)
            .expect("results name requests");
        let is_it = |position: &usize| {
            let found = self.survey.found(*position, &inventory);
            found.slice.driver == result.driver
                && found.slice.pool == result.pool
                && found.device.name == result.device
        };
        let positions = (0..self.survey.looked()).filter(is_it);
        positions.map(|position| &answer.fates[position]).collect()
    }
}

/// What the oracle says when of all that cannot be had together this is left: whether there is a solution.
fn is_possible(
    cluster: &Cluster,
    told: &Told,
    kept: &Together,
    count: Option<u64>,
    more: Option<(u32, i128)>,
) -> bool {
    let (inventory, mut left) = (cluster.inventory(), cluster.clone());
    for (number, claim) in left.claims.iter_mut().enumerate() {
        let mut index = 0..;
        claim.requests.retain(|_| {
            kept.requests
                .contains(&(number, index.next().expect("endless")))
        });
        let mut index = 0..;
        claim.constraints.retain(|_| {
            kept.constraints
                .contains(&(number, index.next().expect("endless")))
        });
        if let ([request], Some(count)) = (claim.requests.as_mut_slice(), count) {
            exact(request).allocation_mode = "ExactCount".into();
            exact(request).count = count as i64;
        }
    }
    let mut number = 0;
    while let Some(facts) = told.survey.counter(number, &inventory) {
        number += 1;
        let is_kept = kept.counters.iter().any(|kept| kept.number == number - 1);
        let plenty = 1_000_000_000_000;
        let more = match more.filter(|(counter, _)| *counter == number - 1) {
            Some((_, more)) => more,
            None if is_kept || facts.left.is_none() => continue,
            None => plenty,
        };
        let of_pool = left
            .slices
            .iter_mut()
            .filter(|slice| format!("{}/{}", slice.driver, slice.pool) == facts.pool);
        let sets = of_pool.flat_map(|slice| &mut slice.counters);
        for set in sets.filter(|set| set.name == facts.set) {
            let counters = set.counters.iter_mut();
            counters
                .filter(|(name, _)| *name == facts.name)
                .for_each(|(_, total)| *total += more);
        }
    }
    let (answer, ..) = oracle::answer(&left, &Profile::current(), u64::MAX).expect("no limit");
    !matches!(answer.as_str(), "does not fit" | "invalid pools")
}

/// What cannot be had together cannot, and can as soon as anything of it is given up.
fn check_together(cluster: &Cluster, told: &Told, found: &Together, case: &str) {
    let possible = |kept: &Together, count| is_possible(cluster, told, kept, count, None);
    for shared in found.counters.iter().filter(|shared| shared.short > 0) {
        let with = |more| is_possible(cluster, told, found, None, Some((shared.number, more)));
        assert!(with(shared.short), "{case}: {found:?} {cluster:#?}");
        assert!(!with(shared.short - 1), "{case}: {found:?} {cluster:#?}");
    }
    assert!(!possible(found, None), "{case}: {found:?} {cluster:#?}");
    for part in 0..found.requests.len() {
        let mut less = found.clone();
        less.requests.remove(part);
        assert!(
            possible(&less, None),
            "{case}: without request {part}: {found:?} {cluster:#?}"
        );
    }
    for part in 0..found.constraints.len() {
        let mut less = found.clone();
        less.constraints.remove(part);
        assert!(
            possible(&less, None),
            "{case}: without constraint {part}: {found:?} {cluster:#?}"
        );
    }
    for part in 0..found.counters.len() {
        let mut less = found.clone();
        less.counters.remove(part);
        assert!(
            possible(&less, None),
            "{case}: with counter {part}: {found:?} {cluster:#?}"
        );
    }
    let [(claim, request)] = found.requests.as_slice() else {
        return;
    };
    let is_plain = matches!(
        cluster.claims[*claim].requests[*request].body,
        RequestBody::Exactly(_)
    );
    if let Some(most) = found.most.filter(|_| is_plain) {
        assert!(
            possible(found, Some(most)),
            "{case}: {found:?} {cluster:#?}"
        );
        assert!(
            !possible(found, Some(most + 1)),
            "{case}: {found:?} {cluster:#?}"
        );
    }
}

/// In 1.31 `All` requests leave out what they cannot have (D2) and end the attempt otherwise, so that nobody can say what they
/// would take.
fn leaves_out(cluster: &Cluster, profile: &Profile) -> bool {
    let mut requests = cluster.claims.iter().flat_map(|claim| &claim.requests);
    !profile.all_mode_refuses_devices_in_use()
        && requests.any(|request| match &request.body {
            RequestBody::Exactly(exact) => exact.allocation_mode == "All",
            RequestBody::FirstAvailable(alternatives) => alternatives
                .iter()
                .any(|(_, exact)| exact.allocation_mode == "All"),
        })
}

#[derive(Debug, Default)]
struct Seen {
    cases: u32,
    found: u32,
    hopeless: u32,
    blocked: u32,
    nearest: u32,
    together: u32,
    counters: u32,
    constraints: u32,
    several: u32,
    most: u32,
    short: u32,
    bad_pools: u32,
    errors: u32,
}

/// With the devices that would complete a group the constraint is in nobody's way any more.
fn check_nearest(cluster: &Cluster, profile: &Profile, given: &Told, case: &str) -> u32 {
    let inventory = cluster.inventory();
    let mut seen = 0;
    // What a device takes of counters that are overdrawn is not looked at as long as it is in use.
    if cluster
        .slices
        .iter()
        .any(|slice| !slice.counters.is_empty())
    {
        return seen;
    }
    for (claim, conflicts) in given.conflicts.iter().enumerate() {
        for (index, conflict) in conflicts.iter().enumerate() {
            let Some(nearest) = &conflict.nearest else {
                continue;
            };
            let names = nearest.in_use.iter();
            let names: Vec<String> = names
                .map(|position| given.survey.found(*position, &inventory).to_string())
                .collect();
            let mut freed = cluster.clone();
            for held in &mut freed.held {
                held.results.retain(|one| {
                    let name = format!("{}/{}/{}", one.driver, one.pool, one.device);
                    !names.contains(&name)
                });
            }
            let after = told(&freed, profile).expect("as before");
            assert!(
                conflict.blocks || conflict.largest < conflict.needed,
                "{case}"
            );
            assert!(
                !after.conflicts[claim][index].blocks,
                "{case}: {nearest:?} {cluster:#?}"
            );
            seen += 1;
        }
    }
    seen
}

fn compare(cluster: &Cluster, profile: &Profile, case: &str, seen: &mut Seen) {
    let Some(told) = told(cluster, profile) else {
        return;
    };
    let mut allocator = cluster.allocator();
    let inventory = cluster.inventory();
    let mut selectors = Stub::default();
    let outcome = cluster.attempt(
        &mut allocator,
        &inventory,
        &mut selectors,
        profile,
        DEFAULT_STEPS,
    );
    seen.cases += 1;
    let hopeless = told.is_hopeless();
    seen.hopeless += u32::from(hopeless);
    let blocks = told
        .conflicts
        .iter()
        .flatten()
        .any(|conflict| conflict.blocks);
    seen.blocked += u32::from(blocks);
    seen.nearest += check_nearest(cluster, profile, &told, case);
    match &outcome {
        Outcome::Allocated(results) => {
            seen.found += 1;
            assert_eq!(told.together, None, "{case}: it is allocated: {cluster:#?}");
            assert!(
                !hopeless,
                "{case}: it is allocated: {outcome:?} {:?} {:?} {:?} {:?}",
                told.answers, told.conflicts, cluster.claims, cluster.held
            );
            for (claim, result) in results.iter().enumerate() {
                for device in &result.results {
                    let fates = told.fate_of(cluster, claim, device);
                    assert!(
                        fates.contains(&&Fate::Free),
                        "{case}: {device:?} {fates:?}: {cluster:#?}"
                    );
                }
            }
        }
        Outcome::DoesNotFit | Outcome::InvalidPools => {
            let Some(found) = &told.together else {
                let is_known = hopeless || told.may_fail() || leaves_out(cluster, profile);
                assert!(is_known, "{case}: nothing says why: {cluster:#?}");
                return;
            };
            seen.together += 1;
            seen.counters += u32::from(!found.counters.is_empty());
            seen.constraints += u32::from(found.constraints.len() > 1);
            seen.several += u32::from(found.requests.len() > 1);
            seen.most += u32::from(found.most.is_some());
            seen.short += u32::from(found.counters.iter().any(|shared| shared.short > 0));
            if *profile == Profile::current() {
                check_together(cluster, &told, found, case);
            }
        }
        Outcome::BadPool(_) => {
            seen.bad_pools += 1;
            let mut answers = told.answers.iter().flatten();
            assert!(
                answers.any(|answer| answer.bad_pool.is_some()),
                "{case}: {cluster:#?}"
            );
        }
        Outcome::Error(text) if text.contains("selector #") => {
            seen.errors += 1;
            let mut fates = told
                .answers
                .iter()
                .flatten()
                .flat_map(|answer| &answer.fates);
            let fails = |fate: &Fate| match fate {
                Fate::SelectorError(_, message) => text.ends_with(message.as_str()),
                _ => false,
            };
            assert!(fates.any(fails), "{case}: {text}: {cluster:#?}");
        }
        Outcome::Error(text) => assert_ne!(text, TIMED_OUT, "{case}"),
        _ => {}
    }
}

/// Small clusters in which every device matches, so that only constraints, other requests, and counters or other claims are in
/// the way.
fn tight(seed: u64) -> Cluster {
    let mut rng = Rng::with_seed(seed);
    let is_counted = !seed.is_multiple_of(3);
    let devices = (0..rng.usize(3..=6)).map(|i| {
        let letter = ["a", "b"][rng.usize(0..2)];
        let attributes = [("n", Attribute::Int(rng.i64(1..=2))), ("m", text(letter))];
        let device = device(&format!("d{i}"), &attributes);
        match rng.u32(0..6) {
            _ if !is_counted => device,
            0 => device,
            1 => consuming(device, "t", &[("c", rng.i64(1..=3))]),
            _ => consuming(device, "s", &[("c", rng.i64(1..=3)), ("d", rng.i64(0..=2))]),
        }
    });
    let mut slice = slice("s", "p", devices.collect());
    let mut total = || rng.i64(3..=8);
    let sets = [
        counter_set("s", &[("c", total()), ("d", total())]),
        counter_set("t", &[("c", total())]),
    ];
    slice
        .counters
        .extend(sets.into_iter().filter(|_| is_counted));
    let claims = (0..rng.usize(1..=2)).map(|i| {
        let requests = 0..rng.usize(1..=2);
        let requests = requests.map(|i| count(&format!("r{i}"), rng.i64(1..=3)));
        let mut claim = claim(&format!("c{i}"), requests.collect());
        while rng.f32() < 0.6 {
            let attribute = ["drv/n", "drv/m"][rng.usize(0..2)];
            claim = match rng.bool() {
                true => matching(claim, attribute, &[]),
                false => distinct(claim, attribute, &[]),
            };
        }
        claim
    });
    let claims = claims.collect();
    let cluster = Cluster::new(vec![slice.clone()], claims);
    let held = slice.devices.iter().filter(|_| !is_counted && rng.bool());
    held.fold(cluster, |cluster, device| {
        cluster.held(&format!("drv/p/{}", device.name))
    })
}

#[test]
fn the_survey_agrees_with_the_search() {
    let mut seen = Seen::default();
    for seed in 0..2_600 {
        for profile in [Profile::v1_31(), Profile::current()] {
            let minor = profile.minor();
            let shape = if seed % 4 == 0 {
                random::TAME
            } else {
                random::WILD
            };
            let cluster = random::cluster(seed, shape);
            compare(
                &cluster,
                &profile,
                &format!("random {seed}, {minor}"),
                &mut seen,
            );
            let cluster = matrix::cluster(seed);
            compare(
                &cluster,
                &profile,
                &format!("matrix {seed}, {minor}"),
                &mut seen,
            );
            let case = format!("tight {seed}, {minor}");
            compare(&tight(seed), &profile, &case, &mut seen);
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.cases > 10_000, "{seen:?}");
    let kinds = [
        seen.found,
        seen.hopeless,
        seen.blocked,
        seen.nearest,
        seen.together,
        seen.counters,
        seen.constraints,
        seen.several,
        seen.most,
        seen.short,
        seen.bad_pools,
        seen.errors,
    ];
    assert!(kinds.iter().all(|count| *count > 100), "{seen:?}");
}
