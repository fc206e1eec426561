//! Extended resources through DRA (gate DRAExtendedResource, 1.34 and later): a container asks for `vendor.com/gpu`, and a
//! DeviceClass says that its devices are meant. Not implemented, so a pod that does this is refused by name: without a claim
//! in sight it would be placed as if it asked for nothing (design section 6).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Prefix of the name that every class has without being asked.
const IMPLICIT_PREFIX: &str = "deviceclass.resource.kubernetes.io/";

#[derive(Deserialize)]
struct Class {
    spec: Option<ClassSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClassSpec {
    extended_resource_name: Option<String>,
}

#[derive(Deserialize)]
struct Pod {
    spec: Option<PodSpec>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodSpec {
    init_containers: Option<Vec<Container>>,
    containers: Option<Vec<Container>>,
}

#[derive(Deserialize)]
struct Container {
    resources: Option<Resources>,
}

#[derive(Deserialize)]
struct Resources {
    requests: Option<BTreeMap<String, IgnoredAny>>,
    limits: Option<BTreeMap<String, IgnoredAny>>,
}

/// The extended resource that a class offers by name. What cannot be read offers none; its reader complains elsewhere.
pub fn offered_by(class: &[u8]) -> Option<String> {
    let class: Class = serde_json::from_slice(class).ok()?;
    let name = class.spec?.extended_resource_name?;
    (!name.is_empty()).then_some(name)
}

/// The first resource a pod asks for that means devices, and what offers it. `offered`: class by resource name.
pub fn wanted_by(pod: &[u8], offered: &BTreeMap<String, String>) -> Option<(String, String)> {
    let may_be_implicit = contains(pod, IMPLICIT_PREFIX.as_bytes());
    if offered.is_empty() && !may_be_implicit {
        return None;
    }
    let pod: Pod = serde_json::from_slice(pod).ok()?;
    let spec = pod.spec?;
    let containers = [spec.init_containers, spec.containers];
    let resources = containers
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|container| container.resources);
    let names = resources.flat_map(|resources| {
        let lists = [resources.requests, resources.limits];
        lists.into_iter().flatten().flat_map(BTreeMap::into_keys)
    });
    let mut wanted = names.filter_map(|name| {
        let class = match name.strip_prefix(IMPLICIT_PREFIX) {
            Some(class) => class.to_owned(),
            None => offered.get(&name)?.clone(),
        };
        Some((name, class))
    });
    wanted.next()
}

fn contains(text: &[u8], wanted: &[u8]) -> bool {
    text.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(resources: &str) -> Option<(String, String)> {
        let class = br#"{"spec": {"extendedResourceName": "ex.com/gpu"}}"#;
        let offered = offered_by(class)
            .map(|name| (name, "gpu".to_owned()))
            .into_iter()
            .collect();
        let pod = format!(r#"{{"spec": {{"containers": [{{"resources": {resources}}}]}}}}"#);
        wanted_by(pod.as_bytes(), &offered)
    }

    fn pair(name: &str, class: &str) -> Option<(String, String)> {
        Some((name.to_owned(), class.to_owned()))
    }

    #[test]
    fn names_that_classes_offer() {
        assert_eq!(
            wanted(r#"{"limits": {"cpu": 1, "ex.com/gpu": "1"}}"#),
            pair("ex.com/gpu", "gpu")
        );
        assert_eq!(
            wanted(r#"{"requests": {"ex.com/gpu": 1}}"#),
            pair("ex.com/gpu", "gpu")
        );
        assert_eq!(wanted(r#"{"requests": {"ex.com/nic": 1}}"#), None);
    }

    #[test]
    fn the_name_that_every_class_has() {
        let name = "deviceclass.resource.kubernetes.io/c";
        assert_eq!(
            wanted(&format!(r#"{{"limits": {{"{name}": 5}}}}"#)),
            pair(name, "c")
        );
    }

    #[test]
    fn a_class_without_a_name_offers_nothing() {
        assert_eq!(offered_by(br#"{"spec": {}}"#), None);
        assert_eq!(
            offered_by(br#"{"spec": {"extendedResourceName": ""}}"#),
            None
        );
        assert_eq!(offered_by(b"null"), None);
    }
}
