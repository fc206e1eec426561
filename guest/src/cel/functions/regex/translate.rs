//! RE2 syntax (as Go's regexp/syntax reads it) into that of the crate `regex`.

use std::iter::Peekable;
use std::str::Chars;

use super::refusal::Refusal;

/// RE2's limit for a repetition and for the product of nested ones.
const MOST_REPETITIONS: u32 = 1000;
const MOST_NESTED: usize = 1000;

/// Weight of a class by Unicode property, against 1 for an ASCII literal: about its states in UTF-8.
const PROPERTY_WEIGHT: u32 = 400;
/// Weight of everything else that stands for many characters.
const CLASS_WEIGHT: u32 = 8;

/// Translates a pattern. The weight is about the number of states that it will have, repetitions written out.
pub(super) fn translate(pattern: &str) -> Result<(String, u32), Refusal> {
    let mut translator = Translator {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 16),
        groups: vec![Group::default()],
        last: Last::Nothing,
        no_posix_class: false,
    };
    while let Some(c) = translator.rest.next() {
        translator.item(c)?;
    }
    match translator.groups.as_slice() {
        [whole] => Ok((translator.out, whole.weight)),
        _ => Err(Refusal::MissingParen),
    }
}

/// What a repetition operator would apply to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Item {
        /// How often parts of it repeat already, if it is a group.
        repeats: u32,
        weight: u32,
    },
    Repetition,
}

/// An open parenthesis: the most that something in it repeats, and its weight so far.
#[derive(Clone, Copy)]
struct Group {
    repeats: u32,
    weight: u32,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            repeats: 1,
            weight: 1,
        }
    }
}

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    groups: Vec<Group>,
    last: Last,
    /// Whether no `:]` follows any more, so that it is looked for once only.
    no_posix_class: bool,
}

impl Translator<'_> {
    fn item(&mut self, c: char) -> Result<(), Refusal> {
        match c {
            '\\' => {
                let weight = self.escape()?;
                self.one(weight);
            }
            '[' => {
                let weight = self.class()?;
                self.one(weight);
            }
            '(' => self.open()?,
            ')' => self.close()?,
            '|' => {
                self.out.push('|');
                self.last = Last::Nothing;
            }
            '*' | '+' | '?' => self.repeat(c.to_string(), 1)?,
            '{' => match self.counts() {
                Some((text, most)) => self.repeat(text, most?)?,
                None => self.literal('{'),
            },
            '^' | '$' | '.' => {
                self.out.push(c);
                self.one(CLASS_WEIGHT);
            }
            c => self.literal(c),
        }
        Ok(())
    }

    fn literal(&mut self, c: char) {
        push_literal(&mut self.out, c);
        self.one(1);
    }

    /// Notes an item, which a repetition may follow.
    fn one(&mut self, weight: u32) {
        self.last = Last::Item { repeats: 1, weight };
        self.add_weight(weight);
    }

    fn add_weight(&mut self, weight: u32) {
        if let Some(group) = self.groups.last_mut() {
            group.weight = group.weight.saturating_add(weight);
        }
    }

    /// A repetition operator, with the `?` that makes it lazy.
    fn repeat(&mut self, operator: String, most: u32) -> Result<(), Refusal> {
        let (inner, weight) = match self.last {
            Last::Nothing => return Err(Refusal::MissingRepeatArgument),
            Last::Repetition => return Err(Refusal::NestedRepeat),
            Last::Item { repeats, weight } => (repeats, weight),
        };
        let product = inner.saturating_mul(most.max(1));
        if product > MOST_REPETITIONS {
            return Err(Refusal::RepeatSize);
        }
        if let Some(group) = self.groups.last_mut() {
            group.repeats = group.repeats.max(product);
        }
        self.add_weight(weight.saturating_mul(most.saturating_sub(1)));
        self.out.push_str(&operator);
        if self.rest.peek() == Some(&'?') {
            self.rest.next();
            self.out.push('?');
        }
        self.last = Last::Repetition;
        Ok(())
    }

    /// Reads `n}`, `n,}` or `n,m}`; anything else leaves the brace a literal.
    fn counts(&mut self) -> Option<(String, Result<u32, Refusal>)> {
        let mut ahead = self.rest.clone();
        let body: String = ahead.by_ref().take_while(|c| *c != '}').take(64).collect();
        let (least, most) = match body.split_once(',') {
            Some((least, most)) => (
                count(least)?,
                if most.is_empty() {
                    None
                } else {
                    Some(count(most)?)
                },
            ),
            None => (count(&body)?, Some(count(&body)?)),
        };
        let closed = self.rest.clone().nth(body.chars().count()) == Some('}');
        if !closed || body.len() >= 64 {
            return None;
        }
        self.rest = ahead;
        let top = most.unwrap_or(least);
        let valid = least <= MOST_REPETITIONS && top <= MOST_REPETITIONS && top >= least;
        let text = format!("{{{body}}}");
        Some((
            text,
            if valid {
                Ok(top)
            } else {
                Err(Refusal::RepeatSize)
            },
        ))
    }

    fn open(&mut self) -> Result<(), Refusal> {
        if self.groups.len() > MOST_NESTED {
            return Err(Refusal::Nesting);
        }
        self.last = Last::Nothing;
        if self.rest.peek() != Some(&'?') {
            self.out.push('(');
            self.groups.push(Group::default());
            return Ok(());
        }
        self.rest.next();
        let head: String = self
            .rest
            .clone()
            .take_while(|c| !matches!(c, ')' | ':'))
            .take(200)
            .collect();
        let name = head
            .strip_prefix("P<")
            .or_else(|| head.strip_prefix('<'))
            .and_then(|n| n.split_once('>'));
        if let Some((name, _)) = name {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(Refusal::PerlOperator);
            }
            // Names have no use here; without them the crate cannot object to one that starts with a digit.
            while self.rest.next().is_some_and(|c| c != '>') {}
            self.out.push('(');
            self.groups.push(Group::default());
            return Ok(());
        }
        let valid = head.chars().all(|c| "imsU-".contains(c))
            && head.matches('-').count() <= 1
            && !head.ends_with('-');
        if !valid {
            return Err(Refusal::PerlOperator);
        }
        for _ in 0..head.len() {
            self.rest.next();
        }
        match self.rest.next() {
            Some(':') => {
                self.out.push_str(&format!("(?{head}:"));
                self.groups.push(Group::default());
            }
            // An empty set of flags is refused by both.
            Some(')') => self.out.push_str(&format!("(?{head})")),
            _ => return Err(Refusal::MissingParen),
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refusal> {
        if self.groups.len() < 2 {
            return Err(Refusal::UnexpectedParen);
        }
        let inner = self.groups.pop().unwrap_or_default();
        if let Some(outer) = self.groups.last_mut() {
            outer.repeats = outer.repeats.max(inner.repeats);
        }
        self.out.push(')');
        self.last = Last::Item {
            repeats: inner.repeats,
            weight: inner.weight,
        };
        self.add_weight(inner.weight);
        Ok(())
    }

    /// After a backslash outside of a class; returns the weight.
    fn escape(&mut self) -> Result<u32, Refusal> {
        let c = *self.rest.peek().ok_or(Refusal::TrailingBackslash)?;
        match c {
            'A' => self.out.push_str(r"\A"),
            'z' => self.out.push_str(r"\z"),
            'b' => self.out.push_str(r"(?-u:\b)"),
            'B' => self.out.push_str(r"\B"),
            'Q' => {
                self.rest.next();
                return Ok(self.quoted());
            }
            'p' | 'P' => {
                self.unicode_class()?;
                return Ok(PROPERTY_WEIGHT);
            }
            c => {
                let Some(class) = perl_class(c) else {
                    let literal = self.escaped_char()?;
                    push_literal(&mut self.out, literal);
                    return Ok(1);
                };
                self.out.push('[');
                self.out.push_str(class);
                self.out.push(']');
            }
        }
        self.rest.next();
        Ok(CLASS_WEIGHT)
    }

    /// `\Q...\E`: literal text.
    fn quoted(&mut self) -> u32 {
        let mut weight = 0;
        while let Some(c) = self.rest.next() {
            if c == '\\' && self.rest.peek() == Some(&'E') {
                self.rest.next();
                break;
            }
            push_literal(&mut self.out, c);
            weight += 1;
        }
        weight
    }

    /// `\pN` or `\p{Name}`, copied: both know the same general categories and scripts.
    fn unicode_class(&mut self) -> Result<(), Refusal> {
        let negated = self.rest.next() == Some('P');
        let name = match self.rest.next().ok_or(Refusal::CharRange)? {
            '{' => {
                let name: String = self.rest.by_ref().take_while(|c| *c != '}').collect();
                name
            }
            c => c.to_string(),
        };
        let (name, negated) = match name.strip_prefix('^') {
            Some(name) => (name.to_string(), !negated),
            None => (name, negated),
        };
        // RE2 knows neither properties with a value nor loose spelling.
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '_') {
            return Err(Refusal::CharRange);
        }
        let letter = if negated { 'P' } else { 'p' };
        self.out.push_str(&format!("\\{letter}{{{name}}}"));
        Ok(())
    }

    /// The character that an escape sequence means.
    fn escaped_char(&mut self) -> Result<char, Refusal> {
        let c = self.rest.next().ok_or(Refusal::TrailingBackslash)?;
        match c {
            'a' => Ok('\x07'),
            'f' => Ok('\x0c'),
            't' => Ok('\t'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            'v' => Ok('\x0b'),
            'x' => self.hexadecimal(),
            '0' => Ok(self.octal(0)),
            // A single digit would be a back-reference.
            '1'..='7' if self.rest.peek().is_some_and(|c| ('0'..='7').contains(c)) => {
                Ok(self.octal(c.to_digit(8).unwrap_or(0)))
            }
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => Ok(c),
            _ => Err(Refusal::Escape),
        }
    }

    fn octal(&mut self, first: u32) -> char {
        let mut value = first;
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            value = value * 8 + digit;
            self.rest.next();
        }
        char::from_u32(value).unwrap_or('\0')
    }

    fn hexadecimal(&mut self) -> Result<char, Refusal> {
        let digits: String = if self.rest.peek() == Some(&'{') {
            self.rest.next();
            self.rest
                .by_ref()
                .take_while(|c| *c != '}')
                .take(9)
                .collect()
        } else {
            self.rest.by_ref().take(2).collect()
        };
        let valid = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_hexdigit());
        let value = if valid {
            u32::from_str_radix(&digits, 16).ok()
        } else {
            None
        };
        value.and_then(char::from_u32).ok_or(Refusal::Escape)
    }

    /// A bracketed class, after its `[`; returns the weight.
    fn class(&mut self) -> Result<u32, Refusal> {
        self.out.push('[');
        if self.rest.peek() == Some(&'^') {
            self.rest.next();
            self.out.push('^');
        }
        let mut first = true;
        let mut weight = CLASS_WEIGHT;
        loop {
            match self.rest.next().ok_or(Refusal::MissingBracket)? {
                ']' if !first => break,
                '[' if self.rest.peek() == Some(&':') && self.posix_class()? => {}
                '\\' if self.rest.peek().is_some_and(|c| perl_class(*c).is_some()) => {
                    if let Some(class) = self.rest.next().and_then(perl_class) {
                        self.out.push('[');
                        self.out.push_str(class);
                        self.out.push(']');
                    }
                }
                '\\' if matches!(self.rest.peek(), Some('p' | 'P')) => {
                    self.unicode_class()?;
                    weight += PROPERTY_WEIGHT;
                }
                c => {
                    self.class_range(c)?;
                    weight += 1;
                }
            }
            first = false;
        }
        self.out.push(']');
        Ok(weight)
    }

    /// A character of a class, or a range that starts with it.
    fn class_range(&mut self, c: char) -> Result<(), Refusal> {
        let low = if c == '\\' { self.escaped_char()? } else { c };
        push_class_char(&mut self.out, low);
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.next(), Some(']') | None) {
            return Ok(());
        }
        self.rest.next();
        let high = match self.rest.next().ok_or(Refusal::MissingBracket)? {
            '\\' => self.escaped_char()?,
            c => c,
        };
        if high < low {
            return Err(Refusal::CharRange);
        }
        self.out.push('-');
        push_class_char(&mut self.out, high);
        Ok(())
    }

    /// `[:alpha:]` and its like, copied. What does not end in `:]` is literal characters.
    fn posix_class(&mut self) -> Result<bool, Refusal> {
        if self.no_posix_class {
            return Ok(false);
        }
        let rest: String = self.rest.clone().skip(1).collect();
        let Some((body, _)) = rest.split_once(":]") else {
            self.no_posix_class = true;
            return Ok(false);
        };
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "word", "xdigit",
        ];
        if !NAMES.contains(&body.strip_prefix('^').unwrap_or(body)) {
            return Err(Refusal::CharRange);
        }
        self.out.push_str(&format!("[:{body}:]"));
        for _ in 0..body.chars().count() + 3 {
            self.rest.next();
        }
        Ok(true)
    }
}

fn count(text: &str) -> Option<u32> {
    // Leading zeros are not a number for Go.
    let valid = text == "0" || (!text.starts_with('0') && !text.is_empty());
    (valid && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().unwrap_or(u32::MAX))
}

/// RE2's ASCII classes.
fn perl_class(c: char) -> Option<&'static str> {
    match c {
        'd' => Some("0-9"),
        'D' => Some("^0-9"),
        's' => Some(r"\t\n\x0C\r "),
        'S' => Some(r"^\t\n\x0C\r "),
        'w' => Some("0-9A-Za-z_"),
        'W' => Some("^0-9A-Za-z_"),
        _ => None,
    }
}

fn push_literal(out: &mut String, c: char) {
    if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' {
        out.push_str(&format!("\\x{:02X}", u32::from(c)));
    } else {
        out.push(c);
    }
}

/// Inside a class more than brackets is special to the crate: `&&`, `--`, `~~` and nested classes.
fn push_class_char(out: &mut String, c: char) {
    push_literal(out, c);
}
