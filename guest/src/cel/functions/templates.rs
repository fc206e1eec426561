//! `format`: the text of the strings extension's templates, and their check at compile time.

use super::convert::{double_text, plain_text};
use super::strings::quote;
use super::{new_string, no_overload};
use crate::cel::eval::Run;
use crate::cel::time;
use crate::cel::value::{Fail, Key, Outcome, Value};

/// Digits after the point where none are asked for.
const PRECISION: usize = 6;
/// cel-go has no bound; the result would be all zeros.
const MOST_PRECISION: usize = 1000;

/// A piece of a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Text(&'t str),
    /// Verb and precision.
    Clause(char, Option<usize>),
}

/// Cuts a template into pieces.
///
/// # Errors
/// For an unknown or unfinished clause.
pub(crate) fn pieces(template: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(at) = rest.find('%') {
        pieces.push(Piece::Text(&rest[..at]));
        rest = &rest[at + 1..];
        if let Some(tail) = rest.strip_prefix('%') {
            pieces.push(Piece::Text("%"));
            rest = tail;
            continue;
        }
        let mut precision = None;
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(tail.len());
            let digits = tail[..end]
                .parse()
                .map_err(|_| "error while parsing precision: invalid syntax".to_string())?;
            precision = Some(digits);
            rest = &tail[end..];
        }
        let Some(verb) = rest.chars().next() else {
            return Err("unexpected end of string".to_string());
        };
        if !"sdfebxXo".contains(verb) {
            return Err(format!(
                "could not parse formatting clause: unrecognized formatting clause {verb:?}"
            ));
        }
        pieces.push(Piece::Clause(verb, precision));
        rest = &rest[verb.len_utf8()..];
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// Whether a clause takes a value of a type; the names are those of the checker.
pub(crate) fn clause_takes(verb: char, type_name: &str) -> bool {
    let base = type_name.split('(').next().unwrap_or(type_name);
    matches!(base, "dyn" | "any" | "!error!")
        || match verb {
            'd' => matches!(base, "int" | "uint"),
            'f' | 'e' => matches!(base, "double" | "string"),
            'b' => matches!(base, "int" | "uint" | "bool"),
            'x' | 'X' => matches!(base, "int" | "uint" | "string" | "bytes"),
            'o' => matches!(base, "int" | "uint"),
            _ => matches!(
                base,
                "list"
                    | "map"
                    | "int"
                    | "uint"
                    | "double"
                    | "bool"
                    | "string"
                    | "timestamp"
                    | "bytes"
                    | "duration"
                    | "type"
                    | "null"
            ),
        }
}

/// What cel-go says about a value that a clause does not take.
pub(crate) fn clause_refusal(verb: char, type_name: &str) -> String {
    let (name, takes) = match verb {
        'd' => ("decimal clause", "integers"),
        'f' => ("fixed-point clause", "doubles"),
        'e' => ("scientific clause", "doubles"),
        'b' => ("binary clause", "integers and bools"),
        'x' | 'X' => ("hex clause", "integers, byte buffers, and strings"),
        'o' => ("octal clause", "integers"),
        _ => {
            return format!(
                "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
                 lists, types, durations, and timestamps, was given {type_name}"
            );
        }
    };
    format!("error during formatting: {name} can only be used on {takes}, was given {type_name}")
}

pub(super) fn format(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::String(template), Value::List(values)] = args else {
        return no_overload();
    };
    run.budget.memory(template.len())?;
    let pieces = pieces(template).map_err(Fail::new)?;
    let mut text = String::new();
    let mut next = 0;
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Clause(verb, precision) => {
                let value = values
                    .get(next)
                    .ok_or_else(|| Fail::new(format!("index {next} out of range")))?;
                next += 1;
                clause(run, &mut text, verb, precision, value)?;
            }
        }
    }
    new_string(run, &text)
}

fn clause(
    run: &mut Run<'_>,
    text: &mut String,
    verb: char,
    precision: Option<usize>,
    value: &Value,
) -> Result<(), Fail> {
    let digits = precision.unwrap_or(PRECISION).min(MOST_PRECISION);
    run.budget.memory(digits)?;
    let formatted = match (verb, value) {
        ('s', value) => return write_value(run, text, value, false),
        ('d', Value::Int(i)) => i.to_string(),
        ('d', Value::Uint(u)) => u.to_string(),
        ('f' | 'e', Value::Double(d)) => float(verb, digits, *d),
        ('f' | 'e', Value::String(s)) if matches!(&**s, "NaN" | "Infinity" | "-Infinity") => {
            s.to_string()
        }
        ('b', Value::Int(i)) => signed(*i, format!("{:b}", i.unsigned_abs())),
        ('b', Value::Uint(u)) => format!("{u:b}"),
        ('b', Value::Bool(b)) => u8::from(*b).to_string(),
        ('o', Value::Int(i)) => signed(*i, format!("{:o}", i.unsigned_abs())),
        ('o', Value::Uint(u)) => format!("{u:o}"),
        ('x', Value::Int(i)) => signed(*i, format!("{:x}", i.unsigned_abs())),
        ('X', Value::Int(i)) => signed(*i, format!("{:X}", i.unsigned_abs())),
        ('x', Value::Uint(u)) => format!("{u:x}"),
        ('X', Value::Uint(u)) => format!("{u:X}"),
        ('x' | 'X', Value::String(s)) => hex(run, verb, s.as_bytes())?,
        ('x' | 'X', Value::Bytes(b)) => hex(run, verb, b)?,
        (verb, value) => return Err(Fail::new(clause_refusal(verb, value.type_name()))),
    };
    text.push_str(&formatted);
    Ok(())
}

fn signed(value: i64, magnitude: String) -> String {
    if value < 0 {
        format!("-{magnitude}")
    } else {
        magnitude
    }
}

fn hex(run: &mut Run<'_>, verb: char, bytes: &[u8]) -> Result<String, Fail> {
    run.budget.memory(bytes.len() * 2)?;
    let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    Ok(if verb == 'X' {
        digits.to_uppercase()
    } else {
        digits
    })
}

fn float(verb: char, digits: usize, d: f64) -> String {
    if !d.is_finite() {
        return if d.is_nan() {
            "NaN"
        } else if d > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_string();
    }
    if verb == 'f' {
        return format!("{d:.digits$}");
    }
    let text = format!("{d:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!(
        "{mantissa}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

/// The text of a value; inside of lists and maps it looks like a literal.
fn write_value(
    run: &mut Run<'_>,
    text: &mut String,
    value: &Value,
    nested: bool,
) -> Result<(), Fail> {
    run.budget.memory(16)?;
    match value {
        Value::String(s) => {
            run.budget.memory(s.len())?;
            text.push_str(&if nested { quote(s) } else { s.to_string() });
        }
        Value::Bytes(bytes) => {
            run.budget.memory(bytes.len())?;
            let plain = String::from_utf8_lossy(bytes);
            text.push_str(&if nested {
                format!("b{}", quote(&plain))
            } else {
                plain.into_owned()
            });
        }
        Value::Null => text.push_str("null"),
        Value::Type(name) => text.push_str(name),
        Value::Double(d) if nested => text.push_str(&if d.is_finite() {
            format!("{d:.PRECISION$}")
        } else {
            quote(&double_text(*d))
        }),
        Value::Timestamp(t) if nested => {
            text.push_str(&format!("timestamp({})", quote(&t.to_string())))
        }
        Value::Duration(d) if nested => {
            text.push_str(&format!("duration({})", quote(&time::duration_text(*d))))
        }
        Value::List(list) => {
            text.push('[');
            for (i, element) in list.iter().enumerate() {
                if i > 0 {
                    text.push_str(", ");
                }
                write_value(run, text, element, true)?;
            }
            text.push(']');
        }
        Value::Map(map) => write_map(run, text, map.iter())?,
        Value::Domains(kind, device) => write_map(run, text, device.outer_map(*kind).iter())?,
        value @ (Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::Duration(_)) => text.push_str(&plain_text(value).unwrap_or_default()),
        value => return Err(Fail::new(clause_refusal('s', value.type_name()))),
    }
    Ok(())
}

fn write_map<'m>(
    run: &mut Run<'_>,
    text: &mut String,
    entries: impl Iterator<Item = (&'m Key, &'m Value)>,
) -> Result<(), Fail> {
    let mut written = Vec::new();
    for (key, value) in entries {
        let key = match key {
            Key::String(s) => quote(s),
            other => other.to_string(),
        };
        let mut formatted = String::new();
        write_value(run, &mut formatted, value, true)?;
        written.push((key, formatted));
    }
    written.sort();
    text.push('{');
    for (i, (key, value)) in written.iter().enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        text.push_str(&format!("{separator}{key}:{value}"));
    }
    text.push('}');
    Ok(())
}
