//! What is in order, belongs to another program, or only follows from something else is not accused; and each cause is told
//! once, with what to do.

use super::{Found, lint};

/// A node, a class and two devices.
const BASE: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-gpu}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {model: {string: A100}, index: {int: 0}}, capacity: {memory: {value: 80Gi}}}
  - {name: gpu-1, attributes: {model: {string: H100}, index: {int: 1}}, capacity: {memory: {value: 80Gi}}}
---
"#;

/// A claim for one device, with more fields of its request, in a flow mapping.
fn claim(class: &str, more: &str) -> String {
    format!(
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c}}\nspec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: {class}{more}}}}}]}}}}\n"
    )
}

fn selecting(expression: &str) -> String {
    let expression = expression.replace('\'', "''");
    claim(
        "gpu.example.com",
        &format!(", selectors: [{{cel: {{expression: '{expression}'}}}}]"),
    )
}

fn with_base(input: &str) -> Vec<Found> {
    lint(&format!("{BASE}{input}"), &[])
}

/// The only finding.
fn one(found: &[Found], [severity, object, path]: [&str; 3], [message, remedy]: [&str; 2]) {
    let [it] = found else {
        panic!("{path}: {found:#?}");
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

const CLAIM: &str = "ResourceClaim default/c";
const CLASS_NAME: &str = "spec.devices.requests[0].exactly.deviceClassName";
const EXPRESSION: &str = "spec.devices.requests[0].exactly.selectors[0].cel.expression";

/// Manifests with a class of their own use classes of other packages; a slip is a slip.
#[test]
fn classes_of_other_packages() {
    let own =
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.intel.com}\n---\n";
    for (class, severity, remedy) in [
        ("gpu.nvidia.com", "hint", "add the classes of the cluster"),
        ("gaudi.intel.com", "hint", "add the classes of the cluster"),
        ("gpu.intle.com", "error", "did you mean \"gpu.intel.com\"?"),
    ] {
        let found = lint(&format!("{own}{}", claim(class, "")), &[]);
        let about: Vec<Found> = found
            .into_iter()
            .filter(|found| found.path == CLASS_NAME)
            .collect();
        one(&about, [severity, CLAIM, CLASS_NAME], [class, remedy]);
    }
}

/// Which devices an unknown class selects cannot be told; that the expression does not compile can.
#[test]
fn selectors_behind_an_unknown_class() {
    let selector = |expression: &str| {
        let selectors = format!(", selectors: [{{cel: {{expression: {expression:?}}}}}]");
        with_base(&claim("nic.example.com", &selectors))
    };
    let error = ["error", CLAIM, CLASS_NAME];
    let found = selector("device.attributes['dra.net'].rdma == true");
    one(
        &found,
        error,
        ["nic.example.com", "create it, or use one of"],
    );
    let found = selector("device.drivr == 'x'");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[1].message.contains("does not compile"), "{found:#?}");
}

/// The devices stay allocated whatever becomes of the class.
#[test]
fn an_allocated_claim_needs_no_class() {
    let status = "status: {allocation: {devices: {results: [{request: gpu, driver: gpu.example.com, pool: n1, device: gpu-0}]}}}\n";
    let found = with_base(&format!("{}{status}", claim("deleted-since", "")));
    assert!(found.is_empty(), "{found:#?}");
}

/// No flag helps, and the field is right where the cluster has the feature. A gate that can be switched on is named.
#[test]
fn fields_of_features_that_are_not_here() {
    let found = with_base(&claim(
        "gpu.example.com",
        ", capacity: {requests: {memory: 1Gi}}",
    ));
    let path = "spec.devices.requests[0].exactly.capacity.requests";
    let message =
        "not implemented here (gate DRAConsumableCapacity), so the ResourceClaim is not judged";
    one(
        &found,
        ["warning", CLAIM, path],
        [message, "leave it as it is if the cluster has the feature"],
    );
    let listed = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c}\nspec: {devices: {requests: [{name: gpu, firstAvailable: [{name: a, deviceClassName: gpu.example.com}]}]}}\n";
    let found = lint(
        &format!("{BASE}{listed}"),
        &["--feature", "DRAPrioritizedList=false"],
    );
    let gate = "--feature DRAPrioritizedList=true";
    assert!(
        found
            .iter()
            .any(|found| found.severity == "error" && found.remedy.contains(gate)),
        "{found:#?}"
    );
}

/// Drivers of networks hand nothing to containers.
#[test]
fn a_claim_that_no_container_uses() {
    let pod = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}], resourceClaims: [{name: nic, resourceClaimName: c}]}\n";
    let found = with_base(&format!("{}{pod}", claim("gpu.example.com", "")));
    one(
        &found,
        ["hint", "Pod default/p", "spec.resourceClaims[0]"],
        [
            "no container uses the claim \"nic\"",
            "that needs the devices",
        ],
    );
}

/// A status without a name says that no claim was necessary.
#[test]
fn an_entry_that_needed_no_claim() {
    let template = claim("gpu.example.com", "")
        .replace("kind: ResourceClaim\n", "kind: ResourceClaimTemplate\n")
        .replace("spec: {devices", "spec: {spec: {devices")
        + "}\n";
    let template = template.replace("\n}\n", "}\n");
    let pod = |statuses: &str| {
        with_base(&format!(
            "{template}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{nodeName: n1, containers: [{{name: c, image: x, resources: {{claims: [{{name: g}}]}}}}], resourceClaims: [{{name: g, resourceClaimTemplateName: c}}]}}\nstatus: {{phase: Running{statuses}}}\n"
        ))
    };
    let found = pod(", resourceClaimStatuses: [{name: g}]");
    assert!(found.is_empty(), "{found:#?}");
    let place = ["error", "Pod default/p", "spec.nodeName"];
    one(
        &pod(""),
        place,
        ["no claim was generated", "leave nodeName"],
    );
}

/// What `kubectl` reads is no mistake of type.
#[test]
fn one_finding_for_a_scalar() {
    for (count, message) in [("010", "octal, that is 8"), ("1_000", "as a number")] {
        let found = with_base(&claim("gpu.example.com", &format!(", count: {count}")));
        let path = "spec.devices.requests[0].exactly.count";
        one(&found, ["warning", CLAIM, path], [message, "write"]);
    }
    let block = BASE.replace("index: {int: 0}}", "index: {int: 0}, mig: {bool: yes}}");
    let found = lint(&block, &[]);
    assert!(
        found
            .iter()
            .all(|found| !found.message.starts_with("expected")),
        "{found:#?}"
    );
    assert!(
        found
            .iter()
            .any(|found| found.message.contains("reads yes as a boolean"))
    );
}

fn deployment(spec: &str, template: &str, pod: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec: {{{spec}selector: {{matchLabels: {{a: b}}}}, template: {{{template}metadata: {{labels: {{a: b}}}}, spec: {{{pod}containers: [{{name: c, image: x, resources: {{claims: [{{name: gpu}}]}}}}]}}}}}}\n"
    )
}

/// Of claims that stand elsewhere or are misspelled, and of nothing else: not that the pod has none.
#[test]
fn claims_of_workloads_at_another_place() {
    let claims = "resourceClaims: [{name: gpu, resourceClaimName: c}], ";
    let misspelled = claims.replace("Claims:", "Claim:");
    let there = "move it to spec.template.spec.resourceClaims";
    for ([spec, template, pod], path, remedy) in [
        ([claims, "", ""], "spec.resourceClaims", there),
        (["", claims, ""], "spec.template.resourceClaims", there),
        (
            ["", "", &misspelled],
            "spec.template.spec.resourceClaim",
            "write \"resourceClaims\"",
        ),
    ] {
        let input = claim("gpu.example.com", "") + &deployment(spec, template, pod);
        let place = ["error", "Deployment default/d", path];
        one(&with_base(&input), place, ["unknown field", remedy]);
    }
}

/// Also where the pods made from it were judged.
#[test]
fn people_see_where_a_workload_stands() {
    let claims = "resourceClaims: [{name: gpu, resourceClaimName: gone}], ";
    let input = format!("{BASE}{}", deployment("", "", claims));
    let finished = crate::command::dractl_with(&["lint", "-"], input.clone().into());
    let before = input.split("kind: Deployment").next().unwrap_or_default();
    let line = before.lines().count();
    let first = format!("Deployment default/d (standard input:{line})");
    assert!(
        finished.stdout.starts_with(&first),
        "{first}\n{}",
        finished.stdout
    );
}

/// It fails everybody's selectors, which are right.
#[test]
fn a_broken_value_is_its_slices() {
    for (from, to, path, said) in [
        (
            "{value: 80Gi}}}\n---",
            "{value: 80GB}}}\n---",
            "capacity[memory].value",
            ["80GB", "write \"80G\" or \"80Gi\""],
        ),
        (
            "{int: 1}",
            "{version: \"1.2\"}",
            "attributes[index].version",
            ["1.2", "write MAJOR.MINOR.PATCH"],
        ),
        (
            "{int: 1}",
            "{}",
            "attributes[index]",
            ["no value", "set int, bool"],
        ),
    ] {
        let found = lint(&BASE.replace(from, to), &[]);
        let path = format!("spec.devices[1].{path}");
        one(&found, ["error", "ResourceSlice n1-gpu", &path], said);
    }
}

/// A guard hides a slip from the evaluation, not from its reader.
#[test]
fn guarded_slips() {
    for (expression, remedy) in [
        (
            r#"has(device.attributes["gpu.example.com"].modle) && device.attributes["gpu.example.com"].modle == "A100""#,
            "did you mean \"model\"?",
        ),
        (
            r#"device.attributes["gpu.example.com"].?modle.orValue("") == "A100""#,
            "did you mean \"model\"?",
        ),
        (
            r#"device.attributes["gpu.exmple.com"].?model.orValue("") == "A100""#,
            "did you mean the domain \"gpu.example.com\"?",
        ),
        (
            r#"has(device.capacity["gpu.example.com"].memroy) && device.capacity["gpu.example.com"].memroy.isGreaterThan(quantity("1Gi"))"#,
            "did you mean \"memory\"?",
        ),
    ] {
        let found = with_base(&selecting(expression));
        assert!(
            found.len() == 1 && found[0].path == EXPRESSION && found[0].remedy == remedy,
            "{found:#?}"
        );
    }
    // For some device it is true: then the other half may be for another driver.
    let found = with_base(&selecting(
        r#"has(device.attributes["gpu.example.com"].modle) || device.attributes["gpu.example.com"].model == "A100""#,
    ));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn attributes_and_capacities() {
    for (expression, remedy) in [
        (
            r#"device.attributes["gpu.example.com"].memory == "80Gi""#,
            "it is a capacity: selectors look it up in device.capacity",
        ),
        (
            r#"device.capacity["gpu.example.com"].model == "A100""#,
            "gpu.example.com/model is an attribute: selectors look it up in device.attributes",
        ),
    ] {
        let found = with_base(&selecting(expression));
        one(&found, ["error", CLAIM, EXPRESSION], ["", remedy]);
    }
}

/// One device is a model that no other selector leaves.
#[test]
fn values_that_were_left_out_before() {
    let found = with_base(&claim(
        "gpu.example.com",
        r#", selectors: [{cel: {expression: "device.attributes['gpu.example.com'].model == 'A100'"}}, {cel: {expression: "device.attributes['gpu.example.com'].index == 1"}}]"#,
    ));
    let path = EXPRESSION.replace("selectors[0]", "selectors[1]");
    one(
        &found,
        ["error", CLAIM, &path],
        [
            "the 1 device",
            "also by those that were left out before: gpu.example.com/index is 0, 1",
        ],
    );
}

#[test]
fn a_pool_without_counters() {
    let input = BASE.replace(
        "memory: {value: 80Gi}}}\n---",
        "memory: {value: 80Gi}}, consumesCounters: [{counterSet: cs, counters: {x: {value: \"1\"}}}]}\n---",
    );
    let path = "spec.devices[1].consumesCounters[0].counterSet";
    let place = ["error", "ResourceSlice n1-gpu", path];
    one(
        &lint(&input, &[]),
        place,
        ["cs", "add it to spec.sharedCounters"],
    );
}

/// Every other selector is called so.
#[test]
fn the_selector_of_a_taint_rule() {
    let rule = "apiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {name: r}\nspec: {selector: {driver: gpu.example.com}, taint: {key: example.com/k, effect: NoSchedule}}\n";
    let found = lint(
        &format!("{BASE}{rule}"),
        &["--feature", "DRADeviceTaintRules=true"],
    );
    let place = ["error", "DeviceTaintRule r", "spec.selector"];
    one(&found, place, ["unknown field", "write \"deviceSelector\""]);
}
