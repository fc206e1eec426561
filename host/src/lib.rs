//! Runs Kubernetes scheduler plugins that are WebAssembly components.
//!
//! In data-flow order: manifest -> cluster store -> event -> queue -> cycle -> plugin instance -> (listers | API) -> store ->
//! event, and -> report.

pub mod object;

pub mod filters;
pub mod manifest;
pub mod workloads;

pub mod plugin;
