//! What binding cycles reach of the cluster.

use std::sync::{Arc, Mutex};

use crate::binding_cycle::BindingHost;
use crate::cluster::Cluster;
use crate::object::ObjectRef;
use crate::plugin::{ApiError, Services, SharedServices};
use crate::queue::Time;

/// A handle on the cluster.
pub struct ClusterHost(pub Arc<Mutex<Cluster>>);

impl BindingHost for ClusterHost {
    fn services(&self) -> SharedServices {
        self.0.clone()
    }

    fn bind(&mut self, pod: &ObjectRef, node: &str) -> Result<(), ApiError> {
        super::lock(&self.0).bind(pod, node).map(|_| ())
    }

    fn now(&self) -> Time {
        super::lock(&self.0).clock()
    }

    fn writes(&self) -> usize {
        super::lock(&self.0).journal().len()
    }

    fn writes_since(&self, since: usize) -> Vec<String> {
        let cluster = super::lock(&self.0);
        let writes = cluster.journal().iter().skip(since).filter(|write| write.outcome.is_ok());
        writes.map(|write| format!("{:?} {}", write.verb, write.object)).collect()
    }

    fn clean_ledger(&mut self, pod: &ObjectRef) -> Vec<ObjectRef> {
        let mut cluster = super::lock(&self.0);
        let removed = cluster.remove_entries_of(&pod.uid);
        for target in &removed {
            cluster.restore(&target.kind, &target.namespace, &target.name);
        }
        removed
    }
}
