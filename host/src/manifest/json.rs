//! JSON: one document or several, one after another. Entries of a list are found first and parsed one by one, so that each
//! has its line.

use serde_json::error::Category;
use serde_json::value::RawValue;

use super::documents::{Chunk, Document, Top};
use super::error::InputError;
use super::outline::Item;
use super::parallel;
use super::source::count_lines;
use crate::object::tree::type_name;

/// Whether a text starts like a mapping or a list of JSON.
pub(super) fn may_be_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Whether a text can hardly be anything but JSON.
pub(super) fn starts_like_json(text: &str) -> bool {
    text.trim_start()
        .strip_prefix(['{', '['])
        .is_some_and(|rest| rest.trim_start().starts_with(['"', '{', '[', '}']))
}

/// Why a text is not JSON, and whether reading it as YAML may do better.
type Failure = (InputError, bool);

/// Documents of a JSON text, numbered from 1.
pub(super) fn parse(file: &str, chunk: Chunk<'_>) -> Result<Vec<Document>, Failure> {
    let place = Place {
        file,
        text: chunk.text,
    };
    let mut lines = Lines {
        text: chunk.text,
        offset: 0,
        line: chunk.line,
    };
    let mut stream = serde_json::Deserializer::from_str(chunk.text).into_iter::<Top<&RawValue>>();
    let mut documents = Vec::new();
    loop {
        let before = stream.byte_offset();
        let Some(top) = stream.next() else {
            return Ok(documents);
        };
        let top = top.map_err(|error| place.failure(chunk.line, 0, &error))?;
        let start = before + leading_blanks(&chunk.text[before..]);
        let line = lines.at(start);
        let top = top.try_map(|items| place.items(items, &mut lines))?;
        if let Top::Other(value) = &top {
            let message = format!("{} where an object is expected", type_name(value));
            return Err((InputError::at(file, line, None, message), !value.is_array()));
        }
        documents.push(Document {
            number: documents.len() + 1,
            line,
            top,
        });
    }
}

fn leading_blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// A text for messages.
struct Place<'a> {
    file: &'a str,
    text: &'a str,
}

impl Place<'_> {
    /// Parses the entries of a list.
    fn items(
        &self,
        items: Vec<&RawValue>,
        lines: &mut Lines<'_>,
    ) -> Result<Vec<(Item, usize)>, Failure> {
        let with_place = |raw: &RawValue| {
            // Raw values are borrowed from the text.
            let offset = (raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
            (raw.get().len(), offset, lines.at(offset))
        };
        let places: Vec<_> = items.into_iter().map(with_place).collect();
        let parse = |(length, offset, line): (usize, usize, usize)| {
            let text = self.text.get(offset..offset + length).unwrap_or_default();
            match serde_json::from_str::<Item>(text) {
                Ok(item) => Ok((item, line)),
                Err(error) => Err(self.failure(line, offset, &error)),
            }
        };
        parallel::map(places, |(length, ..)| *length, parse)
            .into_iter()
            .collect()
    }

    /// An error in the part of the text that starts at `offset`, in line `line`.
    fn failure(&self, line: usize, offset: usize, error: &serde_json::Error) -> Failure {
        let (error_line, mut column) = (error.line().max(1), error.column());
        if error_line == 1 {
            let before = self.text.get(..offset).unwrap_or_default();
            column += offset - before.rfind('\n').map_or(0, |end| end + 1);
        }
        let full = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let reason = full.strip_suffix(&suffix).unwrap_or(&full);
        let too_deep = reason.starts_with("recursion limit exceeded");
        let message = match error.classify() {
            _ if too_deep => "mappings and lists are nested too deeply".to_owned(),
            Category::Eof => format!("the JSON ends too early ({reason}); was the file cut off?"),
            _ => format!("not valid JSON: {reason}"),
        };
        let other_form = error.classify() == Category::Syntax && !too_deep;
        (
            InputError::at(
                self.file,
                line + error_line - 1,
                Some(column.max(1)),
                message,
            ),
            other_form,
        )
    }
}

/// Counts lines up to offsets that only grow.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> usize {
        let between = self
            .text
            .as_bytes()
            .get(self.offset..offset)
            .unwrap_or_default();
        self.line += count_lines(between);
        self.offset = self.offset.max(offset);
        self.line
    }
}
