//! What people change in a cluster so that a pod fits, as data. [`apply()`] does it to a copy of the objects; that is also what
//! the fields mean to a program that reads them (`host/schemas/explain.schema.json`).

use serde::Serialize;

mod apply;
mod objects;

pub use apply::apply;
pub use objects::Objects;

/// Where the specification of a claim stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Specified {
    /// The claim as `namespace/name`.
    pub claim: String,
    /// The template that it is made from, as `namespace/name`: that is what is to be changed then.
    pub template: Option<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(
    tag = "change",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Change {
    /// The pods that use a claim end, and its devices are free.
    FreeClaim {
        /// As `namespace/name`.
        claim: String,
        /// Pods that it is reserved for, as `namespace/name`.
        pods: Vec<String>,
        /// What becomes free, as `driver/pool/device`.
        devices: Vec<String>,
        /// Whether it is a claim of the pod itself.
        own: bool,
    },
    /// A claim is deleted, so that one is made for the pod.
    DeleteClaim {
        /// As `namespace/name`.
        claim: String,
    },
    /// Pods of a node end, so that their resources are free.
    EndPods {
        /// The node.
        node: String,
        /// The resource that is wanted.
        resource: String,
        /// How much of it is missing.
        amount: String,
        /// As `namespace/name`.
        pods: Vec<String>,
    },
    /// A node is made schedulable.
    Uncordon {
        /// The node.
        node: String,
    },
    /// The pod tolerates a taint of a node.
    TolerateNodeTaint {
        /// Key.
        key: String,
        /// Value; may be empty.
        value: String,
        /// Effect.
        effect: String,
    },
    /// A node loses a taint.
    RemoveNodeTaint {
        /// The node.
        node: String,
        /// Key.
        key: String,
        /// Effect.
        effect: String,
    },
    /// A node gets a label.
    LabelNode {
        /// The node.
        node: String,
        /// Key.
        key: String,
        /// Value.
        value: String,
    },
    /// The pod loses its node selector and its required node affinity.
    DropNodeSelection {},
    /// The pod's containers ask for no more than this of a resource together.
    AskResource {
        /// Name.
        resource: String,
        /// As it is written.
        amount: String,
    },
    /// A request tolerates a taint of devices.
    Tolerate {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// Its name; `parent/name` for an alternative.
        request: String,
        /// Key.
        key: String,
        /// Value; may be empty.
        value: String,
        /// Effect.
        effect: String,
    },
    /// Devices lose a taint that their slice gives them.
    RemoveTaint {
        /// As `driver/pool/device`.
        devices: Vec<String>,
        /// Key.
        key: String,
        /// Value; may be empty.
        value: String,
        /// Effect.
        effect: String,
    },
    /// A rule that taints devices is deleted.
    DeleteTaintRule {
        /// Its name.
        rule: String,
    },
    /// A request asks for so many devices.
    AskFor {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// Its name; `parent/name` for an alternative.
        request: String,
        /// How many.
        count: u64,
        /// Whether it asked for all devices that match.
        instead_of_all: bool,
    },
    /// A selector of a request says something else, or is left out.
    ChangeSelector {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// Its name; `parent/name` for an alternative.
        request: String,
        /// Which, of the request's own selectors as they are now.
        index: usize,
        /// What it says then; none if it is left out.
        expression: Option<String>,
        /// The part of it that is changed.
        #[serde(skip)]
        part: String,
        /// What stands there then; none if nothing does.
        #[serde(skip)]
        instead: Option<String>,
    },
    /// A constraint is left out.
    GiveUpConstraint {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// Which, of the constraints as they are now.
        index: usize,
        /// What it compares.
        attribute: String,
    },
    /// A request is left out, and its name in the constraints.
    DropRequest {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// Its name; `parent/name` for an alternative.
        request: String,
    },
    /// A request names another class.
    UseClass {
        /// Where.
        #[serde(flatten)]
        of: Specified,
        /// The class that is named and does not exist.
        from: String,
        /// The one that is meant.
        class: String,
    },
    /// The pool's slices are as many as they say: their `resourceSliceCount` becomes the number of those that are there.
    CompletePool {
        /// Driver.
        driver: String,
        /// Pool.
        pool: String,
        /// Whether there are more slices than they say.
        surplus: bool,
    },
}

impl Change {
    /// In which order changes are made: what names a place by its number goes before what moves others.
    fn phase(&self) -> (u8, std::cmp::Reverse<usize>) {
        let phase = |number| (number, std::cmp::Reverse(0));
        match self {
            Self::GiveUpConstraint { index, .. }
            | Self::ChangeSelector {
                index,
                expression: None,
                ..
            } => (1, std::cmp::Reverse(*index)),
            Self::DropRequest { .. } => phase(2),
            _ => phase(0),
        }
    }
}
