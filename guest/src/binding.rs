//! Writing one claim: finalizer, allocation and reservation, with retry after conflicts (spec section 7.8; upstream:
//! `bindClaim`).

use serde_json::Value;

use crate::api::{Pod, edit};
use crate::host::{ApiError, ApiErrorReason, Host, Object, kinds};
use crate::plan::{Json, PlannedClaim};
use crate::profile::Profile;

/// Tries in all.
const TRIES: u32 = 5;
/// Pause between two tries; up to a tenth is added, so that two schedulers do not stay in step.
const PAUSE_NANOSECONDS: u64 = 10_000_000;

/// Why a try failed.
enum Failure {
    /// Conflict: the next try may succeed.
    Conflict(String),
    /// Everything else.
    Final(String),
}

impl Failure {
    /// A failed API call, with what was being done.
    fn of(doing: &str, claim: &Value, error: ApiError) -> Self {
        let text = format!("{doing} {}: {}", edit::full_name(claim), error.message);
        match error.reason {
            ApiErrorReason::Conflict => Self::Conflict(text),
            _ => Self::Final(text),
        }
    }
}

/// Makes `planned` true in the API, and replaces its claim, which `claim` is as a tree, by what is stored then.
pub fn bind_claim(
    host: &dyn Host,
    profile: &Profile,
    pod: &Pod,
    mut claim: Value,
    planned: &mut PlannedClaim,
) -> Result<(), String> {
    let original_uid = edit::uid(&claim).to_owned();
    let outcome = write_with_retry(host, profile, pod, &mut claim, planned);
    if planned.allocation.is_some() {
        if let Ok(stored) = &outcome
            && let Err(error) = host.assume(stored)
        {
            // The claim shows up when the API's event arrives; until then its devices are protected by nothing but luck,
            // exactly as upstream (spec 7.8).
            host.log(
                crate::host::Level::Error,
                "claim not stored in assume cache",
                &[("err", &error.message)],
            );
        }
        // Assumed first, dropped second, or the devices would look free in between (trap T7). D14: upstream drops the uid
        // that it saw last.
        let uid = match (profile.in_flight_removed_by_original_uid(), &outcome) {
            (true, _) => original_uid.as_str(),
            (false, Ok(stored)) => stored.id.uid.as_str(),
            (false, Err(_)) => edit::uid(&claim),
        };
        let wake = outcome.is_err() && profile.unreserve_wakes_waiting_pods();
        host.remove_in_flight(kinds::RESOURCE_CLAIM, uid, wake);
    }
    let stored = outcome?;
    planned.claim = Json::new(&stored.json).map_err(|error| returned(&stored, &error))?;
    Ok(())
}

fn write_with_retry(
    host: &dyn Host,
    profile: &Profile,
    pod: &Pod,
    claim: &mut Value,
    planned: &PlannedClaim,
) -> Result<Object, String> {
    let allocation = planned.allocation.as_ref();
    let mut tries = 1;
    loop {
        let outcome = if tries == 1 {
            Ok(())
        } else {
            refresh(host, profile, claim, planned)
        };
        match outcome.and_then(|()| write(host, pod, claim, allocation)) {
            Ok(object) => return Ok(object),
            Err(Failure::Conflict(_)) if tries < TRIES => {
                tries += 1;
                // An interrupted sleep only makes the next try come early.
                let _ = host.sleep(PAUSE_NANOSECONDS + host.random() % (PAUSE_NANOSECONDS / 10));
            }
            Err(Failure::Conflict(text) | Failure::Final(text)) => return Err(text),
        }
    }
}

/// Reads the claim anew. The node was chosen for the allocation of the planned one: what was read in between may have been free
/// for a moment.
fn refresh(
    host: &dyn Host,
    profile: &Profile,
    claim: &mut Value,
    planned: &PlannedClaim,
) -> Result<(), Failure> {
    let (namespace, name) = (edit::namespace(claim), edit::name(claim));
    let doing = format!(
        "get updated claim {} after conflict",
        edit::full_name(claim)
    );
    let fail = |error: ApiError| match error.reason {
        ApiErrorReason::Conflict => Failure::Conflict(format!("{doing}: {}", error.message)),
        _ => Failure::Final(format!("{doing}: {}", error.message)),
    };
    let object = host
        .api_get(kinds::RESOURCE_CLAIM, namespace, name)
        .map_err(fail)?;
    let fresh = parse(&object).map_err(Failure::Final)?;
    let chosen = planned.claim.read();
    let chosen = chosen.map_err(|error| Failure::Final(error.to_string()))?;
    let moved = edit::is_allocated(&chosen)
        && edit::is_allocated(&fresh)
        && !edit::is_allocated_alike(&chosen, &fresh);
    if moved && profile.reservation_keeps_allocation() {
        return Err(Failure::Final(format!(
            "claim {} got allocated elsewhere in the meantime",
            edit::full_name(claim)
        )));
    }
    *claim = fresh;
    Ok(())
}

/// One try.
fn write(
    host: &dyn Host,
    pod: &Pod,
    claim: &mut Value,
    allocation: Option<&Value>,
) -> Result<Object, Failure> {
    if edit::is_being_deleted(claim) {
        return Err(Failure::Final(format!(
            "claim {} got deleted in the meantime",
            edit::full_name(claim)
        )));
    }
    if let Some(allocation) = allocation {
        if edit::is_allocated(claim) {
            let text = format!(
                "claim {} got allocated elsewhere in the meantime",
                edit::full_name(claim)
            );
            return Err(Failure::Final(text));
        }
        // The finalizer goes with metadata, the allocation with status: two writes, the second with the version that the
        // first returned (trap T6).
        if edit::add_finalizer(claim) {
            let stored = host
                .api_update(&edit::to_bytes(claim))
                .map_err(|error| Failure::of("add finalizer to claim", claim, error))?;
            *claim = parse(&stored).map_err(Failure::Final)?;
        }
        edit::insert_allocation(claim, allocation.clone());
    }
    edit::reserve_for(claim, &pod.meta);
    let doing = match allocation {
        Some(_) => "add allocation and reservation to claim",
        None => "add reservation to claim",
    };
    let stored = host
        .api_update_status(&edit::to_bytes(claim))
        .map_err(|error| Failure::of(doing, claim, error))?;
    Ok(stored)
}

fn parse(object: &Object) -> Result<Value, String> {
    serde_json::from_slice(&object.json).map_err(|error| returned(object, &error))
}

fn returned(object: &Object, error: &serde_json::Error) -> String {
    let id = &object.id;
    format!("claim {}/{} as returned: {error}", id.namespace, id.name)
}
