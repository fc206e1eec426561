//! The Kubernetes scheduler plugin *DynamicResources*: pods ask for devices through ResourceClaims, drivers publish devices
//! in ResourceSlices, the plugin picks node and devices.
//!
//! Data flow: `host` (imports) -> `cluster` (what is cached of it) -> `extension_points` -> `allocator` -> `cel`.
//! Nothing here does I/O except through [`host::Host`], and nothing but caches outlives a scheduling cycle.

pub mod host;
pub mod profile;
pub mod status;

pub mod api;
pub mod cel;
pub mod claims;
pub mod go_quote;
pub mod node_selector;
pub mod quantity;
pub mod semver;

pub mod allocator;
