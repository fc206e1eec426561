//! Small clusters, one for each thing that there is to say about a pod as a whole.

use expect_test::{Expect, expect};

use super::{assert_narrow, explain_text, violations};

/// Two nodes, two devices on the first, one of them used by a running pod.
const CLUSTER: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, spec: {taints: [{key: infra, effect: NoSchedule}]}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0, attributes: {model: {string: large}}}, {name: gpu-1, attributes: {model: {string: small}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
status:
  allocation:
    devices: {results: [{request: gpu, driver: gpu.example.com, pool: n1, device: gpu-0}]}
    nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}
  reservedFor: [{resource: pods, name: holder, uid: u-holder}]
---
apiVersion: v1
kind: Pod
metadata: {name: holder, uid: u-holder}
spec: {nodeName: n1, resourceClaims: [{name: c, resourceClaimName: held}]}
status: {phase: Running}
"#;

fn with(more: &str) -> String {
    format!("{CLUSTER}---\n{more}")
}

fn check(pod: &[&str], more: &str, expected: &Expect) {
    let finished = explain_text(pod, &with(more));
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_narrow(&finished.stdout);
    expected.assert_eq(&finished.stdout);
    let mut arguments = pod.to_vec();
    arguments.extend(["-o", "json"]);
    let json = explain_text(&arguments, &with(more)).json();
    assert_eq!(violations(&json), Vec::<String>::new());
}

#[test]
fn a_pod_that_runs() {
    check(
        &["holder"],
        "",
        &expect![[r#"
            default/holder: placed
            Pod default/holder has node n1 already with gpu-0 (gpu.example.com); it needs 1 device of class gpu.
            Placed anew, with its own devices free, it would fit on n1. No other node has what it needs.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_that_fits() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
            default/p: scheduled
            Pod default/p needs 1 device of class gpu on one node; it fits, and would run on n1 with gpu-1
            (gpu.example.com). No other node has what it needs.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_whose_devices_are_in_use() {
    let pods = r#"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: two}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, resourceClaimName: two}]}}"#;
    check(
        &["p", "--node", "n1"],
        pods,
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu on one node, but no node has that: on n1 1 of 2 matching
            devices free, 2 needed: 1 in use; on n2 taint infra:NoSchedule not tolerated, and no device of class
            gpu.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1, or free gpu-0, held by claim default/held (pod default/holder)

            NODES  WHY
                1  1 of 2 matching devices free, 2 needed: 1 in use
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]

            NODE n1: does not fit
              Filter: unschedulable-and-unresolvable, cannot allocate all claims (1 device visited, most
                  picked at once 1, then none for gpus of default/two)
              claim c (default/two): pending
                request gpus (2 of class gpu): 2 devices looked at, 2 match, 1 free, 1 missing
                  1 in use [gpu-0]
                    held by claim default/held (pod default/holder)
              pools: gpu.example.com/n1 (2 devices)
              to make it fit (tried: then it fits):
                - ask for at most 1, or free gpu-0, held by claim default/held (pod default/holder)
        "#]],
    );
}

#[test]
fn a_pod_that_wants_more_cpu_than_is_left() {
    let pods = r#"
{apiVersion: v1, kind: Pod, metadata: {name: busy}, spec: {nodeName: n1, containers: [{name: m, resources: {requests: {cpu: "3"}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {zone: a}, containers: [{name: m, resources: {requests: {cpu: "2"}}}]}}"#;
    check(
        &["p"],
        pods,
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p asks for no devices, but no node takes it: on n1 label zone must be a and is not set,
            and cpu: 2 needed, 1 of 4 left; on n2 taint infra:NoSchedule not tolerated, and label zone must be a
            and is not set.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                1. set label zone of n1 to a, or take node selector and required node affinity out of the pod
                2. ask for at most 1 of cpu, or free 1 of cpu on n1, for example by ending default/busy
              or on n2 (tried: then it fits)
                1. (a) tolerate infra:NoSchedule in the pod
                or (b) take the taint off: kubectl taint node n2 infra:NoSchedule-
                2. set label zone of n2 to a, or take node selector and required node affinity out of the pod

            NODES  WHY
                1  label zone must be a and is not set, and cpu: 2 needed, 1 of 4 left
                   [n1]
                1  taint infra:NoSchedule not tolerated, and label zone must be a and is not set
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_with_gates() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulingGates: [{name: quota}, {name: network}], resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
            default/p: unschedulable (PreEnqueue)
            Pod default/p is held before the queue by its scheduling gates quota and network: whoever put them
            there has to take them off. Apart from that it would fit on n1.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_of_another_scheduler() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {schedulerName: volcano, resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
            default/p: unschedulable
            Pod default/p is left to the scheduler volcano (spec.schedulerName): the default scheduler does not
            look at it. Apart from that it would fit on n1.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_without_its_claim() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, resourceClaimName: nothing}]}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
            default/p: unschedulable (PreEnqueue)
            Pod default/p is held before the queue: ResourceClaim default/nothing does not exist.

            TO MAKE IT FIT
              (not tried)
                - create ResourceClaim default/nothing

            NODES  WHY
                1  claim default/nothing does not exist
                   [n1]
                1  taint infra:NoSchedule not tolerated, and claim default/nothing does not exist
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_that_names_its_node_itself() {
    let pods = r#"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: open}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1, resourceClaims: [{name: c, resourceClaimName: open}]}}"#;
    check(
        &["p"],
        pods,
        &expect![[r#"
            default/p: placed
            Pod default/p names its node itself (spec.nodeName is n1): no scheduler looks at it, so nobody
            allocates open (1 device of class gpu). Take nodeName out and select the node by affinity. Placed by
            the scheduler it would fit on n1. No other node has what it needs.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_that_has_ended() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: n1}, status: {phase: Succeeded}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
        default/p: ended
        Pod default/p has ended (Succeeded): nobody places it any more.
    "#]],
    );
}

#[test]
fn a_pod_that_cannot_be_read() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, source: {resourceClaimName: x}}]}}";
    check(
        &["p"],
        pod,
        &expect![[r#"
            default/p: input-error
            Pod default/p cannot be judged: Pod default/p: spec.resourceClaims[0] has neither resourceClaimName
            nor resourceClaimTemplateName; move them out of `source`, a form that Kubernetes 1.31 gave up.
        "#]],
    );
}

#[test]
fn a_claim_that_cannot_be_read() {
    let pods = r#"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: future}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu, capacity: {requests: {memory: 1Gi}}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, resourceClaimName: future}]}}"#;
    check(
        &["p"],
        pods,
        &expect![[r#"
            default/p: input-error (PreEnqueue)
            Pod default/p cannot be judged: ResourceClaim default/future:
            spec.devices.requests[0].exactly.capacity.requests: capacity requests are not supported (gate
            DRAConsumableCapacity).
        "#]],
    );
}

#[test]
fn an_expression_that_fails() {
    let pods = r#"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: failing}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes["gpu.example.com"].modell == "large"'}}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {resourceClaims: [{name: c, resourceClaimName: failing}]}}"#;
    check(
        &["p"],
        pods,
        &expect![[r#"
            default/p: error (Filter)
            Pod default/p needs 1 device of class gpu on one node, but the attempt is aborted: on n1 selector #0
            fails on 2 devices at `device.attributes["gpu.example.com"].modell == "large"`: CEL runtime error:
            no such key: modell.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - leave out selector `device.attributes["gpu.example.com"].modell == "large"`, or correct it:
                  no device publishes modell (did you mean model?); or put
                  `has(device.attributes["gpu.example.com"].modell) && ` before it

            NODES  WHY
                1  selector #0 fails on 2 devices at `device.attributes["gpu.example.com"].modell == "large"`:
                   CEL runtime error: no such key: modell
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn pods_ahead_of_it() {
    let pods = r#"
{apiVersion: v1, kind: Pod, metadata: {name: first}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: plain}}
---
{apiVersion: v1, kind: Pod, metadata: {name: last}, spec: {resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}"#;
    check(
        &["last"],
        pods,
        &expect![[r#"
            default/last: fits-alone
            Pod default/last would fit alone, but not behind the 2 pods ahead of it in the queue: default/first
            asks for the same class too. It needs 1 device of class gpu on one node; alone it would run on n1
            with gpu-1 (gpu.example.com). No other node has what it needs.

            TO MAKE IT FIT
              (not tried)
                - `dractl explain --after-queue -n default last` places the pods ahead of it first and tries
                  what would help then

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
    check(
        &["last", "--after-queue"],
        pods,
        &expect![[r#"
            default/last: unschedulable (Filter)
            Pod default/last needs 1 device of class gpu on one node, but no node has that: on n1 0 of 2
            matching devices free: 2 in use; on n2 taint infra:NoSchedule not tolerated, and no device of class
            gpu. Of 2 pods ahead of it in the queue 2 were placed first; the one that asks for the same class:
            default/first (on n1).

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - free gpu-1, held by pod default/first

            NODES  WHY
                1  0 of 2 matching devices free: 2 in use
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn a_pod_of_a_workload() {
    let pods = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  template: {spec: {resourceClaims: [{name: c, resourceClaimTemplateName: one}]}}"#;
    check(
        &["web"],
        pods,
        &expect![[r#"
            default/web-0: scheduled
            Pod default/web-0 needs 1 device of class gpu on one node; it fits, and would run on n1 with gpu-1
            (gpu.example.com). No other node has what it needs.
            Note: web stands for 2 pods, of which web-0 is the first that is pending.
            Note: placed one after the other, 1 of 2 pending pods of web find no node.

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
    check(
        &["web-1"],
        pods,
        &expect![[r#"
            default/web-1: fits-alone
            Pod default/web-1 would fit alone, but not behind the pod ahead of it in the queue: default/web-0
            asks for the same class too. It needs 1 device of class gpu on one node; alone it would run on n1
            with gpu-1 (gpu.example.com). No other node has what it needs.

            TO MAKE IT FIT
              (not tried)
                - `dractl explain --after-queue -n default web-1` places the pods ahead of it first and tries
                  what would help then

            NODES  WHY
                1  fits
                   [n1]
                1  taint infra:NoSchedule not tolerated, and no device of class gpu
                   [n2]
        "#]],
    );
}

#[test]
fn what_cannot_be_answered() {
    for (arguments, says) in [
        (
            &["holdr"][..],
            "there is no pod holdr in the input; the nearest names are default/holder",
        ),
        (
            &["holder", "-n", "other"],
            "there is no pod holder in namespace other in the input; it is in default",
        ),
        (
            &["holder", "--node", "n3"],
            "there is no node n3 in the input; the nearest names are n1, n2",
        ),
        (&["holder", "-o", "yaml"], "invalid value 'yaml'"),
    ] {
        let finished = explain_text(arguments, CLUSTER);
        assert_eq!(finished.status, 2, "{arguments:?}");
        assert!(finished.stderr.contains(says), "{}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
}

/// The first screen of the README is what the program prints.
#[test]
fn the_readme_shows_a_real_answer() {
    let root = crate::repository::root();
    let example = root.join("examples/gpu").display().to_string();
    let finished = super::explain(&["more-training", "--after-queue", &example]);
    let readme = std::fs::read_to_string(root.join("README.md")).expect("a README");
    assert!(readme.contains(&finished.stdout), "{}", finished.stdout);
}
