//! The cluster for one answer: every object that matters, in the model, with what could not be read.

use std::collections::BTreeMap;

use crate::api::{
    DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice, wire, wire::Problem,
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
    pub classes: Vec<Seen<DeviceClass>>,
    pub slices: Vec<Seen<ResourceSlice>>,
    pub rules: Vec<Seen<DeviceTaintRule>>,
    pub claims: Vec<Seen<ResourceClaim>>,
    /// Claims that a pod decided about and has not written yet, by uid.
    pub in_flight: BTreeMap<String, ResourceClaim>,
}

impl<T> Seen<T> {
    /// The object, if it can be used.
    pub(super) fn usable(&self) -> Option<(&ObjectRef, &T)> {
        self.read.as_ref().ok().map(|object| (&self.id, object))
    }
}

impl Scene {
    /// Reads everything that the host shows now.
    pub(super) fn read(host: &dyn Host, profile: &Profile) -> Self {
        let mut scene = Self::default();
        let node = |json: &[u8]| wire::node(json);
        scene.nodes = each(host, kinds::NODE, node)
            .into_iter()
            .filter_map(|seen| seen.read.ok())
            .collect();
        scene.classes = each(host, kinds::DEVICE_CLASS, |json| {
            wire::device_class(json, profile)
        });
        scene.slices = each(host, kinds::RESOURCE_SLICE, |json| {
            wire::resource_slice(json, profile)
        });
        scene.rules = each(host, kinds::DEVICE_TAINT_RULE, |json| {
            wire::device_taint_rule(json, profile)
        });
        scene.claims = each(host, kinds::RESOURCE_CLAIM, |json| {
            wire::resource_claim(json, profile)
        });
        scene.in_flight = in_flight(host, profile);
        scene
    }
}

fn each<T>(
    host: &dyn Host,
    kind: &str,
    read: impl Fn(&[u8]) -> Result<T, Problem>,
) -> Vec<Seen<T>> {
    let objects = objects(host, kind).into_iter();
    let seen = objects.map(|object| Seen {
        read: read(&object.json),
        id: object.id,
    });
    seen.collect()
}

/// All objects of a kind, by slot. A kind that may not be read has none, and the log says so.
pub(super) fn objects(host: &dyn Host, kind: &str) -> Vec<Object> {
    let mut objects: BTreeMap<Slot, Object> = BTreeMap::new();
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
            objects.clear();
        }
        for change in page.changes {
            match change {
                Change::Put { slot, object, .. } => objects.insert(slot, object),
                Change::Deleted { slot, .. } => objects.remove(&slot),
            };
        }
        since = page.until;
        if !page.more {
            break;
        }
    }
    objects.into_values().collect()
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
