//! `dractl lint`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::{Args, ValueEnum};

use super::choice::feature;
use super::input::{keep, unknown_versions};
use super::sandbox::Sandbox;
use super::simulate::said_by_plugin;
use super::{DONE, NOT_PLACED, Streams, built_in};
use crate::cluster::{Cluster, Settings};
use crate::lint::{
    self, Finding, KnownKinds, Namespaces, Places, Promises, Report, Slips, Subject, Templates,
};
use crate::manifest;
use crate::plugin::{Component, Plugin, Severity, SharedServices};
use crate::workloads;

/// Path of an object's version.
const VERSION: &str = "apiVersion";

/// Time that the plugin has for its judgement, if `--limit` does not say otherwise: one call looks at everything.
const CALL_MILLISECONDS: u64 = 60_000;

#[derive(Debug, Args)]
pub(super) struct Lint {
    /// File, directory (every .yaml, .yml and .json in it), or - for stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// Form of the output
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,

    /// Kubernetes version whose rules apply: 1.31, or current, which is 1.36
    #[arg(long, value_name = "PROFILE", default_value = "current")]
    profile: String,

    /// Feature gate of the plugin, NAME=true or NAME=false; may be repeated
    #[arg(long = "feature", value_name = "NAME=BOOL", value_parser = feature)]
    features: Vec<(String, bool)>,

    /// Component to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    #[command(flatten)]
    sandbox: Sandbox,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs, in a stable form
    Json,
}

impl Lint {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        let mut settings = built_in::settings(&self.profile, &self.features, None, true);
        settings.limits.call_milliseconds = CALL_MILLISECONDS;
        let plugin = built_in::load(self.plugin.as_deref(), &self.sandbox.applied_to(settings))?;
        let report = self.report(&plugin, streams)?;
        match self.output {
            Output::Json => {
                serde_json::to_writer_pretty(&mut *streams.stdout, &report)?;
                writeln!(streams.stdout)?;
            }
            Output::Text => {
                lint::write(&report, streams.colour, streams.stdout)?;
                streams.stdout.flush()?;
                if !report.findings.is_empty() {
                    writeln!(streams.stderr, "{}", lint::summary(&report))?;
                }
            }
        }
        Ok(match report.summary.errors {
            0 => DONE,
            _ => NOT_PLACED,
        })
    }

    fn report(&self, plugin: &Component, streams: &mut Streams<'_>) -> anyhow::Result<Report> {
        let mut slips = Slips::default();
        let mut promises = Promises::default();
        let keep = keep(plugin.description());
        let known = KnownKinds::of(plugin.description());
        let mut input = manifest::read_leniently(
            &self.inputs,
            streams.stdin,
            &|kind| keep(kind) || Namespaces::is_wanted(kind),
            &|api_version, kind| known.judge(api_version, kind),
            &mut |text| {
                slips.look(text);
                promises.look(text);
            },
        )?;
        let namespaces = Namespaces::take(&mut input);
        let mut findings = slips.findings(&input.objects);
        findings.extend(lint::core_kinds(&input.objects));
        findings.extend(lint::mixed_versions(&input.objects));
        if self.profile != "1.31" {
            findings.extend(namespaces.findings(&input.objects));
        }
        let before = Templates::before(&input);
        let mut places = Places::of(&input);
        // What expanding says is no mistake.
        let said = std::mem::take(&mut input.warnings);
        workloads::expand_all(&mut input);
        places.add_errors(&input);
        input.warnings = said;
        findings.extend(lint::noticed(&input));
        let templates = Templates::after(&input, &before);

        let mut cluster = Cluster::new(Settings {
            defaults: false,
            ..Settings::default()
        });
        let unknown = unknown_versions(&input.objects, plugin.description());
        let loaded = cluster.load(input.objects);
        findings.extend(loaded.into_iter().map(|warning| {
            lint::finding(
                Severity::Warning,
                Subject::from_text(&warning.object),
                "metadata",
                &warning.message,
            )
        }));
        cluster.deliver();
        findings.extend(ask(plugin, cluster, streams)?);
        // The plugin may have told that, with a remedy.
        let is_told =
            |finding: &&Finding| finding.path == VERSION && finding.severity == Severity::Error;
        let of_version = findings.iter().filter(is_told);
        let told: BTreeSet<Subject> = of_version.map(|finding| finding.object.clone()).collect();
        let unknown = unknown
            .into_iter()
            .map(|(id, message)| (Subject::of(&id), message));
        findings.extend(
            unknown
                .filter(|(subject, _)| !told.contains(subject))
                .map(|(subject, message)| {
                    lint::finding(Severity::Error, subject, VERSION, &message)
                }),
        );
        promises.remove_from(&mut findings);
        Ok(Report::new(findings, &places, &templates))
    }
}

/// What the plugin says. One without advice says nothing, and what it logs is passed on.
fn ask(
    plugin: &Component,
    cluster: Cluster,
    streams: &mut Streams<'_>,
) -> anyhow::Result<Vec<Finding>> {
    let at = cluster.revision();
    let cluster = Arc::new(Mutex::new(cluster));
    let services: SharedServices = cluster.clone();
    let found = plugin.advisor(&services)?.lint(at)?;
    if found.is_none() {
        let name = &plugin.description().name;
        writeln!(
            streams.stderr,
            "plugin {name} does not judge objects: only core kinds were looked at"
        )?;
    }
    let mut cluster = cluster.lock().unwrap_or_else(PoisonError::into_inner);
    for warning in said_by_plugin(&mut cluster) {
        writeln!(
            streams.stderr,
            "warning: {}: {}",
            warning.object, warning.message
        )?;
    }
    Ok(found
        .unwrap_or_default()
        .into_iter()
        .map(Finding::of_plugin)
        .collect())
}
