//! Takes objects from files: what a dump or a manifest leaves out is filled in, nothing is validated.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::metadata::{given_version, set};
use super::{ApiServer, Warning, WatchType};
use crate::object::{Kind, Object, ObjectRef};

/// Uids of one load, with their kind.
type Uids = HashSet<(Kind, Arc<str>)>;

impl ApiServer {
    /// Stores objects as they are, status included, after filling in namespace, uid, resourceVersion and defaults. An
    /// object that is there already is replaced.
    ///
    /// New resourceVersions are larger than all given ones, in the order of the objects.
    pub fn load(&mut self, objects: Vec<Object>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let given: Vec<Option<u64>> = objects
            .iter()
            .map(|object| self.read_version(object, &mut warnings))
            .collect();
        let mut uids = Uids::with_capacity(objects.len());
        for (object, version) in objects.into_iter().zip(given) {
            self.load_one(object, version, &mut uids, &mut warnings);
        }
        warnings
    }

    fn read_version(&mut self, object: &Object, warnings: &mut Vec<Warning>) -> Option<u64> {
        match given_version(object.metadata()) {
            Ok(version) => {
                self.version = self.version.max(version.unwrap_or_default());
                version
            }
            Err(text) => {
                let message = format!(
                    "metadata.resourceVersion {text:?} cannot be counted on from; given a new one"
                );
                warnings.push(Warning::new(object.id(), message));
                None
            }
        }
    }

    fn load_one(
        &mut self,
        object: Object,
        version: Option<u64>,
        uids: &mut Uids,
        warnings: &mut Vec<Warning>,
    ) {
        let ObjectRef {
            kind,
            namespace: given,
            name,
            uid,
        } = object.id().clone();
        let namespace = self.namespace_of(&kind, &given);
        if namespace.is_empty() && !given.is_empty() {
            let message = format!("objects of this kind have no namespace; {given:?} is ignored");
            warnings.push(Warning::new(object.id(), message));
        }
        let stored = self
            .tables
            .get(&kind)
            .and_then(|table| table.get(&namespace, &name));
        let held = stored.map(|stored| {
            (
                stored.full.id().uid.clone(),
                stored.full.resource_version().parse::<u64>(),
            )
        });
        let uid = match uid.is_empty() {
            true => held.as_ref().map(|(uid, _)| uid.clone()),
            false if uids.insert((kind.clone(), uid.clone())) => Some(uid),
            false => {
                let message = format!("metadata.uid {uid} is another object's; given a new one");
                warnings.push(Warning::new(object.id(), message));
                None
            }
        };
        let uid = uid.unwrap_or_else(|| self.next_uid(&kind, &namespace, &name).into());
        // Watchers ignore what is not newer than what they have.
        let newer = |version: &u64| {
            held.as_ref()
                .is_none_or(|(_, held)| held.as_ref().is_ok_and(|held| held < version))
        };
        let version = version.filter(newer).unwrap_or_else(|| self.next_version());

        let id = object.id().clone();
        let with_defaults = match (self.rules.lacks_defaults)(&object) {
            false => Ok(object),
            true => {
                let mut value = object.into_value();
                (self.rules.defaults)(&kind, &mut value);
                Object::from_value(value)
            }
        };
        let filled = with_defaults.and_then(|object| {
            object.with_metadata(|fields| fill_in(fields, &namespace, &uid, version))
        });
        let what = if held.is_some() {
            WatchType::Modified
        } else {
            WatchType::Added
        };
        match filled {
            Ok(object) => _ = self.put(object, what),
            Err(error) => warnings.push(Warning::new(&id, format!("not taken: {error}"))),
        }
    }
}

fn fill_in(fields: &mut Map<String, Value>, namespace: &str, uid: &str, version: u64) {
    set(
        fields,
        "namespace",
        (!namespace.is_empty()).then(|| json!(namespace)).as_ref(),
    );
    fields.insert("uid".into(), uid.into());
    fields.insert("resourceVersion".into(), version.to_string().into());
}
