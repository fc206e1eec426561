//! Which events may help a pod that a plugin refused (upstream's `ClusterEventMap`, spec section 12).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::Kind;
use crate::plugin::{Action, Interest, ObjectEvent};

/// The events that plugins registered.
#[derive(Clone, Debug, Default)]
pub struct Interests {
    by_kind: BTreeMap<Kind, Vec<(Arc<str>, Interest)>>,
    hints: bool,
    everything: Vec<Arc<str>>,
}

impl Interests {
    /// Nobody is interested in anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// What one plugin registered. A plugin that wants to be asked switches the queue to hints: events during a pod's own cycle
    /// are then replayed instead of sending the pod to backoff.
    pub fn register(&mut self, plugin: &str, interests: Vec<Interest>) {
        let plugin: Arc<str> = plugin.into();
        for interest in interests {
            self.hints |= interest.hinted;
            self.by_kind
                .entry(interest.kind.clone())
                .or_default()
                .push((plugin.clone(), interest));
        }
    }

    /// A plugin without `enqueue`: every event may help.
    pub fn register_everything(&mut self, plugin: &str) {
        self.everything.push(plugin.into());
    }

    /// Whether some plugin wants to be asked about some event.
    pub fn with_hints(&self) -> bool {
        self.hints
    }

    /// Plugins that registered the event, and whether they want to be asked. Each plugin once.
    pub fn of(&self, event: &ObjectEvent) -> Vec<(Arc<str>, bool)> {
        let mut found: Vec<(Arc<str>, bool)> = self
            .everything
            .iter()
            .map(|plugin| (plugin.clone(), false))
            .collect();
        for (plugin, interest) in self.by_kind.get(&event.kind).into_iter().flatten() {
            if !interest.actions.contains(&event.action) {
                continue;
            }
            match found.iter_mut().find(|(known, _)| known == plugin) {
                Some((_, hinted)) => *hinted &= interest.hinted,
                None => found.push((plugin.clone(), interest.hinted)),
            }
        }
        found
    }

    /// Whether anybody registered the event.
    pub fn concerns_any(&self, event: &ObjectEvent) -> bool {
        !self.of(event).is_empty()
    }

    /// Whether anybody wants to be asked about the event.
    pub fn hinted_for(&self, event: &ObjectEvent) -> bool {
        self.of(event).iter().any(|(_, hinted)| *hinted)
    }
}

/// An interest that needs no hint.
pub fn plain(kind: &str, actions: &[Action]) -> Interest {
    Interest {
        kind: Kind::new(kind),
        actions: actions.to_vec(),
        hinted: false,
    }
}
