//! Lets pods onto nodes that carry a label, and nowhere else.
//!
//! The configuration is a JSON string, the label's name: `"example.com/ready"`. It follows the kind `Node`, keeps of each node
//! only whether it carries the label, and answers Filter from that.

use std::cell::RefCell;

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "plugin" });
}

use bindings::exports::kube_scheduler::plugin::{lifecycle, scheduling};
use bindings::kube_scheduler::plugin::cluster;
use bindings::kube_scheduler::plugin::types::{Code, Object, Status};

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Cache only: the host may drop the instance at any time, and another one reads everything again.
#[derive(Default)]
struct State {
    label: String,
    /// By slot; absent for slots without a node.
    ready: Vec<Option<bool>>,
    revision: u64,
}

impl State {
    /// Reads what has changed.
    fn catch_up(&mut self) {
        while let Ok(page) = cluster::changes("Node", self.revision) {
            if page.reset {
                self.ready.clear();
            }
            for change in page.changes {
                let (slot, ready) = match change {
                    cluster::Change::Put(entry) => {
                        (entry.slot, Some(has_label(&entry.object.json, &self.label)))
                    }
                    cluster::Change::Deleted((slot, _)) => (slot, None),
                };
                let slot = slot as usize;
                if self.ready.len() <= slot {
                    self.ready.resize(slot + 1, None);
                }
                self.ready[slot] = ready;
            }
            self.revision = page.until;
            if !page.more {
                return;
            }
        }
    }

    fn verdict(&self, slot: u32) -> u32 {
        match self.ready.get(slot as usize).copied().flatten() {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        }
    }
}

/// Whether the text `"NAME":` stands in the node. A real plugin would parse the JSON.
fn has_label(json: &[u8], label: &str) -> bool {
    let wanted = format!("\"{label}\":");
    json.windows(wanted.len())
        .any(|window| window == wanted.as_bytes())
}

fn status(code: Code, reason: &str) -> Status {
    let reasons = match reason {
        "" => Vec::new(),
        reason => vec![reason.to_owned()],
    };
    Status { code, reasons }
}

struct Plugin;
bindings::export!(Plugin with_types_in bindings);

impl lifecycle::Guest for Plugin {
    fn describe() -> lifecycle::Description {
        lifecycle::Description {
            name: "NodeLabel".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            points: vec!["filter".into()],
            accesses: vec![lifecycle::Access {
                kind: "Node".into(),
                versions: vec!["v1".into()],
                read: true,
                verbs: Vec::new(),
            }],
        }
    }

    fn configure(config: Vec<u8>) -> Result<(), String> {
        let text = String::from_utf8(config).map_err(|error| error.to_string())?;
        let label = text
            .trim()
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let label = label
            .ok_or_else(|| format!("the configuration is a label's name in quotes, not {text}"))?;
        STATE.with_borrow_mut(|state| state.label = label.to_owned());
        Ok(())
    }
}

impl scheduling::Guest for Plugin {
    type Cycle = Cycle;

    fn pre_filter(_pod: Object, _at: u64) -> scheduling::Begun {
        STATE.with_borrow_mut(State::catch_up);
        scheduling::Begun {
            cycle: scheduling::Cycle::new(Cycle),
            scope: scheduling::Scope::AllNodes,
        }
    }
}

/// Nothing is remembered between the calls of a cycle.
struct Cycle;

impl scheduling::GuestCycle for Cycle {
    fn filter(&self, nodes: Vec<u32>) -> scheduling::Answers {
        let verdicts =
            STATE.with_borrow(|state| nodes.iter().map(|&slot| state.verdict(slot)).collect());
        let refusal = STATE.with_borrow(|state| format!("node(s) had no label {}", state.label));
        scheduling::Answers {
            verdicts,
            statuses: vec![
                status(Code::Success, ""),
                status(Code::UnschedulableAndUnresolvable, &refusal),
                status(Code::Error, "this node is unknown"),
            ],
        }
    }

    // A host does not make these calls, since `describe` leaves them out.

    fn post_filter(&self) -> scheduling::Nomination {
        scheduling::Nomination {
            status: status(Code::Unschedulable, ""),
            node: None,
        }
    }

    fn pre_score(&self, _nodes: Vec<u32>) -> Status {
        status(Code::Skip, "")
    }

    fn score(&self, nodes: Vec<u32>) -> Result<Vec<i64>, Status> {
        Ok(vec![0; nodes.len()])
    }

    fn add_pod(&self, _pod: Object, _node: u32) -> Status {
        status(Code::Success, "")
    }

    fn remove_pod(&self, _pod: Object, _node: u32) -> Status {
        status(Code::Success, "")
    }

    fn fork(&self) -> scheduling::Cycle {
        scheduling::Cycle::new(Cycle)
    }

    fn reserve(&self, _node: u32) -> scheduling::Reserved {
        scheduling::Reserved {
            status: status(Code::Success, ""),
            plan: Vec::new(),
        }
    }
}
