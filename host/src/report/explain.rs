//! Why a pod is placed where it is, or not at all, in words and as JSON (`host/schemas/explain.schema.json`): names stay,
//! additions are allowed.
//!
//! [`crate::explain`] asks, this decides nothing: it sorts what was answered and says it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::explain::remedies::Remedy;
use crate::explain::{Answer, Standing};
use crate::filters::held;
use crate::plugin::Code;
use crate::scheduler::outcome::{Ended, PodOutcome};

use super::collect;
use super::{ClaimReport, PodReport, Verdict, WarningReport};

mod advice;
mod ahead;
mod changes;
mod constraints;
mod details;
mod findings;
mod groups;
mod native;
mod nearest;
mod needs;
mod node;
mod phrase;
mod reach;
mod reasons;
mod refusals;
mod summary;
pub mod text;
mod together;

pub use ahead::AheadReport;
pub use nearest::{Nearest, in_words};
pub use needs::{ConstraintNeed, Need, RequestNeed};
pub use refusals::{DeviceRefusal, Refusal};

use node::{Said, View};
use phrase::some_of;

/// All of it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// What would become of it, in one word: `fits-alone` if only those ahead of it keep it from a node; what is there already
    /// is `placed`, `ended` or `deleted`.
    pub verdict: String,
    /// Where it runs or would run.
    pub node: Option<String>,
    /// The extension point that decided.
    pub at: Option<String>,
    /// Code of the decision.
    pub code: &'static str,
    /// The scheduler's own text.
    pub message: String,
    /// Whether the pods ahead of it were placed first.
    pub after_queue: bool,
    /// Name of the plugin.
    pub plugin: String,
    /// The answer in sentences; the first names the cause.
    pub summary: Vec<String>,
    /// What it asks for.
    pub needs: Vec<Need>,
    /// What it has, or would get.
    pub claims: Vec<ClaimReport>,
    /// What would make it fit, the nearest first.
    pub nearest: Vec<Nearest>,
    /// Nodes with the same reasons, the nearest to fitting first.
    pub groups: Vec<GroupReport>,
    /// The nodes asked for.
    pub nodes: Vec<NodeReport>,
    /// Pods that are tried before it and ask for the same class or driver.
    pub ahead: Vec<AheadReport>,
    /// How many pods are tried before it.
    pub ahead_in_all: usize,
    /// What a user should know about the answer.
    pub notes: Vec<String>,
    /// As in a simulation.
    pub warnings: Vec<WarningReport>,
}

/// Nodes with the same reasons.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupReport {
    /// How many.
    pub count: usize,
    /// All of them, the nearest to fitting first.
    pub nodes: Vec<String>,
    /// Whether the pod fits there.
    pub fits: bool,
    /// How far the nearest is from fitting; only good for comparing.
    pub distance: u64,
    /// In one sentence.
    pub text: String,
    /// One by one.
    pub reasons: Vec<ReasonReport>,
}

/// One reason that the nodes of a group share.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasonReport {
    /// The plugin or filter that has it.
    pub source: String,
    /// Which.
    #[serde(rename = "type")]
    pub kind: String,
    /// The pod's name for the claim that it is about; empty for none.
    pub claim: String,
    /// The request that it is about; empty for none.
    pub request: String,
    /// In words.
    pub text: String,
}

/// One node in full.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// Name.
    pub node: String,
    /// Whether the pod fits there.
    pub fits: bool,
    /// Every reason.
    pub reasons: Vec<ReasonReport>,
    /// What would make it fit.
    pub steps: Vec<String>,
    /// The same, the ways of each step one by one, the least first.
    pub ways: Vec<Vec<String>>,
    /// Whether the pod fits then, as in [`Nearest`].
    pub tried: &'static str,
    /// What stands in the way after these steps.
    pub left: Option<String>,
    /// The plugin's own document; null if it has none.
    pub document: Value,
    /// The same in lines of text.
    #[serde(skip)]
    pub lines: Vec<String>,
}

/// Sorts an answer and puts it into words; nothing was tried and no node is shown in full.
pub fn collect(answer: &Answer, cluster: &Cluster) -> Explained {
    Sorted::of(answer, cluster).explained(&[], &[], &[])
}

/// Where remedies are worth looking for.
pub struct Nearby {
    /// Nodes, the nearest to fitting first.
    pub nodes: Vec<Arc<str>>,
    /// Whether something keeps the pod from every node.
    pub everywhere: bool,
}

/// An answer, sorted: what is nearest, and then everything in words.
pub struct Sorted<'a> {
    answer: &'a Answer,
    cluster: &'a Cluster,
    report: Option<PodReport>,
    views: Vec<View>,
    groups: Vec<groups::Group>,
    needs: Vec<Need>,
    ahead: Vec<AheadReport>,
}

impl<'a> Sorted<'a> {
    /// Who holds devices is looked up in the cluster.
    pub fn of(answer: &'a Answer, cluster: &'a Cluster) -> Self {
        let report = answer.outcome.as_ref().and_then(|outcome| {
            let mut report = collect::collect(std::slice::from_ref(outcome), &[], cluster, 0);
            report.pods.pop()
        });
        let views: Vec<View> = views_of(answer, cluster).collect();
        Self {
            answer,
            cluster,
            report,
            groups: groups::of(&views),
            views,
            needs: needs::of(&answer.pod, cluster),
            ahead: ahead::of(answer, cluster),
        }
    }

    fn facts<'f>(&'f self, before: &'f [ClaimReport]) -> summary::Facts<'f> {
        summary::Facts {
            answer: self.answer,
            report: self.report.as_ref(),
            before,
            views: &self.views,
            groups: &self.groups,
            needs: &self.needs,
            ahead: &self.ahead,
        }
    }

    /// Where remedies are worth looking for.
    pub fn nearby(&self) -> Nearby {
        let facts = self.facts(&[]);
        Nearby {
            nodes: match self.is_shown() {
                true => nearest::to_try(&facts),
                false => Vec::new(),
            },
            everywhere: nearest::is_everywhere(&facts),
        }
    }

    /// What keeps the pod from each device of each node.
    pub fn refusals(&self) -> Vec<Refusal> {
        refusals::of(&self.answer.pod, &self.views)
    }

    /// In words. `before` are the claims of a pod that has a node already; `asked` are the nodes to show in full; `remedies` is
    /// what was tried.
    pub fn explained(
        &self,
        before: &[ClaimReport],
        asked: &[String],
        remedies: &[Remedy],
    ) -> Explained {
        explained(self, before, asked, remedies)
    }

    /// Whether nodes have anything to do with it.
    fn is_shown(&self) -> bool {
        let is_over = matches!(self.answer.standing, Standing::Ended(_) | Standing::Deleted);
        let report = self.report.as_ref();
        !is_over && report.is_none_or(|report| report.verdict != Verdict::InputError)
    }
}

fn explained(
    sorted: &Sorted<'_>,
    before: &[ClaimReport],
    asked: &[String],
    remedies: &[Remedy],
) -> Explained {
    let (answer, cluster) = (sorted.answer, sorted.cluster);
    let (report, views) = (sorted.report.as_ref(), &sorted.views);
    let pod = answer.pod.id();
    let mut notes = notes(answer, report);
    notes.extend(disagreement(answer, views));
    let facts = sorted.facts(before);
    let shown = sorted.is_shown();
    Explained {
        namespace: pod.namespace.to_string(),
        name: pod.name.to_string(),
        verdict: verdict(answer, report),
        node: match &answer.standing {
            Standing::Placed(node) => Some(node.clone()),
            _ => report.and_then(|report| report.node.clone()),
        },
        at: report.and_then(|report| report.at.clone()),
        code: report.map_or("success", |report| report.code),
        message: report
            .map(|report| report.message.clone())
            .unwrap_or_default(),
        after_queue: answer.after_queue,
        plugin: answer.plugin.clone(),
        summary: summary::sentences(&facts),
        nearest: match shown {
            true => nearest::of(&facts, remedies, cluster),
            false => Vec::new(),
        },
        claims: match answer.standing {
            Standing::Placed(_) => before.to_vec(),
            _ => report.map_or_else(Vec::new, |report| report.claims.clone()),
        },
        groups: sorted
            .groups
            .iter()
            .filter(|_| shown)
            .map(|group| group_report(group, views))
            .collect(),
        nodes: asked
            .iter()
            .filter_map(|name| {
                let view = views.iter().find(|view| view.name == *name)?;
                let plugin = &answer.plugin;
                let remedy = nearest::on(view, remedies, plugin, &sorted.needs, cluster);
                node_report(view, answer, remedy)
            })
            .collect(),
        ahead_in_all: answer.ahead.len(),
        ahead: sorted.ahead.clone(),
        notes,
        warnings: Vec::new(),
        needs: sorted.needs.clone(),
    }
}

/// Each node, by name. Who holds devices is looked up in the cluster.
fn views_of<'a>(answer: &'a Answer, cluster: &'a Cluster) -> impl Iterator<Item = View> + use<'a> {
    answer.nodes.iter().map(move |node| {
        let outcome = answer.outcome.as_ref();
        let said = outcome.and_then(|outcome| Said::of(outcome, &answer.plugin, &node.name));
        View::of(node, &answer.plugin, said, cluster)
    })
}

/// For a pod that could not be read: that, and nothing else.
pub fn unusable(outcome: &PodOutcome, plugin: &str, cluster: &Cluster) -> Explained {
    let answer = Answer {
        pod: outcome.pod.clone(),
        standing: Standing::Pending,
        outcome: Some(outcome.clone()),
        after_queue: false,
        queued: None,
        nodes: Vec::new(),
        ahead: Vec::new(),
        plugin: plugin.to_owned(),
        silence: None,
        unreadable: None,
        notes: Vec::new(),
    };
    collect(&answer, cluster)
}

fn verdict(answer: &Answer, report: Option<&PodReport>) -> String {
    let word = match (&answer.standing, report) {
        (Standing::Placed(_), _) => "placed",
        (Standing::Ended(_), _) => "ended",
        (Standing::Deleted, _) => "deleted",
        (Standing::Pending, Some(report)) if is_alone(answer, report) => "fits-alone",
        (Standing::Pending, Some(report)) => report.verdict.name(),
        (Standing::Pending, None) => "unschedulable",
    };
    word.to_owned()
}

/// Whether it finds a node alone, and none behind those ahead of it.
fn is_alone(answer: &Answer, report: &PodReport) -> bool {
    let queued = answer.queued.as_ref().map(|queued| &queued.ended);
    let is_refused = queued.is_some_and(|ended| !matches!(ended, Ended::Bound { .. }));
    report.verdict == Verdict::Scheduled && is_refused
}

fn notes(answer: &Answer, report: Option<&PodReport>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(silence) = &answer.silence {
        notes.push(format!(
            "the plugin {} gives no reasons ({silence}): the messages of its decisions are all there is",
            answer.plugin
        ));
    }
    notes.extend(answer.unreadable.iter().cloned());
    notes.extend(
        report
            .into_iter()
            .flat_map(|report| report.warnings.clone()),
    );
    let gone = answer
        .outcome
        .as_ref()
        .is_some_and(|outcome| matches!(outcome.ended, Ended::Open));
    if gone {
        notes.push("the pod was not tried: the scheduler gave up before its turn".to_owned());
    }
    notes
}

/// The decision and its reasons come from the same functions. If they differ, nobody should trust the reasons.
fn disagreement(answer: &Answer, views: &[View]) -> Option<String> {
    let outcome = answer.outcome.as_ref()?;
    let aborted = match &outcome.ended {
        Ended::Failed(failure) => failure.status.code == Code::Error,
        Ended::Bound { .. } => false,
        Ended::Open | Ended::Refused(_) => true,
    };
    // What holds a pod before the queue is not the plugin's business.
    if aborted || answer.silence.is_some() || held(&answer.pod).is_some() {
        return None;
    }
    let fits = |name: &str| outcome.feasible.iter().any(|node| **node == *name);
    let differs = |view: &&View| view.found.is_empty() != fits(&view.name);
    let differing: Vec<&str> = views
        .iter()
        .filter(differs)
        .map(|view| view.name.as_str())
        .collect();
    let names = some_of(&differing, 4, differing.len());
    (!differing.is_empty()).then(|| {
        format!(
            "the decision of {} and its reasons differ about {names}: a defect of the plugin, please report it",
            answer.plugin
        )
    })
}

fn reason_reports(found: &[node::Found]) -> Vec<ReasonReport> {
    let reasons = found.iter().map(|found| ReasonReport {
        source: found.source.clone(),
        kind: found.kind.clone(),
        claim: found.claim.clone(),
        request: found.request.clone(),
        text: found.phrase.to_string(),
    });
    reasons.collect()
}

fn group_report(group: &groups::Group, views: &[View]) -> GroupReport {
    let nodes = group.nodes.iter().filter_map(|&index| views.get(index));
    GroupReport {
        count: group.nodes.len(),
        nodes: nodes.map(|view| view.name.clone()).collect(),
        fits: group.fits(),
        distance: group.distance,
        text: match group.fits() {
            true => "fits".to_owned(),
            false => group.phrase().to_string(),
        },
        reasons: reason_reports(&group.found),
    }
}

fn node_report(view: &View, answer: &Answer, remedy: Nearest) -> Option<NodeReport> {
    let own = answer.nodes.iter().find(|node| *node.name == *view.name)?;
    Some(NodeReport {
        node: view.name.clone(),
        fits: view.found.is_empty(),
        reasons: reason_reports(&view.found),
        steps: remedy.steps,
        ways: remedy.ways,
        tried: remedy.tried,
        left: remedy.left,
        document: own.document.clone().unwrap_or_default(),
        lines: details::lines(view),
    })
}

#[cfg(test)]
mod tests;
