//! What is told about small clusters: each kind of reason by hand, random clusters, hostile objects. Every answer is held
//! against the schema and against what a cycle decides.

mod claims;
mod cluster;
mod hostile;
mod random;
mod requests;
mod schema;
mod selectors;
mod together;
