//! Collects findings about one object after the other.

use super::{Finding, Severity};
use crate::host::ObjectRef;

/// Findings so far.
#[derive(Default)]
pub(super) struct Findings(pub Vec<Finding>);

impl Findings {
    pub(super) fn about<'a>(&'a mut self, object: &'a ObjectRef) -> About<'a> {
        About {
            findings: self,
            object,
        }
    }
}

/// Adds findings about one object.
pub(super) struct About<'a> {
    findings: &'a mut Findings,
    object: &'a ObjectRef,
}

impl About<'_> {
    pub(super) fn error(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, path.into(), message.into(), remedy.into());
    }

    pub(super) fn warning(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(
            Severity::Warning,
            path.into(),
            message.into(),
            remedy.into(),
        );
    }

    pub(super) fn hint(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Hint, path.into(), message.into(), remedy.into());
    }

    /// Complains about a list that is too long.
    pub(super) fn at_most(&mut self, path: &str, what: &str, count: usize, most: usize) {
        if count > most {
            self.error(
                path,
                format!("{count} {what}, at most {most} are allowed"),
                "split it, or remove some",
            );
        }
    }

    fn add(&mut self, severity: Severity, path: String, message: String, remedy: String) {
        self.findings.0.push(Finding {
            severity,
            object: self.object.clone(),
            path,
            message,
            remedy,
        });
    }
}

/// `"a", "b" and 3 more`.
pub(super) fn some_of<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const SHOWN: usize = 5;
    let names: Vec<T> = names.into_iter().collect();
    let shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `1 device`, `2 devices`.
pub(super) fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}
