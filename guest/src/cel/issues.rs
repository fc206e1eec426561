//! Errors in an expression, printed as cel-go does: place, message, the source line and a caret.

use cel_interpreter::common::ast::SourceInfo;

/// Errors that are reported.
pub(crate) const MOST_ISSUES: usize = 10;

/// Errors found so far, with the offset that each is about.
#[derive(Default)]
pub(crate) struct Issues(Vec<(u32, String)>);

impl Issues {
    pub(crate) fn report(&mut self, info: &SourceInfo, id: u64, message: String) {
        // After enough errors nobody reads on, and each repeats its source line.
        if self.0.len() < MOST_ISSUES {
            self.0
                .push((info.offset_for(id).map_or(0, |(start, _)| start), message));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All errors in the order of their places.
    pub(crate) fn display(&self, source: &str) -> String {
        let mut sorted: Vec<&(u32, String)> = self.0.iter().collect();
        sorted.sort_by_key(|(offset, _)| *offset);
        let blocks: Vec<String> = sorted
            .into_iter()
            .map(|(offset, message)| at_offset(source, *offset, message))
            .collect();
        blocks.join("\n")
    }
}

/// An error with its offset in the source.
pub(crate) fn at_offset(source: &str, offset: u32, message: &str) -> String {
    let offset = (offset as usize).min(source.len());
    let head = source.get(..offset).unwrap_or_default();
    let (line, column) = (
        head.matches('\n').count() + 1,
        head.chars().rev().take_while(|c| *c != '\n').count() + 1,
    );
    at(source, line, column, message)
}

/// An error with its place in the source.
pub(crate) fn at(source: &str, line: usize, column: usize, message: &str) -> String {
    let text = source
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    let dots = ".".repeat(column.saturating_sub(1));
    format!("ERROR: <input>:{line}:{column}: {message}\n | {text}\n | {dots}^")
}
