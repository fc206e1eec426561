//! Extended resources that containers ask for, against what nodes have and what classes offer in their place.
//!
//! Upstream: `IsExtendedResourceName` of the core helpers, `DeviceClass.spec.extendedResourceName`, and the name that every
//! class has without it, `deviceclass.resource.kubernetes.io/NAME`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::findings::{About, some_of};
use super::scene::{PodSeen, Scene};
use crate::nearest::{meant, meant_qualified};

/// Stands before the name of a class.
const OF_CLASS: &str = "deviceclass.resource.kubernetes.io/";

/// What there is.
pub(super) struct Extended<'a> {
    scene: &'a Scene,
    classes: BTreeSet<&'a str>,
}

impl<'a> Extended<'a> {
    pub(super) fn of(scene: &'a Scene) -> Self {
        let classes = scene.classes.iter().map(|seen| seen.id.name.as_str());
        Self {
            scene,
            classes: classes.collect(),
        }
    }

    /// What a pod asks for that nobody has. One that has a node has got it.
    pub(super) fn check(&self, pod: &PodSeen, about: &mut About<'_>) {
        let containers = pod.containers.iter().filter(|_| !pod.has_node());
        for (path, name) in containers.flat_map(|container| &container.extended) {
            if self.scene.allocatable.contains(name) || self.scene.extended.contains(name) {
                continue;
            }
            match name.strip_prefix(OF_CLASS) {
                Some(class) => self.class(class, path, about),
                None => self.resource(name, path, about),
            }
        }
    }

    fn class(&self, class: &str, path: &str, about: &mut About<'_>) {
        let is_cluster = !(self.scene.nodes.is_empty() && self.scene.slices.is_empty());
        if self.classes.contains(class) || !is_cluster {
            return;
        }
        let classes = || self.classes.iter().copied();
        let remedy = match meant_qualified(class, classes()) {
            Some(nearest) => format!("did you mean {OF_CLASS}{nearest}?"),
            None => "create it, or install the driver that brings it".to_owned(),
        };
        about.error(path, format!("there is no DeviceClass {class:?}"), remedy);
    }

    /// A device plugin may still bring it. Nodes that are written by hand have nothing, and say nothing.
    fn resource(&self, name: &str, path: &str, about: &mut About<'_>) {
        let offered = || self.scene.extended.iter().map(String::as_str);
        let known = || self.scene.allocatable.iter().map(String::as_str);
        let nearest = meant(name, offered().chain(known()));
        let message = format!("no node has {name}, and no DeviceClass offers it");
        if let Some(nearest) = nearest {
            return about.warning(path, message, format!("did you mean {nearest}?"));
        }
        if self.scene.allocatable.is_empty() {
            return;
        }
        let remedy = match offered().next() {
            Some(_) => format!("classes offer {}", some_of(offered())),
            None => {
                "install its device plugin, or set extendedResourceName of a DeviceClass".to_owned()
            }
        };
        // Where nobody has any, the nodes were written down without.
        match known().any(is_extended) || offered().next().is_some() {
            true => about.warning(path, message, remedy),
            false => about.hint(path, message, remedy),
        }
    }
}

/// Extended resources that a container asks for, each once, with their paths.
pub(super) fn asked(container: &Value, path: &str) -> Vec<(String, String)> {
    let mut asked: Vec<(String, String)> = Vec::new();
    for list in ["limits", "requests"] {
        let given = container.pointer(&format!("/resources/{list}"));
        for name in given
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|map| map.keys())
        {
            let is_known = asked.iter().any(|(_, known)| known == name);
            if is_extended(name) && !is_known {
                asked.push((format!("{path}.resources.{list}[{name}]"), name.clone()));
            }
        }
    }
    asked
}

fn is_extended(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    name.starts_with(OF_CLASS) || !is_native && !name.starts_with("requests.")
}

/// What a node says that it has.
pub(super) fn allocatable(json: &[u8]) -> Vec<String> {
    let node = serde_json::from_slice::<Value>(json).unwrap_or_default();
    let maps = ["/status/allocatable", "/status/capacity"];
    let maps = maps
        .into_iter()
        .filter_map(|pointer| node.pointer(pointer)?.as_object());
    maps.flat_map(|map| map.keys().cloned()).collect()
}

/// The extended resource of a class.
pub(super) fn offered(json: &[u8]) -> Option<String> {
    let class = serde_json::from_slice::<Value>(json).ok()?;
    let name = class.pointer("/spec/extendedResourceName")?.as_str()?;
    (!name.is_empty()).then(|| name.to_owned())
}
