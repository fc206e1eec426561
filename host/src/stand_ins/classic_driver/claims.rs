//! One claim: allocated on a node, or freed (upstream: `allocateClaims`, `syncClaim`).

use serde_json::{Value, json};

use super::devices::Choice;
use super::{
    Next, driver_of, finalizer_of, has_finalizer, is_going, list, update, update_status, write,
};
use crate::api::metadata::{child, metadata};
use crate::api::{ApiServer, Warning};
use crate::object::{Kind, Object};
use crate::stand_ins::schema::CLAIM;

/// Frees a claim that nobody uses and that is to be freed.
pub(super) fn sync(
    api: &mut ApiServer,
    namespace: &str,
    name: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Next, String> {
    let Some(claim) = api.stored(&Kind::new(CLAIM), namespace, name).cloned() else {
        return Ok(Next::Nothing);
    };
    let Some(driver) = driver_of(&claim).map(str::to_owned) else {
        return Ok(Next::Nothing);
    };
    if !is_to_be_freed(&claim) {
        return Ok(Next::Nothing);
    }
    let finalizer = finalizer_of(&driver);
    if !has_finalizer(&claim, &finalizer) {
        if is_requested(&claim) {
            let message = format!(
                "its deallocation is asked for, but driver {driver} would not know it as its own: the finalizer {finalizer} is missing"
            );
            warnings.push(Warning::new(claim.id(), message));
        }
        return Ok(Next::Nothing);
    }
    free(api, &claim, &finalizer)?;
    Ok(Next::Nothing)
}

/// Whether nobody uses a claim and somebody wants it gone or free.
pub(super) fn is_to_be_freed(claim: &Object) -> bool {
    let is_used = list(claim.value(), "/status/reservedFor").next().is_some();
    !is_used && (is_requested(claim) || is_going(claim))
}

fn is_requested(claim: &Object) -> bool {
    claim.value().pointer("/status/deallocationRequested") == Some(&Value::Bool(true))
}

fn free(api: &mut ApiServer, claim: &Object, finalizer: &str) -> Result<(), String> {
    let clear = |claim: &mut Value| {
        let status = child(claim, "status");
        status.shift_remove("allocation");
        status.shift_remove("deallocationRequested");
    };
    let has_status = |field: &str| claim.value().pointer(&format!("/status/{field}")).is_some();
    let claim = match has_status("allocation") || has_status("deallocationRequested") {
        true => write(api, claim, "remove allocation", clear, update_status)?,
        false => claim.clone(),
    };
    let without = |claim: &mut Value| {
        let finalizers = metadata(claim)
            .get_mut("finalizers")
            .and_then(Value::as_array_mut);
        if let Some(finalizers) = finalizers {
            finalizers.retain(|known| known != finalizer);
        }
    };
    write(api, &claim, "remove finalizer", without, update)?;
    Ok(())
}

/// Allocates a claim, for a pod that will use it. With no choices the driver names no devices.
pub(super) fn allocate(
    api: &mut ApiServer,
    claim: &Object,
    pod: &Object,
    node: &str,
    choices: &[Choice],
) -> Result<(), String> {
    let driver = driver_of(claim).unwrap_or_default().to_owned();
    let finalizer = finalizer_of(&driver);
    let claim = match has_finalizer(claim, &finalizer) {
        true => claim.clone(),
        false => {
            let add = |claim: &mut Value| {
                let finalizers = metadata(claim).entry("finalizers").or_insert(json!([]));
                if let Some(finalizers) = finalizers.as_array_mut() {
                    finalizers.push(finalizer.clone().into());
                }
            };
            write(api, claim, "add finalizer", add, update)?
        }
    };
    let allocation = allocation(&driver, node, choices);
    let consumer = json!({"resource": "pods", "name": &*pod.id().name, "uid": &*pod.id().uid});
    let fill = |claim: &mut Value| {
        let status = child(claim, "status");
        status.insert("allocation".to_owned(), allocation);
        let reserved = status.entry("reservedFor").or_insert(json!([]));
        if let Some(reserved) = reserved.as_array_mut() {
            reserved.push(consumer);
        }
    };
    write(api, &claim, "add allocation", fill, update_status)?;
    Ok(())
}

/// On this node only, unless all of it is reached from every node.
fn allocation(driver: &str, node: &str, choices: &[Choice]) -> Value {
    let results = choices.iter().map(|choice| {
        json!({"request": choice.request, "driver": driver, "pool": choice.pool, "device": choice.device})
    });
    let results: Vec<Value> = results.collect();
    let mut allocation = json!({"devices": {}});
    if !results.is_empty() {
        allocation["devices"]["results"] = results.into();
    }
    if choices.is_empty() || choices.iter().any(|choice| !choice.everywhere) {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        allocation["nodeSelector"] = json!({"nodeSelectorTerms": [{"matchFields": [field]}]});
    }
    allocation["controller"] = driver.into();
    allocation
}
