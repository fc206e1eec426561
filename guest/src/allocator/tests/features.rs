//! One feature, one shape: what upstream got wrong at some time (the failing shape, and a near miss that must succeed), and
//! what results look like.

mod alternatives;
mod constraints;
mod partitions;
mod taints;

use super::support::*;
use crate::allocator::{DEFAULT_STEPS, Inventory, Limits, Outcome, TIMED_OUT};
use crate::api::{
    Attribute, Device, DeviceRequest, DeviceTaintRule, Reach, ResourceSlice, TaintEffect,
    TaintSelector,
};
use crate::profile::Profile;

fn answer(cluster: &Cluster) -> String {
    cluster.answer(&Profile::current())
}

/// One slice with these devices, one claim with one request.
fn one(devices: Vec<Device>, request: DeviceRequest) -> Cluster {
    simple(devices, vec![request])
}

fn elsewhere(name: &str, devices: Vec<Device>) -> ResourceSlice {
    ResourceSlice {
        reach: Reach::NodeName("n2".into()),
        ..slice(name, "p", devices)
    }
}

fn of_two(slices: Vec<ResourceSlice>) -> Vec<ResourceSlice> {
    let count = slices.len() as i64;
    let with_count = |slice| ResourceSlice {
        resource_slice_count: count,
        ..slice
    };
    slices.into_iter().map(with_count).collect()
}

#[test]
fn all_devices_of_a_pool_that_spans_nodes() {
    let own = slice("own", "p", devices(1));
    let far = elsewhere("far", vec![device("far", &[])]);
    let ask = |slices| answer(&Cluster::new(slices, vec![claim("c", vec![all("r")])]));
    assert_eq!(ask(of_two(vec![own.clone(), far])), "r:p/d0");
    let missing = ResourceSlice {
        resource_slice_count: 2,
        ..own
    };
    assert_eq!(ask(vec![missing]), BEING_UPDATED);
}

/// Eight equal devices are wanted where there are three of each kind, after many others: that takes long.
#[test]
fn a_search_that_takes_too_long_is_an_error_not_a_refusal() {
    let devices: Vec<_> = (0..60)
        .map(|i| {
            device(
                &format!("d{i}"),
                &[("n", Attribute::Int(i / 3)), ("m", Attribute::Int(i % 20))],
            )
        })
        .collect();
    let requests = (0..5).map(|i| count(&format!("r{i}"), 4)).collect();
    let asks = matching(claim("c", requests), "drv/n", &["r3", "r4"]);
    let cluster = Cluster::new(vec![slice("s", "p", devices)], vec![asks]);
    let (inventory, profile) = (cluster.inventory(), Profile::current());
    let fits = |is_late: bool| {
        let mut allocator = cluster.allocator();
        let mut lookup = cluster.lookup();
        let looks = std::cell::Cell::new(0);
        let clock = || {
            looks.set(looks.get() + 1);
            is_late
        };
        let limits = Limits {
            steps: 50_000,
            is_late: Some(&clock),
        };
        let mut stub = Stub::default();
        let found = allocator.fits(
            &cluster.node,
            &inventory,
            &mut lookup,
            &mut stub,
            &profile,
            limits,
        );
        (found, looks.get())
    };
    assert_eq!(fits(true), (Err(Outcome::Error(TIMED_OUT.into())), 1));
    let (found, looks) = fits(false);
    assert!(
        matches!(found, Err(Outcome::BudgetExhausted(_))),
        "{found:?}"
    );
    assert_eq!(looks, 50_000 / 4_096);
}
