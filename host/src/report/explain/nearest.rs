//! What would make a pod fit: for the nodes that come nearest, everything that stands in the way turned into something to do.

use serde::Serialize;

use crate::report::Verdict;

use super::groups::Group;
use super::node::View;
use super::summary::Facts;

/// How many nodes, of different groups.
const NODES: usize = 2;
/// Beyond this a node is not near.
const FAR: u64 = 50;

/// What would have to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Nearest {
    /// The node; null where it is the same on every node.
    pub node: Option<String>,
    /// All of it is needed.
    pub steps: Vec<String>,
}

/// The nearest first; nothing for a pod that fits.
pub fn of(facts: &Facts<'_>) -> Vec<Nearest> {
    if facts.is_placed() {
        return Vec::new();
    }
    let everywhere = everywhere(facts);
    // A node was found, and what the pod waits for then is no node's matter.
    let aborted = facts
        .report
        .is_some_and(|report| report.verdict == Verdict::Error);
    if everywhere.is_empty() && !aborted && facts.groups.iter().any(Group::fits) {
        return Vec::new();
    }
    if !everywhere.is_empty() {
        return vec![Nearest {
            node: None,
            steps: everywhere,
        }];
    }
    let mut found: Vec<Nearest> = Vec::new();
    for group in facts.causes() {
        let view = group
            .nodes
            .first()
            .and_then(|&index| facts.views.get(index));
        let Some(view) = view.filter(|view| found.is_empty() || view.distance() < FAR) else {
            continue;
        };
        let steps = steps(view);
        if steps.is_empty() || found.iter().any(|known| known.steps == steps) {
            continue;
        }
        found.push(Nearest {
            node: Some(view.name.clone()),
            steps,
        });
        if found.len() == NODES {
            break;
        }
    }
    found
}

/// What stands in the way on all nodes alike.
fn everywhere(facts: &Facts<'_>) -> Vec<String> {
    let found = facts.groups.iter().flat_map(|group| &group.found);
    let mut steps = Vec::new();
    for fix in found
        .filter(|one| one.everywhere)
        .flat_map(|one| &one.fixes)
    {
        if !steps.contains(fix) {
            steps.push(fix.clone());
        }
    }
    for need in facts.needs.iter().filter(|need| !need.exists) {
        let step = match (&need.template, &need.claim) {
            (Some(template), None) => format!("create ResourceClaimTemplate {template}"),
            (_, Some(claim)) => format!("create ResourceClaim {claim}"),
            (None, None) => continue,
        };
        steps.retain(|step| !step.contains("or the template that it is made from"));
        steps.push(step);
    }
    steps
}

/// What would make the pod fit on one node; nothing if nobody knows.
pub fn steps(view: &View) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for found in &view.found {
        if found.fixes.is_empty() && found.weight >= FAR {
            return Vec::new();
        }
        for fix in &found.fixes {
            if !steps.contains(fix) {
                steps.push(fix.clone());
            }
        }
    }
    steps
}
