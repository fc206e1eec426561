//! Which nodes are feasible: native filters node by node, the plugin in batches (upstream's `findNodesThatPassFilters`).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::refusals::Refusals;
use super::{Failure, Input, Node, Point, Stop, framework_error};
use crate::plugin::{Answers, Code, CycleId, PluginError, SchedulingInstance, Scope, Slot, Status};

/// Largest batch of one call of `filter`.
const LARGEST_BATCH: usize = 1024;
/// First batch when the search may end early; the next ones double, so that at most as many nodes are asked about in vain as
/// were needed.
const FIRST_BATCH: usize = 4;

/// The search and what it found.
#[derive(Debug)]
pub struct Search {
    /// Why nodes were refused.
    pub refusals: Refusals,
    /// Nodes left, in the order visited.
    pub feasible: Vec<Node>,
    /// Nodes looked at, up to and including the one where the search ended.
    pub visited: usize,
}

impl Search {
    /// Nothing visited yet; keeps up to `names` names of nodes per reason.
    pub fn new(names: usize) -> Self {
        Self {
            refusals: Refusals::new(names),
            feasible: Vec::new(),
            visited: 0,
        }
    }

    pub(super) fn run(
        &mut self,
        instance: &mut dyn SchedulingInstance,
        id: CycleId,
        input: &Input<'_>,
        scope: &Scope,
        has_filter: bool,
        plugin: &str,
    ) -> Result<(), Stop> {
        let wanted = input.strategy.wanted();
        let asks = has_filter && *scope != Scope::Skip;
        let mut nodes = in_scope(input, scope);
        let mut size = if wanted == usize::MAX {
            LARGEST_BATCH
        } else {
            FIRST_BATCH
        };
        while self.feasible.len() < wanted {
            let batch: Vec<&Node> = nodes.by_ref().take(size).collect();
            if batch.is_empty() {
                break;
            }
            let judged = judge(instance, id, input, &batch, asks)?;
            self.take(&batch, &judged, wanted, plugin)?;
            size = (size * 2).min(LARGEST_BATCH);
        }
        Ok(())
    }

    /// Takes the verdicts of a batch in node order, up to the first error or the last wanted node.
    fn take(
        &mut self,
        batch: &[&Node],
        judged: &Judged,
        wanted: usize,
        plugin: &str,
    ) -> Result<(), Stop> {
        for (node, verdict) in batch.iter().zip(&judged.verdicts) {
            if self.feasible.len() >= wanted {
                break;
            }
            self.visited += 1;
            let status = match verdict {
                Verdict::Native(name, status) => {
                    self.refusals.add(name, status, &node.name);
                    continue;
                }
                Verdict::Plugin(index) => judged
                    .statuses
                    .get(*index as usize)
                    .unwrap_or(&judged.missing),
            };
            if status.code == Code::Success {
                self.feasible.push((*node).clone());
            } else if status.code.is_rejected() {
                self.refusals.add(plugin, status, &node.name);
            } else {
                // The attempt is aborted: what other nodes said no longer decides anything.
                self.refusals.clear();
                self.refusals.add(
                    plugin,
                    &Status {
                        code: Code::Error,
                        ..status.clone()
                    },
                    &node.name,
                );
                return Err(Failure::error(
                    Point::Filter,
                    framework_error(Point::Filter, plugin, status),
                )
                .into());
            }
        }
        Ok(())
    }
}

/// What was said about the nodes of a batch.
struct Judged {
    verdicts: Vec<Verdict>,
    statuses: Vec<Status>,
    /// Stands in for a verdict that the plugin did not give.
    missing: Status,
}

enum Verdict {
    Native(Arc<str>, Status),
    /// Index into the statuses.
    Plugin(u32),
}

/// The nodes to visit, from the rotating start on.
fn in_scope<'a>(input: &Input<'a>, scope: &Scope) -> impl Iterator<Item = &'a Node> {
    let start = input
        .start
        .checked_rem(input.nodes.len())
        .unwrap_or_default();
    let (behind, front) = input.nodes.split_at(start);
    let only: Option<BTreeSet<Slot>> = match scope {
        Scope::Only(slots) => Some(slots.iter().copied().collect()),
        _ => None,
    };
    let wanted = move |node: &&Node| only.as_ref().is_none_or(|slots| slots.contains(&node.slot));
    front.iter().chain(behind).filter(wanted)
}

fn judge(
    instance: &mut dyn SchedulingInstance,
    id: CycleId,
    input: &Input<'_>,
    batch: &[&Node],
    asks: bool,
) -> Result<Judged, PluginError> {
    let native: Vec<_> = batch.iter().map(|node| input.native.check(node)).collect();
    let open = batch
        .iter()
        .zip(&native)
        .filter(|(_, refusal)| refusal.is_none());
    let slots: Vec<Slot> = open.map(|(node, _)| node.slot).collect();
    let Answers { verdicts, statuses } = match asks && !slots.is_empty() {
        true => instance.filter(id, &slots)?,
        false => Answers {
            verdicts: vec![0; slots.len()],
            statuses: vec![Status::success()],
        },
    };
    let mut answers = verdicts.into_iter();
    let verdict = |refusal: Option<_>| match refusal {
        Some((name, status)) => Verdict::Native(name, status),
        None => Verdict::Plugin(answers.next().unwrap_or(u32::MAX)),
    };
    let verdicts = native.into_iter().map(verdict).collect();
    Ok(Judged {
        verdicts,
        statuses,
        missing: Status::new(Code::Error, "the plugin gave no verdict for a node"),
    })
}
