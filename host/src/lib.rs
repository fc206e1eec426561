//! Runs Kubernetes scheduler plugins that are WebAssembly components.
//!
//! In data-flow order: manifest -> cluster store -> event -> queue -> cycle -> plugin instance -> (listers | API) -> store ->
//! event, and -> report.

pub mod object;

pub mod api;
pub mod clock;
pub mod cluster;
pub mod event;
pub mod plugin;
pub mod stand_ins;
