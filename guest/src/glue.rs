//! The component's edge: exported interfaces in terms of [`Plugin`], imported ones as a [`Host`]. Decode, call, encode; no
//! decisions. The only file that names the generated bindings.

use std::cell::RefCell;

use crate::cycle::Cycle;
use crate::host::{self, Host};
use crate::plugin::Plugin;
use crate::status;

mod bindings {
    #![allow(missing_docs, unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ path: "../wit", world: "full-plugin" });

    use super::Component;
    export!(Component);
}

use bindings::exports::kube_scheduler::plugin::{
    advice, binding, enqueue, explain, lifecycle, scheduling,
};
use bindings::kube_scheduler::plugin::{api, clock, cluster, ledger, log, random, types};

thread_local! {
    /// The instance's plugin. Everything in it is a cache or configuration.
    static PLUGIN: RefCell<Plugin> = RefCell::new(Plugin::default());
}

fn with_plugin<R>(call: impl FnOnce(&mut Plugin, &dyn Host) -> R) -> R {
    PLUGIN.with(|plugin| call(&mut plugin.borrow_mut(), &Imports))
}

/// The component.
struct Component;

impl lifecycle::Guest for Component {
    fn describe() -> lifecycle::Description {
        let description = Plugin::describe();
        lifecycle::Description {
            name: description.name.into(),
            version: description.version.into(),
            points: description
                .points
                .iter()
                .map(|point| (*point).into())
                .collect(),
            accesses: description.accesses.iter().map(encode_access).collect(),
        }
    }

    fn configure(config: Vec<u8>) -> Result<(), String> {
        std::panic::set_hook(Box::new(|info| {
            log::write(log::Level::Error, &info.to_string(), &[]);
        }));
        with_plugin(|plugin, host| plugin.configure(host, &config))
    }
}

impl enqueue::Guest for Component {
    fn events_to_register() -> Vec<enqueue::Interest> {
        with_plugin(|plugin, _| plugin.events_to_register())
            .into_iter()
            .map(encode_interest)
            .collect()
    }

    fn pre_enqueue(pod: types::Object) -> types::Status {
        with_plugin(|plugin, host| encode_status(plugin.pre_enqueue(host, &decode_object(pod))))
    }

    fn hints(
        event: enqueue::Event,
        pods: Vec<types::Object>,
    ) -> Vec<Result<enqueue::Hint, String>> {
        let event = crate::hints::Event {
            kind: event.kind,
            old: event.old.map(decode_object),
            new: event.new.map(decode_object),
        };
        let pods: Vec<_> = pods.into_iter().map(decode_object).collect();
        with_plugin(|plugin, host| plugin.hints(host, &event, &pods))
            .into_iter()
            .map(|hint| {
                hint.map(|hint| match hint {
                    crate::hints::Hint::Skip => enqueue::Hint::Skip,
                    crate::hints::Hint::Queue => enqueue::Hint::Queue,
                })
            })
            .collect()
    }
}

impl scheduling::Guest for Component {
    type Cycle = Cycle;

    fn pre_filter(pod: types::Object, _at: types::Revision) -> scheduling::Begun {
        let (cycle, scope) =
            with_plugin(|plugin, host| plugin.pre_filter(host, &decode_object(pod)));
        let scope = match scope {
            crate::cycle::Scope::AllNodes => scheduling::Scope::AllNodes,
            crate::cycle::Scope::Skip => scheduling::Scope::Skip,
            crate::cycle::Scope::Rejected(status) => {
                scheduling::Scope::Rejected(encode_status(status))
            }
        };
        scheduling::Begun {
            cycle: scheduling::Cycle::new(cycle),
            scope,
        }
    }
}

impl scheduling::GuestCycle for Cycle {
    fn filter(&self, nodes: Vec<cluster::Slot>) -> scheduling::Answers {
        let answers = with_plugin(|plugin, host| plugin.filter(host, self, &nodes));
        scheduling::Answers {
            verdicts: answers.verdicts,
            statuses: answers.statuses.into_iter().map(encode_status).collect(),
        }
    }

    fn post_filter(&self) -> scheduling::Nomination {
        let status = with_plugin(|plugin, host| plugin.post_filter(host, self));
        scheduling::Nomination {
            status: encode_status(status),
            node: None,
        }
    }

    fn pre_score(&self, nodes: Vec<cluster::Slot>) -> types::Status {
        encode_status(with_plugin(|plugin, host| {
            plugin.pre_score(host, self, &nodes)
        }))
    }

    fn score(&self, nodes: Vec<cluster::Slot>) -> Result<Vec<i64>, types::Status> {
        Ok(Plugin::score(self, &nodes))
    }

    fn add_pod(&self, _pod: types::Object, _node: cluster::Slot) -> types::Status {
        // Upstream has no PreFilter extensions (spec section 2.3): other pods do not change the state of this cycle.
        encode_status(status::Status::success())
    }

    fn remove_pod(&self, _pod: types::Object, _node: cluster::Slot) -> types::Status {
        encode_status(status::Status::success())
    }

    fn fork(&self) -> scheduling::Cycle {
        scheduling::Cycle::new(self.fork_state())
    }

    fn reserve(&self, node: cluster::Slot) -> scheduling::Reserved {
        let (status, plan) = with_plugin(|plugin, host| plugin.reserve(host, self, node));
        scheduling::Reserved {
            status: encode_status(status),
            plan,
        }
    }
}

impl binding::Guest for Component {
    fn pre_bind(pod: types::Object, node: String, plan: Vec<u8>) -> binding::Progress {
        let (status, plan) =
            with_plugin(|plugin, host| plugin.pre_bind(host, &decode_object(pod), &node, plan));
        binding::Progress {
            status: encode_status(status),
            plan,
        }
    }

    fn unreserve(pod: types::Object, node: String, plan: Option<Vec<u8>>) {
        with_plugin(|plugin, host| plugin.unreserve(host, &decode_object(pod), &node, plan));
    }

    fn post_bind(pod: types::Object, node: String, plan: Vec<u8>) {
        with_plugin(|plugin, host| plugin.post_bind(host, &decode_object(pod), &node, &plan));
    }
}

impl explain::Guest for Component {
    fn explain(pod: types::Object, _at: types::Revision, nodes: Vec<String>) -> Vec<Vec<u8>> {
        with_plugin(|plugin, host| plugin.explain(host, &decode_object(pod), &nodes))
    }
}

fn encode_access(access: &crate::plugin::Access) -> lifecycle::Access {
    use crate::plugin::Verb;
    let verb = |verb: &Verb| match verb {
        Verb::Get => lifecycle::Verb::Get,
        Verb::Create => lifecycle::Verb::Create,
        Verb::Update => lifecycle::Verb::Update,
        Verb::UpdateStatus => lifecycle::Verb::UpdateStatus,
        Verb::PatchStatus => lifecycle::Verb::PatchStatus,
        Verb::Apply => lifecycle::Verb::Apply,
        Verb::Delete => lifecycle::Verb::Delete,
    };
    lifecycle::Access {
        kind: access.kind.into(),
        versions: access
            .versions
            .iter()
            .map(|version| (*version).into())
            .collect(),
        read: access.read,
        verbs: access.verbs.iter().map(verb).collect(),
    }
}

fn encode_interest(interest: crate::hints::Interest) -> enqueue::Interest {
    use crate::hints::Action;
    let action = |action: &Action| match action {
        Action::Add => enqueue::Action::Add,
        Action::Update => enqueue::Action::Update,
        Action::Delete => enqueue::Action::Delete,
    };
    enqueue::Interest {
        kind: interest.kind.into(),
        actions: interest.actions.iter().map(action).collect(),
        hinted: interest.hinted,
    }
}

fn encode_status(status: status::Status) -> types::Status {
    let code = match status.code {
        status::Code::Success => types::Code::Success,
        status::Code::Error => types::Code::Error,
        status::Code::Unschedulable => types::Code::Unschedulable,
        status::Code::UnschedulableAndUnresolvable => types::Code::UnschedulableAndUnresolvable,
        status::Code::Skip => types::Code::Skip,
        status::Code::Pending => types::Code::Pending,
        status::Code::InvalidObject => types::Code::InvalidObject,
    };
    types::Status {
        code,
        reasons: status.reasons,
    }
}

fn decode_object(object: types::Object) -> host::Object {
    host::Object {
        id: decode_ref(object.id),
        resource_version: object.resource_version,
        json: object.json,
    }
}

fn decode_ref(id: types::ObjectRef) -> host::ObjectRef {
    host::ObjectRef {
        kind: id.kind,
        namespace: id.namespace,
        name: id.name,
        uid: id.uid,
    }
}

fn encode_object(object: &host::Object) -> types::Object {
    types::Object {
        id: encode_ref(&object.id),
        resource_version: object.resource_version.clone(),
        json: object.json.clone(),
    }
}

fn encode_ref(id: &host::ObjectRef) -> types::ObjectRef {
    types::ObjectRef {
        kind: id.kind.clone(),
        namespace: id.namespace.clone(),
        name: id.name.clone(),
        uid: id.uid.clone(),
    }
}

fn decode_error(error: types::ApiError) -> host::ApiError {
    use host::ApiErrorReason as Reason;
    let reason = match error.reason {
        types::ApiErrorReason::NotFound => Reason::NotFound,
        types::ApiErrorReason::Conflict => Reason::Conflict,
        types::ApiErrorReason::AlreadyExists => Reason::AlreadyExists,
        types::ApiErrorReason::Forbidden => Reason::Forbidden,
        types::ApiErrorReason::Invalid => Reason::Invalid,
        types::ApiErrorReason::Timeout => Reason::Timeout,
        types::ApiErrorReason::Other => Reason::Other,
    };
    host::ApiError {
        reason,
        message: error.message,
    }
}

fn decode_in_flight(entry: ledger::InFlight) -> host::InFlight {
    host::InFlight {
        target: decode_ref(entry.target),
        holder: entry.holder,
        json: entry.json,
    }
}

/// The imported interfaces.
struct Imports;

impl Host for Imports {
    fn changes(
        &self,
        kind: &str,
        since: host::Revision,
    ) -> Result<host::Page<host::Change>, host::ApiError> {
        let page = cluster::changes(kind, since).map_err(decode_error)?;
        let changes = page.changes.into_iter().map(|change| match change {
            cluster::Change::Put(entry) => host::Change::Put {
                slot: entry.slot,
                object: decode_object(entry.object),
                assumed: entry.origin == cluster::Origin::Assumed,
            },
            cluster::Change::Deleted((slot, id)) => host::Change::Deleted {
                slot,
                id: decode_ref(id),
            },
        });
        Ok(host::Page {
            reset: page.reset,
            changes: changes.collect(),
            until: page.until,
            more: page.more,
        })
    }

    fn in_flight_changes(&self, since: host::Revision) -> host::Page<host::InFlightChange> {
        let page = ledger::in_flight_changes(since);
        let changes = page.changes.into_iter().map(|change| match change {
            ledger::InFlightChange::Put(entry) => {
                host::InFlightChange::Put(decode_in_flight(entry))
            }
            ledger::InFlightChange::Removed(id) => host::InFlightChange::Removed(decode_ref(id)),
        });
        host::Page {
            reset: page.reset,
            changes: changes.collect(),
            until: page.until,
            more: page.more,
        }
    }

    fn get_in_flight(&self, kind: &str, uid: &str) -> Option<host::InFlight> {
        ledger::get_in_flight(kind, uid).map(decode_in_flight)
    }

    fn put_in_flight(&self, entries: &[host::InFlight]) -> Result<(), host::ApiError> {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| ledger::InFlight {
                target: encode_ref(&entry.target),
                holder: entry.holder.clone(),
                json: entry.json.clone(),
            })
            .collect();
        ledger::put_in_flight(&entries).map_err(decode_error)
    }

    fn remove_in_flight(&self, kind: &str, uid: &str, wake: bool) -> bool {
        ledger::remove_in_flight(kind, uid, wake)
    }

    fn assume(&self, object: &host::Object) -> Result<(), host::ApiError> {
        ledger::assume(&encode_object(object)).map_err(decode_error)
    }

    fn restore(&self, kind: &str, namespace: &str, name: &str) {
        ledger::restore(kind, namespace, name);
    }

    fn cached(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<host::Object, host::ApiError> {
        cluster::get(kind, namespace, name)
            .map(|entry| decode_object(entry.object))
            .map_err(decode_error)
    }

    fn api_get(
        &self,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<host::Object, host::ApiError> {
        api::get(kind, namespace, name)
            .map(decode_object)
            .map_err(decode_error)
    }

    fn api_create(&self, json: &[u8]) -> Result<host::Object, host::ApiError> {
        api::create(json).map(decode_object).map_err(decode_error)
    }

    fn api_update(&self, json: &[u8]) -> Result<host::Object, host::ApiError> {
        api::update(json).map(decode_object).map_err(decode_error)
    }

    fn api_update_status(&self, json: &[u8]) -> Result<host::Object, host::ApiError> {
        api::update_status(json)
            .map(decode_object)
            .map_err(decode_error)
    }

    fn api_patch_status_strategic(
        &self,
        id: &host::ObjectRef,
        patch: &[u8],
    ) -> Result<host::Object, host::ApiError> {
        api::patch_status(
            &id.kind,
            &id.namespace,
            &id.name,
            api::PatchType::StrategicMerge,
            patch,
        )
        .map(decode_object)
        .map_err(decode_error)
    }

    fn api_apply(
        &self,
        json: &[u8],
        field_manager: &str,
        force: bool,
    ) -> Result<host::Object, host::ApiError> {
        let options = api::ApplyOptions {
            field_manager: field_manager.into(),
            force,
        };
        api::apply(json, &options)
            .map(decode_object)
            .map_err(decode_error)
    }

    fn api_delete(&self, target: &host::ObjectRef) -> Result<(), host::ApiError> {
        api::delete(&encode_ref(target)).map_err(decode_error)
    }

    fn now(&self) -> u64 {
        clock::now()
    }

    fn sleep(&self, nanoseconds: u64) -> Result<(), host::SleepError> {
        clock::sleep(nanoseconds).map_err(|error| match error {
            clock::SleepError::NotHere => host::SleepError::NotHere,
            clock::SleepError::Cancelled => host::SleepError::Cancelled,
        })
    }

    fn random(&self) -> u64 {
        random::next()
    }

    fn log(&self, level: host::Level, message: &str, fields: &[(&str, &str)]) {
        let level = match level {
            host::Level::Error => log::Level::Error,
            host::Level::Warn => log::Level::Warn,
            host::Level::Info => log::Level::Info,
            host::Level::Debug => log::Level::Debug,
            host::Level::Trace => log::Level::Trace,
        };
        if log::enabled(level) {
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect();
            log::write(level, message, &fields);
        }
    }
}

impl advice::Guest for Component {
    fn lint(_at: types::Revision) -> Vec<advice::Finding> {
        let findings = with_plugin(|plugin, host| plugin.lint(host));
        findings.into_iter().map(encode_finding).collect()
    }

    fn devices(_at: types::Revision) -> Vec<u8> {
        with_plugin(|plugin, host| plugin.devices(host))
    }
}

fn encode_finding(finding: crate::advice::Finding) -> advice::Finding {
    advice::Finding {
        severity: match finding.severity {
            crate::advice::Severity::Error => advice::Severity::Error,
            crate::advice::Severity::Warning => advice::Severity::Warning,
            crate::advice::Severity::Hint => advice::Severity::Hint,
        },
        object: encode_ref(&finding.object),
        path: finding.path,
        message: finding.message,
        remedy: finding.remedy,
    }
}
