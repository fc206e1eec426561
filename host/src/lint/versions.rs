//! API versions and kinds that nobody serves although somebody probably meant one that is: a group, a version or a kind
//! misspelled, or a kind with the group of another.

use crate::plugin::Description;

use crate::nearest::distance;

/// Kinds that the host reads, with the version to write.
const OF_HOST: [(&str, &str); 10] = [
    ("Pod", "v1"),
    ("Node", "v1"),
    ("ReplicationController", "v1"),
    ("Deployment", "apps/v1"),
    ("DaemonSet", "apps/v1"),
    ("ReplicaSet", "apps/v1"),
    ("StatefulSet", "apps/v1"),
    ("Job", "batch/v1"),
    ("CronJob", "batch/v1"),
    ("PriorityClass", "scheduling.k8s.io/v1"),
];

/// Kinds of the groups above that exist, and are not read here; some are near to one that is.
const OTHERS: [&str; 12] = [
    "ControllerRevision",
    "DevicePoolStatusRequest",
    "PodGroup",
    "PodTemplate",
    "ResourceClaimParameters",
    "ResourceClass",
    "ResourceClassParameters",
    "ResourcePoolStatusRequest",
    "Scale",
    "Status",
    "Workload",
    "List",
];

/// Versions that were served once: what they look like is another matter.
const OF_THE_PAST: [&str; 2] = ["v1alpha1", "v1alpha2"];

/// Groups that gave their kinds to another one, in which they are served now.
const GIVEN_UP: [(&str, &str); 1] = [("extensions", "apps")];

/// All kinds that are known, each with the API versions in which it is read, the one to write first.
#[derive(Debug)]
pub struct KnownKinds(Vec<(String, Vec<String>)>);

impl KnownKinds {
    /// Those of the host and of the plugin.
    pub fn of(plugin: &Description) -> Self {
        let mut known: Vec<(String, Vec<String>)> = OF_HOST
            .iter()
            .map(|(kind, version)| ((*kind).to_owned(), vec![(*version).to_owned()]))
            .collect();
        for access in &plugin.accesses {
            let kind = access.kind.short();
            if !known.iter().any(|(other, _)| other == kind) {
                known.push((kind.to_owned(), access.versions.clone()));
            }
        }
        Self(known)
    }

    /// What is wrong, with what to write behind a semicolon. Nothing of what may be another program's.
    pub fn judge(&self, api_version: &str, kind: &str) -> Option<String> {
        let (group, version) = split(api_version);
        let named = self.0.iter().find(|(known, _)| known == kind);
        if let Some((_, versions)) = named {
            if versions.iter().any(|known| known == api_version) {
                return None;
            }
            if versions.iter().any(|known| split(known).0 == group) {
                return wrong_version(api_version, version, kind, versions);
            }
        }
        if OTHERS.contains(&kind) {
            return None;
        }
        let named = named.or_else(|| self.nearest(group, kind))?;
        let (right_kind, versions) = named;
        let right_group = split(versions.first()?).0;
        let write = in_version(versions, version);
        if group == right_group {
            return (right_kind != kind).then(|| {
                format!("kind {kind:?} is not known in {api_version}; write {right_kind}")
            });
        }
        let also = match right_kind == kind {
            true => String::new(),
            false => format!(", and kind {right_kind}"),
        };
        if GIVEN_UP.contains(&(group, right_group)) {
            return Some(format!(
                "apiVersion {api_version} is not served any more; write {write}{also}"
            ));
        }
        if self.has_group(group) {
            // A kind of one known group in another: nobody else serves it there.
            if api_version.is_empty() {
                return Some(format!("apiVersion is empty; write {write}{also}"));
            }
            return Some(format!(
                "apiVersion {api_version} has no kind {kind}; write {write}{also}"
            ));
        }
        is_near(group, right_group).then(|| {
            format!("apiVersion {api_version:?} is of no known group; write {write}{also}")
        })
    }

    /// The kind that was misspelled; of any group if this one is misspelled too.
    fn nearest(&self, group: &str, kind: &str) -> Option<&(String, Vec<String>)> {
        let group_of = |known: &(String, Vec<String>)| {
            known
                .1
                .first()
                .map_or("", |version| split(version).0)
                .to_owned()
        };
        let is_near_kind = |known: &&(String, Vec<String>)| {
            let plural = kind.eq_ignore_ascii_case(&format!("{}s", known.0));
            let most = match known.0.len() {
                0..=4 => 0,
                5..=9 => 1,
                _ => 2,
            };
            plural || distance(kind, &known.0) <= most
        };
        let is_near_group = |known: &&(String, Vec<String>)| {
            let own = group_of(known);
            own == group || is_near(group, &own)
        };
        self.0
            .iter()
            .filter(is_near_kind)
            .filter(is_near_group)
            .min_by_key(|known| distance(kind, &known.0))
    }

    fn has_group(&self, group: &str) -> bool {
        let versions = self.0.iter().flat_map(|(_, versions)| versions);
        versions
            .into_iter()
            .any(|version| split(version).0 == group)
    }
}

/// A group that is known, in a version that is not.
fn wrong_version(
    api_version: &str,
    version: &str,
    kind: &str,
    versions: &[String],
) -> Option<String> {
    // Of core kinds and workloads the reader tells.
    if versions.is_empty()
        || OF_THE_PAST.contains(&version)
        || OF_HOST.iter().any(|(known, _)| *known == kind)
    {
        return None;
    }
    Some(format!(
        "apiVersion {api_version:?} is not a version of {kind}; write one of {}",
        versions.join(", ")
    ))
}

/// Group and version; the core group is empty.
fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The API version to write: the one that was meant, if the kind has it.
fn in_version<'v>(versions: &'v [String], version: &str) -> &'v str {
    let same = versions.iter().find(|known| split(known).1 == version);
    same.or(versions.first()).map_or("", String::as_str)
}

/// Whether a group is a slip of a known one: a letter or two, the domain left out or written in another way.
fn is_near(group: &str, known: &str) -> bool {
    if group.is_empty() || known.is_empty() {
        // The documentation calls the group without a name so.
        return group == "core";
    }
    let plain = |group: &str| {
        let group = group
            .to_ascii_lowercase()
            .replace("kubernetes.io", "k8s.io");
        group.trim_end_matches(".k8s.io").to_owned()
    };
    let (one, other) = (plain(group), plain(known));
    let most = if other.len() < 6 { 1 } else { 2 };
    distance(group, known) <= 2 || distance(&one, &other) <= most
}
