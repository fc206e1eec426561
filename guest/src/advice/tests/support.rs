//! A host that shows objects and does nothing else.

use serde_json::Value;

use crate::host::{
    ApiError, ApiErrorReason, Change, Host, InFlight, InFlightChange, Level, Object, ObjectRef,
    Page, Revision, SleepError,
};

/// Shows these objects, each kind numbered in their order.
pub(super) struct Objects(pub Vec<Object>);

impl Objects {
    /// From JSON; core kinds have no group.
    pub(super) fn new(values: &[Value]) -> Self {
        Self(values.iter().map(object).collect())
    }
}

fn object(value: &Value) -> Object {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let kind = match text("/apiVersion").split_once('/') {
        Some((group, _)) => format!("{}.{group}", text("/kind")),
        None => text("/kind").to_owned(),
    };
    let name = text("/metadata/name").to_owned();
    Object {
        id: ObjectRef {
            kind,
            namespace: text("/metadata/namespace").to_owned(),
            uid: format!("uid-of-{name}"),
            name,
        },
        resource_version: "1".into(),
        json: value.to_string().into_bytes(),
    }
}

fn refused<T>() -> Result<T, ApiError> {
    Err(ApiError {
        reason: ApiErrorReason::Forbidden,
        message: "advice reads only".into(),
    })
}

impl Host for Objects {
    fn changes(&self, kind: &str, since: Revision) -> Result<Page<Change>, ApiError> {
        let all = self.0.iter().filter(|object| object.id.kind == kind);
        let all = all.zip(0..).map(|(object, slot)| Change::Put {
            slot,
            object: object.clone(),
            assumed: false,
        });
        // One object on each page.
        let changes: Vec<Change> = all.skip(since as usize).take(1).collect();
        Ok(Page {
            reset: since == 0,
            more: !changes.is_empty(),
            until: since + changes.len() as u64,
            changes,
        })
    }

    fn in_flight_changes(&self, since: Revision) -> Page<InFlightChange> {
        Page {
            reset: since == 0,
            changes: Vec::new(),
            until: since,
            more: false,
        }
    }

    fn get_in_flight(&self, _: &str, _: &str) -> Option<InFlight> {
        None
    }

    fn put_in_flight(&self, _: &[InFlight]) -> Result<(), ApiError> {
        refused()
    }

    fn remove_in_flight(&self, _: &str, _: &str, _: bool) -> bool {
        false
    }

    fn assume(&self, _: &Object) -> Result<(), ApiError> {
        refused()
    }

    fn restore(&self, _: &str, _: &str, _: &str) {}

    fn cached(&self, _: &str, _: &str, _: &str) -> Result<Object, ApiError> {
        refused()
    }

    fn api_get(&self, _: &str, _: &str, _: &str) -> Result<Object, ApiError> {
        refused()
    }

    fn api_create(&self, _: &[u8]) -> Result<Object, ApiError> {
        refused()
    }

    fn api_update(&self, _: &[u8]) -> Result<Object, ApiError> {
        refused()
    }

    fn api_update_status(&self, _: &[u8]) -> Result<Object, ApiError> {
        refused()
    }

    fn api_patch_status_strategic(&self, _: &ObjectRef, _: &[u8]) -> Result<Object, ApiError> {
        refused()
    }

    fn api_apply(&self, _: &[u8], _: &str, _: bool) -> Result<Object, ApiError> {
        refused()
    }

    fn api_delete(&self, _: &ObjectRef) -> Result<(), ApiError> {
        refused()
    }

    fn now(&self) -> u64 {
        0
    }

    fn sleep(&self, _: u64) -> Result<(), SleepError> {
        Err(SleepError::NotHere)
    }

    fn random(&self) -> u64 {
        0
    }

    fn log(&self, _: Level, _: &str, _: &[(&str, &str)]) {}
}
