//! Each rule is a function on text, so that `planted` can show it a violation.

use super::source::{code, functions, lines_with, shipped, std_modules};
use crate::repository::TextFile;

/// A rule that each file keeps by itself.
pub struct Rule {
    /// What must hold.
    pub name: &'static str,
    /// The files that it is about, by path.
    pub concerns: fn(&str) -> bool,
    /// What breaks it in a file, given path and text.
    pub violations: fn(&str, &str) -> Vec<String>,
}

const MAX_FILE_LINES: usize = 500;
const MAX_FUNCTION_LINES: usize = 80;
const MAX_ARCHITECTURE_LINES: usize = 150;

/// Tests that are longer, because nobody has split them yet. There must not be more.
const LONG: [&str; 6] = [
    "tests/src/explain/published.rs",
    "tests/src/explain/together.rs",
    "tests/src/lint/limits.rs",
    "tests/src/lint/slips.rs",
    "tests/src/page.rs",
    "tests/src/page/explained.rs",
];

/// The files and folders that may look at the machine's clock or sleep, and why.
const CLOCKS: [&str; 2] = [
    // The stopwatch behind `--stats`, and the virtual clock.
    "host/src/clock.rs",
    // Measures the time inside the plugin for `--stats`; advances the epoch that ends a plugin's endless loop.
    "host/src/plugin/",
];

/// Parts of the plugin that decide from values alone.
const PURE: [&str; 6] = [
    "allocator",
    "cel",
    "quantity.rs",
    "semver.rs",
    "node_selector.rs",
    "hints.rs",
];

/// The rules that look at one file at a time.
pub const PER_FILE: &[Rule] = &[
    Rule {
        name: "only host/src/plugin/ names wasmtime",
        concerns: |path| is_rust(path) && !path.starts_with("host/src/plugin/") && !is_tidy(path),
        violations: |_, text| named(&code(text), &["wasmtime"]),
    },
    Rule {
        name: "only guest/src/glue.rs names the generated bindings",
        concerns: |path| is_rust(path) && path.starts_with("guest/") && path != "guest/src/glue.rs",
        violations: |_, text| named(&code(text), &["wit_bindgen", "crate::glue", "super::glue"]),
    },
    Rule {
        name: "in the host only stand_ins and report know resource.k8s.io",
        concerns: |path| {
            ships_in(path, "host")
                && !["stand_ins", "report"]
                    .iter()
                    .any(|part| belongs_to(path, "host", part))
        },
        violations: |_, text| named(&code(shipped(text)), &["resource.k8s.io"]),
    },
    Rule {
        name: "allocator, CEL, quantities, versions, node selectors and hints do no I/O",
        concerns: is_pure,
        violations: |_, text| no_io(&code(shipped(text))),
    },
    Rule {
        name: "clocks, sleeping and randomness come from the host's interfaces",
        concerns: |path| (ships_in(path, "guest") || ships_in(path, "host")) && !reads_clocks(path),
        violations: |_, text| {
            let code = code(shipped(text));
            named(
                &code,
                &[
                    "SystemTime",
                    "Instant",
                    "thread::sleep",
                    "RandomState",
                    "Rng::new",
                    "fastrand::seed",
                    "getrandom",
                ],
            )
        },
    },
    Rule {
        name: "no map of the plugin has a random order",
        concerns: |path| ships_in(path, "guest"),
        violations: |_, text| {
            let code = code(shipped(text));
            named(
                &code,
                &[
                    "HashMap::new",
                    "HashSet::new",
                    "HashMap::with_capacity",
                    "HashSet::with_capacity",
                    "HashMap::from",
                    "HashSet::from",
                ],
            )
        },
    },
    Rule {
        name: "every Rust file begins by saying what it does",
        concerns: |path| is_rust(path) && !is_test(path),
        violations: |_, text| complaint(!text.starts_with("//! "), "does not begin with `//! `"),
    },
    Rule {
        name: "files have at most 500 lines",
        concerns: |path| is_rust(path) && !LONG.contains(&path),
        violations: |_, text| {
            let lines = text.lines().count();
            complaint(lines > MAX_FILE_LINES, &format!("{lines} lines"))
        },
    },
    Rule {
        name: "functions have at most 80 lines, tests aside",
        concerns: |path| is_rust(path) && !is_test(path),
        violations: |_, text| long_functions(shipped(text)),
    },
    Rule {
        name: "ARCHITECTURE.md has at most 150 lines",
        concerns: |path| path == "ARCHITECTURE.md",
        violations: |_, text| {
            let lines = text.lines().count();
            complaint(lines > MAX_ARCHITECTURE_LINES, &format!("{lines} lines"))
        },
    },
    Rule {
        name: "nothing unfinished, and no test that does not test",
        concerns: |path| is_rust(path) && !is_tidy(path),
        violations: |_, text| {
            containing(
                text,
                &[
                    "todo!(",
                    "unimplemented!(",
                    "dbg!(",
                    "#[ignore",
                    "#[should_panic",
                    "FIXME",
                    "XXX",
                ],
            )
        },
    },
    Rule {
        name: "no path of one machine",
        concerns: |path| is_ours(path) && !is_tidy(path),
        violations: |_, text| containing(text, &["/work/", "/root/", "/home/"]),
    },
    Rule {
        name: "every crate has the workspace's lints",
        // Deeper ones are test components with a workspace of their own.
        concerns: |path| path.ends_with("/Cargo.toml") && path.matches('/').count() == 1,
        violations: |_, text| {
            complaint(
                !text.contains("[lints]\nworkspace = true\n"),
                "no `[lints]` with `workspace = true`",
            )
        },
    },
    Rule {
        name: "guest and host share no crate",
        concerns: |path| path == "guest/Cargo.toml" || path == "host/Cargo.toml",
        violations: |_, text| containing(text, &["path ="]),
    },
];

/// A rule about all files together: its name, and what breaks it.
type Overall = (&'static str, fn(&[TextFile]) -> Vec<String>);

/// The rules that need to see everything.
pub const OVERALL: &[Overall] = &[(
    "unsafe code is allowed at most once, with a reason",
    unsafe_allowances,
)];

fn unsafe_allowances(files: &[TextFile]) -> Vec<String> {
    let mut places = Vec::new();
    let mut broken = Vec::new();
    for file in files
        .iter()
        .filter(|file| is_rust(&file.path) && !is_tidy(&file.path))
    {
        let code = code(&file.text);
        for (at, _) in code.match_indices("unsafe_code") {
            let place = format!("{}:{}", file.path, code[..at].lines().count());
            if !attribute_around(&code, at).contains("reason = ") {
                broken.push(format!("{place}: no reason"));
            }
            places.push(place);
        }
    }
    if places.len() > 1 {
        broken.push(format!(
            "allowed {} times: {}",
            places.len(),
            places.join(", ")
        ));
    }
    broken
}

/// From the `#` before a place to the bracket after it; rustfmt breaks long ones into lines.
fn attribute_around(code: &str, at: usize) -> &str {
    let start = code[..at].rfind('#').unwrap_or(0);
    let end = code[at..].find(']').map_or(code.len(), |end| at + end);
    &code[start..end]
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// The files here name what they look for.
fn is_tidy(path: &str) -> bool {
    path.starts_with("tests/src/tidy")
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.starts_with("tests/")
}

fn ships_in(path: &str, krate: &str) -> bool {
    let inside = path
        .strip_prefix(krate)
        .is_some_and(|rest| rest.starts_with("/src/"));
    is_rust(path) && inside && !is_test(path)
}

fn reads_clocks(path: &str) -> bool {
    CLOCKS.iter().any(|place| path.starts_with(place))
}

/// `krate/src/part.rs` and everything in `krate/src/part/`.
fn belongs_to(path: &str, krate: &str, part: &str) -> bool {
    let rest = path
        .strip_prefix(krate)
        .and_then(|rest| rest.strip_prefix("/src/"));
    let rest = rest.and_then(|rest| rest.strip_prefix(part));
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn is_pure(path: &str) -> bool {
    let within = |part: &&str| match part.strip_suffix(".rs") {
        Some(_) => path == format!("guest/src/{part}"),
        None => belongs_to(path, "guest", part),
    };
    ships_in(path, "guest") && PURE.iter().any(within)
}

/// What people of this project wrote; recorded inputs say what they said.
fn is_ours(path: &str) -> bool {
    let text = [".rs", ".toml", ".md", ".wit", ".ci/run"]
        .iter()
        .any(|end| path.ends_with(end));
    text && !["tests/scenarios/", "tests/conformance/"]
        .iter()
        .any(|data| path.starts_with(data))
}

fn no_io(code: &str) -> Vec<String> {
    const DOORS: [&str; 5] = ["fs", "env", "process", "time", "thread"];
    // Addresses of std::net are values; these are its doors.
    const NET: [&str; 5] = [
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "ToSocketAddrs",
        "net::*",
    ];
    let mut broken: Vec<String> = std_modules(code)
        .into_iter()
        .filter(|module| DOORS.contains(&module.as_str()))
        .map(|module| format!("names std::{module}"))
        .collect();
    broken.extend(named(code, &NET));
    broken.extend(named(code, &["Host"]));
    broken
}

fn named(code: &str, words: &[&str]) -> Vec<String> {
    let found = |word: &&str| {
        lines_with(code, word)
            .into_iter()
            .map(|line| format!("line {line} names {word}"))
            .collect::<Vec<_>>()
    };
    words.iter().flat_map(found).collect()
}

fn containing(text: &str, patterns: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for pattern in patterns.iter().filter(|pattern| line.contains(**pattern)) {
            found.push(format!("line {} has {pattern}", index + 1));
        }
    }
    found
}

fn long_functions(text: &str) -> Vec<String> {
    let long = functions(text)
        .into_iter()
        .filter(|(_, lines)| *lines > MAX_FUNCTION_LINES);
    long.map(|(name, lines)| format!("{name} has {lines} lines"))
        .collect()
}

fn complaint(broken: bool, what: &str) -> Vec<String> {
    if broken {
        vec![what.to_owned()]
    } else {
        Vec::new()
    }
}
