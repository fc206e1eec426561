//! The tables.

use super::{LONGEST_EXPRESSION, MOST_OF_CLAIM, Must, Table, policy, together};
use crate::advice::names::Syntax;
use crate::host::kinds;

use Must::{Be, Bytes, Differ, Have, Json, Keys, Most, OneOf, Only, Satisfy, True};

/// Everything that concerns a kind.
pub(super) fn of_kind(kind: &str) -> &'static [&'static Table] {
    let mut known = KINDS.iter().filter(|(known, _)| *known == kind);
    known.next().map_or(&[], |(_, tables)| tables)
}

static KINDS: [(&str, &[&Table]); 6] = [
    (
        kinds::RESOURCE_CLAIM,
        &[
            &METADATA,
            &CLAIM,
            &REQUESTS,
            &CONFIGS,
            &STATUS,
            &RESULTS,
            &TOLERATIONS,
            &NODES,
        ],
    ),
    (
        kinds::RESOURCE_CLAIM_TEMPLATE,
        &[
            &METADATA,
            &TEMPLATE,
            &CLAIM,
            &REQUESTS,
            &CONFIGS,
            &TOLERATIONS,
        ],
    ),
    (
        kinds::DEVICE_CLASS,
        &[&METADATA, &CLASS, &REQUESTS, &CONFIGS, &NODES],
    ),
    (
        kinds::RESOURCE_SLICE,
        &[&METADATA, &SLICE, &DEVICES, &BODIES, &TAINTS, &NODES],
    ),
    (kinds::DEVICE_TAINT_RULE, &[&METADATA, &RULE, &TAINTS]),
    (kinds::POD_SCHEDULING_CONTEXT, &[&METADATA, &CONTEXT]),
];

static METADATA: Table = Table {
    below: &["metadata"],
    rules: &[
        ("name", Be(Syntax::Subdomain)),
        ("namespace", Be(Syntax::Label)),
        ("labels", Keys(Syntax::LabelKey)),
        ("labels{}", Be(Syntax::LabelValue)),
    ],
};

static TEMPLATE: Table = Table {
    below: &["spec.metadata"],
    rules: &[
        // A timestamp that says nothing is what Go writes.
        ("", Only(&["annotations", "creationTimestamp", "labels"])),
        ("labels", Keys(Syntax::LabelKey)),
        ("labels{}", Be(Syntax::LabelValue)),
    ],
};

static CLAIM: Table = Table {
    below: &["spec.spec?.devices"],
    rules: &[
        ("requests", Most("requests", MOST_OF_CLAIM)),
        ("requests", Differ("name")),
        ("requests[].name", Be(Syntax::Label)),
        ("requests[].firstAvailable", Differ("name")),
        ("requests[].firstAvailable[].name", Be(Syntax::Label)),
        ("constraints", Most("constraints", MOST_OF_CLAIM)),
        (
            "constraints[].requests",
            Most("request names", MOST_OF_CLAIM),
        ),
        ("constraints[].requests", Differ("")),
        ("config", Most("config entries", MOST_OF_CLAIM)),
        ("config[].requests", Most("request names", MOST_OF_CLAIM)),
        ("config[].requests", Differ("")),
    ],
};

/// Requests and their alternatives; a class has selectors too.
static REQUESTS: Table = Table {
    below: &[
        "spec.spec?.devices.requests[].exactly?",
        "spec.spec?.devices.requests[].firstAvailable[]",
        "spec",
    ],
    rules: &[
        ("deviceClassName", Be(Syntax::Subdomain)),
        ("selectors", Most("selectors", 32)),
        ("selectors[].cel.expression", Bytes(LONGEST_EXPRESSION)),
        ("tolerations", Most("tolerations", 16)),
        (
            "derivedAttributes",
            Most("derived attributes", MOST_OF_CLAIM),
        ),
        ("derivedAttributes", Differ("name")),
        ("derivedAttributes[].name", Be(Syntax::FullAttribute)),
        ("capacity.requests", Keys(Syntax::Attribute)),
    ],
};

static TOLERATIONS: Table = Table {
    below: &[
        "spec.spec?.devices.requests[].exactly?.tolerations[]",
        "spec.spec?.devices.requests[].firstAvailable[].tolerations[]",
    ],
    rules: &[
        ("key", Be(Syntax::LabelKey)),
        ("value", Be(Syntax::LabelValue)),
        ("effect", OneOf(&["NoSchedule", "NoExecute", "None"])),
        ("", Satisfy(together::toleration)),
    ],
};

static CONFIGS: Table = Table {
    below: &[
        "spec.spec?.devices.config[].opaque",
        "spec.config[].opaque",
        "status.allocation.devices.config[].opaque",
    ],
    rules: &[
        ("driver", Be(Syntax::Driver)),
        ("parameters", Json(LONGEST_EXPRESSION)),
    ],
};

static STATUS: Table = Table {
    below: &["status"],
    rules: &[
        ("reservedFor", Most("users", 256)),
        ("reservedFor", Differ("uid")),
        ("reservedFor[]", Have(&["resource", "name", "uid"])),
        ("allocation.devices.results", Most("results", MOST_OF_CLAIM)),
        (
            "allocation.devices.config",
            Most("config entries", 2 * MOST_OF_CLAIM),
        ),
        ("devices[].conditions", Most("conditions", 8)),
        ("devices[].data", Json(LONGEST_EXPRESSION)),
        ("devices[].networkData.ips", Most("addresses", 16)),
        ("devices[].networkData.ips", Differ("")),
        ("devices[].networkData.interfaceName", Bytes(256)),
        ("devices[].networkData.hardwareAddress", Bytes(128)),
        ("", Satisfy(together::statuses)),
    ],
};

static RESULTS: Table = Table {
    below: &["status.allocation.devices.results[]", "status.devices[]"],
    rules: &[
        ("driver", Be(Syntax::Driver)),
        ("pool", Be(Syntax::Pool)),
        ("device", Be(Syntax::Label)),
        ("tolerations", Most("tolerations", 16)),
    ],
};

static CLASS: Table = Table {
    below: &["spec"],
    rules: &[
        ("config", Most("config entries", MOST_OF_CLAIM)),
        ("extendedResourceName", Be(Syntax::ExtendedResource)),
    ],
};

static SLICE: Table = Table {
    below: &["spec"],
    rules: &[
        ("driver", Be(Syntax::Driver)),
        ("pool.name", Be(Syntax::Pool)),
        ("nodeName", Be(Syntax::Subdomain)),
        ("allNodes", True),
        ("perDeviceNodeSelection", True),
        ("", Satisfy(together::reach)),
        ("sharedCounters", Most("counter sets", 8)),
        ("sharedCounters[]", Have(&["name", "counters"])),
        ("sharedCounters[].name", Be(Syntax::Label)),
        ("sharedCounters[].counters", Most("counters", 32)),
        ("sharedCounters[].counters", Keys(Syntax::Label)),
        ("partitionTypeAttribute", Be(Syntax::FullAttribute)),
        (
            "skipNodeOperations",
            OneOf(&["NodePrepareResources", "NodeUnprepareResources", "*"]),
        ),
        ("skipNodeOperations", Differ("")),
    ],
};

static DEVICES: Table = Table {
    below: &["spec.devices[]"],
    rules: &[("name", Be(Syntax::Label))],
};

/// What a device consists of; up to v1beta1 below `basic`.
static BODIES: Table = Table {
    below: &["spec.devices[].basic?"],
    rules: &[
        ("attributes", Keys(Syntax::Attribute)),
        ("attributes{}", Satisfy(together::attribute)),
        ("attributes{}.string", Bytes(64)),
        ("attributes{}.strings[]", Bytes(64)),
        ("attributes{}.version", Bytes(64)),
        ("attributes{}.version", Be(Syntax::Version)),
        ("attributes{}.versions[]", Bytes(64)),
        ("attributes{}.versions", Be(Syntax::Version)),
        ("capacity", Keys(Syntax::Attribute)),
        // Up to v1alpha3 the amount stands there by itself.
        ("capacity{}", Be(Syntax::Quantity)),
        ("capacity{}.value", Be(Syntax::Quantity)),
        (
            "capacity{}.requestPolicy",
            Only(&["default", "validRange", "validValues"]),
        ),
        (
            "capacity{}.requestPolicy.validRange",
            Only(&["max", "min", "step"]),
        ),
        ("capacity{}.requestPolicy.default", Be(Syntax::Quantity)),
        (
            "capacity{}.requestPolicy.validRange.min",
            Be(Syntax::Quantity),
        ),
        (
            "capacity{}.requestPolicy.validRange.max",
            Be(Syntax::Quantity),
        ),
        (
            "capacity{}.requestPolicy.validRange.step",
            Be(Syntax::Quantity),
        ),
        ("capacity{}.requestPolicy.validValues", Most("values", 10)),
        ("capacity{}.requestPolicy.validValues", Be(Syntax::Quantity)),
        ("capacity{}", Satisfy(policy::capacity)),
        ("", Satisfy(together::device)),
        ("nodeName", Be(Syntax::Subdomain)),
        ("allNodes", True),
        ("taints", Most("taints", 16)),
        ("consumesCounters", Most("consumed counter sets", 2)),
        ("consumesCounters", Differ("counterSet")),
        ("consumesCounters[]", Have(&["counterSet", "counters"])),
        ("consumesCounters[].counterSet", Be(Syntax::Label)),
        ("consumesCounters[].counters", Most("counters", 32)),
        ("consumesCounters[].counters", Keys(Syntax::Label)),
        ("consumesCounters[].compatibilityGroups", Most("groups", 2)),
        ("consumesCounters[].compatibilityGroups", Be(Syntax::Label)),
        ("bindingConditions", Most("conditions", 4)),
        ("bindingConditions", Differ("")),
        ("bindingConditions", Be(Syntax::LabelKey)),
        ("bindingFailureConditions", Most("conditions", 4)),
        ("bindingFailureConditions", Differ("")),
        ("bindingFailureConditions", Be(Syntax::LabelKey)),
    ],
};

static TAINTS: Table = Table {
    below: &["spec.devices[].basic?.taints[]", "spec.taint"],
    rules: &[
        ("", Have(&["key"])),
        ("key", Be(Syntax::LabelKey)),
        ("value", Be(Syntax::LabelValue)),
    ],
};

static RULE: Table = Table {
    below: &["spec.deviceSelector"],
    rules: &[
        ("driver", Be(Syntax::Driver)),
        ("pool", Be(Syntax::Pool)),
        ("device", Be(Syntax::Label)),
    ],
};

static NODES: Table = Table {
    below: &[
        "spec.nodeSelector",
        "spec.devices[].basic?.nodeSelector",
        "spec.suitableNodes",
        "status.allocation.nodeSelector",
    ],
    rules: &[
        ("", Have(&["nodeSelectorTerms"])),
        (
            "nodeSelectorTerms[].matchExpressions[]",
            Satisfy(together::requirement),
        ),
        (
            "nodeSelectorTerms[].matchExpressions[].key",
            Be(Syntax::LabelKey),
        ),
        (
            "nodeSelectorTerms[].matchFields[]",
            Satisfy(together::field),
        ),
    ],
};

static CONTEXT: Table = Table {
    below: &["spec", "status.resourceClaims[]"],
    rules: &[
        ("potentialNodes", Most("nodes", 128)),
        ("unsuitableNodes", Most("nodes", 128)),
    ],
};
