//! The checks of the claims that depend on the node: the rest of spec section 9.2. They find the devices of `All` requests.

use std::collections::BTreeMap;

use super::lists::Want;
use super::requests::{Check, MAX_RESULTS, Request, check_limit};
use super::search::{Halt, Search};
use super::selectors::Selectors;

impl<S: Selectors> Search<'_, '_, S> {
    /// Checks the claims on this node (the rest of spec section 9.2), which finds the devices of `All` requests.
    pub(crate) fn check(&mut self) -> Result<(), Halt> {
        let plan = self.plan;
        self.lists.start(self.pools, plan, self.inventory);
        for check in &plan.checks {
            match check {
                Check::Fail(error) => return Err(Halt::Error(error.clone())),
                Check::All(request) => self.find_all(*request)?,
                Check::Limit(claim) => self.check_limit(*claim)?,
            }
        }
        if plan.has_all || !self.lists.wants_are_known {
            self.collect_wants();
            self.lists.wants_are_known = true;
        }
        let candidates = self.pools.candidates.chunks(64);
        for (free, candidates) in self.lists.free.iter_mut().zip(candidates) {
            for (bit, candidate) in candidates.iter().enumerate() {
                let held = self.inventory.is_held(candidate.device, self.admin_holds);
                *free |= u64::from(!held) << bit;
            }
        }
        self.lists.free_at_first.clone_from(&self.lists.free);
        Ok(())
    }

    /// Determines the devices of an `All` request.
    fn find_all(&mut self, index: usize) -> Result<(), Halt> {
        let (plan, pools) = (self.plan, self.pools);
        let request = &plan.requests[index];
        let first = self.lists.all_devices.len() as u32;
        // Of a repeated device the first verdict counts, also for the others.
        let mut known: BTreeMap<u32, bool> = BTreeMap::new();
        for pool in &pools.pools {
            if pool.incomplete || pool.invalid {
                let what = if pool.incomplete {
                    "being updated"
                } else {
                    "invalid"
                };
                let (claim, name) = (plan.claim_name(request.claim), &request.name);
                let pool = pools.name_of(pool, self.inventory);
                let text = format!(
                    "claim {claim}, request {name}: asks for all devices, but resource pool {pool} is currently {what}"
                );
                return Err(if self.profile.bad_pools_refuse_the_node_only() {
                    Halt::BadPool(text)
                } else {
                    Halt::Error(text)
                });
            }
            for position in pool.candidates.clone() {
                self.steps(1, index)?;
                let candidate = &pools.candidates[position];
                let matches = match known.get(&candidate.first) {
                    Some(&matches) => candidate.device(self.inventory).usable.then_some(matches),
                    None => self.evaluate(request, candidate)?,
                };
                if let (Some(matches), true) = (matches, pools.has_repeats) {
                    known.insert(candidate.first, matches);
                }
                if matches == Some(true) && !pools.is_elsewhere(position) {
                    self.lists.all_devices.push(position as u32);
                }
            }
        }
        let needed = self.lists.all_devices.len() as u32 - first;
        let all = Some(first);
        self.lists.wants.push(Want {
            request: index as u32,
            needed,
            all,
            admin: request.admin,
            selects: !request.selectors.is_empty(),
            group: [0; 2],
        });
        Ok(())
    }

    fn check_limit(&self, claim: usize) -> Result<(), Halt> {
        let claim = &self.plan.claims[claim];
        let requests = &self.plan.requests[claim.requests.clone()];
        let needed = |index: usize, request: &Request| match request.count {
            Some(count) => count.max(0),
            None => {
                let index = (claim.requests.start + index) as u32;
                let mut all = self.lists.wants.iter();
                let found = all.find(|want| want.request == index);
                found.map_or(0, |want| i64::from(want.needed))
            }
        };
        let mut sum: i64 = 0;
        let mut index = 0;
        for group in requests.chunk_by(|a, b| a.group == b.group) {
            let least = (index..).zip(group).map(|(i, request)| needed(i, request));
            sum = sum.saturating_add(least.min().unwrap_or(0));
            index += group.len();
        }
        check_limit(&claim.claim, sum).map_err(Halt::Error)
    }

    /// Lists what the search is for. At this point the list holds the `All` requests.
    fn collect_wants(&mut self) {
        let all = std::mem::take(&mut self.lists.wants);
        let mut all = all.iter().peekable();
        let keeps_empty = self.profile.all_mode_needs_a_device();
        let mut index = 0;
        let same_group = |a: &Request, b: &Request| (a.claim, a.group) == (b.claim, b.group);
        for group in self.plan.requests.chunk_by(same_group) {
            let start = self.lists.wants.len();
            for request in group {
                let wanted = match request.count {
                    Some(count) => Some(Want {
                        request: index,
                        // More than a claim may get is too many, however many.
                        needed: count.clamp(0, MAX_RESULTS + 1) as u32,
                        all: None,
                        admin: request.admin,
                        selects: !request.selectors.is_empty(),
                        group: [0; 2],
                    }),
                    None => all.next_if(|want| want.request == index).copied(),
                };
                // What needs nothing is left out, unless it is an alternative, which then is the chosen one.
                let matters = |want: &Want| {
                    want.needed > 0
                        || request.alternative.is_some()
                        || (want.all.is_some() && keeps_empty)
                };
                self.lists.wants.extend(wanted.filter(matters));
                index += 1;
            }
            let end = self.lists.wants.len();
            for want in &mut self.lists.wants[start..] {
                want.group = [start as u32, end as u32];
            }
        }
    }
}
