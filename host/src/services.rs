//! What a plugin asks of the host: the imported interfaces as one trait, [`Services`]. Types are those of the contract in
//! `wit/imports.wit`, where the rules of each call stand.

use std::fmt;
use std::sync::{Arc, Mutex};

use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{Revision, Slot, Verb};

/// Contract: `types.api-error-reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum ApiErrorReason {
    NotFound,
    Conflict,
    AlreadyExists,
    Forbidden,
    Invalid,
    Timeout,
    Other,
}

/// Contract: `types.api-error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Class.
    pub reason: ApiErrorReason,
    /// The server's text.
    pub message: String,
}

impl ApiError {
    /// Whether the server may have done what it was asked for.
    pub fn leaves_open(&self) -> bool {
        matches!(self.reason, ApiErrorReason::Timeout | ApiErrorReason::Other)
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// Contract: `cluster.entry`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Number within the kind.
    pub slot: Slot,
    /// The copy that is shown.
    pub object: Object,
    /// Put in place by `assume`, not confirmed yet.
    pub assumed: bool,
}

/// Contract: `cluster.change`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Change {
    Put(Entry),
    Deleted { slot: Slot, id: ObjectRef },
}

/// Contract: `cluster.page` and `ledger.in-flight-page`.
#[derive(Clone, Debug)]
pub struct Page<C> {
    /// Forget everything first.
    pub reset: bool,
    /// Oldest first.
    pub changes: Vec<C>,
    /// Where to go on.
    pub until: Revision,
    /// There is more.
    pub more: bool,
}

/// Contract: `ledger.in-flight`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Object.
    pub target: ObjectRef,
    /// Uid of the pod.
    pub holder: String,
    /// The object as it will be written.
    pub json: Arc<[u8]>,
}

/// Contract: `ledger.in-flight-change`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum InFlightChange {
    Put(InFlight),
    Removed(ObjectRef),
}

/// Contract: `api.patch-type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum PatchType {
    Merge,
    StrategicMerge,
    JsonPatch,
}

/// Contract: `log.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// A write, or a read past the cache, that a plugin asks for.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "documented in the contract, interface `api`")]
pub enum ApiCall {
    Get {
        kind: Kind,
        namespace: String,
        name: String,
    },
    Create {
        object: Object,
    },
    Update {
        object: Object,
    },
    UpdateStatus {
        object: Object,
    },
    PatchStatus {
        kind: Kind,
        namespace: String,
        name: String,
        patch_type: PatchType,
        patch: Vec<u8>,
    },
    Apply {
        object: Object,
        field_manager: String,
        force: bool,
    },
    Delete {
        target: ObjectRef,
    },
}

impl ApiCall {
    /// Which call it is.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Get { .. } => Verb::Get,
            Self::Create { .. } => Verb::Create,
            Self::Update { .. } => Verb::Update,
            Self::UpdateStatus { .. } => Verb::UpdateStatus,
            Self::PatchStatus { .. } => Verb::PatchStatus,
            Self::Apply { .. } => Verb::Apply,
            Self::Delete { .. } => Verb::Delete,
        }
    }

    /// Kind, namespace and name of the object it is about.
    pub fn target(&self) -> (&Kind, &str, &str) {
        match self {
            Self::Get {
                kind,
                namespace,
                name,
            }
            | Self::PatchStatus {
                kind,
                namespace,
                name,
                ..
            } => (kind, namespace, name),
            Self::Create { object }
            | Self::Update { object }
            | Self::UpdateStatus { object }
            | Self::Apply { object, .. } => {
                let id = object.id();
                (&id.kind, &id.namespace, &id.name)
            }
            Self::Delete { target } => (&target.kind, &target.namespace, &target.name),
        }
    }

    /// Kind of the object it is about.
    pub fn kind(&self) -> &Kind {
        self.target().0
    }
}

/// What a plugin may ask of the host: the imported interfaces, after grants and limits were checked. The cluster implements
/// it; tests put doubles in its place.
pub trait Services: Send {
    /// `cluster.changes`.
    fn changes(&mut self, kind: &Kind, since: Revision) -> Page<Change>;
    /// `cluster.get`.
    fn get(&mut self, kind: &Kind, namespace: &str, name: &str) -> Result<Entry, ApiError>;
    /// `ledger.in-flight-changes`.
    fn in_flight_changes(&mut self, since: Revision) -> Page<InFlightChange>;
    /// `ledger.get-in-flight`.
    fn get_in_flight(&mut self, kind: &Kind, uid: &str) -> Option<InFlight>;
    /// `ledger.put-in-flight`, for the pod with this uid.
    fn put_in_flight(&mut self, pod_uid: &str, entries: Vec<InFlight>) -> Result<(), ApiError>;
    /// `ledger.remove-in-flight`, for the pod with this uid.
    fn remove_in_flight(&mut self, pod_uid: &str, kind: &Kind, uid: &str, wake: bool) -> bool;
    /// `ledger.assume`.
    fn assume(&mut self, object: Object) -> Result<(), ApiError>;
    /// `ledger.restore`.
    fn restore(&mut self, kind: &Kind, namespace: &str, name: &str);
    /// `api`, all of it. `None` as a result means a deletion took place.
    fn call(&mut self, call: ApiCall) -> Result<Option<Object>, ApiError>;
    /// `clock.now`.
    fn now(&mut self) -> u64;
    /// `random.next`.
    fn random(&mut self) -> u64;
    /// `log.enabled`.
    fn log_enabled(&self, level: LogLevel) -> bool;
    /// `log.write`.
    fn log(&mut self, level: LogLevel, plugin: &str, message: &str, fields: &[(String, String)]);
}

/// The services, shared by all instances. The host's loop runs one call at a time, so the lock is never waited for.
pub type SharedServices = Arc<Mutex<dyn Services>>;
