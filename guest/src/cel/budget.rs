//! What one evaluation may spend: cel-go's cost, and bounds of our own on time and memory that cost does not cover.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::Fail;
use crate::quantity::Quantity;

/// Upstream's limit for one evaluation.
pub(crate) const COST_LIMIT: u64 = 1_000_000;
/// Elementary steps inside of functions (comparisons, copied elements). Costs of library functions are flat in 1.31, and
/// comparing a value that shares its parts can take exponentially long.
const WORK_LIMIT: u64 = 10_000_000;
/// Bytes that values may take over one evaluation, freed or not.
const MEMORY_LIMIT: u64 = 32 << 20;

/// Spending of one evaluation.
pub(crate) struct Budget {
    cost: u64,
    work: u64,
    memory: u64,
    /// Big quantities that `add` and `sub` changed in place, by address: see [`Budget::quantity`].
    changed: BTreeMap<usize, (Arc<Quantity>, Quantity)>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            cost: 0,
            work: 0,
            memory: 0,
            changed: BTreeMap::new(),
        }
    }

    /// cel-go's cost so far.
    pub(crate) fn cost(&self) -> u64 {
        self.cost
    }

    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), Fail> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > COST_LIMIT {
            Err(Fail::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Takes back what was charged for something that turns out to be free.
    pub(crate) fn refund(&mut self, cost: u64) {
        self.cost = self.cost.saturating_sub(cost);
    }

    pub(crate) fn work(&mut self, steps: u64) -> Result<(), Fail> {
        self.work = self.work.saturating_add(steps);
        if self.work > WORK_LIMIT {
            Err(Fail::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Asks for memory before it is used.
    pub(crate) fn memory(&mut self, bytes: usize) -> Result<(), Fail> {
        self.memory = self.memory.saturating_add(bytes as u64);
        if self.memory > MEMORY_LIMIT {
            Err(Fail::Cancelled)
        } else {
            self.work(bytes as u64 / 64)
        }
    }

    /// The value of a quantity. Before 1.37 upstream's `add` and `sub` change a receiver in big form, for everybody who
    /// has it; here the change ends with the evaluation.
    pub(crate) fn quantity<'q>(&'q self, quantity: &'q Arc<Quantity>) -> Cow<'q, Quantity> {
        if self.changed.is_empty() {
            return Cow::Borrowed(quantity);
        }
        match self.changed.get(&(Arc::as_ptr(quantity) as usize)) {
            Some((_, changed)) => Cow::Borrowed(changed),
            None => Cow::Borrowed(quantity),
        }
    }

    /// Changes the value of a quantity, see [`Budget::quantity`].
    pub(crate) fn change_quantity(&mut self, quantity: &Arc<Quantity>, value: Quantity) {
        // The entry keeps the quantity, so its address stays its own.
        self.changed
            .insert(Arc::as_ptr(quantity) as usize, (quantity.clone(), value));
    }
}
