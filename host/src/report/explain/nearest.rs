//! What would make a pod fit, node by node: what was tried and is enough first, then what nobody can try.

use std::sync::Arc;

use serde::Serialize;

use crate::cluster::Cluster;
use crate::explain::NodeAnswer;
use crate::explain::remedies::{Remedy, Verdict as Tried, Ways};
use crate::nearest::meant;
use crate::object::Kind;
use crate::report::Verdict;
use crate::stand_ins::schema::{CLAIM, CLAIM_TEMPLATE};

use super::changes::Words;
use super::groups::Group;
use super::needs::Need;
use super::node::View;
use super::phrase::Phrase;
use super::summary::Facts;

/// How many nodes, of different groups.
const NODES: usize = 2;
/// On how many a remedy is looked for.
const TRIED: usize = 4;
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
    /// Whether the pod fits then: `fits`, `does not fit` or `not tried`.
    pub tried: &'static str,
    /// What was tried, step by step: of the lists of changes of each step any one.
    pub changes: Vec<Ways>,
    /// What stands in the way after these steps.
    pub left: Option<String>,
}

/// What came of trying, for people.
pub fn in_words(tried: &str) -> &str {
    match tried {
        "fits" => "tried: then it fits",
        "does not fit" => "tried: not enough",
        other => other,
    }
}

/// Where remedies are worth looking for, the nearest node first; nothing for a pod that fits.
pub fn to_try(facts: &Facts<'_>) -> Vec<Arc<str>> {
    if facts.is_placed() || (!is_everywhere(facts) && is_on_its_way(facts)) {
        return Vec::new();
    }
    let nearest = facts.causes().into_iter().filter_map(|group| {
        let view = facts.views.get(*group.nodes.first()?)?;
        let answer = facts.answer.nodes.get(*group.nodes.first()?)?;
        Some((view, answer.name.clone()))
    });
    let mut nodes: Vec<Arc<str>> = Vec::new();
    for (view, name) in nearest {
        if nodes.len() < TRIED && (nodes.is_empty() || view.distance() < FAR) {
            nodes.push(name);
        }
    }
    nodes
}

/// Whether there is something that keeps the pod from every node.
pub fn is_everywhere(facts: &Facts<'_>) -> bool {
    let mut found = facts.groups.iter().flat_map(|group| &group.found);
    found.any(|one| one.everywhere)
}

/// A node was found, and what the pod waits for then is no node's matter.
fn is_on_its_way(facts: &Facts<'_>) -> bool {
    let aborted = facts
        .report
        .is_some_and(|report| report.verdict == Verdict::Error);
    !aborted && facts.groups.iter().any(Group::fits)
}

/// What was tried and fits first, then the nearest; nothing for a pod that fits.
pub fn of(facts: &Facts<'_>, remedies: &[Remedy], cluster: &Cluster) -> Vec<Nearest> {
    if facts.is_placed() {
        return Vec::new();
    }
    let everywhere = everywhere(facts, cluster);
    if everywhere.is_empty() && is_on_its_way(facts) {
        return Vec::new();
    }
    let words = Words {
        needs: facts.needs,
        cluster,
    };
    let mut remedies: Vec<&Remedy> = remedies.iter().collect();
    remedies.sort_by_key(|one| (one.verdict != Tried::Fits, one.size()));
    let fits = remedies
        .first()
        .is_some_and(|one| one.verdict == Tried::Fits);
    if !everywhere.is_empty() && !fits {
        return vec![advised(None, everywhere)];
    }
    if remedies.is_empty() {
        return untried(facts);
    }
    let mut found: Vec<Nearest> = Vec::new();
    let told = remedies
        .into_iter()
        .map(|one| tried(one, facts.answer.plugin.as_str(), &words));
    for one in told {
        if found.len() < NODES
            && !one.steps.is_empty()
            && !found.iter().any(|known| known.steps == one.steps)
        {
            found.push(one);
        }
    }
    found
}

/// What would make the pod fit on one node; no steps if nobody knows.
pub fn on(
    view: &View,
    remedies: &[Remedy],
    plugin: &str,
    needs: &[Need],
    cluster: &Cluster,
) -> Nearest {
    let mut own = remedies
        .iter()
        .filter(|one| one.node.as_deref() == Some(&view.name));
    match own.next() {
        Some(own) => tried(own, plugin, &Words { needs, cluster }),
        None => advised(Some(view.name.clone()), advice(view)),
    }
}

fn tried(remedy: &Remedy, plugin: &str, words: &Words<'_>) -> Nearest {
    let left = remedy.left.as_ref();
    let view = left.map(|left: &NodeAnswer| View::of(left, plugin, None, words.cluster));
    let mut steps: Vec<String> = remedy.steps.iter().map(|ways| words.step(ways)).collect();
    let advice = view.as_ref().map(advice).unwrap_or_default();
    // What is advised beside it, nobody has tried.
    let verdict = match (remedy.verdict, advice.is_empty()) {
        (Tried::DoesNotFit, false) => Tried::NotTried,
        (verdict, _) => verdict,
    };
    steps.extend(advice);
    let still = view.filter(|_| verdict == Tried::DoesNotFit).map(|view| {
        let phrases = view.found.iter().map(|found| found.phrase.clone());
        Phrase::joined(phrases, ", and ").to_string()
    });
    Nearest {
        node: remedy.node.as_ref().map(|node| node.to_string()),
        steps,
        tried: match verdict {
            Tried::Fits => "fits",
            Tried::DoesNotFit => "does not fit",
            Tried::NotTried => "not tried",
        },
        changes: remedy.steps.clone(),
        left: still,
    }
}

/// Where nobody looked for remedies: what is advised, and who would look.
fn untried(facts: &Facts<'_>) -> Vec<Nearest> {
    let nearest = facts.causes().into_iter().filter_map(|group| {
        let view = facts.views.get(*group.nodes.first()?)?;
        Some(advised(Some(view.name.clone()), advice(view)))
    });
    let advised_of = |one: &Nearest| !one.steps.is_empty();
    let mut found: Vec<Nearest> = nearest.take(NODES).filter(advised_of).collect();
    let explains = facts.answer.silence.is_none();
    if found.is_empty() && explains && !facts.groups.is_empty() {
        let id = facts.answer.pod.id();
        let who = format!("dractl explain -n {} {}", id.namespace, id.name);
        found.push(advised(
            None,
            vec![format!("`{who}` tries what would help")],
        ));
    }
    found
}

fn advised(node: Option<String>, steps: Vec<String>) -> Nearest {
    Nearest {
        node,
        steps,
        tried: "not tried",
        changes: Vec::new(),
        left: None,
    }
}

/// What stands in the way on all nodes alike.
fn everywhere(facts: &Facts<'_>, cluster: &Cluster) -> Vec<String> {
    let found = facts.groups.iter().flat_map(|group| &group.found);
    let mut steps = Vec::new();
    for advice in found
        .filter(|one| one.everywhere)
        .flat_map(|one| &one.advice)
    {
        if !steps.contains(advice) {
            steps.push(advice.clone());
        }
    }
    for need in facts.needs.iter().filter(|need| !need.exists) {
        let namespace = &facts.answer.pod.id().namespace;
        let (kind, name) = match (&need.template, &need.claim) {
            (Some(template), None) => (CLAIM_TEMPLATE, template.as_str()),
            (_, Some(claim)) => (CLAIM, claim.rsplit('/').next().unwrap_or(claim)),
            (None, None) => continue,
        };
        let kind = Kind::new(kind);
        let there = cluster.list(&kind).map(|entry| entry.object.id());
        let there = there.filter(|id| id.namespace == *namespace);
        let near = meant(name, there.map(|id| &*id.name));
        let near = near.map(|near| format!(", or name {near}, which is there"));
        let what = match &need.claim {
            Some(claim) => format!("ResourceClaim {claim}"),
            None => format!("ResourceClaimTemplate {name}"),
        };
        steps.retain(|step| !step.contains("or the template that it is made from"));
        steps.push(format!("create {what}{}", near.unwrap_or_default()));
    }
    steps
}

fn advice(view: &View) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    for advice in view.found.iter().flat_map(|found| &found.advice) {
        if !steps.contains(advice) {
            steps.push(advice.clone());
        }
    }
    steps
}
