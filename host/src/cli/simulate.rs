//! `dractl simulate`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::{Args, ValueEnum};

use super::choice::Choice;
use super::input::{Loaded, source};
use super::{DONE, NOT_PLACED, Streams};
use crate::clock::Stopwatch;
use crate::cluster::Cluster;
use crate::cycle::Strategy;
use crate::explain::afterwards;
use crate::plugin::{Component, LogLevel, Plugin, SharedServices};
use crate::report::collect::{Measured, collect};
use crate::report::explain::{Explained, Sorted};
use crate::report::table::{self, Detail};
use crate::report::{Report, WarningReport, json, objects, page};
use crate::scheduler::chooser::OneAtATime;
use crate::scheduler::outcome::{Ended, PodOutcome};
use crate::scheduler::{Scheduler, Settings};

/// How many names of nodes a reason shows without `--all-nodes`.
const NODE_NAMES: usize = 20;

/// For how many pods the page says device by device why they are refused: each may take as much as the rest of the page.
const EXPLAINED_PODS: usize = 20;

#[derive(Debug, Args)]
pub(super) struct Simulate {
    /// File, directory (every .yaml, .yml and .json in it), or - for stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,

    #[command(flatten)]
    choice: Choice,

    /// Tell what it cost: on stderr, or in the JSON output
    #[arg(long)]
    stats: bool,

    /// Name every node of a reason, not only the first 20
    #[arg(long)]
    all_nodes: bool,

    /// Take the first feasible node, and begin the search for the next pod behind the nodes visited
    #[arg(long)]
    first_feasible: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A line per pod
    Table,
    /// The same with attempts, feasible nodes and where it was decided
    Wide,
    /// Everything, in a stable form
    Json,
    /// The resulting claims and pods
    Yaml,
    /// A page for a browser that needs nothing but itself: the devices of each node, and who has them
    Html,
}

impl Simulate {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        let stopwatch = Stopwatch::start();
        let plugin = self.choice.load(self.stats)?;
        let loaded = self.choice.read(&self.inputs, streams, &plugin)?;
        self.schedule(loaded, Rc::new(plugin), stopwatch, streams)
    }

    fn schedule(
        &self,
        loaded: Loaded,
        plugin: Rc<Component>,
        stopwatch: Stopwatch,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<u8> {
        let Loaded {
            cluster,
            mut warnings,
            input_errors,
            unreadable_pods,
            uids,
            read,
        } = loaded;
        let start = cluster.clock();
        let cluster = Arc::new(Mutex::new(cluster));
        // Never taken apart: the program ends with it, and that would take a third of the time that reading it took.
        std::mem::forget(cluster.clone());
        let settings = Settings {
            input_errors,
            ..self.settings()
        };
        let allocated = match self.output {
            Output::Html => page::allocated(&lock(&cluster)),
            _ => BTreeSet::new(),
        };
        let load = stopwatch.nanoseconds();
        let before = plugin.stats();

        let stopwatch = Stopwatch::start();
        let mut scheduler = Scheduler::new(cluster.clone(), plugin.clone(), settings)?;
        scheduler.run(&mut OneAtATime);
        let elapsed = stopwatch.nanoseconds();

        let mut outcomes = scheduler.outcomes();
        let explained = match self.output {
            Output::Html => explanations(&mut scheduler, &outcomes, &plugin, &cluster)?,
            _ => Vec::new(),
        };
        outcomes.extend(unreadable_pods);
        let mut cluster = lock(&cluster);
        warnings.extend(said_by_plugin(&mut cluster));
        let mut report = collect(&outcomes, scheduler.notes(), &cluster, start);
        warnings.append(&mut report.warnings);
        report.warnings = warnings;
        if self.stats {
            report = report.with_stats(Measured {
                load,
                read,
                elapsed,
                calls: plugin.stats().since(&before),
                counts: scheduler.counts(),
            });
        }
        let contents = page::Contents {
            command: "simulate",
            source: &source(&self.inputs),
            summary: &report.summary(),
            report: &report,
            allocated: &allocated,
            explained: &explained,
            opens: false,
            skips_broken_pools: self.choice.skips_broken_pools(),
        };
        match self.output {
            Output::Html => page::write(contents, &cluster, streams.stdout)?,
            Output::Yaml => objects::write(&outcomes, &cluster, &uids, streams.stdout)?,
            Output::Json => json::write(&report, streams.stdout)?,
            Output::Table => table::write(&report, Detail::Short, streams.colour, streams.stdout)?,
            Output::Wide => table::write(&report, Detail::Wide, streams.colour, streams.stdout)?,
        }
        streams.stdout.flush()?;
        self.talk(&report, streams)?;
        Ok(if report.is_complete() {
            DONE
        } else {
            NOT_PLACED
        })
    }

    fn settings(&self) -> Settings {
        Settings {
            strategy: match self.first_feasible {
                true => Strategy::FirstFeasible,
                false => Strategy::AllNodes,
            },
            // The page tells of each node why it was refused.
            names: match self.all_nodes || self.output == Output::Html {
                true => usize::MAX,
                false => NODE_NAMES,
            },
            ..Settings::default()
        }
    }

    /// What the JSON output holds already is not said again.
    fn talk(&self, report: &Report, streams: &mut Streams<'_>) -> anyhow::Result<()> {
        if self.output == Output::Json {
            return Ok(());
        }
        if self.output != Output::Html {
            table::write_warnings(report, streams.stderr)?;
        }
        if !report.pods.is_empty() || self.output == Output::Yaml {
            writeln!(streams.stderr, "{}", report.summary())?;
        }
        if let Some(stats) = &report.stats {
            table::write_stats(stats, streams.stderr)?;
        }
        Ok(())
    }
}

/// Why the first pods that were not placed cannot be, for the page.
fn explanations(
    scheduler: &mut Scheduler,
    outcomes: &[PodOutcome],
    plugin: &Component,
    cluster: &Arc<Mutex<Cluster>>,
) -> anyhow::Result<Vec<page::Explanation>> {
    let refused = |outcome: &&PodOutcome| matches!(outcome.ended, Ended::Failed(_));
    let mut refused = outcomes
        .iter()
        .filter(refused)
        .take(EXPLAINED_PODS)
        .peekable();
    if refused.peek().is_none() {
        return Ok(Vec::new());
    }
    let services: SharedServices = cluster.clone();
    let mut advisor = plugin.advisor(&services)?;
    let name = &plugin.description().name;
    let explanations = refused.map(|outcome| {
        let answer = afterwards(scheduler, outcome, name, &mut advisor);
        let locked = lock(cluster);
        let sorted = Sorted::of(&answer, &locked);
        page::Explanation {
            explained: Explained {
                // The report has the warnings, and the attempt saw another state than there is now.
                notes: Vec::new(),
                ..sorted.explained(&[], &[], &[])
            },
            refusals: sorted.refusals(),
        }
    });
    Ok(explanations.collect())
}

fn lock(cluster: &Mutex<Cluster>) -> MutexGuard<'_, Cluster> {
    cluster.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the plugin logged as a warning or worse; each text once, though every instance may have said it.
pub(super) fn said_by_plugin(cluster: &mut Cluster) -> Vec<WarningReport> {
    let mut said = BTreeSet::new();
    let mut warnings = Vec::new();
    for record in cluster.take_logs() {
        let mut message = record.message;
        for (name, value) in &record.fields {
            message.push_str(&format!(", {name}: {value}"));
        }
        if record.level <= LogLevel::Warn && said.insert(message.clone()) {
            let object = format!("plugin {}", record.plugin);
            warnings.push(WarningReport { object, message });
        }
    }
    warnings
}
