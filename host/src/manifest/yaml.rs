//! One YAML document: YAML 1.2 core schema, with bounds on nesting and on what aliases may expand to.

use serde_saphyr::{DefaultMessageFormatter, Error, MessageFormatter, Options, Spanned};

use super::documents::{Chunk, Document, MAX_DEPTH, Top};
use super::error::InputError;
use super::outline::Item;
use super::parallel;
use super::source::count_lines;

/// What aliases may add to the size of a document, however large it is.
const MAX_EXPANSION_BYTES: usize = 16 << 20;

/// Documents of this size are worth being taken apart.
const LONG: usize = 512 << 10;

/// Parses one document; `None` if it is empty. Its number is 1.
pub(super) fn parse(file: &str, chunk: Chunk<'_>) -> Result<Option<Document>, InputError> {
    if chunk.text.len() >= LONG
        && let Some(document) = parse_long_list(chunk)
    {
        return Ok(Some(document));
    }
    parse_whole(chunk).map_err(|error| explain(file, chunk, &error))
}

fn parse_whole(chunk: Chunk<'_>) -> Result<Option<Document>, Error> {
    let options = options(chunk.text.len());
    let parsed: Spanned<Top<Spanned<Item>>> =
        serde_saphyr::from_str_with_options(chunk.text, options)?;
    let line = line_of(chunk, &parsed);
    let item = |item: Spanned<Item>| {
        let line = line_of(chunk, &item);
        (item.value, line)
    };
    let top = parsed
        .value
        .try_map(|items| Ok::<_, Error>(items.into_iter().map(item).collect()))?;
    Ok(match top {
        Top::Other(serde_json::Value::Null) => None,
        top => Some(Document {
            number: 1,
            line,
            top,
        }),
    })
}

fn line_of<T>(chunk: Chunk<'_>, parsed: &Spanned<T>) -> usize {
    let line = usize::try_from(parsed.referenced.line()).unwrap_or_default();
    chunk.line + line.saturating_sub(1)
}

/// Parses a List with all its items apart, on all processors. `None` if anything is unusual: then the document is parsed as
/// a whole, which also explains what is wrong.
fn parse_long_list(chunk: Chunk<'_>) -> Option<Document> {
    let LongList { header, items } = LongList::find(chunk)?;
    let header = Chunk {
        text: &header,
        line: chunk.line,
    };
    let document = parse_whole(header).ok()??;
    let parse = |item: Chunk<'_>| {
        let options = options(item.text.len());
        let parsed: Vec<Spanned<Item>> =
            serde_saphyr::from_str_with_options(item.text, options).ok()?;
        let [parsed] = <[_; 1]>::try_from(parsed).ok()?;
        let line = line_of(item, &parsed);
        Some((parsed.value, line))
    };
    let parsed = parallel::map(items, |item| item.text.len(), parse);
    let items = parsed.into_iter().collect::<Option<Vec<_>>>()?;
    match document.top {
        Top::Mapping {
            entries,
            items: Some(none),
        } if none.is_empty() => Some(Document {
            top: Top::Mapping {
                entries,
                items: Some(items),
            },
            ..document
        }),
        _ => None,
    }
}

/// A List as `kubectl` writes it: `items:` on a line of its own, each item starting with a dash at the same indentation.
struct LongList<'a> {
    /// Everything but the items.
    header: String,
    items: Vec<Chunk<'a>>,
}

impl<'a> LongList<'a> {
    /// Finds the items by their indentation. A scalar that reaches over a line which looks like the start of an item makes
    /// that item, or the one before it, invalid.
    fn find(chunk: Chunk<'a>) -> Option<Self> {
        let text = chunk.text;
        let start = text.find("\nitems:\n").map(|at| at + "\nitems:\n".len())?;
        let indent = text[start..]
            .find('-')
            .filter(|at| text[start..start + at].bytes().all(|byte| byte == b' '))?;
        let first_line = chunk.line + count_lines(&text.as_bytes()[..start]);
        let mut items = Vec::new();
        let (mut item_start, mut item_line) = (start, first_line);
        let mut offset = start;
        for (number, line) in (first_line..).zip(text[start..].split_inclusive('\n')) {
            let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
            let content = line[spaces..].trim_end();
            let starts_item = spaces == indent && (content == "-" || content.starts_with("- "));
            if starts_item && offset > start {
                items.push(Chunk {
                    text: &text[item_start..offset],
                    line: item_line,
                });
                (item_start, item_line) = (offset, number);
            } else if !starts_item
                && spaces <= indent
                && !content.is_empty()
                && !content.starts_with('#')
            {
                if spaces > 0 {
                    return None;
                }
                break;
            }
            offset += line.len();
        }
        items.push(Chunk {
            text: &text[item_start..offset],
            line: item_line,
        });
        Some(Self {
            header: format!("{}{}", &text[..start], &text[offset..]),
            items,
        })
    }
}

/// Bounds for a document of this size. Values that come from aliases count each time; what they add must stay in proportion,
/// because a file may have many documents.
fn options(length: usize) -> Options {
    let values = length.saturating_mul(2).saturating_add(1000);
    let expansion = length
        .saturating_mul(32)
        .saturating_add(4096)
        .min(MAX_EXPANSION_BYTES);
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_events: values.saturating_mul(2),
            max_nodes: values,
            max_total_scalar_bytes: length.saturating_add(expansion),
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

#[cfg(test)]
mod tests;
