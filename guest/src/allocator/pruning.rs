//! What the search leaves out without a difference that can be seen: neither in the answer, nor in an error, nor, short of a
//! hard search, in what is evaluated in which order (spec section 13).
//!
//! *Counting.* If the selectors of a want are known for all devices that it could visit, and there are fewer matching ones than
//! it needs, all that could follow fails without an evaluation. The same holds for the next wants taken together, as long as
//! everything about them is known.
//!
//! *Remembering.* When the search comes to a want for several devices, it takes over the verdicts that are remembered from other
//! pods and nodes, none of which is an error: the devices that it still has to evaluate keep their order.
//!
//! *Looking ahead.* A search that turns out to be hard evaluates the selectors of all wants for all devices, so that the
//! other rules know everything. What this evaluates too early is never seen: a verdict is a function of the device, and an
//! error is put aside until the search itself comes there.
//!
//! *Devices that are alike.* Suppose a frame picked device A, and all that could follow failed, having come as far as want m.
//! Let device B be free as well, a later candidate of the same frame, with the same values of all attributes that constraints
//! of the claims up to m look at. Let each want from the frame's own to m know the same verdict for A and B, or nothing about
//! B (with admin access: about both). Exchanging A and B turns whatever could follow a pick of B into something that followed
//! the pick of A, so it fails too and comes no further than m. Nothing would be evaluated for the first time on the way: where
//! a want would visit A after the pick of B, it visited B after the pick of A, so it knows B and therefore A.

use super::alternatives::LIMIT;
use super::lists::{Failed, Frame, Lists, Want, contains, from};
use super::search::{Halt, Search};
use super::selectors::Selectors;

/// Constraints that are compared at most; beyond that comparing costs more than it saves.
pub(crate) const FURTHEST: usize = 64;
/// Wants that are compared at most.
const FURTHEST_WANT: usize = 256;

/// Steps after which a search is a hard one.
pub(crate) const HARD: u64 = 4_096;
/// Most verdicts that a hard search gathers ahead.
const AHEAD: usize = 1 << 17;

/// What [`Search::hopeless_at`] adds up.
struct Count {
    /// Devices that the wants need together at least.
    needed: u32,
    /// Words looked at, of which some make a step.
    work: usize,
    /// The claim at work.
    claim: usize,
    /// Devices that it gets at least.
    in_claim: u32,
}

impl<S: Selectors> Search<'_, '_, S> {
    /// Evaluates all selectors for all devices that could be asked for.
    pub(crate) fn learn_ahead(&mut self) -> Result<(), Halt> {
        let (plan, pools) = (self.plan, self.pools);
        // Of a repeated device the first verdict counts for all, so an error put aside could not be told from no verdict.
        if pools.has_repeats || self.lists.wants.len() * pools.candidates.len() > AHEAD {
            return Ok(());
        }
        self.open_verdicts(self.lists.wants.len());
        for index in 0..self.lists.wants.len() {
            let want = self.lists.wants[index];
            for (position, candidate) in pools.candidates.iter().enumerate() {
                let held =
                    !want.admin && self.inventory.is_held(candidate.device, self.admin_holds);
                if want.all.is_some() || held || self.lists.verdicts.get(index, position).is_some()
                {
                    continue;
                }
                self.steps(1, want.request as usize)?;
                if let Ok(Some(matches)) =
                    self.evaluate(&plan.requests[want.request as usize], candidate)
                {
                    self.lists.verdicts.learn(index, position, matches, pools);
                }
            }
        }
        Ok(())
    }

    /// Takes over what is remembered of a want that needs several devices: so it is known from the beginning when there are too
    /// few of them. For a single device the first one that matches decides.
    pub(crate) fn recall(&mut self, index: usize) {
        let Some(want) = self.lists.wants.get(index).copied() else {
            return;
        };
        // Of a repeated device the first verdict counts.
        if want.needed < 2 || !want.selects || want.all.is_some() || self.pools.has_repeats {
            return;
        }
        let plan = self.plan;
        let selectors = &plan.requests[want.request as usize].selectors;
        for word in 0..self.lists.free.len() {
            let (known, _) = self.lists.verdicts.of(index);
            let mut left = self.lists.free[word] & !known[word];
            while left != 0 {
                let position = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let candidate = &self.pools.candidates[position];
                let entry = self.inventory.entry(candidate.slot);
                let content = entry.contents[candidate.index as usize];
                let recalled = selectors.iter().try_fold(true, |matches, selector| {
                    if !matches {
                        return Some(false);
                    }
                    self.selectors.remembered(selector.expression?, content)
                });
                if let Some(matches) = recalled {
                    self.lists
                        .verdicts
                        .learn(index, position, matches, self.pools);
                }
            }
        }
    }

    /// If it is certain that the `k`-th device of a want, from candidate `start` on, or what follows cannot be found: the
    /// furthest want that the search could come to.
    pub(crate) fn hopeless_at(
        &mut self,
        want: usize,
        k: u32,
        start: usize,
    ) -> Result<Option<usize>, Halt> {
        let words = self.lists.free.len();
        self.lists.union.clear();
        self.lists.union.resize(words, 0);
        let mut count = Count {
            needed: 0,
            work: 0,
            claim: usize::MAX,
            in_claim: 0,
        };
        // Of the request at work the alternative at work, of later ones all.
        let mut group = want..want + 1;
        while group.start < self.lists.wants.len() {
            let first = self.lists.wants[group.start];
            let (k, start) = if group.start == want {
                (k, start)
            } else {
                (0, 0)
            };
            let (mut fewest, mut fewest_possible) = (u32::MAX, None);
            for next in group.clone() {
                let missing = self.lists.wants[next].needed - k;
                let alone = group.len() == 1;
                let Some(own) = self.possible(next, start, alone, &mut count)? else {
                    return Ok(None);
                };
                fewest = fewest.min(missing);
                if own >= missing {
                    fewest_possible = Some(missing.min(fewest_possible.unwrap_or(u32::MAX)));
                    if !alone {
                        self.unite();
                    }
                }
            }
            if self.plan.has_alternatives && self.may_exceed_limit(first, fewest, want, &mut count)
            {
                return Ok(None);
            }
            let Some(missing) = fewest_possible else {
                return Ok(Some(group.end - 1));
            };
            if !first.admin {
                count.needed += missing;
                let together = self.lists.union.iter().map(|word| word.count_ones());
                if together.sum::<u32>() < count.needed {
                    return Ok(Some(group.end - 1));
                }
            }
            let end = first.next();
            let after = self.lists.wants.get(end).map_or(end, Want::next);
            group = end..after;
        }
        Ok(None)
    }

    /// How many devices the want could get, from candidate `start` on. `None` if not everything is known. Which ones: added to
    /// the union if the want is alone, left in [`Lists::possible`] if there are alternatives.
    fn possible(
        &mut self,
        next: usize,
        start: usize,
        alone: bool,
        count: &mut Count,
    ) -> Result<Option<u32>, Halt> {
        let words = self.lists.free.len();
        let wanted = self.lists.wants[next];
        let constraints = self.plan.constraints_of(wanted.request as usize);
        if wanted.all.is_some() || constraints.len() > FURTHEST {
            return Ok(None);
        }
        if !alone {
            self.lists.possible.clear();
            self.lists.possible.resize(words, 0);
        }
        if wanted.needed == 0 {
            return Ok(Some(0));
        }
        if !self.lists.verdicts.is_open(next) {
            if wanted.selects {
                return Ok(None);
            }
            self.open_verdicts(next);
        }
        count.work += words;
        if count.work >= FURTHEST {
            self.steps(count.work / FURTHEST, wanted.request as usize)?;
            count.work %= FURTHEST;
        }
        if wanted.admin {
            // Takes nothing from the others, but may have to be evaluated.
            return Ok(self.is_known_for_all(next, start).then_some(u32::MAX));
        }
        let mut own = 0;
        for word in start / 64..words {
            let (known, matching) = self.lists.verdicts.of(next);
            let free = self.lists.free[word] & from(start, word);
            if free & !known[word] != 0 {
                return Ok(None);
            }
            let possible = free & matching[word];
            if possible != 0 {
                let possible = possible & self.agreeing(wanted, word);
                if alone {
                    self.lists.union[word] |= possible;
                } else {
                    self.lists.possible[word] = possible;
                }
                own += possible.count_ones();
            }
        }
        Ok(Some(own))
    }

    /// Adds what the want could get that was looked at last to what all wants so far could get together.
    fn unite(&mut self) {
        let Lists {
            union, possible, ..
        } = &mut *self.lists;
        for (union, possible) in union.iter_mut().zip(possible) {
            *union |= *possible;
        }
    }

    /// Whether even the fewest devices may be too many for the claim at work. Then the search must find out: from there it
    /// goes back further than from a want that cannot be satisfied.
    fn may_exceed_limit(&self, first: Want, fewest: u32, want: usize, count: &mut Count) -> bool {
        let claim = self.plan.requests[first.request as usize].claim;
        if count.claim == usize::MAX {
            count.claim = claim;
            let first_request = self.plan.claims[claim].requests.start;
            count.in_claim = self.picked_for(first_request);
        }
        debug_assert!(self.claim_of(want) == count.claim);
        if claim != count.claim {
            return false;
        }
        count.in_claim += fewest;
        count.in_claim > LIMIT
    }

    /// Whether the candidate is like one that the frame picked in vain.
    pub(crate) fn is_like_a_failed_one(
        &mut self,
        frame: &Frame,
        position: usize,
    ) -> Result<bool, Halt> {
        for i in frame.failed as usize..self.lists.failed.len() {
            let failed = self.lists.failed[i];
            let request = self.lists.wants[frame.want as usize].request;
            self.steps(1, request as usize)?;
            if self.are_alike(frame, failed, position) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_known_for_all(&self, want: usize, start: usize) -> bool {
        (start..self.pools.candidates.len())
            .all(|position| self.lists.verdicts.get(want, position).is_some())
    }

    fn are_alike(&mut self, frame: &Frame, failed: Failed, position: usize) -> bool {
        let (wants, to) = (&self.lists.wants, failed.reached as usize);
        let (from, other) = (frame.want as usize, failed.position as usize);
        if self.pools.has_repeats || to - from > FURTHEST_WANT {
            return false;
        }
        // Admin requests may get devices that are in use, which ordinary ones then cannot.
        if !contains(&self.lists.free, position) || !contains(&self.lists.free, other) {
            return false;
        }
        // The devices of an All request were listed in an order that an exchange would change.
        if wants[from..=to].iter().any(|want| want.all.is_some()) {
            return false;
        }
        // A want that knows nothing about B never visited it while A was picked, so it would not visit A now. Only admin
        // requests may visit A while it is picked, and so B after the exchange.
        let treats_alike = |want: usize| {
            let (of_a, of_b) = (
                self.lists.verdicts.get(want, other),
                self.lists.verdicts.get(want, position),
            );
            of_a == of_b || (of_b.is_none() && !wants[want].admin)
        };
        if !(from + 1..=to).all(treats_alike) {
            return false;
        }
        let plan = self.plan;
        let claim_of =
            |want: usize| &plan.claims[plan.requests[wants[want].request as usize].claim];
        let mut constraints = claim_of(from).constraints.start..claim_of(to).constraints.end;
        constraints.len() <= FURTHEST
            && self.pools.counters.needed_by(other) == self.pools.counters.needed_by(position)
            && constraints.all(|i| self.value(i, other) == self.value(i, position))
    }
}
