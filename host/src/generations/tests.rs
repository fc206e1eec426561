//! What a swap does to pods on their way, driven through the scheduler with scripted plugins.

mod candidate;
mod drain;
mod health;

use std::sync::{Arc, Mutex};

use super::*;
use crate::cluster::{Cluster, Settings as ClusterSettings};
use crate::object::Object;
use crate::plugin::{Code, Scope, Services, Status};
use crate::scheduler::chooser::{OneAtATime, Task};
use crate::scheduler::fake::{Act, Fake, Script, cycles_first, node, pod, thing, trap};
use crate::scheduler::outcome::Ended;
use crate::scheduler::{Scheduler, Settings};

struct Bench {
    cluster: Arc<Mutex<Cluster>>,
    scheduler: Scheduler,
}

fn version(number: &str, script: Script) -> Rc<Fake> {
    let mut fake = Fake::new(script);
    fake.description.version = number.to_owned();
    Rc::new(fake)
}

fn first() -> Rc<Fake> {
    version("1", Script::default())
}

fn bench(plugin: Rc<Fake>, objects: Vec<Object>, policy: Policy) -> Bench {
    let mut cluster = Cluster::new(ClusterSettings {
        start: 0,
        ..ClusterSettings::default()
    });
    cluster.load(objects);
    let cluster = Arc::new(Mutex::new(cluster));
    let settings = Settings {
        policy,
        ..Settings::default()
    };
    let scheduler = Scheduler::new(cluster.clone(), plugin, settings).unwrap();
    Bench { cluster, scheduler }
}

impl Bench {
    fn run(&mut self) {
        self.scheduler.run(&mut OneAtATime);
    }

    fn add(&mut self, objects: Vec<Object>) {
        self.cluster.lock().unwrap().load(objects);
        self.run();
    }

    fn now(&self) -> u64 {
        self.cluster.lock().unwrap().clock()
    }

    fn wait(&mut self, nanoseconds: u64) {
        let until = self.now() + nanoseconds;
        self.cluster.lock().unwrap().advance_to(until);
        self.run();
    }

    /// Pods that have a node.
    fn bound(&self) -> Vec<String> {
        let outcomes = self.scheduler.outcomes();
        let bound = outcomes
            .iter()
            .filter(|outcome| matches!(outcome.ended, Ended::Bound { .. }));
        bound
            .map(|outcome| outcome.pod.id().name.to_string())
            .collect()
    }

    fn in_flight(&self) -> usize {
        self.cluster.lock().unwrap().in_flight().count()
    }

    /// What happened, a word each with the numbers of the generations.
    fn notices(&mut self) -> Vec<String> {
        let notices = self.scheduler.take_notices();
        notices.iter().map(word).collect()
    }
}

fn word(notice: &Notice) -> String {
    match notice {
        Notice::Checking(label) => format!("checking {}", label.number),
        Notice::Differs { candidate, .. } => format!("differs {}", candidate.number),
        Notice::Refused { candidate, .. } => format!("refused {}", candidate.number),
        Notice::Switched { from, to } => format!("switched {} {}", from.number, to.number),
        Notice::RolledBack { from, to, .. } => format!("rolled back {} {}", from.number, to.number),
        Notice::Failed { generation, .. } => format!("failed {}", generation.number),
        Notice::Resting {
            generation, until, ..
        } => format!("resting {} {until}", generation.number),
        Notice::Expired { generation, pods } => {
            format!("expired {} {}", generation.number, pods.join(" "))
        }
        Notice::Freed(label) => format!("freed {}", label.number),
    }
}

fn check(cycles: u32) -> SelfCheck {
    SelfCheck {
        cycles,
        ..SelfCheck::default()
    }
}

/// Reserves a thing, as an allocation in flight.
fn reserving() -> Script {
    Script {
        reserve: Box::new(|pod, _, services| {
            let thing = thing("t");
            let entry = crate::plugin::InFlight {
                target: thing.id().clone(),
                holder: pod.id().uid.to_string(),
                json: Arc::from(thing.value().to_string().as_bytes()),
            };
            services.put_in_flight(&pod.id().uid, vec![entry]).unwrap();
            Ok(Status::success())
        }),
        binding: Box::new(|call| {
            let (holder, thing) = (call.pod().id().uid.to_string(), thing("t"));
            let give_back = move |services: &mut dyn Services| {
                services.remove_in_flight(&holder, &thing.id().kind, &thing.id().uid, true);
            };
            (vec![Act::State(Box::new(give_back))], Ok(Status::success()))
        }),
        ..Script::default()
    }
}

fn refusing() -> Script {
    Script {
        filter: Box::new(|_| Ok(Status::new(Code::Unschedulable, "no"))),
        ..Script::default()
    }
}

fn dying() -> Script {
    Script {
        filter: Box::new(|_| Err(trap("filter"))),
        ..Script::default()
    }
}
