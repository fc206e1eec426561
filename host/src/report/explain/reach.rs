//! Slices that no node reaches, and inputs without any.

use super::node::View;
use super::summary::Facts;
use crate::explain::document::Document;

/// Drivers whose slices are for nodes that are not there.
pub fn unreached(facts: &Facts<'_>) -> Option<String> {
    let documents = facts.views.iter().map(|view| view.document.as_ref());
    let documents = documents.collect::<Option<Vec<_>>>()?;
    let (first, rest) = documents.split_first()?;
    let slices = first.unreachable.iter().find(|slices| {
        let is_lost = |document: &&Document| {
            let mut others = document.unreachable.iter();
            others.any(|other| other.driver == slices.driver && other.cause == "other-node")
        };
        let is_known = facts.views.iter().any(|view| view.name == slices.nodes);
        slices.cause == "other-node" && !is_known && rest.iter().all(is_lost)
    })?;
    Some(format!(
        "No node here reaches driver {}: its slice {} is for node {}, which is not in the input.",
        slices.driver, slices.example, slices.nodes
    ))
}

/// An input without any device: the likeliest cause is that nobody wrote the slices to the file.
pub fn no_slices(facts: &Facts<'_>) -> Option<String> {
    let is_bare = |view: &View| {
        let document = view.document.as_ref();
        let bare = document.filter(|one| one.pools.is_empty() && one.unreachable.is_empty());
        bare.is_some()
            && view
                .found
                .iter()
                .any(|one| one.kind == "no-device-of-class")
    };
    facts.views.iter().all(is_bare).then(|| {
        "There is no ResourceSlice in the input: no driver has published devices, or the slices were left out.".to_owned()
    })
}
