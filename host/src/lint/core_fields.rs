//! Keys of pods, pod templates and nodes that are not there in `v1`: misspelled, or at another place.

use serde_json::{Map, Value};

use super::meant::field_meant;
use super::{Finding, Subject};
use super::{affinity, labels, quantities, tolerations};
use crate::object::Object;
use crate::plugin::Severity;

const ROOT: &[&str] = &["apiVersion", "kind", "metadata", "spec", "status"];

const TEMPLATE: &[&str] = &["metadata", "spec"];

const METADATA: &[&str] = &[
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

const POD_SPEC: &[&str] = &[
    "activeDeadlineSeconds",
    "affinity",
    "automountServiceAccountToken",
    "containers",
    "dnsConfig",
    "dnsPolicy",
    "enableServiceLinks",
    "ephemeralContainers",
    "hostAliases",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostUsers",
    "hostname",
    "hostnameOverride",
    "imagePullSecrets",
    "initContainers",
    "nodeName",
    "nodeSelector",
    "os",
    "overhead",
    "preemptionPolicy",
    "priority",
    "priorityClassName",
    "readinessGates",
    "resourceClaims",
    "resources",
    "restartPolicy",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "schedulingGroup",
    "securityContext",
    "serviceAccount",
    "serviceAccountName",
    "setHostnameAsFQDN",
    "shareProcessNamespace",
    "subdomain",
    "terminationGracePeriodSeconds",
    "tolerations",
    "topologySpreadConstraints",
    "volumes",
    "workloadRef",
];

const CONTAINER: &[&str] = &[
    "args",
    "command",
    "env",
    "envFrom",
    "image",
    "imagePullPolicy",
    "lifecycle",
    "livenessProbe",
    "name",
    "ports",
    "readinessProbe",
    "resizePolicy",
    "resources",
    "restartPolicy",
    "restartPolicyRules",
    "securityContext",
    "startupProbe",
    "stdin",
    "stdinOnce",
    "targetContainerName",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "tty",
    "volumeDevices",
    "volumeMounts",
    "workingDir",
];

const RESOURCES: &[&str] = &["claims", "limits", "requests"];
const CONTAINER_CLAIM: &[&str] = &["name", "request"];
/// `source` is left to the plugin, which knows what became of it.
const POD_CLAIM: &[&str] = &[
    "name",
    "podGroupResourceClaim",
    "resourceClaimName",
    "resourceClaimTemplateName",
    "source",
];

const NODE_SPEC: &[&str] = &[
    "configSource",
    "externalID",
    "podCIDR",
    "podCIDRs",
    "providerID",
    "taints",
    "unschedulable",
];

/// Workloads, and the keys of their `spec`.
const WORKLOADS: [(&str, &[&str]); 6] = [
    ("CronJob.batch", CRON_JOB),
    ("DaemonSet.apps", DAEMON_SET),
    ("Deployment.apps", DEPLOYMENT),
    ("Job.batch", JOB),
    ("StatefulSet.apps", STATEFUL_SET),
    // These and ReplicationControllers.
    ("", REPLICA_SET),
];

const CRON_JOB: &[&str] = &[
    "concurrencyPolicy",
    "failedJobsHistoryLimit",
    "jobTemplate",
    "schedule",
    "startingDeadlineSeconds",
    "successfulJobsHistoryLimit",
    "suspend",
    "timeZone",
];
const DAEMON_SET: &[&str] = &[
    "minReadySeconds",
    "revisionHistoryLimit",
    "selector",
    "template",
    "updateStrategy",
];
const DEPLOYMENT: &[&str] = &[
    "minReadySeconds",
    "paused",
    "progressDeadlineSeconds",
    "replicas",
    "revisionHistoryLimit",
    "selector",
    "strategy",
    "template",
];
const JOB: &[&str] = &[
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "completionMode",
    "completions",
    "managedBy",
    "manualSelector",
    "maxFailedIndexes",
    "parallelism",
    "podFailurePolicy",
    "podReplacementPolicy",
    "selector",
    "successPolicy",
    "suspend",
    "template",
    "ttlSecondsAfterFinished",
];
const REPLICA_SET: &[&str] = &["minReadySeconds", "replicas", "selector", "template"];
const STATEFUL_SET: &[&str] = &[
    "minReadySeconds",
    "ordinals",
    "persistentVolumeClaimRetentionPolicy",
    "podManagementPolicy",
    "replicas",
    "revisionHistoryLimit",
    "selector",
    "serviceName",
    "template",
    "updateStrategy",
    "volumeClaimTemplates",
];

/// What is wrong with the keys of one object; nothing of kinds that are not known here.
pub(super) fn check(object: &Object) -> Vec<Finding> {
    let kind = &object.id().kind;
    let mut walk = Walk {
        subject: Subject::of(object.id()),
        pod_spec: match kind.as_str() {
            "CronJob.batch" => "spec.jobTemplate.spec.template.spec",
            kind if kind != "Pod" => "spec.template.spec",
            _ => "spec",
        },
        found: Vec::new(),
    };
    let is_cron_job = kind.as_str() == "CronJob.batch";
    let is_workload = is_cron_job || crate::workloads::is_workload(kind);
    if !is_workload && !["Pod", "Node"].contains(&kind.as_str()) {
        return walk.found;
    }
    // A tree is made of an object that is looked into, and of no other.
    let value = object.value();
    walk.keys(value, "", ROOT);
    walk.metadata(&value["metadata"], "metadata");
    let spec = &value["spec"];
    match kind.as_str() {
        "Pod" => walk.pod_spec(spec, "spec"),
        "Node" => {
            walk.keys(spec, "spec", NODE_SPEC);
            tolerations::of_node(&spec["taints"], "spec.taints", &mut walk);
            for key in ["allocatable", "capacity"] {
                let path = format!("status.{key}");
                quantities::amounts(&value["status"][key], &path, &mut walk);
            }
        }
        _ if is_cron_job => {
            walk.keys(spec, "spec", CRON_JOB);
            let job = &spec["jobTemplate"];
            walk.keys(job, "spec.jobTemplate", TEMPLATE);
            walk.metadata(&job["metadata"], "spec.jobTemplate.metadata");
            walk.workload(&job["spec"], "spec.jobTemplate.spec", JOB);
        }
        workload => {
            let mut known = WORKLOADS.iter();
            let known = known.find(|(kind, _)| [workload, ""].contains(kind));
            walk.workload(spec, "spec", known.map_or(&[], |(_, keys)| keys));
        }
    }
    walk.found
}

/// Findings about one object.
pub(super) struct Walk {
    subject: Subject,
    /// Where the spec of the object's pods stands.
    pod_spec: &'static str,
    found: Vec<Finding>,
}

impl Walk {
    fn workload(&mut self, spec: &Value, path: &str, known: &[&str]) {
        self.keys(spec, path, known);
        let (template, path) = (&spec["template"], format!("{path}.template"));
        self.keys(template, &path, TEMPLATE);
        self.metadata(&template["metadata"], &format!("{path}.metadata"));
        self.pod_spec(&template["spec"], &format!("{path}.spec"));
    }

    fn metadata(&mut self, metadata: &Value, path: &str) {
        self.keys(metadata, path, METADATA);
        labels::check(metadata, path, self);
    }

    fn pod_spec(&mut self, spec: &Value, path: &str) {
        self.keys(spec, path, POD_SPEC);
        quantities::of_pod(spec, path, self);
        affinity::check(spec, path, self);
        tolerations::of_pod(&spec["tolerations"], &format!("{path}.tolerations"), self);
        for list in ["initContainers", "containers", "ephemeralContainers"] {
            for (i, container) in entries(&spec[list]) {
                let path = format!("{path}.{list}[{i}]");
                if labels::not_a_map(container, &path, self) {
                    continue;
                }
                self.keys(container, &path, CONTAINER);
                let path = format!("{path}.resources");
                self.keys(&container["resources"], &path, RESOURCES);
                quantities::of_container(&container["resources"], &path, self);
                for amounts in ["limits", "requests"] {
                    if !container["resources"][amounts]["claims"].is_null() {
                        self.unknown(
                            "claims",
                            &format!("{path}.{amounts}"),
                            Some(format!("move it to {path}.claims")),
                        );
                    }
                }
                let claims = &container["resources"]["claims"];
                let path = format!("{path}.claims");
                labels::not_a_list(claims, &path, self);
                for (j, claim) in entries(claims) {
                    let path = format!("{path}[{j}]");
                    labels::not_a_map(claim, &path, self);
                    self.keys(claim, &path, CONTAINER_CLAIM);
                }
            }
        }
        if !spec["resources"]["claims"].is_null() {
            self.error(
                format!("{path}.resources.claims"),
                "the pod's own resources take no claims",
                format!("move it to {path}.containers[].resources.claims"),
            );
        }
        for (i, claim) in entries(&spec["resourceClaims"]) {
            let path = format!("{path}.resourceClaims[{i}]");
            labels::not_a_map(claim, &path, self);
            self.keys(claim, &path, POD_CLAIM);
        }
    }

    /// Adds an error.
    pub(super) fn error(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Severity::Error, path.into(), message.into(), remedy.into());
    }

    /// Adds a warning.
    pub(super) fn warning(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(
            Severity::Warning,
            path.into(),
            message.into(),
            remedy.into(),
        );
    }

    fn add(&mut self, severity: Severity, path: String, message: String, remedy: String) {
        self.found.push(Finding {
            severity,
            object: self.subject.clone(),
            origin: None,
            path,
            message,
            remedy,
        });
    }

    /// Complains about keys that are not among the known ones.
    pub(super) fn keys(&mut self, value: &Value, path: &str, known: &[&str]) {
        let Some(map) = value.as_object() else { return };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let remedy =
                other_place(key, path, known, self.pod_spec).or_else(|| respelled(key, map, known));
            self.unknown(key, path, remedy);
        }
    }

    /// A key that nobody can place may be one of a newer version.
    fn unknown(&mut self, key: &str, path: &str, remedy: Option<String>) {
        let severity = match remedy {
            Some(_) => Severity::Error,
            None => Severity::Warning,
        };
        let dot = if path.is_empty() { "" } else { "." };
        self.add(
            severity,
            format!("{path}{dot}{key}"),
            format!("unknown field {key:?}"),
            remedy.unwrap_or_else(|| "remove it".to_owned()),
        );
    }
}

/// Entries of a list with their numbers.
pub(super) fn entries(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

/// Where a key of a pod belongs that stands elsewhere in it.
fn other_place(key: &str, path: &str, known: &[&str], pod_spec: &str) -> Option<String> {
    let in_container = known == CONTAINER || known == RESOURCES || known == CONTAINER_CLAIM;
    if known == CONTAINER && RESOURCES.contains(&key) {
        return Some(format!("move it to {path}.resources.{key}"));
    }
    let spec = match path
        .find(".containers[")
        .or_else(|| path.find(".initContainers["))
    {
        Some(end) => &path[..end],
        None => pod_spec,
    };
    let is_around = known == ROOT || known.contains(&"template") || known.contains(&"jobTemplate");
    if (in_container || is_around) && POD_SPEC.contains(&key) {
        return Some(format!("move it to {spec}.{key}"));
    }
    if known == TEMPLATE && POD_SPEC.contains(&key) {
        return Some(format!("move it to {path}.spec.{key}"));
    }
    if known == POD_SPEC && ["nodeAffinity", "podAffinity", "podAntiAffinity"].contains(&key) {
        return Some(format!("move it to {path}.affinity.{key}"));
    }
    if known == POD_SPEC && (CONTAINER.contains(&key) || key == "claims") {
        let key = if key == "claims" {
            "resources.claims"
        } else {
            key
        };
        return Some(format!("move it to {path}.containers[].{key}"));
    }
    None
}

/// The key that was meant: another case, or a letter or two wrong.
fn respelled(key: &str, map: &Map<String, Value>, known: &[&str]) -> Option<String> {
    let free = known
        .iter()
        .copied()
        .filter(|known| !map.contains_key(*known));
    field_meant(key, free).map(|nearest| format!("write {nearest:?}"))
}
