//! Splits a text into documents and parses each one, as JSON where it is JSON and as YAML otherwise.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::error::InputError;
use super::outline::{Item, Outline, is_passed_on};
use super::{json, parallel, yaml};
use crate::object::tree::{Tree, TreeVisitor, insert_once};

/// Deepest nesting of mappings and lists. API objects stay far below; both parsers recurse.
pub(super) const MAX_DEPTH: usize = 64;

/// One document of a file.
#[derive(Debug)]
pub(super) struct Document {
    /// Number in the file, from 1; empty documents count.
    pub number: usize,
    /// Line where its content starts, from 1.
    pub line: usize,
    /// Content.
    pub top: Top<(Item, usize)>,
}

/// The top level of a document. `I` is an entry of `items`, in a form that still tells its line.
#[derive(Debug)]
pub(super) enum Top<I> {
    /// A mapping, with the list under `items` apart.
    Mapping {
        /// All other entries.
        entries: Map<String, Value>,
        /// Entries of the list under `items`.
        items: Option<Vec<I>>,
    },
    /// An object that is passed on.
    Object(Outline),
    /// Anything else.
    Other(Value),
}

impl<I> Top<I> {
    /// Translates the items.
    pub(super) fn try_map<J, E>(
        self,
        each: impl FnOnce(Vec<I>) -> Result<Vec<J>, E>,
    ) -> Result<Top<J>, E> {
        Ok(match self {
            Self::Mapping { entries, items } => Top::Mapping {
                entries,
                items: items.map(each).transpose()?,
            },
            Self::Object(outline) => Top::Object(outline),
            Self::Other(value) => Top::Other(value),
        })
    }
}

impl<'de, I: Deserialize<'de>> Deserialize<'de> for Top<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor(PhantomData))
    }
}

struct TopVisitor<I>(PhantomData<I>);

impl<'de, I: Deserialize<'de>> Visitor<'de> for TopVisitor<I> {
    type Value = Top<I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Top<I>, A::Error> {
        let mut entries = Map::new();
        let mut list = None;
        while let Some(key) = access.next_key::<String>()? {
            if list.is_none() && is_passed_on(&entries, &key) {
                return Outline::go_on(entries, key, access).map(Top::Object);
            }
            if key != "items" {
                let Tree(value) = access.next_value()?;
                insert_once(&mut entries, key, value)?;
                continue;
            }
            match access.next_value()? {
                Items::List(_) if list.is_some() => {
                    return Err(A::Error::custom("duplicate key \"items\""));
                }
                Items::List(items) => list = Some(items),
                Items::Other(value) => insert_once(&mut entries, key, value)?,
            }
        }
        Ok(Top::Mapping {
            entries,
            items: list,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Top<I>, A::Error> {
        TreeVisitor.visit_seq(access).map(Top::Other)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Top<I>, E> {
        TreeVisitor.visit_bool(value).map(Top::Other)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Top<I>, E> {
        TreeVisitor.visit_i64(value).map(Top::Other)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Top<I>, E> {
        TreeVisitor.visit_u64(value).map(Top::Other)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Top<I>, E> {
        TreeVisitor.visit_f64(value).map(Top::Other)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Top<I>, E> {
        TreeVisitor.visit_str(value).map(Top::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<Top<I>, E> {
        Ok(Top::Other(Value::Null))
    }
}

/// What stands under `items`.
enum Items<I> {
    List(Vec<I>),
    Other(Value),
}

impl<'de, I: Deserialize<'de>> Deserialize<'de> for Items<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemsVisitor(PhantomData))
    }
}

struct ItemsVisitor<I>(PhantomData<I>);

impl<'de, I: Deserialize<'de>> Visitor<'de> for ItemsVisitor<I> {
    type Value = Items<I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Items<I>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Items::List(items))
    }

    fn visit_unit<E>(self) -> Result<Items<I>, E> {
        Ok(Items::List(Vec::new()))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Items<I>, A::Error> {
        TreeVisitor.visit_map(access).map(Items::Other)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Items<I>, E> {
        TreeVisitor.visit_bool(value).map(Items::Other)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Items<I>, E> {
        TreeVisitor.visit_i64(value).map(Items::Other)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Items<I>, E> {
        TreeVisitor.visit_u64(value).map(Items::Other)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Items<I>, E> {
        TreeVisitor.visit_f64(value).map(Items::Other)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Items<I>, E> {
        TreeVisitor.visit_str(value).map(Items::Other)
    }
}

/// A part of a text, with the number of its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    pub text: &'a str,
    pub line: usize,
}

/// A part of a text that is no document.
#[derive(Debug)]
pub(super) struct Broken {
    /// Number in the file, from 1.
    pub number: usize,
    /// Line where it starts, from 1.
    pub line: usize,
    /// The text of it.
    pub text: String,
    /// What is wrong.
    pub error: InputError,
}

/// All documents of a text, in order, and in the place of each that cannot be parsed why not.
pub(super) fn parse(file: &str, text: &str) -> Vec<Result<Document, Broken>> {
    let whole = Chunk { text, line: 1 };
    if json::may_be_json(text) {
        // Several documents with separator lines are no JSON; each of them may be.
        if let Ok(documents) = json::parse(file, whole) {
            return documents.into_iter().map(Ok).collect();
        }
    }
    let parsed = parallel::map(
        split(text),
        |chunk| chunk.text.len(),
        |chunk| (chunk, parse_chunk(file, chunk)),
    );
    let mut documents = Vec::new();
    let mut before = 0;
    for (chunk, parsed) in parsed {
        match parsed {
            Ok(parsed) => {
                let count = parsed.len().max(1);
                documents.extend(parsed.into_iter().map(|document| {
                    Ok(Document {
                        number: document.number + before,
                        ..document
                    })
                }));
                before += count;
            }
            Err(error) => {
                before += 1;
                documents.push(Err(Broken {
                    number: before,
                    line: without_marker(chunk).line,
                    text: chunk.text.to_owned(),
                    error,
                }));
            }
        }
    }
    documents
}

/// Documents of a chunk, numbered from 1: several only if it is JSON.
fn parse_chunk(file: &str, chunk: Chunk<'_>) -> Result<Vec<Document>, InputError> {
    let content = without_marker(chunk);
    if content.text.is_empty() {
        return Ok(Vec::new());
    }
    parse_content(file, chunk, content).map_err(|mut error| {
        if content.text.contains("{{") {
            error
                .message
                .push_str("; if this is a template, render it first (helm template)");
        }
        error
    })
}

fn parse_content(
    file: &str,
    chunk: Chunk<'_>,
    content: Chunk<'_>,
) -> Result<Vec<Document>, InputError> {
    if !json::may_be_json(content.text) {
        return Ok(yaml::parse(file, chunk)?.into_iter().collect());
    }
    let (error, other_form) = match json::parse(file, content) {
        Ok(documents) => return Ok(documents),
        Err(failure) => failure,
    };
    if !other_form {
        return Err(error);
    }
    // A flow mapping of YAML looks like JSON up to its first plain scalar.
    match yaml::parse(file, chunk) {
        Ok(document) => Ok(document.into_iter().collect()),
        Err(_) if json::starts_like_json(content.text) => Err(error),
        Err(yaml_error) => Err(yaml_error),
    }
}

/// Drops the separator line's marker and comments before the content.
fn without_marker(chunk: Chunk<'_>) -> Chunk<'_> {
    let mut rest = chunk.text.strip_prefix("---").unwrap_or(chunk.text);
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']);
        match trimmed.strip_prefix('#') {
            Some(comment) => rest = comment.find('\n').map_or("", |end| &comment[end..]),
            None => {
                let skipped = chunk.text.len() - trimmed.len();
                let line =
                    chunk.line + super::source::count_lines(&chunk.text.as_bytes()[..skipped]);
                return Chunk {
                    text: trimmed,
                    line,
                };
            }
        }
    }
}

/// Splits at the lines that start and end YAML documents. Such lines end a document wherever they stand, scalars included.
fn split(text: &str) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let (mut start, mut start_line) = (0, 1);
    let (mut offset, mut has_content) = (0, false);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let end = offset + line.len();
        if is_marker(line, "---") && has_content {
            chunks.push(Chunk {
                text: &text[start..offset],
                line: start_line,
            });
            (start, start_line) = (offset, index + 1);
        } else if is_marker(line, "...") {
            if has_content {
                chunks.push(Chunk {
                    text: &text[start..end],
                    line: start_line,
                });
            }
            (start, start_line, has_content) = (end, index + 2, false);
            offset = end;
            continue;
        }
        has_content |= !is_prologue(line);
        offset = end;
    }
    if has_content {
        chunks.push(Chunk {
            text: &text[start..],
            line: start_line,
        });
    }
    chunks
}

/// Whether a line is `---` or `...`, alone or followed by something.
fn is_marker(line: &str, marker: &str) -> bool {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    line.strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// Whether a line may stand before the marker that starts its document.
fn is_prologue(line: &str) -> bool {
    let text = line.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']);
    text.is_empty() || text.starts_with('#') || line.starts_with('%')
}

#[cfg(test)]
mod tests;
