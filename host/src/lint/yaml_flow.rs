//! Values within braces and brackets, which may go on over several lines, each with its path.

use super::yaml_slips::join;

/// Deeper ones are not followed: the reader refuses them.
const MAX_DEPTH: usize = 128;

/// How far the text was followed.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Collections that are open: path, and in a list the number of the entry.
    open: Vec<(String, Option<usize>)>,
    /// Where the next value stands.
    place: String,
    token: String,
    quote: Option<char>,
}

impl Flow {
    /// For a value at this path.
    pub(super) fn at(place: &str) -> Self {
        Self {
            place: place.to_owned(),
            ..Self::default()
        }
    }

    /// Whether a collection goes on.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Goes on with more text, to the end of the outermost collection.
    pub(super) fn feed(&mut self, text: &str, each: &mut dyn FnMut(&str, &str)) {
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            if let Some(quote) = self.quote {
                self.token.push(c);
                self.quote = (c != quote).then_some(quote);
                continue;
            }
            let is_start = self.token.trim().is_empty();
            let is_map = matches!(self.open.last(), Some((_, None)));
            let ends_key = || self.token.ends_with(['"', '\'']);
            match c {
                '"' | '\'' if is_start => {
                    self.quote = Some(c);
                    self.token.push(c);
                }
                '{' | '[' if is_start && self.open.len() == MAX_DEPTH => {
                    *self = Self::default();
                    return;
                }
                '{' | '[' if is_start => {
                    let number = (c == '[').then_some(0);
                    self.open.push((self.place.clone(), number));
                    self.next_place();
                }
                ':' if is_map && (characters.peek().is_none_or(|c| *c == ' ') || ends_key()) => {
                    if let Some((outer, _)) = self.open.last() {
                        self.place = join(outer, self.token.trim().trim_matches(['"', '\'']));
                    }
                    self.token.clear();
                }
                ',' | '}' | ']' if self.is_open() => {
                    if !self.token.trim().is_empty() {
                        each(&self.place, self.token.trim());
                    }
                    self.token.clear();
                    match (c, self.open.last_mut()) {
                        (',', Some((_, Some(number)))) => *number += 1,
                        (',', _) => {}
                        _ => _ = self.open.pop(),
                    }
                    self.next_place();
                }
                // A comment, to the end of the line.
                '#' if self.token.is_empty() || self.token.ends_with(' ') => break,
                c => self.token.push(c),
            }
            if !self.is_open() {
                self.token.clear();
                return;
            }
        }
        self.token.push(' ');
    }

    fn next_place(&mut self) {
        if let Some((outer, Some(number))) = self.open.last() {
            self.place = format!("{outer}[{number}]");
        }
    }
}
