//! `dractl` never holds a plugin that is older than its sources: a constant is changed in a copy of the workspace, and the
//! binary built there says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository;

/// The file and the start of the line that the test changes.
const CHANGED_FILE: &str = "guest/src/plugin/description.rs";
const CHANGED_LINE: &str = "pub const VERSION: &str =";

#[test]
fn a_changed_plugin_constant_shows_in_the_binary() {
    let outer = OuterBuild::of_this_test();
    // A fixed place, so that the second run of this test compiles only what the change touches.
    let copy = outer.target.join("stale-plugin-test");
    copy_workspace(&copy);
    for version in ["0.1.0-first", "0.1.0-second"] {
        change_version(&copy, version);
        let shown = outer.build_and_inspect(&copy);
        assert!(shown.contains(version), "{version} is not in:\n{shown}");
    }
}

/// The build that this test was compiled in: its dependencies are compiled already, with the same lock file and profile.
struct OuterBuild {
    target: PathBuf,
    profile_folder: String,
}

impl OuterBuild {
    fn of_this_test() -> OuterBuild {
        let executable = std::env::current_exe().expect("the test has a path");
        let target = executable
            .ancestors()
            .find(|folder| folder.join("CACHEDIR.TAG").is_file())
            .expect("cargo marks its folder for intermediate files");
        // TARGET/PROFILE/deps/NAME, with the machine's triple before PROFILE if one was asked for.
        let inside = executable
            .strip_prefix(target)
            .expect("found among the ancestors");
        let profile = inside
            .iter()
            .rev()
            .find(|name| *name == "release" || *name == "debug");
        OuterBuild {
            target: target.to_owned(),
            profile_folder: profile
                .expect("dev or release")
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// Builds `dractl` in the copy and asks it about its plugin.
    fn build_and_inspect(&self, copy: &Path) -> String {
        let finished = copy.join("finished");
        let mut cargo = Command::new(env!("CARGO"));
        // The whole workspace's features, or dependencies would be compiled again with fewer.
        cargo.args(["build", "--locked", "--workspace", "--bin", "dractl"]);
        if self.profile_folder == "release" {
            cargo.arg("--release");
        }
        let built = cargo
            .current_dir(copy)
            .env("CARGO_BUILD_BUILD_DIR", &self.target)
            .env("CARGO_TARGET_DIR", &finished)
            // cargo names intermediate files of workspace members by name and version, the same here and in the outer workspace,
            // and would take one for the other. A wrapper becomes part of those names, and of those names only.
            .env("RUSTC_WORKSPACE_WRAPPER", "env")
            .output()
            .expect("cargo runs");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let dractl = finished.join(&self.profile_folder).join("dractl");
        let inspected = Command::new(dractl)
            .args(["plugin", "inspect"])
            .output()
            .expect("dractl runs");
        assert!(
            inspected.status.success(),
            "{}",
            String::from_utf8_lossy(&inspected.stderr)
        );
        String::from_utf8(inspected.stdout).expect("the answer is text")
    }
}

/// Copies what git knows; unchanged files keep their place and time.
fn copy_workspace(copy: &Path) {
    let paths = repository::paths();
    for path in &paths {
        let (from, to) = (repository::root().join(path), copy.join(path));
        let mut new = std::fs::read(from).expect("a project file is readable");
        if path == "Cargo.toml" {
            new = without_optimisation(new);
        }
        if std::fs::read(&to).is_ok_and(|old| old == new) {
            continue;
        }
        std::fs::create_dir_all(to.parent().expect("files have folders"))
            .expect("the copy can be made");
        std::fs::write(&to, new).expect("the copy can be written");
    }
    remove_what_is_gone(copy, &paths);
}

/// What is built here answers one question about a constant, so compiling it must cost little. The dependencies of the host keep
/// their profile, or the outer build's could not be used.
fn without_optimisation(manifest: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(manifest).expect("a manifest is text");
    let quick = text.replace("lto = \"fat\"\n", "lto = \"off\"\nopt-level = 1\n");
    assert_ne!(quick, text, "the component's profile has changed");
    format!("{quick}\n[profile.release.package.dractl]\nopt-level = 0\n").into_bytes()
}

/// A source file that no longer exists must not linger in the copy.
fn remove_what_is_gone(copy: &Path, paths: &[String]) {
    let mut folders = ["guest", "host", "tests", "xtask", "wit"]
        .map(|name| copy.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path
                .strip_prefix(copy)
                .expect("below the copy")
                .to_string_lossy()
                .into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !paths.contains(&name) {
                std::fs::remove_file(&path).expect("the copy can be changed");
            }
        }
    }
}

fn change_version(copy: &Path, version: &str) {
    let path = copy.join(CHANGED_FILE);
    let text = std::fs::read_to_string(&path).expect("the changed file exists");
    let changed = with_version(&text, version).expect("the changed file has the line");
    std::fs::write(path, changed).expect("the copy can be written");
}

fn with_version(text: &str, version: &str) -> Option<String> {
    let start = text.find(CHANGED_LINE)?;
    let end = start + text[start..].find(';')?;
    Some(format!(
        "{}{CHANGED_LINE} {version:?}{}",
        &text[..start],
        &text[end..]
    ))
}

#[test]
fn the_line_to_change_is_found() {
    let text = "a\npub const VERSION: &str = env!(\"X\");\nb\n";
    assert_eq!(
        with_version(text, "2").unwrap(),
        "a\npub const VERSION: &str = \"2\";\nb\n"
    );
    assert_eq!(with_version("nothing", "2"), None);
}
