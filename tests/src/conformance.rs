//! Recorded answers of the Go implementation (`conformance/README.md` states the rules), case by case.
//!
//! `CONFORMANCE_DIR=... cargo test --release conformance -- --nocapture` runs another directory. One line a file is printed:
//! `conformance FILE passed=N failed=N differs=N (component=N native=N)`. The first three count cases; `differs` are those
//! in which a rule of this runner, never the name of a case, says that a profile answers otherwise on purpose. The last two
//! say how many cases went through the component and through the plugin linked natively; a case passes if it passes in all
//! implementations that ran it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value;

mod allocator;
mod cel;
mod compare;
pub mod double;
pub mod driver;
mod helpers;
mod hints;
pub mod plugin;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As recorded.
    Passed,
    /// Otherwise than recorded, on purpose; the rule, for example "incomplete pools are skipped since 1.35".
    Differs(&'static str),
    /// Otherwise than recorded; what was expected and what came.
    Failed(String),
}

/// What a runner says of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Over all implementations that ran it: a failure counts most, a difference second.
    pub verdict: Verdict,
    /// The component ran it.
    pub component: bool,
    /// The native plugin, or one of its modules, ran it.
    pub native: bool,
}

/// The outcome of a case that the component and the native plugin ran.
fn both(component: Result<(), String>, native: Result<(), String>) -> Outcome {
    let failed = [("component", component), ("native", native)]
        .into_iter()
        .filter_map(|(which, ran)| Some(format!("{which}: {}", ran.err()?)))
        .collect::<Vec<_>>();
    Outcome {
        verdict: match failed.is_empty() {
            true => Verdict::Passed,
            false => Verdict::Failed(failed.join("; ")),
        },
        component: true,
        native: true,
    }
}

/// Runs one case. Gets the line's number within the file, from zero, for samples.
type Runner = fn(file: &str, number: usize, case: &Value) -> Outcome;

/// The runner for a file of this name; the first prefix decides.
fn runner(file: &str) -> Option<Runner> {
    const RUNNERS: [(&str, Runner); 6] = [
        ("plugin-seed-queueing-hints", hints::run),
        ("plugin-seed", plugin::run),
        ("structured-allocator-random", allocator::run_random),
        ("structured-allocator", allocator::run),
        ("cel-compile", cel::run),
        ("resourceclaim-helpers", helpers::run),
    ];
    let stem = file.strip_suffix(".jsonl")?;
    RUNNERS
        .iter()
        .find(|(prefix, _)| stem.starts_with(prefix))
        .map(|(_, runner)| *runner)
}

/// Counts of one file.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: Vec<String>,
    differs: BTreeMap<&'static str, usize>,
    component: usize,
    native: usize,
}

impl Tally {
    fn add(&mut self, name: &str, outcome: Outcome) {
        self.component += usize::from(outcome.component);
        self.native += usize::from(outcome.native);
        match outcome.verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Differs(rule) => *self.differs.entry(rule).or_default() += 1,
            Verdict::Failed(why) => self.failed.push(format!("{name}: {why}")),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "passed={} failed={} differs={} (component={} native={})",
            self.passed,
            self.failed.len(),
            self.differs.values().sum::<usize>(),
            self.component,
            self.native
        )
    }
}

fn run_file(file: &str, text: &str, runner: Runner) -> Tally {
    let mut tally = Tally::default();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let case: Value = match serde_json::from_str(line) {
            Ok(case) => case,
            Err(error) => {
                tally
                    .failed
                    .push(format!("line {}: not JSON: {error}", number + 1));
                continue;
            }
        };
        let name = case.get("name").and_then(Value::as_str).unwrap_or("");
        let name = format!("line {} {name}", number + 1);
        // A panic is a failed case, and must not hide the others.
        let outcome = catch_unwind(AssertUnwindSafe(|| runner(file, number, &case)));
        tally.add(&name, outcome.unwrap_or_else(panicked));
    }
    tally
}

fn panicked(payload: Box<dyn std::any::Any + Send>) -> Outcome {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no text");
    Outcome {
        verdict: Verdict::Failed(format!("panicked: {text}")),
        component: false,
        native: false,
    }
}

/// In one piece, so that it cannot end up inside a line of another stream.
fn note(mut line: String) {
    line.push('\n');
    eprint!("{line}");
}

#[allow(
    clippy::print_stdout,
    reason = "the lines are what the test is run for"
)]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// Runs every known file of a directory; the label is printed before its name. The error lists the failed cases, or says
/// that there is nothing to run.
fn run_directory(directory: &Path, label: &str) -> Result<(), String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    // The harness may have left its line open.
    say("");
    let (mut known, mut failed) = (0, Vec::new());
    for path in files {
        let file = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(runner) = runner(&file) else {
            if file.ends_with(".jsonl") {
                note(format!(
                    "conformance {file} SKIPPED: no runner for a file of this name"
                ));
            }
            continue;
        };
        known += 1;
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        let tally = run_file(&file, &text, runner);
        say(&format!("conformance {label}{file} {tally}"));
        for (rule, count) in &tally.differs {
            say(&format!("  differs in {count}: {rule}"));
        }
        failed.extend(tally.failed.iter().map(|why| format!("{file} {why}")));
    }
    match (known, failed.is_empty()) {
        (0, _) => Err(format!("{}: no known file", directory.display())),
        (_, true) => Ok(()),
        (_, false) => Err(format!(
            "{} cases failed:\n{}",
            failed.len(),
            failed.join("\n")
        )),
    }
}

thread_local! {
    /// Whether plugins of this thread's cases may remember anything.
    static CACHES: Cell<bool> = const { Cell::new(true) };
}

/// A configuration, with caches off where this thread has them off.
fn with_caches(config: &Value) -> Value {
    let mut config = config.clone();
    if !CACHES.get() {
        config["caches"] = false.into();
    }
    config
}

/// What is remembered from call to call changes no answer.
#[test]
fn conformance_without_caches() {
    CACHES.set(false);
    conformance();
    CACHES.set(true);
}

#[test]
fn conformance() {
    let directory = match std::env::var_os("CONFORMANCE_DIR") {
        Some(directory) => crate::repository::given(directory),
        None => {
            let shared = std::env::var_os("DRACTL_SHARED").map_or_else(
                || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
                PathBuf::from,
            );
            let directory = shared.join("conformance");
            if !directory.is_dir() {
                eprintln!("SKIPPED: conformance: {} is not there", directory.display());
                return;
            }
            directory
        }
    };
    if let Err(failed) = run_directory(&directory, "") {
        panic!("{failed}");
    }
}

/// The rows that stand in this repository, so that they run where the recordings are not.
#[test]
fn conformance_of_own_rows() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance");
    if let Err(failed) = run_directory(&directory, "own/") {
        panic!("{failed}");
    }
}

#[test]
fn a_directory_without_a_known_file_fails() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("other.jsonl"), "{}\n").unwrap();
    let failed = run_directory(directory.path(), "").unwrap_err();
    assert!(failed.ends_with("no known file"), "{failed}");
}

#[test]
fn a_line_that_is_not_json_fails() {
    let tally = run_file("cel-compile-x.jsonl", "\n{\n", cel::run);
    assert_eq!(tally.failed.len(), 1, "{:?}", tally.failed);
    assert!(tally.failed[0].starts_with("line 2: not JSON"));
}
