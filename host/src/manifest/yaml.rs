//! One YAML document: YAML 1.2 core schema, with bounds on nesting and on what aliases may expand to.

use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter, Options, Spanned};

use super::documents::{Chunk, Document, MAX_DEPTH, Top};
use super::error::InputError;
use super::tree::Tree;

/// What aliases may add to the size of a document.
const EXPANSION_BYTES: usize = 16 << 20;
/// What aliases may add to the number of values in a document.
const EXPANSION_VALUES: usize = 1 << 16;

/// Parses one document; `None` if it is empty. Its number is 1.
pub(super) fn parse(file: &str, chunk: Chunk<'_>) -> Result<Option<Document>, InputError> {
    let parsed: Spanned<Top<Spanned<Tree>>> =
        serde_saphyr::from_str_with_options(chunk.text, options(chunk.text.len()))
            .map_err(|error| explain(file, chunk, &error))?;
    let line_of = |location: serde_saphyr::Location| {
        let line = usize::try_from(location.line()).unwrap_or_default();
        chunk.line + line.saturating_sub(1)
    };
    let line = line_of(parsed.referenced);
    let item = |item: Spanned<Tree>| (item.value.0, line_of(item.referenced));
    let top = parsed
        .value
        .try_map(|items| Ok::<_, InputError>(items.into_iter().map(item).collect()))?;
    Ok(match top {
        Top::Other(serde_json::Value::Null) => None,
        top => Some(Document {
            number: 1,
            line,
            top,
        }),
    })
}

/// Bounds for a document of this size. Values that come from aliases count each time.
fn options(length: usize) -> Options {
    let values = length.saturating_add(EXPANSION_VALUES);
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_events: values.saturating_mul(2),
            max_nodes: values,
            max_total_scalar_bytes: length.saturating_add(EXPANSION_BYTES),
            max_documents: 1,
        },
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    }
}

fn explain(file: &str, chunk: Chunk<'_>, error: &Error) -> InputError {
    let error = error.without_snippet();
    let message = reason(error);
    let Some(location) = error.location() else {
        return InputError::at(file, chunk.line, None, message);
    };
    let line = usize::try_from(location.line()).unwrap_or(1).max(1);
    let column = usize::try_from(location.column()).ok();
    InputError::at(file, chunk.line + line - 1, column, message)
}

/// The parser's reason, in our words where a bound was reached: inside an alias only the text tells that.
fn reason(error: &Error) -> String {
    if let Error::DuplicateMappingKey { key: Some(key), .. } = error {
        let joined = matches!(key.as_str(), "apiVersion" | "kind" | "metadata");
        let hint = if joined {
            "; put --- between two objects"
        } else {
            ""
        };
        return format!("not valid YAML: duplicate key {key:?}{hint}");
    }
    let text = DefaultMessageFormatter.format_message(error);
    if text.contains("recursion limit") || text.contains("breached: Depth") {
        return format!("mappings and lists are nested too deeply (more than {MAX_DEPTH} levels)");
    }
    let bound_reached = matches!(
        error,
        Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
    );
    if bound_reached || text.contains("budget breached") || text.contains("limit exceeded") {
        return "the aliases of this document expand to too much; write them out, or split the file".to_owned();
    }
    format!("not valid YAML: {text}")
}
