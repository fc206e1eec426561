//! Binding instances and their calls, which can be suspended at every import.
//!
//! A call is a future that owns its instance and gives it back with the result. Nobody wakes it: the host's loop polls it
//! when the import that it waits for may take effect.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use wasmtime::Store;
use wasmtime::component::{InstancePre, Linker};

use super::contract::suspendable_exports::{binding, lifecycle};
use super::convert;
use super::failure;
use super::instance::{Call, begin, new_store, start_error};
use super::state::{Phase, Shared, State};
use crate::plugin::{
    BindingCall, BindingRun, Fault, PluginError, Progress, SharedServices, Status, Step, Suspension,
};

/// Idle instances that are kept for later calls.
const IDLE: usize = 16;

/// What binding instances are made of.
pub(super) struct BindingPre {
    pub pre: InstancePre<State>,
    pub lifecycle: lifecycle::GuestIndices,
    pub binding: binding::GuestIndices,
}

impl BindingPre {
    pub fn new(
        linker: &Linker<State>,
        component: &wasmtime::component::Component,
    ) -> wasmtime::Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        Ok(Self {
            lifecycle: lifecycle::GuestIndices::new(&pre)?,
            binding: binding::GuestIndices::new(&pre)?,
            pre,
        })
    }
}

/// Instances that wait for work, the last one used on top.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<BindingInstance>>);

impl Pool {
    /// An idle instance that works on these services.
    pub fn take(&self, services: &SharedServices) -> Option<BindingInstance> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = idle
            .iter()
            .rposition(|instance| Arc::ptr_eq(&instance.store.data().services, services))?;
        Some(idle.remove(at))
    }

    fn give_back(&self, instance: BindingInstance) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= IDLE {
            idle.remove(0);
        }
        idle.push(instance);
    }

    /// Drops all idle instances.
    pub fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

/// A configured instance that exports `binding`.
pub(super) struct BindingInstance {
    store: Store<State>,
    binding: binding::Guest,
}

impl BindingInstance {
    /// Makes and configures an instance. Imports do not suspend it yet.
    pub fn start(
        shared: &Arc<Shared>,
        services: &SharedServices,
        made_of: &BindingPre,
        config: &[u8],
    ) -> Result<Self, PluginError> {
        let call = Call::new("instantiate", Phase::Start, "");
        let mut store = new_store(shared, services, made_of.pre.engine(), call);
        let made = at_once(async {
            let instance = made_of.pre.instantiate_async(&mut store).await?;
            let lifecycle = made_of.lifecycle.load(&mut store, &instance)?;
            Ok((lifecycle, made_of.binding.load(&mut store, &instance)?))
        });
        let (lifecycle, binding) = made.map_err(|error| start_error(&error, call, &mut store))?;

        let call = Call {
            name: "configure",
            ..call
        };
        begin(&mut store, call);
        let configured = at_once(lifecycle.call_configure(&mut store, config));
        match configured {
            Ok(Ok(())) => {
                store.data_mut().end_call();
                Ok(Self { store, binding })
            }
            Ok(Err(reason)) => Err(failure::configuration_refused(&reason, store.data())),
            Err(error) => Err(failure::of_call(&error, call.name, store.data_mut())),
        }
    }

    async fn run(
        mut self,
        call: BindingCall,
    ) -> (Self, wasmtime::Result<Option<binding::Progress>>) {
        let counters = self.store.data().shared.counters.clone();
        let pod = counters.converting(|| convert::object(call.pod()));
        counters.objects_in(1, pod.json.len());
        let limits = Call::new(call.name(), Phase::Binding, &call.pod().id().uid);
        begin(&mut self.store, limits);
        let (binding, store) = (&self.binding, &mut self.store);
        let outcome = match &call {
            BindingCall::PreBind { node, plan, .. } => binding
                .call_pre_bind(store, &pod, node, &plan.to_vec())
                .await
                .map(Some),
            BindingCall::Unreserve { node, plan, .. } => {
                let plan = plan.as_ref().map(|plan| plan.to_vec());
                binding
                    .call_unreserve(store, &pod, node, plan.as_ref())
                    .await
                    .map(|()| None)
            }
            BindingCall::PostBind { node, plan, .. } => binding
                .call_post_bind(store, &pod, node, &plan.to_vec())
                .await
                .map(|()| None),
        };
        (self, outcome)
    }
}

/// Runs a future that does not wait for anything.
fn at_once<R>(future: impl Future<Output = wasmtime::Result<R>>) -> wasmtime::Result<R> {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(wasmtime::Error::msg(
            "an instance that is being started cannot wait",
        )),
    }
}

type Outcome = (BindingInstance, wasmtime::Result<Option<binding::Progress>>);

/// One call of `binding` on its way.
pub(super) struct Run {
    /// Absent once the call has ended.
    future: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    announcement: Arc<Mutex<Option<Suspension>>>,
    name: &'static str,
    shared: Arc<Shared>,
    pool: Weak<Pool>,
}

impl Run {
    pub fn new(instance: BindingInstance, call: BindingCall, pool: &Arc<Pool>) -> Self {
        let state = instance.store.data();
        Self {
            announcement: state.announcement.clone(),
            name: call.name(),
            shared: state.shared.clone(),
            pool: Arc::downgrade(pool),
            future: Some(Box::pin(instance.run(call))),
        }
    }

    fn error(&self, fault: Fault, cause: String) -> PluginError {
        PluginError {
            fault,
            plugin: self.shared.label(),
            call: self.name.to_owned(),
            cause,
        }
    }

    /// The call has ended: checks what it returned, and keeps the instance if nothing went wrong.
    fn finish(
        &mut self,
        (mut instance, outcome): Outcome,
    ) -> Result<Option<Progress>, PluginError> {
        self.future = None;
        let progress = outcome
            .map_err(|error| failure::of_call(&error, self.name, instance.store.data_mut()))?;
        let progress = progress.map(|progress| self.check(progress)).transpose()?;
        instance.store.data_mut().end_call();
        if let Some(pool) = self.pool.upgrade() {
            pool.give_back(instance);
        }
        Ok(progress)
    }

    fn check(&self, progress: binding::Progress) -> Result<Progress, PluginError> {
        let limit = self.shared.limits.output_bytes;
        let reasons: usize = progress.status.reasons.iter().map(String::len).sum();
        for (what, size) in [("plan", progress.plan.len()), ("statuses", reasons)] {
            if size > limit {
                return Err(self.error(
                    Fault::Output,
                    format!("returned {size} bytes of {what}, the limit is {limit}"),
                ));
            }
        }
        Ok(Progress {
            status: convert::status(progress.status),
            plan: progress.plan.into(),
        })
    }
}

impl BindingRun for Run {
    fn resume(&mut self) -> Step {
        let Some(future) = &mut self.future else {
            return Step::Done(Err(
                self.error(Fault::Contract, "the call has already ended".to_owned())
            ));
        };
        let begun = Instant::now();
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        self.shared.counters.export(begun.elapsed());
        match polled {
            Poll::Ready(outcome) => Step::Done(self.finish(outcome)),
            Poll::Pending => {
                let announced = self
                    .announcement
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .take();
                match announced {
                    Some(suspension) => Step::Suspended(suspension),
                    None => {
                        self.future = None;
                        Step::Done(Err(self.error(
                            Fault::Trap,
                            "the call waits for something that nobody started".to_owned(),
                        )))
                    }
                }
            }
        }
    }
}

/// The call of a plugin without `binding`: there is nothing to do.
pub(super) struct Nothing(pub Option<BindingCall>);

impl BindingRun for Nothing {
    fn resume(&mut self) -> Step {
        Step::Done(Ok(match self.0.take() {
            Some(BindingCall::PreBind { plan, .. }) => Some(Progress {
                status: Status::success(),
                plan,
            }),
            _ => None,
        }))
    }
}
