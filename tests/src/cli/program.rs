//! The program itself: its streams and its exit status.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use super::{OUTPUTS, example};
use crate::command::{PROGRAM, dractl};

fn program(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(&*PROGRAM);
    let command = command.args(args).envs(environment.iter().copied());
    command.stdin(Stdio::null()).output().expect("it runs")
}

#[test]
fn it_says_what_the_library_says() {
    for output in OUTPUTS {
        let args = ["simulate", "-o", output, &example()];
        let (whole, library) = (program(&args, &[]), dractl(&args));
        assert_eq!(whole.status.code(), Some(library.status.into()), "{output}");
        assert_eq!(
            String::from_utf8_lossy(&whole.stdout),
            library.stdout,
            "{output}"
        );
        assert_eq!(
            String::from_utf8_lossy(&whole.stderr),
            library.stderr,
            "{output}"
        );
    }
    assert_eq!(program(&["simulate"], &[]).status.code(), Some(2));
    assert_eq!(program(&["--help"], &[]).status.code(), Some(0));
    let exhausted = crate::repository::root().join("tests/scenarios/example-node-exhausted/input");
    let exhausted = exhausted.display().to_string();
    assert_eq!(
        program(&["simulate", &exhausted], &[]).status.code(),
        Some(1)
    );
}

/// Neither stream is a terminal here.
#[test]
fn no_escape_codes_where_there_is_no_terminal() {
    let environments: [&[(&str, &str)]; 3] = [
        &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
        &[("NO_COLOR", "1"), ("TERM", "xterm-256color")],
        &[("NO_COLOR", ""), ("CLICOLOR", "1")],
    ];
    for environment in environments {
        for args in [
            &["simulate", &example()][..],
            &["simulate", "--nonsense"],
            &["simulate", "--help"],
        ] {
            let whole = program(args, environment);
            for stream in [&whole.stdout, &whole.stderr] {
                assert!(
                    !stream.contains(&0x1b),
                    "{args:?}: {}",
                    String::from_utf8_lossy(stream)
                );
            }
        }
    }
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child = Command::new(&*PROGRAM)
        .args(["simulate", "-o", "json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    // Nobody reads before it has anything to say.
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    for name in [
        "10-nodes.yaml",
        "20-deviceclass.yaml",
        "30-resourceslices.yaml",
        "40-gpu-test1.yaml",
    ] {
        let text = std::fs::read(format!("{}/{name}", example())).expect("a file of the example");
        stdin.write_all(&text).expect("it reads");
        stdin.write_all(b"\n---\n").expect("it reads");
    }
    drop(stdin);
    let ended = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!((ended.status.code(), stderr.as_ref()), (Some(0), ""));
}

#[test]
fn it_works_far_away_from_the_repository() {
    let folder = tempfile::tempdir().expect("a folder");
    let ended = Command::new(&*PROGRAM)
        .args([
            "simulate",
            &std::fs::canonicalize(example())
                .expect("it exists")
                .display()
                .to_string(),
        ])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .expect("it runs");
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
}
