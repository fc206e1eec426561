//! The search itself: spec section 9.5.

use super::*;

impl<'a> Oracle<'a> {
    pub(super) fn solve(&mut self, c: usize, r: usize) -> Result<Found, String> {
        if c == self.cluster.claims.len() {
            return Ok(Found::Yes);
        }
        if r == self.cluster.claims[c].requests.len() {
            return Ok(match self.solve(c + 1, 0)? {
                Found::TooMany => Found::No,
                found => found,
            });
        }
        let is_choice = matches!(
            self.cluster.claims[c].requests[r].body,
            RequestBody::FirstAvailable(_)
        );
        let mut all_exceed = true;
        for a in 0..self.alternatives(c, r) {
            match self.solve_one((c, r, a), 0)? {
                Found::TooMany if is_choice => {}
                Found::No if is_choice => all_exceed = false,
                found => return Ok(found),
            }
        }
        Ok(if all_exceed {
            Found::TooMany
        } else {
            Found::No
        })
    }

    /// Device `k` of a request and what follows.
    fn solve_one(&mut self, asked: Asked, k: usize) -> Result<Found, String> {
        let (c, r, _) = asked;
        let devices = self.all.get(&asked).cloned();
        let needed = match &devices {
            Some(devices) if devices.is_empty() && self.profile.all_mode_needs_a_device() => {
                return Ok(Found::No);
            }
            Some(devices) => devices.len() as i64,
            None => self.request(asked).count,
        };
        if k as i64 >= needed {
            return self.solve(c, r + 1);
        }
        let picked = self.picks.iter().filter(|pick| pick.claim == c).count() as i64;
        if picked + needed - k as i64 > 32 {
            return Ok(Found::TooMany);
        }
        match devices {
            Some(devices) => self.solve_all(asked, k, devices[k]),
            None => self.solve_exact(asked, k),
        }
    }

    fn solve_all(
        &mut self,
        asked: Asked,
        k: usize,
        (slot, index): (usize, usize),
    ) -> Result<Found, String> {
        let (c, r, a) = asked;
        self.visits += 1;
        let mut taken = false;
        if self.is_free(asked, slot, index) {
            if !self.has_counters(slot, index) || !self.is_tolerated(asked, slot, index) {
                return Ok(Found::No);
            }
            if !self.satisfies_constraints(asked, slot, index) {
                let claim = &self.cluster.claims[c];
                let (driver, pool, device) = self.id(slot, index);
                return Err(format!(
                    "claim {}/{}, request {}: cannot add device {driver}/{pool}/{device} because a claim constraint would not be satisfied",
                    claim.meta.namespace,
                    claim.meta.name,
                    self.names(c, r, a).0
                ));
            }
            self.pick(asked, slot, index);
            taken = true;
        } else if self.profile.all_mode_refuses_devices_in_use() {
            return Ok(Found::No);
        }
        let found = self.solve_one(asked, k + 1)?;
        if found == Found::Yes {
            return Ok(found);
        }
        if !self.profile.all_mode_backtracks() {
            return Err("stop allocation".into());
        }
        if taken {
            self.picks.pop();
        }
        Ok(found)
    }

    fn solve_exact(&mut self, asked: Asked, k: usize) -> Result<Found, String> {
        for p in 0..self.pools.len() {
            let pool = &self.pools[p];
            if (pool.incomplete || pool.invalid) && self.profile.exact_count_skips_bad_pools() {
                continue;
            }
            for slot in pool.slices.clone() {
                for index in 0..self.slice(slot).devices.len() {
                    self.visits += 1;
                    if self.visits > self.limit {
                        return Err("too many visits".into());
                    }
                    if !self.is_free(asked, slot, index)
                        || !self.is_selectable(asked, slot, index, true)?
                        || !self.has_counters(slot, index)
                        || !self.is_tolerated(asked, slot, index)
                        || !self.satisfies_constraints(asked, slot, index)
                    {
                        continue;
                    }
                    self.pick(asked, slot, index);
                    match self.solve_one(asked, k + 1)? {
                        Found::Yes => return Ok(Found::Yes),
                        Found::No => {
                            self.picks.pop();
                        }
                        Found::TooMany => {
                            self.picks.pop();
                            return Ok(Found::TooMany);
                        }
                    }
                }
            }
        }
        Ok(Found::No)
    }

    fn pick(&mut self, (claim, request, alternative): Asked, slot: usize, index: usize) {
        self.picks.push(Pick {
            claim,
            request,
            alternative,
            slot,
            index,
        });
    }
}
