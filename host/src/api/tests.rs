//! Writes, patches, faults, loading. Expected behaviour: spec sections 1.3 and 1.9, contract interface `api`.

mod faults;
mod loading;
mod patches;
mod writes;

use serde_json::{Value, json};

use super::*;
use crate::clock::SECOND;
use crate::plugin::{ApiErrorReason, PatchType};
use crate::stand_ins;

const CLAIM: &str = "ResourceClaim.resource.k8s.io";

fn server() -> ApiServer {
    ApiServer::new(stand_ins::RULES, Clock::starting_at(1_725_184_800 * SECOND))
}

fn object(value: Value) -> Object {
    Object::from_value(value).expect("an object")
}

fn claim_value() -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ns", "uid": "uid-c", "resourceVersion": "7", "labels": {"a": "1"}},
        "spec": {"devices": {"requests": [], "odd": {"kept": true}}},
    })
}

fn loaded(value: Value) -> ApiServer {
    let mut server = server();
    assert_eq!(server.load(vec![object(value)]), []);
    server
}

fn stored(server: &ApiServer) -> Value {
    server
        .stored(&Kind::new(CLAIM), "ns", "c")
        .expect("the claim is there")
        .value()
        .clone()
}

fn call(server: &mut ApiServer, call: ApiCall) -> Result<Option<Object>, ApiError> {
    server.call(Caller::Plugin, &call)
}

/// A call that answers with an object.
fn answer(server: &mut ApiServer, asked: ApiCall) -> Result<Object, ApiError> {
    call(server, asked).map(|object| object.expect("an object"))
}

/// The claim.
fn get(server: &mut ApiServer) -> Result<Object, ApiError> {
    let (kind, namespace, name) = (Kind::new(CLAIM), "ns".into(), "c".into());
    answer(
        server,
        ApiCall::Get {
            kind,
            namespace,
            name,
        },
    )
}

fn create(server: &mut ApiServer, value: Value) -> Result<Object, ApiError> {
    let object = object(value);
    answer(server, ApiCall::Create { object })
}

fn update(server: &mut ApiServer, value: Value) -> Result<Object, ApiError> {
    let object = object(value);
    answer(server, ApiCall::Update { object })
}

fn update_status(server: &mut ApiServer, value: Value) -> Result<Object, ApiError> {
    let object = object(value);
    answer(server, ApiCall::UpdateStatus { object })
}

/// Of the claim.
fn patch_status(
    server: &mut ApiServer,
    patch_type: PatchType,
    patch: Value,
) -> Result<Object, ApiError> {
    patch_status_with(server, patch_type, patch.to_string().into_bytes())
}

fn patch_status_with(
    server: &mut ApiServer,
    patch_type: PatchType,
    patch: Vec<u8>,
) -> Result<Object, ApiError> {
    let (kind, namespace, name) = (Kind::new(CLAIM), "ns".into(), "c".into());
    let patch = ApiCall::PatchStatus {
        kind,
        namespace,
        name,
        patch_type,
        patch,
    };
    answer(server, patch)
}

fn apply(
    server: &mut ApiServer,
    manager: &str,
    object: Object,
    force: bool,
) -> Result<Object, ApiError> {
    let field_manager = manager.into();
    answer(
        server,
        ApiCall::Apply {
            object,
            field_manager,
            force,
        },
    )
}

fn delete(server: &mut ApiServer, target: &ObjectRef) -> Result<Option<Object>, ApiError> {
    let target = target.clone();
    call(server, ApiCall::Delete { target })
}

fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a field");
    value.pointer_mut(parent).expect("a parent")[field] = new;
    value
}

fn reason<T: std::fmt::Debug>(result: Result<T, ApiError>) -> ApiErrorReason {
    result.expect_err("a failure").reason
}

fn allocation() -> Value {
    json!({"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}})
}

fn user(uid: &str) -> Value {
    json!({"resource": "pods", "name": uid, "uid": uid})
}
