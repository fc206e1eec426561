//! A generation that was replaced and still has attempts to finish.

use std::rc::{Rc, Weak};

use super::{Generation, Label};
use crate::queue::Time;

/// Knows a replaced generation without keeping it.
pub(crate) struct Draining {
    generation: Weak<Generation>,
    pub label: Label,
    /// When its unfinished attempts are given up.
    pub until: Time,
}

impl Draining {
    pub fn new(generation: &Rc<Generation>, until: Time) -> Self {
        Self {
            generation: Rc::downgrade(generation),
            label: generation.label(),
            until,
        }
    }

    /// Whether nothing holds it any more.
    pub fn is_gone(&self) -> bool {
        self.generation.strong_count() == 0
    }
}
