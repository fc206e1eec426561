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
use crate::explain::target::{self, Target};
use crate::explain::{Question, Standing, ask};
use crate::object::{Kind, Object};
use crate::plugin::{Component, Plugin, SharedServices};
use crate::report::claims::{as_if_pending, claims_of};
use crate::report::collect;
use crate::report::explain::{self, Explained, Refusal, text, unusable};
use crate::report::{ClaimReport, PodReport, Report, WarningReport, json, page, table};
use crate::scheduler::outcome::PodOutcome;

/// How many pods `--all` explains.
const PODS: usize = 100;

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
    #[arg(long, conflicts_with_all = ["after_queue", "namespace"])]
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
        let names: Vec<&str> = cluster
            .list(&kind)
            .map(|entry| &*entry.object.id().name)
            .collect();
        let near = target::nearest(missing, names.iter().copied());
        let near: Vec<&str> = near
            .into_iter()
            .filter_map(|at| names.get(at))
            .copied()
            .collect();
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
        let cluster = Arc::new(Mutex::new(cluster));
        let services: SharedServices = cluster.clone();
        let advisor = self.plugin.advisor(&services)?;
        let question = Question {
            pod,
            after_queue: self.explain.after_queue && standing == Standing::Pending,
            standing,
            input_errors: self.input_errors.clone(),
        };
        let answer = ask(question, self.plugin.clone(), Box::new(advisor), &cluster)?;
        drop(services);
        let mut locked = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        let mut warnings = said_by_plugin(&mut locked);
        warnings.extend(answer.notes.iter().map(|note| WarningReport {
            object: note.object.clone(),
            message: note.message.clone(),
        }));
        let asked = &self.explain.nodes;
        let (mut explained, refusals) = match self.explain.output {
            Output::Html => explain::collect_with_refusals(&answer, &locked, &before, asked),
            _ => (
                explain::collect(&answer, &locked, &before, asked),
                Vec::new(),
            ),
        };
        explained.notes.splice(0..0, target.remark.clone());
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
