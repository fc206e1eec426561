//! The cluster for one answer: every object that matters, in the model, with what could not be read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::extended;
use super::pods::{Container, containers_of};
use crate::api::{
    DeviceClass, DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice, wire, wire::Problem,
};
use crate::host::{Change, Host, InFlightChange, Level, Object, ObjectRef, Slot, kinds};
use crate::profile::Profile;

/// An object, or why it cannot be used.
pub(super) struct Seen<T> {
    pub id: ObjectRef,
    pub read: Result<T, Problem>,
}

/// Everything that was read, each kind in the host's order.
#[derive(Default)]
pub(super) struct Scene {
    pub nodes: Vec<Node>,
    /// Names of what some node says that it has to allocate.
    pub allocatable: BTreeSet<String>,
    /// Extended resources that classes offer.
    pub extended: BTreeSet<String>,
    pub classes: Vec<Seen<DeviceClass>>,
    pub slices: Vec<Seen<ResourceSlice>>,
    /// Slices whose devices cannot be told, because they cannot be read or would be refused: driver and pool, empty if unknown.
    pub unsure: BTreeMap<ObjectRef, [String; 2]>,
    pub rules: Vec<Seen<DeviceTaintRule>>,
    pub claims: Vec<Seen<ResourceClaim>>,
    /// Templates as the claims that they make.
    pub templates: Vec<Seen<ResourceClaim>>,
    pub pods: Vec<PodSeen>,
    /// Claims that a pod decided about and has not written yet, by uid.
    pub in_flight: BTreeMap<String, ResourceClaim>,
}

/// A pod, and what only advice looks at.
pub(super) struct PodSeen {
    pub id: ObjectRef,
    pub read: Result<Pod, Problem>,
    pub containers: Vec<Container>,
    /// Kind and name of the controller that made it.
    pub owner: Option<String>,
    phase: String,
    node: String,
}

impl PodSeen {
    fn new(object: Object) -> Self {
        let value = serde_json::from_slice::<Value>(&object.json).unwrap_or_default();
        let text = |value: &Value, pointer: &str| {
            value
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let owners = value
            .pointer("/metadata/ownerReferences")
            .and_then(Value::as_array);
        let mut owners = owners.into_iter().flatten();
        let controller = owners.find(|owner| owner.get("controller") == Some(&Value::Bool(true)));
        Self {
            read: wire::pod(&object.json),
            containers: containers_of(&value),
            owner: controller
                .map(|owner| format!("{} {}", text(owner, "/kind"), text(owner, "/name"))),
            phase: text(&value, "/status/phase"),
            node: text(&value, "/spec/nodeName"),
            id: object.id,
        }
    }

    /// Whether it needs nothing any more.
    pub(super) fn is_finished(&self) -> bool {
        ["Succeeded", "Failed"].contains(&self.phase.as_str())
    }

    /// Whether it was assigned to a node.
    pub(super) fn has_node(&self) -> bool {
        !self.node.is_empty()
    }

    /// Whether the entry's status says that no claim had to be generated.
    pub(super) fn needs_none(&self, entry: &str) -> bool {
        let statuses = self
            .read
            .iter()
            .flat_map(|pod| &pod.resource_claim_statuses);
        let mut of_entry = statuses.filter(|(name, _)| name == entry);
        of_entry.any(|(_, claim)| claim.is_none())
    }

    /// The claim that was generated for an entry.
    pub(super) fn generated_claim(&self, entry: &str) -> Option<&str> {
        let statuses = &self.read.as_ref().ok()?.resource_claim_statuses;
        let status = statuses.iter().find(|(name, _)| name == entry)?;
        status.1.as_deref()
    }
}

impl<T> Seen<T> {
    /// The object, if it can be used.
    pub(super) fn usable(&self) -> Option<(&ObjectRef, &T)> {
        self.read.as_ref().ok().map(|object| (&self.id, object))
    }
}

/// Those that can be used.
pub(super) fn usable<T>(seen: &[Seen<T>]) -> impl Iterator<Item = (&ObjectRef, &T)> {
    seen.iter().filter_map(Seen::usable)
}

/// Driver and pool of a slice, as far as these can be told.
fn whose(json: &[u8]) -> [String; 2] {
    let slice = serde_json::from_slice::<Value>(json).unwrap_or_default();
    ["/spec/driver", "/spec/pool/name"].map(|pointer| {
        let text = slice.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    })
}

impl Scene {
    /// Takes note of slices about which an error was told: what they publish is not known before that is corrected.
    pub(super) fn doubt(&mut self, accused: &BTreeSet<ObjectRef>) {
        for (id, slice) in self.slices.iter().filter_map(Seen::usable) {
            if accused.contains(id) {
                let whose = [slice.driver.to_string(), slice.pool.to_string()];
                self.unsure.insert(id.clone(), whose);
            }
        }
    }

    /// Whether devices of a pool may be there that are not known.
    pub(super) fn is_unsure(&self, driver: &str, pool: &str) -> bool {
        let may_be = |known: &str, wanted: &str| known.is_empty() || known == wanted;
        self.unsure
            .values()
            .any(|[of_driver, of_pool]| may_be(of_driver, driver) && may_be(of_pool, pool))
    }

    /// The same with pods.
    pub(super) fn with_pods(host: &dyn Host, profile: &Profile) -> Self {
        Self {
            pods: objects(host, kinds::POD, PodSeen::new),
            ..Self::read(host, profile)
        }
    }

    /// Reads everything that the host shows now, but pods.
    pub(super) fn read(host: &dyn Host, profile: &Profile) -> Self {
        let mut scene = Self::default();
        let mut allocatable = BTreeSet::new();
        let nodes = objects(host, kinds::NODE, |object| {
            allocatable.extend(extended::allocatable(&object.json));
            wire::node(&object.json).ok()
        });
        scene.nodes = nodes.into_iter().flatten().collect();
        scene.allocatable = allocatable;
        let mut offered = BTreeSet::new();
        scene.classes = each(host, kinds::DEVICE_CLASS, |json| {
            offered.extend(extended::offered(json));
            wire::device_class(json, profile)
        });
        scene.extended = offered;
        let mut unsure = BTreeMap::new();
        scene.slices = objects(host, kinds::RESOURCE_SLICE, |object| {
            let read = wire::resource_slice(&object.json, profile);
            if read.is_err() {
                unsure.insert(object.id.clone(), whose(&object.json));
            }
            Seen {
                read,
                id: object.id,
            }
        });
        scene.unsure = unsure;
        scene.rules = each(host, kinds::DEVICE_TAINT_RULE, |json| {
            wire::device_taint_rule(json, profile)
        });
        scene.claims = each(host, kinds::RESOURCE_CLAIM, |json| {
            wire::resource_claim(json, profile)
        });
        scene.templates = each(host, kinds::RESOURCE_CLAIM_TEMPLATE, |json| {
            wire::resource_claim_template(json, profile)
        });
        scene.in_flight = in_flight(host, profile);
        scene
    }
}

fn each<T>(
    host: &dyn Host,
    kind: &str,
    mut read: impl FnMut(&[u8]) -> Result<T, Problem>,
) -> Vec<Seen<T>> {
    objects(host, kind, |object| Seen {
        read: read(&object.json),
        id: object.id,
    })
}

/// What is made of each object of a kind, by slot; the objects themselves are not kept. A kind that may not be read has none,
/// and the log says so.
pub(super) fn objects<T>(host: &dyn Host, kind: &str, mut make: impl FnMut(Object) -> T) -> Vec<T> {
    let mut made: BTreeMap<Slot, T> = BTreeMap::new();
    let mut since = 0;
    loop {
        let page = match host.changes(kind, since) {
            Ok(page) => page,
            Err(error) => {
                host.log(Level::Warn, &error.message, &[]);
                break;
            }
        };
        if page.reset {
            made.clear();
        }
        for change in page.changes {
            match change {
                Change::Put { slot, object, .. } => made.insert(slot, make(object)),
                Change::Deleted { slot, .. } => made.remove(&slot),
            };
        }
        since = page.until;
        if !page.more {
            break;
        }
    }
    made.into_values().collect()
}

fn in_flight(host: &dyn Host, profile: &Profile) -> BTreeMap<String, ResourceClaim> {
    let mut claims = BTreeMap::new();
    let mut since = 0;
    loop {
        let page = host.in_flight_changes(since);
        if page.reset {
            claims.clear();
        }
        for change in page.changes {
            match change {
                InFlightChange::Put(entry) if entry.target.kind == kinds::RESOURCE_CLAIM => {
                    if let Ok(claim) = wire::resource_claim(&entry.json, profile) {
                        claims.insert(entry.target.uid, claim);
                    }
                }
                InFlightChange::Put(_) => {}
                InFlightChange::Removed(target) => _ = claims.remove(&target.uid),
            }
        }
        since = page.until;
        if !page.more {
            return claims;
        }
    }
}
