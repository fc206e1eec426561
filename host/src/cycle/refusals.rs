//! Why nodes were refused, counted (upstream's `Diagnosis` and `FitError`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::plugin::{Code, Status};

/// One reason and the nodes that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who refused.
    pub plugin: Arc<str>,
    /// Code and texts.
    pub status: Status,
    /// Number of nodes; zero if it is about the pod as a whole.
    pub count: usize,
    /// Names of the first of them.
    pub nodes: Vec<Arc<str>>,
}

/// All reasons of one attempt, in the order in which they were first met.
#[derive(Clone, Debug)]
pub struct Refusals {
    list: Vec<Refusal>,
    index: BTreeMap<(Arc<str>, Status), usize>,
    last: Option<usize>,
    names: usize,
}

impl Refusals {
    /// None yet; keeps up to `names` names of nodes per reason.
    pub fn new(names: usize) -> Self {
        Self {
            list: Vec::new(),
            index: BTreeMap::new(),
            last: None,
            names,
        }
    }

    /// A node was refused.
    pub fn add(&mut self, plugin: &str, status: &Status, node: &Arc<str>) {
        let names = self.names;
        let refusal = self.entry(plugin, status);
        refusal.count += 1;
        if refusal.nodes.len() < names {
            refusal.nodes.push(node.clone());
        }
    }

    /// The pod as a whole was refused.
    pub fn add_for_pod(&mut self, plugin: &str, status: &Status) {
        self.entry(plugin, status);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.list.clear();
        self.index.clear();
        self.last = None;
    }

    /// Most frequent first.
    pub fn sorted(&self) -> Vec<Refusal> {
        let mut list = self.list.clone();
        list.sort_by_key(|refusal| std::cmp::Reverse(refusal.count));
        list
    }

    /// Who refused.
    pub fn plugins(&self) -> BTreeSet<Arc<str>> {
        self.list
            .iter()
            .map(|refusal| refusal.plugin.clone())
            .collect()
    }

    /// The pod's code when no node is left: an object that must change outweighs what only has to wait, and removing pods may
    /// help if it may help on one node.
    pub fn code(&self) -> Code {
        let has = |code| self.list.iter().any(|refusal| refusal.status.code == code);
        if has(Code::InvalidObject) {
            Code::InvalidObject
        } else if has(Code::Unschedulable) || self.list.is_empty() {
            Code::Unschedulable
        } else {
            Code::UnschedulableAndUnresolvable
        }
    }

    /// For people: `0/50 nodes are available: 37 cannot allocate all claims, 13 ...`. Each text of a status is counted apart.
    pub fn sentence(&self, nodes: usize) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for refusal in &self.list {
            for reason in &refusal.status.reasons {
                match counts.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, count)) => *count += refusal.count,
                    None => counts.push((reason, refusal.count)),
                }
            }
        }
        counts.sort_by(|(a, m), (b, n)| n.cmp(m).then(a.cmp(b)));
        let parts: Vec<String> = counts
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        match parts.is_empty() {
            true => format!("0/{nodes} nodes are available"),
            false => format!("0/{nodes} nodes are available: {}", parts.join(", ")),
        }
    }

    fn entry(&mut self, plugin: &str, status: &Status) -> &mut Refusal {
        // Neighbouring nodes mostly give the same answer, and then nothing has to be allocated.
        let last = self.last.filter(|&last| {
            self.list[last].plugin.as_ref() == plugin && self.list[last].status == *status
        });
        let index = last.unwrap_or_else(|| {
            let key = (Arc::from(plugin), status.clone());
            let next = self.list.len();
            let index = *self.index.entry(key.clone()).or_insert(next);
            if index == next {
                let (plugin, status) = key;
                self.list.push(Refusal {
                    plugin,
                    status,
                    count: 0,
                    nodes: Vec::new(),
                });
            }
            index
        });
        self.last = Some(index);
        &mut self.list[index]
    }
}
