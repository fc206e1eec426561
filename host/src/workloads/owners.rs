//! Which workload objects have their pods, or what stands between them and their pods, in the input.

use std::collections::HashSet;

use serde_json::Value;

use super::namespace_of;
use crate::object::Object;

/// Everything that some pod, ReplicaSet or Job names as its owner.
pub(super) struct Owners {
    uids: HashSet<String>,
    /// Namespace, kind and name.
    names: HashSet<(String, String, String)>,
}

impl Owners {
    /// Of the pods, ReplicaSets and Jobs of the input.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut owners = Self {
            uids: HashSet::new(),
            names: HashSet::new(),
        };
        for object in objects {
            let kind = object.id().kind.as_str();
            if matches!(kind, "Pod" | "ReplicaSet.apps" | "Job.batch") {
                owners.add(object);
            }
        }
        owners
    }

    fn add(&mut self, dependent: &Object) {
        let references = dependent
            .metadata()
            .get("ownerReferences")
            .and_then(Value::as_array);
        for reference in references.into_iter().flatten() {
            let text = |key: &str| {
                reference
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let (kind, name, uid) = (text("kind"), text("name"), text("uid"));
            if !uid.is_empty() {
                self.uids.insert(uid.to_owned());
            }
            let namespace = namespace_of(dependent).to_owned();
            // Dumps often lack the ReplicaSets between pods and their Deployment; those are called <deployment>-<hash>.
            if kind == "ReplicaSet"
                && let Some((deployment, _hash)) = name.rsplit_once('-')
            {
                self.names.insert((
                    namespace.clone(),
                    "Deployment".to_owned(),
                    deployment.to_owned(),
                ));
            }
            self.names
                .insert((namespace, kind.to_owned(), name.to_owned()));
        }
    }

    /// Whether something in the input belongs to this object.
    pub(super) fn has_dependents(&self, owner: &Object) -> bool {
        let id = owner.id();
        let name = (
            namespace_of(owner).to_owned(),
            id.kind.short().to_owned(),
            id.name.to_string(),
        );
        (!id.uid.is_empty() && self.uids.contains(&*id.uid)) || self.names.contains(&name)
    }
}
