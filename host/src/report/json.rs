//! `-o json`.

use std::io::{self, Write};

use super::Report;

/// Writes the report, indented, with a line end.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}
