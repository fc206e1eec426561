//! The scenarios with published mistakes, word for word, read by a person: does the first sentence name the true cause?

use expect_test::{Expect, expect};

use super::{assert_narrow, explain};
use crate::scenarios::{read_expected, shared_folder};

fn check(scenario: &str, arguments: &[&str], expected: &Expect) {
    let Some(folder) = shared_folder(&format!("scenarios/{scenario}")) else {
        return;
    };
    let input = folder.join("input").display().to_string();
    let run = read_expected(&folder).run;
    let mut all: Vec<&str> = arguments.to_vec();
    if !arguments.contains(&"--profile") {
        all.extend(run.split_whitespace());
    }
    all.push(&input);
    let finished = explain(&all);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_narrow(&finished.stdout);
    let screen = 40;
    let full = arguments.contains(&"--node");
    assert!(
        full || finished.stdout.lines().count() <= screen,
        "{}",
        finished.stdout
    );
    expected.assert_eq(&finished.stdout);
}

#[test]
fn intel_one_flex() {
    check(
        "intel-one-flex",
        &["test-one-flex"],
        &expect![[r#"
            default/test-one-flex: unschedulable (Filter)
            Pod default/test-one-flex needs 1 device of class gpu.intel.com on one node, but on both nodes no
            device of class gpu.intel.com satisfies `device.attributes["gpu.intel.com"].family == 'Flex'` (1
            looked at): family is "Arc" (1x) and "Data Center Flex" (1x).

            TO MAKE IT FIT
              on intel-2 (tried: then it fits)
                - (a) write `'Data Center Flex'` instead of `'Flex'` in the selector
               or (b) leave out selector `device.attributes["gpu.intel.com"].family == 'Flex'`

            NODES  WHY
                2  no device of class gpu.intel.com satisfies `device.attributes["gpu.intel.com"].family ==
                   'Flex'` (1 looked at): family is "Arc" (1x) and "Data Center Flex" (1x)
                   [intel-2 and intel-1]
        "#]],
    );
}

#[test]
fn intel_one_flex_on_one_node() {
    check(
        "intel-one-flex",
        &["test-one-flex", "--node", "intel-2"],
        &expect![[r#"
            default/test-one-flex: unschedulable (Filter)
            Pod default/test-one-flex needs 1 device of class gpu.intel.com on one node, but on both nodes no
            device of class gpu.intel.com satisfies `device.attributes["gpu.intel.com"].family == 'Flex'` (1
            looked at): family is "Arc" (1x) and "Data Center Flex" (1x).

            TO MAKE IT FIT
              on intel-2 (tried: then it fits)
                - (a) write `'Data Center Flex'` instead of `'Flex'` in the selector
               or (b) leave out selector `device.attributes["gpu.intel.com"].family == 'Flex'`

            NODES  WHY
                2  no device of class gpu.intel.com satisfies `device.attributes["gpu.intel.com"].family ==
                   'Flex'` (1 looked at): family is "Arc" (1x) and "Data Center Flex" (1x)
                   [intel-2 and intel-1]

            NODE intel-2: does not fit
              Filter: unschedulable-and-unresolvable, cannot allocate all claims (1 device visited, most
                  picked at once 0, then none for gpu of default/one-flex)
              claim resource (default/one-flex): pending
                request gpu (1 of class gpu.intel.com): 1 device looked at, 0 match, 0 free, 1 missing
                  1 not what `device.attributes["gpu.intel.com"].family == 'Flex'` wants: family is "Data
                      Center Flex" [0000-4d-00-0-0x56c0]
                    hint: the selector wants "Flex", devices here have "Data Center Flex": write that, or
                        add such a device
              pools: gpu.intel.com/intel-2 (1 device)
              to make it fit (tried: then it fits):
                - (a) write `'Data Center Flex'` instead of `'Flex'` in the selector
               or (b) leave out selector `device.attributes["gpu.intel.com"].family == 'Flex'`
        "#]],
    );
}

#[test]
fn intel_monitor_misplaced_fields() {
    check(
        "intel-monitor-misplaced-fields",
        &["monitor-pod"],
        &expect![[r#"
            default/monitor-pod: scheduled
            Pod default/monitor-pod needs 1 device of class gpu.intel.com on one node; it fits, and would run on
            intel-1 with 0000-03-00-0-0x56a0 (gpu.intel.com).

            NODES  WHY
                1  fits
                   [intel-1]
        "#]],
    );
}

#[test]
fn k8s_docs_empty_selector() {
    check(
        "k8s-docs-empty-selector",
        &["example-dra-job-0"],
        &expect![[r#"
            default/example-dra-job-0: error (Filter)
            Pod default/example-dra-job-0 cannot run on any node: claim default/example-resource-claim, request
            single-gpu-claim, selector #0: CEL expression empty (unsupported selector type?) (it needs 1 device
            of class example-device-class, and all devices of class example-device-class).

            TO MAKE IT FIT
              (not tried)
                - correct ResourceClaim default/example-resource-claim, or the template that it is made from

            NODES  WHY
                1  claim default/example-resource-claim, request single-gpu-claim, selector #0: CEL expression
                   empty (unsupported selector type?)
                   [node-1]
        "#]],
    );
}

#[test]
fn example_class_missing() {
    check(
        "example-class-missing",
        &["pod0"],
        &expect![[r#"
            gpu-test1/pod0: unschedulable (PreFilter)
            Pod gpu-test1/pod0 cannot run on any node: DeviceClass gpu.example.com does not exist (it needs 1
            device of class gpu.example.com).

            TO MAKE IT FIT
              (not tried)
                - create DeviceClass gpu.example.com, as no class is there

            NODES  WHY
                1  DeviceClass gpu.example.com does not exist
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn example_node_exhausted() {
    check(
        "example-node-exhausted",
        &["-n", "gpu-test2", "pod0", "--after-queue"],
        &expect![[r#"
            gpu-test2/pod0: unschedulable (Filter)
            Pod gpu-test2/pod0 needs 2 devices of class gpu.example.com on one node, but on
            dra-example-driver-cluster-worker 0 of 2 matching devices free, 2 needed: 2 in use. Of 2 pods ahead
            of it in the queue 2 were placed first; those that ask for the same class: gpu-test1/pod0 (on
            dra-example-driver-cluster-worker) and gpu-test1/pod1 (on dra-example-driver-cluster-worker).

            TO MAKE IT FIT
              on dra-example-driver-cluster-worker (tried: then it fits)
                - (a) free gpu-0 and gpu-1, held by pod gpu-test1/pod0 and pod gpu-test1/pod1
               or (b) ask for at most 1 and free gpu-0, held by pod gpu-test1/pod0

            NODES  WHY
                1  0 of 2 matching devices free, 2 needed: 2 in use
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn example_node_exhausted_as_it_is() {
    check(
        "example-node-exhausted",
        &["-n", "gpu-test2", "pod0"],
        &expect![[r#"
            gpu-test2/pod0: fits-alone
            Pod gpu-test2/pod0 would fit alone, but not behind the 2 pods ahead of it in the queue:
            gpu-test1/pod0 and gpu-test1/pod1 ask for the same class too. It needs 2 devices of class
            gpu.example.com on one node; alone it would run on dra-example-driver-cluster-worker with gpu-0 and
            gpu-1 (gpu.example.com).

            TO MAKE IT FIT
              (not tried)
                - `dractl explain --after-queue -n gpu-test2 pod0` places the pods ahead of it first and tries
                  what would help then

            NODES  WHY
                1  fits
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn dranet_aws_gpu_efa_aligned() {
    check(
        "dranet-aws-gpu-efa-aligned",
        &["nccl-test-dra-worker-4", "--after-queue"],
        &expect![[r#"
            default/nccl-test-dra-worker-4: unschedulable (Filter)
            Pod default/nccl-test-dra-worker-4 needs 1 device of class gpu.nvidia.com and 1 device of class
            efa.networking.k8s.aws with equal resource.kubernetes.io/pcieRoot on one node, but on efa-node-1
            efa: 0 of 4 matching devices free: 4 in use. Of 4 pods ahead of it in the queue 4 were placed first;
            those that ask for the same class: default/nccl-test-dra-worker-0 (on efa-node-1),
            default/nccl-test-dra-worker-1 (on efa-node-1), default/nccl-test-dra-worker-2 (on efa-node-1) and 1
            more.
            Note: spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution is not
                  imitated: a real scheduler may refuse nodes because of the pods there.

            TO MAKE IT FIT
              on efa-node-1 (tried: then it fits)
                - free gpu-0 and pci-0000-10-1b-0, held by pod default/nccl-test-dra-worker-0

            NODES  WHY
                1  efa: 0 of 4 matching devices free: 4 in use
                   [efa-node-1]
        "#]],
    );
}

#[test]
fn nvidia_cel_nomatch() {
    check(
        "nvidia-cel-nomatch",
        &["pod-cel-nomatch"],
        &expect![[r#"
            default/pod-cel-nomatch: unschedulable (Filter)
            Pod default/pod-cel-nomatch needs 1 device of class gpu.nvidia.com on one node, but on both nodes no
            device of class gpu.nvidia.com satisfies `device.attributes["gpu.nvidia.com"].productName ==
            "NONEXISTENT-GPU-XYZ"` (1 to 2 looked at): productName is "NVIDIA A100-SXM4-40GB".

            TO MAKE IT FIT
              on gpu-a (tried: then it fits)
                - (a) write `"NVIDIA A100-SXM4-40GB"` instead of `"NONEXISTENT-GPU-XYZ"` in the selector
               or (b) leave out selector `device.attributes["gpu.nvidia.com"].productName ==
                      "NONEXISTENT-GPU-XYZ"`

            NODES  WHY
                2  no device of class gpu.nvidia.com satisfies `device.attributes["gpu.nvidia.com"].productName
                   == "NONEXISTENT-GPU-XYZ"` (1 to 2 looked at): productName is "NVIDIA A100-SXM4-40GB"
                   [gpu-a and gpu-b]
        "#]],
    );
}

#[test]
fn example_taint_noschedule() {
    check(
        "example-taint-noschedule",
        &["pod-no-schedule"],
        &expect![[r#"
            basic-resourceclaimtemplate/pod-no-schedule: unschedulable (Filter)
            Pod basic-resourceclaimtemplate/pod-no-schedule needs 1 device of class gpu.example.com on one node,
            but on dra-example-driver-cluster-worker 0 of 1 matching device free: 1 tainted
            gpu.example.com/unhealthy=true:NoSchedule (by rule example).

            TO MAKE IT FIT
              on dra-example-driver-cluster-worker (tried: then it fits)
                - (a) tolerate gpu.example.com/unhealthy=true:NoSchedule in the request
               or (b) delete DeviceTaintRule example

            NODES  WHY
                1  0 of 1 matching device free: 1 tainted gpu.example.com/unhealthy=true:NoSchedule (by rule
                   example)
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn example_incomplete_pool() {
    check(
        "example-incomplete-pool",
        &["pod0", "--profile", "current"],
        &expect![[r#"
            gpu-test2/pod0: unschedulable (Filter)
            Pod gpu-test2/pod0 needs 2 devices of class gpu.example.com on one node, but on
            dra-example-driver-cluster-worker 0 of 8 matching devices free, 2 needed: 8 in a pool that is
            incomplete (1 of 2 slices published).

            TO MAKE IT FIT
              on dra-example-driver-cluster-worker (tried: then it fits)
                - have the driver publish all slices of gpu.example.com/dra-example-driver-cluster-worker

            NODES  WHY
                1  0 of 8 matching devices free, 2 needed: 8 in a pool that is incomplete (1 of 2 slices
                   published)
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn example_claim_not_created_yet() {
    check(
        "example-claim-not-created-yet",
        &["pod0"],
        &expect![[r#"
            gpu-test1/pod0: waiting (PreEnqueue)
            Pod gpu-test1/pod0 is held before the queue: the claim gpu does not exist yet: ResourceClaimTemplate
            single-gpu is not there to make it from.

            TO MAKE IT FIT
              (not tried)
                - create ResourceClaimTemplate single-gpu

            NODES  WHY
                1  claim gpu does not exist yet
                   [dra-example-driver-cluster-worker]
        "#]],
    );
}

#[test]
fn classic_first_cycle() {
    check(
        "classic-first-cycle",
        &["pod0"],
        &expect![[r#"
            gpu-test3/pod0: waiting (PreBind)
            Pod gpu-test3/pod0 needs 1 device of class gpu.example.com on one node; worker-1 and worker-2 would
            do, but PreBind said: waiting for resource driver.

            NODES  WHY
                2  fits
                   [worker-1 and worker-2]
        "#]],
    );
}

#[test]
fn two_aligned_gpus() {
    check(
        "cluster-50-nodes",
        &["two-aligned-gpus-000"],
        &expect![[r#"
            train/two-aligned-gpus-000: unschedulable (Filter)
            Pod train/two-aligned-gpus-000 needs 2 devices of class gpu.nvidia.com with equal
            resource.kubernetes.io/pcieRoot on one node, but no node has that: on 44 nodes 4 to 8 devices free,
            but at most 1 with equal resource.kubernetes.io/pcieRoot, 2 needed; on h100-005 0 of 4 matching
            devices free, 2 needed: 4 in a pool that is incomplete (1 of 2 slices published); 5 more nodes for
            other reasons. 92 pods ahead of it in the queue ask for the same class or driver
            (train/shared-a100-0, train/shared-a100-1, train/shared-a100-2 and 89 more); --after-queue places
            them first.

            TO MAKE IT FIT
              on a100-003 (tried: then it fits)
                - ask for at most 1, or give up the constraint on resource.kubernetes.io/pcieRoot
              or on h100-005 (tried: then it fits)
                1. have the driver publish all slices of gpu.nvidia.com/h100-005
                2. ask for at most 1, or give up the constraint on resource.kubernetes.io/pcieRoot

            NODES  WHY
               44  4 to 8 devices free, but at most 1 with equal resource.kubernetes.io/pcieRoot, 2 needed
                   [a100-003, a100-007, a100-013, a100-017 and 40 more]
                1  0 of 4 matching devices free, 2 needed: 4 in a pool that is incomplete (1 of 2 slices
                   published)
                   [h100-005]
                5  no device of class gpu.nvidia.com
                   [cpu-009, cpu-019, cpu-029, cpu-039 and 1 more]
        "#]],
    );
}

#[test]
fn two_aligned_gpus_after_the_queue() {
    check(
        "cluster-50-nodes",
        &["two-aligned-gpus-001", "--after-queue"],
        &expect![[r#"
            train/two-aligned-gpus-001: unschedulable (Filter)
            Pod train/two-aligned-gpus-001 needs 2 devices of class gpu.nvidia.com with equal
            resource.kubernetes.io/pcieRoot on one node, but no node has that: on 23 nodes 4 to 8 devices free,
            but at most 1 with equal resource.kubernetes.io/pcieRoot, 2 needed; on 21 nodes 0 of 4 to 8 matching
            devices free, 2 needed: 4 to 8 in use; 6 more nodes for other reasons. Of 93 pods ahead of it in the
            queue 92 were placed first; those that ask for the same class or driver: train/shared-a100-0 (on
            a100-003), train/shared-a100-1 (on a100-003), train/shared-a100-2 (on a100-003) and 90 more.

            TO MAKE IT FIT
              on h100-016 (tried: then it fits)
                - ask for at most 1, or give up the constraint on resource.kubernetes.io/pcieRoot
              or on h100-005 (tried: then it fits)
                1. have the driver publish all slices of gpu.nvidia.com/h100-005
                2. ask for at most 1, or give up the constraint on resource.kubernetes.io/pcieRoot

            NODES  WHY
               23  4 to 8 devices free, but at most 1 with equal resource.kubernetes.io/pcieRoot, 2 needed
                   [h100-016, h100-018, h100-020, h100-021 and 19 more]
                1  0 of 4 matching devices free, 2 needed: 4 in a pool that is incomplete (1 of 2 slices
                   published)
                   [h100-005]
               21  0 of 4 to 8 matching devices free, 2 needed: 4 to 8 in use
                   [a100-003, a100-007, a100-013, a100-017 and 17 more]
                5  no device of class gpu.nvidia.com
                   [cpu-009, cpu-019, cpu-029, cpu-039 and 1 more]
        "#]],
    );
}

#[test]
fn no_such_gpu() {
    check(
        "cluster-50-nodes",
        &["no-such-gpu-000"],
        &expect![[r#"
            train/no-such-gpu-000: unschedulable (Filter)
            Pod train/no-such-gpu-000 needs 1 device of class gpu.nvidia.com on one node, but no node has that:
            on 45 nodes no device of class gpu.nvidia.com satisfies
            `device.attributes['gpu.nvidia.com'].productName == 'NVIDIA B300'` (4 to 8 looked at): productName
            is "NVIDIA H100 80GB HBM3" (276x) and "NVIDIA A100-SXM4-40GB" (40x); on 5 nodes no device of class
            gpu.nvidia.com. 94 pods ahead of it in the queue ask for the same class or driver
            (train/shared-a100-0, train/shared-a100-1, train/shared-a100-2 and 91 more); --after-queue places
            them first.

            TO MAKE IT FIT
              on a100-003 (tried: then it fits)
                - (a) write `'NVIDIA A100-SXM4-40GB'` instead of `'NVIDIA B300'` in the selector
               or (b) leave out selector `device.attributes['gpu.nvidia.com'].productName == 'NVIDIA
                      B300'`

            NODES  WHY
               45  no device of class gpu.nvidia.com satisfies `device.attributes['gpu.nvidia.com'].productName
                   == 'NVIDIA B300'` (4 to 8 looked at): productName is "NVIDIA H100 80GB HBM3" (276x) and
                   "NVIDIA A100-SXM4-40GB" (40x)
                   [a100-003, a100-007, a100-013, a100-017 and 41 more]
                5  no device of class gpu.nvidia.com
                   [cpu-009, cpu-019, cpu-029, cpu-039 and 1 more]
        "#]],
    );
}

#[test]
fn no_such_gpu_after_the_queue() {
    check(
        "cluster-50-nodes",
        &["no-such-gpu-001", "--after-queue"],
        &expect![[r#"
            train/no-such-gpu-001: unschedulable (Filter)
            Pod train/no-such-gpu-001 needs 1 device of class gpu.nvidia.com on one node, but no node has that:
            on 45 nodes no device of class gpu.nvidia.com satisfies
            `device.attributes['gpu.nvidia.com'].productName == 'NVIDIA B300'` (4 to 8 looked at): productName
            is "NVIDIA H100 80GB HBM3" (276x) and "NVIDIA A100-SXM4-40GB" (40x); on 5 nodes no device of class
            gpu.nvidia.com. Of 95 pods ahead of it in the queue 92 were placed first; those that ask for the
            same class or driver: train/shared-a100-0 (on a100-003), train/shared-a100-1 (on a100-003),
            train/shared-a100-2 (on a100-003) and 92 more.

            TO MAKE IT FIT
              on a100-003 (tried: then it fits)
                1. free gpu-5 and pci-0000-90-1b-0, held by pod train/gpu-nic-aligned-000
                2. (a) write `'NVIDIA A100-SXM4-40GB'` instead of `'NVIDIA B300'` in the selector
                or (b) leave out selector `device.attributes['gpu.nvidia.com'].productName == 'NVIDIA
                       B300'`

            NODES  WHY
               45  no device of class gpu.nvidia.com satisfies `device.attributes['gpu.nvidia.com'].productName
                   == 'NVIDIA B300'` (4 to 8 looked at): productName is "NVIDIA H100 80GB HBM3" (276x) and
                   "NVIDIA A100-SXM4-40GB" (40x)
                   [a100-003, a100-007, a100-013, a100-017 and 41 more]
                5  no device of class gpu.nvidia.com
                   [cpu-009, cpu-019, cpu-029, cpu-039 and 1 more]
        "#]],
    );
}

#[test]
fn classic_unsuitable_node() {
    check(
        "classic-unsuitable-node",
        &["pod0"],
        &expect![[r#"
            gpu-test3/pod0: waiting (PreBind)
            Pod gpu-test3/pod0 needs 1 device of class gpu.example.com on one node; worker-2 would do, but
            PreBind said: waiting for resource driver. It cannot run elsewhere: on worker-1 claim
            gpu-test3/shared-gpu is refused by its resource driver (unsuitable).

            NODES  WHY
                1  fits
                   [worker-2]
                1  claim gpu-test3/shared-gpu is refused by its resource driver (unsuitable)
                   [worker-1]
        "#]],
    );
}

#[test]
fn example_already_allocated() {
    check(
        "example-already-allocated",
        &["pod1"],
        &expect![[r#"
            gpu-test1/pod1: scheduled
            Pod gpu-test1/pod1 needs 1 device of class gpu.example.com on one node; it fits, and would run on
            dra-example-driver-cluster-worker with gpu-7 (gpu.example.com). No other node has what it needs. 1
            pod ahead of it in the queue asks for the same class (gpu-test1/pod0); --after-queue places it
            first.

            NODES  WHY
                1  fits
                   [dra-example-driver-cluster-worker]
                1  claim gpu-test1/pod1-gpu-x7k21 is allocated on node dra-example-driver-cluster-worker
                   [dra-example-driver-cluster-worker2]
        "#]],
    );
}
