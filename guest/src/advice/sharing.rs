//! Claims that pods of workloads share although each pod, or each workload, may have been meant to have its own.

use std::collections::BTreeMap;

use super::findings::{Findings, count};
use super::scene::PodSeen;
use crate::api::PodResourceClaim;

/// Pods of one workload, and at which path the first of them names the claim.
struct Users<'a> {
    first: &'a PodSeen,
    path: String,
    /// As the pods' owner says.
    owner: &'a str,
    pods: usize,
}

/// By namespace and claim, then by workload.
#[derive(Default)]
pub(super) struct Sharers<'a>(BTreeMap<[&'a str; 2], BTreeMap<String, Users<'a>>>);

impl<'a> Sharers<'a> {
    /// Notes what a pod of a workload names. Pods by themselves share on purpose: each names the claim in a manifest of its own.
    pub(super) fn add(&mut self, pod: &'a PodSeen, entries: &'a [PodResourceClaim]) {
        let Some(owner) = &pod.owner else { return };
        for (i, entry) in entries.iter().enumerate() {
            let Some(claim) = &entry.resource_claim_name else {
                continue;
            };
            let names_it =
                |other: &PodResourceClaim| other.resource_claim_name.as_ref() == Some(claim);
            if entries[..i].iter().any(names_it) {
                continue;
            }
            let users = self.0.entry([&pod.id.namespace, claim]).or_default();
            let users = users.entry(workload(owner)).or_insert_with(|| Users {
                first: pod,
                path: format!("spec.resourceClaims[{i}].resourceClaimName"),
                owner,
                pods: 0,
            });
            users.pods += 1;
        }
    }

    /// Tells of workloads with several pods, and of claims that several workloads name.
    pub(super) fn tell(self, findings: &mut Findings) {
        for ([_, claim], workloads) in self.0 {
            let mut before: Option<&str> = None;
            for users in workloads.values() {
                let Users {
                    first,
                    path,
                    owner,
                    pods,
                } = users;
                let mut about = findings.about(&first.id);
                if *pods > 1 {
                    about.warning(
                        path,
                        format!("{} of {owner} name the ResourceClaim {claim} itself: all of them share its devices, on one node where these are local", count(*pods, "pod")),
                        "name a ResourceClaimTemplate (resourceClaimTemplateName) if each pod is to have devices of its own",
                    );
                }
                if let Some(before) = before {
                    about.warning(
                        path,
                        format!("{before} names the ResourceClaim {claim} as well: the pods of both share its devices, on one node where these are local"),
                        "use a claim for each, or name a ResourceClaimTemplate (resourceClaimTemplateName), if each is to have devices of its own",
                    );
                }
                before = before.or(Some(owner));
            }
        }
    }
}

/// The workload behind an owner: a Deployment has several ReplicaSets while it is rolled out, and a CronJob several Jobs.
fn workload(owner: &str) -> String {
    let stem = owner.rsplit_once('-').filter(|(_, suffix)| {
        let is_run = || suffix.len() >= 8 && suffix.bytes().all(|c| c.is_ascii_digit());
        owner.starts_with("ReplicaSet ") || owner.starts_with("Job ") && is_run()
    });
    stem.map_or(owner, |(stem, _)| stem).to_owned()
}
