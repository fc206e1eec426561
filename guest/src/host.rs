//! What the plugin may ask of its host: the imported interfaces as one trait, so that everything else builds and runs
//! natively. The component's side of it, the only code that names the imports, is `glue`.

/// Kind and group of the objects that the plugin works with.
pub mod kinds {
    /// core/v1 Pod.
    pub const POD: &str = "Pod";
    /// core/v1 Node.
    pub const NODE: &str = "Node";
    /// ResourceClaim.
    pub const RESOURCE_CLAIM: &str = "ResourceClaim.resource.k8s.io";
    /// ResourceClaimTemplate; only advice looks at it.
    pub const RESOURCE_CLAIM_TEMPLATE: &str = "ResourceClaimTemplate.resource.k8s.io";
    /// DeviceClass.
    pub const DEVICE_CLASS: &str = "DeviceClass.resource.k8s.io";
    /// ResourceSlice.
    pub const RESOURCE_SLICE: &str = "ResourceSlice.resource.k8s.io";
    /// DeviceTaintRule.
    pub const DEVICE_TAINT_RULE: &str = "DeviceTaintRule.resource.k8s.io";
    /// PodSchedulingContext, classic DRA.
    pub const POD_SCHEDULING_CONTEXT: &str = "PodSchedulingContext.resource.k8s.io";
}

/// `types.revision`.
pub type Revision = u64;
/// `cluster.slot`.
pub type Slot = u32;

/// `types.object-ref`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// `Kind.group`.
    pub kind: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
}

/// `types.object`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Which.
    pub id: ObjectRef,
    /// Opaque.
    pub resource_version: String,
    /// UTF-8 JSON.
    pub json: Vec<u8>,
}

/// `cluster.change`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Added or changed.
    Put {
        /// Number within the kind.
        slot: Slot,
        /// The copy that is shown.
        object: Object,
        /// Written by this host, not confirmed by the API yet.
        assumed: bool,
    },
    /// Gone.
    Deleted {
        /// Number within the kind.
        slot: Slot,
        /// What it was.
        id: ObjectRef,
    },
}

/// `cluster.page` and `ledger.in-flight-page`.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// `ledger.in-flight`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Object.
    pub target: ObjectRef,
    /// Uid of the pod.
    pub holder: String,
    /// The object as it will be written.
    pub json: Vec<u8>,
}

/// `ledger.in-flight-change`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InFlightChange {
    /// Added or replaced.
    Put(InFlight),
    /// Gone.
    Removed(ObjectRef),
}

/// `types.api-error-reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiErrorReason {
    /// No such object.
    NotFound,
    /// Stale.
    Conflict,
    /// Name taken.
    AlreadyExists,
    /// Not allowed.
    Forbidden,
    /// Refused content.
    Invalid,
    /// Outcome unknown.
    Timeout,
    /// Anything else.
    Other,
}

/// `types.api-error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// Class.
    pub reason: ApiErrorReason,
    /// Text.
    pub message: String,
}

/// `clock.sleep-error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepError {
    /// Sleeping is not allowed in this call.
    NotHere,
    /// The host gave up on the pod.
    Cancelled,
}

/// `log.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Error.
    Error,
    /// Warning.
    Warn,
    /// Information.
    Info,
    /// Debug.
    Debug,
    /// Trace.
    Trace,
}

/// The imported interfaces; each method is the function of the same name in `wit/imports.wit`, where its rules stand.
#[allow(
    missing_docs,
    reason = "documented in the contract, one line per function would only repeat it"
)]
pub trait Host {
    fn changes(&self, kind: &str, since: Revision) -> Result<Page<Change>, ApiError>;
    fn in_flight_changes(&self, since: Revision) -> Page<InFlightChange>;
    fn get_in_flight(&self, kind: &str, uid: &str) -> Option<InFlight>;
    fn put_in_flight(&self, entries: &[InFlight]) -> Result<(), ApiError>;
    fn remove_in_flight(&self, kind: &str, uid: &str, wake: bool) -> bool;
    fn assume(&self, object: &Object) -> Result<(), ApiError>;
    fn restore(&self, kind: &str, namespace: &str, name: &str);

    fn cached(&self, kind: &str, namespace: &str, name: &str) -> Result<Object, ApiError>;
    fn api_get(&self, kind: &str, namespace: &str, name: &str) -> Result<Object, ApiError>;
    fn api_create(&self, json: &[u8]) -> Result<Object, ApiError>;
    fn api_update(&self, json: &[u8]) -> Result<Object, ApiError>;
    fn api_update_status(&self, json: &[u8]) -> Result<Object, ApiError>;
    fn api_patch_status_strategic(&self, id: &ObjectRef, patch: &[u8]) -> Result<Object, ApiError>;
    fn api_apply(&self, json: &[u8], field_manager: &str, force: bool) -> Result<Object, ApiError>;
    fn api_delete(&self, target: &ObjectRef) -> Result<(), ApiError>;

    fn now(&self) -> u64;
    fn sleep(&self, nanoseconds: u64) -> Result<(), SleepError>;
    fn random(&self) -> u64;
    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]);
}
