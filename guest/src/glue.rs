//! The component's edge: exported interfaces in terms of [`Plugin`], imported ones as a [`Host`]. Decode, call, encode; no
//! decisions. Nothing outside of it names the generated bindings.

use std::cell::RefCell;

use crate::cycle::Cycle;
use crate::host::{self, Host};
use crate::plugin::Plugin;
use crate::status;

mod imports;

mod bindings {
    #![allow(missing_docs, unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ path: "../wit", world: "full-plugin" });

    use super::Component;
    export!(Component);
}

use bindings::exports::kube_scheduler::plugin::{
    advice, binding, enqueue, explain, lifecycle, scheduling, waiting,
};
use bindings::kube_scheduler::plugin::{cluster, log, types};
use imports::Imports;

thread_local! {
    /// The instance's plugin. Everything in it is a cache or configuration.
    static PLUGIN: RefCell<Plugin> = RefCell::new(Plugin::default());
}

fn with_plugin<R>(call: impl FnOnce(&mut Plugin, &dyn Host) -> R) -> R {
    PLUGIN.with(|plugin| call(&mut plugin.borrow_mut(), &Imports))
}

/// Of the instance's memory, which has one thread.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

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
        let event = decode_event(event);
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

impl waiting::Guest for Component {
    fn put(pods: Vec<waiting::WaitingPod>) {
        let pods = pods
            .into_iter()
            .map(|pod| (pod.number, decode_object(pod.pod)));
        with_plugin(|plugin, _| plugin.put_waiting(pods));
    }

    fn hints(event: enqueue::Event, pods: Vec<u32>) -> Vec<waiting::Helped> {
        let event = decode_event(event);
        with_plugin(|plugin, host| plugin.helped(host, &event, &pods))
            .into_iter()
            .map(|(number, error)| waiting::Helped { number, error })
            .collect()
    }
}

fn decode_event(event: enqueue::Event) -> crate::hints::Event {
    crate::hints::Event {
        kind: event.kind,
        old: event.old.map(decode_object),
        new: event.new.map(decode_object),
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
