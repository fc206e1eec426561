//! Takes what is not needed away from changes that together make a pod fit, in several orders of preference: what is left
//! are remedies of which no part can be left out.

use std::collections::{BTreeMap, BTreeSet};

use crate::stand_ins::change::{Change, Objects};

use super::candidates::{Candidate, Class};
use super::trial::{Bench, Trial};
use super::{Ways, first};

/// How many remedies are told of one node.
const REMEDIES: usize = 4;
/// How many candidates of a kind are tried alone.
const ALONE: usize = 12;
/// How many combinations of ways are tried before another way is told.
const COMBINATIONS: usize = 8;

/// Of one node: all candidates together are known to be enough.
pub struct Search<'s, 'b> {
    bench: &'s mut Bench<'b>,
    objects: &'s Objects,
    candidates: Vec<Candidate>,
    known: BTreeMap<Vec<Change>, bool>,
}

/// Changes, each by the number of its candidate.
type Set = Vec<(usize, Change)>;

impl<'s, 'b> Search<'s, 'b> {
    /// Nothing is left out yet.
    pub fn new(bench: &'s mut Bench<'b>, objects: &'s Objects, candidates: Vec<Candidate>) -> Self {
        Self {
            bench,
            objects,
            candidates,
            known: BTreeMap::new(),
        }
    }

    /// The steps of the best remedy, with what does instead.
    pub fn steps(&mut self) -> Vec<Ways> {
        let mut found: Vec<Set> = Vec::new();
        for order in self.orders() {
            let set = self.minimal(order);
            let Some(set) = set.and_then(|set| self.raised(set)) else {
                break;
            };
            let same = |known: &Set| {
                let names = |set: &Set| set.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>();
                names(known) == names(&set)
            };
            if !found.iter().any(same) {
                found.push(set);
            }
        }
        if found.is_empty() {
            // Nobody could look further: all of it is enough, and perhaps too much.
            let all = self.candidates.iter().map(first);
            return all.map(|change| vec![vec![change]]).collect();
        }
        let fewest = found.iter().map(kinds).min().unwrap_or_default();
        found.retain(|set| kinds(set) <= fewest + 1);
        let all = found.clone();
        found.retain(|set| !all.iter().any(|other| is_more_than(set, other)));
        found.sort_by_key(kinds);
        found.truncate(REMEDIES);
        let steps = self.together(found);
        self.with_equals(steps)
    }

    /// Numbers of candidates, the preferred first: whatever one likes least can be the one to begin with.
    fn orders(&mut self) -> Vec<Vec<usize>> {
        let of = |class: Class| {
            let all = self.candidates.iter().enumerate();
            let all = all.filter(move |(_, one)| one.class == class);
            all.map(|(at, _)| at).collect::<Vec<usize>>()
        };
        let classes = [
            Class::Free,
            Class::Tolerate,
            Class::Complete,
            Class::Correct,
            Class::Fewer,
            Class::Selector,
            Class::GiveUp,
            Class::Drop,
        ];
        let needed = of(Class::Needed);
        let rest: Vec<usize> = classes.iter().flat_map(|class| of(*class)).collect();
        let before = |first: &[usize]| -> Vec<usize> {
            let others = rest.iter().filter(|at| !first.contains(at));
            needed.iter().chain(first).chain(others).copied().collect()
        };
        let mut orders = Vec::new();
        // One holder that is enough is better than two of which each is needed.
        let holders = of(Class::Free);
        let alone = holders.iter().take(ALONE).filter(|_| holders.len() > 1);
        let alone: Vec<usize> = alone.copied().collect();
        for holder in alone {
            let set: Vec<usize> = needed.iter().copied().chain([holder]).collect();
            let set = set.into_iter().map(|at| (at, first(&self.candidates[at])));
            if self.fits(&set.collect::<Set>()) == Some(true) {
                orders.push(before(&[holder]));
                break;
            }
        }
        if orders.is_empty() {
            orders.push(before(&[]));
        }
        for class in classes.into_iter().skip(1) {
            let members = of_class(&self.candidates, class);
            orders.extend(members.iter().take(REMEDIES).map(|at| before(&[*at])));
            if members.len() > 1 {
                orders.push(before(&members));
            }
        }
        orders
    }

    /// The shortest beginning that fits ends with a candidate that it needs: that one is kept, and the rest looked at again.
    fn minimal(&mut self, order: Vec<usize>) -> Option<Set> {
        let changes = order
            .into_iter()
            .map(|at| (at, first(&self.candidates[at])));
        let mut rest: Set = changes.collect();
        let mut needed: Set = Vec::new();
        while !self.fits(&needed)? {
            let (mut short, mut enough) = (0, rest.len());
            if enough == 0 {
                return None;
            }
            while enough - short > 1 {
                let middle = short + (enough - short) / 2;
                let set: Set = needed.iter().chain(&rest[..middle]).cloned().collect();
                match self.fits(&set)? {
                    true => enough = middle,
                    false => short = middle,
                }
            }
            rest.truncate(enough);
            needed.extend(rest.pop());
        }
        needed.sort();
        Some(needed)
    }

    /// Numbers as large as they may be.
    fn raised(&mut self, mut set: Set) -> Option<Set> {
        for at in 0..set.len() {
            let most = self.candidates[set[at].0].most;
            let (mut good, mut bad) = (1, most.saturating_add(1));
            while bad.saturating_sub(good) > 1 {
                let middle = good + (bad - good) / 2;
                let mut raised = set.clone();
                raised[at].1 = with_count(&set[at].1, middle);
                match self.fits(&raised)? {
                    true => (good, set) = (middle, raised),
                    false => bad = middle,
                }
            }
        }
        Some(set)
    }

    /// What all remedies have in common is a step each, what they have not is one step with as many ways.
    fn together(&self, found: Vec<Set>) -> Vec<Ways> {
        let (best, others) = match found.split_first() {
            Some(both) => both,
            None => return Vec::new(),
        };
        // Who has to end is told in one place.
        let freed = |set: &Set| -> Vec<usize> {
            let freed = set.iter().filter(|(_, change)| is_freed(change));
            freed.map(|(at, _)| *at).collect()
        };
        let all_free_the_same = others.iter().all(|set| freed(set) == freed(best));
        let in_all = |one: &(usize, Change)| {
            (all_free_the_same || !is_freed(&one.1)) && others.iter().all(|set| set.contains(one))
        };
        let common: Vec<Change> = best
            .iter()
            .filter(|one| in_all(one))
            .map(|(_, change)| change.clone())
            .collect();
        let own = |set: &Set| -> Vec<Change> {
            let changes = set.iter().map(|(_, change)| change.clone());
            changes.filter(|change| !common.contains(change)).collect()
        };
        let mut ways: Ways = found.iter().map(own).collect();
        ways.sort_by_key(|way| (in_steps(way).len(), ending(way)));
        let mut steps = in_steps(&common);
        match ways.as_slice() {
            [_] => {}
            _ if ways.iter().any(Vec::is_empty) => {}
            _ => steps.push(ways),
        }
        steps
    }

    /// Adds what comes to the same, where that fits whatever is chosen in the other steps.
    fn with_equals(&mut self, mut steps: Vec<Ways>) -> Vec<Ways> {
        for at in 0..steps.len() {
            let mut way = 0;
            while let Some(changes) = steps[at].get(way) {
                way += 1;
                let [change] = changes.as_slice() else {
                    continue;
                };
                let is_it = |one: &&Candidate| one.ways.first() == Some(change);
                let equal = self.candidates.iter().find(is_it);
                let equal = equal.map(|one| one.ways[1..].to_vec()).unwrap_or_default();
                for change in equal {
                    let mut others = steps.clone();
                    others[at] = vec![vec![change.clone()]];
                    let all = combinations(&others);
                    let is_enough = |changes| self.changes_fit(changes) == Some(true);
                    if !all.is_empty() && all.into_iter().all(is_enough) {
                        steps[at].insert(way, vec![change]);
                        way += 1;
                    }
                }
            }
        }
        steps
    }

    fn fits(&mut self, set: &Set) -> Option<bool> {
        self.changes_fit(set.iter().map(|(_, change)| change.clone()).collect())
    }

    fn changes_fit(&mut self, mut changes: Vec<Change>) -> Option<bool> {
        changes.sort();
        if let Some(known) = self.known.get(&changes) {
            return Some(*known);
        }
        let trial = self.bench.trial(self.objects, &changes, false)?;
        let fits = matches!(trial, Trial::Fits(_));
        self.known.insert(changes, fits);
        Some(fits)
    }
}

fn of_class(candidates: &[Candidate], class: Class) -> Vec<usize> {
    let all = candidates.iter().enumerate();
    all.filter(|(_, one)| one.class == class)
        .map(|(at, _)| at)
        .collect()
}

/// One step each; claims that are freed are one step together.
fn in_steps(changes: &[Change]) -> Vec<Ways> {
    let (freed, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| is_freed(change));
    let others = others.into_iter().map(|change| vec![vec![change.clone()]]);
    let freed: Vec<Change> = freed.into_iter().cloned().collect();
    let freed = (!freed.is_empty()).then_some(vec![freed]);
    others.chain(freed).collect()
}

/// Whether others have to end for it.
fn is_freed(change: &Change) -> bool {
    matches!(change, Change::FreeClaim { own: false, .. })
}

/// Whether a set is another one, but that it leaves a whole selector out of which a part is enough.
fn is_more_than(set: &Set, other: &Set) -> bool {
    let own: Vec<&Change> = set.iter().map(|(_, change)| change).collect();
    let of_other: Vec<&Change> = other.iter().map(|(_, change)| change).collect();
    let only = |these: &[&Change], those: &[&Change]| -> Vec<Change> {
        let differing = these.iter().filter(|one| !those.contains(one));
        differing.map(|one| (*one).clone()).collect()
    };
    match (
        only(&own, &of_other).as_slice(),
        only(&of_other, &own).as_slice(),
    ) {
        (
            [
                Change::ChangeSelector {
                    of,
                    request,
                    index,
                    expression: None,
                    ..
                },
            ],
            [
                Change::ChangeSelector {
                    of: of_part,
                    request: by,
                    index: at,
                    instead: None,
                    ..
                },
            ],
        ) => (of, request, index) == (of_part, by, at),
        _ => false,
    }
}

/// How many pods of others have to end.
fn ending(changes: &[Change]) -> usize {
    let pods = changes.iter().map(|change| match change {
        Change::FreeClaim { pods, .. } | Change::EndPods { pods, .. } => pods.len(),
        _ => 0,
    });
    pods.sum()
}

/// How many things there are to do.
fn kinds(set: &Set) -> usize {
    let changes: Vec<Change> = set.iter().map(|(_, change)| change.clone()).collect();
    in_steps(&changes).len()
}

fn with_count(change: &Change, number: u64) -> Change {
    let mut change = change.clone();
    if let Change::AskFor { count, .. } = &mut change {
        *count = number;
    }
    change
}

/// One way of each step, in every combination; nothing if there are too many.
fn combinations(steps: &[Ways]) -> Vec<Vec<Change>> {
    let mut all: Vec<Vec<Change>> = vec![Vec::new()];
    for ways in steps {
        let with = |set: &Vec<Change>| -> Vec<Vec<Change>> {
            let each = ways.iter();
            each.map(|way| set.iter().chain(way).cloned().collect())
                .collect()
        };
        all = all.iter().flat_map(with).collect();
        if all.len() > COMBINATIONS {
            return Vec::new();
        }
    }
    all
}
