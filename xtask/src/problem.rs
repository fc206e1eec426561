//! Why a command could not do its work. There is no way to make one without saying what to do next.

use std::fmt;
use std::path::Path;

/// What went wrong or is missing, and what to do about it.
#[derive(Debug)]
pub struct Problem {
    what: String,
    remedy: String,
}

/// The result of everything in this program that can fail.
pub type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    /// `what` is missing or failed; `remedy` is what the user can do.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        Problem {
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// A file operation that failed.
    pub fn file(doing: &str, path: &Path, error: &std::io::Error) -> Problem {
        let remedy = match error.kind() {
            std::io::ErrorKind::PermissionDenied => {
                "run this as the user who owns that folder, or install a toolchain of your own with rustup"
            }
            std::io::ErrorKind::StorageFull => "free some space (about 600 MB are needed)",
            _ => "check that path, then run the command again",
        };
        Problem::new(
            format!("cannot {doing} {}: {error}", path.display()),
            remedy,
        )
    }

    /// The same problem, met after something else had failed.
    pub fn after(self, earlier: &Problem) -> Problem {
        Problem {
            what: format!("{}; then {}", earlier.what, self.what),
            remedy: self.remedy,
        }
    }

    /// One line without the remedy, for a problem that is not the end.
    pub fn brief(&self) -> &str {
        &self.what
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\nto do: {}", self.what, self.remedy)
    }
}
