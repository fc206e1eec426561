//! What the API server imitation has to be told about kinds: it knows metadata and JSON, nothing of a group.

use serde_json::Value;

use super::FieldError;
use crate::object::{Kind, Object};

/// Knowledge about kinds, handed in from outside.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether objects of the kind have no namespace.
    pub cluster_scoped: fn(&Kind) -> bool,
    /// Fills in what the API fills in when an object is read or written, and says whether there was anything.
    pub defaults: fn(&Kind, &mut Value) -> bool,
    /// Whether `defaults` would fill in anything.
    pub lacks_defaults: fn(&Object) -> bool,
    /// Checks a write, given the stored object and what would replace it. A creation has no stored object.
    pub validate: fn(&Kind, Option<&Value>, &Value) -> Vec<FieldError>,
    /// The key by which a strategic merge patch joins the entries of the list at this path.
    pub merge_key: fn(&Kind, &[&str]) -> Option<&'static str>,
}

impl Rules {
    /// Namespaced kinds without defaults and checks.
    pub const NONE: Self = Self {
        cluster_scoped: |_| false,
        defaults: |_, _| false,
        lacks_defaults: |_| false,
        validate: |_, _, _| Vec::new(),
        merge_key: |_, _| None,
    };
}
