//! The claims of a pod, read from the objects as they are at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::cluster::Cluster;
use crate::object::{Kind, Object};

use super::{ClaimReport, DeviceReport};

/// Kind of the claims.
pub const CLAIM: &str = "ResourceClaim.resource.k8s.io";
const TEMPLATE: &str = "ResourceClaimTemplate.resource.k8s.io";
const CLASS: &str = "DeviceClass.resource.k8s.io";

/// Every entry of the pod, with the claim that it stands for.
pub fn claims_of(pod: &Object, cluster: &Cluster) -> Vec<ClaimReport> {
    let statuses = statuses(pod);
    entries(pod)
        .map(|entry| report(pod, entry, &statuses, cluster))
        .collect()
}

/// Claim objects of a pod that exist, in the order of its entries.
pub fn objects_of<'a>(pod: &'a Object, cluster: &'a Cluster) -> impl Iterator<Item = &'a Object> {
    let statuses = statuses(pod);
    entries(pod).filter_map(move |entry| object(pod, claim_name(entry, &statuses)?, cluster))
}

/// Unallocated claims for control plane controllers, and for which one each.
pub fn classic_claims(cluster: &Cluster) -> Vec<(String, String)> {
    let kind = Kind::new(CLAIM);
    let mut claims: Vec<_> = cluster.list(&kind).collect();
    claims.sort_by_key(|entry| entry.slot);
    let classic = |claim: &Object| {
        // Hardly any claim has one, and the text of one that has not need not be parsed.
        if !claim.mentions("\"controller\":\"") {
            return None;
        }
        let controller = claim
            .text("/spec/controller")
            .filter(|name| !name.is_empty())?;
        let open = claim.value().pointer("/status/allocation").is_none();
        open.then(|| (claim.id().to_string(), controller.to_owned()))
    };
    claims
        .into_iter()
        .filter_map(|entry| classic(&entry.object))
        .collect()
}

/// Whether an entry by template has no claim yet. The claim stand-in has run, so it has no template either.
pub fn lacks_generated_claim(pod: &Object) -> bool {
    let statuses = statuses(pod);
    entries(pod).any(|entry| {
        let is_generated = entry
            .get("resourceClaimName")
            .and_then(Value::as_str)
            .is_none()
            && entry
                .get("resourceClaimTemplateName")
                .and_then(Value::as_str)
                .is_some();
        is_generated && status_entry(entry, &statuses).is_none()
    })
}

/// One entry of a pod's claims.
pub struct Entry<'a> {
    /// The pod's name for it.
    pub name: String,
    /// Name of the claim, if it has one.
    pub claim: Option<String>,
    /// Name of the template, if it is made from one.
    pub template: Option<String>,
    /// The claim; its template where there is no claim yet.
    pub object: Option<&'a Object>,
}

/// Every entry of the pod, with what it stands for.
pub fn entries_of<'a>(pod: &Object, cluster: &'a Cluster) -> Vec<Entry<'a>> {
    let statuses = statuses(pod);
    let one = |entry: &Value| {
        let claim = claim_name(entry, &statuses);
        let template = entry
            .get("resourceClaimTemplateName")
            .and_then(Value::as_str);
        let made_from = |template: &str| {
            let found = cluster.entry(&Kind::new(TEMPLATE), &pod.id().namespace, template);
            found.map(|entry| &entry.object)
        };
        Entry {
            name: text(entry, "name"),
            claim: claim.map(str::to_owned),
            template: template.map(str::to_owned),
            object: match claim {
                Some(claim) => object(pod, claim, cluster),
                None => template.and_then(made_from),
            },
        }
    };
    entries(pod).map(one).collect()
}

/// A pod and the claims that only it uses as if it had never been placed: to be stored in place of what is there.
pub fn as_if_pending(pod: &Object, cluster: &Cluster) -> Vec<Object> {
    let uid = &pod.id().uid;
    let own = |claim: &&Object| {
        let users = claim.value().pointer("/status/reservedFor");
        let users = users.and_then(Value::as_array).into_iter().flatten();
        users
            .filter_map(|user| user.get("uid")?.as_str())
            .all(|user| *user == **uid)
    };
    let freed = objects_of(pod, cluster).filter(own).map(|claim| {
        let mut value = claim.value().clone();
        if let Some(status) = value.get_mut("status").and_then(Value::as_object_mut) {
            status.shift_remove("allocation");
            status.shift_remove("reservedFor");
        }
        value
    });
    let mut pending = pod.value().clone();
    if let Some(spec) = pending.get_mut("spec").and_then(Value::as_object_mut) {
        spec.shift_remove("nodeName");
    }
    if let Some(status) = pending.get_mut("status").and_then(Value::as_object_mut) {
        status.shift_remove("phase");
    }
    let values = freed.chain([pending]).filter_map(|mut value| {
        let metadata = value.get_mut("metadata").and_then(Value::as_object_mut)?;
        metadata.shift_remove("resourceVersion");
        Object::from_value(value).ok()
    });
    values.collect()
}

/// Classes of devices that a pod asks for, and drivers that their selectors name.
pub fn wanted_of(pod: &Object, cluster: &Cluster) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    for entry in entries_of(pod, cluster) {
        let requests = entry.object.and_then(|object| {
            let paths = ["/spec/devices/requests", "/spec/spec/devices/requests"];
            paths
                .iter()
                .find_map(|path| object.value().pointer(path)?.as_array())
        });
        for class in requests.into_iter().flatten().flat_map(classes) {
            wanted.insert(format!("class {class}"));
            wanted.extend(driver_of(class, cluster).map(|driver| format!("driver {driver}")));
        }
    }
    wanted
}

/// The driver that a class takes devices of, if its selectors say so in the usual way.
fn driver_of(class: &str, cluster: &Cluster) -> Option<String> {
    let class = &cluster.entry(&Kind::new(CLASS), "", class)?.object;
    let selectors = class.value().pointer("/spec/selectors")?.as_array()?;
    let named = |selector: &Value| {
        let expression = selector.pointer("/cel/expression")?.as_str()?;
        let (_, rest) = expression.split_once("device.driver")?;
        let rest = rest.trim_start().strip_prefix("==")?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        Some(rest[1..].split(quote).next()?.to_owned())
    };
    selectors.iter().find_map(named)
}

fn entries(pod: &Object) -> impl Iterator<Item = &Value> {
    pod.value()
        .pointer("/spec/resourceClaims")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// What the pod's status says about its entries, by their names.
type Statuses<'a> = BTreeMap<&'a str, &'a Value>;

/// Of several for one entry the first counts.
fn statuses(pod: &Object) -> Statuses<'_> {
    let statuses = pod
        .value()
        .pointer("/status/resourceClaimStatuses")
        .and_then(Value::as_array);
    let all = statuses.into_iter().flatten().rev();
    all.filter_map(|status| Some((status.get("name")?.as_str()?, status)))
        .collect()
}

fn status_entry<'a>(entry: &Value, statuses: &Statuses<'a>) -> Option<&'a Value> {
    statuses.get(entry.get("name")?.as_str()?).copied()
}

fn claim_name<'a>(entry: &'a Value, statuses: &Statuses<'a>) -> Option<&'a str> {
    let direct = entry.get("resourceClaimName").and_then(Value::as_str);
    direct.or_else(|| {
        status_entry(entry, statuses)?
            .get("resourceClaimName")?
            .as_str()
    })
}

fn object<'a>(pod: &Object, name: &str, cluster: &'a Cluster) -> Option<&'a Object> {
    Some(
        &cluster
            .entry(&Kind::new(CLAIM), &pod.id().namespace, name)?
            .object,
    )
}

fn report(pod: &Object, entry: &Value, statuses: &Statuses<'_>, cluster: &Cluster) -> ClaimReport {
    let name = claim_name(entry, statuses);
    let claim = name.and_then(|name| object(pod, name, cluster));
    let allocation = claim
        .and_then(|claim| claim.value().pointer("/status/allocation"))
        .cloned()
        .unwrap_or_default();
    let results = allocation
        .pointer("/devices/results")
        .and_then(Value::as_array);
    ClaimReport {
        name: text(entry, "name"),
        claim: name.map(str::to_owned),
        devices: results.into_iter().flatten().map(device).collect(),
        allocation,
    }
}

fn device(result: &Value) -> DeviceReport {
    DeviceReport {
        request: text(result, "request"),
        driver: text(result, "driver"),
        pool: text(result, "pool"),
        device: text(result, "device"),
    }
}

fn text(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// What is wrong with the first entry that names neither a claim nor a template; an API server would refuse the pod.
pub fn unnamed_claim(pod: &Object) -> Option<String> {
    let names = |entry: &Value| {
        let text = |key| entry.get(key).is_some_and(Value::is_string);
        text("resourceClaimName") || text("resourceClaimTemplateName")
    };
    let (index, entry) = entries(pod).enumerate().find(|(_, entry)| !names(entry))?;
    let hint = match entry.get("source") {
        Some(_) => "; move them out of `source`, a form that Kubernetes 1.31 gave up",
        None => "",
    };
    Some(format!(
        "{}: spec.resourceClaims[{index}] has neither resourceClaimName nor resourceClaimTemplateName{hint}",
        pod.id()
    ))
}

/// Claims of a pod that has a node and therefore must have devices, of which the input does not tell: each with a sentence.
pub fn untold_claims(pod: &Object, cluster: &Cluster) -> Vec<String> {
    let node = pod.text("/spec/nodeName").unwrap_or_default();
    let over = matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"));
    if node.is_empty() || over {
        return Vec::new();
    }
    let statuses = statuses(pod);
    let untold = |entry: &Value| {
        let name = claim_name(entry, &statuses)?;
        let problem = match object(pod, name, cluster) {
            None => "is not in the input",
            Some(claim) if claim.value().pointer("/status/allocation").is_none() => {
                "is not allocated in the input"
            }
            Some(_) => return None,
        };
        let namespace = &pod.id().namespace;
        Some(format!(
            "runs on {node}, but its ResourceClaim {namespace}/{name} {problem}: the devices that it uses look free"
        ))
    };
    entries(pod).filter_map(untold).collect()
}

/// Objects that a pod depends on by name: its claims, their templates, and the classes that these claims name. Kind, namespace and
/// name each.
pub fn named_by(pod: &Object, cluster: &Cluster) -> Vec<(Kind, Arc<str>, String)> {
    let namespace = &pod.id().namespace;
    let mut named = Vec::new();
    let statuses = statuses(pod);
    for entry in entries(pod) {
        for (key, kind) in [
            ("resourceClaimTemplateName", TEMPLATE),
            ("resourceClaimName", CLAIM),
        ] {
            if let Some(name) = entry.get(key).and_then(Value::as_str) {
                named.push((Kind::new(kind), namespace.clone(), name.to_owned()));
            }
        }
        let claim = claim_name(entry, &statuses).and_then(|name| object(pod, name, cluster));
        let requests = claim
            .and_then(|claim| claim.value().pointer("/spec/devices/requests"))
            .and_then(Value::as_array);
        for class in requests.into_iter().flatten().flat_map(classes) {
            named.push((Kind::new(CLASS), Arc::from(""), class.to_owned()));
        }
    }
    named
}

/// Classes of a request, in any API version.
fn classes(request: &Value) -> impl Iterator<Item = &str> {
    let alternatives = request
        .get("firstAvailable")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let forms = [Some(request), request.get("exactly")]
        .into_iter()
        .flatten()
        .chain(alternatives);
    forms.filter_map(|form| form.get("deviceClassName").and_then(Value::as_str))
}
