//! The plugin linked natively: the other implementation of [`Plugin`]. It pairs native with wasm timings, and lets the large
//! random tests run without a sandbox.
//!
//! A binding call runs on a thread of its own, but never at the same time as anything else: it stops at each import until it
//! is resumed, as the component does on its fiber.

mod threads;

use std::rc::Rc;

use dractl::object::{Kind, Object, ObjectRef};
use dractl::plugin::{
    self as contract, Access, Action, Answers, ApiCall, BindingCall, BindingRun, CallStats, Code,
    CycleId, Description, Exports, Fault, Hint, Interest, LogLevel, Nomination, ObjectEvent,
    PatchType, Plugin, PluginError, Progress, Revision, SchedulingInstance, Scope, SharedServices,
    Slot, Status, Step, Suspension, Verb,
};
use dynamic_resources::cycle::{self, Cycle};
use dynamic_resources::host as guest;
use dynamic_resources::{hints, plugin, status};

use threads::{Gate, ThreadedBinding};

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

struct NativeInstance {
    plugin: plugin::Plugin,
    host: NativeHost,
    cycles: Vec<Option<Cycle>>,
}

impl NativeInstance {
    fn begin(&mut self, pod: &Object, may_write: bool) {
        self.host.pod_uid = pod.id().uid.to_string();
        self.host.may_write = may_write;
    }
}

/// Runs a method of a living cycle.
macro_rules! in_cycle {
    ($self:ident, $id:ident, |$cycle:ident| $call:expr) => {
        match $self
            .cycles
            .get(usize::try_from($id.0).unwrap_or(usize::MAX))
        {
            Some(Some($cycle)) => $call,
            _ => {
                return Err(PluginError {
                    fault: Fault::Contract,
                    plugin: plugin::NAME.into(),
                    call: "cycle".into(),
                    cause: "unknown cycle".into(),
                });
            }
        }
    };
}

impl SchedulingInstance for NativeInstance {
    fn events_to_register(&mut self) -> Result<Vec<Interest>, PluginError> {
        let action = |action: &hints::Action| match action {
            hints::Action::Add => Action::Add,
            hints::Action::Update => Action::Update,
            hints::Action::Delete => Action::Delete,
        };
        let interests = self
            .plugin
            .events_to_register()
            .into_iter()
            .map(|interest| Interest {
                kind: Kind::new(interest.kind),
                actions: interest.actions.iter().map(action).collect(),
                hinted: interest.hinted,
            });
        Ok(interests.collect())
    }

    fn pre_enqueue(&mut self, pod: &Object) -> Result<Status, PluginError> {
        self.begin(pod, false);
        Ok(to_status(
            self.plugin.pre_enqueue(&self.host, &to_guest(pod)),
        ))
    }

    fn hints(
        &mut self,
        event: &ObjectEvent,
        pods: &[Object],
    ) -> Result<Vec<Result<Hint, String>>, PluginError> {
        let event = hints::Event {
            kind: event.kind.as_str().into(),
            old: event.old.as_ref().map(to_guest),
            new: event.new.as_ref().map(to_guest),
        };
        let pods: Vec<_> = pods.iter().map(to_guest).collect();
        let hints = self
            .plugin
            .hints(&self.host, &event, &pods)
            .into_iter()
            .map(|hint| {
                hint.map(|hint| match hint {
                    hints::Hint::Skip => Hint::Skip,
                    hints::Hint::Queue => Hint::Queue,
                })
            });
        Ok(hints.collect())
    }

    fn pre_filter(&mut self, pod: &Object, _at: Revision) -> Result<(CycleId, Scope), PluginError> {
        self.begin(pod, false);
        let (cycle, scope) = self.plugin.pre_filter(&self.host, &to_guest(pod));
        let scope = match scope {
            cycle::Scope::AllNodes => Scope::AllNodes,
            cycle::Scope::Skip => Scope::Skip,
            cycle::Scope::Rejected(status) => Scope::Rejected(to_status(status)),
        };
        self.cycles.push(Some(cycle));
        Ok((CycleId(self.cycles.len() as u64 - 1), scope))
    }

    fn filter(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Answers, PluginError> {
        let answers = in_cycle!(self, cycle, |cycle| self
            .plugin
            .filter(&self.host, cycle, nodes));
        Ok(Answers {
            verdicts: answers.verdicts,
            statuses: answers.statuses.into_iter().map(to_status).collect(),
        })
    }

    fn post_filter(&mut self, cycle: CycleId) -> Result<Nomination, PluginError> {
        self.host.may_write = true;
        let status = in_cycle!(self, cycle, |cycle| self
            .plugin
            .post_filter(&self.host, cycle));
        self.host.may_write = false;
        Ok(Nomination {
            status: to_status(status),
            node: None,
        })
    }

    fn pre_score(&mut self, cycle: CycleId, nodes: &[Slot]) -> Result<Status, PluginError> {
        Ok(to_status(in_cycle!(self, cycle, |cycle| self
            .plugin
            .pre_score(&self.host, cycle, nodes))))
    }

    fn score(
        &mut self,
        cycle: CycleId,
        nodes: &[Slot],
    ) -> Result<Result<Vec<i64>, Status>, PluginError> {
        Ok(Ok(in_cycle!(self, cycle, |cycle| plugin::Plugin::score(
            cycle, nodes
        ))))
    }

    fn reserve(&mut self, cycle: CycleId, node: Slot) -> Result<Progress, PluginError> {
        let (status, plan) = in_cycle!(self, cycle, |cycle| self
            .plugin
            .reserve(&self.host, cycle, node));
        Ok(Progress {
            status: to_status(status),
            plan: plan.into(),
        })
    }

    fn end_cycle(&mut self, cycle: CycleId) -> Result<(), PluginError> {
        if let Some(slot) = self
            .cycles
            .get_mut(usize::try_from(cycle.0).unwrap_or(usize::MAX))
        {
            *slot = None;
        }
        while self.cycles.last().is_some_and(Option::is_none) {
            self.cycles.pop();
        }
        Ok(())
    }
}

/// The services as the guest's imports.
struct NativeHost {
    services: SharedServices,
    description: Description,
    /// Uid of the pod of the running call.
    pod_uid: String,
    /// `api` is allowed.
    may_write: bool,
    /// There in binding calls.
    gate: Option<Rc<Gate>>,
}

impl NativeHost {
    /// Stops until the call is resumed.
    fn suspend(&self, at: Suspension) {
        if let Some(gate) = &self.gate {
            gate.stop(at);
        }
    }

    fn call(&self, call: ApiCall) -> Result<Option<Object>, guest::ApiError> {
        self.suspend(Suspension::Api(call.verb()));
        self.description
            .check_verb(call.kind(), call.verb())
            .map_err(to_guest_error)?;
        if !self.may_write {
            let message = "calls of api are not allowed here".into();
            return Err(guest::ApiError {
                reason: guest::ApiErrorReason::Forbidden,
                message,
            });
        }
        self.with(|services| services.call(call))
            .map_err(to_guest_error)
    }

    fn write(
        &self,
        json: &[u8],
        call: impl FnOnce(Object) -> ApiCall,
    ) -> Result<guest::Object, guest::ApiError> {
        let invalid = |message: String| guest::ApiError {
            reason: guest::ApiErrorReason::Invalid,
            message,
        };
        let value = serde_json::from_slice(json).map_err(|error| invalid(error.to_string()))?;
        let object = Object::from_value(value).map_err(|error| invalid(error.to_string()))?;
        self.call(call(object))
            .map(|stored| stored.as_ref().map_or_else(nothing, to_guest))
    }

    fn with<R>(&self, call: impl FnOnce(&mut dyn contract::Services) -> R) -> R {
        match self.services.lock() {
            Ok(mut services) => call(&mut *services),
            Err(poisoned) => call(&mut *poisoned.into_inner()),
        }
    }
}

impl guest::Host for NativeHost {
    fn changes(
        &self,
        kind: &str,
        since: guest::Revision,
    ) -> Result<guest::Page<guest::Change>, guest::ApiError> {
        let kind = self.description.readable(kind).map_err(to_guest_error)?;
        let page = self.with(|services| services.changes(&kind, since));
        let changes = page.changes.into_iter().map(|change| match change {
            contract::Change::Put(entry) => guest::Change::Put {
                slot: entry.slot,
                object: to_guest(&entry.object),
                assumed: entry.assumed,
            },
            contract::Change::Deleted { slot, id } => guest::Change::Deleted {
                slot,
                id: to_guest_ref(&id),
            },
        });
        Ok(guest::Page {
            reset: page.reset,
            changes: changes.collect(),
            until: page.until,
            more: page.more,
        })
    }

    fn in_flight_changes(&self, since: guest::Revision) -> guest::Page<guest::InFlightChange> {
        let page = self.with(|services| services.in_flight_changes(since));
        let changes = page.changes.into_iter().map(|change| match change {
            contract::InFlightChange::Put(entry) => {
                guest::InFlightChange::Put(to_guest_in_flight(entry))
            }
            contract::InFlightChange::Removed(id) => {
                guest::InFlightChange::Removed(to_guest_ref(&id))
            }
        });
        guest::Page {
            reset: page.reset,
            changes: changes.collect(),
            until: page.until,
            more: page.more,
        }
    }

    fn get_in_flight(&self, kind: &str, uid: &str) -> Option<guest::InFlight> {
        self.suspend(Suspension::State("get-in-flight"));
        self.with(|services| services.get_in_flight(&Kind::new(kind), uid))
            .map(to_guest_in_flight)
    }

    fn put_in_flight(&self, entries: &[guest::InFlight]) -> Result<(), guest::ApiError> {
        self.suspend(Suspension::State("put-in-flight"));
        let entries = entries
            .iter()
            .map(|entry| contract::InFlight {
                target: from_guest_ref(&entry.target),
                holder: entry.holder.clone(),
                json: entry.json.as_slice().into(),
            })
            .collect();
        self.with(|services| services.put_in_flight(&self.pod_uid, entries))
            .map_err(to_guest_error)
    }

    fn remove_in_flight(&self, kind: &str, uid: &str, wake: bool) -> bool {
        self.suspend(Suspension::State("remove-in-flight"));
        self.with(|services| services.remove_in_flight(&self.pod_uid, &Kind::new(kind), uid, wake))
    }

    fn assume(&self, object: &guest::Object) -> Result<(), guest::ApiError> {
        self.suspend(Suspension::State("assume"));
        let invalid = |message: String| guest::ApiError {
            reason: guest::ApiErrorReason::Invalid,
            message,
        };
        let value =
            serde_json::from_slice(&object.json).map_err(|error| invalid(error.to_string()))?;
        let object = Object::from_value(value).map_err(|error| invalid(error.to_string()))?;
        self.with(|services| services.assume(object))
            .map_err(to_guest_error)
    }

    fn restore(&self, kind: &str, namespace: &str, name: &str) {
        self.suspend(Suspension::State("restore"));
        self.with(|services| services.restore(&Kind::new(kind), namespace, name));
    }

    fn cached(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<guest::Object, guest::ApiError> {
        self.suspend(Suspension::State("get"));
        let kind = self.description.readable(kind).map_err(to_guest_error)?;
        self.with(|services| services.get(&kind, namespace, name))
            .map(|entry| to_guest(&entry.object))
            .map_err(to_guest_error)
    }

    fn api_get(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<guest::Object, guest::ApiError> {
        let call = ApiCall::Get {
            kind: Kind::new(kind),
            namespace: namespace.into(),
            name: name.into(),
        };
        self.call(call)
            .map(|stored| stored.as_ref().map_or_else(nothing, to_guest))
    }

    fn api_create(&self, json: &[u8]) -> Result<guest::Object, guest::ApiError> {
        self.write(json, |object| ApiCall::Create { object })
    }

    fn api_update(&self, json: &[u8]) -> Result<guest::Object, guest::ApiError> {
        self.write(json, |object| ApiCall::Update { object })
    }

    fn api_update_status(&self, json: &[u8]) -> Result<guest::Object, guest::ApiError> {
        self.write(json, |object| ApiCall::UpdateStatus { object })
    }

    fn api_patch_status_strategic(
        &self,
        id: &guest::ObjectRef,
        patch: &[u8],
    ) -> Result<guest::Object, guest::ApiError> {
        let call = ApiCall::PatchStatus {
            kind: Kind::new(&id.kind),
            namespace: id.namespace.clone(),
            name: id.name.clone(),
            patch_type: PatchType::StrategicMerge,
            patch: patch.to_vec(),
        };
        self.call(call)
            .map(|stored| stored.as_ref().map_or_else(nothing, to_guest))
    }

    fn api_apply(
        &self,
        json: &[u8],
        field_manager: &str,
        force: bool,
    ) -> Result<guest::Object, guest::ApiError> {
        let field_manager = field_manager.to_owned();
        self.write(json, |object| ApiCall::Apply {
            object,
            field_manager,
            force,
        })
    }

    fn api_delete(&self, target: &guest::ObjectRef) -> Result<(), guest::ApiError> {
        self.call(ApiCall::Delete {
            target: from_guest_ref(target),
        })
        .map(|_| ())
    }

    fn now(&self) -> u64 {
        self.with(|services| services.now())
    }

    fn sleep(&self, nanoseconds: u64) -> Result<(), guest::SleepError> {
        if self.gate.is_none() {
            return Err(guest::SleepError::NotHere);
        }
        self.suspend(Suspension::Sleep { nanoseconds });
        Ok(())
    }

    fn random(&self) -> u64 {
        self.with(|services| services.random())
    }

    fn log(&self, level: guest::Level, message: &str, fields: &[(&str, &str)]) {
        let level = match level {
            guest::Level::Error => LogLevel::Error,
            guest::Level::Warn => LogLevel::Warn,
            guest::Level::Info => LogLevel::Info,
            guest::Level::Debug => LogLevel::Debug,
            guest::Level::Trace => LogLevel::Trace,
        };
        let fields: Vec<_> = fields
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()))
            .collect();
        self.with(|services| {
            if services.log_enabled(level) {
                services.log(level, plugin::NAME, message, &fields);
            }
        });
    }
}

fn to_guest(object: &Object) -> guest::Object {
    guest::Object {
        id: to_guest_ref(object.id()),
        resource_version: object.resource_version().into(),
        json: object.bytes().to_vec(),
    }
}

fn nothing() -> guest::Object {
    guest::Object {
        id: guest::ObjectRef::default(),
        resource_version: String::new(),
        json: b"null".to_vec(),
    }
}

fn to_guest_ref(id: &ObjectRef) -> guest::ObjectRef {
    guest::ObjectRef {
        kind: id.kind.as_str().into(),
        namespace: id.namespace.to_string(),
        name: id.name.to_string(),
        uid: id.uid.to_string(),
    }
}

fn from_guest_ref(id: &guest::ObjectRef) -> ObjectRef {
    ObjectRef {
        kind: Kind::new(&id.kind),
        namespace: id.namespace.as_str().into(),
        name: id.name.as_str().into(),
        uid: id.uid.as_str().into(),
    }
}

fn to_guest_in_flight(entry: contract::InFlight) -> guest::InFlight {
    guest::InFlight {
        target: to_guest_ref(&entry.target),
        holder: entry.holder,
        json: entry.json.to_vec(),
    }
}

fn to_guest_error(error: contract::ApiError) -> guest::ApiError {
    use contract::ApiErrorReason as From;
    use guest::ApiErrorReason as To;
    let reason = match error.reason {
        From::NotFound => To::NotFound,
        From::Conflict => To::Conflict,
        From::AlreadyExists => To::AlreadyExists,
        From::Forbidden => To::Forbidden,
        From::Invalid => To::Invalid,
        From::Timeout => To::Timeout,
        From::Other => To::Other,
    };
    guest::ApiError {
        reason,
        message: error.message,
    }
}

fn to_status(status: status::Status) -> Status {
    let code = match status.code {
        status::Code::Success => Code::Success,
        status::Code::Error => Code::Error,
        status::Code::Unschedulable => Code::Unschedulable,
        status::Code::UnschedulableAndUnresolvable => Code::UnschedulableAndUnresolvable,
        status::Code::Skip => Code::Skip,
        status::Code::Pending => Code::Pending,
        status::Code::InvalidObject => Code::InvalidObject,
    };
    Status {
        code,
        reasons: status.reasons,
    }
}

fn verb(verb: &plugin::Verb) -> Verb {
    match verb {
        plugin::Verb::Get => Verb::Get,
        plugin::Verb::Create => Verb::Create,
        plugin::Verb::Update => Verb::Update,
        plugin::Verb::UpdateStatus => Verb::UpdateStatus,
        plugin::Verb::PatchStatus => Verb::PatchStatus,
        plugin::Verb::Apply => Verb::Apply,
        plugin::Verb::Delete => Verb::Delete,
    }
}
