//! What woke a pod, for programs and for people.

use crate::plugin::{Action, ObjectEvent};

/// What woke a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wake {
    /// `Kind/Action namespace/name` for an event, otherwise `backoff` or `flush`.
    pub trigger: String,
    /// A sentence.
    pub why: String,
}

impl Wake {
    /// Something happened to an object.
    pub fn event(event: &ObjectEvent) -> Self {
        let (action, done) = match event.action {
            Action::Add => ("Add", "added"),
            Action::Update => ("Update", "changed"),
            Action::Delete => ("Delete", "deleted"),
        };
        let kind = event.kind.short();
        let Some(object) = event.new.as_ref().or(event.old.as_ref()) else {
            return Self::new(format!("{kind}/{action}"), format!("{kind} {done}"));
        };
        let id = object.id();
        let place = match id.namespace.is_empty() {
            true => id.name.to_string(),
            false => format!("{}/{}", id.namespace, id.name),
        };
        Self::new(
            format!("{kind}/{action} {place}"),
            format!("{kind} {place} {done}"),
        )
    }

    /// The same, for an event that came while the pod was being tried.
    pub fn during_attempt(self) -> Self {
        Self {
            why: format!("{} during the last attempt", self.why),
            ..self
        }
    }

    /// Time, after an error.
    pub fn backoff() -> Self {
        Self::new("backoff", "the last attempt ended in an error")
    }

    /// Time, without anything else.
    pub fn flush() -> Self {
        Self::new("flush", "five minutes passed")
    }

    fn new(trigger: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            trigger: trigger.into(),
            why: why.into(),
        }
    }
}
