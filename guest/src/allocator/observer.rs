//! Somebody who may watch a search, for those who ask why. Nobody watches those that decide: then all of this is compiled to
//! nothing.

use super::lists::Lists;
use super::requests::Plan;
use super::search::Halt;

/// Is told how a search goes. What it is told is made only if it asks.
pub trait Observer {
    /// Whether it wants to see the search even where it is known what that will find.
    const WATCHES: bool = true;

    /// The next device is looked for: how many are picked, and for which request (index in the plan).
    fn looks_for(&mut self, place: impl FnOnce() -> (usize, u32));

    /// The search ended. What is to be told of it takes the request that the observer remembers, to name it.
    fn ended(&mut self, end: impl FnOnce(Option<u32>) -> Progress);
}

/// Nobody.
impl Observer for () {
    const WATCHES: bool = false;

    fn looks_for(&mut self, _: impl FnOnce() -> (usize, u32)) {}

    fn ended(&mut self, _: impl FnOnce(Option<u32>) -> Progress) {}
}

/// Claim and request by name.
pub type RequestName = (String, String);

/// How far a search came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Devices that were visited.
    pub steps: u64,
    /// Devices that might have been.
    pub limit: u64,
    /// The request at work when the limit ended it.
    pub exhausted: Option<RequestName>,
    /// Most devices that were picked at once.
    pub placed: usize,
    /// For which request the next device was looked for then, unless everything was found.
    pub stuck: Option<RequestName>,
}

impl Progress {
    pub(crate) fn new(
        found: &Result<bool, Halt>,
        plan: &Plan,
        (steps, limit): (u64, u64),
        lists: &Lists,
        stuck: Option<u32>,
    ) -> Self {
        let name = |request: usize| {
            let request = &plan.requests[request];
            (plan.claim_name(request.claim), request.full_name.clone())
        };
        let mut progress = Self {
            steps,
            limit,
            exhausted: None,
            placed: lists.picks.len(),
            stuck: stuck.map(|request| name(request as usize)),
        };
        match found {
            Ok(true) => progress.stuck = None,
            Err(Halt::OutOfSteps(request)) => progress.exhausted = Some(name(*request)),
            _ => {}
        }
        progress
    }
}

/// Remembers where a search stood when it had picked the most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watcher {
    furthest: Option<(usize, u32)>,
    /// There once a search has ended.
    pub progress: Option<Progress>,
}

impl Observer for Watcher {
    fn looks_for(&mut self, place: impl FnOnce() -> (usize, u32)) {
        let place = place();
        if self.furthest.is_none_or(|furthest| place.0 > furthest.0) {
            self.furthest = Some(place);
        }
    }

    fn ended(&mut self, end: impl FnOnce(Option<u32>) -> Progress) {
        let mut progress = end(self.furthest.map(|(_, request)| request));
        let placed = self.furthest.map_or(0, |(picked, _)| picked);
        progress.placed = progress.placed.max(placed);
        self.progress = Some(progress);
    }
}
