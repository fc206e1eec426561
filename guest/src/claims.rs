//! From a pod to its ResourceClaims, and what a claim says about a pod (spec section 6).
//!
//! Corresponds to upstream's helper package `resourceclaim` and to the walk over a pod's claims in the plugin. The texts
//! are those users see in pod events.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::api::{AllocationConfiguration, ObjectMeta, Pod, PodResourceClaim, ResourceClaim};
use crate::go_quote::quoted;
use crate::profile::Profile;

/// Why a pod's claims could not be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// Upstream's text for the pod's status.
    Refused(String),
    /// A claim cannot be used as it is given.
    Invalid(String),
}

impl From<String> for Unresolved {
    fn from(text: String) -> Self {
        Self::Refused(text)
    }
}

/// Outcome of looking up one claim.
pub type Lookup = Result<Rc<ResourceClaim>, Unresolved>;

/// A claim of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodClaim<C> {
    /// Index in `pod.spec.resourceClaims`; not the index in the walk's result, which leaves out entries without a claim.
    pub entry: usize,
    /// The claim, shared with whoever looked it up.
    pub claim: C,
}

/// The claim that an entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimName<'a> {
    /// `None`: this entry needs no claim.
    pub name: Option<&'a str>,
    /// Whether the claim was generated, so that its owner must be the pod.
    pub check_owner: bool,
}

/// The pod's claims in the order of its spec; the first trouble ends the walk and is returned as text.
///
/// `get` looks up by namespace and name; its error is passed on as it is.
///
/// # Errors
/// A text for the pod's status.
pub fn pod_claims<C: Borrow<ResourceClaim>, E: From<String>>(
    pod: &Pod,
    profile: &Profile,
    mut get: impl FnMut(&str, &str) -> Result<C, E>,
) -> Result<Vec<PodClaim<C>>, E> {
    let mut claims = Vec::with_capacity(pod.resource_claims.len());
    let statuses = statuses(pod);
    for (entry, pod_claim) in pod.resource_claims.iter().enumerate() {
        let ClaimName { name, check_owner } = named(pod, pod_claim, &statuses)?;
        let Some(name) = name else { continue };
        let claim = get(&pod.meta.namespace, name)?;
        let meta = &claim.borrow().meta;
        if meta.being_deleted {
            let text = format!("resourceclaim {} is being deleted", quoted(&meta.name));
            return Err(text.into());
        }
        if check_owner {
            is_for_pod(&pod.meta, meta, profile)?;
        }
        claims.push(PodClaim { entry, claim });
    }
    Ok(claims)
}

/// Names of generated claims by the entry of the pod's spec; of several for one entry the first counts.
fn statuses(pod: &Pod) -> BTreeMap<&str, Option<&str>> {
    let all = pod.resource_claim_statuses.iter().rev();
    all.map(|(entry, name)| (entry.as_str(), name.as_deref()))
        .collect()
}

/// Name of the claim for one entry of the pod's spec.
///
/// # Errors
/// When the claim was not generated yet, or the entry has no source.
pub fn claim_name<'a>(
    pod: &'a Pod,
    pod_claim: &'a PodResourceClaim,
) -> Result<ClaimName<'a>, String> {
    named(pod, pod_claim, &statuses(pod))
}

fn named<'a>(
    pod: &'a Pod,
    pod_claim: &'a PodResourceClaim,
    statuses: &BTreeMap<&'a str, Option<&'a str>>,
) -> Result<ClaimName<'a>, String> {
    if let Some(name) = &pod_claim.resource_claim_name {
        return Ok(ClaimName {
            name: Some(name),
            check_owner: false,
        });
    }
    if pod_claim.resource_claim_template_name.is_none() {
        return Err(format!(
            "pod {}, spec.resourceClaim {}: none of the supported fields are set",
            quoted(&full_name(&pod.meta)),
            quoted(&pod_claim.name)
        ));
    }
    match statuses.get(pod_claim.name.as_str()) {
        Some(name) => Ok(ClaimName {
            name: *name,
            check_owner: true,
        }),
        None => Err(format!(
            "pod {}: ResourceClaim not created yet",
            quoted(&full_name(&pod.meta))
        )),
    }
}

/// Whether a generated claim was generated for this pod.
///
/// # Errors
/// A text that says why not.
pub fn is_for_pod(pod: &ObjectMeta, claim: &ObjectMeta, profile: &Profile) -> Result<(), String> {
    if claim.namespace == pod.namespace && is_controlled_by(claim, &pod.uid) {
        return Ok(());
    }
    let (pod_name, claim_name) = (full_name(pod), full_name(claim));
    let names_kind = profile.owner_texts_name_kind();
    if names_kind && claim.namespace != pod.namespace {
        return Err(format!(
            "ResourceClaim {claim_name} is not in the same namespace as Pod {pod_name}"
        ));
    }
    let kind = if names_kind { "Pod" } else { "pod" };
    Err(format!(
        "ResourceClaim {claim_name} was not created for {kind} {pod_name} ({kind} is not owner)"
    ))
}

/// Whether the first owner marked as controller has this uid (spec section 1.1).
pub fn is_controlled_by(object: &ObjectMeta, owner_uid: &str) -> bool {
    object.controller_uid.as_deref() == Some(owner_uid)
}

/// Whether the claim is reserved for the pod: only the uid counts.
pub fn is_reserved_for(claim: &ResourceClaim, pod_uid: &str) -> bool {
    claim
        .reserved_for
        .iter()
        .any(|consumer| consumer.uid == pod_uid)
}

/// Whether nobody but this pod has reserved the claim, so that it may be deallocated for it (spec section 7.4).
pub fn is_reserved_for_nobody_else(claim: &ResourceClaim, pod_uid: &str) -> bool {
    match claim.reserved_for.as_slice() {
        [] => true,
        [only] => only.uid == pod_uid,
        _ => false,
    }
}

/// The pod's name for claim number `position` of the walk's result, by which scheduling contexts know it (D10: 1.31
/// takes the position for an index into the spec although entries without a claim were left out).
pub fn entry_name<'a, C>(
    pod: &'a Pod,
    claims: &[PodClaim<C>],
    position: usize,
    profile: &Profile,
) -> Option<&'a str> {
    let entry = if profile.claims_keep_their_entry() {
        claims.get(position)?.entry
    } else {
        position
    };
    pod.resource_claims
        .get(entry)
        .map(|entry| entry.name.as_str())
}

/// Name of the request in the claim's spec: what a result or a reference calls `parent/sub` belongs to `parent`.
pub fn base_request(reference: &str) -> &str {
    reference
        .split_once('/')
        .map_or(reference, |(parent, _)| parent)
}

/// The config entries of an allocation that apply to a result: those without requests, and those that name its request
/// or its parent.
pub fn config_for_result<'a>(
    config: &'a [AllocationConfiguration],
    result_request: &str,
) -> Vec<&'a AllocationConfiguration> {
    let parent = base_request(result_request);
    let applies = |requests: &[String]| {
        requests.is_empty()
            || requests
                .iter()
                .any(|request| request == result_request || request == parent)
    };
    config
        .iter()
        .filter(|entry| applies(&entry.config.requests))
        .collect()
}

fn full_name(meta: &ObjectMeta) -> String {
    format!("{}/{}", meta.namespace, meta.name)
}

#[cfg(test)]
mod tests;
