//! What was found out about single pods, with nodes and devices by position: an explanation of a pod names every device of every
//! node, and would be larger than the rest of the page.

use std::collections::BTreeMap;

use super::Explanation;
use super::collect::Positions;
use super::data::{self, Alike, Pod, ranges};
use super::inventory::Inventory;
use crate::report::explain::{Explained, GroupReport, Nearest, Refusal, in_words};

/// Says in the list of pods what an explanation found: one that only others keep from its node is told so, and one that has a node, has ended or is being deleted stays what it is, whatever
/// would become of it if it were pending.
pub(super) fn settle(explained: &Explained, pods: &mut Vec<Pod>) {
    let is_it = |pod: &&mut Pod| pod.namespace == explained.namespace && pod.name == explained.name;
    let verdict = match explained.verdict.as_str() {
        "fits-alone" => {
            let alone = pods.iter_mut().filter(is_it);
            return alone.for_each(|pod| pod.verdict = "fits-alone");
        }
        "placed" => "running",
        "ended" => "ended",
        "deleted" => "deleted",
        _ => return,
    };
    let known = pods.iter_mut().find(is_it);
    let claims = known.map(|pod| std::mem::take(&mut pod.claims));
    pods.retain(|pod| pod.namespace != explained.namespace || pod.name != explained.name);
    pods.push(Pod {
        namespace: explained.namespace.clone(),
        name: explained.name.clone(),
        verdict,
        node: explained.node.clone(),
        claims: claims.unwrap_or_default(),
        ..Pod::default()
    });
}

/// One explanation.
pub(super) fn explanation<'a>(
    explanation: &'a Explanation,
    positions: &Positions<'_>,
    inventory: &Inventory,
) -> data::Explanation<'a> {
    let explained = &explanation.explained;
    let mut texts = Texts::default();
    let refusals = explanation.refusals.iter();
    let refused = refusals.filter_map(|refusal| {
        let node = *positions.get(refusal.node.as_str())?;
        let mut row = vec![node, texts.position(&refusal.text)];
        devices(refusal, inventory, &mut texts, &mut row);
        Some(row)
    });
    let refused = refused.collect();
    let alike = |group: &'a GroupReport| Alike {
        fits: group.fits,
        text: &group.text,
        nodes: ranges(
            group
                .nodes
                .iter()
                .filter_map(|name| positions.get(name.as_str()).copied()),
        ),
    };
    let in_full = explained.nodes.iter();
    data::Explanation {
        pod: format!("{}/{}", explained.namespace, explained.name),
        summary: &explained.summary,
        notes: &explained.notes,
        nearest: explained.nearest.iter().map(remedy).collect(),
        groups: explained.groups.iter().map(alike).collect(),
        would: would(explained, inventory),
        texts: texts.list,
        refused,
        full: in_full
            .map(|node| (node.node.as_str(), node.lines.as_slice()))
            .collect(),
    }
}

fn remedy(nearest: &Nearest) -> data::Remedy<'_> {
    data::Remedy {
        node: nearest.node.as_deref(),
        steps: &nearest.ways,
        tried: in_words(nearest.tried),
        left: nearest.left.as_deref(),
    }
}

/// The devices that a pod would get that has none yet.
fn would(explained: &Explained, inventory: &Inventory) -> Vec<[usize; 2]> {
    let claims = explained.claims.iter();
    let devices = claims
        .filter(|_| matches!(explained.verdict.as_str(), "scheduled" | "fits-alone"))
        .flat_map(|claim| &claim.devices);
    devices
        .flat_map(|it| inventory.places(&it.driver, &it.pool, &it.device))
        .copied()
        .collect()
}

/// Adds the devices of a refusal, neighbours with the same reason as one run.
fn devices<'a>(
    refusal: &'a Refusal,
    inventory: &Inventory,
    texts: &mut Texts<'a>,
    row: &mut Vec<usize>,
) {
    let mut places: Vec<[usize; 3]> = Vec::new();
    for device in &refusal.devices {
        let text = texts.position(&device.reason);
        let found = inventory.places(&device.driver, &device.pool, &device.device);
        places.extend(found.iter().map(|[group, at]| [*group, *at, text]));
    }
    places.sort_unstable();
    let joined = |a: &[usize; 3], b: &[usize; 3]| a[0] == b[0] && a[1] + 1 == b[1] && a[2] == b[2];
    for run in places.chunk_by(joined) {
        if let (Some([group, first, text]), Some([_, last, _])) = (run.first(), run.last()) {
            row.extend([*text, *group, *first, *last]);
        }
    }
}

/// Texts, each once.
#[derive(Default)]
struct Texts<'a> {
    list: Vec<&'a str>,
    known: BTreeMap<&'a str, usize>,
}

impl<'a> Texts<'a> {
    fn position(&mut self, text: &'a str) -> usize {
        *self.known.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() - 1
        })
    }
}
