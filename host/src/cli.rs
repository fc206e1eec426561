//! The command line (design section 7): data on stdout, talk on stderr; exit status 0 for "all placed" or "answered", 1 for "ran, but
//! some pod was not placed", 2 for everything that kept it from running.

use std::ffi::OsString;
use std::io::{self, Read, Write};

use clap::{Parser, Subcommand};

use crate::report::table::Colour;

mod built_in;
mod choice;
mod explain;
mod input;
mod lint;
mod plugin;
mod sandbox;
mod simulate;
mod soak;

/// Everything asked for was done.
const DONE: u8 = 0;
/// It ran, but some pod was not placed, a promise was broken, or there are errors in the input.
const NOT_PLACED: u8 = 1;
/// It could not run.
const FAILED: u8 = 2;

/// Where pods that ask for devices would be placed, decided by a scheduler plugin that runs as a WebAssembly component.
#[derive(Debug, Parser)]
#[command(name = "dractl", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Place the pending pods of a cluster dump or of manifests
    Simulate(simulate::Simulate),
    /// Say why a pod is placed where it is, or not at all: per node, request and device
    Explain(explain::Explain),
    /// Find mistakes in manifests and dumps
    Lint(lint::Lint),
    /// Run plugins under a load with faults and swaps, and count what must not happen
    Soak(soak::Soak),
    /// Look at a plugin, try it, or write the built-in one to a file
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
}

/// Where a command reads and writes.
pub struct Streams<'a> {
    /// For the input `-`.
    pub stdin: &'a mut dyn Read,
    /// Data.
    pub stdout: &'a mut dyn Write,
    /// Talk.
    pub stderr: &'a mut dyn Write,
    /// Whether data may be coloured.
    pub colour: Colour,
}

/// Runs a command line, whose first argument is the program's name, and returns the exit status. Nothing is coloured.
pub fn run<I, T>(
    args: I,
    stdin: &mut dyn Read,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    run_with(
        args,
        Streams {
            stdin,
            stdout,
            stderr,
            colour: Colour::Off,
        },
    )
}

/// Like [`run`], for a terminal perhaps.
pub fn run_with<I, T>(args: I, mut streams: Streams<'_>) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let result = match Cli::try_parse_from(args) {
        Ok(cli) => match cli.command {
            Command::Simulate(simulate) => simulate.run(&mut streams),
            Command::Explain(explain) => explain.run(&mut streams),
            Command::Lint(lint) => lint.run(&mut streams),
            Command::Soak(soak) => soak.run(&mut streams),
            Command::Plugin(command) => command.run(&mut streams),
        },
        Err(error) => return usage(&error, &mut streams),
    };
    let result = result.and_then(|status| {
        streams.stdout.flush()?;
        Ok(status)
    });
    result.unwrap_or_else(|error| failed(&error, &mut streams))
}

/// Help goes to stdout, a complaint to stderr. Nobody is left to tell if that cannot be written.
fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> u8 {
    let text = error.render();
    match error.use_stderr() {
        true => {
            let _ = write!(streams.stderr, "{text}");
            FAILED
        }
        false => {
            let _ = write!(streams.stdout, "{text}");
            DONE
        }
    }
}

/// Prints an error with its causes, once. A reader that went away, as in `dractl ... | head`, is no error.
fn failed(error: &anyhow::Error, streams: &mut Streams<'_>) -> u8 {
    let broken_pipe = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    if error
        .chain()
        .filter_map(|cause| cause.downcast_ref())
        .any(broken_pipe)
    {
        return DONE;
    }
    let _ = writeln!(streams.stderr, "error: {error}");
    for cause in error.chain().skip(1) {
        let _ = writeln!(streams.stderr, "  because: {cause}");
    }
    FAILED
}

#[cfg(test)]
mod tests;
