//! When a generation is trusted: the restart budget and the probation.

use std::rc::Rc;

use super::{Generation, Policy};
use crate::queue::Time;

/// How often the active generation failed in a row.
///
/// One pod that kills the plugin must not keep the others waiting, so a cycle that ends well forgives all failures before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Health {
    in_a_row: u32,
    rests_until: Option<Time>,
}

impl Health {
    /// A call failed. Returns until when no cycle may begin, if the budget is spent.
    pub fn failed(&mut self, now: Time, policy: &Policy) -> Option<Time> {
        self.in_a_row = self.in_a_row.saturating_add(1);
        let beyond = self.in_a_row.checked_sub(policy.restarts + 1)?;
        let doubled = 1_u64.checked_shl(beyond).unwrap_or(u64::MAX);
        let rest = policy.first_rest.saturating_mul(doubled);
        let until = now.saturating_add(rest.min(policy.longest_rest));
        self.rests_until = Some(until);
        self.rests_until
    }

    /// A cycle ended without a failure of the plugin.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Until when no cycle may begin.
    pub fn rests_until(&self, now: Time) -> Option<Time> {
        self.rests_until.filter(|&until| until > now)
    }
}

/// The time in which a new generation still has somebody to fall back to.
pub(crate) struct Probation {
    /// The generation before, which is kept ready.
    pub previous: Rc<Generation>,
    cycles_left: u32,
    ends: Time,
}

impl Probation {
    /// Begins now.
    pub fn new(previous: Rc<Generation>, now: Time, policy: &Policy) -> Self {
        Self {
            previous,
            cycles_left: policy.probation_cycles,
            ends: now.saturating_add(policy.probation),
        }
    }

    /// A cycle ended without a failure.
    pub fn succeeded(&mut self) {
        self.cycles_left = self.cycles_left.saturating_sub(1);
    }

    /// Whether the new generation has proved itself.
    pub fn is_over(&self, now: Time) -> bool {
        self.cycles_left == 0 || now >= self.ends
    }
}
