//! The structured allocator: which devices a pod's claims get on a node. Spec section 9, upstream's package `structured`.
//!
//! Data flow: [`inventory`] (slices by node) -> `pools` (what one node reaches) -> `requests` and `checks` (what is asked
//! for) -> `search` (depth first, with `constraints`) -> `result`. Devices in use come from [`allocated`], selectors are
//! evaluated through [`selectors`]. Nothing here knows CEL or does I/O.

use std::rc::Rc;

use crate::api::{AllocationResult, Node, ResourceClaim};
use crate::profile::Profile;

pub mod inventory;
mod names;
mod pools;

pub mod allocated;

mod constraints;
mod requests;
pub mod selectors;

mod checks;
mod lists;
mod search;

mod result;

use allocated::Allocated;
use constraints::ConstraintState;
use inventory::Inventory;
pub use names::Names;
use pools::NodePools;
pub use requests::ClassLookup;
use requests::Plan;
use search::{Halt, Search};
use selectors::Selectors;

/// Devices that one attempt may visit before it gives up, unless somebody says otherwise.
pub const DEFAULT_STEPS: u64 = 1_000_000;

/// The flag that raises the limit, as users know it.
pub const STEPS_FLAG: &str = "--search-steps";

/// Why a node is refused when an invalid pool may be the cause (D5).
pub const INVALID_POOLS: &str = "invalid resource pools were encountered";

/// The answer for one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// One result for each claim, in order.
    Allocated(Vec<AllocationResult>),
    /// The claims cannot be allocated on this node.
    DoesNotFit,
    /// As `DoesNotFit`, and the node sees an invalid pool: refused with [`INVALID_POOLS`]. The pod may fit elsewhere.
    InvalidPools,
    /// The attempt of the pod ends with this error, on whatever node.
    Error(String),
    /// An object that the node can reach cannot be used as it is given; fail closed with this message.
    InvalidObject(String),
    /// The step budget is used up: the node is refused with this text.
    BudgetExhausted(String),
}

/// Allocates the claims of one pod on one node after another.
///
/// Made once per scheduling cycle: classes are looked up here, since a cycle sees one revision of them.
#[derive(Debug)]
pub struct Allocator {
    plan: Plan,
    profile: Profile,
    steps: u64,
    pools: NodePools,
    lists: lists::Lists,
    steps_used: u64,
}

impl Allocator {
    /// For these claims, in order. `steps` is the budget of one node.
    ///
    /// Cannot fail: what is wrong with claims or classes is reported by [`Self::allocate`], where upstream would find it.
    pub fn new(
        claims: Vec<Rc<ResourceClaim>>,
        classes: &mut ClassLookup<'_>,
        selectors: &mut dyn Selectors,
        profile: &Profile,
        steps: u64,
    ) -> Self {
        Self {
            plan: Plan::new(claims, classes, selectors, profile),
            profile: profile.clone(),
            steps,
            pools: NodePools::default(),
            lists: lists::Lists::default(),
            steps_used: 0,
        }
    }

    /// Tries one node. The answer depends on the arguments only, not on earlier nodes.
    pub fn allocate(
        &mut self,
        node: &Node,
        inventory: &Inventory,
        allocated: &Allocated,
        selectors: &mut dyn Selectors,
    ) -> Outcome {
        self.steps_used = 0;
        if let Some(message) = inventory.invalid_for(node) {
            return Outcome::InvalidObject(message.into());
        }
        if let Err(error) = self.pools.gather(node, inventory, &self.profile) {
            return Outcome::Error(error);
        }
        let mut search = Search {
            plan: &self.plan,
            pools: &self.pools,
            inventory,
            allocated,
            profile: &self.profile,
            selectors,
            lists: &mut self.lists,
            constraints: vec![ConstraintState::default(); self.plan.constraints.len()],
            steps_left: self.steps,
            admin_holds: !self.profile.admin_access_in_results(),
            admin_marks: self.profile.admin_access_excludes_own_devices(),
        };
        let found = search.check().and_then(|()| search.run());
        self.steps_used = self.steps - search.steps_left;
        match found {
            Ok(true) => {
                let picks = &self.lists.picks;
                result::build(&self.plan, &self.pools, inventory, picks, &self.profile)
                    .map_or_else(Outcome::Error, Outcome::Allocated)
            }
            Ok(false) if self.pools.pools.iter().any(|pool| pool.invalid) => Outcome::InvalidPools,
            Ok(false) => Outcome::DoesNotFit,
            Err(Halt::Error(error)) => Outcome::Error(error),
            Err(Halt::OutOfSteps(request)) => Outcome::BudgetExhausted(self.out_of_steps(request)),
        }
    }

    /// Devices that the last attempt visited.
    pub fn steps_used(&self) -> u64 {
        self.steps_used
    }

    fn out_of_steps(&self, request: usize) -> String {
        let request = &self.plan.requests[request];
        let (claim, name) = (self.plan.claim_name(request.claim), &request.name);
        format!(
            "claim {claim}, request {name}: undecided after {} search steps (raise the limit with {STEPS_FLAG})",
            self.steps
        )
    }
}

#[cfg(test)]
mod tests;
