//! The working lists of the search.

use super::pools::Candidate;

/// Lists that are reused from node to node.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Requests that need devices, in order.
    pub wants: Vec<Want>,
    /// The list is the same for every node and was made.
    pub wants_are_known: bool,
    /// Devices of the `All` requests: positions of candidates.
    pub all_devices: Vec<u32>,
    pub frames: Vec<Frame>,
    /// By candidate: 1 + index of the claim that picked the device last, or 0.
    pub picked_for: Vec<u32>,
    /// What is known about selectors: for each want, by candidate, as far as it was visited.
    verdicts: Vec<Vec<Verdict>>,
    rows_in_use: usize,
    /// The solution: (request index in the plan, position of the candidate), in order.
    pub picks: Vec<(u32, u32)>,
}

/// A request that needs devices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want {
    /// Index in the plan.
    pub request: u32,
    /// Number of devices; zero only for an `All` request that found none and so cannot be satisfied (L1).
    pub needed: u32,
    /// Start in [`Lists::all_devices`] for an `All` request.
    pub all: Option<u32>,
    pub admin: bool,
}

/// The search for one device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    pub want: u32,
    /// Which device of the request.
    pub k: u32,
    /// Candidate that is picked, or the first one to try.
    pub position: u32,
    pub state: FrameState,
    /// [`Lists::picked_for`] before the pick.
    pub picked_for_before: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameState {
    Fresh,
    Picked,
    /// Went on without a device: in 1.31 an `All` request leaves out devices in use (D2).
    LeftOut,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verdict {
    #[default]
    Unknown,
    No,
    Yes,
}

impl Lists {
    /// Makes the lists ready for a node with this many candidates.
    pub(crate) fn start(&mut self, candidates: usize, has_all: bool) {
        if has_all {
            self.wants.clear();
        }
        self.all_devices.clear();
        self.frames.clear();
        self.picks.clear();
        self.picked_for.clear();
        self.picked_for.resize(candidates, 0);
        for row in &mut self.verdicts[..self.rows_in_use] {
            row.clear();
        }
        self.rows_in_use = 0;
    }

    /// What is known about the selectors of a want for a device.
    pub(crate) fn verdict(&self, want: usize, candidate: &Candidate) -> Verdict {
        let row = if want < self.rows_in_use {
            self.verdicts[want].get(candidate.first as usize)
        } else {
            None
        };
        row.copied().unwrap_or_default()
    }

    /// Remembers whether a device matches the selectors of a want.
    pub(crate) fn learn(&mut self, want: usize, candidate: &Candidate, matches: bool) {
        if want >= self.verdicts.len() {
            self.verdicts.resize_with(want + 1, Vec::new);
        }
        self.rows_in_use = self.rows_in_use.max(want + 1);
        learn(&mut self.verdicts[want], candidate, matches);
    }
}

/// Notes a verdict in a row; rows are as long as what was learnt, so that they cannot outgrow the step budget.
pub(crate) fn learn(row: &mut Vec<Verdict>, candidate: &Candidate, matches: bool) {
    let at = candidate.first as usize;
    if at >= row.len() {
        row.resize(at + 1, Verdict::Unknown);
    }
    row[at] = if matches { Verdict::Yes } else { Verdict::No };
}
