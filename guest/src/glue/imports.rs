//! The imported interfaces as a [`Host`].

use super::bindings::kube_scheduler::plugin::{api, clock, cluster, ledger, log, random, types};
use super::{decode_object, decode_ref, encode_object, encode_ref};
use crate::host::{self, Host};

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
pub(super) struct Imports;

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
