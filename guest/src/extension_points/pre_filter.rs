//! PreFilter: collects the pod's claims and decides whether any node is worth trying (spec 7.2).

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::allocator::Allocator;
use crate::api::{Pod, RequestBody, ResourceClaim};
use crate::claims;
use crate::cycle::{ClaimInfo, Scope, State};
use crate::host::Host;
use crate::node_selector::NodeSelector;
use crate::plugin::Instance;
use crate::profile::Feature;
use crate::scheduling_context::Context;
use crate::status::{Code, Status};

use super::pre_enqueue::rejection;

/// Fills the state, completely or not at all, and returns the scope.
pub fn pre_filter(instance: &Instance, host: &dyn Host, pod: &Pod, state: &mut State) -> Scope {
    match prepare(instance, host, pod) {
        Ok(None) => Scope::Skip,
        Ok(Some(prepared)) => {
            *state = prepared;
            Scope::AllNodes
        }
        Err(status) => Scope::Rejected(status),
    }
}

fn prepare(instance: &Instance, host: &dyn Host, pod: &Pod) -> Result<Option<State>, Status> {
    let pod_claims = claims::pod_claims(pod, instance.profile(), |namespace, name| {
        instance.claim(host, namespace, name)
    })
    .map_err(rejection)?;
    if pod_claims.is_empty() {
        return Ok(None);
    }
    let mut state = State {
        context: known_context(instance, pod)?,
        ..State::default()
    };
    let mut to_allocate = Vec::new();
    for (position, claim) in pod_claims.iter().enumerate() {
        let entry =
            claims::entry_name(pod, &pod_claims, position, instance.profile()).unwrap_or_default();
        check_reservable(instance, pod, &claim.claim)?;
        let info = inspect(
            instance,
            &state.context,
            entry.to_owned(),
            Rc::clone(&claim.claim),
        )?;
        if info.claim.allocation.is_none() && info.structured {
            to_allocate.push(Rc::clone(&info.claim));
        }
        state.claims.push(info);
    }
    if !to_allocate.is_empty() {
        if let Some(problem) = instance.view.unusable_taint_rule() {
            return Err(Status::new(Code::InvalidObject, problem));
        }
        state.allocator = Some(Allocator::new(to_allocate));
    }
    Ok(Some(state))
}

/// An allocated claim has room for one more consumer, or the pod is one of them.
fn check_reservable(instance: &Instance, pod: &Pod, claim: &ResourceClaim) -> Result<(), Status> {
    let Some(most) = instance.profile().most_consumers() else {
        return Ok(());
    };
    if claim.allocation.is_none()
        || claim.reserved_for.len() < most
        || claims::is_reserved_for(claim, &pod.meta.uid)
    {
        return Ok(());
    }
    Err(Status::unresolvable(format!(
        "resourceclaim in use: claim {}/{} is reserved for {} consumers, at most {most} are allowed",
        claim.meta.namespace,
        claim.meta.name,
        claim.reserved_for.len()
    )))
}

/// The pod's scheduling context, if classic DRA is on and it is there.
fn known_context(instance: &Instance, pod: &Pod) -> Result<Context, Status> {
    if !instance
        .profile()
        .enabled(Feature::DraControlPlaneController)
    {
        return Ok(Context::default());
    }
    match instance
        .view
        .scheduling_context(&pod.meta.namespace, &pod.meta.name)
    {
        None => Ok(Context::default()),
        Some(Err(problem)) => Err(Status::new(Code::InvalidObject, problem.to_string())),
        Some(Ok(known)) if known.meta.controller_uid.as_deref() == Some(pod.meta.uid.as_str()) => {
            Ok(Context {
                known: Some(Rc::clone(known)),
                ..Context::default()
            })
        }
        Some(Ok(known)) => Err(Status::error(format!(
            "PodSchedulingContext object with UID {} is not owned by Pod {}/{}",
            known.meta.uid, pod.meta.namespace, pod.meta.name
        ))),
    }
}

/// Checks one claim; the steps are those of spec 7.2.6.
fn inspect(
    instance: &Instance,
    context: &Context,
    entry: String,
    claim: Rc<ResourceClaim>,
) -> Result<ClaimInfo, Status> {
    if !claim.controller.is_empty()
        && !instance
            .profile()
            .enabled(Feature::DraControlPlaneController)
    {
        return Err(Status::unresolvable(
            "resourceclaim depends on disabled DRAControlPlaneController feature",
        ));
    }
    if claim.deallocation_requested {
        return Err(Status::unresolvable("resourceclaim must be reallocated"));
    }
    let mut info = ClaimInfo {
        entry,
        structured: claim.controller.is_empty(),
        available_on_nodes: BTreeMap::new(),
        unsuitable_nodes: None,
        allocation: None,
        claim: Rc::clone(&claim),
    };
    if let Some(allocation) = &claim.allocation {
        info.structured = allocation.controller.is_empty();
        if let Some(selector) = &allocation.node_selector {
            let selector = NodeSelector::parse(selector).map_err(Status::error)?;
            info.available_on_nodes.insert(String::new(), selector);
        }
        return Ok(info);
    }
    if info.structured {
        if instance.view.is_in_flight(&claim.meta.uid) {
            return Err(Status::unresolvable(format!(
                "resource claim {}/{} is in the process of being allocated",
                claim.meta.namespace, claim.meta.name
            )));
        }
    } else {
        info.unsuitable_nodes = context
            .unsuitable_nodes(&info.entry)
            .map(<[String]>::to_vec);
    }
    check_classes(instance, &mut info)?;
    Ok(info)
}

/// Every request's class exists; classic claims also take the class's node selector.
fn check_classes(instance: &Instance, info: &mut ClaimInfo) -> Result<(), Status> {
    let claim = Rc::clone(&info.claim);
    for request in &claim.requests {
        match &request.body {
            RequestBody::FirstAvailable(alternatives) if !alternatives.is_empty() => {
                for (name, alternative) in alternatives {
                    let name = format!("{}/{name}", request.name);
                    check_class(instance, info, &name, &alternative.device_class_name)?;
                }
            }
            RequestBody::FirstAvailable(_) => check_class(instance, info, &request.name, "")?,
            RequestBody::Exactly(exactly) => {
                check_class(instance, info, &request.name, &exactly.device_class_name)?;
            }
        }
    }
    Ok(())
}

fn check_class(
    instance: &Instance,
    info: &mut ClaimInfo,
    request: &str,
    class_name: &str,
) -> Result<(), Status> {
    if class_name.is_empty() {
        let text = format!("request {request}: unsupported request type");
        return Err(Status::error(text));
    }
    let class = match instance.view.class(class_name) {
        None => {
            let text = format!("request {request}: device class {class_name} does not exist");
            return Err(Status::unresolvable(text));
        }
        Some(Err(problem)) => {
            return Err(Status::new(Code::InvalidObject, problem.to_string()));
        }
        Some(Ok(class)) => class,
    };
    if let (false, Some(selector)) = (info.structured, &class.suitable_nodes) {
        let selector = NodeSelector::parse(selector).map_err(Status::error)?;
        info.available_on_nodes
            .insert(class_name.to_owned(), selector);
    }
    Ok(())
}
