//! What the plugin imports: the services of the host, with the checks that the component meets.

use std::rc::Rc;

use dractl::object::{Kind, Object};
use dractl::plugin::{
    self as contract, ApiCall, Description, LogLevel, PatchType, SharedServices, Suspension,
};
use dynamic_resources::host as guest;
use dynamic_resources::plugin;

use super::threads::Gate;
use super::values::{from_guest_ref, to_guest, to_guest_error, to_guest_in_flight, to_guest_ref};

/// The services as the guest's imports.
pub struct NativeHost {
    pub services: SharedServices,
    pub description: Description,
    /// Uid of the pod of the running call.
    pub pod_uid: String,
    /// `api` is allowed.
    pub may_write: bool,
    /// There in binding calls.
    pub gate: Option<Rc<Gate>>,
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

    /// What is stored afterwards.
    fn call_for_object(&self, call: ApiCall) -> Result<guest::Object, guest::ApiError> {
        self.call(call)
            .map(|stored| stored.as_ref().map_or_else(nothing, to_guest))
    }

    fn write(
        &self,
        json: &[u8],
        call: impl FnOnce(Object) -> ApiCall,
    ) -> Result<guest::Object, guest::ApiError> {
        self.call_for_object(call(parsed(json)?))
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
        let object = parsed(&object.json)?;
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
        self.call_for_object(call)
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
        self.call_for_object(call)
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

fn parsed(json: &[u8]) -> Result<Object, guest::ApiError> {
    let invalid = |message: String| guest::ApiError {
        reason: guest::ApiErrorReason::Invalid,
        message,
    };
    let value = serde_json::from_slice(json).map_err(|error| invalid(error.to_string()))?;
    Object::from_value(value).map_err(|error| invalid(error.to_string()))
}

/// `null`: what a call returns that leaves no object.
fn nothing() -> guest::Object {
    guest::Object {
        id: guest::ObjectRef::default(),
        resource_version: String::new(),
        json: b"null".to_vec(),
    }
}
