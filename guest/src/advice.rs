//! Questions that belong to no scheduling cycle: mistakes in the objects of a cluster, and what devices it offers. The
//! contract's interface `advice`; upstream has no counterpart.
//!
//! Each answer is worked out from what the host shows, from the beginning, and nothing of it is kept: these calls are rare,
//! and must not cost the cycles memory. `scene` reads, `devices` lists, everything else judges.

use std::collections::BTreeMap;

use crate::api::wire::Problem;
use crate::api::{DeviceClass, ResourceClaim};
use crate::host::{Host, ObjectRef, kinds};
use crate::profile::Profile;

mod allocations;
mod causes;
mod claims;
mod devices;
mod extended;
mod fields;
mod findings;
mod limits;
mod names;
mod pods;
mod pools;
mod published;
mod reader_remedies;
mod remedies;
mod scene;
mod selectors;
mod sharing;
#[cfg(test)]
mod tests;

use claims::Surroundings;
use findings::Findings;
use published::Published;
use scene::{Scene, Seen};
use selectors::Selectors;

/// How bad a finding is: `advice.severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The object cannot work as it is.
    Error,
    /// It works, but probably not as meant.
    Warning,
    /// Worth knowing.
    Hint,
}

/// Something noticed: `advice.finding`. Without a name in `object` it is about all objects of that kind, without a kind about
/// the answer itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Which object.
    pub object: ObjectRef,
    /// Where in it, in Kubernetes' notation.
    pub path: String,
    /// One sentence.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// Everything that is wrong, or looks so, with the objects that the host shows; by object, then by path.
pub fn lint(host: &dyn Host, profile: &Profile) -> Vec<Finding> {
    let mut scene = Scene::with_pods(host, profile);
    let mut findings = Findings::default();
    check_fields(host, &scene, profile, &mut findings);
    scene.doubt(&findings.accused(kinds::RESOURCE_SLICE));
    check_requests(&scene, profile, &mut findings);
    pools::check(&scene, profile, &mut findings);
    allocations::check(&scene, &mut findings);
    pods::check(&scene, &mut findings);
    findings.all()
}

fn check_fields(host: &dyn Host, scene: &Scene, profile: &Profile, findings: &mut Findings) {
    fn problems<T>(seen: &[Seen<T>]) -> impl Iterator<Item = (&ObjectRef, &Problem)> {
        let failed = |seen: &'_ Seen<T>| seen.read.is_err();
        seen.iter()
            .filter(move |seen| failed(seen))
            .filter_map(|seen| Some((&seen.id, seen.read.as_ref().err()?)))
    }
    let pods = scene
        .pods
        .iter()
        .filter_map(|pod| Some((&pod.id, pod.read.as_ref().err()?)));
    let problems: BTreeMap<&ObjectRef, &Problem> = problems(&scene.classes)
        .chain(problems(&scene.slices))
        .chain(problems(&scene.rules))
        .chain(problems(&scene.claims))
        .chain(problems(&scene.templates))
        .chain(pods)
        .collect();
    let kinds_with_keys = [
        kinds::DEVICE_CLASS,
        kinds::RESOURCE_SLICE,
        kinds::DEVICE_TAINT_RULE,
        kinds::RESOURCE_CLAIM,
        kinds::RESOURCE_CLAIM_TEMPLATE,
        kinds::POD_SCHEDULING_CONTEXT,
    ];
    // The keys of pods are the host's business.
    let has_bad_pods = problems.keys().any(|id| id.kind == kinds::POD);
    let pods = has_bad_pods.then_some(kinds::POD);
    for kind in kinds_with_keys.into_iter().chain(pods) {
        scene::objects(host, kind, |object| {
            let problem = problems.get(&object.id).copied();
            fields::check(&object, problem, profile, findings);
        });
    }
}

/// Claims, templates and classes, with what their selectors mean.
fn check_requests(scene: &Scene, profile: &Profile, findings: &mut Findings) {
    let published = Published::of(pools::newest(scene));
    let classes: BTreeMap<&str, Option<&DeviceClass>> = scene
        .classes
        .iter()
        .map(|seen| (seen.id.name.as_str(), seen.read.as_ref().ok()))
        .collect();
    let mut selectors = Selectors::new(profile);
    for (id, class) in scene.classes.iter().filter_map(|seen| seen.usable()) {
        selectors.add_class(id, class);
    }
    let used = pods::used_templates(scene);
    let is_waiting = |id: &ObjectRef, claim: &ResourceClaim| match &*id.kind {
        kinds::RESOURCE_CLAIM => claim.allocation.is_none(),
        _ => used.contains(&(id.namespace.as_str(), id.name.as_str())),
    };
    let kinds = [(&scene.claims, "spec"), (&scene.templates, "spec.spec")];
    for (seen, root) in kinds {
        for (id, claim) in scene::usable(seen) {
            for place in claims::places(claim, root) {
                let class = classes
                    .get(place.exact.device_class_name.as_str())
                    .copied()
                    .flatten();
                selectors.add_request(id, place, class, is_waiting(id, claim));
            }
        }
    }
    let gaps = pools::Gaps::of(scene);
    let around = Surroundings {
        published: &published,
        gaps: &gaps,
        classes: classes.keys().copied().collect(),
        drivers: selectors.drivers(),
        is_cluster: !scene.nodes.is_empty() || !scene.slices.is_empty(),
    };
    for (id, class) in scene.classes.iter().filter_map(|seen| seen.usable()) {
        claims::class(class, &around, &mut findings.about(id));
    }
    for (seen, root) in kinds {
        for (id, claim) in scene::usable(seen) {
            let is_waiting = is_waiting(id, claim);
            claims::check(claim, root, is_waiting, &around, &mut findings.about(id));
        }
    }
    selectors.run(pools::newest(scene), &gaps);
    selectors.tell(&published, &gaps, findings);
    // What is wrong with slices that are there is said of them.
    if scene.slices.is_empty() && !(scene.claims.is_empty() && scene.templates.is_empty()) {
        let slices = ObjectRef {
            kind: kinds::RESOURCE_SLICE.into(),
            ..ObjectRef::default()
        };
        findings.about(&slices).hint(
            "",
            "there is no device in the input: names and values in selectors and constraints were not compared with any",
            "add the output of `kubectl get resourceslices -o yaml`",
        );
    }
}

/// All devices and who holds them, as JSON that follows `schemas/devices.schema.json`.
pub fn devices(host: &dyn Host, profile: &Profile) -> Vec<u8> {
    let scene = scene::Scene::read(host, profile);
    let list = devices::list(&scene);
    // Only maps with odd keys can fail, and there are none.
    serde_json::to_vec(&list).unwrap_or_default()
}
