//! Faults that tests and simulations ask for, and the journal of calls.

use std::collections::VecDeque;

use crate::object::{Kind, ObjectRef};
use crate::plugin::{ApiError, Verb};

/// Calls that the journal keeps.
const JOURNAL_LIMIT: usize = 100_000;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A call that plugins can make too.
    Api(Verb),
    /// Assigns a pod to a node.
    Bind,
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A plugin, through the contract.
    Plugin,
    /// The scheduler itself: binding, cleaning up.
    Scheduler,
    /// Somebody else: the claim controller, a user, a test.
    Other,
}

/// One failure to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Calls that count; `None`: all.
    pub operation: Option<Operation>,
    /// Kinds that count; `None`: all.
    pub kind: Option<Kind>,
    /// It strikes at the n-th call that counts from now on; 1 is the next one.
    pub nth: u32,
    /// What the caller is told.
    pub error: ApiError,
    /// The call takes effect and only its answer is lost.
    pub after_effect: bool,
}

/// One call, as it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Number of the call, counted from 0.
    pub sequence: u64,
    /// Who made it.
    pub caller: Caller,
    /// What it does.
    pub operation: Operation,
    /// To which object.
    pub target: ObjectRef,
    /// What the caller was told; `None`: success.
    pub error: Option<ApiError>,
    /// Whether the server did it, whatever the caller was told.
    pub took_effect: bool,
}

#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Fault>);

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    pub(super) fn outstanding(&self) -> usize {
        self.0.len()
    }

    /// Counts a call and returns the fault that strikes it; of several the one that was asked for first.
    pub(super) fn strike(&mut self, operation: Operation, kind: &Kind) -> Option<Fault> {
        let mut struck = None;
        self.0.retain_mut(|fault| {
            let counts = fault.operation.is_none_or(|wanted| wanted == operation)
                && fault.kind.as_ref().is_none_or(|wanted| wanted == kind);
            if counts {
                fault.nth = fault.nth.saturating_sub(1);
            }
            let due = counts && fault.nth == 0;
            if due && struck.is_none() {
                struck = Some(fault.clone());
            }
            !due
        });
        struck
    }
}

#[derive(Debug, Default)]
pub(super) struct Journal {
    calls: VecDeque<Call>,
    next: u64,
}

impl Journal {
    pub(super) fn write(
        &mut self,
        caller: Caller,
        operation: Operation,
        target: ObjectRef,
        error: Option<ApiError>,
        took_effect: bool,
    ) {
        if self.calls.len() == JOURNAL_LIMIT {
            self.calls.pop_front();
        }
        self.calls.push_back(Call {
            sequence: self.next,
            caller,
            operation,
            target,
            error,
            took_effect,
        });
        self.next += 1;
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter()
    }

    /// Those with this number and later ones.
    pub(super) fn since(&self, sequence: u64) -> impl Iterator<Item = &Call> {
        let wanted = self.next.saturating_sub(sequence);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        self.calls.range(self.calls.len().saturating_sub(wanted)..)
    }

    pub(super) fn made(&self) -> u64 {
        self.next
    }

    pub(super) fn take(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls).into()
    }
}
