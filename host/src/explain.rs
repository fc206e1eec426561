//! Why a pod is placed where it is, or not at all: asks the scheduler for its decision and, at the very state in which it was
//! made, the basic filters and the plugin for what they have against each node. [`crate::report::explain`] puts it into words.
//!
//! The decision comes from the same attempts that a simulation makes; the questions are asked just before and change nothing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::cluster::Cluster;
use crate::filters::Obstacle;
use crate::object::Object;
use crate::plugin::{Advisor, Plugin, PluginError, Revision};
use crate::scheduler::chooser::OneAtATime;
use crate::scheduler::observe::{Ahead, Scene};
use crate::scheduler::outcome::PodOutcome;
use crate::scheduler::{Note, Scheduler, Settings};

pub mod document;
pub mod remedies;
pub mod standing;
pub mod target;

/// How many nodes the plugin is asked about at once: what it returns per call is limited.
const BATCH: usize = 256;

/// Somebody who says what it has against nodes.
pub trait Explainer {
    /// One document per node; `None` if it explains nothing.
    fn explain(
        &mut self,
        pod: &Object,
        at: Revision,
        nodes: &[String],
    ) -> Result<Option<Vec<Vec<u8>>>, PluginError>;
}

impl Explainer for Advisor {
    fn explain(
        &mut self,
        pod: &Object,
        at: Revision,
        nodes: &[String],
    ) -> Result<Option<Vec<Vec<u8>>>, PluginError> {
        Advisor::explain(self, pod, at, nodes)
    }
}

/// What becomes of all pods, placed one after the other as a simulation does.
pub fn in_queue(
    input_errors: BTreeMap<String, String>,
    plugin: Rc<dyn Plugin>,
    cluster: Cluster,
) -> Result<Vec<PodOutcome>, PluginError> {
    let settings = Settings {
        input_errors,
        ..Settings::default()
    };
    let mut scheduler = Scheduler::new(Arc::new(Mutex::new(cluster)), plugin, settings)?;
    scheduler.run(&mut OneAtATime);
    Ok(scheduler.outcomes())
}

/// Where a pod stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits for a node.
    Pending,
    /// It has this one; what is explained is where it could go if it were pending and its own devices were free.
    Placed(String),
    /// It has ended, in this phase.
    Ended(String),
    /// It is being deleted.
    Deleted,
}

impl Standing {
    /// Of a pod.
    pub fn of(pod: &Object) -> Self {
        let node = pod.text("/spec/nodeName").unwrap_or_default();
        match pod.text("/status/phase") {
            Some(phase @ ("Succeeded" | "Failed")) => Self::Ended(phase.to_owned()),
            _ if !node.is_empty() => Self::Placed(node.to_owned()),
            _ if pod.text("/metadata/deletionTimestamp").is_some() => Self::Deleted,
            _ => Self::Pending,
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The pod as it is in the cluster.
    pub pod: Object,
    /// Where it stood in the input.
    pub standing: Standing,
    /// Place the pods ahead of it first.
    pub after_queue: bool,
    /// See [`Settings::input_errors`].
    pub input_errors: BTreeMap<String, String>,
}

/// What one node says.
#[derive(Clone, Debug)]
pub struct NodeAnswer {
    /// Name.
    pub name: Arc<str>,
    /// What the basic filters have against it.
    pub native: Vec<Obstacle>,
    /// The plugin's document.
    pub document: Option<Value>,
}

/// A pod that is tried before.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// It.
    pub ahead: Ahead,
    /// What became of it, if those ahead were placed first.
    pub outcome: Option<PodOutcome>,
}

/// All of it.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The pod as it was tried last.
    pub pod: Object,
    /// Where it stood in the input.
    pub standing: Standing,
    /// What became of it; none if it is not pending.
    pub outcome: Option<PodOutcome>,
    /// Whether those ahead were placed first.
    pub after_queue: bool,
    /// What becomes of a pod that fits if those ahead are placed first, where they were not.
    pub queued: Option<PodOutcome>,
    /// Every node, by name.
    pub nodes: Vec<NodeAnswer>,
    /// Pods that are tried before, the next first.
    pub ahead: Vec<Earlier>,
    /// Name of the plugin.
    pub plugin: String,
    /// Why the plugin has no documents.
    pub silence: Option<String>,
    /// The field of the pod that the basic filters cannot read.
    pub unreadable: Option<String>,
    /// Warnings that are not about one pod.
    pub notes: Vec<Note>,
}

/// What was seen at the last attempt.
#[derive(Default)]
struct Seen {
    nodes: Vec<NodeAnswer>,
    silence: Option<String>,
    unreadable: Option<String>,
}

/// Asks. Fails if the plugin cannot run at all.
pub fn ask(
    question: Question,
    plugin: Rc<dyn Plugin>,
    explainer: Box<dyn Explainer>,
    cluster: &Arc<Mutex<Cluster>>,
) -> Result<Answer, PluginError> {
    let uid = question.pod.id().uid.clone();
    let name = plugin.description().name.clone();
    let settings = Settings {
        names: usize::MAX,
        input_errors: question.input_errors,
        only: (!question.after_queue).then(|| uid.clone()),
        ..Settings::default()
    };
    let mut scheduler = Scheduler::new(cluster.clone(), plugin, settings)?;
    let ahead = match question.standing {
        Standing::Pending => scheduler.ahead_of(&uid),
        _ => Vec::new(),
    };
    let seen = Rc::new(RefCell::new(Seen::default()));
    let (mut explainer, shared) = (explainer, seen.clone());
    scheduler.watch(
        &uid,
        Box::new(move |scene| *shared.borrow_mut() = look(scene, explainer.as_mut())),
    );
    scheduler.run(&mut OneAtATime);
    let pod = current(&question.pod, cluster);
    scheduler.show_unseen(&pod);

    let outcomes = scheduler.outcomes();
    let of = |pod: &Object| {
        let same = |outcome: &&PodOutcome| outcome.pod.id().uid == pod.id().uid;
        outcomes.iter().find(same).cloned()
    };
    let earlier = |ahead: Ahead| Earlier {
        outcome: question.after_queue.then(|| of(&ahead.pod)).flatten(),
        ahead,
    };
    let Seen {
        nodes,
        silence,
        unreadable,
    } = seen.take();
    Ok(Answer {
        outcome: of(&pod),
        pod,
        standing: question.standing,
        after_queue: question.after_queue,
        queued: None,
        nodes,
        ahead: ahead.into_iter().map(earlier).collect(),
        plugin: name,
        silence,
        unreadable,
        notes: scheduler.notes().to_vec(),
    })
}

/// What keeps a pod from each node when a run has ended, as the cluster is then.
pub fn afterwards(
    scheduler: &mut Scheduler,
    outcome: &PodOutcome,
    plugin: &str,
    explainer: &mut dyn Explainer,
) -> Answer {
    let mut seen = Seen::default();
    scheduler.show(&outcome.pod, |scene| seen = look(scene, explainer));
    Answer {
        pod: outcome.pod.clone(),
        standing: Standing::Pending,
        outcome: Some(outcome.clone()),
        after_queue: true,
        queued: None,
        nodes: seen.nodes,
        ahead: Vec::new(),
        plugin: plugin.to_owned(),
        silence: seen.silence,
        unreadable: seen.unreadable,
        notes: Vec::new(),
    }
}

fn current(pod: &Object, cluster: &Mutex<Cluster>) -> Object {
    let cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
    let id = pod.id();
    let entry = cluster.entry(&id.kind, &id.namespace, &id.name);
    entry.map_or_else(|| pod.clone(), |entry| entry.object.clone())
}

fn look(scene: &Scene<'_>, explainer: &mut dyn Explainer) -> Seen {
    let (native, unreadable) = match scene.obstacles() {
        Ok(native) => (native, None),
        Err(problem) => (vec![Vec::new(); scene.nodes.len()], Some(problem)),
    };
    let nodes = scene.nodes.iter().zip(native);
    let nodes = nodes.map(|(node, native)| NodeAnswer {
        name: node.name.clone(),
        native,
        document: None,
    });
    let mut seen = Seen {
        nodes: nodes.collect(),
        silence: None,
        unreadable,
    };
    for batch in seen.nodes.chunks_mut(BATCH) {
        let names: Vec<String> = batch.iter().map(|node| node.name.to_string()).collect();
        match explainer.explain(scene.pod, scene.at, &names) {
            Ok(Some(documents)) => {
                for (node, document) in batch.iter_mut().zip(documents) {
                    match serde_json::from_slice(&document) {
                        Ok(document) => node.document = Some(document),
                        Err(error) => {
                            seen.silence = Some(format!("it returned bad JSON: {error}"));
                        }
                    }
                }
            }
            Ok(None) => {
                seen.silence = Some("it does not explain itself".to_owned());
                break;
            }
            Err(error) => {
                seen.silence = Some(format!("it failed: {error}"));
                break;
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests;
