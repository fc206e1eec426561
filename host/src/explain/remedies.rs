//! What would make a pod fit, tried out: changes that its reasons suggest are made to a copy of the cluster, where the very
//! attempt that refused the pod is made again. What does not fit then is asked for its reasons once more.
//!
//! `candidates` says what might help, [`trial`] tries it, `minimal` takes away what is not needed. The verdict is
//! long there when this begins.

use std::sync::Arc;

use crate::explain::{Answer, NodeAnswer};
use crate::stand_ins::change::{Change, Objects};

mod candidates;
mod minimal;
mod selectors;
pub mod trial;

use candidates::{Candidate, Class};
use minimal::Search;
use trial::{Bench, Trial};

/// How often the reasons of one node are asked for anew.
const ROUNDS: usize = 6;
/// How many changes are considered on one node.
const CANDIDATES: usize = 96;

/// Changes any one set of which will do for a step.
pub type Ways = Vec<Vec<Change>>;

/// What trying came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// With these changes the pod fits.
    Fits,
    /// With these changes it still does not.
    DoesNotFit,
    /// There is nothing that could be tried.
    NotTried,
}

/// What would have to change for a pod.
#[derive(Clone, Debug)]
pub struct Remedy {
    /// The node that it is about; none if it is the same on every node.
    pub node: Option<Arc<str>>,
    /// All of them are needed; of the ways of each step any one will do, whatever is chosen for the others.
    pub steps: Vec<Ways>,
    /// Whether that is enough.
    pub verdict: Verdict,
    /// What stands in the way after these changes.
    pub left: Option<NodeAnswer>,
}

impl Remedy {
    /// How much there is to do at least.
    pub fn size(&self) -> usize {
        let steps = self.steps.iter();
        steps
            .filter_map(|ways| ways.iter().map(Vec::len).min())
            .sum()
    }
}

/// Looks on these nodes, the nearest first. `everywhere`: something keeps the pod from every node.
pub fn find(
    bench: &mut Bench<'_>,
    answer: &Answer,
    nodes: &[Arc<str>],
    everywhere: bool,
) -> Vec<Remedy> {
    let wanted = nodes.iter().filter_map(|name| {
        let all = answer.nodes.iter();
        all.clone().find(|node| node.name == *name)
    });
    let wanted: Vec<&NodeAnswer> = wanted.collect();
    let Some(first) = wanted.first() else {
        return Vec::new();
    };
    let all = Objects::of(bench.cluster);
    if everywhere && let Some(remedy) = on_all(bench, &all, first) {
        return vec![remedy];
    }
    let each = wanted.into_iter().map(|node| on_node(bench, &all, node));
    each.collect()
}

/// Looks for what makes the pod fit on a node. `answer` is what stands in the way there now.
fn on_node(bench: &mut Bench<'_>, all: &Objects, answer: &NodeAnswer) -> Remedy {
    let objects = all.around(&answer.name, bench.pod);
    let node = Some(answer.name.clone());
    let mut known = candidates::of(answer, bench.pod, &objects);
    candidates::keep_some(&mut known, &objects);
    let mut left = Some(answer.clone());
    let mut drops = false;
    for _ in 0..ROUNDS {
        known.truncate(CANDIDATES);
        let considered = |one: &&Candidate| drops || one.class != Class::Drop;
        let changes: Vec<Change> = known.iter().filter(considered).map(first).collect();
        if changes.is_empty() && !known.iter().any(|one| one.class == Class::Drop) {
            return not_tried(node, left);
        }
        match bench.trial(&objects, &changes, true) {
            Some(Trial::Fits(_)) => {
                let considered: Vec<Candidate> = known.iter().filter(considered).cloned().collect();
                let mut search = Search::new(bench, &objects, considered);
                let steps = search.steps();
                return Remedy {
                    node,
                    steps,
                    verdict: Verdict::Fits,
                    left: None,
                };
            }
            Some(Trial::Refused(seen)) => {
                let Some(seen) = seen.into_iter().find(|one| one.name == answer.name) else {
                    break;
                };
                let more = candidates::of(&seen, bench.pod, &objects);
                let more = more
                    .into_iter()
                    .filter(|one| !candidates::is_told(&known, one));
                let more: Vec<Candidate> = more.collect();
                let before = known.len();
                known.extend(more);
                candidates::keep_some(&mut known, &objects);
                left = Some(seen);
                if known.len() == before {
                    let any = known.iter().any(|one| one.class == Class::Drop);
                    if drops || !any {
                        break;
                    }
                    drops = true;
                }
            }
            None => break,
        }
    }
    let needed = known.iter().filter(|one| one.class == Class::Needed);
    let steps: Vec<Ways> = needed
        .map(|one| one.ways.iter().map(|way| vec![way.clone()]).collect())
        .collect();
    Remedy {
        node,
        verdict: match steps.is_empty() {
            true => Verdict::NotTried,
            false => Verdict::DoesNotFit,
        },
        steps,
        left,
    }
}

/// What stands in the way on every node alike, taken away on all of them at once. None if that is not enough.
fn on_all(bench: &mut Bench<'_>, all: &Objects, answer: &NodeAnswer) -> Option<Remedy> {
    let everywhere = NodeAnswer {
        native: Vec::new(),
        ..answer.clone()
    };
    let known = candidates::of(&everywhere, bench.pod, all);
    let needed = known.into_iter().filter(|one| one.class == Class::Needed);
    let needed: Vec<Candidate> = needed.collect();
    let changes: Vec<Change> = needed.iter().map(first).collect();
    if changes.is_empty() {
        return None;
    }
    match bench.trial(all, &changes, false)? {
        Trial::Fits(_) => Some(Remedy {
            node: None,
            steps: changes
                .into_iter()
                .map(|change| vec![vec![change]])
                .collect(),
            verdict: Verdict::Fits,
            left: None,
        }),
        Trial::Refused(_) => None,
    }
}

fn not_tried(node: Option<Arc<str>>, left: Option<NodeAnswer>) -> Remedy {
    Remedy {
        node,
        steps: Vec::new(),
        verdict: Verdict::NotTried,
        left,
    }
}

/// The change that is tried for a candidate.
fn first(candidate: &Candidate) -> Change {
    // Each has one way at least.
    candidate.ways[0].clone()
}
