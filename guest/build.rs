//! Gives the component a stack that the deepest accepted object or expression fits in.

#![allow(
    clippy::print_stdout,
    reason = "a build script speaks to cargo on stdout"
)]

/// 4 MiB: twice what the deepest of them take; the linker's default for WebAssembly is 1 MiB.
const STACK_BYTES: u32 = 4 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
