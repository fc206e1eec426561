//! Facts about kinds that stand in no object: which have a namespace, which lists are joined by key.

use crate::object::Kind;

/// API group of dynamic resource allocation.
pub const GROUP: &str = "resource.k8s.io";
/// Kind of claims.
pub const CLAIM: &str = "ResourceClaim.resource.k8s.io";
/// Kind of claim templates.
pub const CLAIM_TEMPLATE: &str = "ResourceClaimTemplate.resource.k8s.io";
/// Kind of device classes.
pub const CLASS: &str = "DeviceClass.resource.k8s.io";
/// Kind of resource slices.
pub const SLICE: &str = "ResourceSlice.resource.k8s.io";
/// Kind of pods.
pub const POD: &str = "Pod";

/// Kinds without a namespace that turn up in dumps, sorted.
const CLUSTER_SCOPED: [&str; 26] = [
    "APIService.apiregistration.k8s.io",
    "CSIDriver.storage.k8s.io",
    "CSINode.storage.k8s.io",
    "CertificateSigningRequest.certificates.k8s.io",
    "ClusterRole.rbac.authorization.k8s.io",
    "ClusterRoleBinding.rbac.authorization.k8s.io",
    "ComponentStatus",
    "CustomResourceDefinition.apiextensions.k8s.io",
    "DeviceClass.resource.k8s.io",
    "DeviceTaintRule.resource.k8s.io",
    "FlowSchema.flowcontrol.apiserver.k8s.io",
    "IngressClass.networking.k8s.io",
    "MutatingWebhookConfiguration.admissionregistration.k8s.io",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass.scheduling.k8s.io",
    "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
    "ResourceClass.resource.k8s.io",
    "ResourceSlice.resource.k8s.io",
    "RuntimeClass.node.k8s.io",
    "StorageClass.storage.k8s.io",
    "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
    "VolumeAttachment.storage.k8s.io",
];

/// Whether objects of a kind have no namespace. Unknown kinds have one.
pub fn cluster_scoped(kind: &Kind) -> bool {
    CLUSTER_SCOPED.binary_search(&kind.as_str()).is_ok()
}

/// The same by the kind alone, for objects whose group is misspelt.
pub fn cluster_scoped_by_name(short: &str) -> bool {
    let mut known = CLUSTER_SCOPED.iter();
    known.any(|kind| kind.split('.').next() == Some(short))
}

/// The key by which a strategic merge patch joins a list. Lists that are not named here are replaced.
pub fn merge_key(kind: &Kind, path: &[&str]) -> Option<&'static str> {
    match (kind.as_str(), path) {
        (CLAIM, ["status", "reservedFor"]) => Some("uid"),
        (POD, ["status", "resourceClaimStatuses"]) => Some("name"),
        (POD | "Node", ["status", "conditions"]) => Some("type"),
        (_, ["metadata", "ownerReferences"]) => Some("uid"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(CLUSTER_SCOPED.is_sorted());
        assert!(cluster_scoped(&Kind::new("Node")));
        assert!(cluster_scoped(&Kind::new(
            "VolumeAttachment.storage.k8s.io"
        )));
        assert!(!cluster_scoped(&Kind::new(CLAIM)));
        assert!(!cluster_scoped(&Kind::new("Node.example.com")));
    }
}
