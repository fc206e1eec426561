//! `-o json`.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a report, indented, with a line end.
pub fn write(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let json = serde_json::to_string_pretty(report)?;
    let mut rest = json.as_str();
    // JSON allows these as they are, but some of them mean something to terminals. They can only stand in strings.
    while let Some(at) = rest.find(|c| ('\u{7f}'..='\u{9f}').contains(&c)) {
        let (before, from) = rest.split_at(at);
        let mut characters = from.chars();
        let code = characters.next().map_or(0, u32::from);
        write!(out, "{before}\\u{code:04x}")?;
        rest = characters.as_str();
    }
    writeln!(out, "{rest}")
}
