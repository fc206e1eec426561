//! The working lists of the search, reused from node to node.
//!
//! Sets of candidates are bit sets: a node has few devices, and nearly all questions of the search are about sets.

use super::constraints::Bindings;
use super::inventory::Inventory;
use super::pools::NodePools;
use super::requests::Plan;
use crate::api::DeviceToleration;

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Requests that need devices, in order.
    pub wants: Vec<Want>,
    /// The list is the same for every node and was made.
    pub wants_are_known: bool,
    /// Devices of the `All` requests: positions of candidates.
    pub all_devices: Vec<u32>,
    pub frames: Vec<Frame>,
    /// Devices that a frame picked in vain, frame after frame.
    pub failed: Vec<Failed>,
    pub bindings: Bindings,
    /// Candidates that ordinary requests may get.
    pub free: Vec<u64>,
    /// The same before any pick.
    pub free_at_first: Vec<u64>,
    /// By candidate: 1 + index of the claim that picked the device last, or 0.
    pub picked_for: Vec<u32>,
    pub verdicts: Verdicts,
    /// The solution: (request index in the plan, position of the candidate), in order.
    pub picks: Vec<(u32, u32)>,
    /// Of the solution: the chosen alternatives, as request indices in the plan, in order.
    pub chosen: Vec<u32>,
    /// What is left of the counters of the node's pools.
    pub counters: Vec<i128>,
    /// For counting: what all wants could get, and what one could.
    pub union: Vec<u64>,
    pub possible: Vec<u64>,
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
    /// There are selectors; without any all devices match.
    pub selects: bool,
    /// Start and end of the wants that are alternatives to one another, among them this one.
    pub group: [u32; 2],
}

impl Want {
    /// The first want that comes after this one was satisfied.
    pub(crate) fn next(&self) -> usize {
        self.group[1] as usize
    }
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
    /// The pick took the device from the free ones.
    pub was_free: bool,
    /// The furthest want that the search has come to since the pick.
    pub reached: u32,
    /// The same for all picks of this frame.
    pub reached_ever: u32,
    /// Start of the frame's part of [`Lists::failed`].
    pub failed: u32,
    /// Of a choice: every alternative so far failed because the claim would get too many devices.
    pub all_exceed: bool,
}

impl Frame {
    /// To try candidates from `start` on.
    pub(crate) fn new(want: usize, k: u32, start: u32) -> Self {
        let want = want as u32;
        Self {
            want,
            k,
            position: start,
            state: FrameState::Fresh,
            picked_for_before: 0,
            was_free: false,
            reached: want,
            reached_ever: want,
            failed: 0,
            all_exceed: true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameState {
    Fresh,
    Picked,
    /// Went on without a device: in 1.31 an `All` request leaves out devices in use (D2).
    LeftOut,
    /// Not for a device: the want is the alternative that is being tried.
    Choice,
}

/// A candidate that led to no solution, with the furthest want that was reached meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    pub position: u32,
    pub reached: u32,
}

/// What is known about selectors, want by want, as far as the search came. A device that the want may not get in spite of its
/// selectors (it has a taint that is not tolerated, or is elsewhere) counts as one that does not match, once it is known.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    /// Words of one set.
    words: usize,
    /// Candidates without content: for every want known not to match.
    unusable: Vec<u64>,
    /// For each want two sets: the known candidates, and those of them that match.
    rows: Vec<u64>,
    /// For each want the set of candidates that it may not get; empty if there is none on the node.
    barred: Vec<u64>,
    wants: usize,
}

impl Verdicts {
    /// Opens the sets of the wants up to `last`; the first one that was not open before.
    #[inline]
    pub(crate) fn open(
        &mut self,
        wants: &[Want],
        last: usize,
        plan: &Plan,
        pools: &NodePools,
    ) -> usize {
        let first = self.wants;
        if last >= first {
            self.open_more(wants, last, plan, pools);
        }
        first
    }

    fn open_more(&mut self, wants: &[Want], last: usize, plan: &Plan, pools: &NodePools) {
        for want in wants.iter().take(last + 1).skip(self.wants) {
            if want.selects {
                self.rows.extend_from_slice(&self.unusable);
                self.rows.resize(self.rows.len() + self.words, 0);
            } else {
                self.rows.resize(self.rows.len() + self.words, u64::MAX);
                self.rows.extend(self.unusable.iter().map(|word| !word));
            }
            self.wants += 1;
            if pools.has_barred() {
                self.bar(
                    plan.requests[want.request as usize].tolerations.as_slice(),
                    pools,
                );
            }
        }
    }

    /// Notes which candidates the want that was opened last may not get.
    fn bar(&mut self, tolerations: &[DeviceToleration], pools: &NodePools) {
        let start = self.barred.len();
        self.barred.resize(start + self.words, 0);
        pools.each_barred(tolerations, |position| {
            insert(&mut self.barred[start..], position);
        });
        let matching = self.rows.len() - self.words;
        for (matching, barred) in self.rows[matching..].iter_mut().zip(&self.barred[start..]) {
            *matching &= !barred;
        }
    }

    /// Whether the want's set is there.
    pub(crate) fn is_open(&self, want: usize) -> bool {
        want < self.wants
    }

    /// Whether an open want may not get the candidate, whatever its selectors say.
    pub(crate) fn is_barred(&self, want: usize, position: usize) -> bool {
        !self.barred.is_empty() && contains(&self.barred[want * self.words..], position)
    }

    /// Of an open want: known candidates, and those that match.
    pub(crate) fn of(&self, want: usize) -> (&[u64], &[u64]) {
        self.rows[want * 2 * self.words..][..2 * self.words].split_at(self.words)
    }

    /// Whether the candidate matches, if that is known.
    pub(crate) fn get(&self, want: usize, position: usize) -> Option<bool> {
        if !self.is_open(want) {
            return None;
        }
        let (known, matching) = self.of(want);
        contains(known, position).then(|| contains(matching, position))
    }

    /// Remembers whether the selectors match the device of a candidate, for an open want.
    pub(crate) fn learn(&mut self, want: usize, position: usize, matches: bool, pools: &NodePools) {
        pools.each_same(position, |same| {
            if contains(&self.unusable, same) {
                return;
            }
            let matches = matches && !self.is_barred(want, same);
            let row = &mut self.rows[want * 2 * self.words..][..2 * self.words];
            let (known, matching) = row.split_at_mut(self.words);
            insert(known, same);
            if matches {
                insert(matching, same);
            }
        });
    }
}

impl Lists {
    /// Makes the lists ready for a node.
    pub(crate) fn start(&mut self, pools: &NodePools, plan: &Plan, inventory: &Inventory) {
        if plan.has_all {
            self.wants.clear();
        }
        self.all_devices.clear();
        self.frames.clear();
        self.failed.clear();
        self.picks.clear();
        self.chosen.clear();
        self.counters.clone_from(&pools.counters.available);
        let candidates = pools.candidates.len();
        let words = candidates.div_ceil(64);
        self.picked_for.clear();
        self.picked_for.resize(candidates, 0);
        self.bindings
            .start(plan.constraints.len(), candidates, inventory.version());
        self.free.clear();
        self.free.resize(words, 0);
        self.verdicts.words = words;
        self.verdicts.rows.clear();
        self.verdicts.barred.clear();
        self.verdicts.wants = 0;
        self.verdicts.unusable.clear();
        self.verdicts.unusable.resize(words, 0);
        for &position in &pools.unusable {
            insert(&mut self.verdicts.unusable, position as usize);
        }
    }
}

/// Whether a bit set has a number.
pub(crate) fn contains(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 != 0
}

/// Adds a number to a bit set.
pub(crate) fn insert(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

/// Removes a number from a bit set.
pub(crate) fn remove(set: &mut [u64], number: usize) {
    set[number / 64] &= !(1 << (number % 64));
}

/// The numbers from `start` on, of word `index` of a bit set.
pub(crate) fn from(start: usize, index: usize) -> u64 {
    match start.checked_sub(index * 64) {
        None | Some(0) => u64::MAX,
        Some(skipped @ 1..64) => u64::MAX << skipped,
        Some(_) => 0,
    }
}
