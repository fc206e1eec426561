//! Limits and syntax that the API server enforces, each with the largest value that is taken and one beyond. The numbers are
//! those of the constants and comments of `k8s.io/api/resource/v1`.

use super::{Found, lint};

/// What is there besides.
const BASE: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: there}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
"#;

/// A text with a place for a value, a value at the limit, one beyond, and what is told of that: path and part of the message.
struct Row {
    text: &'static str,
    within: String,
    beyond: String,
    path: &'static str,
    message: &'static str,
}

fn row(
    text: &'static str,
    within: impl Into<String>,
    beyond: impl Into<String>,
    [path, message]: [&'static str; 2],
) -> Row {
    Row {
        text,
        within: within.into(),
        beyond: beyond.into(),
        path,
        message,
    }
}

/// Kind and content: `%` stands for a name of its own, `@` for the value.
const CLAIM: &str =
    "ResourceClaim|spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}], @}}";
const REQUESTS: &str = "ResourceClaim|spec: {devices: {requests: [@]}}";
const EXACTLY: &str =
    "ResourceClaim|spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, @}}]}}";
const FIRST: &str = "ResourceClaim|spec: {devices: {requests: [{name: r, firstAvailable: [@]}]}}";
const STATUS: &str = "ResourceClaim|spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}\nstatus: {@}";
const TEMPLATE: &str = "ResourceClaimTemplate|spec: {@ spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}";
const POD: &str = "Pod|spec: {containers: [{name: c, image: i}], resourceClaims: [{@}]}";
const CLASS: &str = "DeviceClass|spec: {@}";
const SLICE: &str = "ResourceSlice|spec: {driver: d.example.com, pool: {name: %, generation: 1, resourceSliceCount: 1}, @}";
const DEVICES: &str = "ResourceSlice|spec: {driver: d.example.com, nodeName: n1, pool: {name: %, generation: 1, resourceSliceCount: 1}, devices: [@]}";
const DEVICE: &str = "ResourceSlice|spec: {driver: d.example.com, nodeName: n1, pool: {name: %, generation: 1, resourceSliceCount: 1}, devices: [{name: d, @}]}";
const COUNTERS: &str = "ResourceSlice|spec: {driver: d.example.com, nodeName: n1, pool: {name: %, generation: 1, resourceSliceCount: 1}, sharedCounters: [@]}";

fn times(count: usize, one: impl Fn(usize) -> String) -> String {
    let all: Vec<String> = (0..count).map(one).collect();
    all.join(", ")
}

fn letters(count: usize) -> String {
    "a".repeat(count)
}

fn of_claims() -> Vec<Row> {
    let request = |i| format!("{{name: r{i}, exactly: {{deviceClassName: gpu}}}}");
    let counted =
        |count| format!("{{name: r{count}, exactly: {{deviceClassName: gpu, count: {count}}}}}");
    let sub = |i| format!("{{name: s{i}, deviceClassName: gpu}}");
    let config = |i| format!("{{opaque: {{driver: d{i}.example.com, parameters: {{}}}}}}");
    let selector = |_| "{cel: {expression: 'true'}}".to_owned();
    let toleration = |i| format!("{{key: k{i}, operator: Exists}}");
    let expression = |bytes: usize| {
        format!(
            "selectors: [{{cel: {{expression: \"true || '{}' == ''\"}}}}]",
            letters(bytes - 16)
        )
    };
    // {"a":"..."} is eight bytes longer than what is inside.
    let parameters = |bytes: usize| {
        format!(
            "config: [{{opaque: {{driver: d.example.com, parameters: {{a: {}}}}}}}]",
            letters(bytes - 8)
        )
    };
    vec![
        row(
            REQUESTS,
            times(32, request),
            times(33, request),
            ["spec.devices.requests", "33 requests, at most 32"],
        ),
        row(
            REQUESTS,
            format!("{}, {}", request(1), request(2)),
            format!("{}, {}", request(1), request(1)),
            ["spec.devices.requests[1].name", "\"r1\" is used twice"],
        ),
        row(
            REQUESTS,
            format!("{}, {}", counted(12), counted(20)),
            format!("{}, {}", counted(13), counted(20)),
            ["spec.devices.requests", "33 devices together, at most 32"],
        ),
        row(
            REQUESTS,
            "{name: '0-a', exactly: {deviceClassName: gpu}}",
            "{name: a.b, exactly: {deviceClassName: gpu}}",
            ["spec.devices.requests[0].name", "is not a DNS label"],
        ),
        row(
            FIRST,
            times(8, sub),
            times(9, sub),
            [
                "spec.devices.requests[0].firstAvailable",
                "9 alternatives, at most 8",
            ],
        ),
        row(
            FIRST,
            format!("{}, {}", sub(1), sub(2)),
            format!("{}, {}", sub(1), sub(1)),
            [
                "spec.devices.requests[0].firstAvailable[1].name",
                "\"s1\" is used twice",
            ],
        ),
        row(
            EXACTLY,
            "count: 32",
            "count: 33",
            [
                "spec.devices.requests[0].exactly.count",
                "33 devices, at most 32",
            ],
        ),
        row(
            EXACTLY,
            format!("selectors: [{}]", times(32, selector)),
            format!("selectors: [{}]", times(33, selector)),
            [
                "spec.devices.requests[0].exactly.selectors",
                "33 selectors, at most 32",
            ],
        ),
        row(
            EXACTLY,
            expression(10240),
            expression(10241),
            [
                "spec.devices.requests[0].exactly.selectors[0].cel.expression",
                "10241 bytes, at most 10240",
            ],
        ),
        row(
            EXACTLY,
            format!("tolerations: [{}]", times(16, toleration)),
            format!("tolerations: [{}]", times(17, toleration)),
            [
                "spec.devices.requests[0].exactly.tolerations",
                "17 tolerations, at most 16",
            ],
        ),
        row(
            EXACTLY,
            "tolerations: [{key: k, operator: Exists}]",
            "tolerations: [{key: k, operator: Exists, value: v}]",
            [
                "spec.devices.requests[0].exactly.tolerations[0].value",
                "takes no value",
            ],
        ),
        row(
            EXACTLY,
            "tolerations: [{key: example.com/k, value: v}]",
            "tolerations: [{key: example.com/, value: v}]",
            [
                "spec.devices.requests[0].exactly.tolerations[0].key",
                "is no label key",
            ],
        ),
        row(
            EXACTLY,
            "tolerations: [{key: k, value: v-1}]",
            "tolerations: [{key: k, value: v-}]",
            [
                "spec.devices.requests[0].exactly.tolerations[0].value",
                "is no label value",
            ],
        ),
        row(
            EXACTLY,
            "tolerations: [{key: k, value: v, effect: NoExecute}]",
            "tolerations: [{key: k, value: v, effect: PreferNoSchedule}]",
            [
                "spec.devices.requests[0].exactly.tolerations[0].effect",
                "unknown value \"PreferNoSchedule\"",
            ],
        ),
        row(
            CLAIM,
            format!("config: [{}]", times(32, config)),
            format!("config: [{}]", times(33, config)),
            ["spec.devices.config", "33 config entries, at most 32"],
        ),
        row(
            CLAIM,
            parameters(10240),
            parameters(10241),
            [
                "spec.devices.config[0].opaque.parameters",
                "10241 bytes of JSON, at most 10240",
            ],
        ),
        row(
            CLAIM,
            format!(
                "config: [{{opaque: {{driver: {}.com, parameters: {{}}}}}}]",
                letters(59)
            ),
            format!(
                "config: [{{opaque: {{driver: {}.com, parameters: {{}}}}}}]",
                letters(60)
            ),
            [
                "spec.devices.config[0].opaque.driver",
                "is no name of a driver",
            ],
        ),
        row(
            CLAIM,
            "config: [{requests: [r], opaque: {driver: d, parameters: {}}}]",
            "config: [{requests: [r, r], opaque: {driver: d, parameters: {}}}]",
            ["spec.devices.config[0].requests[1]", "\"r\" is used twice"],
        ),
        row(
            CLAIM,
            format!(
                "constraints: [{}]",
                times(32, |_| "{matchAttribute: d.example.com/a}".into())
            ),
            format!(
                "constraints: [{}]",
                times(33, |_| "{matchAttribute: d.example.com/a}".into())
            ),
            ["spec.devices.constraints", "33 constraints, at most 32"],
        ),
        row(
            CLAIM,
            format!(
                "constraints: [{{matchAttribute: d.example.com/{}}}]",
                letters(32)
            ),
            format!(
                "constraints: [{{matchAttribute: d.example.com/{}}}]",
                letters(33)
            ),
            [
                "spec.devices.constraints[0].matchAttribute",
                "is no full name of an attribute",
            ],
        ),
        row(
            CLAIM,
            "constraints: [{matchAttribute: d.example.com/a}]",
            "constraints: [{matchAttribute: d.example.com/a/b}]",
            [
                "spec.devices.constraints[0].matchAttribute",
                "is no full name of an attribute",
            ],
        ),
        row(
            TEMPLATE,
            "metadata: {labels: {a: b}, annotations: {c: d}},",
            "metadata: {name: x},",
            ["spec.metadata.name", "may not be set here"],
        ),
        row(
            TEMPLATE,
            "metadata: {labels: {a: b}},",
            "metadata: {labels: {a: -b}},",
            ["spec.metadata.labels[a]", "is no label value"],
        ),
    ]
}

fn of_statuses() -> Vec<Row> {
    let allocation = |count: usize| {
        let one = |i| format!("{{request: r, driver: h.example.com, pool: p, device: d{i}}}");
        format!(
            "allocation: {{devices: {{results: [{}]}}}}",
            times(count, one)
        )
    };
    let result =
        |text: &str| format!("allocation: {{devices: {{results: [{{request: r, {text}}}]}}}}");
    let users = |count: usize| {
        let one = |i| format!("{{resource: pods, name: p{i}, uid: u{i}}}");
        format!(
            "{}, reservedFor: [{}]",
            allocation(1).replace("d0", "u0"),
            times(count, one)
        )
    };
    let reported = |device: &str| {
        format!(
            "{}, devices: [{{driver: h.example.com, pool: p, device: {device}}}]",
            allocation(1).replace("d0", "v0")
        )
    };
    vec![
        row(
            STATUS,
            allocation(32).replace(": d", ": w"),
            allocation(33).replace(": d", ": x"),
            [
                "status.allocation.devices.results",
                "33 results, at most 32",
            ],
        ),
        row(
            STATUS,
            users(256),
            users(257).replace("u0}]}}", "y0}]}}"),
            ["status.reservedFor", "257 users, at most 256"],
        ),
        row(
            STATUS,
            reported("v0"),
            reported("v1").replace("device: v0", "device: z0"),
            ["status.devices[0]", "not allocated for the claim"],
        ),
        row(
            STATUS,
            result("driver: i.example.com, pool: a/b.c, device: d"),
            result("driver: i.example.com, pool: a/, device: d"),
            [
                "status.allocation.devices.results[0].pool",
                "is no name of a pool",
            ],
        ),
        row(
            STATUS,
            result("driver: j.example.com, pool: p, device: d"),
            result("driver: j.example.com, pool: p, device: D"),
            [
                "status.allocation.devices.results[0].device",
                "is not a DNS label",
            ],
        ),
    ]
}

fn of_slices() -> Vec<Row> {
    let device = |i| format!("{{name: d{i}}}");
    let tainted = |i| format!("{{name: d{i}, taints: [{{key: k, effect: None}}]}}");
    let mixed = |count: usize| {
        format!(
            "attributes: {{{}}}, capacity: {{c: {{value: 1}}}}",
            times(count, |i| format!("a{i}: {{int: 1}}"))
        )
    };
    let named = |name: String| format!("attributes: {{{name}: {{int: 1}}}}");
    let taint = |i| format!("{{key: k{i}, effect: NoSchedule}}");
    let sets = |count| {
        times(count, |i| {
            format!("{{name: s{i}, counters: {{c: {{value: 1}}}}}}")
        })
    };
    let counters = |count| {
        format!(
            "{{name: s, counters: {{{}}}}}",
            times(count, |i| format!("c{i}: {{value: 1}}"))
        )
    };
    let nodes =
        "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}";
    vec![
        row(
            DEVICES,
            times(128, device),
            times(129, device),
            ["spec.devices", "129 devices, at most 128"],
        ),
        row(
            DEVICES,
            times(64, tainted),
            times(65, tainted),
            ["spec.devices", "65 devices, at most 64"],
        ),
        row(
            DEVICES,
            format!("{{name: {}}}", letters(63)),
            format!("{{name: {}}}", letters(64)),
            ["spec.devices[0].name", "is not a DNS label"],
        ),
        row(
            DEVICE,
            mixed(31),
            mixed(32),
            [
                "spec.devices[0].attributes",
                "33 attributes and capacities, at most 32",
            ],
        ),
        row(
            DEVICE,
            named(letters(32)),
            named(letters(33)),
            [
                "spec.devices[0].attributes[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]",
                "is no name for this",
            ],
        ),
        row(
            DEVICE,
            named("a_1".into()),
            named("1a".into()),
            ["spec.devices[0].attributes[1a]", "is no name for this"],
        ),
        row(
            DEVICE,
            named(format!("{}.a/x", letters(61))),
            named(format!("{}.a/x", letters(62))),
            [
                "spec.devices[0].attributes[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.a/x]",
                "is no name for this",
            ],
        ),
        row(
            DEVICE,
            format!("attributes: {{s: {{string: {}}}}}", letters(64)),
            format!("attributes: {{s: {{string: {}}}}}", letters(65)),
            [
                "spec.devices[0].attributes[s].string",
                "65 bytes, at most 64",
            ],
        ),
        row(
            DEVICE,
            format!("attributes: {{v: {{version: 1.0.0-{}}}}}", letters(58)),
            format!("attributes: {{v: {{version: 1.0.0-{}}}}}", letters(59)),
            [
                "spec.devices[0].attributes[v].version",
                "65 bytes, at most 64",
            ],
        ),
        row(
            DEVICE,
            "attributes: {v: {version: 1.2.0}}",
            "attributes: {v: {version: '1.2'}}",
            [
                "spec.devices[0].attributes[v].version",
                "\"1.2\" is not a semantic version",
            ],
        ),
        row(
            DEVICE,
            "attributes: {v: {int: 0}}",
            "attributes: {v: {}}",
            [
                "spec.devices[0].attributes[v]",
                "the attribute has no value",
            ],
        ),
        row(
            DEVICE,
            "capacity: {m: {value: 100G}}",
            "capacity: {m: {value: 100GB}}",
            [
                "spec.devices[0].capacity[m].value",
                "\"100GB\" is not a quantity",
            ],
        ),
        row(
            DEVICE,
            format!("taints: [{}]", times(16, taint)),
            format!("taints: [{}]", times(17, taint)),
            ["spec.devices[0].taints", "17 taints, at most 16"],
        ),
        row(
            DEVICE,
            "taints: [{key: k, effect: NoSchedule}]",
            "taints: [{effect: NoSchedule}]",
            ["spec.devices[0].taints[0].key", "key is missing"],
        ),
        row(
            DEVICE,
            "taints: [{key: k, value: '', effect: NoSchedule}]",
            "taints: [{key: k, value: a b, effect: NoSchedule}]",
            ["spec.devices[0].taints[0].value", "is no label value"],
        ),
        row(
            COUNTERS,
            sets(8),
            sets(9),
            ["spec.sharedCounters", "9 counter sets, at most 8"],
        ),
        row(
            COUNTERS,
            counters(32),
            counters(33),
            ["spec.sharedCounters[0].counters", "33 counters, at most 32"],
        ),
        row(
            COUNTERS,
            "{name: s, counters: {c-1: {value: 1}}}",
            "{name: s, counters: {c_1: {value: 1}}}",
            ["spec.sharedCounters[0].counters[c_1]", "is not a DNS label"],
        ),
        row(
            COUNTERS,
            "{name: s, counters: {c: {value: 1}}}",
            "{name: s}",
            ["spec.sharedCounters[0].counters", "counters is missing"],
        ),
        row(
            SLICE,
            "allNodes: true",
            "allNodes: true, nodeName: n1",
            ["spec.allNodes", "nodeName and allNodes are set"],
        ),
        row(
            SLICE,
            nodes,
            nodes.replace(
                "]}]}",
                "]}, {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}",
            ),
            ["spec.nodeSelector.nodeSelectorTerms", "2 terms, exactly 1"],
        ),
        row(
            SLICE,
            nodes,
            nodes.replace("Exists", "In"),
            [
                "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].values",
                "In needs at least one value",
            ],
        ),
        row(
            SLICE,
            nodes,
            nodes.replace("Exists", "Is"),
            [
                "spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator",
                "unknown value \"Is\"",
            ],
        ),
        row(
            SLICE,
            "perDeviceNodeSelection: true, devices: [{name: d, nodeName: n1}]",
            "perDeviceNodeSelection: true, devices: [{name: d}]",
            ["spec.devices[0]", "no node reaches the device"],
        ),
        row(
            SLICE,
            "perDeviceNodeSelection: true, devices: [{name: d, allNodes: true}]",
            "perDeviceNodeSelection: true, devices: [{name: d, nodeName: n1, allNodes: true}]",
            ["spec.devices[0].allNodes", "nodeName and allNodes are set"],
        ),
        row(
            SLICE,
            "nodeName: n1",
            "nodeName: n1, allNodes: false",
            ["spec.allNodes", "false is not allowed"],
        ),
    ]
}

fn of_pods() -> Vec<Row> {
    let long = letters(253);
    vec![
        row(
            POD,
            "name: 0-a, resourceClaimName: there",
            "name: a_0, resourceClaimName: there",
            ["spec.resourceClaims[0].name", "is not a DNS label"],
        ),
        row(
            POD,
            "name: a, resourceClaimName: there",
            "name: a, resourceClaimName: There",
            [
                "spec.resourceClaims[0].resourceClaimName",
                "is not a DNS subdomain",
            ],
        ),
        row(
            POD,
            "name: a, resourceClaimName: there",
            format!("name: a, resourceClaimTemplateName: {long}a"),
            [
                "spec.resourceClaims[0].resourceClaimTemplateName",
                "is not a DNS subdomain",
            ],
        ),
        row(
            POD,
            "name: a, resourceClaimName: there",
            "name: a, resourceClaimName: there, resourceClaimTemplateName: there",
            ["spec.resourceClaims[0]", "both a claim and a template"],
        ),
        row(
            POD,
            "name: a, resourceClaimName: there",
            "name: a",
            ["spec.resourceClaims[0]", "neither a claim nor a template"],
        ),
    ]
}

fn of_classes() -> Vec<Row> {
    let config = |i| format!("{{opaque: {{driver: d{i}.example.com, parameters: {{}}}}}}");
    vec![
        row(
            CLASS,
            format!("config: [{}]", times(32, config)),
            format!("config: [{}]", times(33, config)),
            ["spec.config", "33 config entries, at most 32"],
        ),
        row(
            CLASS,
            "extendedResourceName: example.com/gpu",
            "extendedResourceName: gpu",
            [
                "spec.extendedResourceName",
                "is no name of an extended resource",
            ],
        ),
        row(
            CLASS,
            "extendedResourceName: example.com/gpu",
            "extendedResourceName: kubernetes.io/gpu",
            [
                "spec.extendedResourceName",
                "is no name of an extended resource",
            ],
        ),
    ]
}

impl Row {
    fn object(&self, name: &str, value: &str) -> String {
        let (kind, text) = self.text.split_once('|').unwrap();
        let text = text.replace('%', name).replace('@', value);
        let version = if kind == "Pod" {
            "v1"
        } else {
            "resource.k8s.io/v1"
        };
        format!("---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\n{text}\n")
    }
}

/// Warnings and errors; that a driver publishes nothing is only a hint.
fn about<'f>(found: &'f [Found], name: &str) -> Vec<&'f Found> {
    let ends = |object: &str| {
        object.ends_with(&format!("/{name}")) || object.ends_with(&format!(" {name}"))
    };
    found
        .iter()
        .filter(|found| ends(&found.object) && found.severity != "hint")
        .collect()
}

fn each_limit(rows: Vec<Row>) {
    let mut input = BASE.to_owned();
    for (i, row) in rows.iter().enumerate() {
        input.push_str(&row.object(&format!("within-{i}"), &row.within));
        input.push_str(&row.object(&format!("beyond-{i}"), &row.beyond));
    }
    let found = lint(&input, &[]);
    for (i, row) in rows.iter().enumerate() {
        let within = about(&found, &format!("within-{i}"));
        assert!(within.is_empty(), "{}: {within:#?}", row.within);
        let beyond = about(&found, &format!("beyond-{i}"));
        let [it] = &beyond[..] else {
            panic!("{}: {beyond:#?}", row.beyond);
        };
        assert_eq!([&*it.severity, &*it.path], ["error", row.path], "{it:#?}");
        assert!(it.message.contains(row.message), "{it:#?}");
    }
}

#[test]
fn of_each_claim() {
    each_limit(of_claims());
}

#[test]
fn of_each_status() {
    each_limit(of_statuses());
}

#[test]
fn of_each_slice() {
    each_limit(of_slices());
}

#[test]
fn of_each_pod() {
    each_limit(of_pods());
}

#[test]
fn of_each_class() {
    each_limit(of_classes());
}
