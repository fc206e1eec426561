//! What happens around the scheduler between two of its steps.

use std::collections::BTreeSet;

use dractl::api::{Fault, Operation};
use dractl::object::{Kind, Object};
use dractl::plugin::{ApiCall, ApiError, ApiErrorReason, Verb};
use serde_json::{Value, json};

use super::classic;
use super::run::Trace;
use super::world::{CLAIM, CONTEXT, POD, SLICE, World, list, of, stored, text};

/// Kinds whose events are delayed, dropped and exchanged.
const WATCHED: [&str; 5] = [CLAIM, CLAIM, POD, SLICE, CONTEXT];

/// Calls that are made to fail.
const OPERATIONS: [Operation; 10] = [
    Operation::Api(Verb::Update),
    Operation::Api(Verb::Update),
    Operation::Api(Verb::UpdateStatus),
    Operation::Api(Verb::UpdateStatus),
    Operation::Api(Verb::PatchStatus),
    Operation::Api(Verb::Get),
    Operation::Api(Verb::Create),
    Operation::Api(Verb::Apply),
    Operation::Api(Verb::Delete),
    Operation::Bind,
];

/// How they fail, and whether the server does what it was asked for.
const FAILURES: [(ApiErrorReason, bool); 8] = [
    (ApiErrorReason::Conflict, false),
    (ApiErrorReason::Conflict, false),
    (ApiErrorReason::NotFound, false),
    (ApiErrorReason::Timeout, false),
    (ApiErrorReason::Timeout, true),
    (ApiErrorReason::Other, false),
    (ApiErrorReason::Other, true),
    (ApiErrorReason::Forbidden, false),
];

/// Everything but the scheduler.
#[derive(Default)]
pub struct Chaos {
    /// Kinds of which an event was dropped: their informer has to list again.
    dropped: BTreeSet<Kind>,
}

impl Chaos {
    /// Something happens, or nothing.
    pub fn act(&mut self, world: &mut World, trace: Trace) {
        match world.rng.usize(..28) {
            0..=2 => hold(world, trace),
            3..=4 => release(world, trace),
            5 => self.drop_event(world, trace),
            6 => self.relist(world, trace),
            7 => exchange(world, trace),
            8..=11 => inject(world, trace),
            12..=13 => touch(world, trace),
            14 => delete_pod(world, trace),
            15 => _ = clean(world, trace),
            16..=17 => appear(world, trace),
            18..=19 if world.classic() => {
                let busy = classic::drive(&mut world.cluster());
                trace.say(|| format!("the driver acts: {busy}"));
            }
            _ => {}
        }
    }

    /// From now on nothing is lost, late or broken. What has not appeared yet does.
    pub fn settle(&mut self, world: &mut World, trace: Trace) {
        trace.say(|| "settles".into());
        world.cluster().api().heal();
        while !world.late.is_empty() {
            appear(world, trace);
        }
        for kind in WATCHED {
            world.cluster().api().watch().release(&Kind::new(kind));
        }
        for kind in std::mem::take(&mut self.dropped) {
            world.cluster().relist(&kind);
        }
    }

    fn drop_event(&mut self, world: &mut World, trace: Trace) {
        let kind = some_kind(world);
        let outstanding = world.cluster().api().watch().outstanding(&kind);
        if outstanding == 0 {
            return;
        }
        let number = world.rng.usize(..outstanding);
        let event = world.cluster().api().watch().lose(&kind, number);
        trace.say(|| match event {
            Some(event) => format!("lost: {:?} {}", event.what, event.object.id()),
            None => "nothing lost".into(),
        });
        self.dropped.insert(kind);
    }

    fn relist(&mut self, world: &mut World, trace: Trace) {
        let kind = match self.dropped.pop_first() {
            Some(kind) => kind,
            None => some_kind(world),
        };
        trace.say(|| format!("{kind} is listed again"));
        world.cluster().relist(&kind);
    }
}

fn some_kind(world: &mut World) -> Kind {
    Kind::new(WATCHED[world.rng.usize(..WATCHED.len())])
}

fn hold(world: &mut World, trace: Trace) {
    let kind = some_kind(world);
    trace.say(|| format!("events of {kind} are late"));
    world.cluster().api().watch().hold(&kind);
}

fn release(world: &mut World, trace: Trace) {
    let kind = some_kind(world);
    trace.say(|| format!("events of {kind} come"));
    world.cluster().api().watch().release(&kind);
}

/// Events of two objects change places; those of one object never do.
fn exchange(world: &mut World, trace: Trace) {
    let kind = some_kind(world);
    let names: Vec<_> = {
        let mut cluster = world.cluster();
        let events = cluster.api().watch().events(&kind);
        events.map(|event| event.object.id().name.clone()).collect()
    };
    if names.len() < 2 {
        return;
    }
    // Neighbours, so that no third event of one of the two lies between them.
    let first = world.rng.usize(..names.len() - 1);
    let [one, other] = [&names[first], &names[first + 1]];
    if one != other {
        trace.say(|| format!("events of {one} and {other} are exchanged"));
        world
            .cluster()
            .api()
            .watch()
            .exchange(&kind, first, first + 1);
    }
}

fn inject(world: &mut World, trace: Trace) {
    let operation = OPERATIONS[world.rng.usize(..OPERATIONS.len())];
    let (reason, after_effect) = FAILURES[world.rng.usize(..FAILURES.len())];
    let nth = world.rng.u32(1..=2);
    trace.say(|| {
        format!(
            "{operation:?} number {nth} from now fails: {reason:?}, but is done: {after_effect}"
        )
    });
    // The reservation was written and not heard of, or is not taken back.
    world.keeps |= after_effect || operation == Operation::Api(Verb::PatchStatus);
    let message = format!("injected {reason:?}");
    world.cluster().api().inject(Fault {
        operation: Some(operation),
        kind: None,
        nth,
        error: ApiError { reason, message },
        after_effect,
    });
}

/// Somebody writes a label of a claim: the next write with the old version is a conflict.
fn touch(world: &mut World, trace: Trace) {
    let claims = stored(&world.cluster(), CLAIM);
    if claims.is_empty() {
        return;
    }
    let claim = &claims[world.rng.usize(..claims.len())];
    let mut value = claim.value().clone();
    value["metadata"]["labels"] = json!({"touched": world.rng.u32(..).to_string()});
    trace.say(|| format!("{} gets a label", claim.id()));
    world.call(&ApiCall::Update { object: of(value) });
}

fn delete_pod(world: &mut World, trace: Trace) {
    let pods = stored(&world.cluster(), POD);
    // Not the last one, or there would be nothing left to look at.
    if pods.len() < 2 {
        return;
    }
    let pod = &pods[world.rng.usize(..pods.len())];
    trace.say(|| format!("{} is deleted", pod.id()));
    let target = pod.id().clone();
    world.call(&ApiCall::Delete { target });
}

/// The claim controller's part: pods that are gone have nothing reserved, and what nobody uses is deallocated.
/// Tells whether there was any.
pub fn clean(world: &mut World, trace: Trace) -> bool {
    let mut busy = false;
    let (pods, claims) = {
        let cluster = world.cluster();
        (stored(&cluster, POD), stored(&cluster, CLAIM))
    };
    for claim in claims {
        let consumers = list(claim.value(), "/status/reservedFor");
        let lives = |consumer: &&Value| {
            let uid = text(consumer, "uid");
            pods.iter().any(|pod| *pod.id().uid == *uid)
        };
        let left: Vec<Value> = consumers.iter().filter(lives).cloned().collect();
        if left.len() == consumers.len() {
            continue;
        }
        trace.say(|| {
            format!(
                "{} is left to {} of {} pods",
                claim.id(),
                left.len(),
                consumers.len()
            )
        });
        let idle = left.is_empty() && !classic::is_classic(claim.value());
        let mut value = claim.value().clone();
        value["status"]["reservedFor"] = left.into();
        if idle && let Some(status) = value["status"].as_object_mut() {
            status.shift_remove("allocation");
        }
        busy |= world.call(&ApiCall::UpdateStatus { object: of(value) });
    }
    busy
}

/// An object that was not there from the start.
fn appear(world: &mut World, trace: Trace) {
    if world.late.is_empty() {
        return;
    }
    let number = world.rng.usize(..world.late.len());
    let object: Object = world.late.swap_remove(number);
    trace.say(|| format!("{} appears", object.id()));
    world.cluster().load(vec![object]);
}
