//! Small clusters, one for each kind of remedy, word for word. What helps was worked out by hand beside each.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::explain::{assert_narrow, explain_text, violations};

/// A node and a class.
const CLUSTER: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8", pods: "110"}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
"#;

/// A slice of n1 with these devices, as YAML each.
pub(super) fn slice(devices: &[&str]) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: s}}, spec: {{driver: gpu.example.com, nodeName: n1, pool: {{name: n1, generation: 1, resourceSliceCount: 1}}, devices: [{}]}}}}\n",
        devices.join(", ")
    )
}

/// A claim with these requests and constraints.
pub(super) fn claim(devices: &str) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: mine}}, spec: {{devices: {{{devices}}}}}}}\n"
    )
}

pub(super) fn requests(form: &str) -> String {
    claim(&format!(
        "requests: [{{name: gpus, exactly: {{deviceClassName: gpu.example.com, {form}}}}}]"
    ))
}

/// The pod, with more of its specification.
pub(super) fn pod(spec: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: p, uid: u-p}}, spec: {{resourceClaims: [{{name: c, resourceClaimName: mine}}], {spec}}}}}\n"
    )
}

/// A pod of its own that has a device and so much CPU.
fn holder(name: &str, device: &str, cpu: &str) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {name}-claim}}, spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu.example.com}}}}]}}}}, status: {{allocation: {{devices: {{results: [{{request: r, driver: gpu.example.com, pool: n1, device: {device}}}]}}}}, reservedFor: [{{resource: pods, name: {name}, uid: u-{name}}}]}}}}\n---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, uid: u-{name}}}, spec: {{nodeName: n1, containers: [{{name: m, resources: {{requests: {{cpu: {cpu}}}}}}}]}}, status: {{phase: Running}}}}\n"
    )
}

/// What stands under TO MAKE IT FIT.
pub(super) fn check(arguments: &[&str], parts: &[String], expected: &Expect) {
    check_in(CLUSTER, arguments, parts, expected);
}

/// The same on a node with a taint.
fn check_tainted(parts: &[String], expected: &Expect) {
    let taint = "{name: n1}, spec: {taints: [{key: infra, effect: NoSchedule}]}";
    check_in(&CLUSTER.replace("{name: n1}", taint), &[], parts, expected);
}

fn check_in(cluster: &str, arguments: &[&str], parts: &[String], expected: &Expect) {
    let input = format!("{cluster}{}", parts.concat());
    let mut all = vec!["p"];
    all.extend(arguments);
    let finished = explain_text(&all, &input);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_narrow(&finished.stdout);
    let (_, rest) = finished
        .stdout
        .split_once("TO MAKE IT FIT\n")
        .expect("steps");
    let (steps, _) = rest.split_once("\n\n").expect("an end");
    // Lines that are all indented alike would lose that.
    expected.assert_eq(&format!("TO MAKE IT FIT\n{steps}\n"));
    all.extend(["-o", "json"]);
    let json = explain_text(&all, &input).json();
    assert_eq!(violations(&json), Vec::<String>::new());
}

/// Two devices, one each of two holders: both are needed, or one that may stay as it is.
#[test]
fn all_holders_or_fewer_devices() {
    let parts = [
        slice(&["{name: g0}", "{name: g1}"]),
        holder("x", "g0", "1"),
        holder("y", "g1", "1"),
        requests("count: 2"),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) free g0 and g1, held by pod default/x and pod default/y
               or (b) ask for at most 1 and free g0, held by pod default/x
        "#]],
    );
}

/// Three in use of which one would do: the first that was tried is named.
#[test]
fn one_holder_of_three() {
    let parts = [
        slice(&["{name: g0}", "{name: g1}", "{name: g2}"]),
        holder("x", "g0", "1"),
        holder("y", "g1", "1"),
        holder("z", "g2", "1"),
        requests("count: 1"),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - free g0, held by pod default/x
        "#]],
    );
}

/// g0 (r0) and g1 (r1) are free, g2 (r1) is in use: freeing it makes two of r1. g3 has no root, and freeing it would not help.
#[test]
fn the_holder_that_completes_a_pair() {
    let root = |root: u8| format!("attributes: {{root: {{int: {root}}}}}");
    let parts = [
        slice(&[
            &format!("{{name: g0, {}}}", root(0)),
            &format!("{{name: g1, {}}}", root(1)),
            &format!("{{name: g2, {}}}", root(1)),
            "{name: g3}",
        ]),
        holder("x", "g3", "1"),
        holder("y", "g2", "1"),
        claim(
            "requests: [{name: gpus, exactly: {deviceClassName: gpu.example.com, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}]",
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1
               or (b) give up the constraint on gpu.example.com/root
               or (c) free g2, held by pod default/y
        "#]],
    );
}

/// The only device is tainted twice and in use: three things are needed together.
#[test]
fn what_is_needed_together_has_numbers() {
    let parts = [
        slice(&[
            "{name: g0, taints: [{key: hot, value: very, effect: NoSchedule}, {key: old, effect: NoExecute}]}",
        ]),
        holder("x", "g0", "1"),
        requests("count: 1"),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                1. tolerate hot=very:NoSchedule in the request, or take the taint off g0
                2. tolerate old:NoExecute in the request, or take the taint off g0
                3. free g0, held by pod default/x
        "#]],
    );
}

/// 7 of 8 CPUs are used: 4 by x, 3 by y. The pod wants 3, so 2 are missing: y is enough and takes the least.
#[test]
fn cpu_that_somebody_else_has() {
    let parts = [
        slice(&["{name: g0}", "{name: g1}", "{name: g2}"]),
        holder("x", "g0", "4"),
        holder("y", "g1", "3"),
        requests("count: 1"),
        pod("containers: [{name: m, resources: {requests: {cpu: 3}}}]"),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1 of cpu, or free 2 of cpu on n1, for example by ending default/y
        "#]],
    );
}

/// The holder of the device has 5 CPUs as well: that it ends is enough for both.
#[test]
fn one_end_for_two_reasons() {
    let parts = [
        slice(&["{name: g0}"]),
        holder("x", "g0", "5"),
        requests("count: 1"),
        pod("containers: [{name: m, resources: {requests: {cpu: 4}}}]"),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - free g0, held by pod default/x
        "#]],
    );
}

/// More CPUs than the node has, and a label that it lacks.
#[test]
fn what_the_pod_asks_of_nodes() {
    let parts = [
        slice(&["{name: g0}"]),
        requests("count: 1"),
        pod("nodeSelector: {zone: a}, containers: [{name: m, resources: {requests: {cpu: 12}}}]"),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                1. set label zone of n1 to a, or take node selector and required node affinity out of the pod
                2. ask for at most 8 of cpu
        "#]],
    );
}

/// The pod's own claim is allocated on a node that is gone, for a pod that is there: a scheduler takes the allocation back only
/// where no other pod has it reserved.
#[test]
fn an_own_claim_on_a_node_that_is_gone() {
    let allocated = |by: &str| {
        let status = format!(
            "status: {{allocation: {{devices: {{results: [{{request: gpus, driver: gpu.example.com, pool: gone, device: g0}}]}}, nodeSelector: {{nodeSelectorTerms: [{{matchFields: [{{key: metadata.name, operator: In, values: [gone]}}]}}]}}}}, reservedFor: [{{resource: pods, name: {by}, uid: u-{by}}}]}}, spec: {{devices"
        );
        requests("count: 1").replace("spec: {devices", &status)
    };
    let devices = slice(&["{name: g0}", "{name: g1}"]);
    let other = holder("x", "g1", "1");
    check(
        &[],
        &[devices.clone(), other, allocated("x"), pod("")],
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - let default/x end, so that ResourceClaim default/mine is allocated anew
        "#]],
    );
    check(
        &[],
        &[devices, allocated("nobody"), pod("")],
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - wait until the reservations of ResourceClaim default/mine are taken off: none of its pods
                  uses it any more
        "#]],
    );
}

/// Two letters are exchanged in the name of the class.
#[test]
fn a_class_with_another_name() {
    let mine = requests("count: 1").replace("gpu.example.com,", "gpu.exmaple.com,");
    let parts = [slice(&["{name: g0}"]), mine, pod("")];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              (tried: then it fits)
                - name class gpu.example.com instead of gpu.exmaple.com, which does not exist
        "#]],
    );
}

/// A class of the same vendor is near only by spelling.
#[test]
fn a_class_of_other_devices() {
    let mine = requests("count: 1").replace("gpu.example.com,", "nic.example.com,");
    let parts = [slice(&["{name: g0}"]), mine, pod("")];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              (not tried)
                - create DeviceClass nic.example.com, or name one that is there: gpu.example.com
        "#]],
    );
}

/// All are wanted, and one is tainted: it has to be tolerated, or two are enough.
#[test]
fn all_devices_of_which_one_is_tainted() {
    let parts = [
        slice(&[
            "{name: g0}",
            "{name: g1, taints: [{key: hot, effect: NoSchedule}]}",
            "{name: g2}",
        ]),
        requests("allocationMode: All"),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) tolerate hot:NoSchedule in the request
               or (b) take the taint off g1
               or (c) ask for 2 devices instead of all
        "#]],
    );
}

/// A rule taints the device.
#[test]
fn a_taint_by_a_rule() {
    let rule = "---\n{apiVersion: resource.k8s.io/v1alpha3, kind: DeviceTaintRule, metadata: {name: broken}, spec: {deviceSelector: {driver: gpu.example.com}, taint: {key: hot, effect: NoSchedule}}}\n";
    let parts = [
        slice(&["{name: g0}"]),
        rule.to_owned(),
        requests("count: 1"),
        pod(""),
    ];
    check(
        &["--feature", "DRADeviceTaintRules=true"],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - tolerate hot:NoSchedule in the request, or delete DeviceTaintRule broken
        "#]],
    );
}

/// Two requests for the one device that there is, and nobody else has any.
#[test]
fn a_request_too_many() {
    let parts = [
        slice(&["{name: g0}"]),
        claim(
            "requests: [{name: train, exactly: {deviceClassName: gpu.example.com}}, {name: infer, exactly: {deviceClassName: gpu.example.com}}]",
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - leave out request infer
        "#]],
    );
}

/// The model is not there: nobody can try another selector. The taint of the node is in the way besides.
#[test]
fn what_nobody_can_try() {
    let parts = [
        slice(&["{name: g0, attributes: {model: {string: large}}}"]),
        requests(
            "selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].model == \"larg\"'}}]",
        ),
        pod(""),
    ];
    check_tainted(
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                1. (a) tolerate infra:NoSchedule in the pod
                or (b) take the taint off: kubectl taint node n1 infra:NoSchedule-
                2. (a) write `"large"` instead of `"larg"` in the selector
                or (b) leave out selector `device.attributes["gpu.example.com"].model == "larg"`
        "#]],
    );
}

/// The pod wants another node by name: to tolerate the taint is not enough, and nothing else is known.
#[test]
fn what_is_not_enough() {
    let elsewhere = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}]}}});
    let parts = [
        slice(&["{name: g0}"]),
        requests("count: 1"),
        pod(&format!("affinity: {elsewhere}")),
    ];
    check_tainted(
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: not enough)
                - (a) tolerate infra:NoSchedule in the pod
               or (b) take the taint off: kubectl taint node n1 infra:NoSchedule-
                then still: label metadata.name must be n2 and is n1
        "#]],
    );
}
