//! Pods against the claims and templates that they name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::claims::{are_sound, known_names};
use super::extended::{self, Extended};
use super::findings::{About, Findings, some_of};
use super::names::Syntax;
use super::scene::{PodSeen, Scene};
use super::sharing::Sharers;
use crate::api::{PodResourceClaim, ResourceClaim};
use crate::host::kinds;
use crate::nearest::meant;

/// Claims or templates by namespace and name; `None`: one that cannot be read.
type Named<'a> = BTreeMap<(&'a str, &'a str), Option<&'a ResourceClaim>>;

struct Surroundings<'a> {
    claims: Named<'a>,
    templates: Named<'a>,
    /// The input is more than manifests: what is not there is missing.
    is_whole: bool,
}

/// All pods that still may run.
pub(super) fn check(scene: &Scene, findings: &mut Findings) {
    let around = Surroundings {
        claims: named(&scene.claims),
        templates: named(&scene.templates),
        is_whole: !scene.nodes.is_empty(),
    };
    let mut sharers = Sharers::default();
    // What a class that is to be corrected offers is not known.
    let is_sure = findings.accused(kinds::DEVICE_CLASS).is_empty();
    let extended = Extended::of(scene);
    for pod in scene.pods.iter().filter(|pod| !pod.is_finished()) {
        let mut about = findings.about(&pod.id);
        if let Ok(read) = &pod.read {
            entries(&read.resource_claims, &mut about);
            let found: Vec<Option<&ResourceClaim>> = read
                .resource_claims
                .iter()
                .enumerate()
                .map(|(i, entry)| entry_exists(pod, i, entry, &around, &mut about))
                .collect();
            containers(pod, &read.resource_claims, &found, &mut about);
            if is_sure {
                extended.check(pod, &mut about);
            }
            sharers.add(pod, &read.resource_claims);
        }
    }
    sharers.tell(findings);
}

/// Templates, by namespace and name, of which a pod without a node still needs a claim.
pub(super) fn used_templates(scene: &Scene) -> BTreeSet<(&str, &str)> {
    let waits = |pod: &&PodSeen| !pod.is_finished() && !pod.has_node();
    let pods = scene.pods.iter().filter(waits);
    let names = pods.flat_map(|pod| {
        let entries = pod.read.iter().flat_map(|read| &read.resource_claims);
        let without = entries.filter(|entry| {
            pod.generated_claim(&entry.name).is_none() && !pod.needs_none(&entry.name)
        });
        without
            .filter_map(|entry| entry.resource_claim_template_name.as_deref())
            .map(|name| (pod.id.namespace.as_str(), name))
            .collect::<Vec<_>>()
    });
    names.collect()
}

fn named(seen: &[super::scene::Seen<ResourceClaim>]) -> Named<'_> {
    let entry = |seen: &'_ super::scene::Seen<ResourceClaim>| seen.read.as_ref().ok().is_some();
    let mut named = Named::new();
    for one in seen {
        let claim = entry(one).then(|| one.read.as_ref().ok()).flatten();
        named.insert((&one.id.namespace, &one.id.name), claim);
    }
    named
}

/// The list by itself.
fn entries(entries: &[PodResourceClaim], about: &mut About<'_>) {
    let mut names = BTreeSet::new();
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, entry) in entries.iter().enumerate() {
        let path = format!("spec.resourceClaims[{i}]");
        if entry.name.is_empty() {
            about.lacking(
                format!("{path}.name"),
                "the entry has no name",
                "give it one that containers can use",
            );
        } else if !names.insert(&entry.name) {
            about.error(
                format!("{path}.name"),
                format!("the name {:?} is used twice", entry.name),
                "give each entry a name of its own",
            );
        }
        let texts = [
            ("name", Some(&entry.name), Syntax::Label),
            (
                "resourceClaimName",
                entry.resource_claim_name.as_ref(),
                Syntax::Subdomain,
            ),
            (
                "resourceClaimTemplateName",
                entry.resource_claim_template_name.as_ref(),
                Syntax::Subdomain,
            ),
        ];
        for (field, text, syntax) in texts {
            if let Some((message, remedy)) = text.and_then(|text| syntax.wrong(text)) {
                about.error(format!("{path}.{field}"), message, remedy);
            }
        }
        match (&entry.resource_claim_name, &entry.resource_claim_template_name) {
            (Some(_), Some(_)) => about.error(
                &path,
                "the entry names both a claim and a template",
                "keep resourceClaimName for an existing claim, or resourceClaimTemplateName for a new one",
            ),
            (None, None) => about.lacking(
                &path,
                "the entry names neither a claim nor a template",
                "set resourceClaimName or resourceClaimTemplateName",
            ),
            (Some(claim), None) => {
                if let Some(other) = claims.insert(claim, i) {
                    about.warning(
                        format!("{path}.resourceClaimName"),
                        format!("the ResourceClaim {claim} is named by entry {other} as well"),
                        "one entry is enough; several containers may use it",
                    );
                }
            }
            (None, Some(_)) => {}
        }
    }
}

/// Whether what the entry names is there, and whether it is allocated if the pod has a node. Returns the claim, or the
/// template, that says what there is to request.
fn entry_exists<'a>(
    pod: &PodSeen,
    i: usize,
    entry: &PodResourceClaim,
    around: &Surroundings<'a>,
    about: &mut About<'_>,
) -> Option<&'a ResourceClaim> {
    let path = format!("spec.resourceClaims[{i}]");
    let namespace = pod.id.namespace.as_str();
    let generated = pod.generated_claim(&entry.name);
    if let Some(name) = entry.resource_claim_name.as_deref().or(generated) {
        let claim = around.claims.get(&(namespace, name)).copied();
        if let Some(claim) = claim {
            allocated(pod, name, claim, &path, about);
            return claim;
        }
        let is_template = around.templates.contains_key(&(namespace, name));
        let field = match entry.resource_claim_name {
            Some(_) => format!("{path}.resourceClaimName"),
            None => format!("status.resourceClaimStatuses[{}]", entry.name),
        };
        missing(
            around,
            "ResourceClaim",
            name,
            namespace,
            &around.claims,
            is_template,
            &field,
            about,
        );
        return None;
    }
    let name = entry.resource_claim_template_name.as_deref()?;
    if let Some(template) = around.templates.get(&(namespace, name)).copied() {
        if pod.has_node() && !pod.needs_none(&entry.name) {
            about.error(
                "spec.nodeName",
                format!(
                    "the pod has a node, but no claim was generated for its entry {:?}",
                    entry.name
                ),
                "leave nodeName to the scheduler: it allocates claims first",
            );
        }
        return template;
    }
    let is_claim = around.claims.contains_key(&(namespace, name));
    let field = format!("{path}.resourceClaimTemplateName");
    missing(
        around,
        "ResourceClaimTemplate",
        name,
        namespace,
        &around.templates,
        is_claim,
        &field,
        about,
    );
    None
}

fn allocated(
    pod: &PodSeen,
    name: &str,
    claim: Option<&ResourceClaim>,
    path: &str,
    about: &mut About<'_>,
) {
    let Some(claim) = claim.filter(|_| pod.has_node()) else {
        return;
    };
    if claim.allocation.is_none() {
        about.error(
            "spec.nodeName",
            format!("the pod has a node, but its ResourceClaim {name} ({path}) is not allocated: it will never start"),
            "leave nodeName to the scheduler: it allocates claims first",
        );
    }
}

#[allow(
    clippy::too_many_arguments,
    reason = "two kinds that differ in every text"
)]
fn missing(
    around: &Surroundings<'_>,
    kind: &str,
    name: &str,
    namespace: &str,
    known: &Named<'_>,
    is_other_kind: bool,
    path: &str,
    about: &mut About<'_>,
) {
    if Syntax::Subdomain.wrong(name).is_some() {
        // That it is no name was told.
        return;
    }
    let message = format!("there is no {kind} {namespace}/{name}");
    let (other, field) = match kind {
        "ResourceClaim" => ("ResourceClaimTemplate", "resourceClaimTemplateName"),
        _ => ("ResourceClaim", "resourceClaimName"),
    };
    if is_other_kind {
        let message = format!("{message}, but a {other} of that name");
        return about.error(path, message, format!("write {field}"));
    }
    let here = known
        .keys()
        .filter(|(space, _)| *space == namespace)
        .map(|(_, name)| *name);
    let elsewhere = known.keys().find(|(_, other)| *other == name);
    let remedy = match (meant(name, here), elsewhere) {
        (Some(nearest), _) => format!("did you mean {nearest:?}?"),
        (None, Some((space, _))) => {
            format!("there is one in the namespace {space}: it must be in the pod's")
        }
        (None, None) => "create it; until then the pod waits".to_owned(),
    };
    // A dump may be without the kind, and controllers make templates later.
    match around.is_whole && !known.is_empty() {
        true => about.error(path, message, remedy),
        false => about.warning(path, format!("{message} in the input"), remedy),
    }
}

fn containers(
    pod: &PodSeen,
    entries: &[PodResourceClaim],
    found: &[Option<&ResourceClaim>],
    about: &mut About<'_>,
) {
    let mut used = BTreeSet::new();
    for container in &pod.containers {
        let mut seen = BTreeSet::new();
        for (i, (name, request)) in container.claims.iter().enumerate() {
            let path = format!("{}.resources.claims[{i}]", container.path);
            used.insert(name.as_str());
            if name.is_empty() {
                let remedy = "name a claim of spec.resourceClaims";
                about.lacking(format!("{path}.name"), "the entry has no name", remedy);
                continue;
            }
            let Some(at) = entries.iter().position(|entry| entry.name == *name) else {
                // One of them has no name yet, which was told.
                if entries.iter().any(|entry| entry.name.is_empty()) {
                    continue;
                }
                let names = || entries.iter().map(|entry| entry.name.as_str());
                let remedy = match meant(name, names()) {
                    Some(nearest) => format!("did you mean {nearest:?}?"),
                    None if entries.is_empty() => "add the claim to spec.resourceClaims".to_owned(),
                    None => format!("the pod lists {}", some_of(names())),
                };
                let message = format!("the pod has no claim {name:?} in spec.resourceClaims");
                about.error(format!("{path}.name"), message, remedy);
                continue;
            };
            if !seen.insert((name, request)) {
                about.error(
                    &path,
                    format!("the claim {name:?} is named twice"),
                    "remove one of the entries",
                );
            }
            let Some(claim) = found[at].filter(|_| !request.is_empty()) else {
                continue;
            };
            let known: BTreeSet<String> = known_names(&claim.requests);
            if are_sound(&known) && !known.contains(request) {
                let remedy = match meant(request, known.iter().map(String::as_str)) {
                    Some(nearest) => format!("did you mean {nearest:?}?"),
                    None => format!("its requests are {}", some_of(&known)),
                };
                about.error(
                    format!("{path}.request"),
                    format!("the claim {name:?} has no request {request:?}"),
                    remedy,
                );
            }
        }
    }
    for (i, entry) in entries.iter().enumerate() {
        if !pod.containers.is_empty()
            && !used.contains(entry.name.as_str())
            && !entry.name.is_empty()
        {
            about.hint(
                format!("spec.resourceClaims[{i}]"),
                format!(
                    "no container uses the claim {:?}: none gets what its driver hands to containers (CDI devices); drivers of networks hand over nothing",
                    entry.name
                ),
                "name it in resources.claims of a container that needs the devices",
            );
        }
    }
}

/// A container's claims: name and request.
pub(super) struct Container {
    /// Its path.
    pub path: String,
    pub claims: Vec<(String, String)>,
    /// Extended resources that it asks for: path and name.
    pub extended: Vec<(String, String)>,
}

/// All containers of a pod.
pub(super) fn containers_of(pod: &Value) -> Vec<Container> {
    let mut containers = Vec::new();
    for list in ["initContainers", "containers"] {
        let given = pod
            .pointer(&format!("/spec/{list}"))
            .and_then(Value::as_array);
        for (i, container) in given.into_iter().flatten().enumerate() {
            let claims = container
                .pointer("/resources/claims")
                .and_then(Value::as_array);
            let text = |claim: &Value, key: &str| {
                claim
                    .get(key)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let claims = claims.into_iter().flatten();
            let path = format!("spec.{list}[{i}]");
            containers.push(Container {
                extended: extended::asked(container, &path),
                path,
                claims: claims
                    .map(|claim| (text(claim, "name"), text(claim, "request")))
                    .collect(),
            });
        }
    }
    containers
}
