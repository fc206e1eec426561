//! What binding cycles reach of the cluster.

use std::sync::{Arc, Mutex};

use crate::api::Operation;
use crate::binding_cycle::BindingHost;
use crate::cluster::Cluster;
use crate::object::ObjectRef;
use crate::plugin::{ApiError, SharedServices, Verb};
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

    fn writes(&self) -> u64 {
        super::lock(&self.0)
            .stored()
            .journal()
            .last()
            .map_or(0, |call| call.sequence + 1)
    }

    fn writes_since(&self, since: u64) -> Vec<String> {
        let cluster = super::lock(&self.0);
        let calls = cluster
            .stored()
            .journal()
            .filter(|call| call.sequence >= since);
        let writes =
            calls.filter(|call| call.took_effect && call.operation != Operation::Api(Verb::Get));
        writes
            .map(|write| format!("{:?} {}", write.operation, write.target))
            .collect()
    }

    fn settle(&mut self, pod: &ObjectRef) {
        super::lock(&self.0).settle(&pod.uid);
    }

    fn clean_ledger(&mut self, pod: &ObjectRef) -> Vec<ObjectRef> {
        super::lock(&self.0)
            .remove_entries_of(&pod.uid)
            .into_iter()
            .map(|entry| entry.target)
            .collect()
    }
}
