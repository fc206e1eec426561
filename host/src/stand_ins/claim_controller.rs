//! Stands in for the resource claim controller (upstream: `pkg/controller/resourceclaim`): generates the claims that pods
//! ask for by template and names them in the pods' status.
//!
//! Differences: names are `<pod>-<entry>` without a random end, so that the same input gives the same names; claims are
//! neither deleted nor released here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::schema::{CLAIM, CLAIM_TEMPLATE, POD};
use crate::api::{ApiServer, Caller, Warning};
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{Action, ApiCall, ApiError, ApiErrorReason, ObjectEvent};

/// Annotation of a generated claim: which entry of the pod it is for.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

/// Longest name of an object.
const NAME_LIMIT: usize = 253;

/// Namespace and name of a pod.
type PodKey = (Arc<str>, Arc<str>);

/// Which pods lack claims, followed through the caches' events so that a run costs nothing when there is nothing to do.
#[derive(Debug, Default)]
pub struct ClaimController {
    /// Pods to look at, in the order in which they turned up.
    queue: VecDeque<PodKey>,
    /// The same, to find them.
    queued: BTreeSet<PodKey>,
    /// Pods that wait for a template, by its namespace and name.
    waiting: BTreeMap<PodKey, BTreeSet<PodKey>>,
    /// Generated claims by the uid of their pod, then the pod's entry.
    generated: BTreeMap<Arc<str>, BTreeMap<String, Arc<str>>>,
    /// What was said already: uid of the pod, entry, text.
    told: BTreeSet<(Arc<str>, String, String)>,
}

impl ClaimController {
    /// Notes what an event means for the work to do.
    pub fn observe(&mut self, event: &ObjectEvent) {
        match (event.kind.as_str(), event.new.as_ref(), event.old.as_ref()) {
            (POD, Some(pod), _) if lacks_claims(pod.value()) => {
                self.enqueue((pod.id().namespace.clone(), pod.id().name.clone()));
            }
            (POD, None, Some(pod)) => self.forget_pod(pod.id()),
            (CLAIM_TEMPLATE, Some(template), _) => {
                let key = (template.id().namespace.clone(), template.id().name.clone());
                self.waiting
                    .remove(&key)
                    .into_iter()
                    .flatten()
                    .for_each(|pod| self.enqueue(pod));
            }
            (CLAIM, Some(claim), _) if event.action == Action::Add => self.note_claim(claim),
            (CLAIM, None, Some(claim)) => self.forget_claim(claim),
            _ => (),
        }
    }

    /// Looks at the pods that may lack claims. What fails is tried again by the next run.
    pub fn run(&mut self, api: &mut ApiServer) -> Vec<Warning> {
        let mut warnings = Vec::new();
        self.queued.clear();
        for key in std::mem::take(&mut self.queue) {
            let Some(pod) = api.stored(&Kind::new(POD), &key.0, &key.1).cloned() else {
                continue;
            };
            if let Err(error) = self.provide(api, &key, &pod, &mut warnings) {
                warnings.push(Warning::new(
                    pod.id(),
                    format!("generating its claims failed: {error}"),
                ));
                self.enqueue(key);
            }
        }
        warnings
    }

    fn enqueue(&mut self, pod: PodKey) {
        if self.queued.insert(pod.clone()) {
            self.queue.push_back(pod);
        }
    }

    fn forget_pod(&mut self, pod: &ObjectRef) {
        let said = (pod.uid.clone(), String::new(), String::new());
        let of_pod: Vec<_> = self
            .told
            .range(said..)
            .take_while(|(uid, ..)| *uid == pod.uid)
            .cloned()
            .collect();
        of_pod.iter().for_each(|said| _ = self.told.remove(said));
    }

    fn note_claim(&mut self, claim: &Object) {
        if let Some((pod, entry)) = purpose(claim) {
            let entries = self.generated.entry(pod.into()).or_default();
            entries
                .entry(entry.to_owned())
                .or_insert_with(|| claim.id().name.clone());
        }
    }

    fn forget_claim(&mut self, claim: &Object) {
        let Some((pod, entry)) = purpose(claim) else {
            return;
        };
        let Some(entries) = self.generated.get_mut(pod) else {
            return;
        };
        if entries.get(entry) == Some(&claim.id().name) {
            entries.remove(entry);
        }
        if entries.is_empty() {
            self.generated.remove(pod);
        }
    }

    /// Makes the claims that one pod lacks, then writes its status once.
    fn provide(
        &mut self,
        api: &mut ApiServer,
        key: &PodKey,
        pod: &Object,
        warnings: &mut Vec<Warning>,
    ) -> Result<(), ApiError> {
        if !lacks_claims(pod.value()) {
            return Ok(());
        }
        let mut made = Vec::new();
        let mut outcome = Ok(());
        for Missing { entry, template } in missing_claims(pod.value()) {
            match self.claim_for(api, pod, entry, template) {
                Ok(claim) => made.push(json!({"name": entry, "resourceClaimName": &*claim})),
                Err(error) if error.reason == ApiErrorReason::NotFound => {
                    self.waiting
                        .entry((key.0.clone(), template.into()))
                        .or_default()
                        .insert(key.clone());
                    let message = format!(
                        "waits for its claim {entry:?}: there is no ResourceClaimTemplate {}/{template}",
                        key.0
                    );
                    self.warn_once(pod.id(), entry, message, warnings);
                }
                Err(error) => outcome = Err(error),
            }
        }
        if !made.is_empty() {
            let object = with_statuses(pod, made);
            api.call(Caller::Other, &ApiCall::UpdateStatus { object })?;
        }
        outcome
    }

    fn warn_once(
        &mut self,
        pod: &ObjectRef,
        entry: &str,
        message: String,
        warnings: &mut Vec<Warning>,
    ) {
        if self
            .told
            .insert((pod.uid.clone(), entry.to_owned(), message.clone()))
        {
            warnings.push(Warning::new(pod, message));
        }
    }

    /// Name of the claim for one entry, generated if it is not there yet. `NotFound` means the template.
    fn claim_for(
        &mut self,
        api: &mut ApiServer,
        pod: &Object,
        entry: &str,
        template: &str,
    ) -> Result<Arc<str>, ApiError> {
        let ObjectRef {
            namespace,
            name,
            uid,
            ..
        } = pod.id();
        let kind = Kind::new(CLAIM);
        let is_ours = |claim: &Object| purpose(claim) == Some((uid, entry));
        let known = self
            .generated
            .get(uid)
            .and_then(|entries| entries.get(entry));
        if let Some(known) =
            known.filter(|known| api.stored(&kind, namespace, known).is_some_and(is_ours))
        {
            return Ok(known.clone());
        }
        let mut claim_name = shortened(format!("{name}-{entry}"));
        match api.stored(&kind, namespace, &claim_name) {
            Some(claim) if is_ours(claim) => return Ok(claim_name.into()),
            Some(_) => {
                claim_name = with_hash(&claim_name, uid);
                if let Some(claim) = api
                    .stored(&kind, namespace, &claim_name)
                    .filter(|claim| is_ours(claim))
                {
                    return Ok(claim.id().name.clone());
                }
            }
            None => (),
        }
        let get = ApiCall::Get {
            kind: Kind::new(CLAIM_TEMPLATE),
            namespace: namespace.to_string(),
            name: template.to_owned(),
        };
        let found = api.call(Caller::Other, &get)?;
        let value = found.as_ref().map_or(&Value::Null, Object::value);
        let object = Object::from_value(generated_claim(value, pod.id(), entry, &claim_name)).map_err(|error| {
            let message = format!("the claim from ResourceClaimTemplate {namespace}/{template} is no object: {error}");
            ApiError { reason: ApiErrorReason::Invalid, message }
        })?;
        let created = api.call(Caller::Other, &ApiCall::Create { object })?;
        if let Some(created) = created {
            self.note_claim(&created);
        }
        Ok(claim_name.into())
    }
}

/// An entry of a pod for which there is no claim.
struct Missing<'a> {
    entry: &'a str,
    template: &'a str,
}

/// Entries by template without a status entry, in the order of the pod.
fn missing_claims(pod: &Value) -> impl Iterator<Item = Missing<'_>> {
    let list = |pointer: &str| {
        pod.pointer(pointer)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let text = |value: &'_ Value, field: &str| -> Option<String> {
        value.get(field)?.as_str().map(str::to_owned)
    };
    let done: BTreeSet<String> = list("/status/resourceClaimStatuses")
        .filter_map(|status| text(status, "name"))
        .collect();
    list("/spec/resourceClaims").filter_map(move |claim| {
        let text = |field: &str| claim.get(field)?.as_str();
        let (entry, template) = (text("name")?, text("resourceClaimTemplateName")?);
        let by_name = text("resourceClaimName").is_some();
        (!by_name && !done.contains(entry)).then_some(Missing { entry, template })
    })
}

/// Whether the controller has something to do for a pod: one that is over or being deleted needs no claims any more.
fn lacks_claims(pod: &Value) -> bool {
    // The first look is for the many pods without claims.
    pod.pointer("/spec/resourceClaims").is_some()
        && !matches!(
            pod.pointer("/status/phase").and_then(Value::as_str),
            Some("Succeeded" | "Failed")
        )
        && pod
            .pointer("/metadata/deletionTimestamp")
            .is_none_or(Value::is_null)
        && missing_claims(pod).next().is_some()
}

/// The pod, by uid, and its entry that a claim was generated for.
fn purpose(claim: &Object) -> Option<(&str, &str)> {
    let metadata = claim.metadata();
    let entry = metadata.get("annotations")?.get(POD_CLAIM_NAME)?.as_str()?;
    let owners = metadata.get("ownerReferences")?.as_array()?;
    let controller = owners
        .iter()
        .find(|owner| owner.get("controller") == Some(&Value::Bool(true)))?;
    Some((controller.get("uid")?.as_str()?, entry))
}

fn generated_claim(template: &Value, pod: &ObjectRef, entry: &str, name: &str) -> Value {
    let spec = template.get("spec");
    let field = |name: &str| {
        spec.and_then(|spec| spec.get("metadata")?.get(name)?.as_object())
            .cloned()
    };
    let mut metadata = Map::new();
    metadata.insert("name".into(), name.into());
    metadata.insert("namespace".into(), (*pod.namespace).into());
    if let Some(labels) = field("labels") {
        metadata.insert("labels".into(), labels.into());
    }
    let mut annotations = field("annotations").unwrap_or_default();
    annotations.insert(POD_CLAIM_NAME.into(), entry.into());
    metadata.insert("annotations".into(), annotations.into());
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": &*pod.name, "uid": &*pod.uid,
        "controller": true, "blockOwnerDeletion": true});
    metadata.insert("ownerReferences".into(), json!([owner]));
    json!({
        "apiVersion": template.get("apiVersion"),
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": spec.and_then(|spec| spec.get("spec")).unwrap_or(&json!({})),
    })
}

/// The pod with more entries in its status.
fn with_statuses(pod: &Object, made: Vec<Value>) -> Object {
    let mut value = pod.value().clone();
    let status = crate::api::metadata::child(&mut value, "status");
    match status
        .get_mut("resourceClaimStatuses")
        .and_then(Value::as_array_mut)
    {
        Some(statuses) => statuses.extend(made),
        None => _ = status.insert("resourceClaimStatuses".into(), made.into()),
    }
    Object::from_value(value).unwrap_or_else(|_| pod.clone())
}

/// The name, with its end replaced by a hash if it is too long.
fn shortened(name: String) -> String {
    if name.len() <= NAME_LIMIT {
        name
    } else {
        with_hash(&name, "")
    }
}

/// The name with a short hash of itself and something else that makes it differ.
fn with_hash(name: &str, other: &str) -> String {
    let identity = crate::api::metadata::identity(&Kind::new(CLAIM), other, name, 0);
    let hash = format!("-{:08x}", identity as u32);
    let kept = name
        .char_indices()
        .map(|(start, character)| start + character.len_utf8());
    let end = kept
        .take_while(|end| *end <= NAME_LIMIT - hash.len())
        .last()
        .unwrap_or(0);
    format!("{}{hash}", &name[..end])
}

#[cfg(test)]
mod tests;
