//! One API object as the host holds it: metadata in fields, everything else as the JSON that was received.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

pub(crate) mod tree;

use tree::Tree;

/// Kind and API group as `Kind.group`; the core group has no suffix. The contract's `kind`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Arc<str>);

impl Kind {
    /// From the form `Kind.group` or `Kind`.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// From `apiVersion` and `kind` of an object.
    pub fn of(api_version: &str, kind: &str) -> Self {
        match api_version.split_once('/') {
            Some((group, _version)) => Self(format!("{kind}.{group}").into()),
            None => Self(kind.into()),
        }
    }

    /// `Kind.group` or `Kind`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part before the first dot, for people.
    pub fn short(&self) -> &str {
        self.0.split('.').next().unwrap_or(&self.0)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names one object; the contract's `object-ref`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind and group.
    pub kind: Kind,
    /// Empty for cluster-scoped kinds.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Never empty once the object is in the cluster.
    pub uid: Arc<str>,
}

impl fmt::Display for ObjectRef {
    /// `Kind namespace/name`, or `Kind name`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            write!(f, "{} {}", self.kind.short(), self.name)
        } else {
            write!(f, "{} {}/{}", self.kind.short(), self.namespace, self.name)
        }
    }
}

/// What stands at a path of names and indexes. `Value::pointer` allocates for each name, and this is done very often.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/')
        .skip(1)
        .try_fold(value, |value, name| match value {
            Value::Object(fields) => fields.get(name),
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        })
}

/// Which object it is, and `metadata.resourceVersion`.
fn identity(kind: Kind, metadata: Option<&Value>) -> Result<(ObjectRef, String), NotAnObject> {
    let text = |key: &str| metadata?.get(key)?.as_str();
    let id = ObjectRef {
        kind,
        namespace: text("namespace").unwrap_or_default().into(),
        name: text("name").ok_or(NotAnObject::Name)?.into(),
        uid: text("uid").unwrap_or_default().into(),
    };
    let resource_version = text("resourceVersion").unwrap_or_default();
    Ok((id, resource_version.to_owned()))
}

/// An immutable API object. Cheap to clone.
///
/// Holds the JSON as a tree, as bytes, or both; the missing form is made when it is first asked for.
#[derive(Clone, Debug)]
pub struct Object(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: ObjectRef,
    api_version: Box<str>,
    resource_version: String,
    value: OnceLock<Value>,
    bytes: OnceLock<Arc<[u8]>>,
    /// Only of an object that was made from its bytes.
    metadata: Option<Metadata>,
}

#[derive(Clone, Debug)]
struct Metadata {
    value: Value,
    /// Where it stands in the bytes.
    place: Range<usize>,
}

/// Why a JSON value is not an object of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnObject {
    /// `apiVersion` is missing or not a string.
    ApiVersion,
    /// `kind` is missing or not a string.
    Kind,
    /// `metadata.name` is missing or not a string.
    Name,
}

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ApiVersion => "apiVersion is missing",
            Self::Kind => "kind is missing",
            Self::Name => "metadata.name is missing",
        })
    }
}

impl std::error::Error for NotAnObject {}

impl Object {
    /// Reads the metadata of an API object.
    pub fn from_value(value: Value) -> Result<Self, NotAnObject> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let api_version = text("apiVersion").ok_or(NotAnObject::ApiVersion)?;
        let kind = text("kind").ok_or(NotAnObject::Kind)?;
        let (id, resource_version) = identity(Kind::of(api_version, kind), value.get("metadata"))?;
        Ok(Self::unchecked(id, resource_version, value))
    }

    /// From compact JSON, of which no tree is made until somebody asks for one. `metadata`, which stands in it at `place`, is
    /// what the host looks at in every object.
    pub fn from_json(
        api_version: &str,
        kind: Kind,
        metadata: Value,
        json: Vec<u8>,
        place: Range<usize>,
    ) -> Result<Self, NotAnObject> {
        let (id, resource_version) = identity(kind, Some(&metadata))?;
        Ok(Self(Arc::new(Inner {
            id,
            api_version: api_version.into(),
            resource_version,
            value: OnceLock::new(),
            bytes: OnceLock::from(Arc::from(json)),
            metadata: Some(Metadata {
                value: metadata,
                place,
            }),
        })))
    }

    /// Any JSON as an object, with the metadata that the caller states: for what claims to be an object of the API and is
    /// not one.
    pub fn unchecked(id: ObjectRef, resource_version: String, value: Value) -> Self {
        let api_version = value.get("apiVersion").and_then(Value::as_str);
        Self(Arc::new(Inner {
            id,
            api_version: api_version.unwrap_or_default().into(),
            resource_version,
            value: value.into(),
            bytes: OnceLock::new(),
            metadata: None,
        }))
    }

    /// Which object this is.
    pub fn id(&self) -> &ObjectRef {
        &self.0.id
    }

    /// `apiVersion`.
    pub fn api_version(&self) -> &str {
        &self.0.api_version
    }

    /// `metadata.resourceVersion`; empty if there is none yet.
    pub fn resource_version(&self) -> &str {
        &self.0.resource_version
    }

    /// The whole object as a tree.
    pub fn value(&self) -> &Value {
        self.0.value.get_or_init(|| {
            // Only reached for objects made from bytes, which were checked to be JSON when the object was made.
            self.0
                .bytes
                .get()
                .and_then(|bytes| serde_json::from_slice(bytes).ok())
                .map_or(Value::Null, |Tree(value)| value)
        })
    }

    /// `metadata`, without making a tree of the rest; `null` if there is none.
    pub fn metadata(&self) -> &Value {
        match &self.0.metadata {
            Some(metadata) => &metadata.value,
            None => self.value().get("metadata").unwrap_or(&Value::Null),
        }
    }

    /// The same object with edited metadata.
    pub fn with_metadata(
        self,
        edit: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Self, NotAnObject> {
        let is_only_text = self.0.value.get().is_none();
        let Some(Metadata { value, place }) = self.0.metadata.as_ref().filter(|_| is_only_text)
        else {
            let mut value = self.into_value();
            if let Some(Value::Object(fields)) = value.get_mut("metadata") {
                edit(fields);
            }
            return Self::from_value(value);
        };
        let mut metadata = value.clone();
        if let Value::Object(fields) = &mut metadata {
            edit(fields);
        }
        let text = metadata.to_string();
        let (before, after) = (
            self.bytes().get(..place.start).unwrap_or_default(),
            self.bytes().get(place.end..).unwrap_or_default(),
        );
        let json = [before, text.as_bytes(), after].concat();
        let place = place.start..place.start + text.len();
        let kind = self.id().kind.clone();
        Self::from_json(self.api_version(), kind, metadata, json, place)
    }

    /// The tree, to be edited; copied only if somebody else holds the object too.
    pub fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(mut inner) => match inner.value.take() {
                Some(value) => value,
                None => Self(Arc::new(inner)).value().clone(),
            },
            Err(shared) => Self(shared).value().clone(),
        }
    }

    /// The whole object as compact JSON.
    pub fn bytes(&self) -> &Arc<[u8]> {
        self.0
            .bytes
            .get_or_init(|| match serde_json::to_vec(self.value()) {
                Ok(bytes) => bytes.into(),
                // A tree whose keys are strings can always be written; this says the same, more slowly.
                Err(_) => self.value().to_string().into_bytes().into(),
            })
    }

    /// Whether the compact JSON has this text somewhere, which can be told without a tree.
    pub fn mentions(&self, text: &str) -> bool {
        std::str::from_utf8(self.bytes()).is_ok_and(|json| json.contains(text))
    }

    /// A string in the object, for example `/spec/nodeName`.
    pub fn text(&self, path: &str) -> Option<&str> {
        at(self.value(), path).and_then(Value::as_str)
    }

    /// Whether two handles are the same copy, not only equal ones.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

#[cfg(test)]
mod tests;
