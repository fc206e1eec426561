//! Server-side apply of metadata and spec, as far as schedulers use it: create, or merge owned fields.
//!
//! Maps are merged, everything else is one field. Who owns what is kept beside the object: a manager owns what it
//! applied last; every other field that the object has belongs to somebody else.

use serde_json::{Map, Value};

use super::error::{FieldError, invalid};
use super::metadata::{as_map, keep_server_fields};
use super::write::apply_conflict;
use super::{ApiServer, Stored};
use crate::object::{Object, ObjectRef};
use crate::plugin::ApiError;

/// Fields of a configuration that name the object or are not for apply.
const NOT_APPLIED: [&str; 3] = ["apiVersion", "kind", "status"];

impl ApiServer {
    pub(super) fn apply(
        &mut self,
        sent: &Object,
        manager: &str,
        force: bool,
    ) -> Result<Object, ApiError> {
        let ObjectRef {
            kind,
            namespace,
            name,
            ..
        } = sent.id();
        if manager.is_empty() {
            let error =
                FieldError::forbidden("fieldManager", "apply needs the name of a field manager");
            return Err(invalid(kind, name, &[error]));
        }
        let namespace = self.namespace_of(kind, namespace);
        let configuration = configuration(sent.value());
        let applied = match self.find(kind, &namespace, name).is_ok() {
            true => {
                let stored = self.precondition(sent)?;
                self.apply_to(&stored, &configuration, manager, force)?
            }
            false => self.create(sent)?,
        };
        if let Some(stored) = self
            .tables
            .get_mut(kind)
            .and_then(|table| table.get_mut(&namespace, name))
        {
            stored.applied.insert(manager.to_owned(), configuration);
        }
        Ok(applied)
    }

    fn apply_to(
        &mut self,
        stored: &Stored,
        configuration: &Value,
        manager: &str,
        force: bool,
    ) -> Result<Object, ApiError> {
        let ObjectRef { kind, name, .. } = stored.full.id();
        let owned = stored.applied.get(manager).unwrap_or(&Value::Null);
        let mut conflicts = Vec::new();
        if !force {
            find_conflicts(
                stored.full.value(),
                configuration,
                owned,
                "",
                &mut conflicts,
            );
        }
        if !conflicts.is_empty() {
            return Err(apply_conflict(kind, name, &conflicts));
        }
        let mut value = stored.full.value().clone();
        drop_unapplied(&mut value, owned, configuration);
        merge(&mut value, configuration);
        (self.rules.defaults)(kind, &mut value);
        keep_server_fields(&mut value, stored.full.value());
        self.replace(stored, value)
    }
}

/// What of an object is applied.
fn configuration(sent: &Value) -> Value {
    let fields = sent.as_object().into_iter().flatten();
    let applied = fields.filter(|(name, _)| !NOT_APPLIED.contains(&name.as_str()));
    Value::Object(
        applied
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Paths at which another manager's value would change.
fn find_conflicts(
    stored: &Value,
    wanted: &Value,
    owned: &Value,
    path: &str,
    conflicts: &mut Vec<String>,
) {
    let (Some(stored), Some(wanted)) = (stored.as_object(), wanted.as_object()) else {
        return;
    };
    for (name, wanted) in wanted {
        let Some(stored) = stored.get(name) else {
            continue;
        };
        let owned = owned.get(name).unwrap_or(&Value::Null);
        let path = format!("{path}.{name}");
        if stored.is_object() && wanted.is_object() {
            find_conflicts(stored, wanted, owned, &path, conflicts);
        } else if stored != wanted && owned.is_null() {
            conflicts.push(path);
        }
    }
}

/// Removes what the manager applied before and no longer does.
fn drop_unapplied(value: &mut Value, owned: &Value, wanted: &Value) {
    let (Some(value), Some(owned)) = (value.as_object_mut(), owned.as_object()) else {
        return;
    };
    for (name, owned) in owned {
        match (value.get_mut(name), wanted.get(name)) {
            (None, _) => (),
            (Some(value), wanted) if owned.is_object() && value.is_object() => {
                drop_unapplied(value, owned, wanted.unwrap_or(&Value::Null));
            }
            (Some(_), Some(_)) => (),
            (Some(_), None) => _ = value.shift_remove(name),
        }
    }
}

fn merge(target: &mut Value, wanted: &Value) {
    match wanted {
        Value::Object(fields) => merge_fields(as_map(target), fields),
        other => *target = other.clone(),
    }
}

fn merge_fields(target: &mut Map<String, Value>, fields: &Map<String, Value>) {
    for (name, value) in fields {
        merge(target.entry(name).or_insert(Value::Null), value);
    }
}
