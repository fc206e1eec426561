//! `dractl soak`.

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, ValueEnum, value_parser};

use super::built_in::{self, bytes_of, runtime};
use super::sandbox::Sandbox;
use super::{DONE, NOT_PLACED, Streams};
use crate::generations::SelfCheck;
use crate::soak::{self, Plan, Report, Source, Versions};
use crate::stand_ins::users::Size;

#[derive(Debug, Args)]
pub(super) struct Soak {
    /// Seed of the load, the faults and the order of everything
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Scheduling cycles to run; the few that it takes to let pods on their way arrive are not counted
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u64).range(1..))]
    cycles: u64,

    /// Swap the plugin after so many cycles; 0: only when a file changes
    #[arg(long, value_name = "N", default_value_t = 100)]
    swap_every: u64,

    /// Cycles that a new version runs beside the active one before it serves; fewer than --swap-every
    #[arg(long, value_name = "N", default_value_t = 5)]
    check: u32,

    /// Let in versions that decide otherwise than the active one
    #[arg(long)]
    accept_changes: bool,

    /// Component to run; several take turns, and one whose file changes is loaded again
    #[arg(long = "plugin", value_name = "FILE")]
    plugins: Vec<PathBuf>,

    /// Kubernetes version whose behaviour the plugin shows
    #[arg(long, value_name = "PROFILE", default_value = "current")]
    profile: String,

    /// Configuration of the plugins, instead of the one that says the profile: JSON, as they understand it
    #[arg(long, value_name = "JSON", conflicts_with = "profile")]
    config: Option<String>,

    #[command(flatten)]
    sandbox: Sandbox,

    /// Wait in real time instead of on a virtual clock
    #[arg(long)]
    real_time: bool,

    /// Nodes of the cluster; pods and devices are in proportion
    #[arg(long, value_name = "N", default_value_t = Size::default().nodes, value_parser = value_parser!(u32).range(1..=1_000))]
    nodes: u32,

    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Soak {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        ensure!(
            self.swap_every == 0 || u64::from(self.check) < self.swap_every,
            "--check {} takes as long as --swap-every {} allows, so that no version would ever serve",
            self.check,
            self.swap_every
        );
        let mut versions = self.versions()?;
        let plan = self.plan();
        let stderr = &mut *streams.stderr;
        let mut progress = |report: &Report| {
            // Nobody is left to tell if that fails.
            let _ = writeln!(
                stderr,
                "{} of {} cycles, {} pods bound, {} swaps, {} refused, {} violations",
                report.cycles,
                plan.cycles,
                report.bound,
                report.swaps,
                report.refusals,
                report.violations
            );
            ControlFlow::Continue(())
        };
        let report = soak::run(&plan, &mut versions, &mut progress)?;
        match self.output {
            Output::Text => write!(streams.stdout, "{report}")?,
            Output::Json => {
                serde_json::to_writer_pretty(&mut *streams.stdout, &report)?;
                writeln!(streams.stdout)?;
            }
        }
        Ok(if report.violations == 0 {
            DONE
        } else {
            NOT_PLACED
        })
    }

    fn plan(&self) -> Plan {
        let nodes = self.nodes;
        let size = Size::default();
        Plan {
            seed: self.seed,
            cycles: self.cycles,
            swap_every: self.swap_every,
            check: SelfCheck {
                cycles: self.check,
                // The load never rests.
                longest: u64::MAX,
                accept_changes: self.accept_changes,
            },
            real_time: self.real_time,
            size: Size {
                nodes,
                pods: size.pods * nodes as usize / size.nodes as usize + 1,
                ..size
            },
        }
    }

    fn versions(&self) -> anyhow::Result<Versions> {
        let mut settings =
            self.sandbox
                .applied_to(built_in::settings(&self.profile, &[], None, true));
        if let Some(config) = &self.config {
            settings.config = config.clone().into_bytes();
        }
        let source = |file: Option<&PathBuf>| {
            let (bytes, name) = bytes_of(file.map(PathBuf::as_path))?;
            anyhow::Ok(Source {
                name,
                bytes: bytes.into_owned(),
                file: file.cloned(),
            })
        };
        let first = source(self.plugins.first())?;
        let others: anyhow::Result<Vec<Source>> = self
            .plugins
            .iter()
            .skip(1)
            .map(|file| source(Some(file)))
            .collect();
        let grant = settings.grant.clone();
        let versions = Versions::new(runtime()?, settings, first, others?)?;
        let slip = grant.undeclared(&versions.try_all()?);
        match slip {
            None => Ok(versions),
            Some(slip) => Err(anyhow::anyhow!(slip)),
        }
    }
}
