//! What a failed call is called: the fault by type, the cause for people.

use wasmtime::Trap;

use super::limits::Refusal;
use super::output::one_line;
use super::state::State;
use crate::plugin::{Fault, PluginError};

/// The error of a call that ended in `error`. Whatever the guest printed goes to the log first.
pub(super) fn of_call(error: &wasmtime::Error, call: &str, state: &mut State) -> PluginError {
    let (fault, mut cause) = classify(error, state.growth.refusal.as_ref());
    if let Some(words) = state.output.last_words() {
        cause = format!("{cause}; its last words: {words}");
    }
    state.flush_output();
    new(fault, call, cause, state)
}

/// An error of a call that returned, but not what it should have.
pub(super) fn new(fault: Fault, call: &str, cause: String, state: &State) -> PluginError {
    PluginError {
        fault,
        plugin: state.shared.label(),
        call: call.to_owned(),
        cause,
    }
}

/// The plugin says that its configuration is wrong.
pub(super) fn configuration_refused(reason: &str, state: &State) -> PluginError {
    let cause = format!("the configuration was refused: {}", one_line(reason, 1000));
    new(Fault::Start, "configure", cause, state)
}

fn classify(error: &wasmtime::Error, refusal: Option<&Refusal>) -> (Fault, String) {
    // The first refusal counts: what the guest did after it, for example an abort, is a consequence.
    if let Some(refusal) = refusal.or_else(|| error.downcast_ref()) {
        return (refusal.fault, refusal.cause.clone());
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => (Fault::Deadline, "ran past its deadline".to_owned()),
        Some(trap) => (
            Fault::Trap,
            format!(
                "trapped: {}",
                trap.to_string().trim_start_matches("wasm trap: ")
            ),
        ),
        // No trap of wasm: a value that is none of its type, more data than a call may move, a stub of WASI.
        None => (Fault::Contract, root_cause(error)),
    }
}

/// The first line of the innermost error: the layers around it are backtraces.
pub(super) fn root_cause(error: &wasmtime::Error) -> String {
    error
        .root_cause()
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// All layers of an error that came up before anything ran, the outermost first.
pub(super) fn whole_chain(error: &wasmtime::Error) -> String {
    let layers: Vec<String> = error
        .chain()
        .map(|layer| {
            layer
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    layers.join(": ")
}
