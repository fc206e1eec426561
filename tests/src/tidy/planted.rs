//! A violation of each rule, planted where it must be found, beside the same text where it is allowed.

use super::rules::{OVERALL, PER_FILE};
use crate::repository::TextFile;

/// The names of the rules that a file with this text would break.
fn broken(path: &str, text: &str) -> Vec<&'static str> {
    let breaks = |rule: &&super::rules::Rule| {
        (rule.concerns)(path) && !(rule.violations)(path, text).is_empty()
    };
    PER_FILE
        .iter()
        .filter(breaks)
        .map(|rule| rule.name)
        .collect()
}

/// `text` breaks the one rule whose name contains `rule` at `path`, and no rule at `allowed`.
#[track_caller]
fn check(rule: &str, text: &str, path: &str, allowed: &str) {
    let text = if path.ends_with(".rs") {
        format!("//! What it does.\n{text}")
    } else {
        text.to_owned()
    };
    let found = broken(path, &text);
    assert!(
        found.len() == 1 && found[0].contains(rule),
        "at {path}: {found:?}"
    );
    assert_eq!(broken(allowed, &text), Vec::<&str>::new(), "at {allowed}");
}

#[test]
fn wasmtime_stays_in_the_plugin_folder() {
    let rule = "names wasmtime";
    check(
        rule,
        "use wasmtime::Store;\n",
        "host/src/scheduler.rs",
        "host/src/plugin/engine.rs",
    );
    check(
        rule,
        "use wasmtime::Store;\n",
        "host/src/plugin.rs",
        "host/src/plugin/engine.rs",
    );
    check(
        rule,
        "use wasmtime::Store;\n",
        "tests/src/swap.rs",
        "host/src/plugin/tests.rs",
    );
    assert!(
        broken("host/src/plugin.rs", "//! In wasmtime.\n").is_empty(),
        "a comment may say it"
    );
}

#[test]
fn bindings_stay_in_the_glue() {
    check(
        "generated bindings",
        "wit_bindgen::generate!();\n",
        "guest/src/plugin.rs",
        "guest/src/glue.rs",
    );
    check(
        "generated bindings",
        "use crate::glue::bindings;\n",
        "guest/src/lib.rs",
        "guest/src/glue.rs",
    );
}

#[test]
fn the_host_core_does_not_know_devices() {
    let text = "const GROUP: &str = \"resource.k8s.io\";\n";
    for allowed in [
        "host/src/stand_ins.rs",
        "host/src/stand_ins/defaults.rs",
        "host/src/report/table.rs",
        "host/src/cluster/tests.rs",
    ] {
        check(
            "resource.k8s.io",
            text,
            "host/src/cluster/store.rs",
            allowed,
        );
    }
    check(
        "resource.k8s.io",
        text,
        "host/src/reporting.rs",
        "host/src/report.rs",
    );
    let tested = format!("//! x\n#[cfg(test)]\nmod tests {{\n{text}}}\n");
    assert!(
        broken("host/src/cluster/store.rs", &tested).is_empty(),
        "tests need sample objects"
    );
}

#[test]
fn deciding_modules_do_no_io() {
    let rule = "do no I/O";
    check(
        rule,
        "use std::fs::File;\n",
        "guest/src/allocator/search.rs",
        "guest/src/plugin.rs",
    );
    check(
        rule,
        "use std::{fmt, env};\n",
        "guest/src/quantity.rs",
        "guest/src/quantities.rs",
    );
    check(
        rule,
        "use crate::host::{Host, Object};\n",
        "guest/src/cel.rs",
        "guest/src/cycle.rs",
    );
    check(
        rule,
        "fn f(host: &dyn crate::host::Host) {}\n",
        "guest/src/hints.rs",
        "guest/src/binding.rs",
    );
    check(
        rule,
        "use std::thread;\n",
        "guest/src/node_selector.rs",
        "guest/src/cel/tests.rs",
    );
    check(
        rule,
        "use std::process::exit;\n",
        "guest/src/semver.rs",
        "guest/src/semver/tests.rs",
    );
    check(
        rule,
        "use std::net::TcpStream;\n",
        "guest/src/cel/functions.rs",
        "guest/src/glue.rs",
    );
    let address = "//! What it does.\nuse std::net::IpAddr;\n";
    assert!(
        broken("guest/src/cel/functions.rs", address).is_empty(),
        "an address is a value"
    );
    assert!(
        broken("guest/src/hints.rs", "//! x\nuse crate::host::Object;\n").is_empty(),
        "values are welcome"
    );
}

#[test]
fn time_and_chance_come_from_the_host() {
    let rule = "clocks, sleeping and randomness";
    check(
        rule,
        "use std::time::Instant;\n",
        "host/src/queue.rs",
        "host/src/clock.rs",
    );
    check(
        rule,
        "let now = SystemTime::now();\n",
        "guest/src/cycle.rs",
        "tests/src/cli.rs",
    );
    check(
        rule,
        "std::thread::sleep(pause);\n",
        "host/src/cycle.rs",
        "host/src/plugin/engine.rs",
    );
    check(
        rule,
        "let mut rng = fastrand::Rng::new();\n",
        "host/src/api.rs",
        "host/src/api/tests.rs",
    );
    assert!(
        broken(
            "host/src/api.rs",
            "//! x\nlet rng = fastrand::Rng::with_seed(1);\n"
        )
        .is_empty()
    );
}

#[test]
fn order_is_never_random() {
    check(
        "random order",
        "let map = HashMap::new();\n",
        "guest/src/cluster.rs",
        "host/src/cluster.rs",
    );
}

#[test]
fn files_say_what_they_do() {
    assert_eq!(
        broken("host/src/api.rs", "use std::fmt;\n"),
        ["every Rust file begins by saying what it does"]
    );
    assert_eq!(broken("host/src/api.rs", "// A comment.\n").len(), 1);
}

#[test]
fn files_and_functions_stay_short() {
    let long = "const X: u8 = 0;\n".repeat(500);
    for path in [
        "host/src/api.rs",
        "host/src/api/tests.rs",
        "tests/src/cli.rs",
    ] {
        check("500 lines", &long, path, "tests/src/page.rs");
    }
    let body = "    step();\n";
    let function = |lines: usize| format!("pub fn f() {{\n{}}}\n", body.repeat(lines - 2));
    check(
        "80 lines",
        &function(81),
        "guest/src/cycle.rs",
        "guest/src/cycle/tests.rs",
    );
    assert!(broken("guest/src/cycle.rs", &format!("//! x\n{}", function(80))).is_empty());
    check(
        "150 lines",
        &"line\n".repeat(151),
        "ARCHITECTURE.md",
        "README.md",
    );
}

#[test]
fn nothing_is_left_unfinished() {
    for text in [
        "todo!()",
        "unimplemented!()",
        "dbg!(x)",
        "#[ignore]",
        "#[should_panic]",
        "// FIXME",
        "// XXX",
    ] {
        check(
            "unfinished",
            text,
            "host/src/api.rs",
            "tests/src/tidy/rules.rs",
        );
    }
}

#[test]
fn machine_paths_are_found() {
    for text in ["see /work/x", "/root/.cargo", "/home/me"] {
        check(
            "path of one machine",
            text,
            "README.md",
            "tests/scenarios/a/cluster.yaml",
        );
    }
}

#[test]
fn manifests_keep_crates_apart_and_linted() {
    let lints = "[lints]\nworkspace = true\n";
    check(
        "workspace's lints",
        "[package]\n",
        "guest/Cargo.toml",
        "tests/plugins/misbehaving/Cargo.toml",
    );
    let path = format!("[dependencies]\ndractl = {{ path = \"../host\" }}\n{lints}");
    check(
        "share no crate",
        &path,
        "guest/Cargo.toml",
        "tests/Cargo.toml",
    );
    check(
        "share no crate",
        &path,
        "host/Cargo.toml",
        "tests/Cargo.toml",
    );
}

#[test]
fn unsafe_code_is_counted() {
    let violations = |texts: &[&str]| {
        let file = |text: &&str| TextFile {
            path: "guest/src/glue.rs".to_owned(),
            text: (*text).to_owned(),
        };
        let files: Vec<TextFile> = texts.iter().map(file).collect();
        OVERALL
            .iter()
            .flat_map(|(_, violations)| violations(&files))
            .count()
    };
    let reasoned = "#[allow(unsafe_code, reason = \"generated\")]\n";
    assert_eq!(violations(&[reasoned]), 0);
    assert_eq!(violations(&[reasoned, reasoned]), 1);
    assert_eq!(violations(&["#![allow(missing_docs, unsafe_code)]\n"]), 1);
    assert_eq!(violations(&["#[expect(unsafe_code)]\n"]), 1);
    let broken_up = "#[allow(\n    unsafe_code,\n    reason = \"generated\"\n)]\n";
    assert_eq!(violations(&[broken_up]), 0);
    assert_eq!(violations(&[broken_up, broken_up]), 1);
}

/// A rule without a planted violation could never fail. Each test above quotes a part of its rule's name.
#[test]
fn no_rule_is_left_out() {
    let quoted: Vec<&str> = include_str!("planted.rs").split('"').collect();
    for rule in PER_FILE {
        let planted = |text: &&str| text.len() >= "80 lines".len() && rule.name.contains(*text);
        assert!(
            quoted.iter().any(planted),
            "nothing planted for: {}",
            rule.name
        );
    }
}
