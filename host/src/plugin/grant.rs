//! What a plugin may be given. It says itself what it wants (`lifecycle.describe`); whoever runs it may allow less than that.

use std::collections::BTreeSet;

use crate::nearest::nearest;
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
    /// Everything that a plugin declares and is not granted, as the rest of a sentence.
    pub(super) fn refusal(&self, description: &Description) -> Option<String> {
        let lacks = |does: &str, granted: &Option<BTreeSet<String>>, declared: BTreeSet<&str>| {
            let granted = granted.as_ref()?;
            let lacking: Vec<&str> = declared
                .into_iter()
                .filter(|kind| !granted.contains(*kind))
                .collect();
            (!lacking.is_empty()).then(|| format!("{does} {}", lacking.join(", ")))
        };
        let lacking: Vec<String> = [
            lacks("read", &self.read, read([description])),
            lacks("write", &self.write, written([description])),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!lacking.is_empty()).then(|| lacking.join(" and "))
    }

    /// The first kind that is granted and that none of the plugins declares, which is a slip: a sentence with the nearest names.
    pub fn undeclared<'a>(
        &self,
        plugins: impl IntoIterator<Item = &'a Description> + Clone,
    ) -> Option<String> {
        let slip = |does: &str, granted: &Option<BTreeSet<String>>, declared: BTreeSet<&str>| {
            let mut granted = granted.iter().flatten();
            let kind = granted.find(|kind| !declared.contains(kind.as_str()))?;
            let nearest = nearest(kind, declared, |name| name, NEAREST);
            let known = match nearest.is_empty() {
                true => format!("it {does}s nothing"),
                false => format!("the nearest names are {}", nearest.join(", ")),
            };
            Some(format!(
                "the plugin does not declare that it may {does} {kind:?}; {known}"
            ))
        };
        slip("read", &self.read, read(plugins.clone()))
            .or_else(|| slip("write", &self.write, written(plugins)))
    }
}

/// How many names are offered instead of an unknown one.
const NEAREST: usize = 3;

fn read<'a>(plugins: impl IntoIterator<Item = &'a Description>) -> BTreeSet<&'a str> {
    let accesses = plugins.into_iter().flat_map(|plugin| &plugin.accesses);
    let read = accesses.filter(|access| access.read);
    read.map(|access| access.kind.as_str()).collect()
}

fn written<'a>(plugins: impl IntoIterator<Item = &'a Description>) -> BTreeSet<&'a str> {
    let accesses = plugins.into_iter().flat_map(|plugin| &plugin.accesses);
    let written = accesses.filter(|access| !access.verbs.is_empty());
    written.map(|access| access.kind.as_str()).collect()
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

    #[test]
    fn everything_that_is_lacking_is_named_at_once() {
        let mut all = wants("Node", true, Vec::new());
        for (kind, read) in [("Pod", true), ("Lease", false), ("Binding", false)] {
            all.accesses
                .extend(wants(kind, read, vec![Verb::Update]).accesses);
        }
        let grant = Grant {
            read: only("Secret"),
            write: only("Lease"),
        };
        assert_eq!(
            grant.refusal(&all).as_deref(),
            Some("read Node, Pod and write Binding, Pod")
        );
    }

    #[test]
    fn a_kind_that_nobody_declares_is_a_slip() {
        let (reader, writer) = (
            wants("Node", true, Vec::new()),
            wants("Pod", false, vec![Verb::Update]),
        );
        let both = [&reader, &writer];
        let read = |kind: &str| Grant {
            read: only(kind),
            write: None,
        };
        assert_eq!(read("Node").undeclared(both), None);
        assert_eq!(Grant::default().undeclared(both), None);
        assert_eq!(
            read("Nodes").undeclared(both).as_deref(),
            Some(
                "the plugin does not declare that it may read \"Nodes\"; the nearest names are Node"
            )
        );
        let writes = Grant {
            read: None,
            write: only("Node"),
        };
        assert_eq!(
            writes.undeclared([&reader]).as_deref(),
            Some("the plugin does not declare that it may write \"Node\"; it writes nothing")
        );
    }
}
