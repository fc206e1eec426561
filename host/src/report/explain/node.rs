//! What stands between a pod and one node, from the basic filters and from the plugin's document.

use crate::cluster::Cluster;
use crate::explain::{NodeAnswer, standing};
use crate::filters::Obstacle;
use crate::scheduler::outcome::{Ended, PodOutcome};

use super::phrase::Phrase;
use super::{findings, native};
use crate::explain::document::Document;

/// Weight of what no change of the cluster's pods helps against.
pub const FAR: u64 = 60;

/// One thing that stands in the way.
#[derive(Clone, Debug)]
pub struct Found {
    /// A filter, or the plugin.
    pub source: String,
    /// Type of the reason.
    pub kind: String,
    /// The pod's name of the claim; empty for none.
    pub claim: String,
    /// Request; empty for none.
    pub request: String,
    /// In words.
    pub phrase: Phrase,
    /// How far it is from fitting.
    pub weight: u64,
    /// It is the same on every node.
    pub everywhere: bool,
    /// What to do about it, where that cannot be tried.
    pub advice: Vec<String>,
    /// Whether that says what is wrong with a selector.
    pub corrects: bool,
    /// How near a value that is there is to the one that is wanted; the smaller the nearer.
    pub closeness: usize,
}

impl Found {
    /// Nothing said yet.
    pub fn new(source: &str, kind: &str, weight: u64) -> Self {
        Self {
            source: source.to_owned(),
            kind: kind.to_owned(),
            claim: String::new(),
            request: String::new(),
            phrase: Phrase::default(),
            weight,
            everywhere: false,
            advice: Vec::new(),
            corrects: false,
            closeness: usize::MAX,
        }
    }
}

/// One node.
#[derive(Clone, Debug)]
pub struct View {
    /// Name.
    pub name: String,
    /// The plugin's document, if there is one that can be read.
    pub document: Option<Document>,
    /// What stands in the way; nothing if the node fits.
    pub found: Vec<Found>,
}

impl View {
    /// Of one node. `said` is what the plugin's decision says where there is no document.
    pub fn of(answer: &NodeAnswer, plugin: &str, said: Option<Said>, cluster: &Cluster) -> Self {
        let name = answer.name.to_string();
        let mut found: Vec<Found> = answer
            .native
            .iter()
            .map(|obstacle| Found {
                phrase: native::sentence(obstacle),
                advice: native::advice(obstacle, &name).into_iter().collect(),
                ..Found::new(
                    native::filter(obstacle),
                    kind_of(obstacle),
                    native::weight(obstacle),
                )
            })
            .collect();
        let mut document: Option<Document> = answer.document.as_ref().and_then(Document::read);
        if let Some(document) = &mut document {
            standing::look_up(document, cluster);
        }
        match (&document, &answer.document) {
            (Some(document), _) => found.extend(findings::of(document, plugin)),
            (None, Some(_)) => found.push(Found {
                phrase: Phrase::of("what the plugin says cannot be understood"),
                ..Found::new(plugin, "unknown", FAR)
            }),
            (None, None) => found.extend(said.map(|said| Found {
                phrase: Phrase::of(said.message),
                everywhere: said.everywhere,
                ..Found::new(plugin, "status", 20)
            })),
        }
        Self {
            name,
            document,
            found,
        }
    }

    /// How far it is but for what stands in the way everywhere.
    pub fn distance_here(&self) -> u64 {
        let here = self.found.iter().filter(|found| !found.everywhere);
        here.map(|found| found.weight).sum()
    }

    /// How far the node is from fitting; 0 if it does.
    pub fn distance(&self) -> u64 {
        self.found.iter().map(|found| found.weight).sum()
    }
}

/// What the decision says about a node.
pub struct Said {
    /// The plugin's text.
    pub message: String,
    /// It is about the pod as a whole.
    pub everywhere: bool,
}

impl Said {
    /// By the outcome of a pod's attempt.
    pub fn of(outcome: &PodOutcome, plugin: &str, node: &str) -> Option<Self> {
        let refusals = outcome.refusals.iter();
        let of_plugin = refusals.filter(|refusal| &*refusal.plugin == plugin);
        let mut concerned =
            of_plugin.filter(|one| one.count == 0 || one.nodes.iter().any(|name| &**name == node));
        if let Some(refusal) = concerned.next() {
            return Some(Self {
                message: refusal.status.message(),
                everywhere: refusal.count == 0,
            });
        }
        let bound = matches!(outcome.ended, Ended::Bound { .. });
        let fits = outcome.feasible.iter().any(|name| &**name == node);
        (bound && !fits).then(|| Self {
            message: "refused without a reason".to_owned(),
            everywhere: false,
        })
    }
}

/// As in the JSON output.
fn kind_of(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Unschedulable => "unschedulable",
        Obstacle::NodeName { .. } => "node-name",
        Obstacle::Taint { .. } => "node-taint",
        Obstacle::Label { .. } => "label",
        Obstacle::Resource { .. } => "resource",
        Obstacle::Unreadable(_) => "node-unreadable",
    }
}
