//! Pods of workload objects that are in the input without their pods, as the workload controllers would make them.
//!
//! Upstream: the controllers for Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet and Job, as far as
//! the scheduler sees their work. Names are stable: `<workload>-<number>`.

mod circles;
mod count;
mod daemon_set;
mod owners;
mod pods;

use std::collections::HashSet;

use crate::manifest::{Input, ObjectError, Origin, Warning};
use crate::object::{Kind, Object};
use count::Wanted;
use daemon_set::Nodes;
use owners::Owners;
use pods::Target;

pub use pods::path_of;

/// Most pods that one object is expanded to.
const MAX_PODS_EACH: u64 = 10_000;

/// Most pods that all objects together are expanded to.
const MAX_PODS: usize = 100_000;

/// Kinds that are expanded.
const KINDS: [&str; 6] = [
    "DaemonSet.apps",
    "Deployment.apps",
    "Job.batch",
    "ReplicaSet.apps",
    "ReplicationController",
    "StatefulSet.apps",
];

/// Makes pods too, but at its own times.
const CRON_JOB: &str = "CronJob.batch";

/// Replaces every workload object by its pods, and says so. One whose pods, or whose ReplicaSet, are in the input is only
/// dropped: a scheduler has no use for it. Objects that own each other in a circle are errors.
pub fn expand(input: &mut Input) {
    expand_with(input, false);
}

/// The same, and one pod of each workload that has none now although its template is there to make some: a CronJob, what is
/// suspended or scaled to nothing. For those who look at templates.
pub fn expand_all(input: &mut Input) {
    expand_with(input, true);
}

fn expand_with(input: &mut Input, with_samples: bool) {
    circles::remove(input);
    if !input
        .objects
        .iter()
        .any(|object| is_workload(&object.id().kind) || object.id().kind.as_str() == CRON_JOB)
    {
        return;
    }
    let objects = std::mem::take(&mut input.objects);
    let origins = std::mem::take(&mut input.origins);
    let mut expansion = Expansion::new(&objects, &input.object_errors);
    expansion.with_samples = with_samples;
    for (object, origin) in objects.iter().zip(origins) {
        if object.id().kind.as_str() == CRON_JOB && !with_samples {
            input.warnings.extend(expansion.not_due(object));
            continue;
        }
        if !is_workload(&object.id().kind) && object.id().kind.as_str() != CRON_JOB {
            input.objects.push(object.clone());
            input.origins.push(origin);
            continue;
        }
        match expansion.pods_of(object) {
            Ok(Made { pods, notice }) => {
                input
                    .origins
                    .extend(std::iter::repeat_n(origin, pods.len()));
                input.objects.extend(pods);
                input.warnings.extend(notice.map(|message| Warning {
                    object: display(object),
                    message,
                }));
            }
            Err(message) => input.object_errors.push(error_of(object, origin, message)),
        }
    }
}

/// Whether objects of this kind are expanded.
pub fn is_workload(kind: &Kind) -> bool {
    KINDS.contains(&kind.as_str())
}

fn namespace_of(object: &Object) -> &str {
    match &*object.id().namespace {
        "" => "default",
        namespace => namespace,
    }
}

fn display(object: &Object) -> String {
    format!(
        "{} {}/{}",
        object.id().kind.short(),
        namespace_of(object),
        object.id().name
    )
}

fn error_of(object: &Object, origin: Origin, message: String) -> ObjectError {
    let mut id = object.id().clone();
    id.namespace = namespace_of(object).into();
    ObjectError {
        object: id,
        origin,
        message,
    }
}

/// State of one expansion.
struct Expansion {
    nodes: Nodes,
    owners: Owners,
    /// Namespaces and names of all pods, broken ones included.
    names: HashSet<(String, String)>,
    made: usize,
    /// Workloads without pods get one.
    with_samples: bool,
}

impl Expansion {
    fn new(objects: &[Object], errors: &[ObjectError]) -> Self {
        let pods = objects
            .iter()
            .filter(|object| object.id().kind.as_str() == "Pod");
        let broken = errors
            .iter()
            .filter(|error| error.object.kind.as_str() == "Pod");
        let names = pods
            .map(|pod| (namespace_of(pod).to_owned(), pod.id().name.to_string()))
            .chain(broken.map(|error| {
                (
                    error.object.namespace.to_string(),
                    error.object.name.to_string(),
                )
            }))
            .collect();
        Self {
            nodes: Nodes::of(objects),
            owners: Owners::of(objects),
            names,
            made: 0,
            with_samples: false,
        }
    }

    /// What to say of a CronJob, whose pods are pending at times that a dump does not tell.
    fn not_due(&self, cron_job: &Object) -> Option<Warning> {
        let message = "not expanded: its pods come when it is due; to place those of one run, add the output of \
            `kubectl create job NAME --from=cronjob/... --dry-run=client -o yaml`";
        (!self.owners.has_dependents(cron_job)).then(|| Warning {
            object: display(cron_job),
            message: message.replace("...", &cron_job.id().name),
        })
    }

    /// Whether a pod stands for all that the workload will make. One that another one made, such as the ReplicaSet of an
    /// earlier rollout, makes no more; neither does a Job that has ended.
    fn is_sampled(&self, workload: &Object) -> bool {
        let is_owned = workload.metadata().get("ownerReferences").is_some();
        self.with_samples && !is_owned && !count::has_ended(workload)
    }

    /// The pods that are missing.
    fn pods_of(&mut self, workload: &Object) -> Result<Made, String> {
        if self.owners.has_dependents(workload) {
            return Ok(Made::default());
        }
        let mut template = pods::template_of(workload)?;
        let (targets, remark) = match count::wanted(workload)? {
            Wanted::Nothing | Wanted::Held(_) if self.is_sampled(workload) => {
                (vec![Target::numbered(0)], None)
            }
            Wanted::Nothing => return Ok(Made::default()),
            Wanted::Held(reason) => {
                return Ok(Made {
                    pods: Vec::new(),
                    notice: Some(reason.to_owned()),
                });
            }
            Wanted::PerNode => {
                let targets = self.nodes.targets(&mut template)?;
                match targets.is_empty() && self.is_sampled(workload) {
                    true => (vec![Target::numbered(0)], None),
                    false => (targets, None),
                }
            }
            Wanted::Pods {
                first,
                count,
                remark,
            } => (numbered(first, count)?, remark),
        };
        if self.made + targets.len() > MAX_PODS {
            return Err(format!(
                "the workloads of the input ask for more than {MAX_PODS} pods; leave some out"
            ));
        }
        let mut pods = Vec::new();
        for target in &targets {
            let pod = pods::make(workload, &template, target)?;
            if self
                .names
                .insert((namespace_of(&pod).to_owned(), pod.id().name.to_string()))
            {
                pods.push(pod);
            }
        }
        self.made += pods.len();
        let notice = notice(&pods, remark.as_deref());
        Ok(Made { pods, notice })
    }
}

/// Pods made for one object.
#[derive(Default)]
struct Made {
    pods: Vec<Object>,
    /// A sentence about them.
    notice: Option<String>,
}

fn numbered(first: u64, count: u64) -> Result<Vec<pods::Target>, String> {
    if count > MAX_PODS_EACH {
        return Err(format!(
            "asks for {count} pods; at most {MAX_PODS_EACH} are made for one object"
        ));
    }
    Ok((first..first.saturating_add(count))
        .map(pods::Target::numbered)
        .collect())
}

fn notice(made: &[Object], remark: Option<&str>) -> Option<String> {
    let (first, last) = (made.first()?, made.last()?);
    let names = match made.len() {
        1 => format!("1 pod, {}", first.id().name),
        count => format!("{count} pods, {} to {}", first.id().name, last.id().name),
    };
    let remark = remark
        .map(|remark| format!(" ({remark})"))
        .unwrap_or_default();
    Some(format!(
        "expanded to {names}{remark}: the input has none of its pods"
    ))
}

#[cfg(test)]
mod tests;
