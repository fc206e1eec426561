//! What a constraint finds: which values the free devices have, and whether any would do (spec section 9.5, KEPs 5075 and
//! 5491). Everything here is an upper bound of what a search can find: other constraints and requests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::questions::value_of;
use super::{Answer, ClaimQuestions, Fate, Survey};
use crate::allocator::constraints::Constraint;
use crate::allocator::inventory::Inventory;
use crate::api::Attribute;
use crate::go_quote::quoted;
use crate::profile::Profile;

/// Devices with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// `None`: without a value.
    pub value: Option<String>,
    pub free: usize,
    /// For each covered request.
    pub by_request: Vec<usize>,
}

/// What a constraint finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Indices of the requests that are covered.
    pub covered: Vec<usize>,
    pub needed: u64,
    /// The largest first.
    pub groups: Vec<Group>,
    pub largest: u64,
    pub blocks: bool,
    /// The value that comes nearest, if devices in use are all that it lacks.
    pub nearest: Option<Nearest>,
}

/// A value that some devices in use would complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    pub value: String,
    /// How many devices it offers now.
    pub have: u64,
    /// Devices with this value that are in use.
    pub in_use: Vec<usize>,
}

/// Devices by value: for each covered request those that it could get, as numbers of which equal devices share one.
type ByValue = BTreeMap<String, Vec<BTreeSet<u32>>>;

/// A covered request.
struct Covered<'a> {
    index: usize,
    group: usize,
    answer: &'a Answer,
    /// It may get one device again and again.
    may_repeat: bool,
}

impl Survey {
    /// What constraint number `index` of a claim finds, given what its requests found. `None`: it is of an unsupported type.
    pub(crate) fn conflict(
        &self,
        claim: &ClaimQuestions,
        index: usize,
        answers: &[Answer],
        inventory: &Inventory,
        profile: &Profile,
    ) -> Option<Conflict> {
        let constraint = claim.constraints.get(index)?.as_ref()?;
        let covered = covered(claim, constraint, answers, profile);
        let needed = needed(claim, &covered);
        let (values, without, alone) = self.by_value(constraint, index, &covered, inventory);
        // What another constraint would say of devices that are in use is not asked.
        let nearest = match constraint.is_distinct() || claim.constraints.len() > 1 {
            true => None,
            false => self.nearest(constraint, (&covered, needed), &values, inventory),
        };
        // A value of unknown kind, or an empty list, gets along with nothing; as the only device it will do.
        let nothing = if constraint.is_distinct() {
            alone as u64
        } else {
            u64::from(alone > 0)
        };
        let largest = if constraint.is_distinct() {
            values.len() as u64 + nothing
        } else {
            let offers = values.values().map(|devices| offer(&covered, devices));
            offers.max().unwrap_or(0).max(nothing)
        };
        let is_open = constraint.is_distinct() && covered.iter().any(|one| one.may_repeat);
        let mut groups: Vec<Group> = values
            .into_iter()
            .map(|(value, devices)| group(Some(value), &devices))
            .collect();
        if without.iter().any(|devices| !devices.is_empty()) {
            groups.push(group(None, &without));
        }
        groups.sort_by(|a, b| b.free.cmp(&a.free).then_with(|| a.value.cmp(&b.value)));
        Some(Conflict {
            covered: covered.iter().map(|one| one.index).collect(),
            needed,
            groups,
            largest,
            blocks: largest < needed && !is_open,
            nearest: nearest.filter(|_| largest < needed),
        })
    }

    /// The value for which the fewest devices have to become free.
    fn nearest(
        &self,
        constraint: &Constraint,
        (covered, needed): (&[Covered<'_>], u64),
        free: &ByValue,
        inventory: &Inventory,
    ) -> Option<Nearest> {
        let mut all = ByValue::new();
        let mut in_use: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for (place, one) in covered.iter().enumerate() {
            for (position, fate) in one.answer.fates.iter().enumerate() {
                if *fate != Fate::InUse {
                    continue;
                }
                let value = value_of(constraint, self.found(position, inventory));
                for text in value.map(texts).unwrap_or_default() {
                    let first = self.pools.candidates[position].first;
                    let devices = all.entry(text.clone()).or_insert_with(|| {
                        let none = || vec![BTreeSet::new(); covered.len()];
                        free.get(&text).cloned().unwrap_or_else(none)
                    });
                    devices[place].insert(first);
                    in_use.entry(text).or_default().insert(first as usize);
                }
            }
        }
        let enough = all
            .iter()
            .filter(|(_, devices)| offer(covered, devices) >= needed);
        let nearest = enough.map(|(value, _)| Nearest {
            have: free.get(value).map_or(0, |devices| offer(covered, devices)),
            in_use: in_use[value].iter().copied().collect(),
            value: value.clone(),
        });
        nearest.min_by_key(|nearest| std::cmp::Reverse(nearest.have))
    }

    /// Devices by value, those without, and how many have a value that agrees with none.
    fn by_value(
        &self,
        constraint: &Constraint,
        index: usize,
        covered: &[Covered<'_>],
        inventory: &Inventory,
    ) -> (ByValue, Vec<BTreeSet<u32>>, usize) {
        let mut values = ByValue::new();
        let mut without = vec![BTreeSet::new(); covered.len()];
        let mut alone = BTreeSet::new();
        for (place, one) in covered.iter().enumerate() {
            for (position, fate) in one.answer.fates.iter().enumerate() {
                let first = self.pools.candidates[position].first;
                match fate {
                    Fate::ConstraintAlone(refusing) if *refusing == index => {
                        without[place].insert(first);
                    }
                    Fate::Free => {
                        let value = value_of(constraint, self.found(position, inventory));
                        let texts = value.map(texts).unwrap_or_default();
                        if texts.is_empty() {
                            alone.insert(first);
                            without[place].insert(first);
                        }
                        for text in texts {
                            let devices = values
                                .entry(text)
                                .or_insert_with(|| vec![BTreeSet::new(); covered.len()]);
                            devices[place].insert(first);
                        }
                    }
                    _ => {}
                }
            }
        }
        (values, without, alone.len())
    }
}

fn covered<'a>(
    claim: &ClaimQuestions,
    constraint: &Constraint,
    answers: &'a [Answer],
    profile: &Profile,
) -> Vec<Covered<'a>> {
    let questions = claim.requests.iter().zip(answers).enumerate();
    let covered = questions.filter_map(|(index, (question, answer))| {
        let is_covered = match &question.request {
            Ok(request) => constraint.covers(request.name_ids),
            Err(_) => false,
        };
        is_covered.then(|| Covered {
            index,
            group: question.group,
            answer,
            may_repeat: question.admin && !profile.admin_access_excludes_own_devices(),
        })
    });
    covered.collect()
}

/// How many devices are tied together at least.
fn needed(claim: &ClaimQuestions, covered: &[Covered<'_>]) -> u64 {
    let groups = groups(covered);
    let least = groups.map(|range| {
        let members = &covered[range];
        let group = members[0].group;
        let alternatives = claim
            .requests
            .iter()
            .filter(|one| one.group == group)
            .count();
        let least = members.iter().map(|one| one.answer.takes).min();
        // Another alternative is not covered.
        if members.len() < alternatives {
            0
        } else {
            least.unwrap_or(0)
        }
    });
    least.fold(0, u64::saturating_add)
}

/// Ranges of covered requests that are alternatives to one another.
fn groups<'a>(covered: &'a [Covered<'_>]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut start = 0;
    covered
        .chunk_by(|a, b| a.group == b.group)
        .map(move |group| {
            let range = start..start + group.len();
            start = range.end;
            range
        })
}

/// How many of the devices with one value the requests could get together.
fn offer(covered: &[Covered<'_>], devices: &[BTreeSet<u32>]) -> u64 {
    let of_one = |index: usize| {
        let (one, free) = (&covered[index], devices[index].len() as u64);
        let offered = if one.may_repeat && free > 0 {
            u64::MAX
        } else {
            free
        };
        offered.min(one.answer.takes)
    };
    let by_group = groups(covered).map(|range| range.map(of_one).max().unwrap_or(0));
    let sum = by_group.fold(0, u64::saturating_add);
    if covered.iter().any(|one| one.may_repeat) {
        return sum;
    }
    sum.min(union(devices) as u64)
}

fn union(devices: &[BTreeSet<u32>]) -> usize {
    devices.iter().flatten().collect::<BTreeSet<_>>().len()
}

fn group(value: Option<String>, devices: &[BTreeSet<u32>]) -> Group {
    Group {
        value,
        free: union(devices),
        by_request: devices.iter().map(BTreeSet::len).collect(),
    }
}

/// The values, as CEL writes them. Versions are compared as they are written.
fn texts(value: &Attribute) -> Vec<String> {
    match value {
        Attribute::List(values) => values.iter().filter_map(text_of).collect(),
        other => text_of(other).into_iter().collect(),
    }
}

/// A single value, as CEL writes it.
pub(crate) fn text_of(value: &Attribute) -> Option<String> {
    match value {
        Attribute::Int(value) => Some(value.to_string()),
        Attribute::Bool(value) => Some(value.to_string()),
        Attribute::String(value) => Some(quoted(value)),
        Attribute::Version(value) => Some(format!("semver({})", quoted(value))),
        Attribute::List(_) | Attribute::Unknown => None,
    }
}
