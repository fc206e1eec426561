//! State of one scheduling cycle (spec section 5). Shared by a cycle and its forks, as upstream's clones share it; gone when
//! the host drops the last of them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::allocator::Allocator;
use crate::api::{AllocationResult, Pod, ResourceClaim};
use crate::host::{ObjectRef, Slot};
use crate::node_selector::NodeSelector;
use crate::scheduling_context::Context;
use crate::status::Status;

/// What is known about one claim of the pod.
pub struct ClaimInfo {
    /// The pod's name for the claim.
    pub entry: String,
    /// The claim as the cache showed it in PreFilter.
    pub claim: Rc<ResourceClaim>,
    /// Allocated: the allocation's selector under the empty key. Unallocated and classic: each class's `suitableNodes`
    /// under its name.
    pub available_on_nodes: BTreeMap<String, NodeSelector>,
    /// Unallocated and classic: `unsuitableNodes` of the claim's entry in the scheduling context, if there is one.
    pub unsuitable_nodes: Option<Vec<String>>,
    /// The scheduler allocates or has allocated it, not a control plane controller.
    pub structured: bool,
    /// What Reserve chose.
    pub allocation: Option<AllocationResult>,
}

/// State of a cycle.
#[derive(Default)]
pub struct State {
    /// The pod's claims in order; empty unless PreFilter succeeded completely.
    pub claims: Vec<ClaimInfo>,
    /// Classic DRA.
    pub context: Context,
    /// PreScore ran.
    pub pre_scored: bool,
    /// There if the scheduler has to allocate something.
    pub allocator: Option<Allocator>,
    /// Indices of claims that were found to be elsewhere.
    pub unavailable: BTreeSet<usize>,
    /// Nodes on which the allocator found a solution. The solution itself is found again in Reserve: within a cycle the
    /// search gives the same answer, and keeping thousands of results for the one that is used would cost more.
    pub node_allocations: SlotSet,
    /// For the nodes where it is not zero: 8 for each request with alternatives that got its first one, 7 for the second one
    /// and so on (upstream's Score, 1.35 and later). Claims that were allocated before count nothing.
    pub scores: BTreeMap<Slot, i64>,
}

/// Slots, which are small numbers.
#[derive(Debug, Default)]
pub struct SlotSet(Vec<u64>);

impl SlotSet {
    /// Adds one.
    pub fn insert(&mut self, slot: Slot) {
        let word = slot as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (slot % 64);
    }

    /// Whether it was added.
    pub fn contains(&self, slot: Slot) -> bool {
        let word = self.0.get(slot as usize / 64);
        word.is_some_and(|word| word >> (slot % 64) & 1 != 0)
    }
}

/// One attempt to place one pod.
pub struct Cycle {
    /// The pod.
    pub pod: Rc<Pod>,
    /// Its reference.
    pub pod_ref: ObjectRef,
    /// Empty unless PreFilter succeeded completely.
    pub state: Rc<RefCell<State>>,
    /// Shared with the plugin, which thereby knows whether any cycle lives.
    pub alive: Rc<()>,
}

impl Cycle {
    /// A cycle that shares the state of this one.
    pub fn fork_state(&self) -> Self {
        Self {
            pod: Rc::clone(&self.pod),
            pod_ref: self.pod_ref.clone(),
            state: Rc::clone(&self.state),
            alive: Rc::clone(&self.alive),
        }
    }
}

/// Which nodes are worth asking about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All.
    AllNodes,
    /// No Filter for this pod.
    Skip,
    /// None.
    Rejected(Status),
}

/// Answers for a batch of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Index into `statuses`, per node.
    pub verdicts: Vec<u32>,
    /// Distinct statuses.
    pub statuses: Vec<Status>,
}

impl Answers {
    /// Adds the answer for the next node.
    pub fn push(&mut self, status: Status) {
        // Answers repeat, mostly the one before: look from the end.
        let known = self.statuses.iter().rposition(|known| *known == status);
        let index = known.unwrap_or_else(|| {
            self.statuses.push(status);
            self.statuses.len() - 1
        });
        self.verdicts.push(u32::try_from(index).unwrap_or(u32::MAX));
    }
}
