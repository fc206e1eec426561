//! What each kind looks like in each API version, as data: where a key belongs and which type its value has.
//!
//! Reading is done by the wire structs; these tables serve the slow second look at an object that failed, or that lacks
//! a key it should have (`diagnose`), which must say where the fault is, and the search for keys that no version has
//! there (`strays`). What is not read is `ANYTHING`.

use super::Kind;
use crate::api::ApiVersion;

/// Type of a value.
#[derive(Debug)]
pub(super) enum Shape {
    /// String.
    Text,
    /// 64-bit integer.
    Integer,
    /// Boolean.
    Boolean,
    /// Quantity, as a string or a number.
    Quantity,
    /// Object with a quantity under `value`.
    WrappedQuantity,
    /// Not looked into.
    Anything,
    /// List.
    List(&'static Shape),
    /// Object with free keys.
    Map(&'static Shape),
    /// Object with these keys among others.
    Object(&'static [Field]),
}

/// A key of an object.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) need: Need,
    pub(super) shape: &'static Shape,
}

/// Whether a key is missed when it is absent. Nothing is refused for that alone; but if the key is there in another
/// case, that is what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// May be absent.
    No,
    /// Should be there.
    Yes,
    /// One of the keys so marked should be there.
    OneOf,
}

const fn may(key: &'static str, shape: &'static Shape) -> Field {
    Field {
        key,
        need: Need::No,
        shape,
    }
}

const fn must(key: &'static str, shape: &'static Shape) -> Field {
    Field {
        key,
        need: Need::Yes,
        shape,
    }
}

const fn one_of(key: &'static str, shape: &'static Shape) -> Field {
    Field {
        key,
        need: Need::OneOf,
        shape,
    }
}

/// Shape of a kind in a version; core kinds and the scheduling context have only one.
pub(super) fn shape(kind: Kind, version: ApiVersion) -> &'static Shape {
    match (kind, version) {
        (Kind::Pod, _) => &POD,
        (Kind::Node, _) => &NODE,
        (Kind::PodSchedulingContext, _) => &CONTEXT,
        (Kind::DeviceTaintRule, _) => &TAINT_RULE,
        (Kind::DeviceClass, ApiVersion::V1Alpha3) => &CLASSIC_CLASS,
        (Kind::DeviceClass, _) => &CLASS,
        (Kind::ResourceClaim, ApiVersion::V1Alpha3) => &CLASSIC_CLAIM,
        (Kind::ResourceClaim, ApiVersion::V1Beta1) => &FLAT_CLAIM,
        (Kind::ResourceClaim, ApiVersion::V1Beta2 | ApiVersion::V1) => &CLAIM,
        (Kind::ResourceClaimTemplate, ApiVersion::V1Alpha3) => &CLASSIC_TEMPLATE,
        (Kind::ResourceClaimTemplate, ApiVersion::V1Beta1) => &FLAT_TEMPLATE,
        (Kind::ResourceClaimTemplate, ApiVersion::V1Beta2 | ApiVersion::V1) => &TEMPLATE,
        (Kind::ResourceSlice, ApiVersion::V1Alpha3) => &BARE_SLICE,
        (Kind::ResourceSlice, ApiVersion::V1Beta1) => &BASIC_SLICE,
        (Kind::ResourceSlice, ApiVersion::V1Beta2 | ApiVersion::V1) => &SLICE,
    }
}

static TEXT: Shape = Shape::Text;
static TEXTS: Shape = Shape::List(&Shape::Text);
static INTEGER: Shape = Shape::Integer;
static BOOLEAN: Shape = Shape::Boolean;
static ANYTHING: Shape = Shape::Anything;

static METADATA: Shape = Shape::Object(&[
    must("name", &TEXT),
    may("namespace", &TEXT),
    may("uid", &TEXT),
    may("resourceVersion", &TEXT),
    may("generateName", &ANYTHING),
    may("generation", &ANYTHING),
    may("creationTimestamp", &ANYTHING),
    may("deletionTimestamp", &ANYTHING),
    may("deletionGracePeriodSeconds", &ANYTHING),
    may("annotations", &ANYTHING),
    may("managedFields", &ANYTHING),
    may("selfLink", &ANYTHING),
    may("finalizers", &TEXTS),
    may("ownerReferences", &Shape::List(&OWNER_REFERENCE)),
    may("labels", &Shape::Map(&TEXT)),
]);
static OWNER_REFERENCE: Shape = Shape::Object(&[
    may("apiVersion", &ANYTHING),
    may("kind", &ANYTHING),
    may("name", &ANYTHING),
    may("uid", &TEXT),
    may("controller", &BOOLEAN),
    may("blockOwnerDeletion", &ANYTHING),
]);

static POD: Shape = Shape::Object(&[
    must("metadata", &METADATA),
    may("spec", &POD_SPEC),
    may("status", &POD_STATUS),
]);
static POD_SPEC: Shape = Shape::Object(&[may("resourceClaims", &Shape::List(&POD_CLAIM))]);
static POD_CLAIM: Shape = Shape::Object(&[
    must("name", &TEXT),
    one_of("resourceClaimName", &TEXT),
    one_of("resourceClaimTemplateName", &TEXT),
]);
static POD_STATUS: Shape = Shape::Object(&[may(
    "resourceClaimStatuses",
    &Shape::List(&POD_CLAIM_STATUS),
)]);
static POD_CLAIM_STATUS: Shape =
    Shape::Object(&[must("name", &TEXT), may("resourceClaimName", &TEXT)]);

static NODE: Shape = Shape::Object(&[must("metadata", &METADATA)]);

static CONTEXT: Shape = Shape::Object(&[
    must("metadata", &METADATA),
    may("spec", &CONTEXT_SPEC),
    may("status", &CONTEXT_STATUS),
]);
static CONTEXT_SPEC: Shape =
    Shape::Object(&[may("selectedNode", &TEXT), may("potentialNodes", &TEXTS)]);
static CONTEXT_STATUS: Shape =
    Shape::Object(&[may("resourceClaims", &Shape::List(&CONTEXT_CLAIM))]);
static CONTEXT_CLAIM: Shape = Shape::Object(&[must("name", &TEXT), may("unsuitableNodes", &TEXTS)]);

static CLASS: Shape = Shape::Object(&[must("metadata", &METADATA), must("spec", &CLASS_SPEC)]);
static CLASS_SPEC: Shape = Shape::Object(&[
    may("extendedResourceName", &ANYTHING),
    may("selectors", &SELECTORS),
    may("config", &Shape::List(&CLASS_CONFIG)),
]);
/// v1alpha3, with classic DRA.
static CLASSIC_CLASS: Shape = Shape::Object(&[
    must("metadata", &METADATA),
    must("spec", &CLASSIC_CLASS_SPEC),
]);
static CLASSIC_CLASS_SPEC: Shape = Shape::Object(&[
    may("selectors", &SELECTORS),
    may("config", &Shape::List(&CLASS_CONFIG)),
    may("suitableNodes", &NODE_SELECTOR),
]);
static SELECTORS: Shape = Shape::List(&SELECTOR);
static SELECTOR: Shape = Shape::Object(&[must("cel", &CEL)]);
static CEL: Shape = Shape::Object(&[must("expression", &TEXT)]);
static CONFIG: Shape = Shape::Object(&[may("requests", &TEXTS), must("opaque", &OPAQUE)]);
static CLASS_CONFIG: Shape = Shape::Object(&[must("opaque", &OPAQUE)]);
static OPAQUE: Shape = Shape::Object(&[may("driver", &ANYTHING), may("parameters", &ANYTHING)]);

/// A claim with a spec of this shape.
macro_rules! claim {
    ($spec:expr) => {
        Shape::Object(&[
            must("metadata", &METADATA),
            must("spec", $spec),
            may("status", &CLAIM_STATUS),
        ])
    };
}

/// A template of claims with a spec of this shape.
macro_rules! template {
    ($spec:expr) => {
        Shape::Object(&[
            must("metadata", &METADATA),
            must(
                "spec",
                &Shape::Object(&[may("metadata", &ANYTHING), must("spec", $spec)]),
            ),
        ])
    };
}

/// v1alpha3, with classic DRA.
static CLASSIC_CLAIM: Shape = claim!(&CLASSIC_CLAIM_SPEC);
static CLASSIC_CLAIM_SPEC: Shape = Shape::Object(&[
    must("devices", &FLAT_DEVICE_CLAIM),
    may("controller", &TEXT),
]);
static CLASSIC_TEMPLATE: Shape = template!(&CLASSIC_CLAIM_SPEC);
static FLAT_CLAIM: Shape = claim!(&FLAT_CLAIM_SPEC);
static FLAT_CLAIM_SPEC: Shape = Shape::Object(&[must("devices", &FLAT_DEVICE_CLAIM)]);
static CLAIM: Shape = claim!(&CLAIM_SPEC);
static CLAIM_SPEC: Shape = Shape::Object(&[must("devices", &DEVICE_CLAIM)]);
static FLAT_TEMPLATE: Shape = template!(&FLAT_CLAIM_SPEC);
static TEMPLATE: Shape = template!(&CLAIM_SPEC);
static FLAT_DEVICE_CLAIM: Shape = Shape::Object(&[
    must("requests", &Shape::List(&FLAT_REQUEST)),
    may("constraints", &CONSTRAINTS),
    may("config", &Shape::List(&CONFIG)),
]);
static DEVICE_CLAIM: Shape = Shape::Object(&[
    must("requests", &Shape::List(&REQUEST)),
    may("constraints", &CONSTRAINTS),
    may("config", &Shape::List(&CONFIG)),
]);
static CONSTRAINTS: Shape = Shape::List(&CONSTRAINT);
static CONSTRAINT: Shape = Shape::Object(&[
    may("requests", &TEXTS),
    one_of("matchAttribute", &TEXT),
    one_of("distinctAttribute", &TEXT),
]);

/// v1alpha3 and v1beta1.
static FLAT_REQUEST: Shape = Shape::Object(&[
    must("name", &TEXT),
    one_of("deviceClassName", &TEXT),
    one_of("firstAvailable", &Shape::List(&SUB_REQUEST)),
    may("selectors", &SELECTORS),
    may("allocationMode", &TEXT),
    may("count", &INTEGER),
    may("adminAccess", &BOOLEAN),
    may("tolerations", &TOLERATIONS),
    may("capacity", &CAPACITY_REQUESTS),
    may("derivedAttributes", &ANYTHING),
]);
static REQUEST: Shape = Shape::Object(&[
    must("name", &TEXT),
    one_of("exactly", &EXACT_REQUEST),
    one_of("firstAvailable", &Shape::List(&SUB_REQUEST)),
]);
static EXACT_REQUEST: Shape = Shape::Object(&[
    must("deviceClassName", &TEXT),
    may("selectors", &SELECTORS),
    may("allocationMode", &TEXT),
    may("count", &INTEGER),
    may("adminAccess", &BOOLEAN),
    may("tolerations", &TOLERATIONS),
    may("capacity", &CAPACITY_REQUESTS),
    may("derivedAttributes", &ANYTHING),
]);
static SUB_REQUEST: Shape = Shape::Object(&[
    must("name", &TEXT),
    must("deviceClassName", &TEXT),
    may("selectors", &SELECTORS),
    may("allocationMode", &TEXT),
    may("count", &INTEGER),
    may("tolerations", &TOLERATIONS),
    may("capacity", &CAPACITY_REQUESTS),
    may("derivedAttributes", &ANYTHING),
]);
static CAPACITY_REQUESTS: Shape = Shape::Object(&[may("requests", &ANYTHING)]);

static TOLERATIONS: Shape = Shape::List(&Shape::Object(&[
    may("key", &TEXT),
    may("operator", &TEXT),
    may("value", &TEXT),
    may("effect", &TEXT),
    may("tolerationSeconds", &INTEGER),
]));

static CLAIM_STATUS: Shape = Shape::Object(&[
    may("allocation", &ALLOCATION),
    may("reservedFor", &Shape::List(&CONSUMER)),
    may("devices", &ANYTHING),
    may("deallocationRequested", &BOOLEAN),
]);
static CONSUMER: Shape = Shape::Object(&[
    may("apiGroup", &TEXT),
    must("resource", &TEXT),
    must("name", &TEXT),
    must("uid", &TEXT),
]);
static ALLOCATION: Shape = Shape::Object(&[
    may("devices", &ALLOCATED_DEVICES),
    may("nodeSelector", &NODE_SELECTOR),
    may("controller", &TEXT),
    may("allocationTimestamp", &ANYTHING),
]);
static ALLOCATED_DEVICES: Shape = Shape::Object(&[
    may("results", &Shape::List(&ALLOCATED_DEVICE)),
    may("config", &Shape::List(&ALLOCATED_CONFIG)),
]);
static ALLOCATED_DEVICE: Shape = Shape::Object(&[
    must("request", &TEXT),
    must("driver", &TEXT),
    must("pool", &TEXT),
    must("device", &TEXT),
    may("adminAccess", &BOOLEAN),
    may("tolerations", &ANYTHING),
    may("shareID", &ANYTHING),
    may("consumedCapacity", &ANYTHING),
    may("bindingConditions", &ANYTHING),
    may("bindingFailureConditions", &ANYTHING),
    may("compatibilityGroups", &ANYTHING),
    may("skipNodeOperations", &ANYTHING),
]);
static ALLOCATED_CONFIG: Shape = Shape::Object(&[
    must("source", &TEXT),
    may("requests", &TEXTS),
    must("opaque", &OPAQUE),
]);

static NODE_SELECTOR: Shape =
    Shape::Object(&[must("nodeSelectorTerms", &Shape::List(&NODE_SELECTOR_TERM))]);
static NODE_SELECTOR_TERM: Shape = Shape::Object(&[
    one_of("matchExpressions", &REQUIREMENTS),
    one_of("matchFields", &REQUIREMENTS),
]);
static REQUIREMENTS: Shape = Shape::List(&REQUIREMENT);
static REQUIREMENT: Shape = Shape::Object(&[
    must("key", &TEXT),
    must("operator", &TEXT),
    may("values", &TEXTS),
]);

/// The keys of a slice spec around `devices`.
macro_rules! slice {
    ($device:expr) => {
        Shape::Object(&[
            must("metadata", &METADATA),
            must(
                "spec",
                &Shape::Object(&[
                    must("driver", &TEXT),
                    must("pool", &POOL),
                    one_of("nodeName", &TEXT),
                    one_of("nodeSelector", &NODE_SELECTOR),
                    one_of("allNodes", &BOOLEAN),
                    one_of("perDeviceNodeSelection", &BOOLEAN),
                    may("sharedCounters", &SHARED_COUNTERS),
                    may("skipNodeOperations", &ANYTHING),
                    may("partitionTypeAttribute", &ANYTHING),
                    may("devices", &Shape::List($device)),
                ]),
            ),
        ])
    };
}

static BARE_SLICE: Shape = slice!(&BARE_DEVICE);
static BASIC_SLICE: Shape = slice!(&BASIC_DEVICE);
static SLICE: Shape = slice!(&DEVICE);
static POOL: Shape = Shape::Object(&[
    must("name", &TEXT),
    must("generation", &INTEGER),
    must("resourceSliceCount", &INTEGER),
]);

/// The keys of a device's content, with the shape of its quantities; and those that stand beside them.
macro_rules! device {
    ($quantity:expr $(, $beside:expr)?) => {
        Shape::Object(&[
            $($beside,)?
            may("attributes", &Shape::Map(&ATTRIBUTE)),
            may("capacity", &Shape::Map($quantity)),
            may("taints", &TAINTS),
            may("consumesCounters", &CONSUMED_COUNTERS),
            may("nodeName", &TEXT),
            may("nodeSelector", &ANYTHING),
            may("allNodes", &BOOLEAN),
            may("allowMultipleAllocations", &ANYTHING),
            may("bindsToNode", &ANYTHING),
            may("bindingConditions", &ANYTHING),
            may("bindingFailureConditions", &ANYTHING),
            may("nodeAllocatableResources", &ANYTHING),
            may("nodeAllocatableResourceMappings", &ANYTHING),
        ])
    };
}

static BARE_DEVICE: Shape = Shape::Object(&[must("name", &TEXT), must("basic", &BARE_BASIC)]);
static BARE_BASIC: Shape = device!(&Shape::Quantity);
static BASIC_DEVICE: Shape = Shape::Object(&[must("name", &TEXT), must("basic", &BASIC)]);
static BASIC: Shape = device!(&Shape::WrappedQuantity);
static DEVICE: Shape = device!(&Shape::WrappedQuantity, must("name", &TEXT));
static TAINTS: Shape = Shape::List(&TAINT);
static TAINT: Shape = Shape::Object(&[
    must("key", &TEXT),
    may("value", &TEXT),
    must("effect", &TEXT),
    may("timeAdded", &ANYTHING),
]);
static SHARED_COUNTERS: Shape = Shape::List(&Shape::Object(&[
    must("name", &TEXT),
    must("counters", &COUNTERS),
]));
static CONSUMED_COUNTERS: Shape = Shape::List(&Shape::Object(&[
    must("counterSet", &TEXT),
    must("counters", &COUNTERS),
    may("compatibilityGroups", &ANYTHING),
]));
static COUNTERS: Shape = Shape::Map(&Shape::WrappedQuantity);
static TAINT_RULE: Shape = Shape::Object(&[
    must("metadata", &METADATA),
    must(
        "spec",
        &Shape::Object(&[
            // Absent, it selects nothing: in another case it would do so by mistake.
            must(
                "deviceSelector",
                &Shape::Object(&[
                    may("driver", &TEXT),
                    may("pool", &TEXT),
                    may("device", &TEXT),
                    may("deviceClassName", &ANYTHING),
                    may("selectors", &ANYTHING),
                ]),
            ),
            must("taint", &TAINT),
        ]),
    ),
    may("status", &ANYTHING),
]);
static ATTRIBUTE: Shape = Shape::Object(&[
    one_of("int", &INTEGER),
    one_of("bool", &BOOLEAN),
    one_of("string", &TEXT),
    one_of("version", &TEXT),
    one_of("ints", &Shape::List(&INTEGER)),
    one_of("bools", &Shape::List(&BOOLEAN)),
    one_of("strings", &TEXTS),
    one_of("versions", &TEXTS),
]);
