//! Versions of a plugin while they serve: which one is active, which one is tried beside it, which ones still finish what they
//! began, and when one is no longer trusted.
//!
//! A *generation* is one loaded version. A pod's attempt keeps the generation that it began with until PostBind or Unreserve, so
//! a plan is never read by a version that did not write it; a generation is freed with its last attempt. All of it happens
//! between two steps of the scheduler, on its clock. Loading, which takes long, is done before and elsewhere.

mod candidate;
mod drain;
mod health;
mod notice;
mod shadow;

use std::fmt;
use std::rc::Rc;

use crate::plugin::Plugin;
use crate::queue::Time;

pub(crate) use candidate::{Candidate, Deeds, Seen, Verdict};
pub(crate) use drain::Draining;
pub(crate) use health::{Health, Probation};
pub use notice::Notice;

const SECOND: Time = 1_000_000_000;

/// One version of a plugin in use. Cycles hold it by `Rc`.
pub struct Generation {
    number: u64,
    plugin: Rc<dyn Plugin>,
}

impl Generation {
    /// Numbers begin with one and are not used again.
    pub fn new(number: u64, plugin: Rc<dyn Plugin>) -> Self {
        Self { number, plugin }
    }

    /// Which one it is.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What it runs.
    pub fn plugin(&self) -> &dyn Plugin {
        self.plugin.as_ref()
    }

    /// How people know it.
    pub fn label(&self) -> Label {
        let description = self.plugin.description();
        Label {
            number: self.number,
            plugin: format!("{} {}", description.name, description.version),
        }
    }
}

impl Drop for Generation {
    /// The plugin may be loaded once and serve twice; what waits for work was made for this generation.
    fn drop(&mut self) {
        self.plugin.drop_idle();
    }
}

/// Names a generation after it is gone too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Which one.
    pub number: u64,
    /// Name and version of the plugin.
    pub plugin: String,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {} ({})", self.number, self.plugin)
    }
}

/// How a new version is tried before it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfCheck {
    /// In how many live cycles it runs beside the active one. Zero: it serves as soon as it has read the cluster.
    pub cycles: u32,
    /// It serves after this time even if there were fewer cycles, in nanoseconds: a quiet cluster must not keep it out.
    pub longest: Time,
    /// Whether it may decide otherwise than the active one. Differences are told all the same.
    pub accept_changes: bool,
}

impl Default for SelfCheck {
    fn default() -> Self {
        Self {
            cycles: 20,
            longest: 60 * SECOND,
            accept_changes: false,
        }
    }
}

impl SelfCheck {
    /// Without a comparison.
    pub fn none() -> Self {
        Self {
            cycles: 0,
            ..Self::default()
        }
    }
}

/// What the host does about generations that fail or that were replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Failures in a row after which the plugin is given a rest instead of being started again at once.
    pub restarts: u32,
    /// The first rest, in nanoseconds; each further failure doubles it.
    pub first_rest: Time,
    /// The longest rest.
    pub longest_rest: Time,
    /// Cycles during which a new generation is replaced by the one before it when it fails.
    pub probation_cycles: u32,
    /// Time after which that ends as well, in nanoseconds.
    pub probation: Time,
    /// Time in which a replaced generation may finish what it began, in nanoseconds.
    pub drain: Time,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            restarts: 3,
            first_rest: SECOND / 10,
            longest_rest: 60 * SECOND,
            probation_cycles: 100,
            probation: 60 * SECOND,
            drain: 30 * SECOND,
        }
    }
}

#[cfg(test)]
mod tests;
