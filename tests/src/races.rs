//! Random interleavings: pods that share claims, with everything that may go wrong around a scheduler, from one seed per case.
//!
//! `RACES_SEED=123 cargo test --release races -- --nocapture` repeats a case and prints what happens in it;
//! `RACES_CASES=1000000` runs more. `restart` is systematic: the host is stopped between any two calls of the API.

mod chaos;
mod classic;
mod invariants;
mod restart;
mod run;
mod watched;
mod world;

use std::rc::Rc;

use dractl::plugin::Plugin;

use crate::conformance::plugin::component;
use crate::native::Native;
use run::{Ended, Trace};
use watched::{Mutation, Watched};

/// Cases in a normal test run.
const NATIVE_CASES: u64 = 100_000;
const COMPONENT_CASES: u64 = 1_000;
/// Parts that run at the same time.
const PARTS: u64 = 2;

/// What `configure` gets, by the number that a case has for it.
pub const CONFIGS: [&str; 4] = [
    r#"{"profile":"current"}"#,
    r#"{"profile":"1.31"}"#,
    r#"{"profile":"1.31","features":{"DRAControlPlaneController":true}}"#,
    r#"{"profile":"1.31","features":{"DRAControlPlaneController":true,"SchedulerQueueingHints":true}}"#,
];

/// One plugin per configuration.
type Plugins = [Rc<dyn Plugin>; CONFIGS.len()];

fn native() -> Plugins {
    CONFIGS.map(|config| Rc::new(Native::new(config)) as Rc<dyn Plugin>)
}

fn components() -> Plugins {
    CONFIGS.map(|config| Rc::new(component(config)) as Rc<dyn Plugin>)
}

fn given(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable}={text:?} is not a number")))
}

/// One case; `None`: nothing is tampered with.
fn case(
    plugins: &Plugins,
    seed: u64,
    mutation: Option<Mutation>,
    trace: Trace,
) -> Result<Ended, String> {
    let world = world::World::new(seed);
    let plugin = Rc::new(Watched::new(plugins[world.config].clone(), mutation));
    run::run(world, plugin, trace)
}

/// Runs the cases of one part, or repeats the one that was asked for.
fn cases(plugins: &Plugins, default: u64, part: u64, mut each: impl FnMut(u64, Ended)) {
    if let Some(seed) = given("RACES_SEED") {
        // One part is enough to show it.
        if part == 0
            && let Err(why) = case(plugins, seed, None, Trace::Printed)
        {
            panic!("seed {seed}: {why}");
        }
        return;
    }
    let count = given("RACES_CASES").unwrap_or(default);
    for seed in (part..count).step_by(PARTS as usize) {
        match case(plugins, seed, None, Trace::Off) {
            Ok(ended) => each(seed, ended),
            Err(why) => panic!(
                "seed {seed}: {why}\nRACES_SEED={seed} cargo test --release races -- --nocapture"
            ),
        }
    }
}

/// Cases say something only if what they are about happens in them.
#[derive(Default)]
struct Tally {
    cases: u64,
    bound: u64,
    attempts: u64,
    failed_calls: u64,
}

impl Tally {
    fn add(&mut self, ended: &Ended) {
        self.cases += 1;
        self.bound += ended.bound;
        self.attempts += ended.attempts;
        self.failed_calls += ended.failed_calls;
    }

    fn check(&self) {
        let Self {
            cases,
            bound,
            attempts,
            failed_calls,
        } = self;
        crate::conformance::say(&format!(
            "races: {cases} cases, {bound} pods bound in {attempts} attempts, {failed_calls} calls failed"
        ));
        if *cases >= 100 {
            assert!(bound * 10 > cases * 10, "hardly any pod is bound");
            assert!(attempts > bound, "no attempt is ever repeated");
            assert!(failed_calls * 2 > *cases, "hardly any call fails");
        }
    }
}

fn native_part(part: u64) {
    let mut tally = Tally::default();
    cases(&native(), NATIVE_CASES, part, |_, ended| tally.add(&ended));
    tally.check();
}

#[test]
fn races_native_even_seeds() {
    native_part(0);
}

#[test]
fn races_native_odd_seeds() {
    native_part(1);
}

/// The component goes the way of the native plugin, call by call: the same objects are there in the end.
#[test]
fn races_through_the_component() {
    let native = native();
    for part in 0..PARTS {
        let mut tally = Tally::default();
        cases(&components(), COMPONENT_CASES, part, |seed, ended| {
            tally.add(&ended);
            let natively =
                case(&native, seed, None, Trace::Off).unwrap_or_else(|why| panic!("{why}"));
            assert_eq!(ended, natively, "seed {seed}");
        });
        tally.check();
    }
}

/// Each protection taken away is noticed within so many cases.
#[test]
fn races_notice_what_is_broken() {
    const WITHIN: u64 = 20_000;
    if given("RACES_SEED").is_some() {
        return;
    }
    let native = native();
    for mutation in Mutation::ALL {
        let caught = (0..WITHIN).find_map(|seed| {
            let broken = case(&native, seed, Some(mutation), Trace::Off).err()?;
            Some(format!("seed {seed}: {broken}"))
        });
        match caught {
            Some(caught) => crate::conformance::say(&format!("races: {mutation:?}: {caught}")),
            None => panic!("{mutation:?} is not noticed in {WITHIN} cases"),
        }
    }
}
