//! A YAML writer for API objects: block style, keys in their order, strings quoted whenever a reader of any YAML version could take
//! them for something else.

use std::io::{self, Write};

use serde_json::Value;

/// Writes a value as one document, without a separator.
pub fn write(value: &Value, out: &mut dyn Write) -> io::Result<()> {
    match block(value) {
        true => nested(value, 0, out),
        false => writeln!(out, "{}", scalar(value)),
    }
}

/// Whether the value needs lines of its own.
fn block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    }
}

/// Writes a mapping or a list whose first line is already indented.
fn nested(value: &Value, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    match value {
        Value::Object(map) => {
            for (position, (key, value)) in map.iter().enumerate() {
                pad(if position == 0 { 0 } else { indent }, out)?;
                write!(out, "{}:", string(key))?;
                entry(value, indent, out)?;
            }
        }
        Value::Array(list) => {
            for (position, value) in list.iter().enumerate() {
                pad(if position == 0 { 0 } else { indent }, out)?;
                write!(out, "-")?;
                item(value, indent, out)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// What follows `key:`. Lists stand under their key without further indent, as kubectl writes them.
fn entry(value: &Value, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    if !block(value) {
        return writeln!(out, " {}", scalar(value));
    }
    writeln!(out)?;
    let indent = if value.is_array() { indent } else { indent + 2 };
    pad(indent, out)?;
    nested(value, indent, out)
}

/// What follows `-`.
fn item(value: &Value, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    if !block(value) {
        return writeln!(out, " {}", scalar(value));
    }
    write!(out, " ")?;
    nested(value, indent + 2, out)
}

fn pad(indent: usize, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{:indent$}", "")
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        other => other.to_string(),
    }
}

/// Plain if nothing speaks against it; otherwise as a JSON string, which every YAML reader takes.
fn string(text: &str) -> String {
    match is_plain(text) {
        true => text.to_owned(),
        false => escaped(text),
    }
}

/// JSON leaves these characters as they are; YAML takes some of them for line ends or refuses them.
fn escaped(text: &str) -> String {
    let json = Value::from(text).to_string();
    let special = |c: char| {
        matches!(
            c,
            '\u{7f}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
    };
    if !json.contains(special) {
        return json;
    }
    json.chars()
        .map(|c| {
            if special(c) {
                format!("\\u{:04x}", c as u32)
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// A word that begins with a letter or `/`, is of harmless characters, and is no word that YAML gives a meaning.
fn is_plain(text: &str) -> bool {
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let harmless = text
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_./:+".contains(c));
    let meaning = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    begins_well
        && harmless
        && !text.ends_with(':')
        && !meaning.contains(&text.to_ascii_lowercase().as_str())
}
