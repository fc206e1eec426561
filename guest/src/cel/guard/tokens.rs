//! The tokens of CEL's grammar, cut exactly as the parser's own lexer does. What is no token is found here: behind it the
//! two could disagree about what is text and what is code.

/// What a token is, as far as the limits care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) enum Kind {
    Space,
    Comment,
    /// Of a string or of bytes.
    Text,
    Number,
    /// A name or keyword.
    Word,
    /// An operator or bracket of this length.
    Sign,
}

/// Kind and end of the token that starts at `at`.
///
/// # Errors
/// The end of what is none: the first character that cannot be part of a token is included.
pub(in crate::cel) fn next(text: &str, at: usize) -> Result<(Kind, usize), usize> {
    let rest = &text.as_bytes()[at..];
    let (kind, length) = match rest {
        [b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', ..] => (Kind::Space, Ok(1)),
        [b'/', b'/', ..] => (Kind::Comment, Ok(run(rest, |b| b != b'\n'))),
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => (Kind::Number, Ok(number(rest))),
        [b'`', ..] => (Kind::Word, escaped_name(rest)),
        _ => match prefix(rest) {
            Some((prefix, raw)) => (
                Kind::Text,
                literal(&rest[prefix..], raw)
                    .map(|n| n + prefix)
                    .map_err(|n| n + prefix),
            ),
            None if is_letter(rest[0]) => (Kind::Word, Ok(run(rest, is_name))),
            None => (Kind::Sign, sign(rest)),
        },
    };
    match length {
        Ok(length) => Ok((kind, at + length)),
        Err(length) => {
            let mut end = (at + length + 1).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            Err(end)
        }
    }
}

fn run(bytes: &[u8], part: fn(u8) -> bool) -> usize {
    bytes.iter().position(|b| !part(*b)).unwrap_or(bytes.len())
}

fn is_letter(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

fn is_digit(b: u8) -> bool {
    b.is_ascii_digit()
}

fn is_hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

/// Digits with fraction and exponent, or hexadecimal ones, with the suffix of an unsigned integer.
fn number(bytes: &[u8]) -> usize {
    let unsigned = |end: usize| end + usize::from(matches!(bytes.get(end), Some(b'u' | b'U')));
    if let [b'0', b'x', digits @ ..] = bytes
        && run(digits, is_hex) > 0
    {
        return unsigned(2 + run(digits, is_hex));
    }
    let whole = run(bytes, is_digit);
    let fraction = match &bytes[whole..] {
        [b'.', rest @ ..] if run(rest, is_digit) > 0 => 1 + run(rest, is_digit),
        _ => 0,
    };
    let end = whole + fraction;
    let exponent = match &bytes[end..] {
        [b'e' | b'E', b'+' | b'-', rest @ ..] if run(rest, is_digit) > 0 => 2 + run(rest, is_digit),
        [b'e' | b'E', rest @ ..] if run(rest, is_digit) > 0 => 1 + run(rest, is_digit),
        _ => 0,
    };
    if fraction + exponent == 0 {
        unsigned(end)
    } else {
        end + exponent
    }
}

/// A name in backticks, which the grammar has and the dialect refuses.
fn escaped_name(bytes: &[u8]) -> Result<usize, usize> {
    let part = |b: u8| is_name(b) || b". -/".contains(&b);
    let end = 1 + run(&bytes[1..], part);
    match bytes.get(end) {
        Some(b'`') if end > 1 => Ok(end + 1),
        _ => Err(end),
    }
}

/// Length of the prefix of a literal, and whether it is a raw one.
fn prefix(bytes: &[u8]) -> Option<(usize, bool)> {
    match bytes {
        [b'"' | b'\'', ..] => Some((0, false)),
        [b'b' | b'B', b'"' | b'\'', ..] => Some((1, false)),
        [b'r' | b'R', b'"' | b'\'', ..] => Some((1, true)),
        [b'b' | b'B', b'r' | b'R', b'"' | b'\'', ..] => Some((2, true)),
        _ => None,
    }
}

/// Length of a quoted literal.
fn literal(bytes: &[u8], raw: bool) -> Result<usize, usize> {
    let quote = bytes[0];
    let long = bytes.starts_with(&[quote; 3]);
    let ends = |at: usize| match long {
        true => bytes[at..].starts_with(&[quote; 3]),
        false => bytes[at] == quote,
    };
    let delimiter = if long { 3 } else { 1 };
    let mut at = delimiter;
    while at < bytes.len() {
        if ends(at) {
            return Ok(at + delimiter);
        }
        at += match bytes[at] {
            b'\\' if !raw => escape(&bytes[at + 1..])
                .map(|n| n + 1)
                .map_err(|n| at + 1 + n)?,
            b'\n' | b'\r' if !long => return Err(at),
            _ => 1,
        };
    }
    Err(at)
}

/// Length of what follows a backslash.
fn escape(bytes: &[u8]) -> Result<usize, usize> {
    let digits = |count: usize, part: fn(u8) -> bool| {
        let found = run(&bytes[1..], part).min(count);
        if found == count {
            Ok(1 + count)
        } else {
            Err(1 + found)
        }
    };
    match bytes.first() {
        Some(
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`',
        ) => Ok(1),
        Some(b'x' | b'X') => digits(2, is_hex),
        Some(b'u') => digits(4, is_hex),
        Some(b'U') => digits(8, is_hex),
        Some(b'0'..=b'3') => digits(2, |b| matches!(b, b'0'..=b'7')),
        _ => Err(0),
    }
}

/// Length of an operator or bracket.
fn sign(bytes: &[u8]) -> Result<usize, usize> {
    match bytes {
        [b'&', b'&', ..] | [b'|', b'|', ..] => Ok(2),
        [b'=' | b'!' | b'<' | b'>', b'=', ..] => Ok(2),
        [b'&' | b'|' | b'=', ..] => Err(1),
        [b, ..] if b"[]{}().,-!?:+*/%<>".contains(b) => Ok(1),
        _ => Err(0),
    }
}
