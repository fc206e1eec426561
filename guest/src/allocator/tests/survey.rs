//! What the survey says about random clusters against what the search decides about them: they cannot disagree.

use std::rc::Rc;

use super::support::*;
use super::{matrix, random};
use crate::allocator::survey::{Answer, ClaimQuestions, Conflict, Fate, Survey};
use crate::allocator::{Allocator, DEFAULT_STEPS, Outcome, TIMED_OUT};
use crate::api::{Attribute, DeviceResult, RequestBody};
use crate::profile::Profile;

/// Claims, what each request finds, what each constraint finds.
struct Told {
    survey: Survey,
    claims: Vec<ClaimQuestions>,
    answers: Vec<Vec<Answer>>,
    conflicts: Vec<Vec<Conflict>>,
}

fn told(cluster: &Cluster, profile: &Profile) -> Option<Told> {
    let (inventory, mut selectors) = (cluster.inventory(), Stub::default());
    let mut survey = Survey::new(profile);
    survey.gather(&cluster.node, &inventory, profile).ok()?;
    let mut classes = |name: &str| cluster.find_class(name).cloned().map(Rc::new);
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
    Some(Told {
        survey,
        claims,
        answers,
        conflicts,
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

/// One request of one claim, and at most one constraint. Of `All` in 1.31 the survey says less than there is to know.
fn is_simple(cluster: &Cluster, profile: &Profile) -> bool {
    let [claim] = cluster.claims.as_slice() else {
        return false;
    };
    let [request] = claim.requests.as_slice() else {
        return false;
    };
    let is_known = match &request.body {
        RequestBody::Exactly(exact) => {
            exact.allocation_mode == "ExactCount" || profile.all_mode_refuses_devices_in_use()
        }
        RequestBody::FirstAvailable(_) => false,
    };
    // How many lists are pairwise disjoint is a search of its own.
    let mut attributes = cluster.slices.iter().flat_map(|slice| &slice.devices);
    let mut attributes = attributes
        .by_ref()
        .flat_map(|device| device.attributes.iter());
    let has_lists = attributes.any(|(_, value)| matches!(value, Attribute::List(_)));
    let is_open = match claim.constraints.as_slice() {
        [] => false,
        [one] => has_lists && one.distinct_attribute.is_some(),
        _ => true,
    };
    // So is what devices that share counters leave to one another.
    let has_counters = cluster
        .slices
        .iter()
        .any(|slice| !slice.counters.is_empty());
    is_known && !is_open && !has_counters
}

#[derive(Debug, Default)]
struct Seen {
    cases: u32,
    found: u32,
    hopeless: u32,
    blocked: u32,
    simple: u32,
    bad_pools: u32,
    errors: u32,
}

fn compare(cluster: &Cluster, profile: &Profile, case: &str, seen: &mut Seen) {
    let Some(told) = told(cluster, profile) else {
        return;
    };
    let mut allocator = Allocator::new(cluster.claims.iter().cloned().map(Rc::new).collect());
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
    match &outcome {
        Outcome::Allocated(results) => {
            seen.found += 1;
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
        Outcome::DoesNotFit | Outcome::InvalidPools if is_simple(cluster, profile) => {
            seen.simple += 1;
            assert!(hopeless, "{case}: nothing says why: {cluster:#?}");
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
        }
    }
    eprintln!("{seen:?}");
    assert!(seen.cases > 10_000, "{seen:?}");
    let kinds = [
        seen.found,
        seen.hopeless,
        seen.blocked,
        seen.simple,
        seen.bad_pools,
        seen.errors,
    ];
    assert!(kinds.iter().all(|count| *count > 100), "{seen:?}");
}
