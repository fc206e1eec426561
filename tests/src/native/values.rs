//! The same value on either side of the contract.

use dractl::object::{Kind, Object, ObjectRef};
use dractl::plugin::{self as contract, Code, Status, Verb};
use dynamic_resources::host as guest;
use dynamic_resources::{plugin, status};

pub fn to_guest(object: &Object) -> guest::Object {
    guest::Object {
        id: to_guest_ref(object.id()),
        resource_version: object.resource_version().into(),
        json: object.bytes().to_vec(),
    }
}

pub fn to_guest_ref(id: &ObjectRef) -> guest::ObjectRef {
    guest::ObjectRef {
        kind: id.kind.as_str().into(),
        namespace: id.namespace.to_string(),
        name: id.name.to_string(),
        uid: id.uid.to_string(),
    }
}

pub fn from_guest_ref(id: &guest::ObjectRef) -> ObjectRef {
    ObjectRef {
        kind: Kind::new(&id.kind),
        namespace: id.namespace.as_str().into(),
        name: id.name.as_str().into(),
        uid: id.uid.as_str().into(),
    }
}

pub fn to_guest_in_flight(entry: contract::InFlight) -> guest::InFlight {
    guest::InFlight {
        target: to_guest_ref(&entry.target),
        holder: entry.holder,
        json: entry.json.to_vec(),
    }
}

pub fn to_guest_error(error: contract::ApiError) -> guest::ApiError {
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

pub fn to_status(status: status::Status) -> Status {
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

pub fn verb(verb: &plugin::Verb) -> Verb {
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
