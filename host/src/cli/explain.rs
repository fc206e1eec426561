//! `dractl explain`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::choice::Choice;
use super::input::{Loaded, source};
use super::simulate::said_by_plugin;
use super::{DONE, Streams};
use crate::cluster::Cluster;
use crate::explain::remedies::trial::Bench;
use crate::explain::remedies::{self, Remedy};
use crate::explain::target::{self, SUGGESTIONS, Target};
use crate::explain::{Answer, Explainer, Question, Standing, ask, in_queue};
use crate::nearest::nearest;
use crate::object::{Kind, Object};
use crate::plugin::{Component, Plugin, SharedServices};
use crate::report::claims::{as_if_pending, claims_of};
use crate::report::collect;
use crate::report::explain::{Explained, Nearby, Refusal, Sorted, text, unusable};
use crate::report::{ClaimReport, PodReport, Report, WarningReport, json, page, table};
use crate::scheduler::outcome::{Ended, PodOutcome};

/// How many pods `--all` explains.
const PODS: usize = 100;
/// How often a remedy is tried for one pod, and for each of many.
const TRIALS: usize = 240;
const TRIALS_OF_EACH: usize = 60;
/// On how many of the nodes that are shown in full remedies are looked for.
const ASKED: usize = 4;

#[derive(Debug, Args)]
#[command(
    override_usage = "dractl explain [OPTIONS] <POD> <INPUT>...\n       dractl explain [OPTIONS] --all -o html <INPUT>..."
)]
pub(super) struct Explain {
    /// Pod, or the workload that it belongs to
    #[arg(value_name = "POD")]
    pod: String,

    /// File, directory (every .yaml, .yml and .json in it), or - for stdin
    #[arg(required_unless_present = "all", value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Explain each pod, the pending ones first: for -o html, and without POD
    #[arg(long, conflicts_with = "namespace")]
    all: bool,

    /// Namespace of the pod; without it every namespace is searched
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Show what there is to say about this node in full; may be repeated
    #[arg(long = "node", value_name = "NODE")]
    nodes: Vec<String>,

    /// Place the pods ahead of it in the queue first, as `simulate` does
    #[arg(long)]
    after_queue: bool,

    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,

    #[command(flatten)]
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// Everything, in a stable form
    Json,
    /// A page for a browser that needs nothing but itself: the answer beside the devices of each node
    Html,
}

impl Explain {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        if self.all && self.output != Output::Html {
            bail!(
                "--all is for -o html; `dractl simulate` says in a line each what becomes of all pods"
            );
        }
        if self.all && self.after_queue {
            bail!(
                "--all explains each pod as if it were alone; as they would be placed one after the other is what `dractl simulate -o html` explains"
            );
        }
        let plugin = Rc::new(self.choice.load(false)?);
        let inputs = self.inputs();
        let loaded = self.choice.read(&inputs, streams, &plugin)?;
        let broken: Vec<Object> = loaded
            .unreadable_pods
            .iter()
            .map(|outcome| outcome.pod.clone())
            .collect();
        let targets = match self.all {
            true => everybody(&loaded.cluster, &broken),
            false => {
                let namespace = self.namespace.as_deref();
                let found = target::find(&loaded.cluster, &broken, namespace, &self.pod);
                vec![found.map_err(anyhow::Error::msg)?]
            }
        };
        self.check_nodes(&loaded.cluster)?;
        let Loaded {
            cluster,
            warnings,
            input_errors,
            unreadable_pods,
            ..
        } = loaded;
        let asking = Asking {
            explain: self,
            plugin,
            input_errors,
            unreadable_pods,
        };
        match (self.output, targets.as_slice()) {
            (Output::Text | Output::Json, [target]) => {
                let mut asked = asking.about(target, cluster)?;
                asked.warnings.splice(0..0, warnings);
                asked.explained.warnings = asked.warnings;
                self.write(&asked.explained, streams)
            }
            _ => self.page(&asking, &targets, cluster, warnings, streams),
        }
    }

    /// With `--all` there is no pod to name.
    fn inputs(&self) -> Vec<PathBuf> {
        let first = self.all.then(|| PathBuf::from(&self.pod));
        first.into_iter().chain(self.inputs.clone()).collect()
    }

    fn check_nodes(&self, cluster: &Cluster) -> anyhow::Result<()> {
        let kind = Kind::new("Node");
        let missing = self
            .nodes
            .iter()
            .find(|name| cluster.entry(&kind, "", name).is_none());
        let Some(missing) = missing else {
            return Ok(());
        };
        let names = cluster.list(&kind).map(|entry| &*entry.object.id().name);
        let near = nearest(missing, names, |name| name, SUGGESTIONS);
        bail!(
            "there is no node {missing} in the input; the nearest names are {}",
            near.join(", ")
        )
    }

    /// Each pod is asked about in a cluster of its own, as it is in the input; that is also what the page shows, unless the pods ahead
    /// were placed.
    fn page(
        &self,
        asking: &Asking<'_>,
        targets: &[Target],
        mut cluster: Cluster,
        mut warnings: Vec<WarningReport>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<u8> {
        let allocated = page::allocated(&cluster);
        let mut explained = Vec::new();
        let mut report = Report::default();
        for target in targets.iter().take(PODS) {
            let asked = asking.about(target, cluster.copy())?;
            let new = asked.warnings.into_iter();
            for warning in new.collect::<Vec<_>>() {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            report.pods.extend(asked.reported);
            explained.push(page::Explanation {
                explained: asked.explained,
                refusals: asked.refusals,
            });
            if let Some(after) = asked.cluster.filter(|_| self.after_queue) {
                cluster = after;
            }
        }
        if let more @ 1.. = targets.len().saturating_sub(PODS) {
            warnings.push(WarningReport {
                object: String::new(),
                message: format!("{more} more pods are not explained: name the one that is meant"),
            });
        }
        report.warnings = warnings;
        let contents = page::Contents {
            command: "explain",
            source: &source(&self.inputs()),
            summary: &summary(&explained),
            report: &report,
            allocated: &allocated,
            explained: &explained,
            opens: true,
            skips_broken_pools: self.choice.skips_broken_pools(),
        };
        page::write(contents, &cluster, streams.stdout)?;
        Ok(DONE)
    }

    fn write(&self, explained: &Explained, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        if self.output == Output::Json {
            json::write(explained, streams.stdout)?;
            return Ok(DONE);
        }
        text::write(explained, streams.colour, streams.stdout)?;
        streams.stdout.flush()?;
        for warning in &explained.warnings {
            table::write_warning(warning, streams.stderr)?;
        }
        Ok(DONE)
    }
}

/// What all questions have in common.
struct Asking<'a> {
    explain: &'a Explain,
    plugin: Rc<Component>,
    input_errors: BTreeMap<String, String>,
    unreadable_pods: Vec<PodOutcome>,
}

/// What was found out about one pod.
struct Asked {
    explained: Explained,
    warnings: Vec<WarningReport>,
    /// None are asked for but by the page.
    refusals: Vec<Refusal>,
    /// What became of it, and of those ahead of it.
    reported: Vec<PodReport>,
    /// As it is afterwards.
    cluster: Option<Cluster>,
}

impl Asking<'_> {
    fn about(&self, target: &Target, mut cluster: Cluster) -> anyhow::Result<Asked> {
        let id = target.pod.id();
        let is_it = |outcome: &&PodOutcome| outcome.pod.is(&target.pod);
        if let Some(outcome) = self.unreadable_pods.iter().find(is_it) {
            let name = &self.plugin.description().name;
            return Ok(Asked {
                explained: unusable(outcome, name, &cluster),
                warnings: Vec::new(),
                refusals: Vec::new(),
                reported: pod_reports([outcome], &cluster),
                cluster: None,
            });
        }
        let standing = Standing::of(&target.pod);
        let before: Vec<ClaimReport> = claims_of(&target.pod, &cluster);
        if matches!(standing, Standing::Placed(_)) {
            cluster.load(as_if_pending(&target.pod, &cluster));
            cluster.run_claim_controller();
            cluster.deliver();
        }
        let pod = cluster
            .entry(&id.kind, &id.namespace, &id.name)
            .map_or_else(|| target.pod.clone(), |entry| entry.object.clone());
        let question = Question {
            pod,
            after_queue: self.explain.after_queue && standing == Standing::Pending,
            standing,
            input_errors: self.input_errors.clone(),
        };
        let queue = self.queue(&question, target, &cluster);
        let cluster = Arc::new(Mutex::new(cluster));
        let services: SharedServices = cluster.clone();
        let advisor = self.plugin.advisor(&services)?;
        let mut answer = ask(question, self.plugin.clone(), Box::new(advisor), &cluster)?;
        let queued = match queue {
            Some(queue) => in_queue(self.input_errors.clone(), self.plugin.clone(), queue)?,
            None => Vec::new(),
        };
        if !answer.after_queue && !answer.ahead.is_empty() {
            let own = |outcome: &&PodOutcome| outcome.pod.id().uid == id.uid;
            answer.queued = queued.iter().find(own).cloned();
        }
        drop(services);
        let mut locked = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        let mut warnings = said_by_plugin(&mut locked);
        warnings.extend(answer.notes.iter().map(|note| WarningReport {
            object: note.object.clone(),
            message: note.message.clone(),
        }));
        let asked = &self.explain.nodes;
        let sorted = Sorted::of(&answer, &locked);
        let remedies = self.remedies(&answer, &locked, sorted.nearby());
        let mut explained = sorted.explained(&before, asked, &remedies);
        let refusals = match self.explain.output {
            Output::Html => sorted.refusals(),
            _ => Vec::new(),
        };
        let replicas = target
            .workload
            .as_ref()
            .and_then(|one| replicas(one, &queued));
        let remarks = target.remark.clone().into_iter().chain(replicas);
        explained.notes.splice(0..0, remarks);
        let ahead = answer.ahead.iter();
        let ahead = ahead.filter_map(|earlier| earlier.outcome.as_ref());
        let reported = pod_reports(answer.outcome.iter().chain(ahead), &locked);
        drop(locked);
        let cluster = Arc::try_unwrap(cluster).ok();
        Ok(Asked {
            explained,
            warnings,
            refusals,
            reported,
            cluster: cluster.map(|it| it.into_inner().unwrap_or_else(PoisonError::into_inner)),
        })
    }
}

impl Asking<'_> {
    /// The cluster once more, for a pod that has others beside it. Of many pods each is alone.
    fn queue(&self, question: &Question, target: &Target, cluster: &Cluster) -> Option<Cluster> {
        let is_alone = question.standing == Standing::Pending && !question.after_queue;
        let kind = Kind::new("Pod");
        let pods = cluster.list(&kind).map(|entry| &entry.object);
        let pending = pods.filter(|pod| Standing::of(pod) == Standing::Pending);
        let others = !self.explain.all && pending.take(2).count() > 1;
        (others && (is_alone || target.workload.is_some())).then(|| cluster.copy())
    }

    /// What would make the pod fit, tried out on copies of the cluster.
    fn remedies(&self, answer: &Answer, cluster: &Cluster, nearby: Nearby) -> Vec<Remedy> {
        let Nearby {
            mut nodes,
            everywhere,
        } = nearby;
        if nodes.is_empty() {
            return Vec::new();
        }
        for asked in self.explain.nodes.iter().take(ASKED) {
            if !nodes.iter().any(|node| **node == **asked) {
                nodes.push(asked.as_str().into());
            }
        }
        let explainers = |services: &SharedServices| {
            let advisor = self.plugin.advisor(services)?;
            Ok(Box::new(advisor) as Box<dyn Explainer>)
        };
        let mut bench = Bench {
            pod: &answer.pod,
            cluster,
            plugin: self.plugin.clone(),
            explainers: &explainers,
            input_errors: &self.input_errors,
            left: match self.explain.all {
                true => TRIALS_OF_EACH,
                false => TRIALS,
            },
        };
        remedies::find(&mut bench, answer, &nodes, everywhere)
    }
}

/// How many pods of a workload find a node, if they are placed one after the other.
fn replicas((name, uids): &(String, Vec<Arc<str>>), queued: &[PodOutcome]) -> Option<String> {
    let own = queued.iter().filter(|one| uids.contains(&one.pod.id().uid));
    let own: Vec<&PodOutcome> = own.collect();
    let is_placed = |one: &&&PodOutcome| matches!(one.ended, Ended::Bound { .. });
    let placed = own.iter().filter(is_placed).count();
    let (all, refused) = (own.len(), own.len() - placed);
    (all > 1).then(|| match refused {
        0 => format!("placed one after the other, all {all} pending pods of {name} find a node"),
        _ => format!(
            "placed one after the other, {refused} of {all} pending pods of {name} find no node"
        ),
    })
}

fn pod_reports<'o>(
    outcomes: impl IntoIterator<Item = &'o PodOutcome>,
    cluster: &Cluster,
) -> Vec<PodReport> {
    let outcomes: Vec<PodOutcome> = outcomes.into_iter().cloned().collect();
    collect::collect(&outcomes, &[], cluster, 0).pods
}

/// The pods that wait, then those that have devices, each in the order of the input.
fn everybody(cluster: &Cluster, unreadable: &[Object]) -> Vec<Target> {
    let kind = Kind::new("Pod");
    let with = |wanted: fn(&Standing) -> bool| {
        let pods = cluster.list(&kind).map(|entry| &entry.object);
        pods.filter(move |pod| wanted(&Standing::of(pod)))
    };
    let pending = with(|standing| *standing == Standing::Pending);
    let placed = with(|standing| matches!(standing, Standing::Placed(_)))
        .filter(|pod| !claims_of(pod, cluster).is_empty());
    let all = unreadable.iter().chain(pending).chain(placed);
    all.map(|pod| Target {
        pod: pod.clone(),
        remark: None,
        workload: None,
    })
    .collect()
}

/// The page's line: the verdict on one pod, or how many have which.
fn summary(explained: &[page::Explanation]) -> String {
    let explained: Vec<&Explained> = explained.iter().map(|each| &each.explained).collect();
    if let [Explained { verdict, .. }] = explained.as_slice() {
        return format!("1 pod explained: {verdict}");
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for each in &explained {
        *counts.entry(&each.verdict).or_default() += 1;
    }
    let parts = counts.iter().map(|(word, count)| format!("{count} {word}"));
    let parts: Vec<String> = parts.collect();
    match parts.is_empty() {
        true => "no pod in the input is pending or has claims".to_owned(),
        false => format!("{} pods explained: {}", explained.len(), parts.join(", ")),
    }
}
