//! The working tree that the tests look at.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One tracked (or not yet added) text file.
pub struct TextFile {
    /// Relative to the root, with `/`.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// The root of the working tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A path that a user gave: relative to where the tests run, or else to the root of the working tree.
pub fn given(path: impl Into<PathBuf>) -> PathBuf {
    let path = path.into();
    match path.exists() {
        true => path,
        false => root().join(path),
    }
}

/// The files that belong to the project, as git sees it: tracked, or new and not ignored.
pub fn paths() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .expect("git runs");
    assert!(
        listed.status.success(),
        "git ls-files: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    let listed = String::from_utf8(listed.stdout).expect("paths are text");
    let present = |path: &&str| root().join(path).is_file();
    let mut paths: Vec<String> = listed.lines().filter(present).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    assert!(
        paths.len() > 20,
        "only {} files: is this a checkout?",
        paths.len()
    );
    paths
}

/// Those that are text.
pub fn text_files() -> Vec<TextFile> {
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(TextFile { path, text })
    };
    paths().into_iter().filter_map(read).collect()
}
