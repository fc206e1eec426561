//! A table of slips: what is changed in the cluster that is in order, and which finding must come of it.

use super::{CLUSTER, Found, lint};

/// One slip.
struct Slip {
    /// Text of the cluster, which occurs once, and what stands there instead.
    from: &'static str,
    to: &'static str,
    /// Beginning of the object, path, severity, and parts of sentence and remedy.
    object: &'static str,
    path: &'static str,
    severity: &'static str,
    message: &'static str,
    remedy: &'static str,
}

const fn slip(
    [from, to]: [&'static str; 2],
    [object, path]: [&'static str; 2],
    severity: &'static str,
    [message, remedy]: [&'static str; 2],
) -> Slip {
    Slip {
        from,
        to,
        object,
        path,
        severity,
        message,
        remedy,
    }
}

const TEMPLATE: &str = "ResourceClaimTemplate default/pair";
const EITHER: &str = "ResourceClaim default/either";
const HELD: &str = "ResourceClaim default/held";
const N1: &str = "ResourceSlice slice-n1";
const N2: &str = "ResourceSlice slice-n2";
const WAITS: &str = "Pod default/waits";

/// Keys that are misspelled or at another place.
const FIELDS: &[Slip] = &[
    slip(
        [
            "          allocationMode: ExactCount\n",
            "          admin: true\n",
        ],
        [TEMPLATE, "spec.spec.devices.requests[1].exactly.admin"],
        "error",
        ["unknown field \"admin\"", "write \"adminAccess\""],
    ),
    slip(
        ["          count: 1\n", "          count: \"1\"\n"],
        [TEMPLATE, "spec.spec.devices.requests[0].exactly.count"],
        "error",
        ["expected an integer, found a string", "remove the quotes"],
    ),
    slip(
        ["          count: 1\n", "          nodeSelector: {a: b}\n"],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.nodeSelector",
        ],
        "error",
        ["a request does not choose nodes", "move it to the pod"],
    ),
    slip(
        [
            "  - name: cards\n    resourceClaimTemplateName: pair\n",
            "  - name: cards\n    resourceClaimTemplate: pair\n",
        ],
        [WAITS, "spec.resourceClaims[0].resourceClaimTemplate"],
        "error",
        [
            "unknown field \"resourceClaimTemplate\"",
            "write \"resourceClaimTemplateName\"",
        ],
    ),
    slip(
        [
            "      model:\n        string: small\n",
            "      model:\n        str: small\n",
        ],
        [N1, "spec.devices[1].attributes[model].str"],
        "error",
        ["unknown field \"str\"", "write \"string\""],
    ),
    slip(
        [
            "      - name: large\n        deviceClassName: gpu\n",
            "      - name: large\n        exactly: {deviceClassName: gpu}\n",
        ],
        [EITHER, "spec.devices.requests[0].firstAvailable[0].exactly"],
        "error",
        ["an alternative has no exactly", "move its fields up"],
    ),
    slip(
        ["      constraints:\n", "      contraints:\n"],
        [TEMPLATE, "spec.spec.devices.contraints"],
        "error",
        ["unknown field \"contraints\"", "write \"constraints\""],
    ),
    slip(
        [
            "spec:\n  selectors:\n  - cel:\n      expression: device.driver",
            "spec:\n  selector:\n  - cel:\n      expression: device.driver",
        ],
        ["DeviceClass gpu", "spec.selector"],
        "error",
        ["unknown field \"selector\"", "write \"selectors\""],
    ),
    slip(
        ["    taints:\n", "    taint:\n"],
        [N1, "spec.devices[0].taint"],
        "error",
        ["unknown field \"taint\"", "write \"taints\""],
    ),
    slip(
        ["          count: 1\n", "          counts: 1\n"],
        [TEMPLATE, "spec.spec.devices.requests[0].exactly.counts"],
        "error",
        ["unknown field \"counts\"", "write \"count\""],
    ),
    slip(
        [
            "          allocationMode: ExactCount\n",
            "          AllocationMode: ExactCount\n",
        ],
        [
            TEMPLATE,
            "spec.spec.devices.requests[1].exactly.AllocationMode",
        ],
        "error",
        ["wrong case", "write \"allocationMode\""],
    ),
    slip(
        [
            "      - name: large\n        deviceClassName: gpu\n",
            "      - name: large\n        DeviceClassName: gpu\n",
        ],
        [
            EITHER,
            "spec.devices.requests[0].firstAvailable[0].DeviceClassName",
        ],
        "error",
        ["wrong case", "write \"deviceClassName\""],
    ),
    slip(
        ["        count: 2\n", "        adminAccess: true\n"],
        [
            EITHER,
            "spec.devices.requests[0].firstAvailable[1].adminAccess",
        ],
        "error",
        [
            "no alternative of firstAvailable can have adminAccess",
            "a request of its own",
        ],
    ),
    slip(
        ["metadata:\n  name: either", "metaData:\n  name: either"],
        [EITHER, "metaData"],
        "error",
        ["key metaData is in the wrong case", "write metadata"],
    ),
    slip(
        [
            "      - name: second\n        exactly:\n          deviceClassName: gpu\n",
            "      - name: second\n        deviceClassName: gpu\n        exactly:\n",
        ],
        [TEMPLATE, "spec.spec.devices.requests[1].deviceClassName"],
        "error",
        [
            "unknown field \"deviceClassName\" at this place",
            "move it to spec.spec.devices.requests[1].exactly.deviceClassName",
        ],
    ),
    slip(
        [
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata:\n  name: slice-n1",
            "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceSlice\nmetadata:\n  name: slice-n1",
        ],
        [N1, "spec.devices[0].attributes"],
        "error",
        [
            "unknown field \"attributes\" at this place",
            "move it to spec.devices[0].basic.attributes",
        ],
    ),
    slip(
        [
            "  - name: gpu-0\n    attributes:\n      model:\n        string: large\n    consumes",
            "  - name: gpu-0\n    basic: {}\n    attributes:\n      model:\n        string: large\n    consumes",
        ],
        [N2, "spec.devices[0].basic"],
        "error",
        [
            "resource.k8s.io/v1 has no field \"basic\", resource.k8s.io/v1beta1 has",
            "one level up",
        ],
    ),
    slip(
        [
            "spec:\n  spec:\n    devices:\n",
            "spec:\n  devices: {}\n  spec:\n    devices:\n",
        ],
        [TEMPLATE, "spec.devices"],
        "error",
        [
            "unknown field \"devices\" at this place",
            "move it to spec.spec.devices",
        ],
    ),
    slip(
        [
            "  driver: gpu.example.com\n  nodeName: n1\n",
            "  driver: gpu.example.com\n  nodeName: n1\n  zzz: 1\n",
        ],
        [N1, "spec.zzz"],
        "warning",
        ["unknown field \"zzz\"", "known here are driver"],
    ),
    slip(
        [
            "  resourceClaims:\n  - name: cards\n",
            "  resourceClaim:\n  - name: cards\n",
        ],
        [WAITS, "spec.resourceClaim"],
        "error",
        [
            "unknown field \"resourceClaim\"",
            "write \"resourceClaims\"",
        ],
    ),
    slip(
        [
            "    image: busybox\n    resources:\n      claims:\n      - name: card\n        request: gpu\n",
            "    image: busybox\n    claims:\n    - name: card\n",
        ],
        ["Pod default/runs", "spec.containers[0].claims"],
        "error",
        [
            "unknown field \"claims\"",
            "move it to spec.containers[0].resources.claims",
        ],
    ),
    slip(
        [
            "  - name: other\n    resourceClaimName: either\n",
            "  - name: other\n    source: {resourceClaimName: either}\n",
        ],
        [WAITS, "spec.resourceClaims[1].source"],
        "error",
        [
            "not a field since Kubernetes 1.31",
            "move resourceClaimName",
        ],
    ),
    slip(
        [
            "      resourceClaims:\n      - name: own\n",
            "      resourceclaims:\n      - name: own\n",
        ],
        [
            "Deployment default/web",
            "spec.template.spec.resourceclaims",
        ],
        "error",
        ["in the wrong case", "write resourceClaims"],
    ),
];

/// Names, counts, limits and references within a claim and between objects.
const CONTENT: &[Slip] = &[
    slip(
        ["requests: [first, second]", "requests: [first, secnd]"],
        [TEMPLATE, "spec.spec.devices.constraints[0].requests[1]"],
        "error",
        [
            "the claim has no request \"secnd\"",
            "did you mean \"second\"?",
        ],
    ),
    slip(
        ["      - requests: [first]\n", "      - requests: [third]\n"],
        [TEMPLATE, "spec.spec.devices.config[0].requests[0]"],
        "error",
        ["the claim has no request \"third\"", "first, second"],
    ),
    slip(
        ["          count: 1\n", "          count: -1\n"],
        [TEMPLATE, "spec.spec.devices.requests[0].exactly.count"],
        "error",
        ["the count is -1", "at least one"],
    ),
    slip(
        ["          count: 1\n", "          count: 33\n"],
        [TEMPLATE, "spec.spec.devices.requests[0].exactly.count"],
        "error",
        ["33 devices, at most 32 are allowed", "ask for fewer"],
    ),
    slip(
        [
            "          allocationMode: ExactCount\n",
            "          allocationMode: Any\n",
        ],
        [
            TEMPLATE,
            "spec.spec.devices.requests[1].exactly.allocationMode",
        ],
        "error",
        ["unknown allocation mode \"Any\"", "ExactCount or All"],
    ),
    slip(
        ["      - name: second\n", "      - name: first\n"],
        [TEMPLATE, "spec.spec.devices.requests[1].name"],
        "error",
        ["the name \"first\" is used twice", "a name of its own"],
    ),
    slip(
        ["      - name: small\n", "      - name: large\n"],
        [EITHER, "spec.devices.requests[0].firstAvailable[1].name"],
        "error",
        ["the name \"large\" is used twice", "a name of its own"],
    ),
    slip(
        ["      - name: second\n", "      - name: Second_One\n"],
        [TEMPLATE, "spec.spec.devices.requests[1].name"],
        "error",
        ["is not a DNS label", "lower case"],
    ),
    slip(
        [
            "matchAttribute: gpu.example.com/numa",
            "matchAttribute: numa",
        ],
        [TEMPLATE, "spec.spec.devices.constraints[0].matchAttribute"],
        "error",
        [
            "the name \"numa\" has no domain",
            "write gpu.example.com/numa",
        ],
    ),
    slip(
        [
            "matchAttribute: gpu.example.com/numa",
            "matchAttribute: gpu.example.com/numma",
        ],
        [TEMPLATE, "spec.spec.devices.constraints[0].matchAttribute"],
        "error",
        [
            "no published device has the attribute gpu.example.com/numma",
            "did you mean \"numa\"?",
        ],
    ),
    slip(
        [
            "matchAttribute: gpu.example.com/numa",
            "matchAttribute: gpu.exmaple.com/numa",
        ],
        [TEMPLATE, "spec.spec.devices.constraints[0].matchAttribute"],
        "error",
        [
            "the domain \"gpu.exmaple.com\" is unknown",
            "did you mean the domain \"gpu.example.com\"?",
        ],
    ),
    slip(
        ["        matchAttribute: gpu.example.com/numa\n", ""],
        [TEMPLATE, "spec.spec.devices.constraints[0]"],
        "error",
        ["the constraint says nothing", "set matchAttribute"],
    ),
    slip(
        [
            "      - name: first\n        exactly:\n          deviceClassName: gpu\n",
            "      - name: first\n        exactly:\n          deviceClassName: gpux\n",
        ],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.deviceClassName",
        ],
        "error",
        ["there is no DeviceClass \"gpux\"", "did you mean \"gpu\"?"],
    ),
    slip(
        ["            mode: exclusive\n", ""],
        [TEMPLATE, "spec.spec.devices.config[0].opaque.parameters"],
        "error",
        ["the parameters are no object", "as an object"],
    ),
    slip(
        [
            "    resourceClaimTemplateName: pair\n  - name: other\n",
            "    resourceClaimTemplateName: pairs\n  - name: other\n",
        ],
        [WAITS, "spec.resourceClaims[0].resourceClaimTemplateName"],
        "error",
        [
            "there is no ResourceClaimTemplate default/pairs",
            "did you mean \"pair\"?",
        ],
    ),
    slip(
        [
            "    resourceClaimTemplateName: pair\n  - name: other\n",
            "    resourceClaimName: pair\n  - name: other\n",
        ],
        [WAITS, "spec.resourceClaims[0].resourceClaimName"],
        "error",
        [
            "but a ResourceClaimTemplate of that name",
            "write resourceClaimTemplateName",
        ],
    ),
    slip(
        [
            "    resourceClaimName: either\n",
            "    resourceClaimName: either\n    resourceClaimTemplateName: pair\n",
        ],
        [WAITS, "spec.resourceClaims[1]"],
        "error",
        [
            "names both a claim and a template",
            "keep resourceClaimName",
        ],
    ),
    slip(
        [
            "  - name: cards\n    resourceClaimTemplateName: pair\n",
            "  - name: cards\n    resourceClaimName: either\n",
        ],
        [WAITS, "spec.resourceClaims[1].resourceClaimName"],
        "warning",
        [
            "the ResourceClaim either is named by entry 0 as well",
            "one entry is enough",
        ],
    ),
    slip(
        [
            "      - name: other\n        request: gpu/small\n",
            "      - name: othr\n",
        ],
        [WAITS, "spec.containers[0].resources.claims[2].name"],
        "error",
        ["the pod has no claim \"othr\"", "did you mean \"other\"?"],
    ),
    slip(
        [
            "        request: gpu/small\n",
            "        request: gpu/tiny\n",
        ],
        [WAITS, "spec.containers[0].resources.claims[2].request"],
        "error",
        [
            "the claim \"other\" has no request \"gpu/tiny\"",
            "gpu/small",
        ],
    ),
    slip(
        ["        request: second\n", "        request: first\n"],
        [WAITS, "spec.containers[0].resources.claims[1]"],
        "error",
        ["the claim \"cards\" is named twice", "remove one"],
    ),
    slip(
        ["      - name: other\n        request: gpu/small\n", ""],
        [WAITS, "spec.resourceClaims[1]"],
        "hint",
        ["no container uses the claim \"other\"", "resources.claims"],
    ),
    slip(
        [
            "        resourceClaimTemplateName: pair\n",
            "        resourceClaimName: either\n",
        ],
        [
            "Deployment default/web",
            "spec.template.spec.resourceClaims[0].resourceClaimName",
        ],
        "warning",
        [
            "3 pods of Deployment web name the ResourceClaim either itself",
            "resourceClaimTemplateName",
        ],
    ),
    slip(
        [
            "spec:\n  initContainers:\n",
            "spec:\n  nodeName: n2\n  initContainers:\n",
        ],
        [WAITS, "spec.nodeName"],
        "error",
        ["the pod has a node, but", "leave nodeName to the scheduler"],
    ),
];

/// Slices, pools and allocations.
const DEVICES: &[Slip] = &[
    slip(
        ["  - name: gpu-1\n", "  - name: gpu-0\n"],
        [N1, "spec.devices[1].name"],
        "error",
        [
            "the device \"gpu-0\" is published twice in the pool gpu.example.com/n1, in this slice",
            "unique",
        ],
    ),
    slip(
        [
            "    name: n1\n    generation: 2\n    resourceSliceCount: 1\n",
            "    name: n2\n    generation: 1\n    resourceSliceCount: 3\n",
        ],
        [N2, "spec.devices[0].name"],
        "error",
        ["on the nodes n1 and n2", "a pool of its own"],
    ),
    slip(
        [
            "    generation: 2\n    resourceSliceCount: 1\n",
            "    generation: 2\n    resourceSliceCount: 2\n",
        ],
        [N1, "spec.pool.resourceSliceCount"],
        "warning",
        [
            "is incomplete: 1 slice of generation 2 where it says 2",
            "as many slices",
        ],
    ),
    slip(
        [
            "    generation: 2\n    resourceSliceCount: 1\n",
            "    generation: 2\n    resourceSliceCount: 0\n",
        ],
        [N1, "spec.pool.resourceSliceCount"],
        "error",
        ["0 slices", "this one included"],
    ),
    slip(
        [
            "    generation: 1\n    resourceSliceCount: 2\n  sharedCounters",
            "    generation: 0\n    resourceSliceCount: 2\n  sharedCounters",
        ],
        ["ResourceSlice counters-n2", "spec.pool.generation"],
        "hint",
        [
            "of generation 0, its pool gpu.example.com/n2 is at 1",
            "delete it",
        ],
    ),
    slip(
        [
            "    generation: 1\n    resourceSliceCount: 2\n  sharedCounters",
            "    generation: 1\n    resourceSliceCount: 3\n  sharedCounters",
        ],
        ["ResourceSlice", "spec.pool.resourceSliceCount"],
        "error",
        ["by this one", "the same number"],
    ),
    slip(
        ["  nodeName: n1\n  pool", "  nodeName: n3\n  pool"],
        [N1, "spec.nodeName"],
        "warning",
        ["there is no Node \"n3\"", "add the node"],
    ),
    slip(
        ["  nodeName: n1\n  pool", "  pool"],
        [N1, "spec"],
        "error",
        ["no node reaches the devices", "nodeName"],
    ),
    slip(
        [
            "  devices:\n  - name: gpu-0\n    attributes:\n      model:\n        string: large\n    consumes",
            "  sharedCounters:\n  - name: other\n    counters: {x: {value: \"1\"}}\n  devices:\n  - name: gpu-0\n    attributes:\n      model:\n        string: large\n    consumes",
        ],
        [N2, "spec.sharedCounters"],
        "warning",
        ["either devices or shared counters", "a slice of their own"],
    ),
    slip(
        ["counterSet: card", "counterSet: cart"],
        [N2, "spec.devices[0].consumesCounters[0].counterSet"],
        "error",
        ["has no counter set \"cart\"", "did you mean \"card\"?"],
    ),
    slip(
        [
            "        slices:\n          value: \"1\"\n",
            "        slots:\n          value: \"1\"\n",
        ],
        [N2, "spec.devices[0].consumesCounters[0].counters[slots]"],
        "error",
        ["has no counter \"slots\"", "slices"],
    ),
    slip(
        [
            "  - name: gpu-1\n    attributes:\n      model:\n        string: small\n",
            "  - name: gpu-1\n    attributes:\n      model:\n        version: small\n",
        ],
        [N1, "spec.devices[1].attributes[model].version"],
        "error",
        [
            "every selector that meets this device fails",
            "write MAJOR.MINOR.PATCH",
        ],
    ),
    slip(
        [
            "      model:\n        string: small\n      numa:\n",
            "      model-name:\n        string: small\n      numa:\n",
        ],
        [N1, "spec.devices[1].attributes[model-name]"],
        "error",
        ["is no name for this", "letters, digits and _"],
    ),
    slip(
        ["        device: gpu-1\n", "        device: gpu-9\n"],
        [HELD, "status.allocation.devices.results[0]"],
        "warning",
        [
            "no slice publishes the device gpu.example.com/n1/gpu-9",
            "driver may be gone",
        ],
    ),
    slip(
        ["        pool: n1\n        device", "        device"],
        [HELD, "status.allocation.devices.results[0].pool"],
        "error",
        ["the result has no pool", "let the scheduler write it"],
    ),
    slip(
        [
            "        device: gpu-1\n",
            "        device: gpu-1\n      - request: gpu\n        driver: gpu.example.com\n        pool: n1\n        device: gpu-1\n",
        ],
        [HELD, "status.allocation.devices.results[1]"],
        "error",
        [
            "holds the device gpu.example.com/n1/gpu-1 twice",
            "deallocate",
        ],
    ),
    slip(
        [
            "metadata:\n  name: either\nspec:",
            "metadata:\n  name: either\nstatus: {allocation: {devices: {results: [{request: gpu/large, driver: gpu.example.com, pool: n1, device: gpu-1}]}}}\nspec:",
        ],
        [HELD, "status.allocation.devices.results[0]"],
        "error",
        [
            "ResourceClaim default/either holds the device gpu.example.com/n1/gpu-1 as well",
            "deallocate",
        ],
    ),
];

/// Expressions.
const EXPRESSIONS: &[Slip] = &[
    slip(
        ["model == \"large\"", "model == \"Large\""],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "error",
        [
            "is true for none of the 3 devices published: no device has gpu.example.com/model \"Large\"",
            "published are \"large\", \"small\"; did you mean \"large\"?",
        ],
    ),
    slip(
        ["model == \"large\"", "modle == \"large\""],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "error",
        [
            "fails on the 3 devices published: no such key: modle",
            "did you mean \"model\"?",
        ],
    ),
    slip(
        [
            "device.attributes[\"gpu.example.com\"].model == \"large\"",
            "device.attributes[\"gpu.exmple.com\"].?model.orValue(\"\") == \"large\"",
        ],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "warning",
        ["is true for none of the 3 devices published", ""],
    ),
    slip(
        ["model == \"large\"", "model = \"large\""],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "error",
        ["the expression does not compile", "write == to compare"],
    ),
    slip(
        ["model == \"large\"", "model == large"],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "error",
        ["undeclared reference to 'large'", "strings need quotes"],
    ),
    slip(
        ["model == \"large\"", "numa == 0"],
        [
            TEMPLATE,
            "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression",
        ],
        "warning",
        [
            "fails on 1 of the 3 devices published: no such key: numa",
            "guard the look-up",
        ],
    ),
    slip(
        [
            "compareTo(quantity(\"50Gi\")) < 0 || !(\"memory\" in device.capacity[\"gpu.example.com\"])",
            "compareTo(quantity(\"500Gi\")) > 0 && false",
        ],
        [
            TEMPLATE,
            "spec.spec.devices.requests[1].exactly.selectors[0].cel.expression",
        ],
        "error",
        ["is true for none of the 3 devices published", ""],
    ),
    slip(
        [
            "expression: device.driver == \"gpu.example.com\"",
            "expression: device.driver == \"gpu.exampel.com\"",
        ],
        ["DeviceClass gpu", "spec.selectors[0].cel.expression"],
        "warning",
        [
            "no slice is of the driver \"gpu.exampel.com\"",
            "did you mean \"gpu.example.com\"?",
        ],
    ),
    slip(
        [
            "      expression: device.driver == \"gpu.example.com\"\n",
            "      expression:\n",
        ],
        ["DeviceClass gpu", "spec.selectors[0].cel.expression"],
        "error",
        ["the expression is empty", "true for the devices wanted"],
    ),
    slip(
        [
            "  - cel:\n      expression: device.driver == \"gpu.example.com\"\n",
            "  - cel:\n    expression: device.driver == \"gpu.example.com\"\n",
        ],
        ["DeviceClass gpu", "spec.selectors[0].expression"],
        "error",
        [
            "unknown field \"expression\" at this place",
            "move it to spec.selectors[0].cel.expression",
        ],
    ),
];

/// How it is written down.
const WRITING: &[Slip] = &[
    slip(
        ["          count: 1\n", "          count: 010\n"],
        [TEMPLATE, "spec.spec.devices.requests[0].exactly.count"],
        "warning",
        [
            "kubectl reads 010 as octal, that is 8, and YAML 1.2 as 10",
            "without the leading zero",
        ],
    ),
    slip(
        ["        mode: shared\n", "        mode: on\n"],
        ["DeviceClass gpu", "spec.config[0].opaque.parameters.mode"],
        "warning",
        ["kubectl reads on as a boolean", "in quotes"],
    ),
    slip(
        [
            "      numa:\n        int: 0\n    capacity:\n      memory:\n        value: 80Gi",
            "      numa: {int: 1_000}\n    capacity:\n      memory:\n        value: 80Gi",
        ],
        [N1, "spec.devices[0].attributes[numa].int"],
        "warning",
        ["kubectl reads 1_000 as a number", "without underscores"],
    ),
    slip(
        [
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: waits",
            "kind: Pod\nmetadata:\n  name: waits",
        ],
        [WAITS, "apiVersion"],
        "warning",
        ["apiVersion is missing; taken as v1", "add it"],
    ),
    slip(
        [
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: either",
            "apiVersion: resource.k8s.io/v1beta2\nkind: ResourceClaim\nmetadata:\n  name: either",
        ],
        [EITHER, "apiVersion"],
        "hint",
        [
            "resource.k8s.io/v1beta2, 6 of the group are in v1",
            "use one version",
        ],
    ),
    slip(
        [
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata:\n  name: either",
            "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata:\n  name: either",
        ],
        [EITHER, "apiVersion"],
        "error",
        [
            "this version is not supported",
            "convert it to resource.k8s.io/v1",
        ],
    ),
    slip(
        [
            "metadata:\n  name: waits\n",
            "metadata:\n  name: waits\n  namespace: 5\n",
        ],
        ["Pod 5/waits", "metadata.namespace"],
        "error",
        ["metadata.namespace is a number", "put it in quotes"],
    ),
];

fn check(slip: &Slip) -> Result<(), String> {
    if CLUSTER.matches(slip.from).count() != 1 {
        return Err(format!(
            "{:?} occurs {} times",
            slip.from,
            CLUSTER.matches(slip.from).count()
        ));
    }
    let found = lint(&CLUSTER.replace(slip.from, slip.to), &[]);
    let is_it = |found: &&Found| {
        found.object.starts_with(slip.object)
            && found.path == slip.path
            && found.severity == slip.severity
            && found.message.contains(slip.message)
            && found.remedy.contains(slip.remedy)
    };
    match found.iter().find(is_it) {
        Some(_) => Ok(()),
        None => Err(format!(
            "{} {}: {}\n{found:#?}",
            slip.object, slip.path, slip.message
        )),
    }
}

fn check_all(slips: &[Slip]) {
    let failed: Vec<String> = slips.iter().filter_map(|slip| check(slip).err()).collect();
    assert!(
        failed.is_empty(),
        "{} of {}:\n{}",
        failed.len(),
        slips.len(),
        failed.join("\n")
    );
}

#[test]
fn misplaced_keys() {
    check_all(FIELDS);
}

/// One key at a wrong place is one finding, whatever is missing because of it.
#[test]
fn one_cause_is_told_once() {
    for (from, to) in [
        (
            "  - cel:\n      expression: device.driver == \"gpu.example.com\"\n",
            "  - cel:\n    expression: device.driver == \"gpu.example.com\"\n",
        ),
        (
            "  - name: cards\n    resourceClaimTemplateName: pair\n",
            "  - name: cards\n    resourceClaimTemplate: pair\n",
        ),
        (
            "      - name: large\n        deviceClassName: gpu\n",
            "      - name: large\n        exactly: {deviceClassName: gpu}\n",
        ),
        (
            "      - requests: [first, second]\n        matchAttribute: gpu",
            "      - requests: [first, second]\n        matchAttributes: gpu",
        ),
        (
            "      claims:\n      - name: card\n",
            "      claim:\n      - name: card\n",
        ),
    ] {
        assert_eq!(CLUSTER.matches(from).count(), 1, "{from}");
        let found = lint(&CLUSTER.replace(from, to), &[]);
        assert_eq!(found.len(), 1, "{to}\n{found:#?}");
        assert!(found[0].message.starts_with("unknown field"), "{found:#?}");
    }
}

/// It was there with classic DRA, which ended with v1alpha3.
#[test]
fn a_controller_in_a_later_version() {
    for (version, count) in [("v1alpha3", 0), ("v1beta1", 1)] {
        let claim = format!(
            "apiVersion: resource.k8s.io/{version}\nkind: ResourceClaim\nmetadata: {{name: a}}\nspec: {{controller: c, devices: {{requests: [{{name: r, deviceClassName: gpu}}]}}}}\n"
        );
        let found = lint(&claim, &["--profile", "1.31"]);
        let about = found.iter().filter(|found| {
            found.path == "spec.controller"
                && found.severity == "error"
                && found.remedy.contains("resource.k8s.io/v1alpha3")
        });
        assert_eq!(about.count(), count, "{version} {found:#?}");
    }
}

#[test]
fn wrong_content() {
    check_all(CONTENT);
}

#[test]
fn wrong_devices() {
    check_all(DEVICES);
}

#[test]
fn wrong_expressions() {
    check_all(EXPRESSIONS);
}

#[test]
fn wrong_writing() {
    check_all(WRITING);
}

fn numbered(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// Each limit, and one more than it.
#[test]
fn limits_of_the_api() {
    let requests = |count| {
        let one = |i| format!("{{name: r{i}, exactly: {{deviceClassName: gpu}}}},");
        format!(
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: big}}\nspec: {{devices: {{requests: [{}]}}}}\n",
            numbered(count, one)
        )
    };
    let devices = |count| {
        let one = |i| format!("{{name: d{i}}},");
        format!(
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: big}}\nspec: {{driver: gpu.example.com, nodeName: n1, pool: {{name: big, generation: 1, resourceSliceCount: 1}}, devices: [{}]}}\n",
            numbered(count, one)
        )
    };
    let attributes = |count| {
        let one = |i| format!("a{i}: {{int: {i}}},");
        format!(
            "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: big}}\nspec: {{driver: gpu.example.com, nodeName: n1, pool: {{name: big, generation: 1, resourceSliceCount: 1}}, devices: [{{name: d, attributes: {{{}}}}}]}}\n",
            numbered(count, one)
        )
    };
    type Case<'a> = (usize, &'a dyn Fn(usize) -> String, &'a str);
    let cases: [Case<'_>; 3] = [
        (32, &requests, "33 requests, at most 32 are allowed"),
        (128, &devices, "129 devices, at most 128 are allowed"),
        (
            32,
            &attributes,
            "33 attributes and capacities, at most 32 are allowed",
        ),
    ];
    for (most, make, message) in cases {
        let errors = |count| {
            let found = lint(&format!("{CLUSTER}{}", make(count)), &[]);
            let errors = found
                .into_iter()
                .filter(|found| found.severity == "error" && found.object.ends_with("big"));
            errors.map(|found| found.message).collect::<Vec<_>>()
        };
        assert_eq!(errors(most), Vec::<String>::new());
        assert_eq!(errors(most + 1), [message]);
    }
}

#[test]
fn taint_rules_that_taint_nothing() {
    let rule = |selector: &str| {
        let rule = format!(
            "---\napiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {{name: rule}}\nspec: {{{selector}taint: {{key: k, effect: NoExecute}}}}\n"
        );
        let found = lint(
            &format!("{CLUSTER}{rule}"),
            &["--feature", "DRADeviceTaintRules=true"],
        );
        let about = found
            .into_iter()
            .filter(|found| found.object == "DeviceTaintRule rule" && found.path != "apiVersion");
        about
            .map(|found| (found.path, found.remedy))
            .collect::<Vec<_>>()
    };
    let pair = |path: &str, remedy: &str| vec![(path.to_owned(), remedy.to_owned())];
    assert_eq!(
        rule("deviceSelector: {driver: gpu.example.com, device: gpu-1}, "),
        []
    );
    assert_eq!(rule("deviceSelector: {}, "), []);
    assert_eq!(
        rule("deviceSelector: {driver: gpu.exampl.com}, "),
        pair(
            "spec.deviceSelector.driver",
            "did you mean \"gpu.example.com\"?"
        )
    );
    assert_eq!(
        rule("deviceSelector: {device: gpu-9}, ")[0].0,
        "spec.deviceSelector.device"
    );
    assert_eq!(
        rule(""),
        pair(
            "spec.deviceSelector",
            "name driver, pool or device; {} means every device"
        )
    );
}
