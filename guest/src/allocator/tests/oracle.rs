//! The allocator once more, written to be obvious: the text of spec section 9 as a recursive function, without indexes, caches
//! across nodes, pruning or undo lists. Only the answer, and what is evaluated in which order, count.

use std::collections::{BTreeMap, BTreeSet};

use super::support::{Cluster, Evaluation, evaluate};
use crate::allocator::selectors::SelectorError;
use crate::api::{
    Attribute, CounterSet, Device, DeviceConstraint, DeviceToleration, ExactRequest, Node, Reach,
    RequestBody, ResourceSlice, TaintEffect,
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
    /// Index among the alternatives; 0 for a request without.
    alternative: usize,
    slot: usize,
    index: usize,
}

/// Claim, request, alternative.
type Asked = (usize, usize, usize);

/// How an attempt ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Yes,
    No,
    /// The claim would get too many devices, whatever is picked for what comes before in it.
    TooMany,
}

pub struct Oracle<'a> {
    cluster: &'a Cluster,
    profile: &'a Profile,
    pools: Vec<Pool>,
    known: BTreeMap<(Asked, Id), bool>,
    /// The devices of All requests.
    all: BTreeMap<Asked, Vec<(usize, usize)>>,
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
        Ok(self.solve(0, 0)? == Found::Yes)
    }

    fn describe(&self) -> String {
        let claims = 0..self.cluster.claims.len();
        let of_claim = |claim: usize| {
            let picks = self.picks.iter().filter(|pick| pick.claim == claim);
            let text = picks.map(|pick| {
                let request = self.names(pick.claim, pick.request, pick.alternative).1;
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
        let all_of_pool = || {
            slices
                .iter()
                .filter(|slice| *slice.driver == *driver && *slice.pool == *pool)
        };
        let uses_counters = all_of_pool().any(|slice| {
            let mut devices = slice.devices.iter();
            !slice.counters.is_empty() || devices.any(|device| !consumed(device).is_empty())
        });
        if uses_counters && all_of_pool().any(|slice| slice.generation > first.generation) {
            return;
        }
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
        let generation = slices[kept[0]].generation;
        let counts: BTreeSet<i64> = all_of_pool()
            .filter(|slice| slice.generation == generation)
            .map(|slice| slice.resource_slice_count)
            .collect();
        let invalid =
            invalid || (counts.len() > 1 && self.profile.disagreeing_counts_invalidate_pool());
        let invalid = invalid || self.counters_are_invalid(driver, pool, generation);
        self.pools.push(Pool {
            slices: kept,
            name: format!("{driver}/{pool}"),
            incomplete,
            invalid,
        });
    }

    // KEP 4815.

    /// Slices of a pool, whoever can reach them.
    fn slices_of(
        &self,
        driver: &str,
        pool: &str,
        generation: i64,
    ) -> impl Iterator<Item = &'a ResourceSlice> {
        let (driver, pool) = (driver.to_string(), pool.to_string());
        self.cluster.slices.iter().filter(move |slice| {
            (&*slice.driver, &*slice.pool, slice.generation) == (&driver, &pool, generation)
        })
    }

    fn counters_are_invalid(&self, driver: &str, pool: &str, generation: i64) -> bool {
        let sets: Vec<_> = self
            .slices_of(driver, pool, generation)
            .flat_map(|slice| &slice.counters)
            .collect();
        let names: BTreeSet<_> = sets.iter().map(|set| &set.name).collect();
        let is_missing = |consumed: &CounterSet| {
            let set = sets.iter().find(|set| set.name == consumed.name);
            set.is_none_or(|set| {
                let has = |name| set.counters.iter().any(|(other, _)| other == name);
                !consumed.counters.iter().all(|(name, _)| has(name))
            })
        };
        let devices = self
            .slices_of(driver, pool, generation)
            .flat_map(|slice| &slice.devices);
        names.len() < sets.len() || devices.flat_map(consumed).any(is_missing)
    }

    /// Whether there is enough for the device, beside those that are held and picked.
    fn has_counters(&self, slot: usize, index: usize) -> bool {
        let (slice, device) = (self.slice(slot), self.device(slot, index));
        if consumed(device).is_empty() {
            return true;
        }
        let held: BTreeSet<Id> = self
            .cluster
            .held
            .iter()
            .flat_map(|allocation| &allocation.results)
            .filter(|result| !result.admin_access)
            .filter(|result| (&result.driver, &result.pool) == (&slice.driver, &slice.pool))
            .map(|result| {
                (
                    result.driver.to_string(),
                    result.pool.to_string(),
                    result.device.to_string(),
                )
            })
            .collect();
        let mut left: BTreeMap<(&str, &str), i128> = BTreeMap::new();
        let mut seen = 0;
        let of_pool = || self.slices_of(&slice.driver, &slice.pool, slice.generation);
        for set in of_pool().flat_map(|slice| &slice.counters) {
            for (name, amount) in &set.counters {
                left.insert((&set.name, name), *amount);
            }
        }
        let mut take = |device: &'a Device| {
            for set in consumed(device) {
                for (name, amount) in &set.counters {
                    *left.get_mut(&(&*set.name, &**name)).expect("a valid pool") -= amount;
                }
            }
        };
        for other in of_pool().flat_map(|slice| &slice.devices) {
            let id = (
                slice.driver.to_string(),
                slice.pool.to_string(),
                other.name.to_string(),
            );
            if held.contains(&id) {
                seen += 1;
                take(other);
            }
        }
        for pick in &self.picks {
            let other = self.slice(pick.slot);
            if (&other.driver, &other.pool) == (&slice.driver, &slice.pool) {
                take(&self.cluster.slices[pick.slot].devices[pick.index]);
            }
        }
        take(&self.cluster.slices[slot].devices[index]);
        // A device that is held and gone took nobody knows what.
        seen == held.len() && left.values().all(|left| *left >= 0)
    }

    // KEP 5055.

    fn is_tolerated(&self, (c, r, a): Asked, slot: usize, index: usize) -> bool {
        let (slice, device) = (self.slice(slot), self.device(slot, index));
        let rules = self.cluster.rules.iter().filter(|rule| {
            rule.selector.as_ref().is_some_and(|selector| {
                let fits = |wanted: &Option<String>, name: &str| {
                    wanted.is_none() || wanted.as_deref() == Some(name)
                };
                fits(&selector.driver, &slice.driver)
                    && fits(&selector.pool, &slice.pool)
                    && fits(&selector.device, &device.name)
            })
        });
        let own = device.extra.iter().flat_map(|extra| &extra.taints);
        let tolerations = &self.request((c, r, a)).tolerations;
        own.chain(rules.map(|rule| &rule.taint)).all(|taint| {
            let tolerated = |toleration: &DeviceToleration| {
                (toleration.key.is_empty() || *toleration.key == *taint.key)
                    && (toleration.effect.is_empty() || toleration.effect == taint.effect.name())
                    && (toleration.operator == "Exists" || *toleration.value == *taint.value)
            };
            taint.effect == TaintEffect::None || tolerations.iter().any(tolerated)
        })
    }

    // Section 9.2.

    fn check_claims(&mut self) -> Result<(), String> {
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

    // Section 9.4.

    fn is_selectable(
        &mut self,
        asked: Asked,
        slot: usize,
        index: usize,
        classes: bool,
    ) -> Result<bool, String> {
        let c = asked.0;
        let cluster = self.cluster;
        let (slice, device) = (&cluster.slices[slot], &cluster.slices[slot].devices[index]);
        if !device.usable {
            return Ok(false);
        }
        let key = (asked, self.id(slot, index));
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let exact = self.request(asked);
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
        // After the selectors: KEP 4815.
        answer &= slice.reach != Reach::PerDevice || is_for(device, &cluster.node)?;
        self.known.insert(key, answer);
        Ok(answer)
    }

    // Section 9.5.

    fn solve(&mut self, c: usize, r: usize) -> Result<Found, String> {
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

    fn is_free(&self, asked: Asked, slot: usize, index: usize) -> bool {
        let c = asked.0;
        let id = self.id(slot, index);
        let is_admin = |pick: &Pick| {
            self.request((pick.claim, pick.request, pick.alternative))
                .admin_access
        };
        let same = |pick: &&Pick| self.id(pick.slot, pick.index) == id;
        let later_rules = self.profile.admin_access_excludes_own_devices();
        if self.request(asked).admin_access {
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

    fn satisfies_constraints(&self, asked: Asked, slot: usize, index: usize) -> bool {
        let (c, r, a) = asked;
        self.cluster.claims[c].constraints.iter().all(|constraint| {
            let covers = |request: usize, alternative: usize| {
                let parent = &self.cluster.claims[c].requests[request].name;
                let full = self.names(c, request, alternative).1;
                constraint.requests.is_empty()
                    || constraint.requests.contains(parent)
                    || constraint.requests.contains(&full)
            };
            if !covers(r, a) {
                return true;
            }
            let Some(value) = self.value(constraint, slot, index) else {
                return false;
            };
            let covered = self
                .picks
                .iter()
                .filter(|pick| pick.claim == c && covers(pick.request, pick.alternative));
            let others: Vec<Vec<&Attribute>> = covered
                .map(|pick| values(self.value(constraint, pick.slot, pick.index)))
                .collect();
            let mine = values(Some(value));
            if others.is_empty() {
                return constraint.distinct_attribute.is_none() || !mine.is_empty();
            }
            if constraint.distinct_attribute.is_some() {
                let in_none = |value| !others.iter().any(|values| values.contains(value));
                return !mine.is_empty() && mine.iter().all(in_none);
            }
            let in_all = |value| others.iter().all(|values| values.contains(value));
            mine.iter().any(in_all)
        })
    }

    fn value(
        &self,
        constraint: &DeviceConstraint,
        slot: usize,
        index: usize,
    ) -> Option<&Attribute> {
        let named = constraint.match_attribute.as_ref();
        let name = named.or(constraint.distinct_attribute.as_ref())?;
        let find = |name: &str| {
            let mut attributes = self.device(slot, index).attributes.iter();
            attributes
                .find(|(given, _)| **given == *name)
                .map(|(_, value)| value)
        };
        find(name.as_str()).or_else(|| {
            let (domain, id) = name.split_once('/')?;
            if domain == &*self.slice(slot).driver {
                find(id)
            } else {
                None
            }
        })
    }

    fn request(&self, (c, r, a): Asked) -> &'a ExactRequest {
        let cluster = self.cluster;
        match &cluster.claims[c].requests[r].body {
            RequestBody::Exactly(exact) => exact,
            RequestBody::FirstAvailable(alternatives) => &alternatives[a].1,
        }
    }

    fn alternatives(&self, c: usize, r: usize) -> usize {
        match &self.cluster.claims[c].requests[r].body {
            RequestBody::Exactly(_) => 1,
            RequestBody::FirstAvailable(alternatives) => alternatives.len(),
        }
    }

    /// The name for messages, and the one for results.
    fn names(&self, c: usize, r: usize, a: usize) -> (String, String) {
        let request = &self.cluster.claims[c].requests[r];
        match &request.body {
            RequestBody::Exactly(_) => (request.name.clone(), request.name.clone()),
            RequestBody::FirstAvailable(alternatives) => {
                let name = &alternatives[a].0;
                (name.clone(), format!("{}/{name}", request.name))
            }
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

fn consumed(device: &Device) -> &[CounterSet] {
    device.extra.as_ref().map_or(&[], |extra| &extra.consumes)
}

/// A single value as a list of one.
fn values(attribute: Option<&Attribute>) -> Vec<&Attribute> {
    match attribute {
        None | Some(Attribute::Unknown) => Vec::new(),
        Some(Attribute::List(values)) => values.iter().collect(),
        Some(single) => vec![single],
    }
}

fn reaches(slice: &ResourceSlice, node: &Node) -> Result<bool, String> {
    if slice.reach != Reach::PerDevice {
        return includes(&slice.reach, node);
    }
    let mut any = false;
    for device in &slice.devices {
        any |= is_for(device, node)?;
    }
    Ok(any)
}

fn is_for(device: &Device, node: &Node) -> Result<bool, String> {
    let reach = device.extra.as_ref().and_then(|extra| extra.reach.as_ref());
    includes(reach.unwrap_or(&Reach::Nowhere), node)
}

fn includes(reach: &Reach, node: &Node) -> Result<bool, String> {
    match reach {
        Reach::NodeName(name) => Ok(*name == node.name),
        Reach::AllNodes => Ok(true),
        Reach::NodeSelector(selector) => Ok(NodeSelector::parse(selector)?.matches(node)),
        Reach::PerDevice | Reach::Nowhere => Ok(false),
    }
}
