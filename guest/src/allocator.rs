//! The structured allocator: which devices a pod's claims get on a node. Spec section 9, upstream's package `structured`.
//!
//! Data flow: [`Inventory`] (slices by node) -> `pools` (what one node reaches) -> `requests` and `checks` (what is asked
//! for) -> `glance` (what is clear without a
//! search) or `search` (depth first, with `constraints` and `pruning`) -> `result`. Devices in use are `allocated`, selectors are
//! evaluated through [`selectors`]. Nothing here knows CEL or does I/O.
//!
//! For those who ask why: `observer` watches a search, `survey` looks at all devices afterwards, searches again with parts left
//! out, and decides nothing.

use std::rc::Rc;

use crate::api::{AllocationResult, Node, ResourceClaim};
use crate::profile::Profile;

mod inventory;
mod names;
mod pools;

mod allocated;
mod by_node;
mod counters;
pub(crate) mod rules;
mod totals;

mod constraints;
mod requests;
pub mod selectors;

mod alternatives;
mod checks;
mod glance;
mod lists;
mod observer;
mod pruning;
mod search;

mod result;
pub(crate) mod survey;

pub use inventory::Inventory;
use lists::Lists;
pub(crate) use names::FixedHasher;
pub use observer::{Observer, Progress, Watcher};
use pools::NodePools;
pub use requests::ClassLookup;
use requests::Plan;
use result::Solution;
use search::{Halt, Search};
use selectors::Selectors;

/// Devices that one attempt may visit before it gives up, unless somebody says otherwise.
pub const DEFAULT_STEPS: u64 = 1_000_000;

/// The flag that raises the limit, as users know it.
pub const STEPS_FLAG: &str = "--search-steps";

/// Why a node is refused when an invalid pool may be the cause (D5).
pub const INVALID_POOLS: &str = "invalid resource pools were encountered";

/// What ends an attempt before its time.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Devices that it may visit.
    pub steps: u64,
    /// Whether it has taken too long; asked now and then, if it has not ended soon.
    pub is_late: Option<&'a dyn Fn() -> bool>,
}

impl Limits<'_> {
    /// Only the number of steps.
    pub fn steps(steps: u64) -> Self {
        Self {
            steps,
            is_late: None,
        }
    }
}

/// Why an attempt failed that took too long.
pub const TIMED_OUT: &str = "timed out trying to allocate devices";

/// The answer for one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// One result for each claim, in order.
    Allocated(Vec<AllocationResult>),
    /// The claims cannot be allocated on this node.
    DoesNotFit,
    /// As `DoesNotFit`, and the node sees an invalid pool: refused with [`INVALID_POOLS`]. The pod may fit elsewhere.
    InvalidPools,
    /// An All request meets a pool that is not to be used: the node is refused with this text. The pod may fit elsewhere.
    BadPool(String),
    /// The attempt of the pod ends with this error, on whatever node.
    Error(String),
    /// An object that the node can reach cannot be used as it is given; fail closed with this message.
    InvalidObject(String),
    /// The step budget is used up: the node is refused with this text.
    BudgetExhausted(String),
}

/// What an attempt reads: the node, slices and devices in use, classes, selectors.
pub type Cluster<'n, 'i, 'c, 'l, 's, S> =
    (&'n Node, &'i Inventory, &'c mut ClassLookup<'l>, &'s mut S);

/// Allocates the claims of one pod on one node after another.
#[derive(Debug)]
pub struct Allocator {
    claims: Vec<Rc<ResourceClaim>>,
    /// Made at the first node.
    plan: Option<Plan>,
    pools: NodePools,
    lists: Lists,
    steps_used: u64,
    places_tried: u64,
    /// Steps after which a search is a hard one.
    hard_after: u64,
}

impl Allocator {
    /// For these claims, in order.
    pub fn new(claims: Vec<Rc<ResourceClaim>>) -> Self {
        Self {
            claims,
            plan: None,
            pools: NodePools::default(),
            lists: Lists::default(),
            steps_used: 0,
            places_tried: 0,
            hard_after: pruning::HARD,
        }
    }

    /// The claims, in order.
    pub fn claims(&self) -> &[Rc<ResourceClaim>] {
        &self.claims
    }

    /// Whether the claims can be allocated on a node, and how much the alternatives that are chosen there are preferred: as
    /// [`Self::allocate`], without the work of writing the results down.
    pub fn fits(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        classes: &mut ClassLookup<'_>,
        selectors: &mut impl Selectors,
        profile: &Profile,
        limits: Limits<'_>,
    ) -> Result<i64, Outcome> {
        let cluster = (node, inventory, classes, selectors);
        self.fits_observed(cluster, profile, limits, &mut ())
    }

    /// As [`Self::fits`], with somebody who watches the search.
    pub fn fits_observed<O: Observer>(
        &mut self,
        (node, inventory, classes, selectors): Cluster<'_, '_, '_, '_, '_, impl Selectors>,
        profile: &Profile,
        limits: Limits<'_>,
        observer: &mut O,
    ) -> Result<i64, Outcome> {
        if !O::WATCHES
            && limits.steps >= glance::ENOUGH_STEPS
            && let Some(found) = self.glance(node, inventory, selectors, profile)
        {
            // Of alternatives a glance knows nothing, so there is no score.
            return if found {
                Ok(0)
            } else {
                Err(Outcome::DoesNotFit)
            };
        }
        let cluster = (node, inventory, classes, selectors);
        let solution = self.search(cluster, profile, limits, observer)?;
        solution.check(inventory).map_err(Outcome::Error)?;
        Ok(solution.score())
    }

    /// What the search would find, if that can be told without it.
    #[inline]
    fn glance(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        selectors: &mut impl Selectors,
        profile: &Profile,
    ) -> Option<bool> {
        let plan = self.plan.as_ref()?;
        let glance = plan.glance.as_ref()?;
        let site = inventory.site(node, !profile.admin_access_in_results())?;
        let found = glance.decide(site, plan, inventory, selectors)?;
        self.steps_used = 0;
        self.places_tried = 0;
        Some(found)
    }

    /// Tries one node. `steps` is the number of devices that the attempt may visit.
    ///
    /// Classes are looked up once, at the first node, since a scheduling cycle sees one revision of them; profile and
    /// expression ids are those of the first node, too. What is wrong with claims or classes is still reported by every
    /// node, at the place where upstream would find it.
    pub fn allocate(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        classes: &mut ClassLookup<'_>,
        selectors: &mut impl Selectors,
        profile: &Profile,
        steps: u64,
    ) -> Outcome {
        let limits = Limits::steps(steps);
        let cluster = (node, inventory, classes, selectors);
        match self.search(cluster, profile, limits, &mut ()) {
            Ok(solution) => solution
                .build(inventory, profile)
                .map_or_else(Outcome::Error, Outcome::Allocated),
            Err(outcome) => outcome,
        }
    }

    fn search(
        &mut self,
        (node, inventory, classes, selectors): Cluster<'_, '_, '_, '_, '_, impl Selectors>,
        profile: &Profile,
        limits: Limits<'_>,
        observer: &mut impl Observer,
    ) -> Result<Solution<'_>, Outcome> {
        let steps = limits.steps;
        self.steps_used = 0;
        self.places_tried = 0;
        if let Some(message) = inventory.invalid_for(node) {
            return Err(Outcome::InvalidObject(message.into()));
        }
        self.pools
            .gather(node, inventory, profile)
            .map_err(Outcome::Error)?;
        inventory.keep_site(node, &self.pools);
        let plan = &*self
            .plan
            .get_or_insert_with(|| Plan::new(&self.claims, classes, selectors, profile));
        let mut search = Search {
            plan,
            pools: &self.pools,
            inventory,
            profile,
            selectors,
            lists: &mut self.lists,
            steps_left: steps,
            is_late: limits.is_late,
            places_tried: 0,
            hard_at: steps.checked_sub(self.hard_after),
            admin_holds: !profile.admin_access_in_results(),
            admin_marks: profile.admin_access_excludes_own_devices(),
        };
        let found = search.check().and_then(|()| search.run(observer));
        self.steps_used = steps - search.steps_left;
        self.places_tried = search.places_tried;
        let used = (self.steps_used, steps);
        observer.ended(|stuck| Progress::new(&found, plan, used, &self.lists, stuck));
        match found {
            Ok(true) => Ok(Solution {
                plan,
                pools: &self.pools,
                picks: &self.lists.picks,
                chosen: &self.lists.chosen,
            }),
            Ok(false) if self.pools.pools.iter().any(|pool| pool.invalid) => {
                Err(Outcome::InvalidPools)
            }
            Ok(false) => Err(Outcome::DoesNotFit),
            Err(Halt::Error(error)) => Err(Outcome::Error(error)),
            Err(Halt::BadPool(text)) => Err(Outcome::BadPool(text)),
            Err(Halt::OutOfSteps(request)) => {
                Err(Outcome::BudgetExhausted(out_of_steps(plan, request, steps)))
            }
        }
    }

    /// How many times the last attempt went on to look for a device, or to another alternative: what upstream counts.
    pub fn places_tried(&self) -> u64 {
        self.places_tried
    }

    /// Devices that the last attempt visited.
    pub fn steps_used(&self) -> u64 {
        self.steps_used
    }
}

fn out_of_steps(plan: &Plan, request: usize, steps: u64) -> String {
    let request = &plan.requests[request];
    let (claim, name) = (plan.claim_name(request.claim), &request.name);
    format!(
        "claim {claim}, request {name}: undecided after {steps} search steps (raise the limit with {STEPS_FLAG})"
    )
}

#[cfg(test)]
pub(crate) mod tests;
