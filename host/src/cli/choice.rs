//! Flags that choose and configure the plugin, shared by the commands that decide about pods.

use std::path::PathBuf;

use clap::Args;

use super::Streams;
use super::built_in;
use super::input::{Loaded, read};
use super::sandbox::Sandbox;
use crate::plugin::{Component, Plugin, Settings};

/// Gate of classic DRA.
const CLASSIC_DRA: &str = "DRAControlPlaneController";

#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Kubernetes version whose behaviour the plugin shows, for example 1.31
    #[arg(long, value_name = "PROFILE", default_value = "current")]
    profile: String,

    /// Feature gate of the plugin, NAME=true or NAME=false; may be repeated
    #[arg(long = "feature", value_name = "NAME=BOOL", value_parser = feature)]
    features: Vec<(String, bool)>,

    /// Devices that the plugin may visit in its search for one pod on one node
    #[arg(long, value_name = "N")]
    search_steps: Option<u64>,

    /// Component to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    plugin: Option<PathBuf>,

    /// Stand in for the control plane controllers of classic DRA: answer scheduling contexts, allocate claims with
    /// spec.controller, free them again; needs --profile 1.31 --feature DRAControlPlaneController=true
    #[arg(long)]
    classic_driver: bool,

    /// Let the plugin remember nothing from call to call: slow, and for tests of what it remembers
    #[arg(long, hide = true)]
    no_caches: bool,

    #[command(flatten)]
    sandbox: Sandbox,
}

/// Reads the value of `--feature`.
pub(super) fn feature(text: &str) -> Result<(String, bool), String> {
    match text.split_once('=') {
        Some((name, "true")) if !name.is_empty() => Ok((name.to_owned(), true)),
        Some((name, "false")) if !name.is_empty() => Ok((name.to_owned(), false)),
        _ => Err("write NAME=true or NAME=false".to_owned()),
    }
}

impl Choice {
    /// The plugin, ready to run; what it costs is counted if asked for.
    pub(super) fn load(&self, counts: bool) -> anyhow::Result<Component> {
        let settings = built_in::settings(
            &self.profile,
            &self.features,
            self.search_steps,
            !self.no_caches,
        );
        let settings = Settings {
            counts,
            ..self.sandbox.applied_to(settings)
        };
        built_in::load(self.plugin.as_deref(), &settings)
    }

    /// Whether devices of pools that are incomplete or contradict themselves are given to nobody: Kubernetes 1.31 gives them.
    pub(super) fn skips_broken_pools(&self) -> bool {
        self.profile != "1.31"
    }

    /// The input as this plugin needs it, with what the flags mean for it.
    pub(super) fn read(
        &self,
        inputs: &[PathBuf],
        streams: &mut Streams<'_>,
        plugin: &Component,
    ) -> anyhow::Result<Loaded> {
        let (driver, described) = (self.classic_driver, plugin.description());
        let mut loaded = read(inputs, streams.stdin, described, driver)?;
        self.warn(&mut loaded);
        Ok(loaded)
    }

    /// Says what the flags mean for claims of classic DRA in the input.
    fn warn(&self, loaded: &mut Loaded) {
        let mut latest = self.features.iter().rev();
        let classic = latest.find(|(name, _)| name == CLASSIC_DRA);
        loaded.warn_of_classic_claims(classic.is_some_and(|(_, on)| *on), self.classic_driver);
    }
}
