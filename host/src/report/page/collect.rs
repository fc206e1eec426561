//! From the report and the objects at the end of the run to the data document.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::Contents;
use super::data::{Claim, Document, Held, Node, Pod, Ranges, Reason, Request, ranges};
use super::explained::{self, explanation};
use super::inventory::Inventory;
use crate::cluster::Cluster;
use crate::explain::Standing;
use crate::filters::Selection;
use crate::object::{Kind, Object};
use crate::report::claims::{CLAIM, claims_of};
use crate::report::{ClaimReport, PodReport, ReasonReport};

/// Positions of nodes by name.
pub(super) type Positions<'n> = BTreeMap<&'n str, usize>;

/// Everything that the page shows.
pub(super) fn document<'a>(contents: Contents<'a>, cluster: &Cluster) -> Document<'a> {
    let objects = sorted(cluster, "Node");
    let nodes: Vec<Node> = objects.iter().map(|object| node(object)).collect();
    let selection = Selection::of(objects.iter().copied());
    let skips_broken = contents.skips_broken_pools;
    let mut inventory = Inventory::of(cluster, &nodes, &selection, skips_broken);
    let claims = sorted(cluster, CLAIM);
    let claims = claims
        .into_iter()
        .map(|object| claim(object, contents.allocated, &mut inventory))
        .collect();
    let positions: Positions<'_> = (nodes.iter().enumerate())
        .map(|(position, node)| (node.name.as_str(), position))
        .collect();
    let reported = contents.report.pods.iter();
    let mut pods: Vec<Pod> = reported.map(|each| pod(each, &positions)).collect();
    for explained in contents.explained {
        explained::settle(&explained.explained, &mut pods);
    }
    pods.extend(others(&pods, cluster));
    let explained = contents.explained.iter();
    let explained = explained.map(|each| explanation(each, &positions, &inventory));
    Document {
        source: contents.source,
        summary: contents.summary,
        open: contents.opened(),
        pods,
        claims,
        explained: explained.collect(),
        groups: inventory.groups,
        fields: inventory.fields,
        warnings: &contents.report.warnings,
        nodes,
    }
}

/// Uids of the claims that are allocated.
pub(super) fn allocated(cluster: &Cluster) -> BTreeSet<Arc<str>> {
    let is_allocated = |object: &Object| object.value().pointer("/status/allocation").is_some();
    let kind = Kind::new(CLAIM);
    let claims = cluster.list(&kind).map(|entry| &entry.object);
    claims
        .filter(|object| is_allocated(object))
        .map(|object| object.id().uid.clone())
        .collect()
}

fn sorted<'a>(cluster: &'a Cluster, kind: &str) -> Vec<&'a Object> {
    let kind = Kind::new(kind);
    let mut objects: Vec<&Object> = cluster.list(&kind).map(|entry| &entry.object).collect();
    objects.sort_by_key(|object| (&object.id().namespace, &object.id().name));
    objects
}

fn node(object: &Object) -> Node {
    let value = object.value();
    let labels = value.pointer("/metadata/labels").and_then(Value::as_object);
    Node {
        name: object.id().name.to_string(),
        unschedulable: value.pointer("/spec/unschedulable") == Some(&Value::Bool(true)),
        labels: labels.cloned().unwrap_or_default(),
    }
}

fn claim(object: &Object, allocated: &BTreeSet<Arc<str>>, inventory: &mut Inventory) -> Claim {
    let value = object.value();
    let is_allocated = value.pointer("/status/allocation").is_some();
    let mut devices = Vec::new();
    for result in list(value, "/status/allocation/devices/results") {
        let [driver, pool, device, request] =
            ["driver", "pool", "device", "request"].map(|key| text(result, key));
        let admin = result.get("adminAccess") == Some(&Value::Bool(true));
        let held = |at| Held {
            at,
            request: request.to_owned(),
            admin,
        };
        devices.extend(inventory.find(driver, pool, device).into_iter().map(held));
    }
    Claim {
        namespace: object.id().namespace.to_string(),
        name: object.id().name.to_string(),
        given: is_allocated && !allocated.contains(&object.id().uid),
        users: users(object),
        requests: list(value, "/spec/devices/requests")
            .flat_map(requests)
            .collect(),
        constraints: list(value, "/spec/devices/constraints")
            .map(constraint)
            .collect(),
        devices,
    }
}

fn users(claim: &Object) -> Vec<String> {
    let user = |user: &Value| {
        let name = format!("{}/{}", claim.id().namespace, text(user, "name"));
        match text(user, "resource") {
            "pods" | "" => name,
            resource => format!("{resource} {name}"),
        }
    };
    list(claim.value(), "/status/reservedFor")
        .map(user)
        .collect()
}

/// A request in any API version; one entry for each of its alternatives.
fn requests(request: &Value) -> Vec<Request> {
    let name = text(request, "name");
    let alternatives: Vec<&Value> = list(request, "/firstAvailable").collect();
    if alternatives.is_empty() {
        return vec![in_words(
            name.to_owned(),
            request.get("exactly").unwrap_or(request),
        )];
    }
    let each = |alternative: &&Value| {
        in_words(format!("{name}/{}", text(alternative, "name")), alternative)
    };
    alternatives.iter().map(each).collect()
}

fn in_words(name: String, form: &Value) -> Request {
    let class = text(form, "deviceClassName");
    let count = form.get("count").and_then(Value::as_i64).unwrap_or(1);
    let mut words = match text(form, "allocationMode") {
        "All" => format!("all of class {class}"),
        _ => format!("{count} of class {class}"),
    };
    if form.get("adminAccess") == Some(&Value::Bool(true)) {
        words += ", admin access";
    }
    let selector = |selector: &Value| {
        let expression = selector.pointer("/cel/expression");
        expression
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    Request {
        name,
        text: words,
        selectors: list(form, "/selectors").map(selector).collect(),
    }
}

fn constraint(constraint: &Value) -> String {
    let requests: Vec<&str> = list(constraint, "/requests")
        .filter_map(Value::as_str)
        .collect();
    let scope = match requests.is_empty() {
        true => "all requests".to_owned(),
        false => requests.join(", "),
    };
    match (
        text(constraint, "matchAttribute"),
        text(constraint, "distinctAttribute"),
    ) {
        ("", "") => format!("an unknown constraint on {scope}"),
        ("", distinct) => format!("{distinct} different in {scope}"),
        (equal, _) => format!("{equal} equal in {scope}"),
    }
}

fn pod(report: &PodReport, positions: &Positions<'_>) -> Pod {
    let reason = |reason: &ReasonReport| Reason {
        plugin: reason.plugin.clone(),
        message: reason.message.clone(),
        count: reason.count,
        nodes: named(&reason.nodes, positions),
    };
    Pod {
        namespace: report.namespace.clone(),
        name: report.name.clone(),
        verdict: report.verdict.name(),
        node: report.node.clone(),
        at: report.at.clone(),
        code: report.code,
        message: report.message.clone(),
        attempts: report.attempts,
        visited: u32::try_from(report.nodes_visited).unwrap_or(u32::MAX),
        feasible: named(&report.feasible_nodes, positions),
        reasons: report.reasons.iter().map(reason).collect(),
        claims: names(&report.claims),
        retries: report.retries.clone(),
        warnings: report.warnings.clone(),
    }
}

/// Pods with claims that were not asked about: they are what keeps devices from the others, or want the same.
fn others(known: &[Pod], cluster: &Cluster) -> Vec<Pod> {
    let known: BTreeSet<(&str, &str)> = (known.iter())
        .map(|pod| (pod.namespace.as_str(), pod.name.as_str()))
        .collect();
    let one = |object: &Object| {
        let id = object.id();
        let (verdict, node) = match Standing::of(object) {
            Standing::Placed(node) => ("running", Some(node)),
            Standing::Pending => ("pending", None),
            Standing::Ended(_) | Standing::Deleted => return None,
        };
        let claims = names(&claims_of(object, cluster));
        if claims.is_empty() || known.contains(&(&*id.namespace, &*id.name)) {
            return None;
        }
        Some(Pod {
            namespace: id.namespace.to_string(),
            name: id.name.to_string(),
            verdict,
            node,
            claims,
            ..Pod::default()
        })
    };
    sorted(cluster, "Pod").into_iter().filter_map(one).collect()
}

fn names(claims: &[ClaimReport]) -> Vec<(String, Option<String>)> {
    let name = |claim: &ClaimReport| (claim.name.clone(), claim.claim.clone());
    claims.iter().map(name).collect()
}

/// Positions of nodes by name; a node that is gone has none.
fn named(names: &[String], positions: &Positions<'_>) -> Ranges {
    let known: BTreeSet<usize> = (names.iter())
        .filter_map(|name| positions.get(name.as_str()).copied())
        .collect();
    ranges(known)
}

fn list<'v>(value: &'v Value, path: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.pointer(path).and_then(Value::as_array);
    list.into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
