//! What an attempt is about to see, for those who want to say why it will end as it does. Looking changes nothing.

use std::cmp::Reverse;
use std::sync::Arc;

use super::intake::{self, Intake};
use super::native::Native;
use super::{Scheduler, lock};
use crate::cycle::Node;
use crate::filters::{Obstacle, held};
use crate::object::{Kind, Object};
use crate::plugin::Revision;

/// The cluster as an attempt finds it.
pub struct Scene<'a> {
    /// The pod.
    pub pod: &'a Object,
    /// Newest revision.
    pub at: Revision,
    /// All nodes, by name.
    pub nodes: &'a [Node],
    native: &'a Native,
}

impl Scene<'_> {
    /// What the basic filters have against each node, in the order of `nodes`. The error names the field of the pod that
    /// cannot be used.
    pub fn obstacles(&self) -> Result<Vec<Vec<Obstacle>>, String> {
        self.native.obstacles(self.pod, self.nodes)
    }
}

/// Sees scenes.
pub type Observer = Box<dyn FnMut(&Scene<'_>)>;

/// A pod whose attempts are shown to somebody.
pub(super) struct Watched {
    uid: Arc<str>,
    observer: Observer,
    seen: bool,
}

/// A pod that is tried before another.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// The pod.
    pub pod: Object,
    /// Its priority.
    pub priority: i64,
}

impl Scheduler {
    /// Shows each attempt of a pod to an observer, before it is made.
    pub fn watch(&mut self, uid: &str, observer: Observer) {
        self.watched = Some(Watched {
            uid: uid.into(),
            observer,
            seen: false,
        });
    }

    /// Shows the scene as it is now if the watched pod has not been tried: it was held, or has a node.
    pub fn show_unseen(&mut self, pod: &Object) {
        self.native.refresh(&lock(&self.cluster));
        if self.watched.as_ref().is_some_and(|watched| !watched.seen) {
            self.observe(pod);
        }
    }

    pub(super) fn observe(&mut self, pod: &Object) {
        let at = lock(&self.cluster).revision();
        let watched = self.watched.as_mut();
        if let Some(watched) = watched.filter(|watched| watched.uid == pod.id().uid) {
            watched.seen = true;
            (watched.observer)(&Scene {
                pod,
                at,
                nodes: self.native.nodes(),
                native: &self.native,
            });
        }
    }

    /// The pods that are tried before this one, the next first. Pods that nobody may place are not among them.
    pub fn ahead_of(&self, uid: &str) -> Vec<Ahead> {
        let cluster = self.cluster();
        let kind = Kind::new("Pod");
        let mut pods: Vec<_> = cluster.list(&kind).collect();
        pods.sort_by_key(|entry| entry.slot);
        let waits = |pod: &Object| {
            intake::sort(pod, &self.settings.input_errors) == Intake::Pending && held(pod).is_none()
        };
        let mut queue: Vec<Ahead> = pods
            .into_iter()
            .map(|entry| &entry.object)
            .filter(|pod| *pod.id().uid == *uid || waits(pod))
            .map(|pod| Ahead {
                pod: pod.clone(),
                priority: self.native.priority(pod).0,
            })
            .collect();
        queue.sort_by_key(|ahead| Reverse(ahead.priority));
        let own = queue.iter().position(|ahead| *ahead.pod.id().uid == *uid);
        queue.truncate(own.unwrap_or_default());
        queue
    }
}
