//! What the host itself knows about kinds: the core ones, those it needs, and the keys of which it minds the spelling.

use serde_json::{Map, Value};

use crate::object::tree::type_name;
use crate::object::{Kind, ObjectRef};

/// All kinds of `v1`.
const CORE: [&str; 19] = [
    "Binding",
    "ComponentStatus",
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "List",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "Secret",
    "Service",
    "ServiceAccount",
    "Status",
];

/// Kinds that the host reads, whatever plugin runs.
const NEEDED: [&str; 10] = [
    "CronJob.batch",
    "DaemonSet.apps",
    "Deployment.apps",
    "Job.batch",
    "Node",
    "Pod",
    "PriorityClass.scheduling.k8s.io",
    "ReplicaSet.apps",
    "ReplicationController",
    "StatefulSet.apps",
];

/// Kinds without namespace among those that the host knows.
const CLUSTER_SCOPED: [&str; 4] = [
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass.scheduling.k8s.io",
];

/// Whether an object of this kind belongs to `v1`.
pub(super) fn is_core(kind: &str) -> bool {
    CORE.contains(&kind)
}

/// Whether the host reads objects of this kind itself: pods and what makes them, nodes, priority classes.
pub fn needed_by_host(kind: &Kind) -> bool {
    NEEDED.contains(&kind.as_str())
}

/// Versions in which the kinds of [`NEEDED`] outside the core group were ever served.
const VERSIONS: [&str; 5] = ["v1", "v1beta2", "v1beta1", "v1alpha1", "v2alpha1"];

/// Whether the host reads this kind, which has a group, and the version is none of it.
pub(super) fn is_unknown_version(kind: &Kind, version: &str) -> bool {
    needed_by_host(kind) && !VERSIONS.contains(&version)
}

/// The kind that the host reads and of which this one, of the same group, is a slip.
pub(super) fn meant_by_host(kind: &Kind) -> Option<&'static str> {
    if needed_by_host(kind) || is_core(kind.as_str()) {
        return None;
    }
    NEEDED
        .into_iter()
        .find(|known| is_slip_of(kind, &Kind::new(known)))
}

/// Whether a kind is a slip of a known one of its group: another case, a plural, one letter too many, too few or wrong.
pub fn is_slip_of(kind: &Kind, known: &Kind) -> bool {
    let split = |kind: &Kind| {
        let (short, group) = kind.as_str().split_once('.').unwrap_or((kind.as_str(), ""));
        let singular = short.trim_end_matches('s').to_ascii_lowercase();
        (singular, group.to_owned())
    };
    let ((given, group), (known, known_group)) = (split(kind), split(known));
    let (longer, shorter) = (given.len().max(known.len()), given.len().min(known.len()));
    let alike =
        |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let prefix = alike(&mut given.bytes().zip(known.bytes()));
    let suffix = alike(&mut given.bytes().rev().zip(known.bytes().rev()));
    group == known_group && longer - prefix - suffix.min(shorter - prefix) <= 1
}

/// Whether a kind is certainly none that a scheduler plugin asks for.
pub(super) fn is_known_elsewhere(kind: &Kind) -> bool {
    is_core(kind.as_str()) && !needed_by_host(kind)
}

/// Whether the host knows that objects of this kind have a namespace.
pub(super) fn is_namespaced(kind: &Kind) -> bool {
    (needed_by_host(kind) || is_core(kind.as_str())) && !CLUSTER_SCOPED.contains(&kind.as_str())
}

/// `Kind namespace/name`; objects without namespace are in `default` if their kind has namespaces.
pub(super) fn display(id: &ObjectRef) -> String {
    if id.namespace.is_empty() && is_namespaced(&id.kind) {
        return format!("{} default/{}", id.kind.short(), id.name);
    }
    id.to_string()
}

/// Keys at one place of an object.
pub(super) struct KeyTable {
    /// Keys that lead to the place.
    pub path: &'static [&'static str],
    /// Right spellings.
    pub keys: &'static [&'static str],
}

/// Keys that all objects have.
pub(super) const KEYS_OF_ALL: &[KeyTable] = &[
    KeyTable {
        path: &[],
        keys: &["apiVersion", "kind", "metadata", "spec", "status"],
    },
    KeyTable {
        path: &["metadata"],
        keys: &[
            "name",
            "namespace",
            "generateName",
            "labels",
            "annotations",
            "uid",
            "resourceVersion",
            "ownerReferences",
            "finalizers",
            "deletionTimestamp",
        ],
    },
];

/// Keys of a pod's spec that a scheduler reads.
const POD_SPEC: &[&str] = &[
    "affinity",
    "containers",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "overhead",
    "priority",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "schedulerName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

const POD_KEYS: &[KeyTable] = &[
    KeyTable {
        path: &["spec"],
        keys: POD_SPEC,
    },
    KeyTable {
        path: &["status"],
        keys: &["phase", "resourceClaimStatuses"],
    },
];

const NODE_KEYS: &[KeyTable] = &[
    KeyTable {
        path: &["spec"],
        keys: &["taints", "unschedulable"],
    },
    KeyTable {
        path: &["status"],
        keys: &["allocatable", "capacity"],
    },
];

const WORKLOAD_KEYS: &[KeyTable] = &[
    KeyTable {
        path: &["spec"],
        keys: &[
            "completions",
            "parallelism",
            "replicas",
            "suspend",
            "template",
        ],
    },
    KeyTable {
        path: &["spec", "template"],
        keys: &["metadata", "spec"],
    },
    KeyTable {
        path: &["spec", "template", "metadata"],
        keys: &["labels", "annotations"],
    },
    KeyTable {
        path: &["spec", "template", "spec"],
        keys: POD_SPEC,
    },
];

/// Keys of a kind that the host reads.
pub(super) fn keys_of(kind: &Kind) -> &'static [KeyTable] {
    match kind.as_str() {
        "Pod" => POD_KEYS,
        "Node" => NODE_KEYS,
        "PriorityClass.scheduling.k8s.io" => &[KeyTable {
            path: &[],
            keys: &["globalDefault", "value"],
        }],
        _ if needed_by_host(kind) => WORKLOAD_KEYS,
        _ => &[],
    }
}

/// Keys that hold a mapping in every kind that has them.
pub(super) const MAPPINGS: &[&str] = &["spec", "status"];

/// Lists in a pod's spec.
const POD_LISTS: &[&str] = &[
    "containers",
    "initContainers",
    "resourceClaims",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
];

/// A field that the host reads and that has the wrong form.
pub(super) fn shape_problem(map: &Map<String, Value>, kind: &Kind) -> Option<String> {
    let spec = map.get("spec").and_then(Value::as_object)?;
    match kind.as_str() {
        "Pod" => POD_LISTS
            .iter()
            .find_map(|key| wrong_type(spec, key, "a list", Value::is_array))
            .or_else(|| wrong_type(spec, "nodeName", "a string", Value::is_string))
            .or_else(|| wrong_type(spec, "schedulerName", "a string", Value::is_string)),
        "Node" => wrong_type(spec, "taints", "a list", Value::is_array)
            .or_else(|| wrong_type(spec, "unschedulable", "a boolean", Value::is_boolean)),
        _ => None,
    }
}

fn wrong_type(
    map: &Map<String, Value>,
    key: &str,
    expected: &str,
    is_right: fn(&Value) -> bool,
) -> Option<String> {
    let value = map
        .get(key)
        .filter(|value| !value.is_null() && !is_right(value))?;
    Some(format!(
        "spec.{key} is {}, not {expected}",
        type_name(value)
    ))
}
