//! The allocator once more, written to be obvious: the text of spec section 9 as a recursive function, without indexes, caches
//! across nodes, pruning or undo lists. Only the answer, and what is evaluated in which order, count.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{Cluster, Evaluation, evaluate};
use crate::allocator::selectors::SelectorError;
use crate::api::{
    Attribute, Device, DeviceConstraint, ExactRequest, Node, Reach, RequestBody, ResourceSlice,
};
use crate::node_selector::NodeSelector;
use crate::profile::Profile;

/// (driver, pool, device).
type Id = (String, String, String);

struct Pool {
    /// Slots of the kept slices, in order; in 1.31 a slot may be there twice (D3).
    slices: Vec<usize>,
    name: String,
    incomplete: bool,
    invalid: bool,
}

/// A device that was picked.
#[derive(Clone)]
struct Pick {
    claim: usize,
    request: usize,
    slot: usize,
    index: usize,
}

pub struct Oracle<'a> {
    cluster: &'a Cluster,
    profile: &'a Profile,
    pools: Vec<Pool>,
    known: BTreeMap<(usize, usize, Id), bool>,
    /// By claim and request: the devices of All requests.
    all: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    picks: Vec<Pick>,
    pub log: Vec<Evaluation>,
    /// Devices looked at.
    pub visits: u64,
    limit: u64,
}

/// The answer in the short form of [`super::support::short`], what was evaluated, and how many devices were looked at. `None`
/// if that would be more than `limit`.
pub fn answer(
    cluster: &Cluster,
    profile: &Profile,
    limit: u64,
) -> Option<(String, Vec<Evaluation>, u64)> {
    let mut oracle = Oracle {
        cluster,
        profile,
        pools: Vec::new(),
        known: BTreeMap::new(),
        all: BTreeMap::new(),
        picks: Vec::new(),
        log: Vec::new(),
        visits: 0,
        limit,
    };
    let answer = match oracle.run() {
        Err(_) if oracle.visits > limit => return None,
        Err(error) => format!("error: {error}"),
        Ok(false) if oracle.pools.iter().any(|pool| pool.invalid) => "invalid pools".into(),
        Ok(false) => "does not fit".into(),
        Ok(true) => oracle.describe(),
    };
    Some((answer, oracle.log, oracle.visits))
}

impl<'a> Oracle<'a> {
    fn run(&mut self) -> Result<bool, String> {
        self.gather()?;
        self.check_claims()?;
        self.known.clear();
        self.solve(0, 0, 0)
    }

    fn describe(&self) -> String {
        let claims = 0..self.cluster.claims.len();
        let of_claim = |claim: usize| {
            let picks = self.picks.iter().filter(|pick| pick.claim == claim);
            let text = picks.map(|pick| {
                let request = &self.cluster.claims[pick.claim].requests[pick.request].name;
                format!(
                    "{request}:{}/{}",
                    self.slice(pick.slot).pool,
                    self.device(pick.slot, pick.index).name
                )
            });
            text.collect::<Vec<_>>().join(" ")
        };
        claims.map(of_claim).collect::<Vec<_>>().join(" | ")
    }

    // Section 9.1.

    fn gather(&mut self) -> Result<(), String> {
        let slices = &self.cluster.slices;
        let mut list: Vec<usize> = (0..slices.len()).collect();
        list.sort_by_key(|&slot| (&slices[slot].name, slot));
        let mut reached = Vec::new();
        for &slot in &list {
            if reaches(&slices[slot], &self.cluster.node).map_err(|error| {
                format!(
                    "gather pool information: node selector in resource slice {}: {error}",
                    slices[slot].name
                )
            })? {
                reached.push(slot);
            }
        }
        if self.profile.completeness_over_whole_pool() {
            // The node's own slices come first.
            reached.sort_by_key(|&slot| !matches!(slices[slot].reach, Reach::NodeName(_)));
        }
        let mut pools: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
        for slot in reached {
            let slice = &slices[slot];
            let kept = pools
                .entry((slice.driver.to_string(), slice.pool.to_string()))
                .or_default();
            match kept.first().map(|&first| slices[first].generation) {
                Some(newest) if slice.generation < newest => {}
                Some(newest) if slice.generation > newest => {
                    *kept = if self.profile.newer_generation_stored_once() {
                        vec![slot]
                    } else {
                        vec![slot, slot]
                    };
                }
                _ => kept.push(slot),
            }
        }
        for ((driver, pool), kept) in pools {
            self.add_pool(&driver, &pool, kept);
        }
        Ok(())
    }

    fn add_pool(&mut self, driver: &str, pool: &str, mut kept: Vec<usize>) {
        let slices = &self.cluster.slices;
        let first = &slices[kept[0]];
        let mut count = kept.len() as i64;
        if count != first.resource_slice_count && self.profile.completeness_over_whole_pool() {
            let of_pool = || {
                slices
                    .iter()
                    .filter(|slice| *slice.driver == *driver && *slice.pool == *pool)
            };
            if of_pool().any(|slice| slice.generation > first.generation) {
                return;
            }
            count = of_pool()
                .filter(|slice| slice.generation == first.generation)
                .count() as i64;
        }
        let incomplete = count != first.resource_slice_count;
        kept.sort_by_key(|&slot| (&slices[slot].name, slot));
        let mut names = BTreeSet::new();
        let repeated = kept
            .iter()
            .flat_map(|&slot| &slices[slot].devices)
            .any(|device| !names.insert(&device.name));
        let invalid = repeated && self.profile.duplicate_devices_invalidate_pool();
        self.pools.push(Pool {
            slices: kept,
            name: format!("{driver}/{pool}"),
            incomplete,
            invalid,
        });
    }

    // Section 9.2.

    fn check_claims(&mut self) -> Result<(), String> {
        for c in 0..self.cluster.claims.len() {
            let claim = &self.cluster.claims[c];
            let name = format!("{}/{}", claim.meta.namespace, claim.meta.name);
            let mut sum: i128 = 0;
            for r in 0..claim.requests.len() {
                sum += self.check_request(&name, c, r)?;
            }
            if sum > 32 {
                return Err(format!(
                    "claim {name}: number of requested devices {sum} exceeds the claim limit of 32"
                ));
            }
            for (i, constraint) in claim.constraints.iter().enumerate() {
                if constraint.match_attribute.is_none() {
                    return Err(format!(
                        "claim {name}, constraint #{i}: empty constraint (unsupported constraint type?)"
                    ));
                }
            }
        }
        Ok(())
    }

    fn check_request(&mut self, claim: &str, c: usize, r: usize) -> Result<i128, String> {
        let exact = self.request(c, r);
        let request = &self.cluster.claims[c].requests[r].name;
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
                    if self.is_selectable(c, r, slot, index, classes)? {
                        found.push((slot, index));
                    }
                }
            }
        }
        let count = found.len() as i128;
        self.all.insert((c, r), found);
        Ok(count)
    }

    // Section 9.4.

    fn is_selectable(
        &mut self,
        c: usize,
        r: usize,
        slot: usize,
        index: usize,
        classes: bool,
    ) -> Result<bool, String> {
        let cluster = self.cluster;
        let (slice, device) = (&cluster.slices[slot], &cluster.slices[slot].devices[index]);
        if !device.usable {
            return Ok(false);
        }
        let key = (c, r, self.id(slot, index));
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let exact = self.request(c, r);
        let class = cluster.find_class(&exact.device_class_name)?;
        let of_class = class
            .selectors
            .iter()
            .enumerate()
            .filter(|_| classes)
            .map(|(i, selector)| (true, i, selector));
        let own = exact
            .selectors
            .iter()
            .enumerate()
            .map(|(i, selector)| (false, i, selector));
        let mut answer = true;
        for (is_class, i, selector) in of_class.chain(own) {
            let claim = &cluster.claims[c].meta;
            let owner = if is_class {
                format!("class {}", class.name)
            } else {
                format!("claim {}/{}", claim.namespace, claim.name)
            };
            let text = selector
                .cel
                .as_deref()
                .expect("selectors of random clusters have text");
            self.log.push((text.to_string(), slot as u32, index as u32));
            match evaluate(text, &slice.driver, device) {
                Ok(true) => {}
                Ok(false) => {
                    answer = false;
                    break;
                }
                Err(SelectorError::Compile(error)) => {
                    return Err(format!(
                        "{owner}: selector #{i}: CEL compile error: {error}"
                    ));
                }
                Err(SelectorError::Runtime(error)) => {
                    return Err(format!(
                        "{owner}: selector #{i}: CEL runtime error: {error}"
                    ));
                }
            }
        }
        self.known.insert(key, answer);
        Ok(answer)
    }

    // Section 9.5.

    fn solve(&mut self, c: usize, r: usize, k: usize) -> Result<bool, String> {
        if c == self.cluster.claims.len() {
            return Ok(true);
        }
        if r == self.cluster.claims[c].requests.len() {
            return self.solve(c + 1, 0, 0);
        }
        match self.all.get(&(c, r)).cloned() {
            Some(devices) => self.solve_all(c, r, k, &devices),
            None => self.solve_exact(c, r, k),
        }
    }

    fn solve_all(
        &mut self,
        c: usize,
        r: usize,
        k: usize,
        devices: &[(usize, usize)],
    ) -> Result<bool, String> {
        if devices.is_empty() && self.profile.all_mode_needs_a_device() {
            return Ok(false);
        }
        let Some(&(slot, index)) = devices.get(k) else {
            return self.solve(c, r + 1, 0);
        };
        self.visits += 1;
        let mut taken = false;
        if self.is_free(c, r, slot, index) {
            if !self.satisfies_constraints(c, r, slot, index) {
                let claim = &self.cluster.claims[c];
                let (driver, pool, device) = self.id(slot, index);
                return Err(format!(
                    "claim {}/{}, request {}: cannot add device {driver}/{pool}/{device} because a claim constraint would not be satisfied",
                    claim.meta.namespace, claim.meta.name, claim.requests[r].name
                ));
            }
            self.picks.push(Pick {
                claim: c,
                request: r,
                slot,
                index,
            });
            taken = true;
        } else if self.profile.all_mode_refuses_devices_in_use() {
            return Ok(false);
        }
        if self.solve(c, r, k + 1)? {
            return Ok(true);
        }
        if !self.profile.all_mode_backtracks() {
            return Err("stop allocation".into());
        }
        if taken {
            self.picks.pop();
        }
        Ok(false)
    }

    fn solve_exact(&mut self, c: usize, r: usize, k: usize) -> Result<bool, String> {
        if k as i64 >= self.request(c, r).count {
            return self.solve(c, r + 1, 0);
        }
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
                    if !self.is_free(c, r, slot, index)
                        || !self.is_selectable(c, r, slot, index, true)?
                        || !self.satisfies_constraints(c, r, slot, index)
                    {
                        continue;
                    }
                    self.picks.push(Pick {
                        claim: c,
                        request: r,
                        slot,
                        index,
                    });
                    if self.solve(c, r, k + 1)? {
                        return Ok(true);
                    }
                    self.picks.pop();
                }
            }
        }
        Ok(false)
    }

    fn is_free(&self, c: usize, r: usize, slot: usize, index: usize) -> bool {
        let id = self.id(slot, index);
        let is_admin = |pick: &Pick| self.request(pick.claim, pick.request).admin_access;
        let same = |pick: &&Pick| self.id(pick.slot, pick.index) == id;
        let later_rules = self.profile.admin_access_excludes_own_devices();
        if self.request(c, r).admin_access {
            return !later_rules || !self.picks.iter().filter(same).any(|pick| pick.claim == c);
        }
        let holds = |admin: bool| !(admin && self.profile.admin_access_in_results());
        let held = self
            .cluster
            .held
            .iter()
            .flat_map(|allocation| &allocation.results)
            .any(|result| {
                holds(result.admin_access)
                    && (
                        result.driver.to_string(),
                        result.pool.to_string(),
                        result.device.to_string(),
                    ) == id
            });
        !held
            && !self
                .picks
                .iter()
                .filter(same)
                .any(|pick| later_rules || !is_admin(pick))
    }

    fn satisfies_constraints(&self, c: usize, r: usize, slot: usize, index: usize) -> bool {
        self.cluster.claims[c].constraints.iter().all(|constraint| {
            let covers = |request: usize| {
                let name = &self.cluster.claims[c].requests[request].name;
                constraint.requests.is_empty() || constraint.requests.contains(name)
            };
            if !covers(r) {
                return true;
            }
            let Some(value) = self.value(constraint, slot, index) else {
                return false;
            };
            match self
                .picks
                .iter()
                .find(|pick| pick.claim == c && covers(pick.request))
            {
                None => true,
                Some(first) => {
                    self.value(constraint, first.slot, first.index) == Some(value)
                        && *value != Attribute::Unknown
                }
            }
        })
    }

    fn value(
        &self,
        constraint: &DeviceConstraint,
        slot: usize,
        index: usize,
    ) -> Option<&Attribute> {
        let name = constraint.match_attribute.as_deref()?;
        let find = |name: &str| {
            let mut attributes = self.device(slot, index).attributes.iter();
            attributes
                .find(|(given, _)| **given == *name)
                .map(|(_, value)| value)
        };
        find(name).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            if domain == &*self.slice(slot).driver {
                find(id)
            } else {
                None
            }
        })
    }

    fn request(&self, c: usize, r: usize) -> &'a ExactRequest {
        let cluster = self.cluster;
        match &cluster.claims[c].requests[r].body {
            RequestBody::Exactly(exact) => exact,
            RequestBody::FirstAvailable(_) => panic!("random clusters have exact requests only"),
        }
    }

    fn slice(&self, slot: usize) -> &ResourceSlice {
        &self.cluster.slices[slot]
    }

    fn device(&self, slot: usize, index: usize) -> &Device {
        &self.cluster.slices[slot].devices[index]
    }

    fn id(&self, slot: usize, index: usize) -> Id {
        let slice = self.slice(slot);
        (
            slice.driver.to_string(),
            slice.pool.to_string(),
            slice.devices[index].name.to_string(),
        )
    }
}

fn reaches(slice: &ResourceSlice, node: &Node) -> Result<bool, String> {
    match &slice.reach {
        Reach::NodeName(name) => Ok(*name == node.name),
        Reach::AllNodes => Ok(true),
        Reach::NodeSelector(selector) => Ok(NodeSelector::parse(selector)?.matches(node)),
        Reach::Nowhere => Ok(false),
    }
}
