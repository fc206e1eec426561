//! Nodes that say the same, in order of how near they are to fitting.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::node::{Found, View};
use super::phrase::{Phrase, counted};

/// Some nodes.
#[derive(Clone, Debug)]
pub struct Group {
    /// The nearest first, then by name: indexes into the views.
    pub nodes: Vec<usize>,
    /// What they have in common, merged; nothing for nodes that fit.
    pub found: Vec<Found>,
    /// Of the nearest of them.
    pub distance: u64,
}

impl Group {
    /// Whether the pod fits.
    pub fn fits(&self) -> bool {
        self.found.is_empty()
    }

    /// All of it in one sentence.
    pub fn phrase(&self) -> Phrase {
        let phrases = self.found.iter().map(|found| found.phrase.clone());
        Phrase::joined(phrases, ", and ")
    }

    /// The worst of it, and how much more there is.
    pub fn brief(&self, most: usize) -> Phrase {
        let rest = self.found.len().saturating_sub(most);
        if rest == 0 {
            return self.phrase();
        }
        let mut worst: Vec<&Found> = self.found.iter().collect();
        worst.sort_by_key(|found| Reverse(found.weight));
        let phrases = worst.into_iter().take(most);
        let shown = Phrase::joined(phrases.map(|found| found.phrase.clone()), ", and ");
        let more = counted(rest as u64, "more reason", "more reasons");
        shown.text(format!(", and {more}"))
    }

    /// Whether these nodes have nothing that the pod could ever use.
    pub fn is_far(&self) -> bool {
        self.found
            .iter()
            .any(|found| found.kind == "no-device-of-class")
    }
}

/// Puts nodes together whose sentences differ in numbers and values only.
pub fn of(views: &[View]) -> Vec<Group> {
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for (index, view) in views.iter().enumerate() {
        let shape: Vec<String> = view
            .found
            .iter()
            .map(|found| found.phrase.shape())
            .collect();
        let at = *shapes.entry(shape.join("\u{1}")).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => {
                group.nodes.push(index);
                group.distance = group.distance.min(view.distance());
                for (own, other) in group.found.iter_mut().zip(&view.found) {
                    own.phrase.merge(&other.phrase);
                }
            }
            None => groups.push(Group {
                nodes: vec![index],
                found: view.found.clone(),
                distance: view.distance(),
            }),
        }
    }
    for group in &mut groups {
        group.nodes.sort_by_key(|&index| {
            let view = views.get(index);
            let near = view.and_then(|view| view.found.iter().map(|found| found.closeness).min());
            (view.map_or(0, View::distance), near, index)
        });
    }
    groups.sort_by_key(|group| (!group.fits(), group.distance, Reverse(group.nodes.len())));
    groups
}
