//! `dractl explain`.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::choice::Choice;
use super::input::Loaded;
use super::simulate::said_by_plugin;
use super::{DONE, Streams};
use crate::cluster::Cluster;
use crate::explain::target::{self, Target};
use crate::explain::{Question, Standing, ask};
use crate::object::{Kind, Object};
use crate::plugin::{Component, Plugin, SharedServices};
use crate::report::claims::{as_if_pending, claims_of};
use crate::report::explain::{collect, text, unusable};
use crate::report::{ClaimReport, WarningReport, json, table};

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Pod, or the workload that it belongs to
    #[arg(value_name = "POD")]
    pod: String,

    /// File, directory (every .yaml, .yml and .json in it), or - for stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

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
}

impl Explain {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        let plugin = Rc::new(self.choice.load(false)?);
        let loaded = self.choice.read(&self.inputs, streams, &plugin)?;
        let broken: Vec<Object> = loaded
            .unreadable_pods
            .iter()
            .map(|outcome| outcome.pod.clone())
            .collect();
        let found = target::find(
            &loaded.cluster,
            &broken,
            self.namespace.as_deref(),
            &self.pod,
        );
        let target = found.map_err(anyhow::Error::msg)?;
        self.check_nodes(&loaded.cluster)?;
        self.explain(loaded, target, plugin, streams)
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

    fn explain(
        &self,
        loaded: Loaded,
        target: Target,
        plugin: Rc<Component>,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<u8> {
        let Loaded {
            mut cluster,
            mut warnings,
            input_errors,
            unreadable_pods,
            ..
        } = loaded;
        let id = target.pod.id();
        let broken = unreadable_pods
            .iter()
            .find(|outcome| outcome.pod.is(&target.pod));
        if let Some(outcome) = broken {
            let mut explained = unusable(outcome, &plugin.description().name, &cluster);
            explained.warnings = warnings;
            return self.write(&explained, streams);
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
        let advisor = plugin.advisor(&services)?;
        let question = Question {
            pod,
            after_queue: self.after_queue && standing == Standing::Pending,
            standing,
            input_errors,
        };
        let answer = ask(question, plugin, Box::new(advisor), &cluster)?;
        let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.extend(said_by_plugin(&mut cluster));
        warnings.extend(answer.notes.iter().map(|note| WarningReport {
            object: note.object.clone(),
            message: note.message.clone(),
        }));
        let mut explained = collect(&answer, &cluster, &before, &self.nodes);
        explained.notes.splice(0..0, target.remark);
        explained.warnings = warnings;
        self.write(&explained, streams)
    }

    fn write(
        &self,
        explained: &crate::report::explain::Explained,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<u8> {
        match self.output {
            Output::Json => json::write(explained, streams.stdout)?,
            Output::Text => {
                text::write(explained, streams.colour, streams.stdout)?;
                streams.stdout.flush()?;
                for warning in &explained.warnings {
                    table::write_warning(warning, streams.stderr)?;
                }
            }
        }
        Ok(DONE)
    }
}
