//! Prioritized lists in the search: one of several alternatives of a request is satisfied, in order of preference. Upstream's
//! `allocateOne` for subrequests.
//!
//! A choice is a frame of its own, below the frames for the devices of the alternative that is being tried. When these have
//! all failed they have given everything back, so the next alternative starts from the same state.
//!
//! A claim may get 32 devices, and a wrong choice can ask for more. That depends on the choices alone, not on devices: so the
//! search goes back to the nearest choice at once, and further back when all alternatives ask for too many. Which selectors
//! are evaluated depends on this.

use super::lists::{Frame, FrameState};
use super::requests::MAX_RESULTS;
use super::search::Search;
use super::selectors::Selectors;

impl<S: Selectors> Search<'_, '_, S> {
    /// Whether the want is one of several alternatives, or of what might have been several.
    pub(crate) fn offers_choice(&self, want: usize) -> bool {
        let request = self.lists.wants[want].request as usize;
        self.plan.has_alternatives && self.plan.requests[request].alternative.is_some()
    }

    /// Begins with the first alternative.
    pub(crate) fn open_choice(&mut self, want: usize) {
        if let Some(parent) = self.lists.frames.last_mut() {
            parent.reached = parent.reached.max(want as u32);
        }
        let failed = self.lists.failed.len() as u32;
        self.lists.frames.push(Frame {
            state: FrameState::Choice,
            failed,
            ..Frame::new(want, 0, 0)
        });
    }

    /// The alternative failed for want of devices: the next one.
    pub(crate) fn choose_next(&self, choice: &mut Frame) -> bool {
        choice.all_exceed = false;
        self.step(choice)
    }

    fn step(&self, choice: &mut Frame) -> bool {
        choice.reached_ever = choice.reached_ever.max(choice.reached);
        if choice.want as usize + 1 == self.lists.wants[choice.want as usize].next() {
            return false;
        }
        choice.want += 1;
        choice.reached = choice.want;
        true
    }

    /// Whether the claim would get too many devices, if the want were satisfied.
    #[inline(always)]
    pub(crate) fn exceeds_limit(&self, want: usize) -> bool {
        let claim = &self.plan.claims[self.claim_of(want)];
        let want = &self.lists.wants[want];
        claim.has_alternatives && self.picked_for(claim.requests.start) + want.needed > LIMIT
    }

    /// Devices picked so far for the claim whose first request this is, given that it is the claim at work.
    pub(crate) fn picked_for(&self, first_request: usize) -> u32 {
        let picks = &self.lists.picks;
        let before = picks.partition_point(|(request, _)| (*request as usize) < first_request);
        (picks.len() - before) as u32
    }

    /// Goes back to the nearest choice of the claim that has another alternative, which is returned, or else to where this is a
    /// failure like any other: a choice of which an alternative failed otherwise, or the claim before.
    pub(crate) fn retreat_from_limit(&mut self, exceeding: usize) -> Option<Frame> {
        let claim = self.claim_of(exceeding);
        while let Some(mut frame) = self.lists.frames.pop() {
            let index = frame.want as usize;
            if self.claim_of(index) != claim {
                self.lists.frames.push(frame);
                break;
            }
            if frame.state == FrameState::Choice {
                if self.step(&mut frame) {
                    self.lists.frames.push(frame);
                    return Some(frame);
                }
                self.drop_frame(&frame);
                if !frame.all_exceed {
                    break;
                }
                continue;
            }
            if frame.state == FrameState::Picked {
                self.undo(&frame, self.lists.wants[index]);
                frame.reached_ever = frame.reached_ever.max(frame.reached);
            }
            self.drop_frame(&frame);
        }
        None
    }

    pub(crate) fn claim_of(&self, want: usize) -> usize {
        self.plan.requests[self.lists.wants[want].request as usize].claim
    }

    /// Remembers which alternatives lead to the solution.
    pub(crate) fn note_choices(&mut self) {
        if !self.plan.has_alternatives {
            return;
        }
        let choices = self.lists.frames.iter();
        let choices = choices.filter(|frame| frame.state == FrameState::Choice);
        let wants = &self.lists.wants;
        self.lists.chosen = choices
            .map(|frame| wants[frame.want as usize].request)
            .collect();
    }
}

/// [`MAX_RESULTS`], as devices are counted here.
pub(crate) const LIMIT: u32 = MAX_RESULTS as u32;
