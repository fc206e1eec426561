//! Findings for people: object, then path, sentence and remedy, within 100 columns.

use std::io::{self, Write};

use super::{Report, Subject, name_of};
use crate::plugin::Severity;
use crate::report::table::{Colour, printable};

/// Columns of a line.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Writes everything.
pub fn write(report: &Report, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    if report.findings.is_empty() {
        return writeln!(
            out,
            "nothing found in {}",
            count(report.summary.objects, "object")
        );
    }
    for (i, group) in report
        .findings
        .chunk_by(|a, b| (&a.object, &a.origin) == (&b.object, &b.origin))
        .enumerate()
    {
        if i > 0 {
            writeln!(out)?;
        }
        let first = &group[0];
        let has_name = !first.object.name.is_empty();
        let object = printable(&first.object.to_string());
        match &first.origin {
            Some(origin) if first.object == Subject::default() => writeln!(out, "{origin}")?,
            Some(origin) if !has_name => writeln!(out, "{object} without a name ({origin})")?,
            None if first.object == Subject::default() => writeln!(out, "the input")?,
            Some(origin) => writeln!(out, "{object} ({origin})")?,
            None => writeln!(out, "{object}")?,
        }
        for finding in group {
            let severity = painted(finding.severity, colour);
            match finding.path.is_empty() {
                true => writeln!(out, "  {severity}")?,
                false => writeln!(out, "  {severity} {}", printable(&finding.path))?,
            }
            wrapped(&finding.message, "", out)?;
            if !finding.remedy.is_empty() {
                wrapped(&finding.remedy, "-> ", out)?;
            }
        }
    }
    Ok(())
}

/// `2 errors, 1 warning and 3 hints in 14 objects`.
pub(crate) fn summary(report: &Report) -> String {
    let summary = &report.summary;
    format!(
        "{}, {} and {} in {}",
        count(summary.errors, "error"),
        count(summary.warnings, "warning"),
        count(summary.hints, "hint"),
        count(summary.objects, "object")
    )
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

fn painted(severity: Severity, colour: Colour) -> String {
    let name = name_of(severity);
    let code = match (colour, severity) {
        (Colour::Off, _) | (_, Severity::Hint) => return name.to_owned(),
        (Colour::On, Severity::Error) => "31",
        (Colour::On, Severity::Warning) => "33",
    };
    format!("\u{1b}[{code}m{name}\u{1b}[0m")
}

/// Breaks at spaces; a word that is longer than a line stays whole, so that it can be copied.
fn wrapped(text: &str, lead: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut line = format!("{:INDENT$}{lead}", "");
    let begin = line.chars().count();
    let mut column = begin;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > begin && column + 1 + length > WIDTH {
            writeln!(out, "{line}")?;
            line = " ".repeat(begin);
            column = begin;
        }
        if column > begin {
            line.push(' ');
            column += 1;
        }
        line.push_str(word);
        column += length;
    }
    writeln!(out, "{line}")
}
