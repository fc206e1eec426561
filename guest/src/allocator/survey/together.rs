//! Where each request and each constraint by itself could be satisfied: which of them, and which counters, cannot be had
//! together (spec section 9.5, KEP 4815). Found by the search itself, asked again with parts left out; what remains is not
//! possible, and becomes possible as soon as any one of its parts is given up.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Answer, ClaimQuestions, Fate, Survey};
use crate::allocator::lists::Lists;
use crate::allocator::pools::NodePools;
use crate::allocator::pruning::HARD;
use crate::allocator::requests::Plan;
use crate::allocator::search::Search;
use crate::allocator::{Cluster, Selectors};
use crate::api::{Node, RequestBody, ResourceClaim};
use crate::profile::Profile;

/// Devices that one search may visit.
const STEPS: u64 = 20_000;
/// What a search costs beside that, in the same measure.
const FIXED: u64 = 64;
/// More than all devices take together.
const PLENTY: i128 = i128::MAX / 2;

/// A claim that is to be allocated.
pub(crate) struct Asked<'a> {
    pub claim: &'a ResourceClaim,
    pub questions: &'a ClaimQuestions,
    pub answers: &'a [Answer],
}

/// What cannot be had together. Claims are counted as they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Together {
    /// Claim and index of the request in it.
    pub requests: Vec<(usize, usize)>,
    /// Claim and index of the constraint in it.
    pub constraints: Vec<(usize, usize)>,
    pub counters: Vec<Shared>,
    /// How many devices these requests want at least.
    pub needed: u64,
    /// How many they can have; `None` if that is not known.
    pub most: Option<u64>,
}

/// A counter for which devices compete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// As [`Survey::counter`] counts.
    pub number: u32,
    /// Devices that the requests could have and that take of it.
    pub devices: Vec<usize>,
    /// The smallest and the largest amount that one of them takes, in billionths.
    pub takes: (i128, i128),
    /// How much more of it would do, if only what is told here mattered; 0 if that is not known.
    pub short: i128,
}

/// What may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Constraint(usize, usize),
    Counter(u32),
    Request(usize, usize),
}

impl Survey {
    /// What cannot be had together on the node, beside requests and constraints that are impossible by themselves. `None`:
    /// nothing, or nobody knows. What the searches cost is taken from `steps`.
    pub(crate) fn together(
        &self,
        asked: &[Asked<'_>],
        cluster: Cluster<'_, '_, '_, '_, '_, impl Selectors>,
        profile: &Profile,
        steps: &mut u64,
    ) -> Option<Together> {
        let node: &Node = cluster.0;
        let mut pools = NodePools::default();
        pools.gather(node, cluster.1, profile).ok()?;
        let mut left_out = BTreeSet::new();
        for (number, one) in asked.iter().enumerate() {
            if one.answers.len() != one.questions.requests.len() {
                return None;
            }
            let groups = one.groups().filter(|group| one.viable(*group).count() == 0);
            left_out.extend(groups.map(|group| Part::Request(number, group)));
            for index in 0..one.questions.constraints.len() {
                let found = self.conflict(one.questions, index, one.answers, cluster.1, profile)?;
                if found.blocks {
                    left_out.insert(Part::Constraint(number, index));
                }
            }
        }
        let mut trials = Trials {
            asked,
            pools,
            cluster,
            profile,
            left_out,
            steps,
        };
        if trials.fits(None)? {
            return None;
        }
        for parts in trials.parts() {
            trials.reduce(parts)?;
        }
        let found = self.describe(&mut trials);
        (!found.requests.is_empty()).then_some(found)
    }

    fn describe(&self, trials: &mut Trials<'_, '_, '_, '_, '_, '_, impl Selectors>) -> Together {
        let mut found = Together::default();
        for part in trials.parts().into_iter().flatten() {
            match part {
                Part::Constraint(claim, index) => found.constraints.push((claim, index)),
                Part::Request(claim, group) => found.requests.push((claim, group)),
                Part::Counter(number) => found.counters.push(Shared {
                    number,
                    devices: Vec::new(),
                    takes: (0, 0),
                    short: 0,
                }),
            }
        }
        let wants = found.requests.iter();
        let wants = wants.map(|(claim, group)| trials.asked[*claim].wants(*group));
        found.needed = wants.fold(0, u64::saturating_add);
        found.most = self.most(trials, &found);
        for shared in &mut found.counters {
            let devices = self.devices(trials.asked, &found.requests, |fate| {
                matches!(fate, Fate::Free | Fate::Counter(..))
            });
            for position in devices {
                let mut amounts = self.pools.counters.needed_by(position).iter();
                let taken =
                    amounts.find(|(counter, amount)| *counter == shared.number && *amount > 0);
                let Some((_, amount)) = taken else { continue };
                let (least, most) = match shared.devices.as_slice() {
                    [] => (*amount, *amount),
                    _ => shared.takes,
                };
                shared.takes = (least.min(*amount), most.max(*amount));
                shared.devices.push(position);
            }
        }
        for shared in &mut found.counters {
            let taken = shared.devices.iter().filter_map(|at| {
                let mut amounts = self.pools.counters.needed_by(*at).iter();
                let taken = amounts.find(|(counter, _)| *counter == shared.number);
                taken.map(|(_, amount)| *amount)
            });
            let taken: Vec<i128> = taken.collect();
            shared.short = trials.short_of(shared.number, &taken).unwrap_or(0);
        }
        found
    }

    /// Devices of some requests, each once.
    fn devices(
        &self,
        asked: &[Asked<'_>],
        requests: &[(usize, usize)],
        is_meant: impl Fn(&Fate) -> bool,
    ) -> BTreeSet<usize> {
        let mut devices = BTreeSet::new();
        for (claim, group) in requests {
            for answer in asked[*claim].viable(*group) {
                let fates = answer.fates.iter().enumerate();
                let meant = fates.filter(|(_, fate)| is_meant(fate));
                devices.extend(
                    meant.map(|(position, _)| self.pools.candidates[position].first as usize),
                );
            }
        }
        devices
    }

    /// How many devices can be had: by asking for fewer, or where that follows.
    fn most(
        &self,
        trials: &mut Trials<'_, '_, '_, '_, '_, '_, impl Selectors>,
        found: &Together,
    ) -> Option<u64> {
        if let [(claim, group)] = found.requests.as_slice() {
            return trials.largest(*claim, *group);
        }
        let asked = trials.asked;
        let of_all = |wanted: u64| {
            let mut requests = found.requests.iter();
            requests.all(|(claim, group)| {
                let one = &asked[*claim];
                one.viable(*group).all(|answer| answer.takes == wanted)
            })
        };
        // One of them less, and the rest can be had.
        if of_all(1) {
            return found.needed.checked_sub(1);
        }
        let admin = found.requests.iter().any(|(claim, group)| {
            let questions = asked[*claim].questions.requests.iter();
            questions
                .filter(|one| one.group == *group)
                .any(|one| one.admin)
        });
        if admin || !found.constraints.is_empty() || !found.counters.is_empty() {
            return None;
        }
        let suit = self.devices(asked, &found.requests, |fate| *fate == Fate::Free);
        Some(suit.len() as u64).filter(|suit| *suit < found.needed)
    }
}

impl Asked<'_> {
    fn groups(&self) -> std::ops::Range<usize> {
        0..self.claim.requests.len()
    }

    /// What the alternatives of a request found that are not impossible by themselves.
    fn viable(&self, group: usize) -> impl Iterator<Item = &Answer> {
        let answers = self.questions.requests.iter().zip(self.answers);
        let answers =
            answers.filter(move |(one, answer)| one.group == group && answer.missing == 0);
        answers.map(|(_, answer)| answer)
    }

    /// How many devices a request wants at least.
    fn wants(&self, group: usize) -> u64 {
        let wanted = self.viable(group).map(|answer| answer.takes);
        wanted.min().unwrap_or(0)
    }
}

/// Euclid's; of positive numbers.
fn common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The search, with parts left out.
struct Trials<'a, 'n, 'i, 'c, 'l, 's, S> {
    asked: &'a [Asked<'a>],
    pools: NodePools,
    cluster: Cluster<'n, 'i, 'c, 'l, 's, S>,
    profile: &'a Profile,
    left_out: BTreeSet<Part>,
    steps: &'a mut u64,
}

impl<S: Selectors> Trials<'_, '_, '_, '_, '_, '_, S> {
    /// What is left in: constraints, counters, requests.
    fn parts(&self) -> [Vec<Part>; 3] {
        let claims = || self.asked.iter().enumerate();
        let constraints = claims().flat_map(|(number, one)| {
            let all = 0..one.questions.constraints.len();
            all.map(move |index| Part::Constraint(number, index))
        });
        // Where not even nothing can be taken, more would not help.
        let counters = self.pools.counters.available.iter().enumerate();
        let counters = counters.filter(|(_, left)| **left >= 0);
        let counters = counters.map(|(counter, _)| Part::Counter(counter as u32));
        let requests = claims().flat_map(|(number, one)| {
            let all = one.groups();
            all.map(move |group| Part::Request(number, group))
        });
        let left_in = |part: &Part| !self.left_out.contains(part);
        [
            constraints.filter(left_in).collect(),
            counters.filter(left_in).collect(),
            requests.filter(left_in).collect(),
        ]
    }

    /// Leaves out of these all without which the rest is still impossible: by halves, the last first.
    fn reduce(&mut self, parts: Vec<Part>) -> Option<()> {
        let mut open = vec![parts.as_slice()];
        while let Some(parts) = open.pop() {
            if parts.is_empty() {
                continue;
            }
            self.left_out.extend(parts);
            if !self.fits(None)? {
                continue;
            }
            for part in parts {
                self.left_out.remove(part);
            }
            if parts.len() > 1 {
                let (first, second) = parts.split_at(parts.len() / 2);
                open.extend([first, second]);
            }
        }
        Some(())
    }

    /// How many devices a request can have that has no alternatives.
    fn largest(&mut self, claim: usize, group: usize) -> Option<u64> {
        let (mut fits, mut too_many) = (0, self.asked[claim].wants(group));
        while too_many > fits + 1 {
            let middle = fits + (too_many - fits) / 2;
            match self.fits(Some((claim, group, middle)))? {
                true => fits = middle,
                false => too_many = middle,
            }
        }
        let body = &self.asked[claim].claim.requests[group].body;
        (matches!(body, RequestBody::Exactly(_)) && too_many > fits).then_some(fits)
    }

    /// How much more of a counter would do, given what each device takes of it: all of them together is enough, and what would
    /// do is a sum of some of them.
    fn short_of(&mut self, counter: u32, taken: &[i128]) -> Option<i128> {
        let unit = taken.iter().copied().reduce(common_divisor)?;
        let left = *self.pools.counters.available.get(counter as usize)?;
        let sum = taken.iter().copied().fold(0, i128::saturating_add);
        let (mut too_little, mut enough) = (left / unit, sum / unit);
        while enough > too_little + 1 {
            let middle = too_little + (enough - too_little) / 2;
            self.pools.counters.available[counter as usize] = middle * unit;
            let fits = self.fits(None);
            self.pools.counters.available[counter as usize] = left;
            match fits? {
                true => enough = middle,
                false => too_little = middle,
            }
        }
        Some((enough * unit).saturating_sub(left)).filter(|short| *short > 0)
    }

    /// Whether what is left in can be had; with another count for one request. `None`: nobody knows.
    fn fits(&mut self, count: Option<(usize, usize, u64)>) -> Option<bool> {
        let cost = FIXED + self.pools.candidates.len() as u64;
        *self.steps = self.steps.checked_sub(cost)?;
        let steps = STEPS.min(*self.steps);
        let claims = self.asked.iter().enumerate();
        let claims: Vec<Rc<ResourceClaim>> = claims
            .map(|(number, one)| Rc::new(self.without(number, one.claim, count)))
            .collect();
        let given = self.pools.counters.available.clone();
        for part in &self.left_out {
            if let Part::Counter(counter) = part {
                self.pools.counters.available[*counter as usize] = PLENTY;
            }
        }
        let (_, inventory, classes, selectors) = &mut self.cluster;
        let selectors = &mut **selectors;
        let plan = Plan::new(&claims, *classes, selectors, self.profile);
        let mut search = Search {
            plan: &plan,
            pools: &self.pools,
            inventory,
            profile: self.profile,
            selectors,
            lists: &mut Lists::default(),
            steps_left: steps,
            is_late: None,
            places_tried: 0,
            hard_at: steps.checked_sub(HARD),
            admin_holds: !self.profile.admin_access_in_results(),
            admin_marks: self.profile.admin_access_excludes_own_devices(),
        };
        let found = search.check().and_then(|()| search.run(&mut ()));
        *self.steps -= steps - search.steps_left;
        self.pools.counters.available = given;
        found.ok()
    }

    /// A claim without what is left out.
    fn without(
        &self,
        number: usize,
        claim: &ResourceClaim,
        count: Option<(usize, usize, u64)>,
    ) -> ResourceClaim {
        let mut claim = claim.clone();
        if let Some((_, group, count)) = count.filter(|(claim, ..)| *claim == number)
            && let Some(RequestBody::Exactly(exact)) =
                claim.requests.get_mut(group).map(|one| &mut one.body)
        {
            "ExactCount".clone_into(&mut exact.allocation_mode);
            exact.count = i64::try_from(count).unwrap_or(i64::MAX);
        }
        let mut index = 0..;
        claim.requests.retain(|_| {
            let part = Part::Request(number, index.next().unwrap_or_default());
            !self.left_out.contains(&part)
        });
        let mut index = 0..;
        claim.constraints.retain(|_| {
            let part = Part::Constraint(number, index.next().unwrap_or_default());
            !self.left_out.contains(&part)
        });
        claim
    }
}
