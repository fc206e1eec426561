//! Admin access in namespaces that are not labelled for it.
//!
//! Upstream: `AuthorizedForAdmin` of the registry of `ResourceClaim`, since Kubernetes 1.33.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Finding, Subject};
use crate::manifest::Input;
use crate::object::{Kind, Object};
use crate::plugin::Severity;
use crate::stand_ins::schema::{CLAIM, CLAIM_TEMPLATE};

const NAMESPACE: &str = "Namespace";
/// Must be `true`; the second one in 1.33 only.
const LABELS: [&str; 2] = [
    "resource.kubernetes.io/admin-access",
    "resource.k8s.io/admin-access",
];

/// Namespaces of the input, and whether claims in them may have admin access.
#[derive(Debug, Default)]
pub struct Namespaces(BTreeMap<String, bool>);

impl Namespaces {
    /// Whether objects of this kind are wanted.
    pub fn is_wanted(kind: &Kind) -> bool {
        kind.as_str() == NAMESPACE
    }

    /// Takes them out of the input: nobody else has a use for them.
    pub fn take(input: &mut Input) -> Self {
        let mut namespaces = Self::default();
        let objects = std::mem::take(&mut input.objects);
        let origins = std::mem::take(&mut input.origins);
        for (object, origin) in objects.into_iter().zip(origins) {
            if Self::is_wanted(&object.id().kind) {
                let labels = object.metadata().get("labels");
                let is_true = |label: &str| labels.is_some_and(|labels| labels[label] == "true");
                let may = LABELS.iter().any(|label| is_true(label));
                namespaces.0.insert(object.id().name.to_string(), may);
            } else {
                input.objects.push(object);
                input.origins.push(origin);
            }
        }
        namespaces
    }

    /// Requests that these namespaces do not allow. Of a namespace that is not in the input nothing is known.
    pub fn findings(&self, objects: &[Object]) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.0.values().all(|may| *may) {
            return findings;
        }
        let roots = [(CLAIM, "spec"), (CLAIM_TEMPLATE, "spec.spec")];
        for object in objects {
            let subject = Subject::of(object.id());
            let mut root = roots
                .iter()
                .filter(|(kind, _)| *kind == object.id().kind.as_str());
            let Some((_, root)) = root.next() else {
                continue;
            };
            if self.0.get(&subject.namespace) != Some(&false) {
                continue;
            }
            // What a server took before it knew the rule stays.
            let severity = match object.id().uid.is_empty() {
                true => Severity::Error,
                false => Severity::Warning,
            };
            let message = format!(
                "the namespace {} lacks the label {}: \"true\", without which no claim in it may have adminAccess; add it, or ask in a namespace that has it",
                subject.namespace, LABELS[0]
            );
            let paths = admin_requests(object.value(), root);
            findings.extend(
                paths
                    .iter()
                    .map(|path| Finding::from_message(severity, subject.clone(), path, &message)),
            );
        }
        findings
    }
}

/// Paths of `adminAccess: true`.
fn admin_requests(object: &Value, root: &str) -> Vec<String> {
    let pointer = format!("/{}/devices/requests", root.replace('.', "/"));
    let requests = object.pointer(&pointer).and_then(Value::as_array);
    let requests = requests.into_iter().flatten().enumerate();
    let paths = requests.filter_map(|(i, request)| {
        let is_true = |value: &Value| value["adminAccess"] == true;
        let below = match (is_true(request), is_true(&request["exactly"])) {
            (true, _) => "",
            (false, true) => ".exactly",
            (false, false) => return None,
        };
        Some(format!("{root}.devices.requests[{i}]{below}.adminAccess"))
    });
    paths.collect()
}
