//! From the inputs of a command line to a loaded cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;

use crate::clock::Stopwatch;
use crate::cluster::{Cluster, Settings};
use crate::manifest::{self, ObjectError, is_slip_of, needed_by_host};
use crate::object::{Kind, Object, ObjectRef};
use crate::plugin::{Code, Description, Status};
use crate::report::WarningReport;
use crate::report::claims::{classic_claims, named_by, unnamed_claim, untold_claims};
use crate::scheduler::outcome::PodOutcome;
use crate::workloads;

/// What was read.
pub(super) struct Loaded {
    /// Everything that could be used.
    pub cluster: Cluster,
    /// What the user should know.
    pub warnings: Vec<WarningReport>,
    /// Pods, as `namespace/name`, that need an object which could not be used, and why.
    pub input_errors: BTreeMap<String, String>,
    /// Pods that could not be used themselves.
    pub unreadable_pods: Vec<PodOutcome>,
    /// Uids that were in the input, as opposed to those made up here.
    pub uids: BTreeSet<Arc<str>>,
    /// How long parsing took, in nanoseconds.
    pub read: u64,
}

impl Loaded {
    /// What the user should know about claims for control plane controllers: whether the feature is on that they need, and
    /// whether somebody answers for their drivers.
    pub(super) fn warn_of_classic_claims(&mut self, feature_is_on: bool, driver_is_on: bool) {
        let claims = classic_claims(&self.cluster);
        let Some(((object, controller), others)) = claims.split_first() else {
            return;
        };
        let others = match others.len() {
            0 => String::new(),
            count => format!(", as {count} more claims are for theirs"),
        };
        let needs = match (feature_is_on, driver_is_on) {
            (true, true) => return,
            (true, false) => "nobody answers for it here without --classic-driver",
            (false, true) => {
                "this needs --profile 1.31 --feature DRAControlPlaneController=true; without it --classic-driver has nothing to do"
            }
            (false, false) => {
                "this needs --profile 1.31 --feature DRAControlPlaneController=true, and --classic-driver for somebody who answers"
            }
        };
        self.warnings.push(WarningReport {
            object: object.clone(),
            message: format!(
                "is for the control plane controller {controller} (classic DRA){others}: {needs}"
            ),
        });
    }
}

/// The inputs, for people.
pub(super) fn source(inputs: &[PathBuf]) -> String {
    let name = |input: &PathBuf| match input.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => input.display().to_string(),
    };
    let names: Vec<String> = inputs.iter().map(name).collect();
    names.join(", ")
}

/// Reads everything that the host and the plugin want.
pub(super) fn read(
    inputs: &[PathBuf],
    stdin: &mut dyn Read,
    plugin: &Description,
    classic_driver: bool,
) -> anyhow::Result<Loaded> {
    let stopwatch = Stopwatch::start();
    let mut input = manifest::read(inputs, stdin, &keep(plugin))?;
    let read = stopwatch.nanoseconds();
    workloads::expand(&mut input);

    let unknown = unknown_versions(&input.objects, plugin);
    let uids = input
        .objects
        .iter()
        .map(|object| object.id().uid.clone())
        .filter(|uid| !uid.is_empty())
        .collect();
    let mut cluster = Cluster::new(Settings {
        classic_driver,
        ..Settings::default()
    });
    let mut warnings: Vec<WarningReport> = input
        .warnings
        .into_iter()
        .map(|warning| WarningReport {
            object: warning.object,
            message: warning.message,
        })
        .collect();
    let loaded = cluster.load(input.objects);
    let generated = cluster.run_claim_controller();
    warnings.extend(
        loaded
            .into_iter()
            .chain(generated)
            .map(|warning| WarningReport {
                object: warning.object,
                message: warning.message,
            }),
    );
    warnings.extend(input.object_errors.iter().map(|error| WarningReport {
        object: error.object.to_string(),
        message: format!("not used: {} ({})", error.message, error.origin),
    }));
    warnings.extend(unknown.into_iter().map(|(id, message)| WarningReport {
        object: id.to_string(),
        message,
    }));
    cluster.deliver();
    if cluster.count(&Kind::new("Node")) == 0 {
        bail!(no_node(&input.object_errors));
    }
    warnings.extend(devices_look_free(&cluster));
    let input_errors = affected(&cluster, &input.object_errors);
    let unreadable_pods = unreadable(&input.object_errors);
    Ok(Loaded {
        cluster,
        warnings,
        input_errors,
        unreadable_pods,
        uids,
        read,
    })
}

/// Kinds that the host and the plugin want, with all others of the plugin's groups.
pub(super) fn keep(plugin: &Description) -> impl Fn(&Kind) -> bool {
    let groups: BTreeSet<String> = plugin
        .accesses
        .iter()
        .filter_map(|access| group(&access.kind).map(str::to_owned))
        .collect();
    move |kind| needed_by_host(kind) || group(kind).is_some_and(|group| groups.contains(group))
}

fn group(kind: &Kind) -> Option<&str> {
    kind.as_str().split_once('.').map(|(_, group)| group)
}

fn no_node(errors: &[ObjectError]) -> String {
    let broken = errors
        .iter()
        .find(|error| error.object.kind == Kind::new("Node"));
    match broken {
        Some(error) => format!("no usable Node in the input: {error}"),
        None => "no Node in the input: pods cannot be placed; add the output of `kubectl get nodes -o yaml`".to_owned(),
    }
}

/// Pods with a node whose devices cannot be known.
fn devices_look_free(cluster: &Cluster) -> Vec<WarningReport> {
    let kind = Kind::new("Pod");
    let mut pods: Vec<_> = cluster.list(&kind).collect();
    pods.sort_by_key(|entry| entry.slot);
    let warnings = pods.into_iter().flat_map(|entry| {
        let pod = &entry.object;
        let messages = untold_claims(pod, cluster).into_iter();
        messages.map(|message| WarningReport {
            object: pod.id().to_string(),
            message,
        })
    });
    warnings.collect()
}

/// Objects in an API version that the plugin does not declare.
pub(super) fn unknown_versions(
    objects: &[Object],
    plugin: &Description,
) -> Vec<(ObjectRef, String)> {
    let known = |kind: &Kind| plugin.accesses.iter().find(|access| access.kind == *kind);
    let groups: BTreeSet<&str> = plugin
        .accesses
        .iter()
        .filter_map(|access| group(&access.kind))
        .collect();
    let versions: BTreeSet<&String> = plugin
        .accesses
        .iter()
        .flat_map(|access| &access.versions)
        .collect();
    let warning = |object: &Object| {
        let version = object.api_version();
        let kind = &object.id().kind;
        let message = match known(kind) {
            Some(access) if access.versions.iter().any(|known| known == version) => return None,
            Some(access) => format!(
                "{version} is not supported, only {}",
                access.versions.join(", ")
            ),
            // A kind that only the host uses, in a version in which the plugin knows other kinds of the group.
            None if versions.iter().any(|known| *known == version) => {
                let meant = meant_kind(kind, plugin)?;
                format!("kind {} is not known, did you mean {meant}?", kind.short())
            }
            None if group(kind).is_some_and(|group| groups.contains(group)) => {
                format!("{version} is not supported")
            }
            None => return None,
        };
        Some((object.id().clone(), message))
    };
    objects.iter().filter_map(warning).collect()
}

/// The kind that a plugin reads and of which this one is a slip.
fn meant_kind<'p>(kind: &Kind, plugin: &'p Description) -> Option<&'p str> {
    let mut known = plugin.accesses.iter().map(|access| &access.kind);
    Some(known.find(|known| is_slip_of(kind, known))?.short())
}

/// Pods that cannot be scheduled because of what they or an object that they name say.
fn affected(cluster: &Cluster, errors: &[ObjectError]) -> BTreeMap<String, String> {
    let kind = Kind::new("Pod");
    let pods = cluster.list(&kind).map(|entry| &entry.object);
    let problems = pods.filter_map(|pod| {
        let message = unnamed_claim(pod).or_else(|| broken_object(pod, cluster, errors))?;
        Some((format!("{}/{}", pod.id().namespace, pod.id().name), message))
    });
    problems.collect()
}

fn broken_object(pod: &Object, cluster: &Cluster, errors: &[ObjectError]) -> Option<String> {
    if errors.is_empty() {
        return None;
    }
    let named = named_by(pod, cluster);
    let broken = errors.iter().find(|error| {
        named
            .iter()
            .any(|(kind, namespace, name)| is_named(&error.object, kind, namespace, name))
    })?;
    Some(format!("{}: {}", broken.object, broken.message))
}

/// Whether an object that could not be used is this one. A group that is missing or wrong may be what is wrong with it, and
/// the reader does not know which kinds have namespaces.
fn is_named(broken: &ObjectRef, kind: &Kind, namespace: &str, name: &str) -> bool {
    let has_group = broken.kind.as_str().contains('.');
    (broken.kind == *kind || (!has_group && broken.kind.short() == kind.short()))
        && (*broken.namespace == *namespace
            || (broken.namespace.is_empty() && namespace == "default"))
        && *broken.name == *name
}

/// Pods among what could not be used; a group in their version may be what is wrong with them.
fn unreadable(errors: &[ObjectError]) -> Vec<PodOutcome> {
    // A workload stands for its pods: they are pending, and nobody can say where they would run.
    let pods = errors.iter().filter(|error| {
        error.object.kind.short() == "Pod" || workloads::is_workload(&error.object.kind)
    });
    let outcomes = pods.filter_map(|error| {
        let namespace = match &*error.object.namespace {
            "" => "default",
            namespace => namespace,
        };
        let metadata = json!({"namespace": namespace, "name": &*error.object.name});
        let pod =
            Object::from_value(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}))
                .ok()?;
        let mut outcome = PodOutcome::new(pod, u64::MAX);
        outcome.refuse(Status::new(
            Code::InvalidObject,
            match error.object.kind.short() {
                "Pod" => format!("{} ({})", error.message, error.origin),
                workload => format!("{workload}: {} ({})", error.message, error.origin),
            },
        ));
        Some(outcome)
    });
    outcomes.collect()
}
