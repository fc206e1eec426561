//! The contract in `wit/` as Rust types: what the macro of wasmtime makes of it.
//!
//! Scheduling instances are synchronous. Binding instances can be suspended, so their exports are bound a second time,
//! asynchronously; the types of both are the same ones.

#![allow(
    missing_docs,
    clippy::all,
    reason = "generated; documented in the contract"
)]

mod whole {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "full-plugin",
        imports: { default: trappable },
    });
}

mod suspendable {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "
            package dractl:host;
            world suspendable {
                export kube-scheduler:plugin/lifecycle@0.1.0;
                export kube-scheduler:plugin/binding@0.1.0;
            }
        ",
        world: "dractl:host/suspendable",
        with: { "kube-scheduler:plugin/types@0.1.0": super::whole::kube_scheduler::plugin::types },
        exports: { default: async },
    });
}

pub(super) use suspendable::exports::kube_scheduler::plugin as suspendable_exports;
pub(super) use whole::exports::kube_scheduler::plugin as exports;
pub(super) use whole::kube_scheduler::plugin as imports;

/// Name of an interface of the package, as a component exports or imports it.
macro_rules! interface {
    ($name:literal) => {
        concat!("kube-scheduler:plugin/", $name, "@0.1.0")
    };
}
pub(super) use interface;

/// The package without its version.
pub(super) const PACKAGE: &str = "kube-scheduler:plugin";
/// The version track that this host speaks: within it, versions only add functions.
pub(super) const TRACK: &str = "0.1";
