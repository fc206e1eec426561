//! Synchronous instances: made, configured, and called within limits. They serve scheduling cycles and everything else that
//! does not block.

use std::time::Instant;

use wasmtime::component::InstancePre;
use wasmtime::{Store, UpdateDeadline};

use super::contract::exports::{advice, enqueue, explain, lifecycle, scheduling, waiting};
use super::engine::ticks;
use super::failure;
use super::state::{Phase, Shared, State};
use crate::plugin::{Fault, PluginError, SharedServices};

use std::sync::Arc;

/// Where the functions of a component are, looked up once.
pub(super) struct Indices {
    pub lifecycle: lifecycle::GuestIndices,
    pub scheduling: scheduling::GuestIndices,
    pub enqueue: Option<enqueue::GuestIndices>,
    pub waiting: Option<waiting::GuestIndices>,
    pub explain: Option<explain::GuestIndices>,
    pub advice: Option<advice::GuestIndices>,
}

/// The typed functions of one instance.
pub(super) struct Functions {
    pub lifecycle: lifecycle::Guest,
    pub scheduling: scheduling::Guest,
    pub enqueue: Option<enqueue::Guest>,
    pub waiting: Option<waiting::Guest>,
    pub explain: Option<explain::Guest>,
    pub advice: Option<advice::Guest>,
}

/// A store and the one instance in it.
pub(super) struct Live {
    pub store: Store<State>,
    pub functions: Functions,
}

/// How one call is limited and what it may do.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    /// The contract's name.
    pub name: &'static str,
    pub phase: Phase,
    /// Uid of its pod, if it has one.
    pub pod: &'a str,
    /// Size of its batch.
    pub nodes: usize,
}

impl<'a> Call<'a> {
    /// A call without a batch.
    pub fn new(name: &'static str, phase: Phase, pod: &'a str) -> Self {
        Self {
            name,
            phase,
            pod,
            nodes: 0,
        }
    }

    /// What it may take, in ticks of the engine.
    pub fn budget(&self, shared: &Shared) -> u64 {
        let limits = &shared.limits;
        let milliseconds = match self.phase {
            Phase::Start => limits.start_milliseconds,
            _ => limits.call_milliseconds,
        };
        let batch = limits.node_microseconds.saturating_mul(self.nodes as u64);
        ticks(milliseconds.saturating_mul(1000).saturating_add(batch))
    }
}

impl Live {
    /// Makes an instance. Types are checked here, so that a mismatch names its interface.
    pub fn new(
        shared: &Arc<Shared>,
        services: &SharedServices,
        pre: &InstancePre<State>,
        indices: &Indices,
    ) -> Result<Self, PluginError> {
        let call = Call::new("instantiate", Phase::Start, "");
        let mut store = new_store(shared, services, pre.engine(), call);
        let functions = pre
            .instantiate(&mut store)
            .and_then(|instance| load(&mut store, &instance, indices));
        match functions {
            Ok(functions) => Ok(Self { store, functions }),
            Err(error) => Err(start_error(&error, call, &mut store)),
        }
    }

    /// `lifecycle.configure`.
    pub fn configure(&mut self, config: &[u8]) -> Result<(), PluginError> {
        let call = Call::new("configure", Phase::Start, "");
        let config = config.to_vec();
        let answer = self.call(call, |store, functions| {
            functions.lifecycle.call_configure(store, &config)
        })?;
        answer.map_err(|reason| failure::configuration_refused(&reason, self.store.data()))
    }

    /// Makes one call. After an error the instance must be dropped.
    pub fn call<R>(
        &mut self,
        call: Call,
        function: impl FnOnce(&mut Store<State>, &Functions) -> wasmtime::Result<R>,
    ) -> Result<R, PluginError> {
        let counters = self.store.data().shared.counters.clone();
        begin(&mut self.store, call);
        let begun = Instant::now();
        let outcome = function(&mut self.store, &self.functions);
        counters.export(begun.elapsed());
        match outcome {
            Ok(value) => {
                self.store.data_mut().end_call();
                Ok(value)
            }
            Err(error) => Err(failure::of_call(&error, call.name, self.store.data_mut())),
        }
    }
}

/// A store with its limits, ready to instantiate in.
pub(super) fn new_store(
    shared: &Arc<Shared>,
    services: &SharedServices,
    engine: &wasmtime::Engine,
    call: Call,
) -> Store<State> {
    let mut store = Store::new(engine, State::new(shared, services));
    store.limiter(|state| &mut state.growth);
    // The engine interrupts where the call was to end when it began; what it has read since may have moved that.
    store.epoch_deadline_callback(|store| {
        Ok(match store.data().ticks_left() {
            0 => UpdateDeadline::Interrupt,
            left => UpdateDeadline::Continue(left),
        })
    });
    begin(&mut store, call);
    store
}

/// Sets the limits of one call.
pub(super) fn begin(store: &mut Store<State>, call: Call) {
    let budget = call.budget(&store.data().shared);
    store.data_mut().begin_call(call.phase, call.pod, budget);
    store.set_epoch_deadline(budget);
}

/// The error of an instance that could not be made: a limit keeps its name, everything else is a failed start.
pub(super) fn start_error(
    error: &wasmtime::Error,
    call: Call,
    store: &mut Store<State>,
) -> PluginError {
    let mut failed = failure::of_call(error, call.name, store.data_mut());
    if matches!(failed.fault, Fault::Trap | Fault::Contract) {
        failed.fault = Fault::Start;
    }
    failed
}

fn load(
    store: &mut Store<State>,
    instance: &wasmtime::component::Instance,
    indices: &Indices,
) -> wasmtime::Result<Functions> {
    let context = |name: &'static str| {
        move |error: wasmtime::Error| {
            wasmtime::Error::msg(format!("interface {name}: {}", failure::root_cause(&error)))
        }
    };
    macro_rules! load {
        ($indices:expr, $name:expr) => {
            $indices
                .load(&mut *store, instance)
                .map_err(context($name))?
        };
    }
    // What the plugin does not export is not there.
    macro_rules! load_optional {
        ($indices:expr, $name:expr) => {
            match &$indices {
                Some(indices) => Some(load!(indices, $name)),
                None => None,
            }
        };
    }
    Ok(Functions {
        lifecycle: load!(indices.lifecycle, "lifecycle"),
        scheduling: load!(indices.scheduling, "scheduling"),
        enqueue: load_optional!(indices.enqueue, "enqueue"),
        waiting: load_optional!(indices.waiting, "waiting"),
        explain: load_optional!(indices.explain, "explain"),
        advice: load_optional!(indices.advice, "advice"),
    })
}
