//! Who continues. The default finishes one pod before the next begins; tests take any order, and can repeat it.

use crate::object::ObjectRef;
use crate::queue::Time;

/// Something that the loop could do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Let a binding cycle run up to its next suspension.
    Binding {
        /// Which one.
        index: usize,
        /// Its pod.
        pod: ObjectRef,
        /// The call that it is in.
        point: &'static str,
    },
    /// Advance the clock: to the end of a sleep or of a backoff, or to the answer of a driver, whichever comes first.
    Wait {
        /// When.
        until: Time,
    },
    /// Run the scheduling cycle of the next pod.
    Cycle,
}

/// Picks among the tasks, of which there is at least one.
pub trait Chooser {
    /// Index into `tasks`; one that is too large means the last.
    fn choose(&mut self, tasks: &[Task]) -> usize;

    /// Whether it may let the clock run on although something could be done now. Finding out until when costs a look at each
    /// pod that waits.
    fn considers_time(&self) -> bool {
        true
    }

    /// How far the clock gets in a wait until this time. Who follows a real clock looks up now and then.
    fn wait(&mut self, until: Time) -> Time {
        until
    }
}

/// Each binding cycle runs to its end, sleeping included, before the next pod is tried.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneAtATime;

impl Chooser for OneAtATime {
    fn choose(&mut self, _tasks: &[Task]) -> usize {
        0
    }

    fn considers_time(&self) -> bool {
        false
    }
}

/// Any order, from a seed.
#[derive(Clone, Debug)]
pub struct Shuffled(fastrand::Rng);

impl Shuffled {
    /// The same seed gives the same order.
    pub fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }
}

impl Chooser for Shuffled {
    fn choose(&mut self, tasks: &[Task]) -> usize {
        self.0.usize(..tasks.len().max(1))
    }
}

impl<F: FnMut(&[Task]) -> usize> Chooser for F {
    fn choose(&mut self, tasks: &[Task]) -> usize {
        self(tasks)
    }
}
