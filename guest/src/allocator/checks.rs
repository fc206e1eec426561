//! The checks of the claims that depend on the node: the rest of spec section 9.2. They find the devices of `All` requests.

use std::collections::BTreeMap;

use super::lists::{Want, insert};
use super::requests::{Check, check_limit};
use super::search::{Halt, Search};

impl Search<'_, '_> {
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
        for (position, candidate) in self.pools.candidates.iter().enumerate() {
            if !self.inventory.is_held(candidate.device, self.admin_holds) {
                insert(&mut self.lists.free, position);
            }
        }
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
                return Err(Halt::Error(format!(
                    "claim {claim}, request {name}: asks for all devices, but resource pool {pool} is currently {what}"
                )));
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
                if matches == Some(true) {
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
        });
        Ok(())
    }

    fn check_limit(&self, claim: usize) -> Result<(), Halt> {
        let claim = &self.plan.claims[claim];
        let exact = self.plan.requests[claim.requests.clone()]
            .iter()
            .filter_map(|request| request.count);
        let all = self
            .lists
            .wants
            .iter()
            .filter(|want| claim.requests.contains(&(want.request as usize)));
        let sum = exact
            .map(|count| count.max(0))
            .chain(all.map(|want| i64::from(want.needed)))
            .fold(0, i64::saturating_add);
        check_limit(&claim.claim, sum).map_err(Halt::Error)
    }

    /// Lists what the search is for. At this point the list holds the `All` requests.
    fn collect_wants(&mut self) {
        let all = std::mem::take(&mut self.lists.wants);
        let mut all = all.iter().peekable();
        let keeps_empty = self.profile.all_mode_needs_a_device();
        for (i, request) in self.plan.requests.iter().enumerate() {
            let i = i as u32;
            match request.count {
                Some(count) if count > 0 => {
                    self.lists.wants.push(Want {
                        request: i,
                        needed: count as u32,
                        all: None,
                        admin: request.admin,
                        selects: !request.selectors.is_empty(),
                    });
                }
                Some(_) => {}
                None => {
                    let found = all.next_if(|want| want.request == i);
                    self.lists
                        .wants
                        .extend(found.filter(|want| want.needed > 0 || keeps_empty));
                }
            }
        }
    }
}
