//! How the recorded fake client answers.

use dractl::object::{Kind, Object};
use dractl::plugin::{ApiCall, ApiError, ApiErrorReason, PatchType};
use serde_json::{Value, json};

use super::{Double, Key, Stale, from_value, key_of, version_of};

impl Double {
    fn create(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        if self.server.contains_key(&key) {
            let message = format!("{} \"{}\" already exists", resource(&key.0), key.2);
            return Err(api_error(ApiErrorReason::AlreadyExists, message));
        }
        for (field, set) in [
            ("UID", &*object.id().uid),
            ("ResourceVersion", object.resource_version()),
        ] {
            if !set.is_empty() {
                let message = format!("{field} must not be set on create");
                return Err(api_error(ApiErrorReason::Other, message));
            }
        }
        let mut value = object.value().clone();
        self.created += 1;
        value["metadata"]["uid"] = format!("created-{}", self.created).into();
        value["metadata"]["resourceVersion"] = self.next_version().into();
        self.server.insert(key, value.clone());
        Ok(from_value(value))
    }

    fn update(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        let stored = self.server.get(&key).ok_or_else(|| not_found(&key))?;
        if version_of(stored) != object.resource_version() {
            return Err(self.stale_update(&key));
        }
        let mut value = object.value().clone();
        value["metadata"]["resourceVersion"] = self.next_version().into();
        self.server.insert(key, value.clone());
        Ok(from_value(value))
    }

    fn stale_update(&self, key: &Key) -> ApiError {
        match self.stale {
            Stale::Untyped => api_error(
                ApiErrorReason::Other,
                "ResourceVersion must match the object that gets updated",
            ),
            Stale::Conflict => conflict(key),
        }
    }

    fn patch(&mut self, key: Key, patch: &[u8]) -> Result<Object, ApiError> {
        let stored = self.server.get_mut(&key).ok_or_else(|| not_found(&key))?;
        let patch: Value = serde_json::from_slice(patch)
            .map_err(|error| api_error(ApiErrorReason::Invalid, error.to_string()))?;
        merge(stored, &patch);
        Ok(from_value(stored.clone()))
    }

    fn apply(&mut self, object: &Object) -> Result<Object, ApiError> {
        let key = key_of(object);
        let stored = self.server.get_mut(&key).ok_or_else(|| not_found(&key))?;
        let version = format!("{}-applied", version_of(stored));
        merge(stored, object.value());
        stored["metadata"]["resourceVersion"] = version.into();
        Ok(from_value(stored.clone()))
    }

    pub(super) fn answer(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError> {
        match call {
            ApiCall::Get {
                kind,
                namespace,
                name,
            } => {
                let key = (kind, namespace, name);
                let stored = self.server.get(&key).ok_or_else(|| not_found(&key))?;
                Ok(Some(from_value(stored.clone())))
            }
            ApiCall::Create { object } => self.create(&object).map(Some),
            ApiCall::Update { object } | ApiCall::UpdateStatus { object } => {
                self.update(&object).map(Some)
            }
            ApiCall::PatchStatus {
                kind,
                namespace,
                name,
                patch,
                ..
            } => self.patch((kind, namespace, name), &patch).map(Some),
            ApiCall::Apply { object, .. } => self.apply(&object).map(Some),
            ApiCall::Delete { target } => {
                let key = (
                    target.kind,
                    target.namespace.to_string(),
                    target.name.to_string(),
                );
                match self.server.remove(&key) {
                    Some(_) => Ok(None),
                    None => Err(not_found(&key)),
                }
            }
        }
    }
}

/// The call as the recordings have it. Bodies are recorded for patches only.
pub(super) fn recorded(call: &ApiCall) -> Value {
    let (verb, subresource, patch_type, patch) = match call {
        ApiCall::Get { .. } => ("get", None, None, None),
        ApiCall::Create { .. } => ("create", None, None, None),
        ApiCall::Update { .. } => ("update", None, None, None),
        ApiCall::UpdateStatus { .. } => ("update", Some("status"), None, None),
        ApiCall::Delete { .. } => ("delete", None, None, None),
        ApiCall::PatchStatus {
            patch_type, patch, ..
        } => {
            let patch = serde_json::from_slice(patch)
                .unwrap_or_else(|_| String::from_utf8_lossy(patch).into());
            (
                "patch",
                Some("status"),
                Some(media_type(*patch_type)),
                Some(patch),
            )
        }
        ApiCall::Apply { object, .. } => {
            let media_type = Some("application/apply-patch+yaml");
            ("patch", None, media_type, Some(object.value().clone()))
        }
    };
    let (kind, namespace, name) = call.target();
    let plural = format!("{}s", kind.short().to_ascii_lowercase());
    let mut recorded =
        json!({"verb": verb, "resource": plural, "namespace": namespace, "name": name});
    if let Some(subresource) = subresource {
        recorded["subresource"] = subresource.into();
    }
    if let Some(patch_type) = patch_type {
        recorded["patchType"] = patch_type.into();
    }
    if let Some(patch) = patch {
        recorded["patch"] = patch;
    }
    recorded
}

/// What is sent with a call.
pub(super) fn body(call: &ApiCall) -> Value {
    match call {
        ApiCall::Get { .. } | ApiCall::Delete { .. } => Value::Null,
        ApiCall::Create { object }
        | ApiCall::Update { object }
        | ApiCall::UpdateStatus { object }
        | ApiCall::Apply { object, .. } => object.value().clone(),
        ApiCall::PatchStatus { patch, .. } => String::from_utf8_lossy(patch).into(),
    }
}

fn media_type(patch_type: PatchType) -> &'static str {
    match patch_type {
        PatchType::Merge => "application/merge-patch+json",
        PatchType::StrategicMerge => "application/strategic-merge-patch+json",
        PatchType::JsonPatch => "application/json-patch+json",
    }
}

/// A strategic merge as far as a status of claims needs it: `reservedFor` is a map by uid, other lists are replaced.
fn merge(stored: &mut Value, patch: &Value) {
    let (Some(stored), Some(patch)) = (stored.as_object_mut(), patch.as_object()) else {
        *stored = patch.clone();
        return;
    };
    for (key, patch) in patch {
        match (key.as_str(), patch) {
            (_, Value::Null) => {
                stored.shift_remove(key);
            }
            ("reservedFor", Value::Array(entries)) => {
                let list = stored.entry(key).or_insert_with(|| json!([]));
                merge_by_uid(list, entries);
            }
            (_, Value::Object(_)) => {
                merge(stored.entry(key).or_insert_with(|| json!({})), patch);
            }
            _ => {
                stored.insert(key.clone(), patch.clone());
            }
        }
    }
}

fn merge_by_uid(list: &mut Value, entries: &[Value]) {
    if !list.is_array() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else {
        return;
    };
    for entry in entries {
        let position = list
            .iter()
            .position(|old| old.get("uid") == entry.get("uid"));
        let delete = entry.get("$patch").and_then(Value::as_str) == Some("delete");
        match (position, delete) {
            (Some(position), true) => {
                list.remove(position);
            }
            (Some(position), false) => merge(&mut list[position], entry),
            (None, true) => {}
            (None, false) => list.push(entry.clone()),
        }
    }
}

/// `resourceclaims.resource.k8s.io`.
pub(super) fn resource(kind: &Kind) -> String {
    let plural = format!("{}s", kind.short().to_ascii_lowercase());
    match kind.as_str().split_once('.') {
        Some((_, group)) => format!("{plural}.{group}"),
        None => plural,
    }
}

/// An error of the API.
pub fn api_error(reason: ApiErrorReason, message: impl Into<String>) -> ApiError {
    ApiError {
        reason,
        message: message.into(),
    }
}

/// A real server's answer to a stale update.
pub fn conflict(key: &Key) -> ApiError {
    let message = format!(
        "Operation cannot be fulfilled on {} \"{}\": the object has been modified; please apply your changes to the latest \
         version and try again",
        resource(&key.0),
        key.2
    );
    api_error(ApiErrorReason::Conflict, message)
}

fn not_found(key: &Key) -> ApiError {
    let message = format!("{} \"{}\" not found", resource(&key.0), key.2);
    api_error(ApiErrorReason::NotFound, message)
}
