//! README's first command: from a fresh clone to a placement decided inside a WebAssembly component.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::problem::{Problem, Result};
use crate::process::say;
use crate::target::{self, Action};
use crate::toolchain::LIBRARY_PATH;

/// `simulate` ran, and some pod was not placed.
const NOT_ALL_PLACED: i32 = 1;

/// Sets up if needed, then runs the example; fails unless `simulate` ran.
pub fn run() -> Result<ExitCode> {
    target::run(Action::Install {
        allow_unpinned: false,
    })?;
    say("building and running dractl (the first build takes several minutes)");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        // Without `--package`: cargo would choose other features for shared dependencies, and the tests would build
        // wasmtime a second time.
        .args(["run", "--release", "--", "simulate", "examples/gpu"])
        .env_remove(LIBRARY_PATH)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .status()
        .map_err(|error| {
            Problem::new(
                format!("cannot run cargo: {error}"),
                "check that cargo is on PATH",
            )
        })?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(NOT_ALL_PLACED) => {
            eprintln!(
                "\nOne pod of the example does not fit, on purpose; `dractl simulate` ends with status 1 then.\n\
                 Next: `cargo run --release -- simulate YOUR-DUMP.yaml`, or `cargo test --release --workspace`."
            );
            ExitCode::SUCCESS
        }
        code => ExitCode::from(
            code.and_then(|code| u8::try_from(code).ok())
                .unwrap_or(u8::MAX),
        ),
    })
}
