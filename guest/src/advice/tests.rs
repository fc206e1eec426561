//! Advice over a small view of a cluster, natively.

mod devices;
mod references;
mod support;
