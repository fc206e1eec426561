//! What happened to generations, for logs and for programs that embed the host.

use std::fmt;

use super::{Label, SECOND};
use crate::plugin::PluginError;

/// One event in the life of generations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A version runs beside the active one.
    Checking(Label),
    /// It decided otherwise than the active one.
    Differs {
        /// The new version.
        candidate: Label,
        /// In which cycle and how.
        how: String,
    },
    /// It will not serve; the active one goes on.
    Refused {
        /// The new version.
        candidate: Label,
        /// Why.
        why: String,
    },
    /// New cycles use another generation.
    Switched {
        /// The old one.
        from: Label,
        /// The new one.
        to: Label,
    },
    /// A generation on probation failed, and the one before it serves again.
    RolledBack {
        /// The one that failed.
        from: Label,
        /// The one that serves.
        to: Label,
        /// The failure.
        why: String,
    },
    /// A call failed, and the instance is gone.
    Failed {
        /// Whose.
        generation: Label,
        /// How.
        error: PluginError,
    },
    /// It failed too often: no cycle begins for a while.
    Resting {
        /// Which one.
        generation: Label,
        /// How long, in nanoseconds.
        length: u64,
        /// Until when on the clock, in nanoseconds.
        until: u64,
    },
    /// It did not finish in time: the attempts are undone on fresh instances of it.
    Expired {
        /// Which one.
        generation: Label,
        /// Pods, as `namespace/name`.
        pods: Vec<String>,
    },
    /// Its last attempt has ended; its code and memory are free.
    Freed(Label),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checking(label) => write!(f, "{label} runs beside the active one"),
            Self::Differs { candidate, how } => write!(f, "{candidate} decides otherwise: {how}"),
            Self::Refused { candidate, why } => write!(f, "{candidate} is refused: {why}"),
            Self::Switched { from, to } => write!(f, "{to} replaces {from}"),
            Self::RolledBack { from, to, why } => {
                write!(f, "{from} failed on probation, {to} serves again: {why}")
            }
            Self::Failed { generation, error } => {
                write!(f, "{generation} failed in {}: {}", error.call, error.cause)
            }
            Self::Resting {
                generation, length, ..
            } => write!(
                f,
                "{generation} failed too often, no pod is tried for {} s",
                *length as f64 / SECOND as f64
            ),
            Self::Expired { generation, pods } => write!(
                f,
                "{generation} did not finish in time, undone: {}",
                pods.join(", ")
            ),
            Self::Freed(label) => write!(f, "{label} is freed"),
        }
    }
}
