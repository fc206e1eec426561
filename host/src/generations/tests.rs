//! What a swap does to pods on their way, driven through the scheduler with scripted plugins.

use std::sync::{Arc, Mutex};

use super::*;
use crate::cluster::{Cluster, Settings as ClusterSettings};
use crate::object::Object;
use crate::plugin::{Code, Scope, Services, Status};
use crate::scheduler::chooser::{OneAtATime, Task};
use crate::scheduler::fake::{Act, Fake, Script, node, pod, thing, trap};
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

#[test]
fn a_version_that_answers_alike_serves_after_its_cycles_and_wrote_nothing_before() {
    let mut bench = bench(
        version("1", reserving()),
        vec![node("n"), thing("t")],
        Policy::default(),
    );
    let second = version("2", reserving());
    bench.scheduler.propose(second.clone(), check(2)).unwrap();
    bench.add(vec![pod("a")]);
    assert!(second.calls().contains(&"reserve 0".to_owned()));
    assert_eq!(bench.notices(), ["checking 2"]);
    assert_eq!(bench.in_flight(), 0);
    bench.add(vec![pod("b")]);
    assert_eq!(bench.notices(), ["switched 1 2"]);
    assert_eq!(bench.scheduler.active().plugin, "Fake 2");
    // Its bindings were the old one's business so far.
    assert!(
        !second
            .calls()
            .iter()
            .any(|call| call.starts_with("pre-bind"))
    );
    bench.add(vec![pod("c")]);
    assert!(
        second
            .calls()
            .contains(&"pre-bind c plan of reserve".to_owned())
    );
    assert_eq!(bench.bound(), ["a", "b", "c"]);
    assert_eq!(bench.in_flight(), 0);
}

#[test]
fn a_version_that_decides_otherwise_is_refused_unless_that_is_wanted() {
    for (script, how) in [
        (refusing(), "instead of a place on n"),
        (
            Script {
                scope: Box::new(|_| Ok(Scope::Skip)),
                ..Script::default()
            },
            "",
        ),
        (reserving(), "allocates"),
    ] {
        let (mut accept, mut refuse) = (Vec::new(), Vec::new());
        let shared = version("2", script);
        for (accept_changes, told) in [(false, &mut refuse), (true, &mut accept)] {
            let objects = vec![node("n"), thing("t")];
            let mut bench = bench(first(), objects, Policy::default());
            let wanted = SelfCheck {
                accept_changes,
                ..check(1)
            };
            bench.scheduler.propose(shared.clone(), wanted).unwrap();
            bench.add(vec![pod("a")]);
            assert_eq!(bench.bound(), ["a"]);
            *told = bench.scheduler.take_notices();
        }
        let words = |notices: &[Notice]| notices.iter().map(word).collect::<Vec<_>>();
        if how.is_empty() {
            // The same decision by another way is no difference.
            assert_eq!(words(&refuse), ["checking 2", "switched 1 2"]);
            continue;
        }
        assert_eq!(words(&refuse), ["checking 2", "differs 2", "refused 2"]);
        assert!(refuse[1].to_string().contains(how), "{}", refuse[1]);
        assert_eq!(words(&accept), ["checking 2", "differs 2", "switched 1 2"]);
    }
}

#[test]
fn a_version_that_fails_in_its_trial_is_refused_and_costs_no_pod() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench
        .scheduler
        .propose(version("2", dying()), check(5))
        .unwrap();
    bench.add(vec![pod("a")]);
    assert_eq!(bench.notices(), ["checking 2", "refused 2"]);
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.scheduler.outcomes()[0].attempts, 1);
}

#[test]
fn a_quiet_cluster_does_not_keep_a_version_out() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench.scheduler.propose(first(), check(5)).unwrap();
    bench.wait(SelfCheck::default().longest - 1);
    assert_eq!(bench.notices(), ["checking 2"]);
    bench.wait(1);
    assert_eq!(bench.notices(), ["switched 1 2"]);
}

#[test]
fn a_version_that_cannot_start_or_serves_less_changes_nothing() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    let broken = version(
        "2",
        Script {
            scope: Box::new(|_| Err(trap("pre-filter"))),
            ..Script::default()
        },
    );
    let error = bench.scheduler.swap(broken).unwrap_err();
    assert_eq!(error, trap("pre-filter"));
    let mut lesser = Fake::new(Script::default());
    lesser.description.points.retain(|point| point != "reserve");
    let error = bench
        .scheduler
        .propose(Rc::new(lesser), check(1))
        .unwrap_err();
    assert_eq!(
        error.cause,
        "it leaves out reserve, which the active version serves"
    );
    assert_eq!(bench.notices(), ["refused 2", "refused 3"]);
    assert_eq!(bench.scheduler.active().number, 1);
    bench.add(vec![pod("a")]);
    assert_eq!(bench.bound(), ["a"]);
}

#[test]
fn a_failure_on_probation_brings_the_old_version_back_and_the_pod_gets_its_node() {
    let mut bench = bench(first(), vec![node("n")], Policy::default());
    bench.scheduler.swap(version("2", dying())).unwrap();
    bench.add(vec![pod("a")]);
    assert_eq!(
        bench.notices(),
        ["switched 1 2", "failed 2", "rolled back 2 1", "freed 2"]
    );
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.scheduler.outcomes()[0].attempts, 2);
}

#[test]
fn a_version_that_has_proved_itself_stays_and_the_old_one_is_freed() {
    let policy = Policy {
        probation_cycles: 2,
        ..Policy::default()
    };
    let mut bench = bench(first(), vec![node("n")], policy);
    let dies_for_c = Script {
        filter: Box::new(|(pod, _)| match pod.id().name.as_ref() {
            "c" => Err(trap("filter")),
            _ => Ok(Status::success()),
        }),
        ..Script::default()
    };
    bench.scheduler.swap(version("2", dies_for_c)).unwrap();
    bench.add(vec![pod("a"), pod("b")]);
    assert_eq!(bench.notices(), ["switched 1 2", "freed 1"]);
    bench.add(vec![pod("c"), pod("d")]);
    // Twice, since d changed the cluster.
    assert_eq!(bench.notices(), ["failed 2", "failed 2"]);
    assert_eq!(bench.bound(), ["a", "b", "d"]);
}

#[test]
fn many_failures_in_a_row_are_followed_by_rests_that_double() {
    let policy = Policy {
        restarts: 2,
        first_rest: SECOND,
        longest_rest: 3 * SECOND,
        ..Policy::default()
    };
    let dies_for_most = Script {
        filter: Box::new(|(pod, _)| match pod.id().name.as_ref() {
            "f" => Ok(Status::success()),
            _ => Err(trap("filter")),
        }),
        ..Script::default()
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut objects = vec![node("n")];
    objects.extend(names.map(pod));
    let mut bench = bench(version("1", dies_for_most), objects, policy);
    bench.run();
    let resting: Vec<String> = bench
        .notices()
        .into_iter()
        .filter(|notice| notice.starts_with("resting"))
        .collect();
    // Two failures are free; then 1 s, 2 s, and 3 s instead of 4.
    let rests = [SECOND, 3 * SECOND, 6 * SECOND].map(|until| format!("resting 1 {until}"));
    assert_eq!(resting[..3], rests);
    assert_eq!(bench.bound(), ["f"]);
}

#[test]
fn a_plugin_that_rests_is_not_started_for_gates_and_hints_either() {
    let policy = Policy {
        restarts: 1,
        first_rest: SECOND,
        longest_rest: SECOND,
        ..Policy::default()
    };
    let dies_at_the_gate = Script {
        pre_enqueue: Box::new(|pod| match pod.id().name.as_ref() {
            "z" => Ok(Status::success()),
            _ => Err(trap("pre-enqueue")),
        }),
        interests: vec![crate::plugin::Interest {
            kind: thing("t").id().kind.clone(),
            actions: vec![crate::plugin::Action::Add],
            hinted: true,
        }],
        ..Script::default()
    };
    let plugin = version("1", dies_at_the_gate);
    let instances = |plugin: &Fake| {
        let calls = plugin.calls();
        calls.iter().filter(|call| *call == "instance").count()
    };
    let mut bench = bench(plugin.clone(), vec![node("n")], policy);
    // One to ask for events; one failure is free, and with the second the rest begins.
    bench
        .cluster
        .lock()
        .unwrap()
        .load(["a", "b", "c", "z"].map(pod).into());
    let mut none = |_: &[Task]| 0;
    bench.scheduler.step(&mut none);
    assert_eq!(bench.now(), SECOND, "it waited for the end of the rest");
    // `c` was asked then, and killed the third.
    assert_eq!(instances(&plugin), 3);
    // Events and more pods start nothing.
    bench
        .cluster
        .lock()
        .unwrap()
        .load(vec![thing("t"), pod("d")]);
    let before = instances(&plugin);
    bench.scheduler.step(&mut none);
    assert!(instances(&plugin) <= before + 1, "{:?}", plugin.calls());
    bench.run();
    // One start for each that kills it, one after the other, and the last pod gets its node.
    assert_eq!(bench.bound(), ["z"]);
    assert!(instances(&plugin) <= 10, "{:?}", plugin.calls());
    let told = bench.scheduler.outcomes();
    assert!(told.len() == 5, "{told:?}");
    let notices = bench.scheduler.take_notices();
    let resting = notices
        .iter()
        .find(|notice| matches!(notice, Notice::Resting { .. }));
    assert_eq!(
        resting.map(ToString::to_string).as_deref(),
        Some("generation 1 (Fake 1) failed too often, no pod is tried for 1 s")
    );
}

#[test]
fn a_plan_is_never_given_to_another_version() {
    let mut bench = bench(first(), vec![node("n"), pod("a")], Policy::default());
    // One cycle, and nothing of its binding.
    let mut cycles_first = |tasks: &[Task]| {
        let cycle = tasks.iter().position(|task| *task == Task::Cycle);
        cycle.unwrap_or_default()
    };
    bench.scheduler.step(&mut cycles_first);
    let second = first();
    bench.scheduler.swap(second.clone()).unwrap();
    bench.run();
    assert_eq!(bench.bound(), ["a"]);
    assert!(!second.calls().iter().any(|call| call.contains("bind")));
}

/// Never ends in this binding call.
fn stuck_in(name: &'static str) -> Script {
    Script {
        binding: Box::new(move |call| match call.name() {
            called if called == name => (vec![Act::Sleep(u64::MAX)], Ok(Status::success())),
            "pre-bind" => (Vec::new(), Ok(Status::new(Code::Error, "no"))),
            _ => (Vec::new(), Ok(Status::success())),
        }),
        ..reserving()
    }
}

#[test]
fn what_an_old_version_does_not_finish_is_undone_by_it_and_done_by_the_new_one() {
    let old = version("1", stuck_in("pre-bind"));
    let mut bench = bench(
        old.clone(),
        vec![node("n"), thing("t"), pod("a")],
        Policy::default(),
    );
    let mut chooser = OneAtATime;
    bench.scheduler.step(&mut chooser);
    bench.scheduler.step(&mut chooser);
    assert_eq!(bench.in_flight(), 1);
    bench.scheduler.swap(version("2", reserving())).unwrap();
    bench.run();
    assert!(
        old.calls()
            .contains(&"unreserve a plan of reserve".to_owned())
    );
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.in_flight(), 0);
    assert!(bench.now() >= Policy::default().drain);
    let notices = bench.notices();
    assert!(
        notices.contains(&"expired 1 ns/a".to_owned()),
        "{notices:?}"
    );
}

#[test]
fn an_undoing_that_does_not_end_is_cut_off_and_the_host_cleans_up() {
    let old = version("1", stuck_in("unreserve"));
    let mut bench = bench(
        old.clone(),
        vec![node("n"), thing("t"), pod("a")],
        Policy::default(),
    );
    let mut chooser = OneAtATime;
    for _ in 0..3 {
        bench.scheduler.step(&mut chooser);
    }
    bench.scheduler.swap(version("2", reserving())).unwrap();
    bench.run();
    assert_eq!(bench.bound(), ["a"]);
    assert_eq!(bench.in_flight(), 0);
    let undone = old
        .calls()
        .iter()
        .filter(|call| call.starts_with("unreserve"))
        .count();
    assert_eq!(undone, 2, "once, and once more on a fresh instance");
}

#[test]
fn fifty_swaps_leave_nothing_behind() {
    let policy = Policy {
        probation_cycles: 1,
        ..Policy::default()
    };
    let mut bench = bench(first(), vec![node("n")], policy);
    let mut versions = Vec::new();
    for number in 0..50 {
        let next = first();
        versions.push(Rc::downgrade(&next));
        bench.scheduler.swap(next).unwrap();
        bench.add(vec![pod(&format!("p{number}"))]);
    }
    bench.run();
    let alive = versions
        .iter()
        .filter(|version| version.strong_count() > 0)
        .count();
    assert_eq!(alive, 1);
    assert_eq!(bench.bound().len(), 50);
}
