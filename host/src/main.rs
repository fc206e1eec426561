//! dractl.
fn main() {}
