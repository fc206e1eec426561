//! What would make a pod fit, node by node: what was tried and is enough first, then what nobody can try.

use std::sync::Arc;

use serde::Serialize;

use crate::cluster::Cluster;
use crate::explain::NodeAnswer;
use crate::explain::remedies::{Remedy, Verdict as Tried, Ways};
use crate::explain::target::short_name;
use crate::nearest::meant;
use crate::object::Kind;
use crate::report::Verdict;
use crate::stand_ins::change::Change;
use crate::stand_ins::schema::{CLAIM, CLAIM_TEMPLATE};

use super::changes::Words;
use super::groups::Group;
use super::native;
use super::needs::Need;
use super::node::{Found, View};
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
    /// The same, the ways of each step one by one, the least first.
    pub ways: Vec<Vec<String>>,
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
    if facts.is_placed() || facts.is_alone() || (!is_everywhere(facts) && is_on_its_way(facts)) {
        return Vec::new();
    }
    let nearest = facts.causes().into_iter().filter_map(|group| {
        let view = facts.views.get(*group.nodes.first()?)?;
        let answer = facts.answer.nodes.get(*group.nodes.first()?)?;
        Some((view, answer.name.clone()))
    });
    let mut nodes: Vec<Arc<str>> = Vec::new();
    for (view, name) in nearest {
        if nodes.len() < TRIED && (nodes.is_empty() || view.distance_here() < FAR) {
            nodes.push(name);
        }
    }
    // What keeps the pod from every node hides how these differ.
    if is_everywhere(facts) {
        let causes = facts.causes();
        let others = causes.iter().flat_map(|group| group.nodes.iter().skip(1));
        let others = others.filter_map(|at| facts.answer.nodes.get(*at));
        let room = TRIED.saturating_sub(nodes.len());
        nodes.extend(others.take(room).map(|answer| answer.name.clone()));
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
    if facts.is_alone() {
        return vec![advised(None, vec![behind_the_queue(facts)])];
    }
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
        let plugin = facts.answer.plugin.as_str();
        let first = remedies.first();
        let tried = first.map(|one| (one, tried(one, plugin, facts.views, &words)));
        let after = tried
            .and_then(|(one, told)| Some(format!("on {} {}", one.node.as_deref()?, told.left?)));
        return vec![Nearest {
            left: after.or_else(|| beside(facts)),
            ..advised(None, everywhere)
        }];
    }
    if remedies.is_empty() {
        return untried(facts);
    }
    let mut found: Vec<Nearest> = Vec::new();
    // Where a way is known, nobody looks for those that are not.
    let told = remedies
        .into_iter()
        .filter(|one| !fits || one.verdict == Tried::Fits)
        .map(|one| tried(one, facts.answer.plugin.as_str(), facts.views, &words));
    for one in told {
        if found.len() < NODES
            && !one.steps.is_empty()
            && !found.iter().any(|known| known.steps == one.steps)
        {
            found.push(one);
        }
    }
    // What is missing may be made as well.
    let is_named = |change: &Change| matches!(change, Change::UseClass { .. });
    let mut told = found
        .iter()
        .flat_map(|one| &one.changes)
        .flatten()
        .flatten();
    let untold = everywhere
        .into_iter()
        .filter(|_| fits && !told.any(is_named));
    let untold: Vec<String> = untold.collect();
    found.extend((!untold.is_empty()).then(|| advised(None, untold)));
    found
}

/// Who says what stands in the way behind others.
fn behind_the_queue(facts: &Facts<'_>) -> String {
    let id = facts.answer.pod.id();
    format!(
        "`dractl explain --after-queue -n {} {}` places the pods ahead of it first and tries what would help then",
        id.namespace,
        short_name(&id.name)
    )
}

/// What stands in the way on the nearest node beside what does so everywhere.
fn beside(facts: &Facts<'_>) -> Option<String> {
    let causes = facts.causes();
    let first = causes.first()?.nodes.first();
    let view = facts.views.get(*first?)?;
    let found = view.found.iter().filter(|one| !one.everywhere);
    let phrases = found.map(|one| one.phrase.clone());
    let phrase = Phrase::joined(phrases, ", and ");
    (!phrase.is_empty()).then(|| format!("on {} {phrase}", view.name))
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
        Some(own) => tried(
            own,
            plugin,
            std::slice::from_ref(view),
            &Words { needs, cluster },
        ),
        None => advised(Some(view.name.clone()), advice(view)),
    }
}

fn tried(remedy: &Remedy, plugin: &str, views: &[View], words: &Words<'_>) -> Nearest {
    let left = remedy.left.as_ref();
    let view = left.map(|left: &NodeAnswer| View::of(left, plugin, None, words.cluster));
    let mut ways: Vec<Vec<String>> = remedy.steps.iter().map(|ways| words.ways(ways)).collect();
    for (told, step) in ways.iter_mut().zip(&remedy.steps) {
        correct(told, step, views, remedy);
    }
    let now = views
        .iter()
        .find(|now| remedy.node.as_deref() == Some(now.name.as_str()));
    let advice = view
        .as_ref()
        .map(|left| beside_tried(left, now))
        .unwrap_or_default();
    // What is advised beside it, nobody has tried.
    let verdict = match (remedy.verdict, advice.is_empty()) {
        (Tried::DoesNotFit, false) => Tried::NotTried,
        (verdict, _) => verdict,
    };
    ways.extend(advice.into_iter().map(|advice| vec![advice]));
    Nearest {
        node: remedy.node.as_ref().map(|node| node.to_string()),
        steps: joined(&ways),
        left: view.and_then(|left| still(&left, now)),
        ways,
        tried: match verdict {
            Tried::Fits => "fits",
            Tried::DoesNotFit => "does not fit",
            Tried::NotTried => "not tried",
        },
        changes: remedy.steps.clone(),
    }
}

/// What no step is about: what was left after everything that was tried, and what stands in the way now and was only tried
/// together with that.
fn still(left: &View, now: Option<&View>) -> Option<String> {
    let of_plugin = now.iter().flat_map(|now| &now.found);
    let of_plugin = of_plugin.filter(|one| !native::is_filter(&one.source));
    let mut told: Vec<&Found> = Vec::new();
    for one in left.found.iter().chain(of_plugin) {
        let is_same = |known: &&Found| (&known.claim, &known.request) == (&one.claim, &one.request);
        if one.advice.is_empty() && !told.iter().any(is_same) {
            told.push(one);
        }
    }
    let phrases = told.into_iter().map(|found| found.phrase.clone());
    let phrase = Phrase::joined(phrases, ", and ");
    (!phrase.is_empty()).then(|| phrase.to_string())
}

/// What is advised about what is left, and about what was only tried together with that.
fn beside_tried(left: &View, now: Option<&View>) -> Vec<String> {
    let mut steps = advice(left);
    for one in now.into_iter().flat_map(advice) {
        if !steps.contains(&one) {
            steps.push(one);
        }
    }
    steps
}

/// Says of a selector that is left out how it could be corrected, if no other way does.
fn correct(told: &mut [String], step: &Ways, views: &[View], remedy: &Remedy) {
    let is_corrected = |change: &Change| {
        matches!(
            change,
            Change::ChangeSelector {
                instead: Some(_),
                ..
            }
        )
    };
    if step.iter().flatten().any(is_corrected) {
        return;
    }
    let now = views
        .iter()
        .find(|now| remedy.node.as_deref() == Some(now.name.as_str()));
    for (told, way) in told.iter_mut().zip(step) {
        let [Change::ChangeSelector { request, .. }] = way.as_slice() else {
            continue;
        };
        let found = now.into_iter().flat_map(|now| &now.found);
        let mut own = found.filter(|one| one.request == *request && one.corrects);
        if let Some(advice) = own.find_map(|one| one.advice.first()) {
            *told += &format!(", or correct it: {advice}");
        }
    }
}

/// Ways of a step in one sentence.
fn joined(ways: &[Vec<String>]) -> Vec<String> {
    ways.iter().map(|ways| ways.join(", or ")).collect()
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
        ways: steps.iter().map(|step| vec![step.clone()]).collect(),
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
