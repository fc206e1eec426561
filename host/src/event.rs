//! Everything that can cause work in the scheduler's loop, on one screen.

use crate::plugin::ObjectEvent;

/// Number that the scheduler gives to a call of `binding` under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BindingId(pub u64);

/// A cause of work. The set is closed: the loop handles each, and nothing else makes it move.
#[derive(Clone, Debug)]
pub enum Event {
    /// The caches saw an object change; pods may be new, gone or worth another attempt.
    Object(ObjectEvent),
    /// The clock reached this time, in nanoseconds: a backoff, a flush of unschedulable pods or a sleep is over.
    Time(u64),
    /// A call of `binding` that waits at an import may go on.
    Binding(BindingId),
}

impl From<ObjectEvent> for Event {
    fn from(event: ObjectEvent) -> Self {
        Self::Object(event)
    }
}
