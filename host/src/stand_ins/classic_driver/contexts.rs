//! One PodSchedulingContext: which nodes will not do, and allocation on the selected one (upstream:
//! `syncPodSchedulingContexts`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::devices::Devices;
use super::{CONTEXT, Next, claims, driver_of, is_going, list, update_status, write};
use crate::api::ApiServer;
use crate::api::metadata::child;
use crate::object::{Kind, Object};
use crate::stand_ins::schema::{CLAIM, CLASS, POD};

/// Most names of nodes in a list of a context.
const NODES_LIMIT: usize = 128;

/// A claim of the pod that a driver has to allocate.
struct Pending {
    /// The pod's name for it.
    entry: String,
    claim: Object,
}

/// Answers one context, each driver for itself.
pub(super) fn sync(api: &mut ApiServer, namespace: &str, name: &str) -> Result<Next, String> {
    let Some(context) = api.stored(&Kind::new(CONTEXT), namespace, name).cloned() else {
        return Ok(Next::Nothing);
    };
    let (selected, potential) = nodes(&context);
    if is_going(&context) || (selected.is_empty() && potential.is_empty()) {
        return Ok(Next::Nothing);
    }
    let pod = api.stored(&Kind::new(POD), namespace, name).cloned();
    let Some(pod) = pod.filter(|pod| !is_going(pod) && is_controlled_by(&context, pod)) else {
        return Ok(Next::Nothing);
    };
    for (driver, pending) in pending_claims(api, &pod)? {
        answer(api, namespace, name, &pod, &driver, &pending)?;
    }
    Ok(Next::Recheck)
}

/// Selected node, and potential nodes.
fn nodes(context: &Object) -> (String, Vec<String>) {
    let selected = context.text("/spec/selectedNode").unwrap_or_default();
    let potential = list(context.value(), "/spec/potentialNodes").filter_map(Value::as_str);
    (selected.to_owned(), potential.map(str::to_owned).collect())
}

fn is_controlled_by(object: &Object, owner: &Object) -> bool {
    let mut references = list(object.value(), "/metadata/ownerReferences");
    let controller =
        references.find(|reference| reference.get("controller") == Some(&Value::Bool(true)));
    let uid = controller.and_then(|reference| reference.get("uid")?.as_str());
    uid == Some(&*owner.id().uid)
}

/// What is to be allocated, by driver. The error names a claim that cannot be, which holds up all.
fn pending_claims(api: &ApiServer, pod: &Object) -> Result<BTreeMap<String, Vec<Pending>>, String> {
    let mut pending: BTreeMap<String, Vec<Pending>> = BTreeMap::new();
    for entry in list(pod.value(), "/spec/resourceClaims") {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let name = text("name").unwrap_or_default();
        let direct = text("resourceClaimName");
        let generated = || {
            let mut statuses = list(pod.value(), "/status/resourceClaimStatuses");
            let status =
                statuses.find(|status| status.get("name").and_then(Value::as_str) == Some(name))?;
            status.get("resourceClaimName")?.as_str()
        };
        let Some(claim_name) = direct.or_else(generated) else {
            continue;
        };
        let claim = api.stored(&Kind::new(CLAIM), &pod.id().namespace, claim_name);
        let Some((claim, driver)) = claim.and_then(|claim| Some((claim, driver_of(claim)?))) else {
            continue;
        };
        if direct.is_none() && !is_controlled_by(claim, pod) {
            return Err(format!("pod claim {name}: {} is another pod's", claim.id()));
        }
        if claim.value().pointer("/status/allocation").is_some() {
            continue;
        }
        check_classes(api, claim).map_err(|problem| format!("pod claim {name}: {problem}"))?;
        pending.entry(driver.to_owned()).or_default().push(Pending {
            entry: name.to_owned(),
            claim: claim.clone(),
        });
    }
    Ok(pending)
}

fn check_classes(api: &ApiServer, claim: &Object) -> Result<(), String> {
    for request in list(claim.value(), "/spec/devices/requests") {
        let class = request.get("deviceClassName").and_then(Value::as_str);
        let class = class.filter(|class| !class.is_empty());
        if let Some(class) =
            class.filter(|class| api.stored(&Kind::new(CLASS), "", class).is_none())
        {
            return Err(format!("there is no DeviceClass {class}"));
        }
    }
    Ok(())
}

/// One driver's part: it says which nodes will not do, and if the selected node is none of them allocates there.
fn answer(
    api: &mut ApiServer,
    namespace: &str,
    name: &str,
    pod: &Object,
    driver: &str,
    pending: &[Pending],
) -> Result<(), String> {
    // Another driver may have written in between.
    let Some(context) = api.stored(&Kind::new(CONTEXT), namespace, name).cloned() else {
        return Ok(());
    };
    let (selected, potential) = nodes(&context);
    let values: Vec<&Value> = pending
        .iter()
        .map(|pending| pending.claim.value())
        .collect();
    let devices = Devices::of(api, driver);
    let fits = |node: &str| devices.choose(api, node, &values).is_some();
    let also = (!selected.is_empty() && !potential.contains(&selected)).then_some(&selected);
    let mut unsuitable = Vec::new();
    if !potential.is_empty() {
        let nodes = potential.iter().chain(also);
        unsuitable.extend(nodes.filter(|node| !fits(node)).cloned());
    }
    if !selected.is_empty() && !unsuitable.contains(&selected) {
        let choices = devices.choose(api, &selected, &values);
        let choices =
            choices.ok_or_else(|| format!("{driver} has too few devices on {selected}"))?;
        for (pending, choices) in pending.iter().zip(&choices) {
            claims::allocate(api, &pending.claim, pod, &selected, choices)
                .map_err(|problem| format!("{}: {problem}", pending.claim.id()))?;
        }
    }
    tell(api, &context, pending, &unsuitable, &selected)
}

/// Writes the unsuitable nodes into the context's status, if that changes anything.
fn tell(
    api: &mut ApiServer,
    context: &Object,
    pending: &[Pending],
    unsuitable: &[String],
    selected: &str,
) -> Result<(), String> {
    let shown = shortened(unsuitable, selected);
    let mut statuses: Vec<Value> = list(context.value(), "/status/resourceClaims")
        .cloned()
        .collect();
    for Pending { entry, .. } in pending {
        let mut status = json!({"name": entry});
        if !shown.is_empty() {
            status["unsuitableNodes"] = json!(shown);
        }
        match statuses.iter_mut().find(|known| known["name"] == **entry) {
            Some(known) => *known = status,
            None => statuses.push(status),
        }
    }
    if list(context.value(), "/status/resourceClaims").eq(&statuses) {
        return Ok(());
    }
    let set = |context: &mut Value| {
        child(context, "status").insert("resourceClaims".to_owned(), statuses.into());
    };
    write(
        api,
        context,
        "update unsuitable node status",
        set,
        update_status,
    )
    .map(|_| ())
}

/// The list may be one too long, by the selected node, which must stay.
fn shortened<'a>(nodes: &'a [String], selected: &str) -> &'a [String] {
    match nodes {
        [first, .., _] if nodes.len() > NODES_LIMIT && first == selected => {
            &nodes[..nodes.len() - 1]
        }
        [_, rest @ ..] if nodes.len() > NODES_LIMIT => rest,
        _ => nodes,
    }
}
