//! The command line as tests use it: in this process, and the program itself where streams and exit statuses of a process matter.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::thread;

use serde_json::Value;

/// As the program's own thread.
const STACK_BYTES: usize = 64 << 20;

/// A command line that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Exit status.
    pub status: u8,
    /// Data.
    pub stdout: String,
    /// Talk.
    pub stderr: String,
}

impl Finished {
    /// The data of `-o json`.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }
}

/// Runs a command line without input.
pub fn dractl(args: &[&str]) -> Finished {
    dractl_with(args, Vec::new())
}

/// Runs a command line with this on standard input. A panic is one of this test, and names the command line.
pub fn dractl_with(args: &[&str], stdin: Vec<u8>) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let status = run_on(args, stdin, &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    Finished {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// The same, writing to streams of the test.
pub fn run_on(
    args: &[&str],
    stdin: Vec<u8>,
    stdout: &mut (impl Write + Send),
    stderr: &mut (impl Write + Send),
) -> u8 {
    let line = || ["dractl"].iter().chain(args);
    thread::scope(|scope| {
        let run = move || dractl::cli::run(line(), &mut Cursor::new(stdin), stdout, stderr);
        let thread = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, run)
            .expect("a thread starts");
        thread
            .join()
            .unwrap_or_else(|_| panic!("dractl {} panicked", args.join(" ")))
    })
}

/// A folder of files, for inputs.
pub struct Files(tempfile::TempDir);

impl Files {
    /// Empty.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file and returns its path.
    pub fn add(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("a file can be written");
        path.display().to_string()
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// The program, built like this test.
pub static PROGRAM: LazyLock<PathBuf> = LazyLock::new(build);

fn build() -> PathBuf {
    let here = std::env::current_exe().expect("the test has a path");
    // TARGET/PROFILE/deps/tests-HASH
    let profile = here.ancestors().nth(2).expect("a profile's folder");
    let mut cargo = Command::new(env!("CARGO"));
    // The whole workspace's features, or dependencies would be compiled again with fewer.
    cargo.args(["build", "--locked", "--workspace", "--bin", "dractl"]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo
        .arg("--target-dir")
        .arg(profile.parent().expect("a target folder"))
        .current_dir(crate::repository::root())
        .output()
        .expect("cargo runs");
    let talk = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "dractl does not build:\n{talk}");
    profile.join("dractl")
}
