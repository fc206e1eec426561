//! Runs Kubernetes scheduler plugins that are WebAssembly components.
//!
//! In data-flow order: manifest -> cluster store -> event -> queue -> cycle -> plugin instance -> (listers | API) -> store ->
//! event, and -> report.

pub mod nearest;
pub mod object;

pub mod manifest;
pub mod workloads;

pub mod api;
pub mod clock;
pub mod cluster;
pub mod stand_ins;

pub mod event;
pub mod queue;
pub mod scheduler;

pub mod binding_cycle;
pub mod cycle;
pub mod filters;
pub mod generations;

pub mod plugin;
pub mod services;

pub mod explain;
pub mod lint;

pub mod soak;

pub mod report;

pub mod cli;
