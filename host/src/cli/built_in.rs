//! The plugin that the build script embedded, and the choice between it and a file.

use std::borrow::Cow;
use std::path::Path;

use anyhow::Context;
use serde_json::json;

use crate::plugin::{
    self, CompileCache, Component, Fault, LoadError, Plugin, Problem, Runtime, Settings,
};

/// Name of the built-in plugin in messages.
pub const BUILT_IN: &str = "the built-in plugin";

/// The bytes of a plugin, and its name in messages.
pub fn bytes_of(file: Option<&Path>) -> anyhow::Result<(Cow<'static, [u8]>, String)> {
    match file {
        None => Ok((plugin::BUILT_IN.into(), BUILT_IN.to_owned())),
        Some(file) => {
            let name = file.display().to_string();
            let bytes =
                std::fs::read(file).with_context(|| format!("cannot read the plugin {name}"))?;
            Ok((bytes.into(), name))
        }
    }
}

/// A plugin that is ready to run.
pub fn load(file: Option<&Path>, settings: &Settings) -> anyhow::Result<Component> {
    let (bytes, name) = bytes_of(file)?;
    let plugin = runtime()?
        .load(&bytes, &name, settings)
        .map_err(|error| match error.problem {
            // About what the user typed, not about the plugin.
            Problem::Start(failed)
                if failed.call == "configure" && failed.fault == Fault::Start =>
            {
                anyhow::anyhow!("{name}: {}", failed.cause)
            }
            problem => anyhow::Error::from(LoadError { problem, ..error }),
        })?;
    match settings.grant.undeclared([plugin.description()]) {
        None => Ok(plugin),
        Some(slip) => Err(anyhow::anyhow!("{name}: {slip}")),
    }
}

/// With compiled code kept between runs.
pub fn runtime() -> anyhow::Result<Runtime> {
    let runtime = Runtime::new(&CompileCache::User).map_err(anyhow::Error::from);
    runtime.context("this machine cannot run WebAssembly")
}

/// What a plugin is configured with.
pub fn settings(
    profile: &str,
    features: &[(String, bool)],
    search_steps: Option<u64>,
    caches: bool,
) -> Settings {
    let features: serde_json::Map<_, _> = features
        .iter()
        .map(|(name, on)| (name.clone(), (*on).into()))
        .collect();
    let mut config = json!({"profile": profile, "features": features});
    if let Some(steps) = search_steps {
        config["allocatorSteps"] = steps.into();
    }
    if !caches {
        config["caches"] = false.into();
    }
    Settings {
        config: config.to_string().into_bytes(),
        ..Settings::default()
    }
}
