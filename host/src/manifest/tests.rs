//! Inputs as people give them: files, folders, lists, duplicates.

mod bad_input;
mod documents;
mod files;
mod objects;
mod random;

use std::fs;
use std::path::PathBuf;

use super::*;

/// Reads one text and keeps everything.
fn read_all(text: &str) -> Result<Input, InputError> {
    read_text("in.yaml", text, &|_| true)
}

fn ok(text: &str) -> Input {
    match read_all(text) {
        Ok(input) => input,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn names(input: &Input) -> Vec<String> {
    input
        .objects
        .iter()
        .map(|object| object.id().to_string())
        .collect()
}

fn lines(input: &Input) -> Vec<usize> {
    input.origins.iter().map(|origin| origin.line).collect()
}

fn messages(input: &Input) -> Vec<String> {
    input
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.object, warning.message))
        .collect()
}

fn errors(input: &Input) -> Vec<String> {
    input
        .object_errors
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// A directory that is removed afterwards.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("dractl-manifest-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("temporary directory");
        Self(path)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).expect("temporary file");
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
