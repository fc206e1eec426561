//! A plugin that does what its configuration says.
//!
//! The configuration is a JSON string `CALL:DEED`, for example `"filter:loop"`, or several with commas: when that exported
//! function is entered, the deed is done ([`deeds`]). Without one it is a small, well-behaved plugin: it follows nodes and
//! things, accepts every node that it knows, reserves the thing `default/thing` if there is one, and writes it when the pod is
//! bound.
//!
//! `CALL-of-bomb` is the call for a pod named `bomb` only. `CALL-later` is the call in an instance that was made when the thing
//! `default/later` existed: a test can have the first instance behave and its successor not.

mod deeds;

use std::cell::{Cell, RefCell};

mod bindings {
    wit_bindgen::generate!({ path: "../../../wit", world: "explaining-plugin" });
}

use bindings::exports::kube_scheduler::plugin::{
    advice, binding, enqueue, explain, lifecycle, scheduling,
};
use bindings::kube_scheduler::plugin::types::{Code, Object, ObjectRef, Plan, Status};
use bindings::kube_scheduler::plugin::{api, clock, cluster, ledger};

use deeds::{deed, later};

/// Kind that this plugin reads and writes.
pub const THING: &str = "Thing.example.com";

thread_local! {
    static CONFIG: RefCell<Vec<(String, String)>> = RefCell::default();
    static STATE: RefCell<Known> = RefCell::default();
}

/// What the instance has read.
#[derive(Default)]
struct Known {
    nodes: Vec<Option<String>>,
    nodes_at: u64,
    things_at: u64,
    in_flight_at: u64,
    /// Whether `default/later` was there when the instance began to read.
    later: bool,
}

fn status(code: Code, reasons: Vec<String>) -> Status {
    Status { code, reasons }
}

fn success() -> Status {
    status(Code::Success, Vec::new())
}

impl Known {
    fn read(&mut self) {
        loop {
            let Ok(page) = cluster::changes("Node", self.nodes_at) else {
                return;
            };
            if page.reset {
                self.nodes.clear();
            }
            for change in page.changes {
                let (slot, name) = match change {
                    cluster::Change::Put(entry) => (entry.slot, Some(entry.object.id.name)),
                    cluster::Change::Deleted((slot, _)) => (slot, None),
                };
                let slot = slot as usize;
                if self.nodes.len() <= slot {
                    self.nodes.resize(slot + 1, None);
                }
                self.nodes[slot] = name;
            }
            self.nodes_at = page.until;
            if !page.more {
                break;
            }
        }
        if let Ok(page) = cluster::changes(THING, self.things_at) {
            self.things_at = page.until;
        }
        self.in_flight_at = ledger::in_flight_changes(self.in_flight_at).until;
    }
}

struct Plugin;
bindings::export!(Plugin with_types_in bindings);

impl lifecycle::Guest for Plugin {
    fn describe() -> lifecycle::Description {
        use lifecycle::{Access, Verb};
        let access = |kind: &str, verbs: Vec<Verb>| Access {
            kind: kind.into(),
            versions: vec!["v1".into()],
            read: true,
            verbs,
        };
        lifecycle::Description {
            name: "misbehaving".into(),
            version: "1.2.3".into(),
            points: [
                "pre-enqueue",
                "hints",
                "pre-filter",
                "filter",
                "post-filter",
                "pre-score",
                "score",
                "reserve",
                "pre-bind",
                "unreserve",
                "post-bind",
            ]
            .map(String::from)
            .into(),
            accesses: vec![
                access("Node", Vec::new()),
                access(THING, vec![Verb::Get, Verb::Update, Verb::UpdateStatus]),
            ],
        }
    }

    fn configure(config: Vec<u8>) -> Result<(), String> {
        let text = String::from_utf8(config).map_err(|_| "not UTF-8")?;
        let text = text.trim().trim_matches('"');
        let deeds = text.split(',').filter_map(|deed| deed.split_once(':'));
        CONFIG.set(
            deeds
                .map(|(call, what)| (call.into(), what.into()))
                .collect(),
        );
        if clock::now() > 0 {
            deed("start");
        }
        deed("configure").map_or(Ok(()), Err)
    }
}

impl enqueue::Guest for Plugin {
    fn events_to_register() -> Vec<enqueue::Interest> {
        deed("events-to-register");
        vec![enqueue::Interest {
            kind: THING.into(),
            actions: vec![enqueue::Action::Add],
            hinted: true,
        }]
    }

    fn pre_enqueue(_pod: Object) -> Status {
        deed("pre-enqueue").map_or_else(success, |said| status(Code::Unschedulable, vec![said]))
    }

    fn hints(_event: enqueue::Event, pods: Vec<Object>) -> Vec<Result<enqueue::Hint, String>> {
        match deed("hints").as_deref() {
            Some("miscount") => Vec::new(),
            Some(said) => pods.iter().map(|_| Err(said.to_owned())).collect(),
            None => pods.iter().map(|_| Ok(enqueue::Hint::Queue)).collect(),
        }
    }
}

/// A cycle of one pod.
struct Cycle {
    pod: String,
    name: String,
    filtered: Cell<usize>,
}

impl Drop for Cycle {
    fn drop(&mut self) {
        deed("end-cycle");
    }
}

impl scheduling::Guest for Plugin {
    type Cycle = Cycle;

    fn pre_filter(pod: Object, _at: u64) -> scheduling::Begun {
        let begins = STATE.with_borrow(|known| known.nodes_at == 0);
        if begins {
            let later = cluster::get(THING, "default", "later").is_ok();
            STATE.with_borrow_mut(|known| known.later = later);
        }
        let said = deed("pre-filter").or_else(|| later("pre-filter-later"));
        STATE.with_borrow_mut(|known| match said.as_deref() {
            Some("idle") => {}
            Some("read-once") if known.nodes_at > 0 => {}
            _ => known.read(),
        });
        let cycle = scheduling::Cycle::new(Cycle {
            pod: pod.id.uid,
            name: pod.id.name,
            filtered: Cell::new(0),
        });
        let scope = match said.filter(|said| said != "idle") {
            Some(said) => scheduling::Scope::Rejected(status(Code::Unschedulable, vec![said])),
            None => scheduling::Scope::AllNodes,
        };
        scheduling::Begun { cycle, scope }
    }
}

impl scheduling::GuestCycle for Cycle {
    fn filter(&self, nodes: Vec<u32>) -> scheduling::Answers {
        if self.name == "bomb" {
            deed("filter-of-bomb");
        }
        let said = deed("filter").or_else(|| later("filter-later"));
        self.filtered.set(self.filtered.get() + nodes.len());
        let known = |slot: &u32| {
            STATE.with_borrow(|known| known.nodes.get(*slot as usize).is_some_and(Option::is_some))
        };
        let mut verdicts: Vec<u32> = nodes
            .iter()
            .map(|slot| if known(slot) { 0 } else { 1 })
            .collect();
        match said.as_deref() {
            Some("miscount") => verdicts.push(0),
            Some("misindex") => verdicts.fill(u32::MAX),
            Some("refuse") => verdicts.fill(2),
            _ => {}
        }
        let many = said.as_deref() == Some("many-statuses");
        let refuses = said.as_deref() == Some("refuse");
        let unknown = status(
            Code::Error,
            vec![said.unwrap_or_else(|| "unknown node".into())],
        );
        let mut statuses = vec![success(), unknown];
        if refuses {
            statuses.push(status(Code::Unschedulable, vec!["not here".into()]));
        }
        if many {
            statuses.resize_with(2_000, success);
        }
        scheduling::Answers { verdicts, statuses }
    }

    fn post_filter(&self) -> scheduling::Nomination {
        let said = deed("post-filter");
        let status = said.map_or_else(
            || status(Code::Unschedulable, vec!["no".into()]),
            |said| status(Code::Error, vec![said]),
        );
        scheduling::Nomination {
            status,
            node: Some(u32::MAX),
        }
    }

    fn pre_score(&self, _nodes: Vec<u32>) -> Status {
        deed("pre-score").map_or_else(success, |said| status(Code::Error, vec![said]))
    }

    fn score(&self, nodes: Vec<u32>) -> Result<Vec<i64>, Status> {
        match deed("score").as_deref() {
            Some("miscount") => Ok(Vec::new()),
            Some(said) => Err(status(Code::Error, vec![said.into()])),
            None => Ok(nodes.iter().map(|node| i64::from(*node)).collect()),
        }
    }

    fn add_pod(&self, _pod: Object, _node: u32) -> Status {
        success()
    }

    fn remove_pod(&self, _pod: Object, _node: u32) -> Status {
        success()
    }

    fn fork(&self) -> scheduling::Cycle {
        scheduling::Cycle::new(Cycle {
            pod: self.pod.clone(),
            name: self.name.clone(),
            filtered: self.filtered.clone(),
        })
    }

    fn reserve(&self, node: u32) -> scheduling::Reserved {
        let said = deed("reserve");
        if let Some(said) = said.clone().filter(|said| said != "lie") {
            let plan = if said == "giant-plan" {
                vec![7; 2 << 20]
            } else {
                Vec::new()
            };
            return scheduling::Reserved {
                status: status(Code::Error, vec![said]),
                plan,
            };
        }
        if let Ok(thing) = cluster::get(THING, "default", "thing") {
            let entry = ledger::InFlight {
                target: thing.object.id,
                holder: self.pod.clone(),
                json: thing.object.json,
            };
            if let Err(error) = ledger::put_in_flight(&[entry]) {
                return scheduling::Reserved {
                    status: status(Code::Error, vec![error.message]),
                    plan: Vec::new(),
                };
            }
        }
        scheduling::Reserved {
            status: success(),
            plan: match said {
                Some(_) => b"plan of somebody else".into(),
                None => format!("plan of {} on {node}", self.pod).into_bytes(),
            },
        }
    }
}

impl binding::Guest for Plugin {
    fn pre_bind(pod: Object, _node: String, plan: Plan) -> binding::Progress {
        if let Some(said) = deed("pre-bind") {
            if said == "lie" {
                return binding::Progress {
                    status: success(),
                    plan: b"written".into(),
                };
            }
            let plan = if said == "giant-plan" {
                vec![7; 2 << 20]
            } else {
                plan
            };
            return binding::Progress {
                status: status(Code::Error, vec![said]),
                plan,
            };
        }
        let failed = |error: api::ApiError, plan| binding::Progress {
            status: status(Code::Error, vec![error.message]),
            plan,
        };
        if plan.starts_with(b"plan of ") && !plan[8..].starts_with(pod.id.uid.as_bytes()) {
            return binding::Progress {
                status: status(Code::Error, vec!["this is the plan of another pod".into()]),
                plan,
            };
        }
        let thing = match api::get(THING, "default", "thing") {
            Ok(thing) => thing,
            Err(error) => return failed(error, plan),
        };
        if clock::sleep(1_000_000).is_err() {
            return binding::Progress {
                status: status(Code::Error, vec!["no sleep".into()]),
                plan,
            };
        }
        let written = match api::update(&thing.json) {
            Ok(written) => written,
            Err(error) => return failed(error, plan),
        };
        if let Err(error) = ledger::assume(&written) {
            return failed(error, plan);
        }
        ledger::remove_in_flight(THING, &written.id.uid, false);
        binding::Progress {
            status: success(),
            plan: b"written".into(),
        }
    }

    fn unreserve(_pod: Object, _node: String, _plan: Option<Plan>) {
        deed("unreserve");
        if let Ok(thing) = cluster::get(THING, "default", "thing") {
            ledger::remove_in_flight(THING, &thing.object.id.uid, true);
            ledger::restore(THING, "default", "thing");
        }
    }

    fn post_bind(_pod: Object, _node: String, _plan: Plan) {
        deed("post-bind");
    }
}

impl explain::Guest for Plugin {
    fn explain(_pod: Object, _at: u64, nodes: Vec<String>) -> Vec<Vec<u8>> {
        deed("explain");
        nodes.into_iter().map(String::into_bytes).collect()
    }
}

impl advice::Guest for Plugin {
    fn lint(_at: u64) -> Vec<advice::Finding> {
        deed("lint");
        let object = ObjectRef {
            kind: THING.into(),
            namespace: "default".into(),
            name: "thing".into(),
            uid: "u".into(),
        };
        vec![advice::Finding {
            severity: advice::Severity::Hint,
            object,
            path: "spec".into(),
            message: "a thing".into(),
            remedy: String::new(),
        }]
    }

    fn devices(_at: u64) -> Vec<u8> {
        deed("devices");
        b"[]".into()
    }
}
