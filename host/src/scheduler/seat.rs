//! The one scheduling instance of the active plugin version, replaced when it dies.

use std::rc::Rc;
use std::sync::Arc;

use crate::object::Object;
use crate::plugin::{
    Code, Description, Hint, LogLevel, ObjectEvent, Plugin, PluginError, SchedulingInstance,
    SharedServices, Status,
};
use crate::queue::interests::Interests;
use crate::queue::{Advisor, Gate};

use super::intake::scheduling_gates;
use super::native;

/// Holds the instance.
pub struct Seat {
    plugin: Rc<dyn Plugin>,
    services: SharedServices,
    instance: Option<Box<dyn SchedulingInstance>>,
}

impl Seat {
    /// Nothing is instantiated yet.
    pub fn new(plugin: Rc<dyn Plugin>, services: SharedServices) -> Self {
        Self {
            plugin,
            services,
            instance: None,
        }
    }

    /// The active version.
    pub fn plugin(&self) -> Rc<dyn Plugin> {
        self.plugin.clone()
    }

    /// What the active version says about itself.
    pub fn description(&self) -> &Description {
        self.plugin.description()
    }

    /// The instance; a fresh one if there is none.
    pub fn instance(&mut self) -> Result<&mut dyn SchedulingInstance, PluginError> {
        let instance = match self.instance.take() {
            Some(instance) => instance,
            None => self.plugin.scheduling(self.services.clone())?,
        };
        Ok(self.instance.insert(instance).as_mut())
    }

    /// The instance died.
    pub fn discard(&mut self) {
        self.instance = None;
    }

    /// Makes another version the active one, unless it cannot run.
    pub fn swap(&mut self, plugin: Rc<dyn Plugin>) -> Result<Interests, PluginError> {
        let mut next = Self::new(plugin, self.services.clone());
        let interests = next.interests()?;
        *self = next;
        Ok(interests)
    }

    /// Events that may help refused pods: the plugin's and those of the native filters.
    pub fn interests(&mut self) -> Result<Interests, PluginError> {
        let mut interests = Interests::new();
        native::register(&mut interests);
        let name = self.description().name.clone();
        let registered = self.call(|instance| instance.events_to_register())?;
        match self.plugin.exports().enqueue {
            true => interests.register(&name, registered),
            false => interests.register_everything(&name),
        }
        Ok(interests)
    }

    fn call<T>(
        &mut self,
        call: impl FnOnce(&mut dyn SchedulingInstance) -> Result<T, PluginError>,
    ) -> Result<T, PluginError> {
        let result = self.instance().and_then(call);
        if result.is_err() {
            self.discard();
        }
        result
    }

    fn log(&self, message: &str) {
        let mut services = self
            .services
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        services.log(LogLevel::Warn, "scheduler", message, &[]);
    }
}

impl Advisor for Seat {
    fn pre_enqueue(&mut self, pod: &Object) -> Result<(), Gate> {
        if let Some(status) = scheduling_gates(pod) {
            return Err(Gate {
                plugin: "SchedulingGates".into(),
                status,
            });
        }
        if !self.plugin.exports().enqueue || !self.description().has_point("pre-enqueue") {
            return Ok(());
        }
        let status = self
            .call(|instance| instance.pre_enqueue(pod))
            .unwrap_or_else(|error| Status::new(Code::Error, error.to_string()));
        match status.code {
            Code::Success => Ok(()),
            _ => Err(Gate {
                plugin: Arc::from(self.description().name.as_str()),
                status,
            }),
        }
    }

    fn hints(&mut self, _plugin: &str, event: &ObjectEvent, pods: &[Object]) -> Vec<Hint> {
        match self.call(|instance| instance.hints(event, pods)) {
            Ok(answers) => answers
                .into_iter()
                .map(|answer| {
                    answer.unwrap_or_else(|error| {
                        self.log(&format!("a hint failed, which wakes the pod: {error}"));
                        Hint::Queue
                    })
                })
                .collect(),
            Err(error) => {
                self.log(&format!(
                    "hints failed, which wakes all pods that wait: {error}"
                ));
                vec![Hint::Queue; pods.len()]
            }
        }
    }
}
