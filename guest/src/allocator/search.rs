//! The depth-first search for devices: spec section 9.5, with the pruning that section 13 permits.
//!
//! The first solution in visiting order wins. The stack is a list of frames, one for each device that is being looked for,
//! so that no input can exhaust the native stack.

use super::constraints::ConstraintState;
use super::inventory::Inventory;
use super::lists::{Frame, FrameState, Lists, Verdict, Want};
use super::pools::{Candidate, NodePools};
use super::requests::{Plan, Request, Selector};
use super::selectors::{DeviceRef, SelectorError, Selectors};
use crate::profile::Profile;

/// Why an attempt ended without an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// As upstream: the error of the whole pod.
    Error(String),
    /// The step budget is used up; working on this request (index in the plan).
    OutOfSteps(usize),
}

/// One attempt on one node.
pub(crate) struct Search<'a, 's> {
    pub plan: &'a Plan,
    pub pools: &'a NodePools,
    pub inventory: &'a Inventory,
    pub profile: &'a Profile,
    pub selectors: &'s mut dyn Selectors,
    pub lists: &'s mut Lists,
    pub constraints: Vec<ConstraintState<'a>>,
    /// Devices that may still be visited.
    pub steps_left: u64,
    /// Whether results of admin requests hold their device (D6).
    pub admin_holds: bool,
    /// Whether picks of admin requests are remembered (D7, L2).
    pub admin_marks: bool,
}

impl Search<'_, '_> {
    /// Searches; true if there is a solution, which then is in [`Lists::picks`].
    pub(crate) fn run(&mut self) -> Result<bool, Halt> {
        let (mut want, mut k, mut start) = (0, 0, 0);
        loop {
            if self
                .lists
                .wants
                .get(want)
                .is_some_and(|wanted| k >= wanted.needed && wanted.needed > 0)
            {
                (want, k, start) = (want + 1, 0, 0);
            }
            if want == self.lists.wants.len() {
                return Ok(true);
            }
            if !self.is_hopeless(want, k, start)? {
                let frame = Frame {
                    want: want as u32,
                    k,
                    position: start,
                    state: FrameState::Fresh,
                    picked_for_before: 0,
                };
                self.lists.frames.push(frame);
            }
            let Some(deepest) = self.advance_deepest()? else {
                return Ok(false);
            };
            want = deepest.want as usize;
            k = deepest.k + 1;
            // Within a request only later devices: the others were tried in this order before (permitted pruning 1). In
            // 1.31 an admin request may pick the same device again (D7).
            let may_repeat = self.lists.wants[want].admin && !self.admin_marks;
            start = deepest.position + u32::from(!may_repeat);
        }
    }

    /// Moves the deepest frame that can to its next device, dropping those that cannot. `None`: no frame is left.
    fn advance_deepest(&mut self) -> Result<Option<Frame>, Halt> {
        while let Some(mut frame) = self.lists.frames.pop() {
            let found = match self.lists.wants[frame.want as usize].all {
                Some(first) => self.advance_all(&mut frame, first)?,
                None => self.advance(&mut frame)?,
            };
            if found {
                self.lists.frames.push(frame);
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// The next device for an `ExactCount` request.
    fn advance(&mut self, frame: &mut Frame) -> Result<bool, Halt> {
        let want = self.lists.wants[frame.want as usize];
        let mut position = frame.position as usize;
        if frame.state == FrameState::Picked {
            self.undo(frame, want);
            position += 1;
        }
        let pools = self.pools;
        while let Some(candidate) = pools.candidates.get(position) {
            self.step(want.request as usize)?;
            if self.is_free(want, candidate)
                && self.is_selectable(frame.want as usize, candidate)?
                && self.fits_constraints(want, candidate)
            {
                frame.position = position as u32;
                self.pick(frame, want);
                return Ok(true);
            }
            position += 1;
        }
        Ok(false)
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
        self.step(want.request as usize)?;
        frame.position = self.lists.all_devices[(first + frame.k) as usize];
        let candidate = self.pools.candidates[frame.position as usize];
        if !self.is_free(want, &candidate) {
            frame.state = FrameState::LeftOut;
            return Ok(!self.profile.all_mode_refuses_devices_in_use());
        }
        if !self.fits_constraints(want, &candidate) {
            return Err(Halt::Error(self.unsatisfied(want, &candidate)));
        }
        self.pick(frame, want);
        Ok(true)
    }

    /// Permitted pruning 2: all devices left are known and too few are free. Evaluates nothing, since upstream would not.
    fn is_hopeless(&mut self, want: usize, k: u32, start: u32) -> Result<bool, Halt> {
        let wanted = self.lists.wants[want];
        let mut missing = wanted.needed.saturating_sub(k);
        // For one device this would only do the search's own work twice.
        if wanted.admin || wanted.all.is_some() || missing < 2 {
            return Ok(false);
        }
        let pools = self.pools;
        for candidate in pools.candidates.iter().skip(start as usize) {
            if !self.is_free(wanted, candidate) {
                continue;
            }
            self.step(wanted.request as usize)?;
            match self.lists.verdict(want, candidate) {
                Verdict::Yes => missing -= 1,
                Verdict::Unknown if candidate.device(self.inventory).usable => return Ok(false),
                Verdict::Unknown | Verdict::No => {}
            }
            if missing == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether the request may get the device, as far as other claims and picks are concerned.
    fn is_free(&self, want: Want, candidate: &Candidate) -> bool {
        let picked_for = self.lists.picked_for[candidate.first as usize];
        if want.admin {
            // Before D7 the picks of admin requests are not remembered, and those of others are not looked at.
            return !self.admin_marks || picked_for != self.claim_mark(want);
        }
        picked_for == 0 && !self.inventory.is_held(candidate.device, self.admin_holds)
    }

    /// Whether the selectors of class and request match; spec section 9.4.
    fn is_selectable(&mut self, want: usize, candidate: &Candidate) -> Result<bool, Halt> {
        match self.lists.verdict(want, candidate) {
            Verdict::Yes => return Ok(true),
            Verdict::No => return Ok(false),
            Verdict::Unknown => {}
        }
        let plan = self.plan;
        let request = &plan.requests[self.lists.wants[want].request as usize];
        let Some(matches) = self.evaluate(request, candidate)? else {
            return Ok(false);
        };
        self.lists.learn(want, candidate, matches);
        Ok(matches)
    }

    /// Evaluates the selectors until one is false. `None`: the device has no content and never matches.
    pub(crate) fn evaluate(
        &mut self,
        request: &Request,
        candidate: &Candidate,
    ) -> Result<Option<bool>, Halt> {
        let entry = self.inventory.entry(candidate.slot);
        let device = candidate.device(self.inventory);
        if !device.usable {
            return Ok(None);
        }
        for selector in &request.selectors {
            let device = DeviceRef {
                slot: candidate.slot,
                version: entry.version,
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

    /// Adds the device to all constraints that cover the request, or to none.
    fn fits_constraints(&mut self, want: Want, candidate: &Candidate) -> bool {
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        let constraints = plan.claims[request.claim].constraints.clone();
        if constraints.is_empty() {
            return true;
        }
        let driver = &self.inventory.entry(candidate.slot).slice.driver;
        let device = candidate.device(self.inventory);
        for i in constraints.clone() {
            let constraint = &plan.constraints[i];
            if constraint.covers(request.name_id)
                && !self.constraints[i].add(constraint.value(driver, device))
            {
                for passed in constraints.start..i {
                    if plan.constraints[passed].covers(request.name_id) {
                        self.constraints[passed].remove();
                    }
                }
                return false;
            }
        }
        true
    }

    fn pick(&mut self, frame: &mut Frame, want: Want) {
        frame.state = FrameState::Picked;
        self.lists.picks.push((want.request, frame.position));
        if !want.admin || self.admin_marks {
            let first = self.pools.candidates[frame.position as usize].first as usize;
            frame.picked_for_before = self.lists.picked_for[first];
            self.lists.picked_for[first] = self.claim_mark(want);
        }
    }

    fn undo(&mut self, frame: &Frame, want: Want) {
        let plan = self.plan;
        let request = &plan.requests[want.request as usize];
        for i in plan.claims[request.claim].constraints.clone() {
            if plan.constraints[i].covers(request.name_id) {
                self.constraints[i].remove();
            }
        }
        if !want.admin || self.admin_marks {
            let first = self.pools.candidates[frame.position as usize].first as usize;
            self.lists.picked_for[first] = frame.picked_for_before;
        }
        self.lists.picks.pop();
    }

    fn claim_mark(&self, want: Want) -> u32 {
        self.plan.requests[want.request as usize].claim as u32 + 1
    }

    fn unsatisfied(&self, want: Want, candidate: &Candidate) -> String {
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

    /// Counts a device that is visited for a request.
    pub(crate) fn step(&mut self, request: usize) -> Result<(), Halt> {
        if self.steps_left == 0 {
            return Err(Halt::OutOfSteps(request));
        }
        self.steps_left -= 1;
        Ok(())
    }
}
