//! Devices that cannot be had together, and those whose holders are over: what the first sentence and the remedy say. The numbers
//! are worked out by hand beside each cluster.

use expect_test::{Expect, expect};

use super::{assert_narrow, explain_text, violations};

/// A node and a class; boards have 80Gi of memory.
const NODE: &str = r#"
{apiVersion: v1, kind: Node, metadata: {name: n1}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, uid: u-p}, spec: {resourceClaims: [{name: gpus, resourceClaimName: mine}]}}
"#;

/// Devices with attributes, and what each takes of a board.
fn slices(devices: &[(&str, &str, &str)], boards: &[&str]) -> String {
    let device = |(name, attributes, takes): &(&str, &str, &str)| {
        let takes = match takes.split_once(' ') {
            Some((board, memory)) => {
                format!("[{{counterSet: {board}, counters: {{memory: {{value: {memory}}}}}}}]")
            }
            None => "[]".to_owned(),
        };
        format!("{{name: {name}, attributes: {{{attributes}}}, consumesCounters: {takes}}}")
    };
    let devices: Vec<String> = devices.iter().map(device).collect();
    let set = |name: &&str| format!("{{name: {name}, counters: {{memory: {{value: 80Gi}}}}}}");
    let sets: Vec<String> = boards.iter().map(set).collect();
    let slice = |name: &str, what: String| {
        format!(
            "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {name}}}, spec: {{driver: gpu.example.com, nodeName: n1, pool: {{name: n1, generation: 1, resourceSliceCount: {}}}, {what}}}}}\n",
            1 + usize::from(!boards.is_empty())
        )
    };
    let mut slices = slice("devices", format!("devices: [{}]", devices.join(", ")));
    if !boards.is_empty() {
        slices += &slice("boards", format!("sharedCounters: [{}]", sets.join(", ")));
    }
    slices
}

/// The claim of the pod.
fn claim(devices: &str) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: mine}}, spec: {{devices: {{{devices}}}}}}}\n"
    )
}

/// A claim that has a device, for a pod in some phase.
fn held(name: &str, device: &str, reserved: &str) -> String {
    format!(
        "---\n{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {name}}}, spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: gpu}}}}]}}}}, status: {{allocation: {{devices: {{results: [{{request: r, driver: gpu.example.com, pool: n1, device: {device}}}]}}}}, reservedFor: [{reserved}]}}}}\n"
    )
}

fn reserved(pod: &str) -> String {
    format!("{{resource: pods, name: {pod}, uid: u-{pod}}}")
}

fn pod(name: &str, more: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, uid: u-{name}}}, spec: {{nodeName: n1}}, status: {{phase: {more}}}}}\n"
    )
}

fn check(parts: &[String], arguments: &[&str], expected: &Expect) {
    let input = format!("{NODE}{}", parts.concat());
    let mut all = vec!["p"];
    all.extend(arguments);
    let finished = explain_text(&all, &input);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert_narrow(&finished.stdout);
    expected.assert_eq(&finished.stdout);
    all.extend(["-o", "json", "--node", "n1"]);
    assert_eq!(
        violations(&explain_text(&all, &input).json()),
        Vec::<String>::new()
    );
}

/// The two partitions that fit alone take 40Gi and 20Gi of the 50Gi that are left.
#[test]
fn partitions_that_compete_for_a_counter() {
    check(
        &[
            slices(
                &[
                    ("held", "", "board 30Gi"),
                    ("x", "", "board 40Gi"),
                    ("y", "", "board 40Gi"),
                    ("z", "", "board 20Gi"),
                ],
                &["board"],
            ),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}]"),
            held("other", "held", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &["--node", "n1"],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu on one node, but on n1 3 devices free, but they share
            counter board/memory (50Gi of 80Gi left, 20Gi to 40Gi each): room for at most 1, 2 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1, or free held, held by claim default/other (pod default/busy)

            NODES  WHY
                1  3 devices free, but they share counter board/memory (50Gi of 80Gi left, 20Gi to 40Gi each):
                   room for at most 1, 2 needed
                   [n1]

            NODE n1: does not fit
              Filter: unschedulable-and-unresolvable, cannot allocate all claims (7 devices visited, most
                  picked at once 1, then none for gpus of default/mine)
              claim gpus (default/mine): pending
                request gpus (2 of class gpu): 4 devices looked at, 4 match, 3 free
                  1 in use [held]
                    held by claim default/other (pod default/busy)
              together: 3 devices free, but they share counter board/memory (50Gi of 80Gi left, 20Gi to 40Gi
                  each): room for at most 1, 2 needed
                counter board/memory of pool gpu.example.com/n1: held by claim default/other (pod
                    default/busy)
              pools: gpu.example.com/n1 (4 devices)
              to make it fit (tried: then it fits):
                - ask for at most 1, or free held, held by claim default/other (pod default/busy)
        "#]],
    );
}

/// Each board has room for one of 50Gi.
#[test]
fn boards_that_have_room_for_one_each() {
    check(
        &[
            slices(
                &[
                    ("a0", "", "left 50Gi"),
                    ("a1", "", "left 50Gi"),
                    ("b0", "", "right 50Gi"),
                    ("b1", "", "right 50Gi"),
                ],
                &["left", "right"],
            ),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 3}}]"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 3 devices of class gpu on one node, but on n1 4 devices free, but they share
            counters left/memory (80Gi of 80Gi left, 50Gi each) and right/memory (80Gi of 80Gi left, 50Gi each):
            room for at most 2, 3 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 2

            NODES  WHY
                1  4 devices free, but they share counters left/memory (80Gi of 80Gi left, 50Gi each) and
                   right/memory (80Gi of 80Gi left, 50Gi each): room for at most 2, 3 needed
                   [n1]
        "#]],
    );
}

/// 60Gi of 80Gi are held: the last partition takes 30Gi.
#[test]
fn a_partition_for_which_too_little_is_left() {
    check(
        &[
            slices(
                &[
                    ("held", "", "board 60Gi"),
                    ("x", "", "board 30Gi"),
                    ("y", "", "board 40Gi"),
                ],
                &["board"],
            ),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu}}]"),
            held("other", "held", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 3 matching devices free: 2
            needing 30Gi to 40Gi of counter board/memory (20Gi left), 1 in use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - free held, held by claim default/other (pod default/busy)

            NODES  WHY
                1  0 of 3 matching devices free: 2 needing 30Gi to 40Gi of counter board/memory (20Gi left), 1
                   in use
                   [n1]
        "#]],
    );
}

/// d0 and d1 share a root, d1 and d2 a NUMA node; no two share both.
#[test]
fn constraints_that_exclude_each_other() {
    check(
        &[
            slices(
                &[
                    ("d0", "root: {int: 1}, numa: {int: 1}", ""),
                    ("d1", "root: {int: 1}, numa: {int: 2}", ""),
                    ("d2", "root: {int: 2}, numa: {int: 2}", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}, {matchAttribute: gpu.example.com/numa}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu with equal gpu.example.com/root and equal
            gpu.example.com/numa on one node, but on n1 3 devices free, up to 2 with equal gpu.example.com/root,
            up to 2 with equal gpu.example.com/numa, but at most 1 with both, 2 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1
               or (b) give up the constraint on gpu.example.com/root
               or (c) give up the constraint on gpu.example.com/numa

            NODES  WHY
                1  3 devices free, up to 2 with equal gpu.example.com/root, up to 2 with equal
                   gpu.example.com/numa, but at most 1 with both, 2 needed
                   [n1]
        "#]],
    );
}

/// With equal root there are only d0 and d1, which take 100Gi of 80Gi.
#[test]
fn a_constraint_and_a_counter() {
    check(
        &[
            slices(
                &[
                    ("d0", "root: {int: 1}", "board 50Gi"),
                    ("d1", "root: {int: 1}", "board 50Gi"),
                    ("d2", "root: {int: 2}", "board 10Gi"),
                ],
                &["board"],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu with equal gpu.example.com/root on one node, but on n1 3
            devices free, but they share counter board/memory (80Gi of 80Gi left, 10Gi to 50Gi each): room for
            at most 1 with equal gpu.example.com/root, 2 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1, or give up the constraint on gpu.example.com/root

            NODES  WHY
                1  3 devices free, but they share counter board/memory (80Gi of 80Gi left, 10Gi to 50Gi each):
                   room for at most 1 with equal gpu.example.com/root, 2 needed
                   [n1]
        "#]],
    );
}

/// Three devices, and two requests for two of them each.
#[test]
fn requests_that_want_the_same_devices() {
    check(
        &[
            slices(
                &[
                    ("d0", "", ""),
                    ("d1", "", ""),
                    ("d2", "", ""),
                    ("d3", "", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: train, exactly: {deviceClassName: gpu, count: 2}}, {name: infer, exactly: {deviceClassName: gpu, count: 2}}]",
            ),
            held("other", "d3", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 times 2 devices of class gpu on one node, but on n1 train and infer want the
            same devices: 3 free, 4 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1 in request train
               or (b) ask for at most 1 in request infer
               or (c) free d3, held by claim default/other (pod default/busy)

            NODES  WHY
                1  train and infer want the same devices: 3 free, 4 needed
                   [n1]
        "#]],
    );
}

/// Root 1 has one free device and two in use, root 2 two in use: one of root 1 is lacking.
#[test]
fn whose_devices_would_complete_a_group() {
    check(
        &[
            slices(
                &[
                    ("a", "root: {int: 1}", ""),
                    ("b", "root: {int: 1}", ""),
                    ("c", "root: {int: 1}", ""),
                    ("d", "root: {int: 2}", ""),
                    ("e", "root: {int: 2}", ""),
                    ("f", "root: {int: 3}", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}]",
            ),
            held("one", "b", &reserved("busy")),
            held("two", "c", &reserved("busy")),
            held("three", "d", &reserved("busy")),
            held("four", "e", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu with equal gpu.example.com/root on one node, but on n1 2
            devices free, but at most 1 with equal gpu.example.com/root, 2 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1
               or (b) give up the constraint on gpu.example.com/root
               or (c) free b, held by claim default/one (pod default/busy)

            NODES  WHY
                1  2 devices free, but at most 1 with equal gpu.example.com/root, 2 needed
                   [n1]
        "#]],
    );
}

/// No root has more than one device, whoever holds it.
#[test]
fn groups_that_nobody_can_complete() {
    check(
        &[
            slices(
                &[("a", "root: {int: 1}", ""), ("b", "root: {int: 2}", "")],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu with equal gpu.example.com/root on one node, but on n1 2
            devices free, but at most 1 with equal gpu.example.com/root, 2 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1, or give up the constraint on gpu.example.com/root

            NODES  WHY
                1  2 devices free, but at most 1 with equal gpu.example.com/root, 2 needed
                   [n1]
        "#]],
    );
}

fn one_device_held(more: &[String]) -> Vec<String> {
    let mut parts = vec![
        slices(&[("d0", "", "")], &[]),
        claim("requests: [{name: gpus, exactly: {deviceClassName: gpu}}]"),
    ];
    parts.extend_from_slice(more);
    parts
}

#[test]
fn holders_that_have_ended() {
    check(
        &one_device_held(&[
            held("other", "d0", &reserved("done")),
            pod("done", "Succeeded"),
        ]),
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 1 matching device free: 1 in
            use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - wait for d0, held by claim default/other (pod default/done, which has ended):
                  kube-controller-manager takes the reservation off

            NODES  WHY
                1  0 of 1 matching device free: 1 in use
                   [n1]
        "#]],
    );
}

#[test]
fn holders_that_are_being_deleted() {
    let going = "---\n{apiVersion: v1, kind: Pod, metadata: {name: going, uid: u-going, deletionTimestamp: \"2026-01-01T00:00:00Z\"}, spec: {nodeName: n1}, status: {phase: Running}}\n";
    check(
        &one_device_held(&[held("other", "d0", &reserved("going")), going.to_owned()]),
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 1 matching device free: 1 in
            use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - wait for d0, held by claim default/other (pod default/going, which is being deleted): free
                  when the pod is gone

            NODES  WHY
                1  0 of 1 matching device free: 1 in use
                   [n1]
        "#]],
    );
}

#[test]
fn holders_that_are_gone() {
    check(
        &one_device_held(&[held("other", "d0", &reserved("nobody"))]),
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 1 matching device free: 1 in
            use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - wait for d0, held by claim default/other (pod default/nobody, which does not exist any
                  more): kube-controller-manager takes the reservation off

            NODES  WHY
                1  0 of 1 matching device free: 1 in use
                   [n1]
        "#]],
    );
}

#[test]
fn holders_without_a_pod() {
    check(
        &one_device_held(&[held("idle", "d0", "")]),
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 1 matching device free: 1 in
            use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - free d0, held by claim default/idle (reserved for nobody): delete that claim

            NODES  WHY
                1  0 of 1 matching device free: 1 in use
                   [n1]
        "#]],
    );
}

/// All are wanted, and a pool of another driver is incomplete.
#[test]
fn all_and_a_pool_that_is_not_to_be_used() {
    let bad = "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: bad}, spec: {driver: nic.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 2}, devices: [{name: nic}]}}\n";
    check(
        &[
            slices(&[("d0", "", "")], &[]),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu, allocationMode: All}}]"),
            bad.to_owned(),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs all devices of class gpu on one node, but on n1 every matching device is wanted,
            and pool nic.example.com/n1 is not to be used: incomplete, 1 of 2 slices published.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - have the driver publish all slices of nic.example.com/n1, or ask for 1 device instead of all

            NODES  WHY
                1  every matching device is wanted, and pool nic.example.com/n1 is not to be used: incomplete, 1
                   of 2 slices published
                   [n1]
        "#]],
    );
}

/// All are wanted, and one is in use.
#[test]
fn all_and_one_that_spoils_it() {
    check(
        &[
            slices(&[("d0", "", ""), ("d1", "", "")], &[]),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu, allocationMode: All}}]"),
            held("other", "d1", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs all devices of class gpu on one node, but on n1 every matching device is wanted,
            and d1 cannot be had: 1 in use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for 1 device instead of all, or free d1, held by claim default/other (pod default/busy)

            NODES  WHY
                1  every matching device is wanted, and d1 cannot be had: 1 in use
                   [n1]
        "#]],
    );
}

/// A device takes of a counter set that nobody defines.
#[test]
fn a_pool_that_contradicts_itself() {
    check(
        &[
            slices(&[("d0", "", "bord 10Gi")], &["board"]),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu}}]"),
        ],
        &["--node", "n1"],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 0 of 1 matching device free: 1 in
            an invalid pool: device d0 takes of counter set bord, which no slice of the pool defines.

            TO MAKE IT FIT
              on n1 (not tried)
                - have the driver correct gpu.example.com/n1

            NODES  WHY
                1  0 of 1 matching device free: 1 in an invalid pool: device d0 takes of counter set bord, which
                   no slice of the pool defines
                   [n1]

            NODE n1: does not fit
              Filter: unschedulable-and-unresolvable, invalid resource pools were encountered (0 devices
                  visited, most picked at once 0, then none for gpus of default/mine)
              claim gpus (default/mine): pending
                request gpus (1 of class gpu): 1 device looked at, 1 match, 0 free, 1 missing
                  1 in an invalid pool: device d0 takes of counter set bord, which no slice of the pool
                      defines [d0]
              pool gpu.example.com/n1: invalid, device d0 takes of counter set bord, which no slice of the
                  pool defines, generation 1
              to make it fit (not tried):
                - have the driver correct gpu.example.com/n1
        "#]],
    );
}

/// Alternatives by their whole names: three large ones that are not there, or two small ones of which one is in use.
#[test]
fn alternatives_by_their_whole_names() {
    check(
        &[
            slices(&[("d0", "", ""), ("d1", "", "")], &[]),
            claim(
                "requests: [{name: gpus, firstAvailable: [{name: many, deviceClassName: gpu, count: 3}, {name: few, deviceClassName: gpu, count: 2}]}]",
            ),
            held("other", "d1", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 3 devices of class gpu or else 2 devices of class gpu on one node, but on n1
            gpus/many: 1 of 2 matching devices free, 3 needed: 1 in use; gpus/few: 1 of 2 matching devices free,
            2 needed: 1 in use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1 in request gpus/many
               or (b) ask for at most 1 in request gpus/few
               or (c) free d1, held by claim default/other (pod default/busy)

            NODES  WHY
                1  gpus/many: 1 of 2 matching devices free, 3 needed: 1 in use; gpus/few: 1 of 2 matching
                   devices free, 2 needed: 1 in use
                   [n1]
        "#]],
    );
}

/// The slice names a node that is not there.
#[test]
fn slices_for_a_node_that_is_not_there() {
    check(
        &[
            slices(&[("d0", "", "")], &[]).replace("nodeName: n1", "nodeName: n-1"),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu}}]"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 no device of class gpu. No node
            here reaches driver gpu.example.com: its slice devices is for node n-1, which is not in the input.

            NODES  WHY
                1  no device of class gpu
                   [n1]
        "#]],
    );
}

/// The slice selects nodes, and not this one.
#[test]
fn slices_that_select_other_nodes() {
    let selector = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}";
    check(
        &[
            slices(&[("d0", "", "")], &[]).replace("nodeName: n1", selector),
            claim("requests: [{name: gpus, exactly: {deviceClassName: gpu}}]"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 no device of class gpu (1 slice of
            driver gpu.example.com for nodes with zone in [b]).

            NODES  WHY
                1  no device of class gpu (1 slice of driver gpu.example.com for nodes with zone in [b])
                   [n1]
        "#]],
    );
}

/// A selector of more than a screen's width is cut.
#[test]
fn long_selectors() {
    let values: Vec<String> = (0..40).map(|at| format!("'model-{at}'")).collect();
    let expression = format!(
        "device.attributes['gpu.example.com'].model in [{}]",
        values.join(", ")
    );
    check(
        &[
            slices(&[("d0", "model: {string: small}", "")], &[]),
            claim(&format!(
                "requests: [{{name: gpus, exactly: {{deviceClassName: gpu, selectors: [{{cel: {{expression: \"{expression}\"}}}}]}}}}]"
            )),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 1 device of class gpu on one node, but on n1 no device of class gpu satisfies
            `device.attributes['gpu.example.com'].model in ['model-0', 'model-1', 'model-2', 'model-3',
            'model-4', 'model-5', 'model-6', 'model-7', 'model-8', 'model-9', ...` (1 looked at): model is
            "small".

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) write `'small'` instead of `'model-0'` in the selector
               or (b) leave out selector `device.attributes['gpu.example.com'].model in ['model-0',
                      'model-1', 'model-2', 'model-3', 'model-4', 'model-5', 'model-6', 'model-7', 'model-8',
                      'model-9', ...`

            NODES  WHY
                1  no device of class gpu satisfies `device.attributes['gpu.example.com'].model in ['model-0',
                   'model-1', 'model-2', 'model-3', 'model-4', 'model-5', 'model-6', 'model-7', 'model-8',
                   'model-9', ...` (1 looked at): model is "small"
                   [n1]
        "#]],
    );
}

/// All are wanted with one root, and one of three has another.
#[test]
fn all_and_a_constraint() {
    check(
        &[
            slices(
                &[
                    ("d0", "root: {int: 1}", ""),
                    ("d1", "root: {int: 1}", ""),
                    ("d2", "root: {int: 2}", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, allocationMode: All}}], constraints: [{matchAttribute: gpu.example.com/root}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: error (Filter)
            Pod default/p needs all devices of class gpu with equal gpu.example.com/root on one node, but the
            attempt is aborted: on n1 3 devices free, but at most 2 with equal gpu.example.com/root, 3 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for 2 devices instead of all, or give up the constraint on gpu.example.com/root

            NODES  WHY
                1  3 devices free, but at most 2 with equal gpu.example.com/root, 3 needed
                   [n1]
        "#]],
    );
}

/// Three share root 1, of which two differ in their NUMA node.
#[test]
fn equal_and_different_values() {
    check(
        &[
            slices(
                &[
                    ("d0", "root: {int: 1}, numa: {int: 1}", ""),
                    ("d1", "root: {int: 1}, numa: {int: 1}", ""),
                    ("d2", "root: {int: 1}, numa: {int: 2}", ""),
                    ("d3", "root: {int: 2}, numa: {int: 3}", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 3}}], constraints: [{matchAttribute: gpu.example.com/root}, {distinctAttribute: gpu.example.com/numa}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 3 devices of class gpu with equal gpu.example.com/root and different
            gpu.example.com/numa on one node, but on n1 4 devices free, up to 3 with equal gpu.example.com/root,
            up to 3 with different gpu.example.com/numa, but at most 2 with both, 3 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 2
               or (b) give up the constraint on gpu.example.com/root
               or (c) give up the constraint on gpu.example.com/numa

            NODES  WHY
                1  4 devices free, up to 3 with equal gpu.example.com/root, up to 3 with different
                   gpu.example.com/numa, but at most 2 with both, 3 needed
                   [n1]
        "#]],
    );
}

/// Too few values for as many devices.
#[test]
fn too_few_different_values() {
    check(
        &[
            slices(
                &[
                    ("d0", "numa: {int: 1}", ""),
                    ("d1", "numa: {int: 1}", ""),
                    ("d2", "numa: {int: 2}", ""),
                ],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 3}}], constraints: [{distinctAttribute: gpu.example.com/numa}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 3 devices of class gpu with different gpu.example.com/numa on one node, but on
            n1 only 2 different values of gpu.example.com/numa among free devices, 3 needed.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 2, or give up the constraint on gpu.example.com/numa

            NODES  WHY
                1  only 2 different values of gpu.example.com/numa among free devices, 3 needed
                   [n1]
        "#]],
    );
}

/// One device is free, and no root has two, whoever holds them.
#[test]
fn freeing_devices_does_not_help() {
    check(
        &[
            slices(
                &[("d0", "root: {int: 1}", ""), ("d1", "root: {int: 2}", "")],
                &[],
            ),
            claim(
                "requests: [{name: gpus, exactly: {deviceClassName: gpu, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}]",
            ),
            held("other", "d1", &reserved("busy")),
            pod("busy", "Running"),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs 2 devices of class gpu with equal gpu.example.com/root on one node, but on n1 1
            of 2 matching devices free, 2 needed: 1 in use.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) ask for at most 1
               or (b) give up the constraint on gpu.example.com/root and free d1, held by claim
                      default/other (pod default/busy)

            NODES  WHY
                1  1 of 2 matching devices free, 2 needed: 1 in use
                   [n1]
        "#]],
    );
}

/// A whole board or two halves, beside another request for a half: 80Gi are not enough for three halves.
#[test]
fn alternatives_that_compete_for_a_counter() {
    check(
        &[
            slices(
                &[
                    ("whole", "size: {int: 2}", "board 80Gi"),
                    ("half-0", "size: {int: 1}", "board 40Gi"),
                    ("half-1", "size: {int: 1}", "board 40Gi"),
                    ("half-2", "size: {int: 1}", "board 40Gi"),
                ],
                &["board"],
            ),
            claim(
                "requests: [{name: big, firstAvailable: [{name: whole, deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].size == 2'}}]}, {name: halves, deviceClassName: gpu, count: 2, selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].size == 1'}}]}]}, {name: small, exactly: {deviceClassName: gpu, selectors: [{cel: {expression: 'device.attributes[\"gpu.example.com\"].size == 1'}}]}}]",
            ),
        ],
        &[],
        &expect![[r#"
            default/p: unschedulable (Filter)
            Pod default/p needs (1 device of class gpu or else 2 devices of class gpu) and 1 device of class gpu
            on one node, but on n1 enough devices free for big and small one by one, but they share counter
            board/memory (80Gi of 80Gi left, 40Gi to 80Gi each): no room for 2 at once.

            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - ask for at most 1 in request big/halves

            NODES  WHY
                1  enough devices free for big and small one by one, but they share counter board/memory (80Gi
                   of 80Gi left, 40Gi to 80Gi each): no room for 2 at once
                   [n1]
        "#]],
    );
}
