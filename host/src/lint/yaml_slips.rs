//! Scalars that `kubectl` (YAML 1.1) reads differently than YAML 1.2, which is read here: `010`, `yes`, `1_000`.
//!
//! Looks at the lines of a text, not at what was parsed: there the difference is gone. `yaml_flow` follows
//! what stands within braces.

use std::collections::{HashMap, HashSet};

use super::yaml_flow::Flow;
use super::{Finding, Subject};
use crate::object::Object;
use crate::plugin::Severity;

/// What was seen in all texts.
#[derive(Debug, Default)]
pub struct Slips {
    units: Vec<Unit>,
    flow: Flow,
}

/// An object: a document, or an item of a List.
#[derive(Debug, Default)]
struct Unit {
    subject: Subject,
    /// Path, how bad it is, and what is wrong there.
    slips: Vec<(String, Severity, String)>,
}

impl Unit {
    fn scalar(&mut self, path: &str, value: &str) {
        let text = || unquoted(value).to_owned();
        match path {
            "kind" => self.subject.kind = text(),
            "metadata.name" => self.subject.name = text(),
            "metadata.namespace" => self.subject.namespace = text(),
            _ => {}
        }
        let found = match is_text(path) {
            true => not_a_text(value),
            false if is_file_mode(path) && value.starts_with('0') => None,
            false => wrong(value).map(|message| (Severity::Warning, message)),
        };
        self.slips
            .extend(found.map(|(severity, message)| (path.to_owned(), severity, message)));
    }
}

/// A level of the text around a line.
enum Level {
    Key(usize, String),
    Item(usize, usize),
}

impl Level {
    fn indent(&self) -> usize {
        match self {
            Self::Key(indent, _) | Self::Item(indent, _) => *indent,
        }
    }
}

impl Slips {
    /// Looks at one file.
    pub fn look(&mut self, text: &str) {
        if text.trim_start().starts_with('{') {
            return;
        }
        let mut levels: Vec<Level> = Vec::new();
        let mut block: Option<usize> = None;
        self.units.push(Unit::default());
        self.flow = Flow::default();
        for line in text.lines() {
            let content = line.trim_start_matches(' ');
            let indent = line.len() - content.len();
            if block.is_some_and(|outer| content.is_empty() || indent > outer) {
                continue;
            }
            block = None;
            if let Some(unit) = self.units.last_mut().filter(|_| self.flow.is_open()) {
                self.flow
                    .feed(content, &mut |path, scalar| unit.scalar(path, scalar));
                continue;
            }
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            if line.starts_with("---") {
                levels.clear();
                self.units.push(Unit::default());
                continue;
            }
            if self.line(content, indent, &mut levels) {
                block = Some(indent);
            }
        }
    }

    /// Whether a block of literal text follows.
    fn line(&mut self, content: &str, indent: usize, levels: &mut Vec<Level>) -> bool {
        let (mut content, mut indent) = (content, indent);
        while let Some(rest) = content
            .strip_prefix("- ")
            .or_else(|| (content == "-").then_some(""))
        {
            levels_down_to(levels, indent);
            match levels.last_mut() {
                Some(Level::Item(at, number)) if *at == indent => *number += 1,
                _ => levels.push(Level::Item(indent, 0)),
            }
            if is_list_item(levels) {
                self.units.push(Unit::default());
            }
            let trimmed = rest.trim_start_matches(' ');
            indent += content.len() - trimmed.len();
            content = trimmed;
        }
        let Some((key, value)) = split_key(content) else {
            self.value(content, &path(levels));
            return false;
        };
        levels_down_to(levels, indent);
        while matches!(levels.last(), Some(Level::Item(at, _) | Level::Key(at, _)) if *at == indent)
        {
            levels.pop();
        }
        levels.push(Level::Key(indent, key.to_owned()));
        let value = value.trim();
        let path = path(levels);
        if value.starts_with(['|', '>']) {
            return true;
        }
        self.value(value, &path);
        false
    }

    fn value(&mut self, value: &str, path: &str) {
        let Some(unit) = self.units.last_mut() else {
            return;
        };
        let value = match value.find(" #") {
            Some(end) if !value.starts_with(['"', '\'']) => &value[..end],
            _ => value,
        };
        if !value.starts_with(['{', '[']) {
            return unit.scalar(path, value.trim());
        }
        self.flow = Flow::at(path);
        self.flow
            .feed(value, &mut |path, scalar| unit.scalar(path, scalar));
    }

    /// What concerns these objects.
    pub fn findings(&self, objects: &[Object]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let wrong = || self.units.iter().filter(|unit| !unit.slips.is_empty());
        let keys: HashSet<[&str; 3]> = wrong().map(|unit| unit.subject.key()).collect();
        let subjects: Vec<Subject> = match keys.is_empty() {
            true => Vec::new(),
            false => objects
                .iter()
                .map(|object| Subject::of(object.id()))
                .collect(),
        };
        let known: HashMap<[&str; 3], &Subject> = subjects
            .iter()
            .map(|subject| (subject.key(), subject))
            .filter(|(key, _)| keys.contains(key))
            .collect();
        for unit in wrong() {
            let Some(subject) = known.get(&unit.subject.key()).copied() else {
                continue;
            };
            findings.extend(unit.slips.iter().map(|(path, severity, message)| {
                Finding::from_message(*severity, subject.clone(), path, message)
            }));
        }
        findings
    }
}

fn levels_down_to(levels: &mut Vec<Level>, indent: usize) {
    while levels.last().is_some_and(|level| level.indent() > indent) {
        levels.pop();
    }
}

/// Whether the innermost level is an item of a List.
fn is_list_item(levels: &[Level]) -> bool {
    matches!(levels, [Level::Key(_, key), Level::Item(..)] if key == "items")
}

fn path(levels: &[Level]) -> String {
    let levels = match levels {
        [Level::Key(_, key), Level::Item(..), rest @ ..] if key == "items" => rest,
        levels => levels,
    };
    let mut out = String::new();
    for level in levels {
        match level {
            Level::Key(_, key) => out = join(&out, key),
            Level::Item(_, number) => out.push_str(&format!("[{number}]")),
        }
    }
    out
}

/// Maps whose keys are names, which Kubernetes writes in brackets.
const MAPS: [&str; 10] = [
    "allocatable",
    "annotations",
    "attributes",
    "capacity",
    "counters",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "requests",
];

/// The path of a key.
pub(super) fn join(outer: &str, key: &str) -> String {
    let last = outer.rsplit('.').next().unwrap_or_default();
    if outer.is_empty() {
        key.to_owned()
    } else if MAPS.contains(&last) && !["nodeSelectorTerms", "requests"].contains(&key) {
        format!("{outer}[{key}]")
    } else {
        format!("{outer}.{key}")
    }
}

/// `key: value`; a key in quotes loses them.
fn split_key(content: &str) -> Option<(&str, &str)> {
    if content.starts_with(['{', '[', '&', '*', '!']) {
        return None;
    }
    if let Some(quote) = content.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let end = content[1..].find(quote)? + 1;
        let value = content[end + 1..].trim_start().strip_prefix(':')?;
        return Some((&content[1..end], value));
    }
    match content.split_once(": ") {
        Some(pair) => Some(pair),
        None => content.strip_suffix(':').map(|key| (key, "")),
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// Whether all values of the map are texts: the API server refuses what `kubectl` sends as something else.
fn is_text(path: &str) -> bool {
    const TEXTS: [&str; 4] = ["labels", "annotations", "matchLabels", "nodeSelector"];
    let map = path
        .strip_suffix(']')
        .and_then(|path| path.rsplit_once('['));
    map.is_some_and(|(map, _)| TEXTS.contains(&map.rsplit('.').next().unwrap_or_default()))
}

/// Whether the value is the mode of a file, which people write in octal and mean so.
fn is_file_mode(path: &str) -> bool {
    [".mode", ".defaultMode"]
        .iter()
        .any(|key| path.ends_with(key))
}

/// The same as [`wrong`] where a text must stand. What YAML 1.2 takes for a number too is told of the value itself.
fn not_a_text(scalar: &str) -> Option<(Severity, String)> {
    let message = wrong(scalar).filter(|message| message.contains("YAML 1.2 as a text"))?;
    let what = match message.contains("boolean") {
        true => "a boolean",
        false => "a number",
    };
    let message =
        format!("kubectl reads {scalar} as {what}, where a text must stand; put it in quotes");
    Some((Severity::Error, message))
}

/// What is wrong with a plain scalar, and what to do.
fn wrong(scalar: &str) -> Option<String> {
    const BOOLEANS: [&str; 4] = ["yes", "no", "on", "off"];
    let digits = scalar.strip_prefix(['+', '-']).unwrap_or(scalar);
    let all = |allowed: fn(&u8) -> bool| digits.bytes().all(|c| allowed(&c));
    if digits.len() > 1 && digits.starts_with('0') && all(|c| (b'0'..=b'7').contains(c)) {
        let octal = i64::from_str_radix(digits, 8).ok()?;
        let decimal = digits.trim_start_matches('0');
        let decimal = if decimal.is_empty() { "0" } else { decimal };
        return (octal.to_string() != decimal).then(|| {
            format!("kubectl reads {scalar} as octal, that is {octal}, and YAML 1.2 as {decimal}; write the number without the leading zero, or put it in quotes")
        });
    }
    if BOOLEANS
        .iter()
        .any(|known| scalar.eq_ignore_ascii_case(known))
    {
        return Some(format!(
            "kubectl reads {scalar} as a boolean, and YAML 1.2 as a text; write true or false, or put it in quotes"
        ));
    }
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && all(|c| c.is_ascii_digit() || *c == b'_');
    (is_number && digits.contains('_')).then(|| {
        format!("kubectl reads {scalar} as a number, and YAML 1.2 as a text; write it without underscores, or put it in quotes")
    })
}
