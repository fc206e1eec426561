//! Errors, warnings and places in the input.

use std::fmt;
use std::sync::Arc;

use crate::object::ObjectRef;

/// Where an object stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// File as the user named it, or `standard input`.
    pub file: Arc<str>,
    /// Number of the document in the file, from 1.
    pub document: usize,
    /// Line where the object starts, from 1.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The input as a whole cannot be used: exit status 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// File or directory; empty if the error is about no file in particular.
    pub file: String,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column, from 1; only together with a line.
    pub column: Option<usize>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl InputError {
    /// About a file as a whole.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: None,
            column: None,
            message: message.into(),
        }
    }

    /// About one place in a file.
    pub fn at(file: &str, line: usize, column: Option<usize>, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line: Some(line),
            column,
            message: message.into(),
        }
    }

    /// About the object that starts at `origin`.
    pub fn of_object(origin: &Origin, message: impl Into<String>) -> Self {
        Self::at(&origin.file, origin.line, None, message)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        if !self.file.is_empty() {
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for InputError {}

/// Something the user should know about an object that is used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `Kind namespace/name`, `Kind name`, or a file.
    pub object: String,
    /// What.
    pub message: String,
}

/// An object that cannot be used. The run goes on without it, and what needs it becomes an input error too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    /// Which object, as far as it could be read.
    pub object: ObjectRef,
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.origin, self.object, self.message)
    }
}
