//! Between the types of the contract and those of the host.

use super::contract::{exports, imports};
use crate::object::{Kind, ObjectRef};
use crate::plugin as host;

use imports::types::{ApiError, ApiErrorReason, Code};

/// An object on its way to the plugin.
pub(super) fn object(object: &host::Object) -> imports::types::Object {
    imports::types::Object {
        id: object_ref(object.id()),
        resource_version: object.resource_version().to_owned(),
        json: object.bytes().to_vec(),
    }
}

pub(super) fn object_ref(id: &ObjectRef) -> imports::types::ObjectRef {
    imports::types::ObjectRef {
        kind: id.kind.as_str().to_owned(),
        namespace: id.namespace.to_string(),
        name: id.name.to_string(),
        uid: id.uid.to_string(),
    }
}

/// A reference that the plugin made.
pub(super) fn host_ref(id: imports::types::ObjectRef) -> ObjectRef {
    ObjectRef {
        kind: Kind::new(&id.kind),
        namespace: id.namespace.into(),
        name: id.name.into(),
        uid: id.uid.into(),
    }
}

/// The object in JSON that the plugin wrote.
pub(super) fn host_object(json: &[u8]) -> Result<host::Object, host::ApiError> {
    let invalid = |what: String| host::ApiError {
        reason: host::ApiErrorReason::Invalid,
        message: what,
    };
    let value = serde_json::from_slice(json)
        .map_err(|error| invalid(format!("the object is not JSON: {error}")))?;
    host::Object::from_value(value)
        .map_err(|error| invalid(format!("the JSON is not an object of the API: {error}")))
}

pub(super) fn entry(entry: &host::Entry) -> imports::cluster::Entry {
    imports::cluster::Entry {
        slot: entry.slot,
        object: object(&entry.object),
        origin: match entry.assumed {
            true => imports::cluster::Origin::Assumed,
            false => imports::cluster::Origin::Stored,
        },
    }
}

pub(super) fn page(page: host::Page<host::Change>) -> imports::cluster::Page {
    let change = |change: host::Change| match change {
        host::Change::Put(put) => imports::cluster::Change::Put(entry(&put)),
        host::Change::Deleted { slot, id } => {
            imports::cluster::Change::Deleted((slot, object_ref(&id)))
        }
    };
    imports::cluster::Page {
        reset: page.reset,
        changes: page.changes.into_iter().map(change).collect(),
        until: page.until,
        more: page.more,
    }
}

pub(super) fn in_flight(entry: &host::InFlight) -> imports::ledger::InFlight {
    imports::ledger::InFlight {
        target: object_ref(&entry.target),
        holder: entry.holder.clone(),
        json: entry.json.to_vec(),
    }
}

pub(super) fn host_in_flight(entry: imports::ledger::InFlight) -> host::InFlight {
    host::InFlight {
        target: host_ref(entry.target),
        holder: entry.holder,
        json: entry.json.into(),
    }
}

pub(super) fn in_flight_page(
    page: host::Page<host::InFlightChange>,
) -> imports::ledger::InFlightPage {
    let change = |change: host::InFlightChange| match change {
        host::InFlightChange::Put(put) => imports::ledger::InFlightChange::Put(in_flight(&put)),
        host::InFlightChange::Removed(id) => {
            imports::ledger::InFlightChange::Removed(object_ref(&id))
        }
    };
    imports::ledger::InFlightPage {
        reset: page.reset,
        changes: page.changes.into_iter().map(change).collect(),
        until: page.until,
        more: page.more,
    }
}

impl From<host::ApiError> for ApiError {
    fn from(error: host::ApiError) -> Self {
        let reason = match error.reason {
            host::ApiErrorReason::NotFound => ApiErrorReason::NotFound,
            host::ApiErrorReason::Conflict => ApiErrorReason::Conflict,
            host::ApiErrorReason::AlreadyExists => ApiErrorReason::AlreadyExists,
            host::ApiErrorReason::Forbidden => ApiErrorReason::Forbidden,
            host::ApiErrorReason::Invalid => ApiErrorReason::Invalid,
            host::ApiErrorReason::Timeout => ApiErrorReason::Timeout,
            host::ApiErrorReason::Other => ApiErrorReason::Other,
        };
        Self {
            reason,
            message: error.message,
        }
    }
}

pub(super) fn patch_type(patch_type: imports::api::PatchType) -> host::PatchType {
    match patch_type {
        imports::api::PatchType::Merge => host::PatchType::Merge,
        imports::api::PatchType::StrategicMerge => host::PatchType::StrategicMerge,
        imports::api::PatchType::JsonPatch => host::PatchType::JsonPatch,
    }
}

pub(super) fn level(level: imports::log::Level) -> host::LogLevel {
    match level {
        imports::log::Level::Error => host::LogLevel::Error,
        imports::log::Level::Warn => host::LogLevel::Warn,
        imports::log::Level::Info => host::LogLevel::Info,
        imports::log::Level::Debug => host::LogLevel::Debug,
        imports::log::Level::Trace => host::LogLevel::Trace,
    }
}

pub(super) fn status(status: imports::types::Status) -> host::Status {
    let code = match status.code {
        Code::Success => host::Code::Success,
        Code::Error => host::Code::Error,
        Code::Unschedulable => host::Code::Unschedulable,
        Code::UnschedulableAndUnresolvable => host::Code::UnschedulableAndUnresolvable,
        Code::Wait => host::Code::Wait,
        Code::Skip => host::Code::Skip,
        Code::Pending => host::Code::Pending,
        Code::InvalidObject => host::Code::InvalidObject,
    };
    host::Status {
        code,
        reasons: status.reasons,
    }
}

pub(super) fn scope(scope: exports::scheduling::Scope) -> host::Scope {
    match scope {
        exports::scheduling::Scope::AllNodes => host::Scope::AllNodes,
        exports::scheduling::Scope::Only(slots) => host::Scope::Only(slots),
        exports::scheduling::Scope::Skip => host::Scope::Skip,
        exports::scheduling::Scope::Rejected(rejected) => host::Scope::Rejected(status(rejected)),
    }
}

pub(super) fn description(description: exports::lifecycle::Description) -> host::Description {
    use exports::lifecycle::Verb;
    let verb = |verb| match verb {
        Verb::Get => host::Verb::Get,
        Verb::Create => host::Verb::Create,
        Verb::Update => host::Verb::Update,
        Verb::UpdateStatus => host::Verb::UpdateStatus,
        Verb::PatchStatus => host::Verb::PatchStatus,
        Verb::Apply => host::Verb::Apply,
        Verb::Delete => host::Verb::Delete,
    };
    let access = |access: exports::lifecycle::Access| host::Access {
        kind: Kind::new(&access.kind),
        versions: access.versions,
        read: access.read,
        verbs: access.verbs.into_iter().map(verb).collect(),
    };
    host::Description {
        name: description.name,
        version: description.version,
        points: description.points,
        accesses: description.accesses.into_iter().map(access).collect(),
    }
}

pub(super) fn interest(interest: exports::enqueue::Interest) -> host::Interest {
    use exports::enqueue::Action;
    let action = |action| match action {
        Action::Add => host::Action::Add,
        Action::Update => host::Action::Update,
        Action::Delete => host::Action::Delete,
    };
    host::Interest {
        kind: Kind::new(&interest.kind),
        actions: interest.actions.into_iter().map(action).collect(),
        hinted: interest.hinted,
    }
}

pub(super) fn event(event: &host::ObjectEvent) -> exports::enqueue::Event {
    use exports::enqueue::Action;
    exports::enqueue::Event {
        kind: event.kind.as_str().to_owned(),
        action: match event.action {
            host::Action::Add => Action::Add,
            host::Action::Update => Action::Update,
            host::Action::Delete => Action::Delete,
        },
        old: event.old.as_ref().map(object),
        new: event.new.as_ref().map(object),
    }
}

pub(super) fn hint(hint: exports::enqueue::Hint) -> host::Hint {
    match hint {
        exports::enqueue::Hint::Skip => host::Hint::Skip,
        exports::enqueue::Hint::Queue => host::Hint::Queue,
    }
}
