//! Each of these mistakes is told itself, at its place, and nothing that only follows from it.

use super::{Found, lint};

/// A node, a class with its device, and a claim.
const BASE: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {model: {string: A100}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: there}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
"#;

const CLAIM: &str = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\n";
const REQUESTS: &str = "requests: [{name: r, exactly: {deviceClassName: gpu}}]";

fn with_base(input: &str) -> Vec<Found> {
    let found = lint(
        &format!("{BASE}{input}"),
        &["--feature", "DRADeviceTaintRules=true"],
    );
    let matters = |found: &Found| found.severity != "hint";
    found.into_iter().filter(matters).collect()
}

/// That this input has one mistake: severity, object, path, and parts of sentence and remedy.
fn one(input: &str, [severity, object, path]: [&str; 3], [message, remedy]: [&str; 2]) {
    let found = with_base(input);
    let [it] = &found[..] else {
        panic!("{input}: {found:#?}");
    };
    assert_eq!(
        [&*it.severity, &*it.object, &*it.path],
        [severity, object, path],
        "{it:#?}"
    );
    assert!(
        it.message.contains(message) && it.remedy.contains(remedy),
        "{it:#?}"
    );
}

/// A workload whose pods have a container and name the claim `there`.
fn workload(kind: &str, name: &str, spec: &str) -> String {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    let pod = "containers: [{name: c, image: i, resources: {claims: [{name: g}]}}], resourceClaims: [{name: g, resourceClaimName: there}]";
    let restart = if kind == "Job" {
        ", restartPolicy: Never"
    } else {
        ""
    };
    format!(
        "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{{spec}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{{pod}{restart}}}}}}}\n"
    )
}

#[test]
fn of_names_and_levels() {
    one(
        &format!("{CLAIM}metadata: {{nmae: c}}\nspec: {{devices: {{{REQUESTS}}}}}\n"),
        ["error", "ResourceClaim", "metadata.nmae"],
        ["without metadata.name", "write name"],
    );
    one(
        &format!("{CLAIM}metdata: {{name: c}}\nspec: {{devices: {{{REQUESTS}}}}}\n"),
        ["error", "ResourceClaim", "metdata"],
        ["without metadata.name", "write metadata"],
    );
    one(
        &format!("{CLAIM}metadata: {{labels: {{}}}}\nspec: {{devices: {{{REQUESTS}}}}}\n"),
        ["error", "ResourceClaim", "metadata.name"],
        ["without metadata.name", "give it a name"],
    );
    one(
        &format!("{CLAIM}metadata: {{name: GPU}}\nspec: {{devices: {{{REQUESTS}}}}}\n"),
        ["error", "ResourceClaim default/GPU", "metadata.name"],
        ["is not a DNS subdomain", "lower case"],
    );
    one(
        &format!(
            "{CLAIM}metadata: {{name: c, lables: {{a: b}}}}\nspec: {{devices: {{{REQUESTS}}}}}\n"
        ),
        ["error", "ResourceClaim default/c", "metadata.lables"],
        ["unknown field", "write \"labels\""],
    );
    let template = CLAIM.replace("Claim", "ClaimTemplate");
    one(
        &format!("{template}metadata: {{name: t}}\nspec: {{spec: {{device: {{{REQUESTS}}}}}}}\n"),
        [
            "error",
            "ResourceClaimTemplate default/t",
            "spec.spec.device",
        ],
        ["unknown field", "write \"devices\""],
    );
    one(
        &format!("{CLAIM}metadata: {{name: c}}\nspec: {{spec: {{devices: {{{REQUESTS}}}}}}}\n"),
        ["error", "ResourceClaim default/c", "spec.spec"],
        ["unknown field \"spec\" at this place", "right below spec"],
    );
    one(
        "apiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {deviceSelector: {driver: gpu.example.com}, taint: {key: k, efect: NoExecute}}\n",
        ["error", "DeviceTaintRule r", "spec.taint.efect"],
        ["unknown field", "write \"effect\""],
    );
}

#[test]
fn of_how_many_devices_there_are() {
    let claim = |count: usize| {
        format!(
            "{CLAIM}metadata: {{name: c}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu, count: {count}}}}}]}}}}\n"
        )
    };
    assert!(with_base(&claim(1)).is_empty());
    one(
        &claim(2),
        [
            "warning",
            "ResourceClaim default/c",
            "spec.devices.requests[0].exactly.count",
        ],
        ["is for 2 devices, and 1 of the 1 device published", "fewer"],
    );
    // More slices may come.
    let incomplete = format!("{BASE}{}", claim(2)).replace("SliceCount: 1", "SliceCount: 2");
    let found = lint(&incomplete, &[]);
    assert!(
        found.iter().all(|found| !found.path.ends_with("count")),
        "{found:#?}"
    );
}

#[test]
fn of_one_attribute_with_two_names() {
    let input = |name: &str| {
        BASE.replace(
            "{model: {string: A100}}",
            &format!("{{model: {{string: A100}}, {name}: {{string: A100}}}}"),
        )
    };
    let told = |name: &str| {
        let found = lint(&input(name), &[]);
        found
            .into_iter()
            .map(|found| found.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told("gpu.example.com/model"),
        ["spec.devices[0].attributes[gpu.example.com/model]"]
    );
    assert_eq!(told("other.example.com/model"), [""; 0]);
}

/// Classes for devices of other clusters are common; a claim that waits for one is another matter.
#[test]
fn of_classes_without_devices() {
    let class = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: nic}\nspec: {selectors: [{cel: {expression: \"device.driver == 'nic.example.com'\"}}]}\n---\n";
    let requests = "devices: {requests: [{name: r, exactly: {deviceClassName: nic}}]}";
    let template =
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: t}\n";
    assert!(
        with_base(&format!(
            "{class}{template}spec: {{spec: {{{requests}}}}}\n"
        ))
        .is_empty()
    );
    one(
        &format!("{class}{CLAIM}metadata: {{name: c}}\nspec: {{{requests}}}\n"),
        [
            "warning",
            "ResourceClaim default/c",
            "spec.devices.requests[0].exactly.deviceClassName",
        ],
        ["DeviceClass nic selects none", "another class"],
    );
}

#[test]
fn of_workloads() {
    one(
        &workload("Deployment", "d", "selector: {}").replace("template:", "templat:"),
        ["error", "Deployment default/d", "spec.templat"],
        ["unknown field", "write \"template\""],
    );
    one(
        &workload("Deployment", "d", "replica: 3"),
        ["error", "Deployment default/d", "spec.replica"],
        ["unknown field", "write \"replicas\""],
    );
    one(
        &workload("Job", "j", "restartPolicy: Never"),
        ["error", "Job default/j", "spec.restartPolicy"],
        [
            "unknown field",
            "move it to spec.template.spec.restartPolicy",
        ],
    );
    one(
        &workload("Job", "j", "parallelism: two"),
        ["error", "Job default/j", "spec.parallelism"],
        ["is not a whole number", "write a whole number"],
    );
    one(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}], resources: {claims: [{name: g}]}}\n",
        ["error", "Pod default/p", "spec.resources.claims"],
        ["take no claims", "containers[].resources.claims"],
    );
}

#[test]
fn of_sharing() {
    let path = "spec.template.spec.resourceClaims[0].resourceClaimName";
    one(
        &workload("Deployment", "d", "replicas: 2"),
        ["warning", "Deployment default/d", path],
        ["2 pods of Deployment d name", "resourceClaimTemplateName"],
    );
    let both = |spec| workload("Deployment", "d", spec) + &workload("Job", "j", "parallelism: 1");
    one(
        &both("replicas: 1"),
        ["warning", "Job default/j", path],
        [
            "Deployment d names the ResourceClaim there as well",
            "ResourceClaimTemplate",
        ],
    );
    assert_eq!(with_base(&both("replicas: 2")).len(), 2);
    // One pod has its claim for itself.
    assert!(with_base(&workload("Deployment", "d", "replicas: 1")).is_empty());
}

/// Two ReplicaSets of one Deployment, as a dump has them while it is rolled out, and two runs of a CronJob.
#[test]
fn one_workload_does_not_share_with_itself() {
    let pod = |name: &str, kind: &str, owner: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, ownerReferences: [{{apiVersion: v1, kind: {kind}, name: {owner}, uid: u, controller: true}}]}}\nspec: {{containers: [{{name: c, image: i, resources: {{claims: [{{name: g}}]}}}}], resourceClaims: [{{name: g, resourceClaimName: there}}]}}\n"
        )
    };
    let told = |one: [&str; 2], other: [&str; 2]| {
        let input = pod("a", one[0], one[1]) + &pod("b", other[0], other[1]);
        let found = with_base(&input).into_iter();
        found
            .map(|found| found.message)
            .collect::<Vec<_>>()
            .join("\n")
    };
    for (kind, one, other) in [
        ("ReplicaSet", "d-7d4b9c", "d-85f6c8"),
        ("Job", "run-28651234", "run-28651235"),
    ] {
        let told = told([kind, one], [kind, other]);
        assert!(told.starts_with("2 pods of "), "{told}");
    }
    assert!(told(["Job", "train-1"], ["Job", "train-2"]).contains("as well"));
}

#[test]
fn of_drivers_and_attributes() {
    let claim = |more: &str| {
        format!("{CLAIM}metadata: {{name: c}}\nspec: {{devices: {{{REQUESTS}, {more}}}}}\n")
    };
    one(
        &claim("config: [{opaque: {driver: gpu.exmple.com, parameters: {}}}]"),
        [
            "warning",
            "ResourceClaim default/c",
            "spec.devices.config[0].opaque.driver",
        ],
        ["nobody reads this", "did you mean \"gpu.example.com\"?"],
    );
    // Another driver's configuration may stand beside it.
    assert!(
        with_base(&claim(
            "config: [{opaque: {driver: nic.example.com, parameters: {}}}]"
        ))
        .is_empty()
    );
    let constraint = "constraints: [{matchAttribute: gpu.example.com/modle}]";
    let place = "spec.devices.constraints[0].matchAttribute";
    one(
        &claim(constraint),
        ["error", "ResourceClaim default/c", place],
        [
            "no published device has the attribute gpu.example.com/modle",
            "did you mean \"model\"?",
        ],
    );
    // Nobody uses the template, more slices may come, or the devices of another driver are not there.
    let unused = claim(constraint)
        .replace("ResourceClaim", "ResourceClaimTemplate")
        .replace("spec: {devices: {", "spec: {spec: {devices: {")
        .replace("}]}}\n", "}]}}}\n");
    one(
        &unused,
        [
            "warning",
            "ResourceClaimTemplate default/c",
            "spec.spec.devices.constraints[0].matchAttribute",
        ],
        ["no published device", "did you mean"],
    );
    let incomplete = format!("{BASE}{}", claim(constraint))
        .replace("resourceSliceCount: 1", "resourceSliceCount: 2");
    let found = lint(&incomplete, &[]);
    assert!(
        found
            .iter()
            .any(|found| found.path == place && found.severity == "warning")
    );
    assert!(
        with_base(&claim(
            "constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]"
        ))
        .is_empty()
    );
}

/// In v1 since Kubernetes 1.37, which is no profile here.
#[test]
fn of_a_kind_that_a_version_does_not_have() {
    let rule = |version: &str| {
        format!(
            "apiVersion: resource.k8s.io/{version}\nkind: DeviceTaintRule\nmetadata: {{name: r}}\nspec: {{deviceSelector: {{driver: gpu.example.com}}, taint: {{key: k, effect: NoExecute}}}}\n"
        )
    };
    one(
        &rule("v1"),
        ["warning", "DeviceTaintRule r", "apiVersion"],
        ["since Kubernetes 1.37", "v1beta2"],
    );
    assert!(with_base(&rule("v1beta2")).is_empty());
    assert!(with_base(&rule("v1alpha3")).is_empty());
}
