//! Running other programs: their output is kept and shown only when they fail.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::problem::{Problem, Result};

/// How much of a failed program's output is shown.
const TAIL_LINES: usize = 40;

/// Says something about the progress, on stderr.
pub fn say(text: &str) {
    eprintln!("{}: {text}", crate::target::TARGET);
}

/// Whether a program is on PATH.
pub fn exists(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Runs to the end and gives stdout; a failure shows the end of both outputs.
pub fn output(command: &mut Command, remedy: &str) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Problem::new(format!("cannot run {name}: {error}"), remedy))?;
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() {
        return Ok(stdout);
    }
    let mut lines: Vec<String> = stdout.lines().map(str::to_owned).collect();
    lines.extend(
        String::from_utf8_lossy(&done.stderr)
            .lines()
            .map(str::to_owned),
    );
    Err(failed(&name, done.status, &lines, remedy))
}

/// Runs to the end and hands each line of stderr to `progress` as it comes.
pub fn watch(command: &mut Command, remedy: &str, mut progress: impl FnMut(&str)) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot_run =
        |error: std::io::Error| Problem::new(format!("cannot run {name}: {error}"), remedy);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot_run)?;
    let mut lines = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr)
            .split(b'\n')
            .map_while(|line| line.ok())
        {
            let line = String::from_utf8_lossy(&line).into_owned();
            progress(&line);
            lines.push(line);
        }
    }
    let status = child.wait().map_err(cannot_run)?;
    if status.success() {
        Ok(())
    } else {
        Err(failed(&name, status, &lines, remedy))
    }
}

/// Runs with the caller's stdout and stderr and ends it when `limit` has passed: `None` then.
pub fn within(command: &mut Command, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn failed(name: &str, status: ExitStatus, lines: &[String], remedy: &str) -> Problem {
    let tail = &lines[lines.len().saturating_sub(TAIL_LINES)..];
    let mut what = format!("{name} failed ({status})");
    for line in tail {
        what.push_str("\n  | ");
        what.push_str(line);
    }
    Problem::new(what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_shows_what_the_program_said() {
        let problem = output(&mut shell("echo out; echo err >&2; exit 3"), "look").unwrap_err();
        let text = problem.to_string();
        assert!(text.contains("| out") && text.contains("| err"), "{text}");
        assert!(text.ends_with("to do: look"), "{text}");
    }

    #[test]
    fn lines_arrive_one_by_one() {
        let mut seen = Vec::new();
        watch(&mut shell("echo a >&2; echo b >&2"), "", |line| {
            seen.push(line.to_owned())
        })
        .unwrap();
        assert_eq!(seen, ["a", "b"]);
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended() {
        let ended = within(Command::new("sleep").arg("600"), Duration::from_millis(60)).unwrap();
        assert!(ended.is_none());
        let in_time = within(&mut shell("exit 4"), Duration::from_secs(600)).unwrap();
        assert_eq!(in_time.and_then(|status| status.code()), Some(4));
    }

    #[test]
    fn a_missing_program_is_noticed() {
        assert!(!exists("no-such-program-anywhere"));
        assert!(exists("sh"));
    }
}
