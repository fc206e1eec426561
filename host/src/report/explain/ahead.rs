//! Pods that are tried before this one and want devices of the same class or driver.

use serde::Serialize;

use crate::cluster::Cluster;
use crate::explain::Answer;
use crate::report::claims::wanted_of;
use crate::scheduler::outcome::Ended;

/// One such pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AheadReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Priority.
    pub priority: i64,
    /// Classes and drivers that both want, as `class NAME` and `driver NAME`.
    pub wants: Vec<String>,
    /// Where it went, if those ahead were placed first.
    pub node: Option<String>,
}

/// The next first.
pub fn of(answer: &Answer, cluster: &Cluster) -> Vec<AheadReport> {
    let own = wanted_of(&answer.pod, cluster);
    if own.is_empty() {
        return Vec::new();
    }
    let reports = answer.ahead.iter().filter_map(|earlier| {
        let pod = &earlier.ahead.pod;
        let theirs = wanted_of(pod, cluster);
        let wants: Vec<String> = own.intersection(&theirs).cloned().collect();
        if wants.is_empty() {
            return None;
        }
        Some(AheadReport {
            namespace: pod.id().namespace.to_string(),
            name: pod.id().name.to_string(),
            priority: earlier.ahead.priority,
            wants,
            node: match earlier.outcome.as_ref().map(|outcome| &outcome.ended) {
                Some(Ended::Bound { node }) => Some(node.to_string()),
                _ => None,
            },
        })
    });
    reports.collect()
}
