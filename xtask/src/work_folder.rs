//! A folder for intermediate files that goes away with its owner.

use std::path::{Path, PathBuf};

use crate::problem::{Problem, Result};

/// Removed when dropped, whatever happened in between.
pub struct WorkFolder(PathBuf);

impl WorkFolder {
    /// A new, empty folder below the system's folder for temporary files.
    pub fn new(purpose: &str) -> Result<WorkFolder> {
        let base = std::env::temp_dir();
        // A folder that an earlier process with this id left behind, or that someone else made, is not used.
        for attempt in 0..100 {
            let path = base.join(format!("{purpose}.{}.{attempt}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(WorkFolder(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Problem::file("create", &path, &error)),
            }
        }
        let what = format!("{} is full of folders named {purpose}.*", base.display());
        Err(Problem::new(
            what,
            "remove them, or set TMPDIR to another folder",
        ))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Nothing depends on it, so nothing is lost but space.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_new_and_goes_away() {
        let first = WorkFolder::new("xtask-test").unwrap();
        let second = WorkFolder::new("xtask-test").unwrap();
        assert_ne!(first.path(), second.path());
        let path = first.path().to_owned();
        std::fs::write(path.join("file"), "x").unwrap();
        drop(first);
        assert!(!path.exists());
    }
}
