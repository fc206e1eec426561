//! Status codes of the scheduling framework, and the texts that users see (spec section 2.1).

/// `code` of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Success.
    Success,
    /// Error.
    Error,
    /// Unschedulable.
    Unschedulable,
    /// UnschedulableAndUnresolvable.
    UnschedulableAndUnresolvable,
    /// Skip.
    Skip,
    /// Pending.
    Pending,
    /// An object cannot be used as it is given.
    InvalidObject,
}

/// A code and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Code.
    pub code: Code,
    /// Empty for success.
    pub reasons: Vec<String>,
}

impl Status {
    /// Success.
    pub fn success() -> Self {
        Self {
            code: Code::Success,
            reasons: Vec::new(),
        }
    }

    /// Any other code with its reason.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Self {
            code,
            reasons: vec![reason.into()],
        }
    }

    /// Error.
    pub fn error(reason: impl Into<String>) -> Self {
        Self::new(Code::Error, reason)
    }

    /// Unschedulable.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        Self::new(Code::Unschedulable, reason)
    }

    /// UnschedulableAndUnresolvable.
    pub fn unresolvable(reason: impl Into<String>) -> Self {
        Self::new(Code::UnschedulableAndUnresolvable, reason)
    }

    /// Whether it is success.
    pub fn is_success(&self) -> bool {
        self.code == Code::Success
    }
}
