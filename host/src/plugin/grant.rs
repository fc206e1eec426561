//! What a plugin may be given. It says itself what it wants (`lifecycle.describe`); whoever runs it may allow less than that.

use std::collections::BTreeSet;

use crate::plugin::Description;

/// Kinds that a plugin may read and write, for example `ResourceClaim.resource.k8s.io`.
///
/// By default it gets what it declares: the host shows it nothing else and refuses every other call as forbidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Kinds that may be followed and looked up; absent: all that it declares.
    pub read: Option<BTreeSet<String>>,
    /// Kinds that may be written; absent: all that it declares.
    pub write: Option<BTreeSet<String>>,
}

impl Grant {
    /// The first thing that a plugin declares and is not granted, as the rest of a sentence.
    pub(super) fn refusal(&self, description: &Description) -> Option<String> {
        let lacks = |granted: &Option<BTreeSet<String>>, kind: &str| {
            granted.as_ref().is_some_and(|kinds| !kinds.contains(kind))
        };
        description.accesses.iter().find_map(|access| {
            let kind = access.kind.as_str();
            if access.read && lacks(&self.read, kind) {
                Some(format!("read {kind}"))
            } else if !access.verbs.is_empty() && lacks(&self.write, kind) {
                Some(format!("write {kind}"))
            } else {
                None
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Kind;
    use crate::plugin::{Access, Verb};

    fn wants(kind: &str, read: bool, verbs: Vec<Verb>) -> Description {
        Description {
            accesses: vec![Access {
                kind: Kind::new(kind),
                versions: vec!["v1".into()],
                read,
                verbs,
            }],
            ..Description::default()
        }
    }

    fn only(kind: &str) -> Option<BTreeSet<String>> {
        Some([kind.to_owned()].into())
    }

    #[test]
    fn what_is_declared_and_not_granted_is_named() {
        let (reader, writer) = (
            wants("Node", true, Vec::new()),
            wants("Pod", false, vec![Verb::Update]),
        );
        assert_eq!(Grant::default().refusal(&reader), None);
        assert_eq!(Grant::default().refusal(&writer), None);
        let pods = Grant {
            read: only("Pod"),
            write: only("Pod"),
        };
        assert_eq!(pods.refusal(&reader).as_deref(), Some("read Node"));
        assert_eq!(pods.refusal(&writer), None);
        let nodes = Grant {
            read: None,
            write: only("Node"),
        };
        assert_eq!(nodes.refusal(&reader), None);
        assert_eq!(nodes.refusal(&writer).as_deref(), Some("write Pod"));
    }
}
