//! One API object as the host holds it: metadata in fields, everything else as the JSON that was received.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

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

/// An immutable API object. Cheap to clone.
///
/// Holds the JSON as a tree, as bytes, or both; the missing form is made when it is first asked for.
#[derive(Clone, Debug)]
pub struct Object(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: ObjectRef,
    resource_version: String,
    value: OnceLock<Value>,
    bytes: OnceLock<Arc<[u8]>>,
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
        let text = |path: &str| at(&value, path).and_then(Value::as_str);
        let api_version = text("/apiVersion").ok_or(NotAnObject::ApiVersion)?;
        let kind = text("/kind").ok_or(NotAnObject::Kind)?;
        let name = text("/metadata/name").ok_or(NotAnObject::Name)?;
        let id = ObjectRef {
            kind: Kind::of(api_version, kind),
            namespace: text("/metadata/namespace").unwrap_or_default().into(),
            name: name.into(),
            uid: text("/metadata/uid").unwrap_or_default().into(),
        };
        let resource_version = text("/metadata/resourceVersion")
            .unwrap_or_default()
            .to_owned();
        Ok(Self(Arc::new(Inner {
            id,
            resource_version,
            value: value.into(),
            bytes: OnceLock::new(),
        })))
    }

    /// Any JSON as an object, with the metadata that the caller states: for what claims to be an object of the API and is
    /// not one.
    pub fn unchecked(id: ObjectRef, resource_version: String, value: Value) -> Self {
        Self(Arc::new(Inner {
            id,
            resource_version,
            value: value.into(),
            bytes: OnceLock::new(),
        }))
    }

    /// Which object this is.
    pub fn id(&self) -> &ObjectRef {
        &self.0.id
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
                .unwrap_or_default()
        })
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

    /// A string in the object, for example `/spec/nodeName`.
    pub fn text(&self, path: &str) -> Option<&str> {
        at(self.value(), path).and_then(Value::as_str)
    }

    /// Whether two handles are the same copy, not only equal ones.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
