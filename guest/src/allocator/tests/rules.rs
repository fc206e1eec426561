//! One test for each rule that differs between versions (spec section 14): 1.31 first, then current.

mod defects;
mod later;
mod traps;

use super::support::*;
use crate::allocator::{DEFAULT_STEPS, Outcome};
use crate::api::{
    Attribute, ConfigSource, Device, DeviceClass, NodeSelectorTerm, Reach, ResourceSlice,
};
use crate::profile::Profile;

fn numbered(names: &[&str], value: i64) -> Vec<Device> {
    names
        .iter()
        .map(|name| device(name, &[("n", Attribute::Int(value))]))
        .collect()
}

/// `d0` with 1 and `d1` with 2.
fn one_and_two() -> Vec<Device> {
    [numbered(&["d0"], 1), numbered(&["d1"], 2)].concat()
}
