//! API version, kind and name of an object, and what is wrong with them.

use serde_json::{Map, Value};

use super::kinds;
use super::problems::brief;
use crate::object::Kind;
use crate::object::tree::type_name;

/// What the first lines of an object say, read leniently so that a broken object can be named.
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) kind_as_written: String,
    pub(super) namespace: String,
    pub(super) name: Option<String>,
    pub(super) has_generate_name: bool,
    pub(super) assumed_version: bool,
    /// What is wrong with `apiVersion` or `kind`.
    pub(super) problem: Option<String>,
}

impl Header {
    /// The error says why the object cannot even be named.
    pub(super) fn read(map: &Map<String, Value>) -> Result<Self, String> {
        let kind = lenient(map, "kind")
            .and_then(Value::as_str)
            .filter(|kind| !kind.is_empty())
            .ok_or_else(|| match lenient(map, "kind") {
                Some(value) if !value.is_string() => {
                    format!("kind is {}, not a string", type_name(value))
                }
                _ => {
                    "kind is missing; an object needs apiVersion, kind and metadata.name".to_owned()
                }
            })?;
        let metadata = lenient(map, "metadata").and_then(Value::as_object);
        let text = |key: &str| {
            metadata
                .and_then(|metadata| lenient(metadata, key))
                .and_then(text_of)
        };
        let mut header = Self {
            kind: Kind::new(kind),
            kind_as_written: kind.to_owned(),
            namespace: text("namespace").unwrap_or_default(),
            name: text("name").filter(|name| !name.is_empty()),
            has_generate_name: text("generateName").is_some_and(|name| !name.is_empty()),
            assumed_version: false,
            problem: None,
        };
        header.read_version(kind, lenient(map, "apiVersion"));
        Ok(header)
    }

    fn read_version(&mut self, kind: &str, value: Option<&Value>) {
        match value {
            Some(Value::String(version)) if !version.is_empty() => {
                self.kind = Kind::of(version, kind);
                if version.matches('/').count() > 1
                    || version.starts_with('/')
                    || version.ends_with('/')
                {
                    // Whatever group that would be, it is not meant.
                    self.kind = Kind::new(kind);
                    self.problem = Some(format!(
                        "apiVersion {:?} is not of the form group/version",
                        brief(version)
                    ));
                } else if let Some(meant) = kinds::meant_by_host(&self.kind) {
                    let meant = Kind::new(meant);
                    self.problem = Some(format!(
                        "kind {} is not known, did you mean {}?",
                        brief(kind),
                        meant.short()
                    ));
                    self.kind = meant;
                } else if let Some((group, number)) = version.split_once('/')
                    && kinds::is_unknown_version(&self.kind, number)
                {
                    self.problem = Some(format!(
                        "apiVersion {:?} is not a version of {kind}; write {group}/v1",
                        brief(version)
                    ));
                } else if !version.contains('/') && !kinds::is_core(kind) {
                    self.problem = Some(format!(
                        "{} has no kind {}; correct its apiVersion",
                        brief(version),
                        brief(kind)
                    ));
                } else if !version.contains('/') && version != "v1" {
                    self.problem = Some(format!(
                        "apiVersion {:?} is not a version of {kind}; write v1",
                        brief(version)
                    ));
                }
            }
            Some(Value::String(_) | Value::Null) | None => {
                self.assumed_version = kinds::is_core(kind);
                if !self.assumed_version {
                    self.problem = Some(format!(
                        "apiVersion is missing, and {} is not a core kind; add it",
                        brief(kind)
                    ));
                }
            }
            Some(other) => {
                self.problem = Some(format!("apiVersion is {}, not a string", type_name(other)));
            }
        }
    }
}

/// The value of a key; if it is missing, of one that differs in case only.
pub(super) fn lenient<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m Value> {
    map.get(key).or_else(|| {
        map.iter()
            .find(|(other, _)| other.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    })
}

/// A string, or what stands in the place of one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
