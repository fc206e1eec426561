//! The Kubernetes scheduler plugin *DynamicResources*: pods ask for devices through ResourceClaims, drivers publish devices
//! in ResourceSlices, the plugin picks node and devices.
//!
//! Data flow: `host` (imports) -> `cluster` (what is cached of it) -> `extension_points` -> `allocator` -> `cel`.
//! Nothing here does I/O except through [`host::Host`], and nothing but caches outlives a scheduling cycle.

//!
//! Upstream's functions, in the order of its file, and where they live here:
//!
//! | upstream | here |
//! | --- | --- |
//! | `New`, `Name` | [`plugin`], [`config`] |
//! | `EventsToRegister`, `isSchedulableAfterClaimChange`, `...ResourceSliceChange`, `...PodSchedulingContextChange` | [`hints`] |
//! | `PreEnqueue`, `foreachPodResourceClaim`, `podResourceClaims` | [`extension_points::pre_enqueue`], [`claims`] |
//! | `PreFilter`, `stateData`, `informationForClaim` | [`extension_points::pre_filter`], [`cycle`] |
//! | `Filter` | [`extension_points::filter`], [`allocator`], [`node_selector`] |
//! | `PostFilter` | [`extension_points::post_filter`] |
//! | `PreScore`, `haveAllPotentialNodes` | [`extension_points::pre_score`] |
//! | `Reserve`, `statusForClaim` | [`extension_points::reserve`] |
//! | `podSchedulingState`: `publish`, `addOwner...` | [`scheduling_context`] |
//! | `PreBind`, `bindClaim` | [`extension_points::pre_bind`], [`binding`] |
//! | `Unreserve`, `PostBind` | [`extension_points::unreserve`], [`extension_points::post_bind`] |
//! | none | [`advice`]: mistakes in objects, and the list of devices |
//! | `claimAssumeCache`, `inFlightAllocations` | the host's; read through [`cluster`], written through [`host::Host`] |
//! | nothing: upstream does not say why | [`explain`], on the survey of [`allocator`] and the parts of [`cel`] |

pub mod host;
pub mod profile;
pub mod status;

pub mod advice;
pub mod config;
pub mod plugin;

pub mod cluster;
pub mod cycle;
pub mod extension_points;
pub mod hints;

pub mod binding;
pub mod claims;
pub mod extended_resources;
pub mod plan;
pub mod scheduling_context;

pub mod explain;

pub mod allocator;
pub mod node_selector;
pub mod selectors;

pub mod cel;
pub mod go_quote;
pub mod nearest;
pub mod quantity;
pub mod semver;

pub mod api;

#[cfg(target_family = "wasm")]
mod glue;
