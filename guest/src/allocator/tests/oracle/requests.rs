//! What is looked at before the search: spec section 9.2.

use super::*;

impl<'a> Oracle<'a> {
    pub(super) fn check_claims(&mut self) -> Result<(), String> {
        for c in 0..self.cluster.claims.len() {
            let claim = &self.cluster.claims[c];
            let name = format!("{}/{}", claim.meta.namespace, claim.meta.name);
            let mut sum: i128 = 0;
            for r in 0..claim.requests.len() {
                let mut least = i128::MAX;
                for a in 0..self.alternatives(c, r) {
                    least = least.min(self.check_request(&name, (c, r, a))?);
                }
                sum += least;
            }
            if sum > 32 {
                return Err(format!(
                    "claim {name}: number of requested devices {sum} exceeds the claim limit of 32"
                ));
            }
            for (i, constraint) in claim.constraints.iter().enumerate() {
                if constraint.match_attribute.is_none() && constraint.distinct_attribute.is_none() {
                    return Err(format!(
                        "claim {name}, constraint #{i}: empty constraint (unsupported constraint type?)"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_request(&mut self, claim: &str, asked: Asked) -> Result<i128, String> {
        let exact = self.request(asked);
        let request = self.names(asked.0, asked.1, asked.2).0;
        self.cluster
            .find_class(&exact.device_class_name)
            .map_err(|error| {
                format!(
                    "claim {claim}, request {request}: could not retrieve device class {}: {error}",
                    exact.device_class_name
                )
            })?;
        if exact.allocation_mode == "ExactCount" {
            return Ok(i128::from(exact.count.max(0)));
        }
        let mut found = Vec::new();
        for p in 0..self.pools.len() {
            let pool = &self.pools[p];
            let state = if pool.incomplete {
                Some("being updated")
            } else if pool.invalid {
                Some("invalid")
            } else {
                None
            };
            if let Some(state) = state {
                let pool = &pool.name;
                return Err(format!(
                    "claim {claim}, request {request}: asks for all devices, but resource pool {pool} is currently {state}"
                ));
            }
            for slot in pool.slices.clone() {
                for index in 0..self.slice(slot).devices.len() {
                    let classes = self.profile.all_mode_applies_class_selectors();
                    if self.is_selectable(asked, slot, index, classes)? {
                        found.push((slot, index));
                    }
                }
            }
        }
        let count = found.len() as i128;
        self.all.insert(asked, found);
        Ok(count)
    }
}
