//! The writes: create, update, update of status, patch of status, delete, bind.

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::{already_exists, conflict, conflict_on, invalid, other_uid, stale, unreadable};
use super::metadata::{
    child, finalizers, identity, is_being_deleted, keep_server_fields, metadata, set, shown,
};
use super::{ApiServer, FieldError, Stored, WatchType, patch};
use crate::clock::rfc3339;
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{ApiError, PatchType};

/// What a client says about the stored object; empty where it says nothing.
struct Preconditions<'a> {
    uid: &'a str,
    version: &'a str,
}

impl<'a> Preconditions<'a> {
    fn of(object: &'a Object) -> Self {
        Self {
            uid: &object.id().uid,
            version: object.resource_version(),
        }
    }

    fn check(&self, stored: &Stored) -> Result<(), ApiError> {
        let ObjectRef {
            kind, name, uid, ..
        } = stored.full.id();
        if !self.uid.is_empty() && *self.uid != **uid {
            return Err(other_uid(kind, name, self.uid, uid));
        }
        match self.version.is_empty() || self.version == stored.full.resource_version() {
            true => Ok(()),
            false => Err(stale(kind, name)),
        }
    }
}

impl ApiServer {
    pub(super) fn create(&mut self, object: &Object) -> Result<Object, ApiError> {
        let ObjectRef {
            kind,
            namespace,
            name,
            ..
        } = object.id();
        let namespace = self.namespace_of(kind, namespace);
        if self.find(kind, &namespace, name).is_ok() {
            return Err(already_exists(kind, name));
        }
        if !object.resource_version().is_empty() {
            let error =
                FieldError::forbidden("metadata.resourceVersion", "a new object cannot have one");
            return Err(invalid(kind, name, &[error]));
        }
        let mut value = object.value().clone();
        (self.rules.defaults)(kind, &mut value);
        self.check(kind, name, None, &value)?;
        if let Some(fields) = value.as_object_mut() {
            fields.shift_remove("status");
        }
        let uid = self.next_uid(kind, &namespace, name);
        let created = rfc3339(self.clock.now());
        let fields = metadata(&mut value);
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "managedFields",
        ] {
            fields.shift_remove(field);
        }
        set(
            fields,
            "namespace",
            (!namespace.is_empty()).then(|| json!(&*namespace)).as_ref(),
        );
        fields.insert("uid".into(), uid.into());
        fields.insert("creationTimestamp".into(), created.into());
        self.commit(kind, value, WatchType::Added)
    }

    pub(super) fn update(&mut self, object: &Object) -> Result<Object, ApiError> {
        let stored = self.precondition(object)?;
        let mut value = object.value().clone();
        (self.rules.defaults)(&object.id().kind, &mut value);
        keep_server_fields(&mut value, stored.full.value());
        if let Some(fields) = value.as_object_mut() {
            set(fields, "status", stored.full.value().get("status"));
        }
        self.replace(&stored, value)
    }

    pub(super) fn update_status(&mut self, object: &Object) -> Result<Object, ApiError> {
        let stored = self.precondition(object)?;
        self.replace_status(&stored, object.value().get("status"))
    }

    pub(super) fn patch_status(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch_type: PatchType,
        patch: &[u8],
    ) -> Result<Object, ApiError> {
        let namespace = self.namespace_of(kind, namespace);
        let stored = self.find(kind, &namespace, name)?.clone();
        let refuse = |why: String| {
            invalid(
                kind,
                name,
                &[FieldError::invalid("patch", "the patch", why)],
            )
        };
        let value: Value =
            serde_json::from_slice(patch).map_err(|error| refuse(format!("not JSON: {error}")))?;
        let merge_key = |path: &[&str]| (self.rules.merge_key)(kind, path);
        let patched =
            patch::patch(patch_type, stored.full.value(), &value, &merge_key).map_err(refuse)?;
        let text = |pointer: &str| {
            patched
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        same_api_version(&stored, text("/apiVersion"))?;
        Preconditions {
            uid: text("/metadata/uid"),
            version: text("/metadata/resourceVersion"),
        }
        .check(&stored)?;
        self.replace_status(&stored, patched.get("status"))
    }

    pub(super) fn delete(&mut self, target: &ObjectRef) -> Result<(), ApiError> {
        let namespace = self.namespace_of(&target.kind, &target.namespace);
        let stored = self.find(&target.kind, &namespace, &target.name)?.clone();
        Preconditions {
            uid: &target.uid,
            version: "",
        }
        .check(&stored)?;
        let mut value = stored.full.value().clone();
        if finalizers(&value).is_empty() {
            return self
                .commit(&target.kind, value, WatchType::Deleted)
                .map(|_| ());
        }
        if is_being_deleted(&value) {
            return Ok(());
        }
        let now = rfc3339(self.clock.now());
        let fields = metadata(&mut value);
        fields.insert("deletionTimestamp".into(), now.into());
        fields.insert("deletionGracePeriodSeconds".into(), 0.into());
        self.commit(&target.kind, value, WatchType::Modified)
            .map(|_| ())
    }

    pub(super) fn assign(&mut self, pod: &ObjectRef, node: &str) -> Result<Object, ApiError> {
        let namespace = self.namespace_of(&pod.kind, &pod.namespace);
        let stored = self.find(&pod.kind, &namespace, &pod.name)?.clone();
        let refuse = |why: String| conflict_on("pods/binding", &pod.name, &why);
        Preconditions {
            uid: &pod.uid,
            version: "",
        }
        .check(&stored)?;
        if is_being_deleted(stored.full.value()) {
            return Err(refuse(format!(
                "pod {} is being deleted and cannot be assigned to a node",
                pod.name
            )));
        }
        if let Some(assigned) = stored
            .full
            .text("/spec/nodeName")
            .filter(|node| !node.is_empty())
        {
            return Err(refuse(format!(
                "pod {} is already assigned to node {assigned:?}",
                pod.name
            )));
        }
        let mut value = stored.full.value().clone();
        child(&mut value, "spec").insert("nodeName".into(), node.into());
        mark_scheduled(&mut value, &rfc3339(self.clock.now()));
        self.commit(&pod.kind, value, WatchType::Modified)
    }

    /// The stored object, if it is the one that the client means.
    pub(super) fn precondition(&self, sent: &Object) -> Result<Stored, ApiError> {
        let ObjectRef {
            kind,
            namespace,
            name,
            ..
        } = sent.id();
        let namespace = self.namespace_of(kind, namespace);
        let stored = self.find(kind, &namespace, name)?;
        same_api_version(stored, sent.api_version())?;
        Preconditions::of(sent).check(stored)?;
        Ok(stored.clone())
    }

    fn replace_status(
        &mut self,
        stored: &Stored,
        status: Option<&Value>,
    ) -> Result<Object, ApiError> {
        let mut value = stored.full.value().clone();
        if let Some(fields) = value.as_object_mut() {
            set(fields, "status", status);
        }
        self.replace(stored, value)
    }

    /// Stores a changed object after the checks. As on the server, a write that changes nothing leaves the
    /// resourceVersion alone and tells nobody.
    pub(super) fn replace(&mut self, stored: &Stored, value: Value) -> Result<Object, ApiError> {
        let ObjectRef { kind, name, .. } = stored.full.id();
        let old = stored.full.value();
        if value == *old {
            return Ok(stored.shown.clone());
        }
        if is_being_deleted(old) {
            let before = finalizers(old);
            if let Some(added) = finalizers(&value)
                .into_iter()
                .find(|finalizer| !before.contains(finalizer))
            {
                let why = format!(
                    "no finalizer can be added to an object that is being deleted, found {added:?}"
                );
                return Err(invalid(
                    kind,
                    name,
                    &[FieldError::forbidden("metadata.finalizers", why)],
                ));
            }
        }
        self.check(kind, name, Some(old), &value)?;
        let ends = is_being_deleted(&value) && finalizers(&value).is_empty();
        self.commit(
            kind,
            value,
            if ends {
                WatchType::Deleted
            } else {
                WatchType::Modified
            },
        )
    }

    pub(super) fn check(
        &self,
        kind: &Kind,
        name: &str,
        old: Option<&Value>,
        new: &Value,
    ) -> Result<(), ApiError> {
        match (self.rules.validate)(kind, old, new) {
            errors if errors.is_empty() => Ok(()),
            errors => Err(invalid(kind, name, &errors)),
        }
    }

    /// Gives the object its new resourceVersion, stores or removes it, and tells the watchers.
    pub(super) fn commit(
        &mut self,
        kind: &Kind,
        mut value: Value,
        what: WatchType,
    ) -> Result<Object, ApiError> {
        let version = self.version + 1;
        metadata(&mut value).insert("resourceVersion".into(), version.to_string().into());
        let full = Object::from_value(value).map_err(|error| unreadable(kind, error))?;
        self.version = version;
        Ok(self.put(full, what))
    }

    /// Stores or removes an object that has its resourceVersion, and tells the watchers.
    pub(super) fn put(&mut self, full: Object, what: WatchType) -> Object {
        let shown = shown(&full);
        let ObjectRef {
            kind,
            namespace,
            name,
            ..
        } = full.id().clone();
        self.watch.push(what, shown.clone());
        if what == WatchType::Deleted {
            if let Some(table) = self.tables.get_mut(&kind) {
                table.remove(&namespace, &name);
            }
            *self
                .births
                .entry(identity(&kind, &namespace, &name, 0))
                .or_default() += 1;
            return shown;
        }
        let table = self.tables.entry(kind).or_default();
        match table.get_mut(&namespace, &name) {
            Some(stored) => (stored.full, stored.shown) = (full, shown.clone()),
            None => {
                let stored = Stored {
                    full,
                    shown: shown.clone(),
                    applied: Default::default(),
                };
                table.insert(Arc::clone(&namespace), Arc::clone(&name), stored);
            }
        }
        shown
    }
}

/// Refuses a body in another API version than the stored object has: this server does not convert.
pub(super) fn same_api_version(stored: &Stored, sent: &str) -> Result<(), ApiError> {
    let ObjectRef { kind, name, .. } = stored.full.id();
    let held = stored.full.api_version();
    if held == sent {
        return Ok(());
    }
    let why =
        format!("the object is stored as {held} and is not converted; write it in that version");
    Err(invalid(
        kind,
        name,
        &[FieldError::invalid("apiVersion", format!("{sent:?}"), why)],
    ))
}

/// Sets the pod's condition `PodScheduled`, as binding does.
fn mark_scheduled(pod: &mut Value, now: &str) {
    let condition = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": now});
    let conditions = child(pod, "status")
        .entry("conditions")
        .or_insert_with(|| json!([]));
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    let known = conditions
        .iter_mut()
        .find(|condition| condition.get("type") == Some(&json!("PodScheduled")));
    match known {
        Some(known) => *known = condition,
        None => conditions.push(condition),
    }
}

/// Refuses an apply by which one manager would change what another one set.
pub(super) fn apply_conflict(kind: &Kind, name: &str, paths: &[String]) -> ApiError {
    let fields = paths.join(", ");
    let plural = if paths.len() == 1 { "" } else { "s" };
    conflict(
        kind,
        name,
        &format!(
            "apply failed with {} conflict{plural}: {fields}",
            paths.len()
        ),
    )
}
