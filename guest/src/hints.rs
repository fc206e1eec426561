//! Which events help a pod that this plugin rejected (spec section 12; upstream: `EventsToRegister` and the three
//! `isSchedulableAfter...` functions).

mod waiting;

pub use waiting::Waiting;

use std::rc::Rc;

use crate::api::wire::{self, Problem};
use crate::api::{Pod, PodSchedulingContext, ResourceClaim};
use crate::claims::PodClaim;
use crate::host::kinds;
use crate::profile::{Feature, Profile};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Added.
    Add,
    /// Updated.
    Update,
    /// Deleted.
    Delete,
}

/// Events that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// Kind.
    pub kind: &'static str,
    /// Actions.
    pub actions: Vec<Action>,
    /// Ask `hints` first.
    pub hinted: bool,
}

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind.
    pub kind: String,
    /// Absent for an addition.
    pub old: Option<crate::host::Object>,
    /// Absent for a deletion.
    pub new: Option<crate::host::Object>,
}

/// Answer for one pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Does not help.
    Skip,
    /// May help.
    Queue,
}

/// The events to register. Node updates are not told apart by the contract: labels and taints count alike.
pub fn events_to_register(profile: &Profile) -> Vec<Interest> {
    if !profile.enabled(Feature::DynamicResourceAllocation) {
        return Vec::new();
    }
    let hinted = profile.enabled(Feature::SchedulerQueueingHints);
    let interest = |kind, hinted| Interest {
        kind,
        actions: vec![Action::Add, Action::Update],
        hinted,
    };
    let mut interests = vec![
        interest(kinds::NODE, false),
        interest(kinds::RESOURCE_CLAIM, hinted),
        interest(kinds::DEVICE_CLASS, false),
        interest(kinds::RESOURCE_SLICE, hinted),
    ];
    if profile.deleted_claims_wake_pods() {
        interests[1].actions.push(Action::Delete);
    }
    if profile.enabled(Feature::DraDeviceTaintRules) {
        // Upstream's tracker turns a change of a rule into one of the slices concerned.
        let mut rules = interest(kinds::DEVICE_TAINT_RULE, false);
        rules.actions.push(Action::Delete);
        interests.push(rules);
    }
    if profile.enabled(Feature::DraControlPlaneController) {
        interests.push(interest(kinds::POD_SCHEDULING_CONTEXT, hinted));
    }
    interests
}

/// An event, read once for all pods that wait.
pub enum Decoded {
    /// Spec 12.1.
    Claim(Change<ResourceClaim>),
    /// Spec 12.2.
    Slice,
    /// Spec 12.3.
    Context(Change<PodSchedulingContext>),
    /// A kind without a hint function: it always may help.
    Other,
}

/// Old and new object of an event.
pub struct Change<T> {
    old: Option<Box<T>>,
    new: Option<Box<T>>,
}

type PodClaims = Vec<PodClaim<Rc<ResourceClaim>>>;

impl Change<ResourceClaim> {
    /// Whether devices became free, or the claim may be one of the pod's: it is known by its name. Otherwise
    /// [`after_claim_change`] skips.
    fn may_help(&self, pod: &Pod) -> bool {
        let Some(new) = &self.new else { return true };
        let had_devices = self
            .old
            .as_ref()
            .is_some_and(|old| old.allocation.is_some());
        let mut generated = pod.resource_claim_statuses.iter();
        had_devices && new.allocation.is_none()
            || pod.meta.namespace == new.meta.namespace
                && (generated.any(|(_, name)| name.as_ref() == Some(&new.meta.name))
                    || pod
                        .resource_claims
                        .iter()
                        .any(|entry| entry.resource_claim_name.as_ref() == Some(&new.meta.name)))
    }
}

impl Decoded {
    /// Reads the objects. The error is upstream's for an object of another type, or says what cannot be read.
    pub fn new(event: &Event, profile: &Profile) -> Result<Self, String> {
        match event.kind.as_str() {
            kinds::RESOURCE_CLAIM => {
                check_types(event, "isSchedulableAfterClaimChange", "ResourceClaim")?;
                change(event, |json| wire::resource_claim(json, profile)).map(Self::Claim)
            }
            kinds::RESOURCE_SLICE => {
                check_types(
                    event,
                    "isSchedulableAfterResourceSliceChange",
                    "ResourceSlice",
                )?;
                Ok(Self::Slice)
            }
            kinds::POD_SCHEDULING_CONTEXT => {
                // A deletion is no help whatever it deleted (spec 12.3, step 1).
                if event.new.is_some() || event.old.is_none() {
                    check_types(
                        event,
                        "isSchedulableAfterPodSchedulingContextChange",
                        "PodSchedulingContext",
                    )?;
                }
                change(event, wire::pod_scheduling_context).map(Self::Context)
            }
            _ => Ok(Self::Other),
        }
    }

    /// The answer for one pod; `resolve` finds its claims, or fails.
    pub fn hint<E>(
        &self,
        profile: &Profile,
        pod: &Pod,
        resolve: impl FnOnce() -> Result<PodClaims, E>,
    ) -> Hint {
        match self {
            Self::Claim(change) => {
                // Resolving costs more than all the rest, and most claims are those of other pods.
                if !change.may_help(pod) {
                    return Hint::Skip;
                }
                let claims = resolve().ok();
                after_claim_change(
                    profile,
                    claims.as_deref(),
                    change.old.as_deref(),
                    change.new.as_deref(),
                )
            }
            Self::Slice => after_slice_change(resolve().is_ok()),
            Self::Context(change) => {
                let resolve = || resolve().ok();
                after_context_change(
                    profile,
                    pod,
                    resolve,
                    change.old.as_deref(),
                    change.new.as_deref(),
                )
            }
            Self::Other => Hint::Queue,
        }
    }
}

fn change<T>(
    event: &Event,
    read: impl Fn(&[u8]) -> Result<T, Problem>,
) -> Result<Change<T>, String> {
    let read = |object: &Option<crate::host::Object>| {
        object
            .as_ref()
            .map(|object| read(&object.json).map(Box::new))
            .transpose()
            .map_err(|problem| problem.to_string())
    };
    Ok(Change {
        old: read(&event.old)?,
        new: read(&event.new)?,
    })
}

/// The new object is tested first, then the old one; an absent one passes. Types are those of Go, as in upstream's text.
fn check_types(event: &Event, function: &str, kind: &str) -> Result<(), String> {
    let expected = format!("*v1alpha3.{kind}");
    for object in [&event.new, &event.old].into_iter().flatten() {
        let value: serde_json::Value = serde_json::from_slice(&object.json).unwrap_or_default();
        if value.get("kind").and_then(serde_json::Value::as_str) == Some(kind) {
            continue;
        }
        let got = go_type(&value);
        return Err(format!(
            "unexpected object in {function}: expected {expected}, but got {got}"
        ));
    }
    Ok(())
}

fn go_type(value: &serde_json::Value) -> String {
    let text = |key: &str| value.get(key).and_then(serde_json::Value::as_str);
    match (value, text("apiVersion"), text("kind")) {
        (serde_json::Value::String(_), _, _) => "string".into(),
        (_, Some(version), Some(kind)) => {
            let package = version.rsplit('/').next().unwrap_or(version);
            format!("*{package}.{kind}")
        }
        _ => "<nil>".into(),
    }
}

/// Spec 12.1. `claims`: the pod's claims, if they can be resolved.
pub fn after_claim_change(
    profile: &Profile,
    claims: Option<&[PodClaim<Rc<ResourceClaim>>]>,
    old: Option<&ResourceClaim>,
    new: Option<&ResourceClaim>,
) -> Hint {
    let Some(claims) = claims else {
        return Hint::Skip;
    };
    let was_structured = old
        .and_then(|old| old.allocation.as_ref())
        .is_some_and(|old| old.controller.is_empty());
    let Some(new) = new else {
        // A deleted claim frees its devices; 1.31 does not register for it.
        return if was_structured && profile.deleted_claims_wake_pods() {
            Hint::Queue
        } else {
            Hint::Skip
        };
    };
    if was_structured && new.allocation.is_none() {
        return Hint::Queue;
    }
    if !claims
        .iter()
        .any(|claim| claim.claim.meta.uid == new.meta.uid)
    {
        return Hint::Skip;
    }
    match old {
        Some(old) if status_equal(old, new) => Hint::Skip,
        _ => Hint::Queue,
    }
}

/// Semantic equality of the status: the model already treats absent and empty lists alike, and keeps absent and empty
/// optional objects apart.
fn status_equal(old: &ResourceClaim, new: &ResourceClaim) -> bool {
    old.allocation == new.allocation
        && old.reserved_for == new.reserved_for
        && old.deallocation_requested == new.deallocation_requested
}

/// Spec 12.2. `resolved`: whether the pod's claims can be.
pub fn after_slice_change(resolved: bool) -> Hint {
    if resolved { Hint::Queue } else { Hint::Skip }
}

/// Spec 12.3.
pub fn after_context_change(
    profile: &Profile,
    pod: &Pod,
    claims: impl FnOnce() -> Option<Vec<PodClaim<Rc<ResourceClaim>>>>,
    old: Option<&PodSchedulingContext>,
    new: Option<&PodSchedulingContext>,
) -> Hint {
    let Some(new) = new else { return Hint::Skip };
    if new.meta.name != pod.meta.name || new.meta.namespace != pod.meta.namespace {
        return Hint::Skip;
    }
    let Some(claims) = claims() else {
        return Hint::Skip;
    };
    for claim in claims
        .iter()
        .filter(|claim| claim.claim.allocation.is_none())
    {
        // D12: upstream also waits for structured claims, about which no driver will ever say anything.
        if profile.context_hint_counts_classic_claims_only() && claim.claim.controller.is_empty() {
            continue;
        }
        let entry = pod
            .resource_claims
            .get(claim.entry)
            .map(|entry| entry.name.as_str());
        if !new
            .claims
            .iter()
            .any(|(name, _)| Some(name.as_str()) == entry)
        {
            return Hint::Skip;
        }
    }
    let Some(old) = old else { return Hint::Queue };
    if old.claims.len() < new.claims.len() {
        return Hint::Queue;
    }
    let selected_is_unsuitable = !new.selected_node.is_empty()
        && new
            .claims
            .iter()
            .any(|(_, unsuitable)| unsuitable.contains(&new.selected_node));
    if selected_is_unsuitable {
        return Hint::Queue;
    }
    let spec_equal =
        old.selected_node == new.selected_node && old.potential_nodes == new.potential_nodes;
    if !spec_equal && old.claims == new.claims {
        return Hint::Skip;
    }
    Hint::Queue
}
