//! The objects of a cluster, to be changed: those that matter for a pod on one node, or all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::{Change, Specified};
use crate::cluster::Cluster;
use crate::object::{Kind, Object};
use crate::stand_ins::schema::{CLAIM, CLAIM_TEMPLATE, POD, SLICE};

/// Objects. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Objects(pub(super) Vec<Object>);

/// How many names a text is searched for before a tree is cheaper.
const COMPARED: usize = 16;

/// A pool, as driver and name.
type PoolName = (String, String);

impl Objects {
    /// All of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        Self(cluster.objects().cloned().collect())
    }

    /// What the answer for a pod on one node depends on: neither other nodes nor what runs or is published there. Slices of a
    /// pool stay together.
    #[must_use]
    pub fn around(&self, node: &str, pod: &Object) -> Self {
        let pools: BTreeSet<PoolName> = self
            .of_kind(SLICE)
            .filter(|slice| may_be_for(slice, node) && is_for(slice, node))
            .map(pool_of)
            .collect();
        // Most objects have nothing to do with these pools: their text says so, and no tree of them is made.
        let names: BTreeSet<&str> = pools.iter().map(|(_, name)| name.as_str()).collect();
        let searched = names.len() <= COMPARED && names.iter().all(|name| is_plain(name));
        let names_a_pool =
            |object: &Object| !searched || names.iter().any(|name| object.mentions(name));
        let own: BTreeSet<Arc<str>> = self.claims_of(pod).collect();
        let concerns = |object: &&Object| match object.id().kind.as_str() {
            "Node" => *object.id().name == *node,
            POD => object.id().uid == pod.id().uid || object.text("/spec/nodeName") == Some(node),
            SLICE => names_a_pool(object) && pools.contains(&pool_of(object)),
            CLAIM => {
                let is_own =
                    object.id().namespace == pod.id().namespace && own.contains(&object.id().name);
                let pool = |result| (of_field(result, "driver"), of_field(result, "pool"));
                let holds_any = || results(object).any(|result| pools.contains(&pool(result)));
                is_own || (names_a_pool(object) && holds_any())
            }
            _ => true,
        };
        Self(self.0.iter().filter(concerns).cloned().collect())
    }

    /// The objects.
    pub fn into_objects(self) -> Vec<Object> {
        self.0
    }

    /// What it takes to free a claim; nothing if it is not there.
    pub fn freeing(&self, claim: &str, pod: &Object) -> Option<Change> {
        let object = self.claim(claim)?;
        let namespace = &object.id().namespace;
        let users = object.value().pointer("/status/reservedFor");
        let users = users.and_then(Value::as_array).into_iter().flatten();
        let others = users.filter(|user| {
            user["resource"] == "pods" && user["uid"].as_str() != Some(&*pod.id().uid)
        });
        let pods = others.map(|user| format!("{namespace}/{}", of_field(user, "name")));
        let own = *namespace == pod.id().namespace
            && self.claims_of(pod).any(|name| name == object.id().name);
        Some(Change::FreeClaim {
            claim: claim.to_owned(),
            pods: pods.collect(),
            devices: results(object)
                .map(|one| {
                    format!(
                        "{}/{}/{}",
                        of_field(one, "driver"),
                        of_field(one, "pool"),
                        of_field(one, "device")
                    )
                })
                .collect(),
            own,
        })
    }

    /// Names of what there is of a kind, by what stands before its group.
    pub fn names<'o>(
        &'o self,
        short: &'o str,
        namespace: &'o str,
    ) -> impl Iterator<Item = &'o str> {
        let of_kind = move |object: &&Object| object.id().kind.short() == short;
        let found = self.0.iter().filter(of_kind);
        found
            .filter(move |object| *object.id().namespace == *namespace)
            .map(|object| &*object.id().name)
    }

    /// What a claim asks for.
    pub fn requests(&self, of: &Specified) -> &[Value] {
        let claim = self
            .claim(&of.claim)
            .map(|claim| (claim, "/spec/devices/requests"));
        let template = self.of_kind(CLAIM_TEMPLATE);
        let is_it = |one: &&Object| {
            of.template
                .as_ref()
                .is_some_and(|name| is_called(one, name))
        };
        let template = template
            .filter(is_it)
            .map(|one| (one, "/spec/spec/devices/requests"));
        let Some((object, path)) = claim.into_iter().chain(template).next() else {
            return &[];
        };
        let requests = object.value().pointer(path).and_then(Value::as_array);
        requests.map_or(&[][..], Vec::as_slice)
    }

    /// Requests of a claim that name a class, all but for the last that is left: as a whole, or `parent/name` where it is one
    /// alternative of several.
    pub fn naming(&self, of: &Specified, class: &str) -> Vec<String> {
        let requests = self.requests(of);
        let names_it = |form: &Value| form["deviceClassName"] == *class;
        let mut found = Vec::new();
        let mut left = requests.len();
        for request in requests {
            let name = of_field(request, "name");
            let alternatives = request.get("firstAvailable").and_then(Value::as_array);
            let form = request.get("exactly").unwrap_or(request);
            match alternatives {
                Some(all) if !all.iter().all(names_it) => {
                    let each = all.iter().filter(|one| names_it(one));
                    found.extend(each.map(|one| format!("{name}/{}", of_field(one, "name"))));
                }
                _ if (alternatives.is_some() || names_it(form)) && left > 1 => {
                    left -= 1;
                    found.push(name);
                }
                _ => {}
            }
        }
        found
    }

    /// Pods of a node with what they ask for of a resource, in thousandths; those that have ended do not count.
    pub fn users_of(&self, node: &str, resource: &str) -> Vec<(String, i128)> {
        let here = self.of_kind(POD).filter(|pod| {
            pod.text("/spec/nodeName") == Some(node)
                && !matches!(pod.text("/status/phase"), Some("Succeeded" | "Failed"))
        });
        let amounts = here.map(|pod| {
            let amount = match resource {
                "pods" => 1000,
                _ => super::apply::asked(pod.value(), resource),
            };
            (format!("{}/{}", pod.id().namespace, pod.id().name), amount)
        });
        amounts.filter(|(_, amount)| *amount > 0).collect()
    }

    pub(super) fn claim(&self, name: &str) -> Option<&Object> {
        self.of_kind(CLAIM).find(|one| is_called(one, name))
    }

    pub(super) fn of_kind<'o>(&'o self, kind: &'o str) -> impl Iterator<Item = &'o Object> {
        self.0
            .iter()
            .filter(move |one| one.id().kind == Kind::new(kind))
    }

    /// Names of the claims of a pod.
    fn claims_of(&self, pod: &Object) -> impl Iterator<Item = Arc<str>> {
        let list = |path: &str| pod.value().pointer(path).and_then(Value::as_array).cloned();
        let named = list("/spec/resourceClaims").unwrap_or_default().into_iter();
        let named = named.chain(list("/status/resourceClaimStatuses").unwrap_or_default());
        named.filter_map(|entry| Some(entry.get("resourceClaimName")?.as_str()?.into()))
    }
}

/// Whether an object is meant by `namespace/name`.
pub(super) fn is_called(object: &Object, name: &str) -> bool {
    let id = object.id();
    name.split_once('/') == Some((&*id.namespace, &*id.name))
}

/// What a claim holds.
fn results(claim: &Object) -> impl Iterator<Item = &Value> {
    let results = claim.value().pointer("/status/allocation/devices/results");
    results.and_then(Value::as_array).into_iter().flatten()
}

/// Whether a name stands in JSON as it is.
fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\\'))
}

/// The same by the text alone: nothing is left out that is.
fn may_be_for(slice: &Object, node: &str) -> bool {
    !is_plain(node)
        || slice.mentions(node)
        || !slice.mentions("\"nodeName\":\"")
        || slice.mentions("\"perDeviceNodeSelection\"")
}

/// Whether a slice may be for a node: it is not for another one by name.
fn is_for(slice: &Object, node: &str) -> bool {
    let name = slice.text("/spec/nodeName").filter(|name| !name.is_empty());
    name.is_none_or(|name| name == node)
}

fn pool_of(slice: &Object) -> PoolName {
    let text = |path| slice.text(path).unwrap_or_default().to_owned();
    (text("/spec/driver"), text("/spec/pool/name"))
}

fn of_field(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
