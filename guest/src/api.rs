//! The resource.k8s.io model that every other module works on, whatever version an object came in.
//!
//! `wire` reads the JSON of v1alpha3, v1beta1, v1beta2 and v1 into it (design section 6); nothing is written from it:
//! writes are edits on the JSON that was received. Field names follow resource.k8s.io/v1.

use std::collections::BTreeMap;
use std::sync::Arc;

pub mod edit;
pub mod wire;

/// Which shape an object came in; results are written in the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiVersion {
    /// Kubernetes 1.31; the only one with classic DRA.
    V1Alpha3,
    /// Kubernetes 1.32.
    V1Beta1,
    /// Kubernetes 1.33.
    V1Beta2,
    /// Kubernetes 1.34.
    V1,
}

/// The part of ObjectMeta that decisions depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Name.
    pub name: String,
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// Uid.
    pub uid: String,
    /// Opaque.
    pub resource_version: String,
    /// Whether `deletionTimestamp` is there; its value is never looked at.
    pub being_deleted: bool,
    /// Finalizers in order.
    pub finalizers: Vec<String>,
    /// Uid of the first owner reference with `controller: true`.
    pub controller_uid: Option<String>,
}

/// core/v1 Pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Metadata.
    pub meta: ObjectMeta,
    /// `spec.resourceClaims`, in order.
    pub resource_claims: Vec<PodResourceClaim>,
    /// `status.resourceClaimStatuses`: (name, resourceClaimName).
    pub resource_claim_statuses: Vec<(String, Option<String>)>,
}

/// An entry of `pod.spec.resourceClaims`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodResourceClaim {
    /// The pod's name for the claim.
    pub name: String,
    /// Reference by name.
    pub resource_claim_name: Option<String>,
    /// Reference by template.
    pub resource_claim_template_name: Option<String>,
}

/// core/v1 Node: what node selectors look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Labels.
    pub labels: Labels,
    /// Number of the name, if an index of nodes gave it one: saves looking the name up there.
    pub number: Option<u32>,
}

/// Labels, sorted by key. A map for each of thousands of nodes would take ten times as much memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Box<[(Box<str>, Box<str>)]>);

impl Labels {
    /// The value of a label.
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.binary_search_by(|(known, _)| (**known).cmp(key));
        found.ok().map(|index| &*self.0[index].1)
    }

    /// Keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }
}

impl<K: Into<Box<str>>, V: Into<Box<str>>> FromIterator<(K, V)> for Labels {
    /// Of a key that comes twice the last value counts, as in JSON.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(labels: I) -> Self {
        let labels = labels.into_iter();
        let sorted: BTreeMap<_, _> = labels
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        Self(sorted.into_iter().collect())
    }
}

/// ResourceClaim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceClaim {
    /// Metadata.
    pub meta: ObjectMeta,
    /// Version it came in.
    pub version: ApiVersion,
    /// `spec.devices.requests`.
    pub requests: Vec<DeviceRequest>,
    /// `spec.devices.constraints`.
    pub constraints: Vec<DeviceConstraint>,
    /// `spec.devices.config`.
    pub config: Vec<DeviceConfiguration>,
    /// `spec.controller`, classic DRA; empty means none.
    pub controller: String,
    /// `status.allocation`.
    pub allocation: Option<AllocationResult>,
    /// `status.reservedFor`.
    pub reserved_for: Vec<ConsumerReference>,
    /// `status.deallocationRequested`, classic DRA.
    pub deallocation_requested: bool,
}

/// One request of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Name within the claim.
    pub name: String,
    /// Request for devices of one class, or alternatives.
    pub body: RequestBody,
}

/// Most alternatives of one request.
pub const MAX_ALTERNATIVES: usize = 8;

/// Body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestBody {
    /// `exactly`, or the flat form of v1alpha3 and v1beta1.
    Exactly(ExactRequest),
    /// `firstAvailable`: in order of preference. Empty when neither form was given.
    FirstAvailable(Vec<(String, ExactRequest)>),
}

/// A request for devices of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExactRequest {
    /// `deviceClassName`; empty when missing.
    pub device_class_name: String,
    /// Selectors, all of which must hold.
    pub selectors: Vec<DeviceSelector>,
    /// Allocation mode as given: `ExactCount`, `All`, or something unknown; the defaults were applied by the API.
    pub allocation_mode: String,
    /// `count`; zero when missing.
    pub count: i64,
    /// `adminAccess`.
    pub admin_access: bool,
    /// `tolerations`, copied into results.
    pub tolerations: Vec<DeviceToleration>,
}

/// A toleration of device taints, as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceToleration {
    /// Empty: every key.
    pub key: String,
    /// `Exists` or `Equal`; empty means `Equal`.
    pub operator: String,
    /// Compared by `Equal` only.
    pub value: String,
    /// Empty: every effect.
    pub effect: String,
    /// Only copied.
    pub toleration_seconds: Option<i64>,
}

impl DeviceToleration {
    /// Whether the taint is tolerated: upstream's `ToleratesTaint`.
    pub fn tolerates(&self, taint: &DeviceTaint) -> bool {
        if !self.effect.is_empty() && self.effect != taint.effect.name() {
            return false;
        }
        if !self.key.is_empty() && self.key != *taint.key {
            return false;
        }
        match self.operator.as_str() {
            "" | "Equal" => self.value == *taint.value,
            "Exists" => true,
            _ => false,
        }
    }
}

/// A taint of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTaint {
    /// Key.
    pub key: Arc<str>,
    /// Value; empty when missing.
    pub value: Arc<str>,
    /// What it does to those that do not tolerate it.
    pub effect: TaintEffect,
}

/// Effect of a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaintEffect {
    /// Only informs.
    None,
    /// Prevents allocation.
    NoSchedule,
    /// Prevents allocation, and evicts.
    NoExecute,
}

impl TaintEffect {
    /// As the API writes it.
    pub fn name(self) -> &'static str {
        match self {
            TaintEffect::None => "None",
            TaintEffect::NoSchedule => "NoSchedule",
            TaintEffect::NoExecute => "NoExecute",
        }
    }

    /// From the API's name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::None, Self::NoSchedule, Self::NoExecute]
            .into_iter()
            .find(|effect| effect.name() == name)
    }
}

/// DeviceTaintRule: taints devices from outside of their slices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTaintRule {
    /// Object name.
    pub name: String,
    /// `deviceSelector`. `None` selects nothing, an empty one everything.
    pub selector: Option<TaintSelector>,
    /// The taint.
    pub taint: DeviceTaint,
}

/// Which devices a rule taints; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaintSelector {
    /// Driver.
    pub driver: Option<String>,
    /// Pool name.
    pub pool: Option<String>,
    /// Device name.
    pub device: Option<String>,
}

/// A selector. `None`: one without `cel`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSelector {
    /// CEL expression.
    pub cel: Option<Arc<str>>,
}

/// A constraint of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceConstraint {
    /// Requests it applies to; empty means all.
    pub requests: Vec<String>,
    /// Fully qualified attribute whose values must be equal; lists must have an element in common.
    pub match_attribute: Option<String>,
    /// Fully qualified attribute whose values must be pairwise different; lists must be disjoint. Neither this nor
    /// `match_attribute`: unsupported constraint type.
    pub distinct_attribute: Option<String>,
}

/// Config for a driver, from a class or from a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceConfiguration {
    /// Requests it applies to; empty means all. Always empty in a class.
    pub requests: Vec<String>,
    /// `opaque` as received (an object with `driver` and `parameters`), if there is one.
    pub opaque: Option<serde_json::Value>,
}

impl Eq for DeviceConfiguration {}

/// An entry of `status.reservedFor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerReference {
    /// API group; empty for core.
    pub api_group: String,
    /// Resource, for example `pods`.
    pub resource: String,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
}

/// `status.allocation`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllocationResult {
    /// `devices.results`.
    pub results: Vec<DeviceResult>,
    /// `devices.config`.
    pub config: Vec<AllocationConfiguration>,
    /// `nodeSelector`; absent means available everywhere.
    pub node_selector: Option<NodeSelector>,
    /// `controller`, classic DRA; empty means allocated by the scheduler.
    pub controller: String,
}

/// One allocated device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceResult {
    /// Request, or `parent/sub`.
    pub request: String,
    /// Driver.
    pub driver: Arc<str>,
    /// Pool.
    pub pool: Arc<str>,
    /// Device.
    pub device: Arc<str>,
    /// Marked as admin access (absent in v1alpha3).
    pub admin_access: bool,
    /// Those of the request. Not read from allocated claims.
    pub tolerations: Vec<DeviceToleration>,
}

/// A config entry of an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationConfiguration {
    /// Where it came from.
    pub source: ConfigSource,
    /// The entry.
    pub config: DeviceConfiguration,
}

/// `source` of a config entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// `FromClass`.
    Class,
    /// `FromClaim`.
    Claim,
}

/// DeviceClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceClass {
    /// Name.
    pub name: String,
    /// Selectors.
    pub selectors: Vec<DeviceSelector>,
    /// Config.
    pub config: Vec<DeviceConfiguration>,
    /// `suitableNodes`, classic DRA.
    pub suitable_nodes: Option<NodeSelector>,
}

/// ResourceSlice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSlice {
    /// Object name.
    pub name: String,
    /// Driver.
    pub driver: Arc<str>,
    /// Pool name.
    pub pool: Arc<str>,
    /// Pool generation.
    pub generation: i64,
    /// Number of slices of the pool at this generation.
    pub resource_slice_count: i64,
    /// Which nodes can reach the devices.
    pub reach: Reach,
    /// Devices in order.
    pub devices: Vec<Device>,
    /// `sharedCounters`, for the devices of all slices of the pool.
    pub counters: Vec<CounterSet>,
}

/// Counters that devices share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSet {
    /// Name within the pool.
    pub name: Arc<str>,
    /// Counters sorted by name, in billionths.
    pub counters: Vec<(Arc<str>, i128)>,
}

/// Which nodes can reach a slice. `nodeName` wins over `allNodes`, which wins over `nodeSelector` (spec 9.1.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// One node.
    NodeName(String),
    /// All nodes.
    AllNodes,
    /// Nodes that match.
    NodeSelector(NodeSelector),
    /// Each device says it itself ([`DeviceExtra::reach`]). A device does not.
    PerDevice,
    /// None of the fields is set.
    Nowhere,
}

/// A device of a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Name within the pool.
    pub name: Arc<str>,
    /// False for a v1alpha3 or v1beta1 device without `basic`: never selectable.
    pub usable: bool,
    /// Attributes sorted by name; names as given, with or without a domain.
    pub attributes: Arc<[(Arc<str>, Attribute)]>,
    /// Capacities sorted by name: quantities as written.
    pub capacity: Arc<[(Arc<str>, Arc<str>)]>,
    /// What few devices have.
    pub extra: Option<Box<DeviceExtra>>,
}

/// What few devices have, apart so that the others stay small.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceExtra {
    /// `taints`.
    pub taints: Vec<DeviceTaint>,
    /// `consumesCounters`: amounts of counters of the named sets.
    pub consumes: Vec<CounterSet>,
    /// Which nodes can reach the device, if the slice leaves it to its devices.
    pub reach: Option<Reach>,
}

/// Value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// `int`.
    Int(i64),
    /// `bool`.
    Bool(bool),
    /// `string`.
    String(Arc<str>),
    /// `version`: semantic version as written, not yet parsed.
    Version(Arc<str>),
    /// `ints`, `bools`, `strings` or `versions`: values of one kind.
    List(Arc<[Attribute]>),
    /// No kind, or one that this version does not know.
    Unknown,
}

/// core/v1 NodeSelector as received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelector {
    /// Terms, ORed.
    pub terms: Vec<NodeSelectorTerm>,
}

/// One term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelectorTerm {
    /// On labels.
    pub match_expressions: Vec<NodeSelectorRequirement>,
    /// On fields.
    pub match_fields: Vec<NodeSelectorRequirement>,
}

/// One requirement of a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSelectorRequirement {
    /// Label key or field.
    pub key: String,
    /// Operator as written.
    pub operator: String,
    /// Values in order.
    pub values: Vec<String>,
}

/// PodSchedulingContext, classic DRA, v1alpha3 only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSchedulingContext {
    /// Metadata.
    pub meta: ObjectMeta,
    /// `spec.selectedNode`.
    pub selected_node: String,
    /// `spec.potentialNodes`.
    pub potential_nodes: Vec<String>,
    /// `status.resourceClaims`: (name, unsuitableNodes).
    pub claims: Vec<(String, Vec<String>)>,
}
