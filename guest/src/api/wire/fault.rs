//! What is wrong with an object, where in it, and what to do.

use std::fmt;

/// Why an object cannot be used. `Display` names the object, the field, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Kind and namespace/name, with the API version in front where that is the trouble.
    pub object: String,
    /// Path of the field in Kubernetes' notation; empty if the object as a whole is meant.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
    /// Upstream's name of the feature gate, if the field belongs to a feature that is not supported or off.
    pub gate: Option<&'static str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.object)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// A problem on its way out: the path grows at the front, the object is not yet named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) path: String,
    pub(super) message: String,
    pub(super) gate: Option<&'static str>,
    /// Whether the API version goes in front of the object's name.
    pub(super) names_version: bool,
}

impl Fault {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
            gate: None,
            names_version: false,
        }
    }

    pub(super) fn required(path: &str) -> Self {
        Self::new(path, "required, but missing or empty")
    }

    /// A field of a feature that is not implemented or off; `what` is in the plural.
    pub(super) fn unsupported(path: &str, what: &str, gate: &'static str) -> Self {
        Self {
            gate: Some(gate),
            ..Self::new(path, format!("{what} are not supported (gate {gate})"))
        }
    }

    /// The same fault, seen from the object that holds `field`.
    pub(super) fn under(mut self, field: &str) -> Self {
        self.path = join(field, &self.path);
        self
    }

    /// The same fault, seen from the list `field`.
    pub(super) fn under_index(self, field: &str, index: usize) -> Self {
        self.under(&format!("{field}[{index}]"))
    }

    /// The same fault, seen from the map `field`.
    pub(super) fn under_key(self, field: &str, key: &str) -> Self {
        self.under(&format!("{field}[{key}]"))
    }

    pub(super) fn of(self, object: String) -> Problem {
        Problem {
            object,
            path: self.path,
            message: self.message,
            gate: self.gate,
        }
    }
}

/// Field path: brackets attach, names are set off by a dot.
pub(super) fn join(outer: &str, inner: &str) -> String {
    if outer.is_empty() || inner.is_empty() || inner.starts_with('[') {
        format!("{outer}{inner}")
    } else {
        format!("{outer}.{inner}")
    }
}
