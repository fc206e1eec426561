//! API versions and kinds that are near to one that is served, and those of other programs.

use super::{Found, lint};

fn of(api_version: &str, kind: &str) -> Vec<Found> {
    lint(
        &format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n"),
        &[],
    )
}

/// Groups, versions and kinds as the API has them: resource.k8s.io/v1, apps/v1, batch/v1, v1.
#[test]
fn the_nearest_is_named() {
    for (api_version, kind, path, remedy) in [
        (
            "resources.k8s.io/v1",
            "ResourceClaim",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "resource.kubernetes.io/v1",
            "ResourceClaim",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "Resource.k8s.io/v1beta1",
            "DeviceClass",
            "apiVersion",
            "write resource.k8s.io/v1beta1",
        ),
        (
            "resource.k8s.oi/v1",
            "ResourceSlice",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "resource/v1",
            "ResourceClaim",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "resource.k8s.io/V1",
            "ResourceClaim",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "resource.k8s.io/v1beta3",
            "ResourceClaim",
            "apiVersion",
            "write one of resource.k8s.io/v1",
        ),
        (
            "v1",
            "ResourceClaim",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        (
            "apps/v1",
            "ResourceClaimTemplate",
            "apiVersion",
            "write resource.k8s.io/v1",
        ),
        ("resource.k8s.io/v1", "Pod", "apiVersion", "write v1"),
        (
            "resource.k8s.io/v1",
            "ResourceClaims",
            "kind",
            "write ResourceClaim",
        ),
        (
            "resource.k8s.io/v1",
            "resourceclaim",
            "kind",
            "write ResourceClaim",
        ),
        (
            "resource.k8s.io/v1",
            "DeviceClas",
            "kind",
            "write DeviceClass",
        ),
        (
            "resources.k8s.io/v1",
            "Resourceclaim",
            "apiVersion",
            "write resource.k8s.io/v1, and kind ResourceClaim",
        ),
        ("v1", "pod", "kind", "write Pod"),
        ("v1", "Pods", "kind", "write Pod"),
        ("core/v1", "Pod", "apiVersion", "write v1"),
        ("app/v1", "Deployment", "apiVersion", "write apps/v1"),
        ("apps/v1", "Job", "apiVersion", "write batch/v1"),
        ("apps/v1", "deployment", "kind", "write Deployment"),
        ("v1", "Deployment", "apiVersion", "write apps/v1"),
        (
            "extensions/v1beta1",
            "Deployment",
            "apiVersion",
            "write apps/v1",
        ),
    ] {
        let found = of(api_version, kind);
        let is_it = |found: &Found| {
            found.severity == "error" && found.path == path && found.remedy.starts_with(remedy)
        };
        assert!(found.iter().any(is_it), "{api_version} {kind}: {found:#?}");
        assert_eq!(found.len(), 1, "{api_version} {kind}: {found:#?}");
    }
}

/// Kinds with the name of a known one that other programs have, and kinds of the same groups that exist.
#[test]
fn objects_of_other_programs_are_left_alone() {
    for (api_version, kind) in [
        ("batch.volcano.sh/v1alpha1", "Job"),
        ("apps.kruise.io/v1alpha1", "StatefulSet"),
        ("longhorn.io/v1beta2", "Node"),
        ("resource.nvidia.com/v1beta1", "ComputeDomain"),
        ("metrics.k8s.io/v1beta1", "PodMetrics"),
        ("kueue.x-k8s.io/v1beta1", "ResourceFlavor"),
        ("apps/v1", "ControllerRevision"),
        ("v1", "Secret"),
        ("v1", "PodTemplate"),
        ("policy/v1", "PodDisruptionBudget"),
        ("node.k8s.io/v1", "RuntimeClass"),
        ("scheduling.k8s.io/v1", "PriorityClass"),
    ] {
        let found = of(api_version, kind);
        assert!(found.is_empty(), "{api_version} {kind}: {found:#?}");
    }
}

/// Taint rules are in no version in which claims are by default: two versions are not a mistake.
#[test]
fn a_taint_rule_mixes_no_versions() {
    let rule = "---\napiVersion: resource.k8s.io/v1beta2\nkind: DeviceTaintRule\nmetadata: {name: rule}\nspec: {deviceSelector: {device: gpu-1}, taint: {key: k, effect: NoExecute}}\n";
    let found = lint(
        &format!("{}{rule}", super::CLUSTER),
        &["--feature", "DRADeviceTaintRules=true"],
    );
    assert!(found.is_empty(), "{found:#?}");
}
