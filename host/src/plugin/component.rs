//! A loaded component as a [`Plugin`]: one immutable set of compiled code from which instances are made.

use std::sync::Arc;

use wasmtime::component::InstancePre;

use super::binding::{BindingInstance, BindingPre, Nothing, Pool, Run};
use super::instance::{Indices, Live};
use super::limits::Limits;
use super::scheduling::Scheduling;
use super::state::{Shared, State};
use super::stats::Counted;
use crate::plugin::{
    BindingCall, BindingRun, CallStats, Description, Exports, Plugin, PluginError,
    SchedulingInstance, SharedServices,
};

/// What loading makes.
pub(super) struct Parts {
    pub shared: Arc<Shared>,
    pub pre: InstancePre<State>,
    pub indices: Indices,
    pub binding: Option<BindingPre>,
    pub config: Vec<u8>,
    pub _counted: Counted,
}

/// A plugin that is a component. Cheap to clone; the code is freed with the last clone and the last instance.
#[derive(Clone)]
pub struct Component {
    parts: Arc<Parts>,
    pool: Arc<Pool>,
}

impl Component {
    pub(super) fn new(parts: Parts) -> Self {
        Self {
            parts: Arc::new(parts),
            pool: Arc::default(),
        }
    }

    /// How many instances exist now: scheduling, binding, and idle ones.
    pub fn live_instances(&self) -> u64 {
        self.parts.shared.counters.live_instances()
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.parts.shared.limits
    }

    pub(super) fn start(&self, services: &SharedServices) -> Result<Scheduling, PluginError> {
        let Parts {
            shared,
            pre,
            indices,
            config,
            ..
        } = &*self.parts;
        let mut live = Live::new(shared, services, pre, indices)?;
        live.configure(config)?;
        Ok(Scheduling::new(live))
    }
}

impl Plugin for Component {
    fn description(&self) -> &Description {
        &self.parts.shared.description
    }

    fn exports(&self) -> Exports {
        let Indices {
            enqueue,
            waiting,
            explain,
            advice,
            ..
        } = &self.parts.indices;
        Exports {
            enqueue: enqueue.is_some(),
            waiting: waiting.is_some(),
            binding: self.parts.binding.is_some(),
            explain: explain.is_some(),
            advice: advice.is_some(),
        }
    }

    fn scheduling(
        &self,
        services: SharedServices,
    ) -> Result<Box<dyn SchedulingInstance>, PluginError> {
        Ok(Box::new(self.start(&services)?))
    }

    fn binding(
        &self,
        services: SharedServices,
        call: BindingCall,
    ) -> Result<Box<dyn BindingRun>, PluginError> {
        let Parts {
            shared,
            binding,
            config,
            ..
        } = &*self.parts;
        let Some(binding) = binding else {
            return Ok(Box::new(Nothing(Some(call))));
        };
        let instance = match self.pool.take(&services) {
            Some(idle) => idle,
            None => BindingInstance::start(shared, &services, binding, config)?,
        };
        Ok(Box::new(Run::new(instance, call, &self.pool)))
    }

    fn drop_idle(&self) {
        self.pool.clear();
    }

    fn stats(&self) -> CallStats {
        self.parts.shared.counters.snapshot()
    }
}
