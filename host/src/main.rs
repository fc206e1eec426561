//! The program: the command line on a thread with enough stack.

use std::io::{self, BufWriter, IsTerminal};
use std::process::ExitCode;
use std::thread;

use dractl::cli::{Streams, run_with};
use dractl::report::table::Colour;

/// A dump becomes millions of small allocations, from several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reading deeply nested objects and running a plugin share it; the platform's own limit is 8 MiB at most, and may be less.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let program = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(program);
    match program.map(thread::JoinHandle::join) {
        Ok(Ok(status)) => status.into(),
        // A panic has said what it had to say.
        Ok(Err(_)) => 2.into(),
        Err(error) => {
            eprintln!("error: no thread can be started\n  because: {error}");
            2.into()
        }
    }
}

fn program() -> u8 {
    let stdout = io::stdout();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colour = if stdout.is_terminal() && !plain {
        Colour::On
    } else {
        Colour::Off
    };
    let mut stdout = BufWriter::new(stdout.lock());
    let streams = Streams {
        stdin: &mut io::stdin().lock(),
        stdout: &mut stdout,
        stderr: &mut io::stderr(),
        colour,
    };
    run_with(std::env::args_os(), streams)
}
