//! What happens to the host when a plugin misbehaves: the call fails with a fault that is known by type, the instance is
//! gone, and a fresh one works.

mod binding;
mod faults;
mod instances;
mod permissions;

use std::sync::{Arc, Mutex};

use dractl::plugin::{
    BindingCall, BindingRun, Code, CycleId, Fault, Limits, LogLevel, Plugin, PluginError, Problem,
    Progress, SchedulingInstance, Scope, Settings, Step, Suspension, Verb,
};

use crate::fixture::{Double, MISBEHAVING, RUNTIME, misbehaving, pod, shared, tight};

/// Runs a whole cycle up to this call; the statuses that came back are joined.
fn cycle_until(instance: &mut dyn SchedulingInstance, call: &str) -> Result<String, PluginError> {
    let pod = pod("pod-uid");
    if call == "events-to-register" {
        return instance
            .events_to_register()
            .map(|interests| format!("{interests:?}"));
    }
    if call == "pre-enqueue" {
        return instance.pre_enqueue(&pod).map(|status| status.message());
    }
    let (cycle, scope) = instance.pre_filter(&pod, 0)?;
    let said = match call {
        "pre-filter" => format!("{scope:?}"),
        "filter" => format!("{:?}", instance.filter(cycle, &[9])?),
        "post-filter" => instance.post_filter(cycle)?.status.message(),
        "pre-score" => instance.pre_score(cycle, &[0])?.message(),
        "score" => format!("{:?}", instance.score(cycle, &[0])?),
        "reserve" => instance.reserve(cycle, 0)?.status.message(),
        other => panic!("no such call: {other}"),
    };
    instance.end_cycle(cycle)?;
    Ok(said)
}

/// Does the deed in the call, on a new instance.
fn provoke(call: &str, deed: &str) -> Result<String, PluginError> {
    let cluster = Double::with_one_of_each();
    let plugin = misbehaving(&format!("{call}:{deed}"), tight());
    let mut instance = plugin.scheduling(shared(&cluster))?;
    let outcome = cycle_until(&mut *instance, call);
    if let Err(error) = &outcome {
        assert_eq!(
            (error.plugin.as_str(), error.call.as_str()),
            ("misbehaving 1.2.3", call)
        );
        // The store is gone: nothing is called in it again, and its memory is given back.
        assert_eq!(plugin.live_instances(), 0, "{error}");
        assert!(
            cycle_until(&mut *instance, call)
                .is_err_and(|error| error.cause.contains("was dropped"))
        );
    }
    outcome
}

fn failure(call: &str, deed: &str) -> (Fault, String) {
    match provoke(call, deed) {
        Err(error) => (error.fault, error.cause),
        Ok(said) => panic!("{call}:{deed} went on and said {said}"),
    }
}

fn begun(instance: &mut dyn SchedulingInstance) -> CycleId {
    instance.pre_filter(&pod("pod-uid"), 2).unwrap().0
}

/// Resumes to the end.
fn finish(run: &mut dyn BindingRun) -> Result<Option<Progress>, PluginError> {
    loop {
        if let Step::Done(outcome) = run.resume() {
            return outcome;
        }
    }
}
