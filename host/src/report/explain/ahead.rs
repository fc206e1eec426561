//! Pods that are tried before this one and want devices of the same class or driver.

use serde::Serialize;

use crate::cluster::Cluster;
use crate::explain::{Answer, Earlier};
use crate::report::claims::wanted_of;
use crate::scheduler::outcome::Ended;

use super::phrase::{counted, some_of};
use super::summary::Facts;

/// How many pods a sentence names.
const NAMES: usize = 3;

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

/// That others come before it, and which.
pub fn behind(facts: &Facts<'_>) -> String {
    let count = match facts.answer.ahead.len() {
        1 => "pod".to_owned(),
        count => format!("{count} pods"),
    };
    let why = match facts.ahead {
        [] => {
            let queued = facts.answer.queued.as_ref().map(|queued| &queued.ended);
            match queued {
                Some(Ended::Failed(failure)) => failure.status.message(),
                _ => "there is nothing left for it then".to_owned(),
            }
        }
        [_] => format!(
            "{} asks for {} too",
            names_of(facts.ahead),
            same(facts.ahead)
        ),
        _ => format!(
            "{} ask for {} too",
            names_of(facts.ahead),
            same(facts.ahead)
        ),
    };
    format!(
        "{} would fit alone, but not behind the {count} ahead of it in the queue: {why}.",
        facts.pod()
    )
}

/// Their names, and where they went.
fn names_of(ahead: &[AheadReport]) -> String {
    let names = ahead.iter().map(|ahead| match &ahead.node {
        Some(node) => format!("{}/{} (on {node})", ahead.namespace, ahead.name),
        None => format!("{}/{}", ahead.namespace, ahead.name),
    });
    some_of(&names.collect::<Vec<_>>(), NAMES, ahead.len())
}

/// What they want that the pod wants as well.
fn same(ahead: &[AheadReport]) -> &'static str {
    let of_class = |ahead: &AheadReport| ahead.wants.iter().any(|want| want.starts_with("class "));
    match ahead.iter().all(of_class) {
        true => "the same class",
        false => "the same class or driver",
    }
}

/// Who is tried before, for a pod that is not kept from its node by them alone.
pub fn sentence(facts: &Facts<'_>) -> Option<String> {
    if facts.ahead.is_empty() {
        return None;
    }
    let all = facts.ahead.len();
    let names = names_of(facts.ahead);
    let same = same(facts.ahead);
    if facts.answer.after_queue {
        let placed = |earlier: &&Earlier| {
            let ended = earlier.outcome.as_ref().map(|outcome| &outcome.ended);
            matches!(ended, Some(Ended::Bound { .. }))
        };
        let placed = facts.answer.ahead.iter().filter(placed).count();
        let queue = counted(facts.answer.ahead.len() as u64, "pod", "pods");
        let placed = match placed {
            0 => "none was".to_owned(),
            1 => "1 was".to_owned(),
            placed => format!("{placed} were"),
        };
        let those = match all {
            1 => "the one that asks for",
            _ => "those that ask for",
        };
        return Some(format!(
            "Of {queue} ahead of it in the queue {placed} placed first; {those} {same}: {names}."
        ));
    }
    Some(match all {
        1 => format!(
            "1 pod ahead of it in the queue asks for {same} ({names}); --after-queue places it first."
        ),
        _ => format!(
            "{all} pods ahead of it in the queue ask for {same} ({names}); --after-queue places them first."
        ),
    })
}
