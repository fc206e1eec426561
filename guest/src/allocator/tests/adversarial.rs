//! Shapes on which plain depth-first search takes for ever: decided all the same, within a small part of the step budget.

use super::support::*;
use crate::allocator::DEFAULT_STEPS;
use crate::api::{Attribute, Device, DeviceRequest};
use crate::profile::Profile;

#[track_caller]
fn decided(cluster: &Cluster, answer: &str, limit: u64) {
    for profile in [Profile::v1_31(), Profile::current()] {
        let (outcome, _, steps) = cluster.run(&profile, DEFAULT_STEPS);
        let outcome = short(&outcome);
        assert_eq!(outcome, answer, "{steps}");
        assert!(steps <= limit, "{steps} steps");
    }
}

/// Groups of devices with the same value of `n`; names are `<group>-<number>`.
fn groups(sizes: &[usize]) -> Vec<Device> {
    let group = |(value, size): (usize, &usize)| {
        let attributes = [("n", Attribute::Int(value as i64))];
        (0..*size)
            .map(move |i| device(&format!("{value}-{i}"), &attributes))
            .collect::<Vec<_>>()
    };
    sizes.iter().enumerate().flat_map(group).collect()
}

fn requests(number: usize, each: i64) -> Vec<DeviceRequest> {
    (0..number)
        .map(|i| select(count(&format!("r{i}"), each), &["true"]))
        .collect()
}

#[test]
fn thirty_two_of_thirty_one() {
    let ask = |requests| simple(devices(31), requests);
    decided(&ask(requests(1, 32)), "does not fit", 10_000);
    decided(&ask(requests(2, 16)), "does not fit", 100_000);
    decided(&ask(requests(8, 4)), "does not fit", 300_000);
    decided(&ask(requests(32, 1)), "does not fit", 300_000);
}

#[test]
fn a_shortage_over_several_claims() {
    let claims = |number: usize, each| {
        (0..number)
            .map(|i| claim(&format!("c{i}"), requests(1, each)))
            .collect()
    };
    decided(
        &Cluster::new(vec![slice("s", "p", devices(30))], claims(2, 20)),
        "does not fit",
        100_000,
    );
    decided(
        &Cluster::new(vec![slice("s", "p", devices(63))], claims(2, 32)),
        "does not fit",
        200_000,
    );
    decided(
        &Cluster::new(vec![slice("s", "p", devices(15))], claims(16, 1)),
        "does not fit",
        100_000,
    );
}

#[test]
fn matching_groups_that_are_too_small() {
    let mut sizes = vec![7; 16];
    let ask = || vec![matching(claim("c", requests(1, 8)), "drv/n", &[])];
    decided(
        &Cluster::new(vec![slice("s", "p", groups(&sizes))], ask()),
        "does not fit",
        100_000,
    );
    sizes.push(8);
    let last = (0..8)
        .map(|i| format!("r0:p/16-{i}"))
        .collect::<Vec<_>>()
        .join(" ");
    decided(
        &Cluster::new(vec![slice("s", "p", groups(&sizes))], ask()),
        &last,
        100_000,
    );
}

#[test]
fn matching_groups_over_several_requests() {
    let ask = || vec![matching(claim("c", requests(4, 2)), "drv/n", &[])];
    let mut sizes = vec![7; 16];
    decided(
        &Cluster::new(vec![slice("s", "p", groups(&sizes))], ask()),
        "does not fit",
        300_000,
    );
    sizes.push(8);
    let last = (0..8)
        .map(|i| format!("r{}:p/16-{i}", i / 2))
        .collect::<Vec<_>>()
        .join(" ");
    decided(
        &Cluster::new(vec![slice("s", "p", groups(&sizes))], ask()),
        &last,
        300_000,
    );
}

#[test]
fn matching_groups_of_two_claims() {
    let ask = |name: &str| matching(claim(name, requests(1, 4)), "drv/n", &[]);
    let cluster = Cluster::new(
        vec![slice("s", "p", groups(&[3, 7, 3, 3]))],
        vec![ask("c"), ask("d")],
    );
    decided(&cluster, "does not fit", 100_000);
}

/// An error that the search would never come to does not appear, however hard the search is; one that it comes to does.
#[test]
fn looking_ahead_hides_errors() {
    let (sizes, text) = ([3, 7, 3, 3, 3, 3], "missing=1");
    let hard = |name: &str| matching(claim(name, requests(1, 4)), "drv/n", &[]);
    let many: Vec<_> = (0..6).map(|i| hard(&format!("c{i}"))).collect();
    let failing = claim("z", vec![select(count("r", 1), &[text])]);
    let mut claims = many.clone();
    claims.push(failing.clone());
    let cluster = Cluster::new(vec![slice("s", "p", groups(&sizes))], claims.clone());
    decided(&cluster, "does not fit", DEFAULT_STEPS);
    claims.rotate_right(1);
    let cluster = Cluster::new(vec![slice("s", "p", groups(&sizes))], claims);
    decided(
        &cluster,
        "error: claim ns/z: selector #0: CEL runtime error: no such key: missing",
        10,
    );
}

#[test]
fn every_device_in_a_group_of_its_own() {
    let ask = vec![matching(claim("c", requests(1, 2)), "drv/n", &[])];
    decided(
        &Cluster::new(vec![slice("s", "p", groups(&[1; 128]))], ask),
        "does not fit",
        100_000,
    );
}
