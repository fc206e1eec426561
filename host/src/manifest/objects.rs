//! From documents to objects: Lists are opened, metadata is checked, and what the run does not need is dropped.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::documents::{Broken, Document, Top};
use super::error::{InputError, ObjectError, Origin, Warning};
use super::header::{Header, lenient};
use super::kinds;
use super::outline::{Item, Outline};
use super::problems::{brief, problem_of, with_short_name};
use super::salvage;
use crate::nearest::meant;
use crate::object::tree::type_name;
use crate::object::{Kind, NotAnObject, Object, ObjectRef};

/// How deep a List may stand in a List.
const MAX_LIST_DEPTH: usize = 16;

/// An object of the input, or why it is none.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Which object.
    pub id: ObjectRef,
    /// Where it stands.
    pub origin: Origin,
    /// The object, or what is wrong with it.
    pub outcome: Result<Object, String>,
}

/// An object that only has `metadata.generateName`.
#[derive(Debug)]
pub(super) struct Nameless {
    value: Value,
    kind: Kind,
    origin: Origin,
}

/// What was read so far, in document order.
#[derive(Debug)]
pub(super) enum Found {
    /// With a name.
    Named(Candidate),
    /// To be named.
    Nameless(Nameless),
}

/// Says of an API version and a kind what is wrong with them.
pub type Judge<'a> = dyn Fn(&str, &str) -> Option<String> + 'a;

/// Collects the objects of all documents.
pub(super) struct Collector<'a> {
    keep: &'a dyn Fn(&Kind) -> bool,
    /// What was found, in order.
    pub found: Vec<Found>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// How many objects there were, dropped ones included.
    pub seen: usize,
    /// What is no object, or none with a name; only where that does not end the reading.
    pub nameless: Vec<ObjectError>,
    /// What is wrong with an API version and kind; `None`: reading ends with the first object that cannot be named.
    judge: Option<&'a Judge<'a>>,
}

/// A value that waits to be looked at.
struct Pending {
    item: Item,
    line: usize,
    depth: usize,
    /// `apiVersion` and `kind` that a typed list gives its items.
    inherited: Option<(Arc<str>, Arc<str>)>,
}

impl<'a> Collector<'a> {
    /// Nothing yet. Objects of kinds that `keep` does not want are dropped.
    pub(super) fn new(keep: &'a dyn Fn(&Kind) -> bool) -> Self {
        Self {
            keep,
            found: Vec::new(),
            warnings: Vec::new(),
            seen: 0,
            nameless: Vec::new(),
            judge: None,
        }
    }

    /// The same, which goes on after what cannot be read, and asks of each object whether API version and kind can be meant.
    pub(super) fn lenient(keep: &'a dyn Fn(&Kind) -> bool, judge: &'a Judge<'a>) -> Self {
        Self {
            judge: Some(judge),
            ..Self::new(keep)
        }
    }

    /// Notes an object without a name, or ends the reading.
    fn refuse(&mut self, kind: &Kind, origin: &Origin, message: String) -> Result<(), InputError> {
        if self.judge.is_none() {
            return Err(InputError::of_object(origin, message));
        }
        let object = ObjectRef {
            kind: Kind::new(&brief(kind.as_str())),
            namespace: "".into(),
            name: "".into(),
            uid: "".into(),
        };
        self.nameless.push(ObjectError {
            object,
            origin: origin.clone(),
            message,
        });
        Ok(())
    }

    /// A part of a file that is no document.
    pub(super) fn broken(&mut self, file: &Arc<str>, broken: Broken) -> Result<(), InputError> {
        if self.judge.is_none() {
            return Err(broken.error);
        }
        self.seen += 1;
        let place = match (broken.error.line, broken.error.column) {
            (Some(line), Some(column)) => format!(" at line {line}, column {column}"),
            (Some(line), None) => format!(" at line {line}"),
            _ => String::new(),
        };
        let (kind, namespace, name) = salvage::header(&broken.text);
        self.nameless.push(ObjectError {
            object: with_short_name(ObjectRef {
                kind: Kind::new(kind),
                namespace: namespace.into(),
                name: name.into(),
                uid: "".into(),
            }),
            origin: Origin {
                file: file.clone(),
                document: broken.number,
                line: broken.line,
            },
            message: format!(
                "document {} cannot be read{place}: {}",
                broken.number, broken.error.message
            ),
        });
        Ok(())
    }

    /// A file that is no text.
    pub(super) fn unreadable(&mut self, error: InputError) -> Result<(), InputError> {
        if self.judge.is_none() {
            return Err(error);
        }
        self.seen += 1;
        let origin = Origin {
            file: error.file.as_str().into(),
            document: 1,
            line: error.line.unwrap_or(1),
        };
        self.refuse(
            &Kind::new(""),
            &origin,
            format!("the file cannot be used: {}", error.message),
        )
    }

    /// Adds the objects of one document.
    pub(super) fn add(&mut self, file: &Arc<str>, document: Document) -> Result<(), InputError> {
        let origin = |line| Origin {
            file: file.clone(),
            document: document.number,
            line,
        };
        // The last one is looked at first.
        let mut pending = Vec::new();
        let object = |item| Pending {
            item,
            line: document.line,
            depth: 0,
            inherited: None,
        };
        match document.top {
            Top::Object(outline) => pending.push(object(Item::Outline(outline))),
            Top::Mapping {
                entries,
                items: Some(items),
            } if is_list(&entries) => push_items(&mut pending, &entries, items, 1),
            Top::Mapping { mut entries, items } => {
                if let Some(items) = items {
                    let items = items.into_iter().map(|(item, _line)| item.into_tree());
                    entries.insert("items".to_owned(), items.collect());
                }
                pending.push(object(Item::Tree(Value::Object(entries))));
            }
            Top::Other(value) => {
                let message = format!(
                    "document {} is {}, not an object",
                    document.number,
                    type_name(&value)
                );
                self.seen += usize::from(self.judge.is_some());
                return self.refuse(&Kind::new(""), &origin(document.line), message);
            }
        }
        while let Some(next) = pending.pop() {
            let origin = origin(next.line);
            self.take(next, origin, &mut pending)?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        next: Pending,
        origin: Origin,
        pending: &mut Vec<Pending>,
    ) -> Result<(), InputError> {
        let mut map = match next.item {
            Item::Outline(outline) => {
                let Outline {
                    head,
                    json,
                    metadata,
                } = outline;
                return self.object(head, Some((json, metadata)), origin);
            }
            Item::Tree(Value::Object(map)) => map,
            Item::Tree(other) => {
                let message = format!(
                    "a List has an item that is {}, not an object",
                    type_name(&other)
                );
                return self.refuse(&Kind::new(""), &origin, message);
            }
        };
        if is_list(&map) {
            if next.depth >= MAX_LIST_DEPTH {
                let message = format!("Lists are nested more than {MAX_LIST_DEPTH} deep");
                return self.refuse(&Kind::new("List"), &origin, message);
            }
            // `kubectl get` prints an empty List where there is nothing: that is an answer, not a mistake.
            self.seen += 1;
            let items = match map.remove("items") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(items)) => items,
                Some(other) => {
                    let message = format!(
                        "items of a List must be a list, but is {}",
                        type_name(&other)
                    );
                    return self.refuse(&Kind::new("List"), &origin, message);
                }
            };
            let items = items.into_iter().map(|item| (Item::Tree(item), next.line));
            let items = items.collect();
            push_items(pending, &map, items, next.depth + 1);
            return Ok(());
        }
        if let Some((api_version, kind)) = next.inherited {
            map.entry("apiVersion")
                .or_insert_with(|| Value::String(api_version.to_string()));
            map.entry("kind")
                .or_insert_with(|| Value::String(kind.to_string()));
        }
        self.object(map, None, origin)
    }

    /// Adds one object. `text` is its JSON, and where `metadata` stands in it, if `map` is only the top level.
    fn object(
        &mut self,
        mut map: Map<String, Value>,
        text: Option<(Vec<u8>, Range<usize>)>,
        origin: Origin,
    ) -> Result<(), InputError> {
        self.seen += 1;
        let mut header = match Header::read(&map) {
            Ok(header) => header,
            Err(message) => {
                let message = self.numbered(&origin, message);
                return self.refuse(&Kind::new(""), &origin, message);
            }
        };
        if let Some(judge) = self.judge
            && let Some(version) = lenient(&map, "apiVersion").and_then(Value::as_str)
            && let Some(problem) = judge(version, &header.kind_as_written)
        {
            header.problem = Some(problem);
        }
        if !(self.keep)(&header.kind) && header.problem.is_none() {
            return Ok(());
        }
        let problem = header.problem.or_else(|| problem_of(&map, &header.kind));
        let id = ObjectRef {
            kind: header.kind.clone(),
            namespace: header.namespace.into(),
            name: header.name.clone().unwrap_or_default().into(),
            uid: "".into(),
        };
        if let Some(problem) = problem {
            return self.unusable(id, origin, problem);
        }
        if header.assumed_version {
            map.insert("apiVersion".to_owned(), Value::String("v1".to_owned()));
            let object = kinds::display(&id);
            self.warnings.push(Warning {
                object,
                message: "apiVersion is missing; taken as v1".to_owned(),
            });
        }
        match header.name {
            Some(_) => {
                let object = match text {
                    Some(text) => from_text(map, header.kind, text),
                    None => Object::from_value(Value::Object(map)),
                };
                self.found.push(Found::Named(named(id, origin, object)));
            }
            None if header.has_generate_name => {
                let value = Value::Object(map);
                self.found.push(Found::Nameless(Nameless {
                    value,
                    kind: header.kind,
                    origin,
                }));
            }
            None => {
                let what_to_do = name_meant(&map).unwrap_or_else(|| "; give it a name".to_owned());
                let message = format!("{} without metadata.name{what_to_do}", header.kind.short());
                let message = self.numbered(&origin, message);
                return self.refuse(&header.kind, &origin, message);
            }
        }
        Ok(())
    }

    /// Notes an object that `problem` makes unusable.
    fn unusable(
        &mut self,
        id: ObjectRef,
        origin: Origin,
        problem: String,
    ) -> Result<(), InputError> {
        let is_kept = (self.keep)(&id.kind);
        if !is_kept && kinds::is_known_elsewhere(&id.kind) {
            return Ok(());
        }
        if !id.name.is_empty() {
            self.found.push(Found::Named(Candidate {
                id: with_short_name(id),
                origin,
                outcome: Err(problem),
            }));
            return Ok(());
        }
        let message = format!("{} without metadata.name: {problem}", id.kind.short());
        if is_kept || self.judge.is_some() {
            return self.refuse(&id.kind, &origin, message);
        }
        // A kubeconfig, for example, is none of our business.
        self.warnings.push(Warning {
            object: origin.to_string(),
            message,
        });
        Ok(())
    }

    /// Says which document it is where people cannot see it in the place of an error.
    fn numbered(&self, origin: &Origin, message: String) -> String {
        match self.judge {
            Some(_) => format!("document {}: {message}", origin.document),
            None => message,
        }
    }
}

impl Nameless {
    /// `Kind`, namespace and the stem of the name.
    pub(super) fn stem(&self) -> (&Kind, &str, &str) {
        let text = |key: &str| {
            self.value
                .pointer(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        (
            &self.kind,
            text("/metadata/namespace"),
            text("/metadata/generateName"),
        )
    }

    /// Gives it a name.
    pub(super) fn with_name(mut self, name: &str) -> Candidate {
        if let Some(metadata) = self
            .value
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
        {
            metadata.insert("name".to_owned(), Value::String(name.to_owned()));
        }
        let (_, namespace, _) = self.stem();
        let id = ObjectRef {
            kind: self.kind.clone(),
            namespace: namespace.into(),
            name: name.into(),
            uid: "".into(),
        };
        named(id, self.origin, Object::from_value(self.value))
    }
}

/// What to do if `metadata` or its `name` is misspelled.
fn name_meant(map: &Map<String, Value>) -> Option<String> {
    let near = |map: &Map<String, Value>, right: &str| {
        let others = map.keys().filter(|key| *key != right);
        meant(right, others.map(String::as_str)).map(|key| brief(key).into_owned())
    };
    let Some(metadata) = map.get("metadata") else {
        let key = near(map, "metadata")?;
        return Some(format!(": key {key} is not known; write metadata"));
    };
    let key = near(metadata.as_object()?, "name")?;
    Some(format!(": key metadata.{key} is not known; write name"))
}

/// An object of which `map` is the top level.
fn from_text(
    mut map: Map<String, Value>,
    kind: Kind,
    (json, place): (Vec<u8>, Range<usize>),
) -> Result<Object, NotAnObject> {
    let metadata = map.remove("metadata").unwrap_or_default();
    let version = map.get("apiVersion").and_then(Value::as_str);
    Object::from_json(version.unwrap_or_default(), kind, metadata, json, place)
}

fn named(id: ObjectRef, origin: Origin, object: Result<Object, NotAnObject>) -> Candidate {
    Candidate {
        id,
        origin,
        outcome: object.map_err(|reason| reason.to_string()),
    }
}

/// `v1 List`, or a typed list such as `PodList`.
fn is_list(map: &Map<String, Value>) -> bool {
    match map.get("kind").and_then(Value::as_str) {
        Some("List") => true,
        Some(kind) => {
            kind.ends_with("List")
                && map
                    .get("metadata")
                    .is_none_or(|metadata| metadata.get("name").is_none())
        }
        None => false,
    }
}

fn push_items(
    pending: &mut Vec<Pending>,
    list: &Map<String, Value>,
    items: Vec<(Item, usize)>,
    depth: usize,
) {
    let text = |key: &str| list.get(key).and_then(Value::as_str);
    let inherited = match (
        text("apiVersion"),
        text("kind").and_then(|kind| kind.strip_suffix("List")),
    ) {
        (Some(api_version), Some(kind)) if !kind.is_empty() => {
            Some((api_version.into(), kind.into()))
        }
        _ => None,
    };
    pending.extend(items.into_iter().rev().map(|(item, line)| Pending {
        item,
        line,
        depth,
        inherited: inherited.clone(),
    }));
}
