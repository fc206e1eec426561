//! Remedies that change a part of a claim: a selector, one of several constraints, one of several alternatives; and what is told
//! where nothing does. What helps was worked out by hand beside each.

use expect_test::expect;

use super::words::{check, claim, pod, requests, slice};

/// Devices of which each refuses another selector: either of the two will do, and both are not needed.
#[test]
fn selectors_that_exclude_each_other() {
    let parts = [
        slice(&[
            "{name: g0, attributes: {model: {string: H100}, mig: {bool: true}}}",
            "{name: g1, attributes: {model: {string: A100}, mig: {bool: false}}}",
        ]),
        requests(
            r#"selectors: [{cel: {expression: "device.attributes[device.driver].model == 'H100'"}}, {cel: {expression: "!device.attributes[device.driver].mig"}}]"#,
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) leave out selector `device.attributes[device.driver].model == 'H100'`
               or (b) leave out selector `!device.attributes[device.driver].mig`
        "#]],
    );
}

/// The value that devices publish is the nearest; the conjunct that is true stays.
#[test]
fn a_literal_that_nobody_publishes() {
    let parts = [
        slice(&["{name: g0, attributes: {model: {string: A100}, cores: {int: 4}}}"]),
        requests(
            r#"selectors: [{cel: {expression: "device.attributes['gpu.example.com'].cores == 4 && device.attributes['gpu.example.com'].model == 'A10O'"}}]"#,
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (tried: then it fits)
                - (a) write `'A100'` instead of `'A10O'` in the selector
               or (b) leave `device.attributes['gpu.example.com'].model == 'A10O'` out of the selector
        "#]],
    );
}

/// Two constraints on one attribute are told apart by what they want.
#[test]
fn equal_and_different_at_once() {
    let parts = [
        slice(&[
            "{name: g0, attributes: {root: {string: a}}}",
            "{name: g1, attributes: {root: {string: a}}}",
        ]),
        claim(
            "requests: [{name: gpus, exactly: {deviceClassName: gpu.example.com, count: 2}}], constraints: [{matchAttribute: gpu.example.com/root}, {distinctAttribute: gpu.example.com/root}]",
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
        TO MAKE IT FIT
          on n1 (tried: then it fits)
            - ask for at most 1, or give up the constraint on different gpu.example.com/root
    "#]],
    );
}

/// Of a list of alternatives the one whose class is not there is left out.
#[test]
fn an_alternative_without_a_class() {
    let parts = [
        slice(&["{name: g0}"]),
        claim(
            "requests: [{name: any, firstAvailable: [{name: best, deviceClassName: nope}, {name: good, deviceClassName: gpu.example.com}]}]",
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
        TO MAKE IT FIT
          on n1 (tried: then it fits)
            - leave out request any/best
          or (not tried)
            - create DeviceClass nope, or name one that is there: gpu.example.com
    "#]],
    );
}

/// A counter of which nobody holds anything and that is too small, beside a selector: both are told.
#[test]
fn a_counter_that_is_too_small_and_a_selector() {
    let counters = "---\n{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: t}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 2}, sharedCounters: [{name: board, counters: {memory: {value: 2Gi}}}]}}\n";
    let device = "{name: g0, attributes: {model: {string: A}}, consumesCounters: [{counterSet: board, counters: {memory: {value: 4Gi}}}]}";
    let parts = [
        counters.to_owned(),
        slice(&[device]).replace("resourceSliceCount: 1", "resourceSliceCount: 2"),
        claim(
            r#"requests: [{name: a, exactly: {deviceClassName: gpu.example.com}}, {name: b, exactly: {deviceClassName: gpu.example.com, selectors: [{cel: {expression: "device.attributes[device.driver].model == 'Z'"}}]}}]"#,
        ),
        pod(""),
    ];
    check(
        &[],
        &parts,
        &expect![[r#"
            TO MAKE IT FIT
              on n1 (not tried)
                1. have the driver correct gpu.example.com/n1: a device takes 4Gi of counter board/memory,
                   which has 2Gi in all
                2. b: the selector wants "Z", devices here have "A": write that, or add such a device
        "#]],
    );
}
