//! What a reimplementation of the plugin most likely gets wrong (spec section 15), and the defects of 1.31 that show in calls
//! of the plugin (section 14, D10 to D16), literally in one profile and corrected in the other.
//!
//! Every test runs through the component and through the plugin linked natively. D16 has one answer in both profiles: the
//! contract lets only the holder of an in-flight entry take it out. T12's call without state cannot be made, because PostFilter is
//! a method of the cycle that PreFilter returns.
//!
//! Defects and traps of the allocator (D1 to D9, T4, T15, T18) have their tests beside it in `guest/src/allocator/tests/rules/`,
//! that of the host's claim cache (T22) in `host/src/cluster`. All carry their id in their name, which `ids` checks.

mod binding;
mod cycle;
mod defects;
mod filter;
mod hints;
mod ids;
mod post_filter;
mod reserve;
mod scene;
mod selecting;
mod texts;

use dractl::plugin::{Code, Status};

const UTS: Code = Code::UnschedulableAndUnresolvable;
const NOT_AVAILABLE: &str = "resourceclaim not available on the node";
const FREED: &str = "deallocation of ResourceClaim completed";
const WAITING: &str = "waiting for resource driver";

/// Checks code and text.
#[track_caller]
fn assert_status(actual: Result<Status, String>, code: Code, message: &str) {
    let actual = actual.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((actual.code, actual.message().as_str()), (code, message));
}

#[track_caller]
fn assert_success(actual: Result<Status, String>) {
    assert_status(actual, Code::Success, "");
}
