//! The services of a component that is only tried: an empty cluster in which nothing can be done.

use crate::object::{Kind, Object};
use crate::plugin::{
    ApiCall, ApiError, ApiErrorReason, Change, Entry, InFlight, InFlightChange, LogLevel, Page,
    Revision, Services,
};

/// An empty cluster.
pub(super) struct NoServices;

fn nothing<C>() -> Page<C> {
    Page {
        reset: true,
        changes: Vec::new(),
        until: 0,
        more: false,
    }
}

fn refused(reason: ApiErrorReason) -> ApiError {
    ApiError {
        reason,
        message: "the plugin is only being tried, there is no cluster".to_owned(),
    }
}

impl Services for NoServices {
    fn changes(&mut self, _: &Kind, _: Revision) -> Page<Change> {
        nothing()
    }

    fn get(&mut self, _: &Kind, _: &str, _: &str) -> Result<Entry, ApiError> {
        Err(refused(ApiErrorReason::NotFound))
    }

    fn in_flight_changes(&mut self, _: Revision) -> Page<InFlightChange> {
        nothing()
    }

    fn get_in_flight(&mut self, _: &Kind, _: &str) -> Option<InFlight> {
        None
    }

    fn put_in_flight(&mut self, _: &str, _: Vec<InFlight>) -> Result<(), ApiError> {
        Err(refused(ApiErrorReason::Forbidden))
    }

    fn remove_in_flight(&mut self, _: &str, _: &Kind, _: &str, _: bool) -> bool {
        false
    }

    fn assume(&mut self, _: Object) -> Result<(), ApiError> {
        Err(refused(ApiErrorReason::Forbidden))
    }

    fn restore(&mut self, _: &Kind, _: &str, _: &str) {}

    fn call(&mut self, _: ApiCall) -> Result<Option<Object>, ApiError> {
        Err(refused(ApiErrorReason::Forbidden))
    }

    fn now(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }

    fn log_enabled(&self, _: LogLevel) -> bool {
        false
    }

    fn log(&mut self, _: LogLevel, _: &str, _: &str, _: &[(String, String)]) {}
}
