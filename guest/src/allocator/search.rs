//! The depth-first search for devices: spec section 9.5, with the pruning that section 13 permits.
//!
//! The first solution in visiting order wins. The stack is a list of frames, one for each device that is being looked for,
//! so that no input can exhaust the native stack.

use super::Observer;
use super::TIMED_OUT;
use super::inventory::Inventory;
use super::lists::{Failed, Frame, FrameState, Lists, Want, contains, from, insert, remove};
use super::pools::{Candidate, NodePools};
use super::pruning::FURTHEST;
use super::requests::{Plan, Request, Selector};
use super::selectors::{DeviceRef, SelectorError, Selectors};
use crate::profile::Profile;

/// Steps between two looks at the clock.
const STEPS_PER_LOOK: u64 = 4_096;

/// Why an attempt ended without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// As upstream: the error of the whole pod.
    Error(String),
    /// The node is refused with this text.
    BadPool(String),
    /// The step budget is used up; working on this request (index in the plan).
    OutOfSteps(usize),
}

/// One attempt on one node.
pub(crate) struct Search<'a, 's, S: Selectors> {
    pub plan: &'a Plan,
    pub pools: &'a NodePools,
    pub inventory: &'a Inventory,
    pub profile: &'a Profile,
    pub selectors: &'s mut S,
    pub lists: &'s mut Lists,
    /// Devices that may still be visited.
    pub steps_left: u64,
    /// How many times it went on to another device or alternative.
    pub places_tried: u64,
    /// Whether the attempt has taken too long.
    pub is_late: Option<&'a dyn Fn() -> bool>,
    /// When this few steps are left, the search is a hard one: see [`Search::learn_ahead`].
    pub hard_at: Option<u64>,
    /// Whether results of admin requests hold their device (D6).
    pub admin_holds: bool,
    /// Whether picks of admin requests are remembered (D7, L2).
    pub admin_marks: bool,
}

/// Which device is looked for next.
pub(crate) struct Place {
    want: usize,
    /// Which device of the want.
    k: u32,
    /// First candidate to try.
    start: u32,
    /// The want is the first alternative of a request that was not looked at yet.
    enters_group: bool,
}

impl Place {
    fn first_of(want: usize) -> Self {
        Self {
            want,
            k: 0,
            start: 0,
            enters_group: true,
        }
    }
}

impl<S: Selectors> Search<'_, '_, S> {
    /// Searches; true if there is a solution, which then is in [`Lists::picks`] and [`Lists::chosen`].
    pub(crate) fn run(&mut self, observer: &mut impl Observer) -> Result<bool, Halt> {
        let mut at = Place::first_of(0);
        loop {
            self.places_tried += 1;
            if self.is_satisfied(&at) {
                at = Place::first_of(self.lists.wants[at.want].next());
            }
            if at.want == self.lists.wants.len() {
                self.note_choices();
                return Ok(true);
            }
            observer.looks_for(|| (self.lists.picks.len(), self.lists.wants[at.want].request));
            if self.hard_at.is_some_and(|left| self.steps_left <= left) {
                self.hard_at = None;
                self.learn_ahead()?;
            }
            if at.enters_group && self.offers_choice(at.want) {
                self.open_choice(at.want);
                at.enters_group = false;
                continue;
            }
            at.enters_group = false;
            let chosen = if at.k == 0 && self.exceeds_limit(at.want) {
                self.retreat_from_limit(at.want)
            } else {
                self.descend(&at)?;
                None
            };
            let next = match chosen {
                Some(choice) => Some(self.after(&choice)),
                None => self.advance_deepest()?,
            };
            let Some(next) = next else {
                return Ok(false);
            };
            at = next;
        }
    }

    /// Whether nothing more is to be found for the want.
    fn is_satisfied(&self, at: &Place) -> bool {
        let Some(want) = self.lists.wants.get(at.want) else {
            return false;
        };
        if want.needed == 0 {
            // L1: an All request without devices is never satisfied. Otherwise an alternative that needs nothing.
            let stays_empty = want.all.is_some() && self.profile.all_mode_needs_a_device();
            return !(stays_empty || at.enters_group && self.offers_choice(at.want));
        }
        at.k >= want.needed
    }

    /// Begins to look for a device, unless there is certainly none. Inlined as if `run` were there once only.
    #[inline(always)]
    fn descend(&mut self, at: &Place) -> Result<(), Halt> {
        if self.lists.wants[at.want].all.is_none() {
            self.open_verdicts(at.want);
        }
        let hopeless_at = self.hopeless_at(at.want, at.k, at.start as usize)?;
        if let Some(parent) = self.lists.frames.last_mut() {
            parent.reached = parent.reached.max(hopeless_at.unwrap_or(at.want) as u32);
        }
        if hopeless_at.is_none() {
            let failed = self.lists.failed.len() as u32;
            let frame = Frame {
                failed,
                ..Frame::new(at.want, at.k, at.start)
            };
            self.lists.frames.push(frame);
        }
        Ok(())
    }

    /// Where the search goes on after a frame has got its device, or a choice its next alternative.
    fn after(&self, deepest: &Frame) -> Place {
        let want = deepest.want as usize;
        if deepest.state == FrameState::Choice {
            return Place {
                enters_group: false,
                ..Place::first_of(want)
            };
        }
        // Within a request only later devices: the others were tried in this order before (permitted pruning 1). In 1.31 an
        // admin request may pick the same device again (D7).
        let may_repeat = self.lists.wants[want].admin && !self.admin_marks;
        Place {
            want,
            k: deepest.k + 1,
            start: deepest.position + u32::from(!may_repeat),
            enters_group: false,
        }
    }

    pub(crate) fn open_verdicts(&mut self, last: usize) {
        let Lists {
            verdicts, wants, ..
        } = &mut *self.lists;
        let first = verdicts.open(wants, last, self.plan, self.pools);
        for want in first..=last {
            self.recall(want);
        }
    }

    /// Moves the deepest frame that can to its next device, dropping those that cannot; where the search goes on. `None`: no
    /// frame is left.
    fn advance_deepest(&mut self) -> Result<Option<Place>, Halt> {
        while let Some(top) = self.lists.frames.len().checked_sub(1) {
            let mut frame = self.lists.frames[top];
            let want = self.lists.wants[frame.want as usize];
            let found = match (frame.state, want.all) {
                (FrameState::Choice, _) => self.choose_next(&mut frame),
                (_, Some(first)) => self.advance_all(&mut frame, first)?,
                (_, None) => self.advance(&mut frame)?,
            };
            if found {
                self.lists.frames[top] = frame;
                return Ok(Some(self.after(&frame)));
            }
            self.lists.frames.truncate(top);
            self.drop_frame(&frame);
        }
        Ok(None)
    }

    /// Forgets a frame that was taken from the list and its device back.
    pub(crate) fn drop_frame(&mut self, frame: &Frame) {
        self.lists.failed.truncate(frame.failed as usize);
        if let Some(parent) = self.lists.frames.last_mut() {
            parent.reached = parent.reached.max(frame.reached_ever);
        }
    }

    /// The next device for an `ExactCount` request.
    fn advance(&mut self, frame: &mut Frame) -> Result<bool, Halt> {
        let want = self.lists.wants[frame.want as usize];
        let mut next = frame.position as usize;
        if frame.state == FrameState::Picked {
            self.undo(frame, want);
            self.lists.failed.push(Failed {
                position: frame.position,
                reached: frame.reached,
            });
            frame.reached_ever = frame.reached_ever.max(frame.reached);
            frame.reached = frame.want;
            next += 1;
        }
        while let Some(position) = self.next_candidate(frame.want as usize, want, next) {
            self.visit(want)?;
            if self.is_selectable(frame.want as usize, want, position)?
                && self.has_counters(position)
                && self.is_accepted(want, position)
                && !self.is_like_a_failed_one(frame, position)?
            {
                frame.position = position as u32;
                self.pick(frame, want);
                return Ok(true);
            }
            next = position + 1;
        }
        Ok(false)
    }

    /// The next candidate that has to be looked at: neither in use, nor known not to match, nor matching and refused by a
    /// constraint. The order matters: a device that a constraint would refuse is evaluated all the same (T4).
    fn next_candidate(&self, index: usize, want: Want, start: usize) -> Option<usize> {
        if want.admin {
            return (start..self.pools.candidates.len())
                .find(|&position| self.is_free(want, position));
        }
        let (known, matching) = self.lists.verdicts.of(index);
        for word in start / 64..self.lists.free.len() {
            let free = self.lists.free[word] & from(start, word);
            let mut open = free & !known[word];
            let matching = free & matching[word];
            if matching != 0 {
                open |= matching & self.agreeing(want, word);
            }
            if open != 0 {
                return Some(word * 64 + open.trailing_zeros() as usize);
            }
        }
        None
    }

    /// The predetermined device of an `All` request: there is no choice.
    fn advance_all(&mut self, frame: &mut Frame, first: u32) -> Result<bool, Halt> {
        let want = self.lists.wants[frame.want as usize];
        if frame.state != FrameState::Fresh {
            if !self.profile.all_mode_backtracks() {
                return Err(Halt::Error("stop allocation".into()));
            }
            if frame.state == FrameState::Picked {
                self.undo(frame, want);
            }
            return Ok(false);
        }
        if want.needed == 0 {
            return Ok(false);
        }
        self.visit(want)?;
        frame.position = self.lists.all_devices[(first + frame.k) as usize];
        let position = frame.position as usize;
        if !self.is_free(want, position) {
            frame.state = FrameState::LeftOut;
            return Ok(!self.profile.all_mode_refuses_devices_in_use());
        }
        if !self.has_counters(position) || !self.tolerates(want, position) {
            return Ok(false);
        }
        if !self.is_accepted(want, position) {
            return Err(Halt::Error(self.unsatisfied(want, position)));
        }
        self.pick(frame, want);
        Ok(true)
    }

    /// Whether the request may get the device, as far as other claims and picks are concerned.
    fn is_free(&self, want: Want, position: usize) -> bool {
        if want.admin {
            // Before D7 the picks of admin requests are not remembered, and those of others are not looked at.
            let first = self.pools.candidates[position].first as usize;
            return !self.admin_marks || self.lists.picked_for[first] != self.claim_mark(want);
        }
        contains(&self.lists.free, position)
    }

    /// Whether the selectors of class and request match; spec section 9.4.
    fn is_selectable(&mut self, index: usize, want: Want, position: usize) -> Result<bool, Halt> {
        if let Some(known) = self.lists.verdicts.get(index, position) {
            return Ok(known);
        }
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        let matches = self
            .evaluate(request, &self.pools.candidates[position])?
            .unwrap_or(false);
        self.lists
            .verdicts
            .learn(index, position, matches, self.pools);
        Ok(matches && !self.lists.verdicts.is_barred(index, position))
    }

    /// Whether the request tolerates the taints of the device.
    fn tolerates(&self, want: Want, position: usize) -> bool {
        let request = &self.plan.requests[want.request as usize];
        self.pools.tolerated(position, &request.tolerations)
    }

    /// Whether enough is left of the counters that the device needs.
    fn has_counters(&self, position: usize) -> bool {
        let mut needed = self.pools.counters.needed_by(position).iter();
        needed.all(|(counter, amount)| self.lists.counters[*counter as usize] >= *amount)
    }

    /// Takes from the counters what the device needs, or gives it back.
    fn count(&mut self, position: usize, sign: i128) {
        for (counter, amount) in self.pools.counters.needed_by(position) {
            self.lists.counters[*counter as usize] -= sign * amount;
        }
    }

    /// Evaluates the selectors until one is false. `None`: the device has no content and never matches.
    pub(crate) fn evaluate(
        &mut self,
        request: &Request,
        candidate: &Candidate,
    ) -> Result<Option<bool>, Halt> {
        let entry = self.inventory.entry(candidate.slot);
        let device = candidate.device(self.inventory);
        // Asked in this order, since devices lie far apart in memory.
        if entry.has_unusable && !device.usable {
            return Ok(None);
        }
        for selector in &request.selectors {
            let device = DeviceRef {
                content: entry.contents[candidate.index as usize],
                slot: candidate.slot,
                index: candidate.index,
                driver: &entry.slice.driver,
                device,
            };
            let verdict = match selector.expression {
                Some(expression) => self.selectors.matches(expression, device),
                None => {
                    return Err(self.selector_error(
                        request,
                        selector,
                        "CEL expression empty (unsupported selector type?)",
                    ));
                }
            };
            match verdict {
                Ok(true) => {}
                Ok(false) => return Ok(Some(false)),
                Err(SelectorError::Compile(error)) => {
                    return Err(self.selector_error(
                        request,
                        selector,
                        &format!("CEL compile error: {error}"),
                    ));
                }
                Err(SelectorError::Runtime(error)) => {
                    return Err(self.selector_error(
                        request,
                        selector,
                        &format!("CEL runtime error: {error}"),
                    ));
                }
            }
        }
        Ok(Some(true))
    }

    fn selector_error(&self, request: &Request, selector: &Selector, what: &str) -> Halt {
        let owner = if selector.of_class {
            format!("class {}", request.class.name)
        } else {
            format!("claim {}", self.plan.claim_name(request.claim))
        };
        Halt::Error(format!("{owner}: selector #{}: {what}", selector.index))
    }

    fn pick(&mut self, frame: &mut Frame, want: Want) {
        let position = frame.position as usize;
        frame.state = FrameState::Picked;
        self.lists.picks.push((want.request, frame.position));
        self.bind(want, position);
        self.count(position, 1);
        if !want.admin || self.admin_marks {
            let first = self.pools.candidates[position].first as usize;
            frame.picked_for_before = self.lists.picked_for[first];
            frame.was_free = contains(&self.lists.free, position);
            self.lists.picked_for[first] = self.claim_mark(want);
            self.pools
                .each_same(position, |same| remove(&mut self.lists.free, same));
        }
    }

    pub(crate) fn undo(&mut self, frame: &Frame, want: Want) {
        let position = frame.position as usize;
        self.unbind(want);
        self.count(position, -1);
        if !want.admin || self.admin_marks {
            let first = self.pools.candidates[position].first as usize;
            self.lists.picked_for[first] = frame.picked_for_before;
            if frame.was_free {
                self.pools
                    .each_same(position, |same| insert(&mut self.lists.free, same));
            }
        }
        self.lists.picks.pop();
    }

    fn claim_mark(&self, want: Want) -> u32 {
        self.plan.requests[want.request as usize].claim as u32 + 1
    }

    fn unsatisfied(&self, want: Want, position: usize) -> String {
        let candidate = &self.pools.candidates[position];
        let request = &self.plan.requests[want.request as usize];
        let slice = &self.inventory.entry(candidate.slot).slice;
        let (claim, name) = (self.plan.claim_name(request.claim), &request.name);
        let device = format!(
            "{}/{}/{}",
            slice.driver,
            slice.pool,
            candidate.device(self.inventory).name
        );
        format!(
            "claim {claim}, request {name}: cannot add device {device} because a claim constraint would not be satisfied"
        )
    }

    /// Counts a device that is visited; as more than one, if the claim has far more constraints than the API allows.
    #[inline]
    fn visit(&mut self, want: Want) -> Result<(), Halt> {
        let constraints = self.plan.constraints_of(want.request as usize).len();
        let cost = if constraints > FURTHEST {
            constraints * self.pools.candidates.len() / 16
        } else {
            0
        };
        self.steps(1 + cost, want.request as usize)
    }

    /// Counts devices that are visited for a request.
    #[inline]
    pub(crate) fn steps(&mut self, count: usize, request: usize) -> Result<(), Halt> {
        match self.steps_left.checked_sub(count as u64) {
            Some(left) => {
                let before = std::mem::replace(&mut self.steps_left, left);
                // Seldom, since a clock costs more than a step.
                let asks = before / STEPS_PER_LOOK != left / STEPS_PER_LOOK;
                match self.is_late.filter(|_| asks) {
                    Some(is_late) if is_late() => Err(Halt::Error(TIMED_OUT.into())),
                    _ => Ok(()),
                }
            }
            None => Err(Halt::OutOfSteps(request)),
        }
    }
}
