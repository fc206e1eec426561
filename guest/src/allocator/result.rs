//! Builds the allocation of each claim from the devices that were picked: spec section 9.7.

use std::collections::{BTreeMap, BTreeSet};

use super::inventory::Inventory;
use super::pools::NodePools;
use super::requests::{ClaimPlan, Plan, Request};
use crate::api::{
    AllocationConfiguration, AllocationResult, ConfigSource, DeviceConfiguration, DeviceResult,
    MAX_ALTERNATIVES, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Reach,
    ResourceClaim,
};
use crate::profile::Profile;

/// What the search found.
pub(crate) struct Solution<'a> {
    pub plan: &'a Plan,
    pub pools: &'a NodePools,
    /// (request, candidate), in order.
    pub picks: &'a [(u32, u32)],
    /// Alternatives that were chosen, in order.
    pub chosen: &'a [u32],
}

impl<'a> Solution<'a> {
    /// Allocations in the order of the claims.
    pub(crate) fn build(
        &self,
        inventory: &Inventory,
        profile: &Profile,
    ) -> Result<Vec<AllocationResult>, String> {
        self.by_claim()
            .map(|(claim, picks)| self.build_one(claim, inventory, picks, profile))
            .collect()
    }

    /// The better the alternatives that were chosen, the more (upstream's `computeScore`).
    pub(crate) fn score(&self) -> i64 {
        let points = |request: &u32| {
            let index = self.plan.requests[*request as usize].alternative;
            MAX_ALTERNATIVES.saturating_sub(index.unwrap_or_default()) as i64
        };
        self.chosen.iter().map(points).sum()
    }

    /// The requests of a claim that have been satisfied: of alternatives, the chosen one.
    fn requests_of(&self, claim: &ClaimPlan) -> Vec<&'a Request> {
        let is_chosen = |index: &usize| {
            self.plan.requests[*index].alternative.is_none()
                || self.chosen.binary_search(&(*index as u32)).is_ok()
        };
        let requests = claim.requests.clone().filter(is_chosen);
        requests.map(|index| &self.plan.requests[index]).collect()
    }

    /// Whether [`Self::build`] would fail, and how.
    pub(crate) fn check(&self, inventory: &Inventory) -> Result<(), String> {
        let has_selector = |&(_, position): &(u32, u32)| {
            let slot = self.pools.candidates[position as usize].slot;
            let reach = &inventory.entry(slot).slice.reach;
            matches!(reach, Reach::NodeSelector(_) | Reach::PerDevice)
        };
        if !self.picks.iter().any(has_selector) {
            return Ok(());
        }
        self.by_claim()
            .try_for_each(|(claim, picks)| self.node_selector(claim, inventory, picks).map(drop))
    }

    /// Each claim with its part of the picks.
    fn by_claim(&self) -> impl Iterator<Item = (&'a ClaimPlan, &'a [(u32, u32)])> {
        let mut rest = self.picks;
        self.plan.claims.iter().map(move |claim| {
            let mine =
                rest.partition_point(|(request, _)| (*request as usize) < claim.requests.end);
            let (picks, later) = rest.split_at(mine);
            rest = later;
            (claim, picks)
        })
    }

    fn build_one(
        &self,
        claim: &ClaimPlan,
        inventory: &Inventory,
        picks: &[(u32, u32)],
        profile: &Profile,
    ) -> Result<AllocationResult, String> {
        let results = picks
            .iter()
            .map(|&(request, position)| {
                let candidate = &self.pools.candidates[position as usize];
                let slice = &inventory.entry(candidate.slot).slice;
                let request = &self.plan.requests[request as usize];
                DeviceResult {
                    request: request.full_name.clone(),
                    driver: slice.driver.clone(),
                    pool: slice.pool.clone(),
                    device: candidate.device(inventory).name.clone(),
                    admin_access: request.admin && profile.admin_access_in_results(),
                    tolerations: request.tolerations.clone(),
                }
            })
            .collect();
        let requests = self.requests_of(claim);
        let mut config = class_config(&requests, profile);
        claim_config(&claim.claim, &requests, profile, &mut config);
        let node_selector = self.node_selector(claim, inventory, picks)?;
        Ok(AllocationResult {
            results,
            config,
            node_selector,
            controller: String::new(),
        })
    }

    fn node_selector(
        &self,
        claim: &ClaimPlan,
        inventory: &Inventory,
        picks: &[(u32, u32)],
    ) -> Result<Option<NodeSelector>, String> {
        let name = &claim.claim.meta.name;
        node_selector(self.pools, inventory, picks)
            .map_err(|error| format!("create NodeSelector for claim {name}: {error}"))
    }
}

/// What the classes configure: once per request, or once per class with the names of its requests (D9).
fn class_config(requests: &[&Request], profile: &Profile) -> Vec<AllocationConfiguration> {
    let by_name = profile.class_config_names_requests();
    let mut config: Vec<AllocationConfiguration> = Vec::new();
    let mut done: BTreeMap<&str, std::ops::Range<usize>> = BTreeMap::new();
    for request in requests {
        let class = &request.class;
        if let Some(entries) = done.get(class.name.as_str()) {
            for entry in &mut config[entries.clone()] {
                entry.config.requests.push(request.full_name.clone());
            }
            continue;
        }
        let start = config.len();
        let names = if by_name {
            vec![request.full_name.clone()]
        } else {
            Vec::new()
        };
        config.extend(class.config.iter().map(|given| AllocationConfiguration {
            source: ConfigSource::Class,
            config: DeviceConfiguration {
                requests: names.clone(),
                opaque: given.opaque.clone(),
            },
        }));
        if by_name {
            done.insert(&class.name, start..config.len());
        }
    }
    config
}

/// What the claim configures: as given, or once per request that it names (L5), if need be by the chosen alternative.
fn claim_config(
    claim: &ResourceClaim,
    requests: &[&Request],
    profile: &Profile,
    config: &mut Vec<AllocationConfiguration>,
) {
    for given in &claim.config {
        let copies = if given.requests.is_empty() || !profile.claim_config_per_request() {
            1
        } else {
            let named: BTreeSet<&str> = given.requests.iter().map(String::as_str).collect();
            let is_named = |request: &&&Request| {
                named.contains(claim.requests[request.group].name.as_str())
                    || named.contains(request.full_name.as_str())
            };
            requests.iter().filter(is_named).count()
        };
        let entry = AllocationConfiguration {
            source: ConfigSource::Claim,
            config: given.clone(),
        };
        config.extend(std::iter::repeat_n(entry, copies));
    }
}

/// Where the devices can be used. One device of a node restricts the result to that node (T18).
fn node_selector(
    pools: &NodePools,
    inventory: &Inventory,
    picks: &[(u32, u32)],
) -> Result<Option<NodeSelector>, String> {
    let mut common = NodeSelectorTerm::default();
    for &(_, position) in picks {
        // Of a repeated device the first slice counts, not the one that was picked.
        let first = pools.candidates[position as usize].first;
        let candidate = &pools.candidates[first as usize];
        let slice = &inventory.entry(candidate.slot).slice;
        let extra = &slice.devices[candidate.index as usize].extra;
        let reach = match &slice.reach {
            Reach::PerDevice => extra.as_ref().and_then(|extra| extra.reach.as_ref()),
            of_slice => Some(of_slice),
        };
        match reach.unwrap_or(&Reach::Nowhere) {
            Reach::NodeName(name) => return Ok(Some(only_node(name))),
            Reach::NodeSelector(selector) => match selector.terms.as_slice() {
                [] => {}
                [term] => {
                    merge(&mut common.match_fields, &term.match_fields);
                    merge(&mut common.match_expressions, &term.match_expressions);
                }
                terms => {
                    return Err(format!(
                        "unsupported ResourceSlice.NodeSelector with {} terms",
                        terms.len()
                    ));
                }
            },
            Reach::AllNodes | Reach::PerDevice | Reach::Nowhere => {}
        }
    }
    if common.match_fields.is_empty() && common.match_expressions.is_empty() {
        return Ok(None);
    }
    Ok(Some(NodeSelector {
        terms: vec![common],
    }))
}

fn only_node(name: &str) -> NodeSelector {
    let requirement = NodeSelectorRequirement {
        key: "metadata.name".into(),
        operator: "In".into(),
        values: vec![name.into()],
    };
    NodeSelector {
        terms: vec![NodeSelectorTerm {
            match_expressions: Vec::new(),
            match_fields: vec![requirement],
        }],
    }
}

/// Appends the requirements that are not there yet; the order of values does not matter.
fn merge(into: &mut Vec<NodeSelectorRequirement>, from: &[NodeSelectorRequirement]) {
    for requirement in from {
        if !into.iter().any(|present| same(present, requirement)) {
            into.push(requirement.clone());
        }
    }
}

fn same(a: &NodeSelectorRequirement, b: &NodeSelectorRequirement) -> bool {
    let values = |requirement: &NodeSelectorRequirement| {
        requirement.values.iter().cloned().collect::<BTreeSet<_>>()
    };
    a.key == b.key && a.operator == b.operator && (a.values == b.values || values(a) == values(b))
}
