//! `cargo xtask setup` makes the target of the plugin's component work, `cargo xtask demo` is README's first command.
//!
//! Reading order: `demo` -> `target` (what to do) -> `rustup`, `debian` -> `standard_library` (how) -> `toolchain`, `process`.

mod debian;
mod demo;
mod problem;
mod process;
mod rustup;
mod standard_library;
mod target;
mod toolchain;
mod work_folder;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask setup [--check | --remove] [--allow-unpinned]
       cargo xtask demo

setup              make the target wasm32-wasip2 work for the active Rust toolchain
  --check          only say whether it works: exit status 0 or 1
  --remove         take away what setup built (what rustup added is rustup's to remove)
  --allow-unpinned on Debian: also take package versions whose checksum this command does not
                   know; apt's signed index then vouches for them alone
demo               setup if needed, then `dractl simulate examples/gpu`";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["demo"] => demo::run(),
        ["setup", flags @ ..] => match target::Action::parse(flags) {
            Some(action) => target::run(action).map(|()| ExitCode::SUCCESS),
            None => return usage(),
        },
        _ => return usage(),
    };
    result.unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::FAILURE
    })
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}
