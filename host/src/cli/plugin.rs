//! `dractl plugin inspect|check|extract`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;

use super::built_in::{bytes_of, load, runtime};
use super::{DONE, Streams};
use crate::plugin::{Plugin, Settings};

#[derive(Debug, Subcommand)]
pub(super) enum PluginCommand {
    /// Show what a plugin imports, exports and declares
    Inspect {
        /// Component to look at instead of the built-in one
        file: Option<PathBuf>,
    },
    /// Tell whether this host can run a plugin
    Check {
        /// Component to try instead of the built-in one
        file: Option<PathBuf>,
    },
    /// Write the built-in plugin to a file
    Extract {
        /// File to write, or - for stdout
        file: PathBuf,
    },
}

impl PluginCommand {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> anyhow::Result<u8> {
        match self {
            Self::Inspect { file } => {
                let (bytes, name) = bytes_of(file.as_deref())?;
                let inspection = runtime()?.inspect(&bytes, &name, &Settings::default())?;
                write!(streams.stdout, "{inspection}")?;
            }
            Self::Check { file } => {
                let plugin = load(file.as_deref(), &Settings::default())?;
                let description = plugin.description();
                writeln!(
                    streams.stdout,
                    "{} {}: this host can run it",
                    description.name, description.version
                )?;
            }
            Self::Extract { file } => {
                let (bytes, _) = bytes_of(None)?;
                match file.as_os_str() == "-" {
                    true => streams.stdout.write_all(&bytes)?,
                    false => std::fs::write(file, &bytes).with_context(|| {
                        format!("cannot write the plugin to {}", file.display())
                    })?,
                }
            }
        }
        Ok(DONE)
    }
}
