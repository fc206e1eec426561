//! The imported interfaces: grants are checked here, effects take place in [`Services`](crate::plugin::Services).

use wasmtime::Result as WasmResult;

use super::contract::imports::types::{ApiError, Object};
use super::contract::imports::{api, clock, cluster, ledger, log, random, types};
use super::convert;
use super::state::{Phase, State, Stream, lock};
use crate::object::Kind;
use crate::plugin::{self as host, ApiCall, ApiErrorReason, LogLevel, Verb};

type Answer<T> = WasmResult<Result<T, ApiError>>;

impl types::Host for State {}

impl cluster::Host for State {
    fn changes(&mut self, kind: String, since: u64) -> Answer<cluster::Page> {
        self.host_call(|state| {
            let kind = state.shared.description.readable(&kind)?;
            let page = lock(&state.services).changes(&kind, since);
            let (objects, bytes) = size_of(&page.changes);
            if state.reading.hand_out(Stream::Objects(kind), page.until) {
                state.grant_time_to_read(bytes);
            }
            let counters = &state.shared.counters;
            if page.changes.is_empty() {
                return Ok(convert::page(page));
            }
            counters.objects_in(objects, bytes);
            Ok(counters.converting(|| convert::page(page)))
        })
    }

    fn get(&mut self, kind: String, namespace: String, name: String) -> Answer<cluster::Entry> {
        self.host_call(|state| {
            let kind = state.shared.description.readable(&kind)?;
            let entry = lock(&state.services).get(&kind, &namespace, &name)?;
            let counters = &state.shared.counters;
            counters.objects_in(1, entry.object.bytes().len());
            Ok(counters.converting(|| convert::entry(&entry)))
        })
    }
}

/// How many objects there are in a page, and their bytes.
fn size_of(changes: &[host::Change]) -> (usize, usize) {
    let size = |change: &host::Change| match change {
        host::Change::Put(entry) => Some(entry.object.bytes().len()),
        host::Change::Deleted { .. } => None,
    };
    let sizes = changes.iter().filter_map(size);
    sizes.fold((0, 0), |(objects, bytes), size| (objects + 1, bytes + size))
}

impl State {
    /// Whether the plugin may see, or put in place, ledger state of this kind: it must read and write it.
    fn check_ledger(&self, kind: &Kind) -> Result<(), host::ApiError> {
        let description = &self.shared.description;
        let granted = description.accesses.iter().any(|access| {
            access.kind == *kind
                && access.read
                && access.verbs.iter().any(|verb| *verb != Verb::Get)
        });
        match granted {
            true => Ok(()),
            false => Err(forbidden(format!(
                "plugin {} did not declare that it would read and write {kind}",
                description.name
            ))),
        }
    }

    fn check_ledger_write(&self, kind: &Kind) -> Result<(), host::ApiError> {
        match self.phase.writes_ledger() {
            true => self.check_ledger(kind),
            false => Err(forbidden(
                "the ledger cannot be written during this call".into(),
            )),
        }
    }

    /// A refusal that the contract gives no way to answer.
    fn mention(&mut self, error: &host::ApiError) {
        self.write_log(LogLevel::Warn, &error.message, &[]);
    }

    fn api_call(&mut self, call: ApiCall) -> Result<Option<host::Object>, ApiError> {
        if !self.phase.calls_api() {
            return Err(forbidden(
                "the API can be called in binding and in post-filter only".into(),
            )
            .into());
        }
        self.shared
            .description
            .check_verb(call.kind(), call.verb())?;
        Ok(lock(&self.services).call(call)?)
    }

    /// A call whose success returns an object.
    fn api_object(&mut self, call: Result<ApiCall, host::ApiError>) -> Answer<Object> {
        self.host_call(|state| {
            let object = state.api_call(call?)?.ok_or_else(|| host::ApiError {
                reason: ApiErrorReason::Other,
                message: "the server returned no object".into(),
            })?;
            let counters = &state.shared.counters;
            counters.objects_in(1, object.bytes().len());
            let converted = counters.converting(|| convert::object(&object));
            state.returned = Some(object);
            Ok(converted)
        })
    }
}

fn forbidden(message: String) -> host::ApiError {
    host::ApiError {
        reason: ApiErrorReason::Forbidden,
        message,
    }
}

impl ledger::Host for State {
    fn in_flight_changes(&mut self, since: u64) -> WasmResult<ledger::InFlightPage> {
        self.host_call(|state| {
            let mut page = lock(&state.services).in_flight_changes(since);
            page.changes
                .retain(|change| state.check_ledger(in_flight_kind(change)).is_ok());
            state.reading.hand_out(Stream::InFlight, page.until);
            let counters = &state.shared.counters;
            counters.converting(|| convert::in_flight_page(page))
        })
    }

    fn get_in_flight(&mut self, kind: String, uid: String) -> WasmResult<Option<ledger::InFlight>> {
        self.host_call(|state| {
            let kind = Kind::new(&kind);
            if let Err(error) = state.check_ledger(&kind) {
                state.mention(&error);
                return None;
            }
            let entry = lock(&state.services).get_in_flight(&kind, &uid)?;
            Some(convert::in_flight(&entry))
        })
    }

    fn put_in_flight(&mut self, entries: Vec<ledger::InFlight>) -> Answer<()> {
        self.host_call(|state| {
            let entries: Vec<_> = entries.into_iter().map(convert::host_in_flight).collect();
            for entry in &entries {
                state.check_ledger_write(&entry.target.kind)?;
                if *entry.holder != *state.pod {
                    return Err(forbidden(format!(
                        "{}: the holder must be the pod of the running call",
                        entry.target
                    ))
                    .into());
                }
            }
            let pod = state.pod.clone();
            Ok(lock(&state.services).put_in_flight(&pod, entries)?)
        })
    }

    fn remove_in_flight(&mut self, kind: String, uid: String, wake: bool) -> WasmResult<bool> {
        self.host_call(|state| {
            let kind = Kind::new(&kind);
            if let Err(error) = state.check_ledger_write(&kind) {
                state.mention(&error);
                return false;
            }
            let pod = state.pod.clone();
            lock(&state.services).remove_in_flight(&pod, &kind, &uid, wake)
        })
    }

    fn assume(&mut self, object: Object) -> Answer<()> {
        self.host_call(|state| {
            let returned = state.returned.take();
            let parsed = match returned.filter(|returned| **returned.bytes() == *object.json) {
                Some(returned) => returned,
                None => convert::host_object(&object.json)?,
            };
            state.check_ledger_write(&parsed.id().kind)?;
            if *parsed.id() != convert::host_ref(object.id)
                || parsed.resource_version() != object.resource_version
            {
                let message = format!(
                    "{}: the JSON names another object than the record",
                    parsed.id()
                );
                return Err(host::ApiError {
                    reason: ApiErrorReason::Invalid,
                    message,
                }
                .into());
            }
            Ok(lock(&state.services).assume(parsed)?)
        })
    }

    fn restore(&mut self, kind: String, namespace: String, name: String) -> WasmResult<()> {
        self.host_call(|state| {
            let kind = Kind::new(&kind);
            match state.check_ledger_write(&kind) {
                Ok(()) => lock(&state.services).restore(&kind, &namespace, &name),
                Err(error) => state.mention(&error),
            }
        })
    }
}

fn in_flight_kind(change: &host::InFlightChange) -> &Kind {
    match change {
        host::InFlightChange::Put(entry) => &entry.target.kind,
        host::InFlightChange::Removed(id) => &id.kind,
    }
}

impl api::Host for State {
    fn get(&mut self, kind: String, namespace: String, name: String) -> Answer<Object> {
        self.api_object(Ok(ApiCall::Get {
            kind: Kind::new(&kind),
            namespace,
            name,
        }))
    }

    fn create(&mut self, json: Vec<u8>) -> Answer<Object> {
        self.api_object(convert::host_object(&json).map(|object| ApiCall::Create { object }))
    }

    fn update(&mut self, json: Vec<u8>) -> Answer<Object> {
        self.api_object(convert::host_object(&json).map(|object| ApiCall::Update { object }))
    }

    fn update_status(&mut self, json: Vec<u8>) -> Answer<Object> {
        self.api_object(convert::host_object(&json).map(|object| ApiCall::UpdateStatus { object }))
    }

    fn patch_status(
        &mut self,
        kind: String,
        namespace: String,
        name: String,
        patch_type: api::PatchType,
        patch: Vec<u8>,
    ) -> Answer<Object> {
        let (kind, patch_type) = (Kind::new(&kind), convert::patch_type(patch_type));
        self.api_object(Ok(ApiCall::PatchStatus {
            kind,
            namespace,
            name,
            patch_type,
            patch,
        }))
    }

    fn apply(&mut self, json: Vec<u8>, options: api::ApplyOptions) -> Answer<Object> {
        let api::ApplyOptions {
            field_manager,
            force,
        } = options;
        self.api_object(convert::host_object(&json).map(|object| ApiCall::Apply {
            object,
            field_manager,
            force,
        }))
    }

    fn delete(&mut self, target: types::ObjectRef) -> Answer<()> {
        self.host_call(|state| {
            state
                .api_call(ApiCall::Delete {
                    target: convert::host_ref(target),
                })
                .map(|_| ())
        })
    }
}

impl clock::Host for State {
    fn now(&mut self) -> WasmResult<u64> {
        self.host_call(|state| lock(&state.services).now())
    }

    /// In `binding` the host's clock has moved on by the time this runs; anywhere else sleeping is not allowed.
    fn sleep(&mut self, _nanoseconds: u64) -> WasmResult<Result<(), clock::SleepError>> {
        self.host_call(|state| match state.phase {
            Phase::Binding => Ok(()),
            _ => Err(clock::SleepError::NotHere),
        })
    }
}

impl random::Host for State {
    fn next(&mut self) -> WasmResult<u64> {
        self.host_call(|state| lock(&state.services).random())
    }
}

impl log::Host for State {
    fn enabled(&mut self, level: log::Level) -> WasmResult<bool> {
        self.host_call(|state| {
            let counts = state.shared.counts && level == log::Level::Trace;
            counts || lock(&state.services).log_enabled(convert::level(level))
        })
    }

    fn write(
        &mut self,
        level: log::Level,
        message: String,
        fields: Vec<(String, String)>,
    ) -> WasmResult<()> {
        self.host_call(|state| state.write_log(convert::level(level), &message, &fields))
    }
}
