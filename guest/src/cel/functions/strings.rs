//! The string functions of the standard library and of the strings extension, version 2.

use super::{Function, new_list, new_string, no_overload, templates};
use crate::cel::eval::Run;
use crate::cel::functions::lists;
use crate::cel::value::{self, Fail, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("contains", |run, args| {
        test(run, args, |a, b| a.contains(b))
    }),
    ("startsWith", |run, args| {
        test(run, args, |a, b| a.starts_with(b))
    }),
    ("endsWith", |run, args| {
        test(run, args, |a, b| a.ends_with(b))
    }),
    ("charAt", char_at),
    ("indexOf", index_of),
    ("lastIndexOf", last_index_of),
    ("join", join),
    ("lowerAscii", |run, args| {
        map_text(run, args, |s| s.to_ascii_lowercase())
    }),
    ("upperAscii", |run, args| {
        map_text(run, args, |s| s.to_ascii_uppercase())
    }),
    ("trim", |run, args| {
        map_text(run, args, |s| s.trim_matches(is_space).to_string())
    }),
    ("replace", replace),
    ("split", split),
    ("substring", substring),
    ("format", templates::format),
    ("strings.quote", |run, args| match args {
        [Value::String(s)] => {
            run.budget.memory(s.len() * 2)?;
            new_string(run, &quote(s))
        }
        _ => no_overload(),
    }),
];

/// The characters that Go's unicode.IsSpace knows.
fn is_space(c: char) -> bool {
    c.is_whitespace()
}

fn test(run: &mut Run<'_>, args: &[Value], holds: fn(&str, &str) -> bool) -> Outcome {
    match args {
        [Value::String(a), Value::String(b)] => {
            run.budget.work((a.len() + b.len()) as u64 / 4)?;
            Ok(Value::Bool(holds(a, b)))
        }
        _ => Err(Fail::no_such_overload()),
    }
}

fn map_text(run: &mut Run<'_>, args: &[Value], change: fn(&str) -> String) -> Outcome {
    match args {
        [Value::String(s)] => {
            run.budget.memory(s.len())?;
            new_string(run, &change(s))
        }
        _ => no_overload(),
    }
}

fn out_of_range(index: i64) -> Fail {
    Fail::new(format!("index out of range: {index}"))
}

/// Byte position of a character; the end is a position too.
fn position(text: &str, index: i64) -> Option<usize> {
    let index = usize::try_from(index).ok()?;
    if text.is_ascii() {
        return (index <= text.len()).then_some(index);
    }
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .nth(index)
}

/// Character position of a byte.
fn character(text: &str, at: usize) -> i64 {
    text.get(..at).map_or(0, value::char_count) as i64
}

fn char_at(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::String(text), Value::Int(index)] = args else {
        return no_overload();
    };
    run.budget.work(text.len() as u64 / 8)?;
    let at = position(text, *index).ok_or_else(|| out_of_range(*index))?;
    let found = text.get(at..).and_then(|rest| rest.chars().next());
    new_string(run, &found.map(String::from).unwrap_or_default())
}

fn index_of(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (text, part, from) = match args {
        [Value::List(list), value] => return lists::position(run, list, value, false),
        [Value::String(text), Value::String(part)] => (text, part, 0),
        [Value::String(text), Value::String(part), Value::Int(from)] => (text, part, *from),
        _ => return no_overload(),
    };
    run.budget.work((text.len() + part.len()) as u64 / 4)?;
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    if from >= value::char_count(text) as i64 {
        return Ok(Value::Int(-1));
    }
    let start = position(text, from).ok_or_else(|| out_of_range(from))?;
    let found = text.get(start..).and_then(|rest| rest.find(&**part));
    Ok(Value::Int(
        found.map_or(-1, |at| character(text, start + at)),
    ))
}

fn last_index_of(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (text, part, last) = match args {
        [Value::List(list), value] => return lists::position(run, list, value, true),
        [Value::String(text), Value::String(part)] => (text, part, None),
        [Value::String(text), Value::String(part), Value::Int(last)] => (text, part, Some(*last)),
        _ => return no_overload(),
    };
    run.budget.work((text.len() + part.len()) as u64 / 4)?;
    let length = value::char_count(text) as i64;
    if part.is_empty() {
        return Ok(Value::Int(last.unwrap_or(length)));
    }
    match last {
        Some(last) if last < 0 => return Err(out_of_range(last)),
        Some(last) if last >= length => return Ok(Value::Int(-1)),
        _ => {}
    }
    let end = match last {
        Some(last) => position(text, last).map_or(text.len(), |at| {
            at.saturating_add(part.len()).min(text.len())
        }),
        None => text.len(),
    };
    // Within a character no occurrence ends.
    let end = (0..=end)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let found = text.get(..end).and_then(|head| head.rfind(&**part));
    Ok(Value::Int(found.map_or(-1, |at| character(text, at))))
}

fn join(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (list, separator) = match args {
        [Value::List(list)] => (list, ""),
        [Value::List(list), Value::String(separator)] => (list, &**separator),
        _ => return no_overload(),
    };
    let mut joined = String::new();
    for (i, value) in list.iter().enumerate() {
        let Value::String(text) = value else {
            return Err(Fail::no_such_overload());
        };
        run.budget.memory(text.len() + separator.len())?;
        if i > 0 {
            joined.push_str(separator);
        }
        joined.push_str(text);
    }
    Ok(Value::string(joined))
}

fn replace(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (text, from, to, count) = match args {
        [Value::String(text), Value::String(from), Value::String(to)] => {
            (text, from, to, usize::MAX)
        }
        [
            Value::String(text),
            Value::String(from),
            Value::String(to),
            Value::Int(count),
        ] => (
            text,
            from,
            to,
            usize::try_from(*count).unwrap_or(usize::MAX),
        ),
        _ => return no_overload(),
    };
    run.budget.work(text.len() as u64)?;
    let times = text.matches(&**from).count().min(count);
    run.budget
        .memory(text.len().saturating_add(times.saturating_mul(to.len())))?;
    new_string(run, &text.replacen(&**from, to, count))
}

fn split(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (text, separator, None),
        [
            Value::String(text),
            Value::String(separator),
            Value::Int(limit),
        ] => (text, separator, usize::try_from(*limit).ok()),
        _ => return no_overload(),
    };
    run.budget.work(text.len() as u64)?;
    let mut parts = Vec::new();
    if limit != Some(0) {
        let mut rest = &**text;
        while limit.is_none_or(|limit| parts.len() + 1 < limit) {
            let Some((head, tail)) = cut(rest, separator) else {
                break;
            };
            run.budget.memory(head.len() + size_of::<Value>())?;
            parts.push(Value::string(head));
            rest = tail;
        }
        if !(rest.is_empty() && separator.is_empty()) {
            parts.push(Value::string(rest));
        }
    }
    new_list(run, parts)
}

/// The text before and after the first separator; an empty separator cuts after each character but the last.
fn cut<'t>(text: &'t str, separator: &str) -> Option<(&'t str, &'t str)> {
    if !separator.is_empty() {
        return text.split_once(separator);
    }
    let first = text.chars().next()?.len_utf8();
    (first < text.len()).then(|| text.split_at(first))
}

fn substring(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (text, start, end) = match args {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return no_overload(),
    };
    run.budget.work(text.len() as u64 / 8)?;
    if let Some(end) = end.filter(|end| *end < start) {
        return Err(Fail::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let from = position(text, start).ok_or_else(|| out_of_range(start))?;
    let to = match end {
        Some(end) => position(text, end).ok_or_else(|| out_of_range(end))?,
        None => text.len(),
    };
    new_string(run, text.get(from..to).unwrap_or_default())
}

/// The text as a quoted literal.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
