//! The plugin that is part of the program: `build.rs` builds it, so that it is never older than its sources.

/// The component `DynamicResources`.
pub static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/dynamic_resources.wasm"));
