//! What the API server tells the informers, in order. Tests hold it back, lose it or shuffle it, kind by kind.

use std::collections::{BTreeSet, VecDeque};

use crate::object::{Kind, Object};

/// What a watch says about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the field's own terms")]
pub enum WatchType {
    Added,
    Modified,
    Deleted,
}

/// One watch event.
#[derive(Clone, Debug)]
pub struct WatchEvent {
    /// What happened.
    pub what: WatchType,
    /// The object after it; for a deletion, its last state.
    pub object: Object,
}

/// Events that were not delivered yet, oldest first.
#[derive(Debug, Default)]
pub struct WatchQueue {
    queue: VecDeque<WatchEvent>,
    held: BTreeSet<Kind>,
}

impl WatchQueue {
    pub(super) fn push(&mut self, what: WatchType, object: Object) {
        self.queue.push_back(WatchEvent { what, object });
    }

    /// Delays all events of a kind until `release`.
    pub fn hold(&mut self, kind: &Kind) {
        self.held.insert(kind.clone());
    }

    /// Ends `hold`.
    pub fn release(&mut self, kind: &Kind) {
        self.held.remove(kind);
    }

    /// How many events of a kind are outstanding.
    pub fn outstanding(&self, kind: &Kind) -> usize {
        self.positions(kind).count()
    }

    /// The outstanding events of a kind, oldest first.
    pub fn events(&self, kind: &Kind) -> impl Iterator<Item = &WatchEvent> {
        self.queue
            .iter()
            .filter(|event| event.object.id().kind == *kind)
    }

    /// Loses the n-th outstanding event of a kind, counted from 0.
    pub fn lose(&mut self, kind: &Kind, n: usize) -> Option<WatchEvent> {
        let position = self.positions(kind).nth(n)?;
        self.queue.remove(position)
    }

    /// Exchanges two outstanding events of a kind. `false` if there are not that many.
    pub fn exchange(&mut self, kind: &Kind, n: usize, m: usize) -> bool {
        let (Some(first), Some(second)) =
            (self.positions(kind).nth(n), self.positions(kind).nth(m))
        else {
            return false;
        };
        self.queue.swap(first, second);
        true
    }

    /// Takes everything that is not held back.
    pub fn take_due(&mut self) -> VecDeque<WatchEvent> {
        if self.held.is_empty() {
            return std::mem::take(&mut self.queue);
        }
        let held = &self.held;
        let (kept, due) = self
            .queue
            .drain(..)
            .partition(|event| held.contains(&event.object.id().kind));
        self.queue = kept;
        due
    }

    /// Forgets what is outstanding of a kind: a new list is at hand.
    pub fn forget(&mut self, kind: &Kind) {
        self.queue.retain(|event| event.object.id().kind != *kind);
    }

    fn positions(&self, kind: &Kind) -> impl Iterator<Item = usize> {
        self.queue
            .iter()
            .enumerate()
            .filter(|(_, event)| event.object.id().kind == *kind)
            .map(|(position, _)| position)
    }
}
