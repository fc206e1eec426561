//! Wire structs: the union of all API versions' fields, each optional, so that one pass reads any version.
//!
//! `_object` comes first everywhere and keeps serde from taking a list for a struct. `Filled` fields are those that are not implemented; the conversions refuse them when they say something.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::text::{Filled, OnlyObject, Pairs, Quantity, Str};

/// What all kinds share; a macro because serde's `flatten` would buffer every field.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name<'a> {
            #[serde(rename = "", default)]
            _object: OnlyObject,
            #[serde(borrow)]
            pub(super) api_version: Option<Str<'a>>,
            #[serde(borrow)]
            pub(super) kind: Option<Str<'a>>,
            #[serde(borrow)]
            pub(super) metadata: Option<Metadata<'a>>,
            $($(#[$attr])* #[serde(borrow)] pub(super) $field: Option<$type>,)*
        }

        impl<'a> super::Object<'a> for $name<'a> {
            fn header(&self) -> super::Header<'_> {
                super::Header {
                    api_version: self.api_version.as_ref().map(Str::as_str),
                    kind: self.kind.as_ref().map(Str::as_str),
                    named: self.metadata.as_ref().is_some_and(|m| m.name.as_ref().is_some_and(|n| !n.as_str().is_empty())),
                }
            }
        }
    };
}

/// A struct whose fields are all optional.
macro_rules! wire {
    ($name:ident { $($(#[$attr:meta])* $field:ident: $type:ty,)* }) => {
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct $name<'a> {
            #[serde(rename = "", default)]
            _object: OnlyObject,
            $($(#[$attr])* #[serde(borrow)] pub(super) $field: Option<$type>,)*
        }
    };
}

object!(Pod { spec: PodSpec<'a>, status: PodStatus<'a>, });
object!(Claim { spec: ClaimSpec<'a>, status: ClaimStatus<'a>, });
object!(Template { spec: TemplateSpec<'a>, });
object!(Class { spec: ClassSpec<'a>, });
object!(Slice { spec: SliceSpec<'a>, });
object!(TaintRule { spec: TaintRuleSpec<'a>, });
object!(Context { spec: ContextSpec<'a>, status: ContextStatus<'a>, });
object!(Node {});

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) namespace: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) uid: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) resource_version: Option<Str<'a>>,
    pub(super) deletion_timestamp: Option<IgnoredAny>,
    #[serde(borrow)]
    pub(super) finalizers: Option<Vec<Str<'a>>>,
    #[serde(borrow)]
    pub(super) owner_references: Option<Vec<OwnerReference<'a>>>,
    #[serde(borrow)]
    pub(super) labels: Option<Pairs<'a, Str<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct OwnerReference<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) uid: Option<Str<'a>>,
    pub(super) controller: Option<bool>,
}

wire!(PodSpec { resource_claims: Vec<PodResourceClaim<'a>>, });
wire!(PodStatus { resource_claim_statuses: Vec<PodResourceClaim<'a>>, });

// Serves for the status entries too, which have the first two fields.
wire!(PodResourceClaim {
    name: Str<'a>,
    resource_claim_name: Str<'a>,
    resource_claim_template_name: Str<'a>,
    source: PodClaimSource<'a>,
});

// Only to tell that it is no longer read.
wire!(PodClaimSource { resource_claim_name: Str<'a>, resource_claim_template_name: Str<'a>, });

wire!(ClaimSpec { devices: DeviceClaim<'a>, controller: Str<'a>, });
wire!(TemplateSpec { spec: ClaimSpec<'a>, });
wire!(DeviceClaim { requests: Vec<Request<'a>>, constraints: Vec<Constraint<'a>>, config: Vec<Config<'a>>, });

/// A request in either form, and what is below `exactly` or in `firstAvailable`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) exactly: Option<Box<Request<'a>>>,
    #[serde(borrow)]
    pub(super) first_available: Option<Vec<Request<'a>>>,
    #[serde(borrow)]
    pub(super) device_class_name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) selectors: Option<Vec<Selector<'a>>>,
    #[serde(borrow)]
    pub(super) allocation_mode: Option<Str<'a>>,
    pub(super) count: Option<i64>,
    pub(super) admin_access: Option<bool>,
    pub(super) capacity: Option<CapacityRequests>,
    #[serde(borrow)]
    pub(super) tolerations: Option<Vec<Toleration<'a>>>,
    #[serde(default)]
    pub(super) derived_attributes: Filled,
}

#[derive(Deserialize)]
pub(super) struct CapacityRequests {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(default)]
    pub(super) requests: Filled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Toleration<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) key: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) operator: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) value: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) effect: Option<Str<'a>>,
    pub(super) toleration_seconds: Option<i64>,
}

wire!(Selector { cel: CelSelector<'a>, });
wire!(CelSelector { expression: Str<'a>, });
wire!(Constraint { requests: Vec<Str<'a>>, match_attribute: Str<'a>, distinct_attribute: Str<'a>, });

/// A config entry of a class, a claim or an allocation.
#[derive(Deserialize)]
pub(super) struct Config<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) source: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) requests: Option<Vec<Str<'a>>>,
    pub(super) opaque: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaimStatus<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) allocation: Option<Allocation<'a>>,
    #[serde(borrow)]
    pub(super) reserved_for: Option<Vec<Consumer<'a>>>,
    pub(super) deallocation_requested: Option<bool>,
}

wire!(Consumer { api_group: Str<'a>, resource: Str<'a>, name: Str<'a>, uid: Str<'a>, });
wire!(Allocation { devices: AllocatedDevices<'a>, node_selector: NodeSelector<'a>, controller: Str<'a>, });
wire!(AllocatedDevices { results: Vec<AllocatedDevice<'a>>, config: Vec<Config<'a>>, });

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AllocatedDevice<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) request: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) driver: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) pool: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) device: Option<Str<'a>>,
    pub(super) admin_access: Option<bool>,
    #[serde(default, rename = "shareID")]
    pub(super) share_id: Filled,
    #[serde(default)]
    pub(super) consumed_capacity: Filled,
    #[serde(default)]
    pub(super) binding_conditions: Filled,
    #[serde(default)]
    pub(super) binding_failure_conditions: Filled,
    #[serde(default)]
    pub(super) compatibility_groups: Filled,
}

wire!(NodeSelector { node_selector_terms: Vec<NodeSelectorTerm<'a>>, });
wire!(NodeSelectorTerm { match_expressions: Vec<Requirement<'a>>, match_fields: Vec<Requirement<'a>>, });
wire!(Requirement { key: Str<'a>, operator: Str<'a>, values: Vec<Str<'a>>, });

wire!(ClassSpec { selectors: Vec<Selector<'a>>, config: Vec<Config<'a>>, suitable_nodes: NodeSelector<'a>, });

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct SliceSpec<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) driver: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) pool: Option<Pool<'a>>,
    #[serde(borrow)]
    pub(super) node_name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) node_selector: Option<NodeSelector<'a>>,
    pub(super) all_nodes: Option<bool>,
    #[serde(borrow)]
    pub(super) devices: Option<Vec<Device<'a>>>,
    pub(super) per_device_node_selection: Option<bool>,
    #[serde(borrow)]
    pub(super) shared_counters: Option<Vec<CounterSet<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pool<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    pub(super) generation: Option<i64>,
    pub(super) resource_slice_count: Option<i64>,
}

/// A device in either form, and what is below `basic`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct Device<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) basic: Option<Box<Device<'a>>>,
    #[serde(borrow)]
    pub(super) attributes: Option<Pairs<'a, Attribute<'a>>>,
    #[serde(borrow)]
    pub(super) capacity: Option<Pairs<'a, Quantity<'a>>>,
    #[serde(borrow)]
    pub(super) taints: Option<Vec<Taint<'a>>>,
    #[serde(borrow)]
    pub(super) consumes_counters: Option<Vec<CounterSet<'a>>>,
    #[serde(borrow)]
    pub(super) node_name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) node_selector: Option<NodeSelector<'a>>,
    pub(super) all_nodes: Option<bool>,
    #[serde(default)]
    pub(super) allow_multiple_allocations: Filled,
    #[serde(default)]
    pub(super) binds_to_node: Filled,
    #[serde(default)]
    pub(super) binding_conditions: Filled,
    #[serde(default)]
    pub(super) binding_failure_conditions: Filled,
    #[serde(default)]
    pub(super) node_allocatable_resources: Filled,
    #[serde(default)]
    pub(super) node_allocatable_resource_mappings: Filled,
}

wire!(Taint { key: Str<'a>, value: Str<'a>, effect: Str<'a>, });

/// With `name` where it is defined, with `counterSet` where it is consumed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CounterSet<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) counter_set: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) counters: Option<Pairs<'a, Quantity<'a>>>,
    #[serde(default)]
    pub(super) compatibility_groups: Filled,
}

wire!(TaintRuleSpec { device_selector: TaintSelector<'a>, taint: Taint<'a>, });
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaintSelector<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    #[serde(borrow)]
    pub(super) driver: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) pool: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) device: Option<Str<'a>>,
    #[serde(default)]
    pub(super) device_class_name: Filled,
    #[serde(default)]
    pub(super) selectors: Filled,
}

#[derive(Deserialize)]
pub(super) struct Attribute<'a> {
    #[serde(rename = "", default)]
    _object: OnlyObject,
    pub(super) int: Option<i64>,
    pub(super) bool: Option<bool>,
    #[serde(borrow)]
    pub(super) string: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) version: Option<Str<'a>>,
    pub(super) ints: Option<Vec<i64>>,
    pub(super) bools: Option<Vec<bool>>,
    #[serde(borrow)]
    pub(super) strings: Option<Vec<Str<'a>>>,
    #[serde(borrow)]
    pub(super) versions: Option<Vec<Str<'a>>>,
}

wire!(ContextSpec { selected_node: Str<'a>, potential_nodes: Vec<Str<'a>>, });
wire!(ContextStatus { resource_claims: Vec<ContextClaim<'a>>, });
wire!(ContextClaim { name: Str<'a>, unsuitable_nodes: Vec<Str<'a>>, });
