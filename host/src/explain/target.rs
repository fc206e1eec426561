//! Which pod is meant by a name.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::nearest::nearest;
use crate::object::{Kind, Object};

use super::Standing;

/// Letters of a name that a sentence shows.
const LONGEST: usize = 253;
/// How many other names are shown.
pub const SUGGESTIONS: usize = 5;

/// A pod, and what to say about how it was found.
#[derive(Clone, Debug)]
pub struct Target {
    /// It.
    pub pod: Object,
    /// That it stands for a workload.
    pub remark: Option<String>,
    /// The workload, and the uids of all its pods.
    pub workload: Option<(String, Vec<Arc<str>>)>,
}

/// Finds a pod by its name, or the name of its workload. The error says what there is instead.
///
/// `unreadable` are pods that could not be used.
pub fn find(
    cluster: &Cluster,
    unreadable: &[Object],
    namespace: Option<&str>,
    name: &str,
) -> Result<Target, String> {
    let kind = Kind::new("Pod");
    let mut entries: Vec<_> = cluster.list(&kind).collect();
    entries.sort_by_key(|entry| entry.slot);
    let pods = entries.into_iter().map(|entry| &entry.object);
    let all: Vec<&Object> = pods.chain(unreadable).collect();
    // As messages name pods.
    let (namespace, name) = match name.split_once('/') {
        Some((given, pod))
            if namespace.is_none() && all.iter().any(|known| *known.id().namespace == *given) =>
        {
            (Some(given), pod)
        }
        _ => (namespace, name),
    };
    let here = |pod: &Object| namespace.is_none_or(|namespace| *pod.id().namespace == *namespace);
    let in_reach: Vec<&Object> = all.iter().copied().filter(|pod| here(pod)).collect();

    let named = in_reach.iter().filter(|pod| *pod.id().name == *name);
    let named: Vec<&Object> = named.copied().collect();
    if let Some(pod) = only_one(&named, name)? {
        return Ok(Target {
            pod: pod.clone(),
            remark: None,
            workload: None,
        });
    }
    let workload = name.rsplit('/').next().unwrap_or(name);
    let owned = in_reach.iter().filter(|pod| belongs_to(pod, workload));
    let owned: Vec<&Object> = owned.copied().collect();
    let mut namespaces: Vec<&Object> = owned.clone();
    namespaces.dedup_by_key(|pod| pod.id().namespace.clone());
    only_one(&namespaces, name)?;
    let pending = owned
        .iter()
        .find(|pod| Standing::of(pod) == Standing::Pending);
    match pending.or(owned.first()) {
        None => Err(nobody(name, namespace, &all, &in_reach)),
        Some(pod) => Ok(Target {
            pod: (*pod).clone(),
            remark: Some(match owned.len() {
                1 => format!("{workload} stands for the pod {}", pod.id().name),
                count => format!(
                    "{workload} stands for {count} pods, of which {} is {}",
                    pod.id().name,
                    match pending {
                        Some(_) => "the first that is pending",
                        None => "the first",
                    }
                ),
            }),
            workload: Some((
                workload.to_owned(),
                owned.iter().map(|pod| pod.id().uid.clone()).collect(),
            )),
        }),
    }
}

fn only_one<'p>(pods: &[&'p Object], name: &str) -> Result<Option<&'p Object>, String> {
    match pods {
        [] => Ok(None),
        [pod] => Ok(Some(pod)),
        several => {
            let namespaces: Vec<&str> = several.iter().map(|pod| &*pod.id().namespace).collect();
            Err(format!(
                "{name} is there in several namespaces: {}; say which with -n",
                namespaces.join(", ")
            ))
        }
    }
}

/// Whether a pod is one of a workload of this name: its owner's, or that of the Deployment behind its ReplicaSet.
fn belongs_to(pod: &Object, workload: &str) -> bool {
    let owners = pod.value().pointer("/metadata/ownerReferences");
    let owners = owners
        .and_then(|owners| owners.as_array())
        .into_iter()
        .flatten();
    let hash = pod.text("/metadata/labels/pod-template-hash");
    owners
        .filter_map(|owner| owner.get("name")?.as_str())
        .any(|owner| {
            let of_deployment = hash.is_some_and(|hash| {
                owner
                    .strip_prefix(workload)
                    .and_then(|rest| rest.strip_prefix('-'))
                    == Some(hash)
            });
            owner == workload || of_deployment
        })
}

/// A name in a sentence: objects have at most 253 letters, and what has more is cut.
pub fn short_name(name: &str) -> String {
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

fn nobody(name: &str, namespace: Option<&str>, all: &[&Object], in_reach: &[&Object]) -> String {
    let place = match namespace {
        Some(namespace) => format!(" in namespace {namespace}"),
        None => String::new(),
    };
    let elsewhere = all.iter().filter(|pod| *pod.id().name == *name);
    let elsewhere: Vec<&str> = elsewhere.map(|pod| &*pod.id().namespace).collect();
    let what = format!("there is no pod {}{place} in the input", short_name(name));
    if !elsewhere.is_empty() {
        return format!("{what}; it is in {}", elsewhere.join(", "));
    }
    if all.is_empty() {
        return format!("{what}, and no other pod either");
    }
    let names = if in_reach.is_empty() { all } else { in_reach };
    let ids = names
        .iter()
        .map(|pod| (&*pod.id().name, &*pod.id().namespace));
    let near = nearest(name, ids, |(name, _)| name, SUGGESTIONS).into_iter();
    let near: Vec<String> = near
        .map(|(name, namespace)| format!("{namespace}/{name}"))
        .collect();
    format!("{what}; the nearest names are {}", near.join(", "))
}
