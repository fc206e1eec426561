//! The plugin linked natively: the other implementation of [`Plugin`]. It pairs native with wasm timings, and lets the large
//! random tests run without a sandbox.
//!
//! A binding call runs on a thread of its own, but never at the same time as anything else: it stops at each import until it
//! is resumed, as the component does on its fiber.

mod host;
mod instance;
mod threads;
mod values;

use std::rc::Rc;

use dractl::object::Kind;
use dractl::plugin::{
    Access, BindingCall, BindingRun, CallStats, Description, Exports, Fault, Plugin, PluginError,
    Progress, SchedulingInstance, SharedServices, Step,
};
use dynamic_resources::plugin;

use host::NativeHost;
use instance::NativeInstance;
use threads::{Gate, ThreadedBinding};
use values::{to_guest, to_status, verb};

/// The plugin, with its configuration.
pub struct Native {
    description: Description,
    config: Vec<u8>,
    stops: bool,
}

impl Native {
    /// With the JSON that `configure` takes.
    pub fn new(config: &str) -> Self {
        let description = plugin::Plugin::describe();
        let accesses = description.accesses.iter().map(|access| Access {
            kind: Kind::new(access.kind),
            versions: access
                .versions
                .iter()
                .map(|version| (*version).into())
                .collect(),
            read: access.read,
            verbs: access.verbs.iter().map(verb).collect(),
        });
        let description = Description {
            name: description.name.into(),
            version: description.version.into(),
            points: description
                .points
                .iter()
                .map(|point| (*point).into())
                .collect(),
            accesses: accesses.collect(),
        };
        Self {
            description,
            config: config.into(),
            stops: true,
        }
    }

    /// Binding calls never stop: each runs to its end at once, and needs no thread. For timing; calls that sleep fail.
    pub fn without_stops(self) -> Self {
        Self {
            stops: false,
            ..self
        }
    }

    fn error(&self, call: &str, cause: String) -> PluginError {
        let plugin = format!(
            "{} {} (native)",
            self.description.name, self.description.version
        );
        PluginError {
            fault: Fault::Start,
            plugin,
            call: call.into(),
            cause,
        }
    }
}

impl Plugin for Native {
    fn description(&self) -> &Description {
        &self.description
    }

    fn exports(&self) -> Exports {
        Exports {
            enqueue: true,
            waiting: true,
            binding: true,
            explain: false,
            advice: false,
        }
    }

    fn scheduling(
        &self,
        services: SharedServices,
    ) -> Result<Box<dyn SchedulingInstance>, PluginError> {
        let mut instance = plugin::Plugin::default();
        let description = self.description.clone();
        let host = NativeHost {
            services,
            description,
            pod_uid: String::new(),
            may_write: false,
            gate: None,
        };
        instance
            .configure(&host, &self.config)
            .map_err(|cause| self.error("configure", cause))?;
        Ok(Box::new(NativeInstance {
            plugin: instance,
            host,
            cycles: Vec::new(),
        }))
    }

    fn binding(
        &self,
        services: SharedServices,
        call: BindingCall,
    ) -> Result<Box<dyn BindingRun>, PluginError> {
        let description = self.description.clone();
        let config = self.config.clone();
        let run = move |gate: Option<Rc<Gate>>| {
            let host = NativeHost {
                services,
                description,
                pod_uid: call.pod().id().uid.to_string(),
                may_write: true,
                gate,
            };
            run_binding(&host, &config, call)
        };
        Ok(match self.stops {
            true => Box::new(ThreadedBinding::new(|gate| run(Some(gate)))),
            false => Box::new(AtOnce(Some(Box::new(|| run(None))))),
        })
    }

    fn stats(&self) -> CallStats {
        CallStats::default()
    }
}

/// A binding call that runs to its end when it is resumed first.
struct AtOnce(Option<Box<dyn FnOnce() -> BindingOutcome>>);

type BindingOutcome = Result<Option<Progress>, PluginError>;

impl BindingRun for AtOnce {
    fn resume(&mut self) -> Step {
        Step::Done(self.0.take().map_or(Ok(None), |run| run()))
    }
}

fn run_binding(host: &NativeHost, config: &[u8], call: BindingCall) -> BindingOutcome {
    let mut plugin = plugin::Plugin::default();
    let name = call.name();
    plugin
        .configure(host, config)
        .map_err(|cause| PluginError {
            fault: Fault::Start,
            plugin: host.description.name.clone(),
            call: name.into(),
            cause,
        })?;
    match call {
        BindingCall::PreBind { pod, node, plan } => {
            let (status, plan) = plugin.pre_bind(host, &to_guest(&pod), &node, plan.to_vec());
            Ok(Some(Progress {
                status: to_status(status),
                plan: plan.into(),
            }))
        }
        BindingCall::Unreserve { pod, node, plan } => {
            plugin.unreserve(host, &to_guest(&pod), &node, plan.map(|plan| plan.to_vec()));
            Ok(None)
        }
        BindingCall::PostBind { pod, node, plan } => {
            plugin.post_bind(host, &to_guest(&pod), &node, &plan);
            Ok(None)
        }
    }
}
