use std::io::{self, Read, Write};

use super::*;

struct Finished {
    status: u8,
    stdout: String,
    stderr: String,
}

fn dractl(args: &[&str]) -> Finished {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let args = ["dractl"].iter().chain(args);
    let status = run(args, &mut io::empty(), &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Finished {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

#[test]
fn help_is_data_and_lists_what_there_is() {
    let help = dractl(&["--help"]);
    assert_eq!((help.status, help.stderr.as_str()), (0, ""));
    assert!(help.stdout.contains("simulate") && help.stdout.contains("plugin"));
    assert!(!help.stdout.contains("soak"));
    assert!(
        dractl(&["simulate", "--help"])
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
}

#[test]
fn wrong_usage_is_told_on_stderr() {
    for args in [
        &["simulate"][..],
        &["simulate", "-o", "xml", "."],
        &["simulate", "--feature", "X", "."],
        &["simulate", "--feature", "X=yes", "."],
        &["explain"],
        &[],
    ] {
        let wrong = dractl(args);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{args:?}");
        assert!(!wrong.stderr.is_empty());
    }
}

#[test]
fn a_plugin_that_cannot_be_read_is_named_once_with_its_cause() {
    let missing = dractl(&["simulate", "--plugin", "no/such/plugin.wasm", "."]);
    assert_eq!((missing.status, missing.stdout.as_str()), (2, ""));
    let lines: Vec<&str> = missing.stderr.lines().collect();
    assert_eq!(
        lines[0],
        "error: cannot read the plugin no/such/plugin.wasm"
    );
    assert!(
        lines[1].starts_with("  because: ") && lines.len() == 2,
        "{lines:?}"
    );
}

#[test]
fn bytes_that_are_no_component_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text.wasm");
    std::fs::write(&file, "no component").unwrap();
    for command in [
        &["plugin", "check"][..],
        &["plugin", "inspect"],
        &["simulate", ".", "--plugin"],
    ] {
        let refused = dractl(&[command, &[file.to_str().unwrap()]].concat());
        assert_eq!(refused.status, 2, "{command:?}");
        assert!(
            refused.stderr.starts_with("error: ") && refused.stderr.contains("text.wasm"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn the_built_in_plugin_can_be_extracted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plugin.wasm");
    assert_eq!(
        dractl(&["plugin", "extract", file.to_str().unwrap()]).status,
        0
    );
    let bytes = std::fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\0asm"));
    assert_eq!(bytes, built_in::COMPONENT);
}

/// A reader that goes away, as `head` does.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn a_broken_pipe_is_no_error() {
    let mut stderr = Vec::new();
    let mut stdin: Box<dyn Read> = Box::new(io::empty());
    let status = run(
        ["dractl", "plugin", "extract", "-"],
        &mut stdin,
        &mut Closed,
        &mut stderr,
    );
    assert_eq!((status, stderr.len()), (0, 0));
}
