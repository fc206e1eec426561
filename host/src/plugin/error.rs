//! A call that failed: what went wrong by type, and for people in whose call and why.

use std::fmt;

/// What went wrong in a plugin, told apart by type and never by text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It trapped; a panic is one.
    Trap,
    /// It ran past its deadline.
    Deadline,
    /// It wanted more memory than it may have.
    Memory,
    /// It wanted more table elements or instances than it may have.
    Table,
    /// It returned or logged more than it may.
    Output,
    /// It made more calls of the host than it may.
    HostCalls,
    /// It broke a rule of the contract, for example a verdict without a status.
    Contract,
    /// It could not be instantiated or configured.
    Start,
    /// It has not read up to the cycle's revision.
    Stale,
}

/// A plugin call that failed. The store it ran in is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    /// Kind of failure.
    pub fault: Fault,
    /// Name and version of the plugin.
    pub plugin: String,
    /// Exported function, for example `filter`.
    pub call: String,
    /// For people.
    pub cause: String,
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin {}: {}: {}", self.plugin, self.call, self.cause)
    }
}

impl std::error::Error for PluginError {}
