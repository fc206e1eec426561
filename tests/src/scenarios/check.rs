//! Compares an output with what is expected, and lists every difference.

use dractl::object::Kind;
use serde_json::Value;

use super::expected::{AtEnd, Claim, Expected, Pod};
use crate::command::Finished;

/// Fixed texts of upstream's: a reason in words that contains one must be given in these words.
const FIXED_TEXTS: [&str; 5] = [
    "cannot allocate all claims",
    "ResourceClaim not created yet",
    "waiting for resource driver",
    "CEL expression empty (unsupported selector type?)",
    "invalid resource pools were encountered",
];

/// Scenarios whose reasons are exact texts.
const EXACT_REASONS: [&str; 4] = [
    "classic-first-cycle",
    "classic-unsuitable-node",
    "example-class-missing",
    "k8s-docs-empty-selector",
];

/// How much depends on the nodes that were chosen for the pods before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A pod with a `firstFitNode` may have another node, and what follows from it.
    AnyNode,
    /// First fit.
    FirstFit,
}

/// Everything that is otherwise than expected.
pub fn differences(expected: &Expected, output: &Value, strictness: Strictness) -> Vec<String> {
    let pods: Vec<&Value> = output["pods"].as_array().into_iter().flatten().collect();
    let names: Vec<String> = pods.iter().map(|pod| name_of(pod)).collect();
    let wanted: Vec<&str> = expected.pods.iter().map(|pod| pod.pod.as_str()).collect();
    if names != wanted {
        return vec![format!("pods: {names:?} instead of {wanted:?}")];
    }
    let mut found = Vec::new();
    for (wanted, pod) in expected.pods.iter().zip(pods) {
        let exact = EXACT_REASONS.contains(&expected.scenario.as_str());
        let mut of_pod = Vec::new();
        outcome(wanted, pod, exact, &mut of_pod);
        if let Some(retries) = &wanted.retries {
            attempts(retries, pod, &mut of_pod);
        }
        if strictness == Strictness::FirstFit || wanted.first_fit_node.is_none() {
            placement(wanted, pod, &mut of_pod);
        }
        found.extend(
            of_pod
                .into_iter()
                .map(|text| format!("{}: {text}", wanted.pod)),
        );
    }
    let warnings = warnings(output);
    for text in &expected.warnings {
        if !warnings.iter().any(|warning| warning.contains(text)) {
            found.push(format!("no warning has {text:?}; there are {warnings:?}"));
        }
    }
    found
}

fn name_of(pod: &Value) -> String {
    format!("{}/{}", text(&pod["namespace"]), text(&pod["name"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// `object: message` of the warnings, those of pods included.
fn warnings(output: &Value) -> Vec<String> {
    let general = output["warnings"].as_array().into_iter().flatten();
    let general = general.map(|one| format!("{}: {}", text(&one["object"]), text(&one["message"])));
    let pods = output["pods"].as_array().into_iter().flatten();
    let of_pods = pods
        .flat_map(|pod| texts(&pod["warnings"]))
        .map(str::to_owned);
    general.chain(of_pods).collect()
}

fn outcome(wanted: &Pod, pod: &Value, exact: bool, found: &mut Vec<String>) {
    let (verdict, at, message) = (
        text(&pod["verdict"]),
        pod["at"].as_str(),
        text(&pod["message"]),
    );
    if verdict != wanted.verdict {
        found.push(format!(
            "{verdict} at {at:?} instead of {}: {message}",
            wanted.verdict
        ));
        return;
    }
    let scheduled = verdict == "scheduled";
    if (scheduled || wanted.at.is_some()) && at != wanted.at.as_deref() {
        found.push(format!("decided at {at:?} instead of {:?}", wanted.at));
    }
    if scheduled != pod["node"].is_string() {
        found.push(format!("{verdict}, and the node is {}", pod["node"]));
    }
    // What never came to an extension point has its message only.
    let has_reasons = pod["reasons"]
        .as_array()
        .is_some_and(|list| !list.is_empty());
    if has_reasons != (!scheduled && at.is_some()) {
        found.push(format!("the reasons are {}", pod["reasons"]));
    }
    let reason = wanted.reason.as_deref().unwrap_or_default();
    let fixed = FIXED_TEXTS
        .into_iter()
        .filter(|fixed| reason.contains(fixed));
    let whole = Some(reason).filter(|_| exact);
    for wanted in fixed.chain(whole).chain(wanted.message.as_deref()) {
        if !message.contains(wanted) {
            found.push(format!("the message has not {wanted:?}: {message}"));
        }
    }
}

fn attempts(wanted: &[String], pod: &Value, found: &mut Vec<String>) {
    let retries = retries(pod);
    if retries != wanted {
        found.push(format!("tried again {retries:?} instead of {wanted:?}"));
    }
    if pod["attempts"] != retries.len() + 1 {
        found.push(format!(
            "{} attempts for {} retries",
            pod["attempts"],
            retries.len()
        ));
    }
}

/// Attempts after the first, as `expected.yaml` has them.
pub fn retries(pod: &Value) -> Vec<String> {
    let retries = pod["retries"].as_array().into_iter().flatten();
    retries
        .map(|retry| {
            let (trigger, at) = (text(&retry["trigger"]), text(&retry["previous"]["at"]));
            format!(
                "{} s {trigger} after {at}",
                retry["afterSeconds"].as_f64().unwrap_or(-1.0)
            )
        })
        .collect()
}

fn placement(wanted: &Pod, pod: &Value, found: &mut Vec<String>) {
    let (node, feasible) = (pod["node"].as_str(), texts(&pod["feasibleNodes"]));
    if let Some(nodes) = &wanted.nodes {
        if feasible != *nodes {
            found.push(format!("feasible nodes {feasible:?} instead of {nodes:?}"));
        }
        if node.is_none_or(|node| !nodes.iter().any(|wanted| wanted == node)) {
            found.push(format!("node {node:?} is none of {nodes:?}"));
        }
    }
    if let Some(count) = wanted.feasible_nodes
        && feasible.len() != count
    {
        found.push(format!(
            "{} feasible nodes instead of {count}",
            feasible.len()
        ));
    }
    if wanted.first_fit_node.is_some() && node != wanted.first_fit_node.as_deref() {
        found.push(format!(
            "node {node:?} instead of {:?}",
            wanted.first_fit_node
        ));
    }
    let claims: Vec<&Value> = pod["claims"].as_array().into_iter().flatten().collect();
    if !wanted.claims.is_empty() && claims.len() != wanted.claims.len() {
        found.push(format!(
            "{} claims instead of {}",
            claims.len(),
            wanted.claims.len()
        ));
    }
    for (wanted, claim) in wanted.claims.iter().zip(claims) {
        let mut of_claim = Vec::new();
        allocation(wanted, claim, &mut of_claim);
        found.extend(
            of_claim
                .into_iter()
                .map(|text| format!("claim {}: {text}", wanted.name)),
        );
    }
}

fn allocation(wanted: &Claim, claim: &Value, found: &mut Vec<String>) {
    if claim["name"] != *wanted.name {
        found.push(format!("stands in the place of {}", claim["name"]));
    }
    if let Some(object) = &wanted.claim
        && claim["claim"] != **object
    {
        found.push(format!("is {} instead of {object}", claim["claim"]));
    }
    let results = &claim["allocation"]["devices"]["results"];
    if let Some(devices) = &wanted.devices {
        let wanted: Vec<String> = devices.iter().map(ToString::to_string).collect();
        // The short form of the report, and the object as written, say the same.
        for (what, list) in [("devices", &claim["devices"]), ("results", results)] {
            let got: Vec<String> = list.as_array().into_iter().flatten().map(device).collect();
            if got != wanted {
                found.push(format!("{what} {got:?} instead of {wanted:?}"));
            }
        }
    }
    let each = || results.as_array().into_iter().flatten();
    if let Some(admin) = wanted.admin_access {
        let marked = |result: &Value| result["adminAccess"].as_bool().unwrap_or_default();
        if each().any(|result| marked(result) != admin) || each().next().is_none() {
            found.push(format!("adminAccess is not {admin} everywhere: {results}"));
        }
    }
    if let Some(config) = &wanted.config
        && claim["allocation"]["devices"]["config"] != *config
    {
        let got = &claim["allocation"]["devices"]["config"];
        found.push(format!("config {got} instead of {config}"));
    }
    if let Some(capacity) = &wanted.consumed_capacity {
        let got: Vec<Value> = each()
            .map(|result| result["consumedCapacity"].clone())
            .collect();
        if got != *capacity {
            found.push(format!("consumed {got:?} instead of {capacity:?}"));
        }
    }
}

fn device(result: &Value) -> String {
    let [request, driver, pool, device] =
        ["request", "driver", "pool", "device"].map(|key| text(&result[key]));
    format!("{request}={driver}/{pool}/{device}")
}

/// `-o yaml` must tell the same: the node of each pod, and who has reserved a claim.
pub fn yaml_differences(expected: &Expected, output: &Value, yaml: &Finished) -> Vec<String> {
    let read = dractl::manifest::read_text("-o yaml", &yaml.stdout, &|_| true);
    let objects = match read {
        Ok(input) => input.objects,
        Err(error) => return vec![error.to_string()],
    };
    let find = |kind: &Kind, full_name: &str| {
        objects.iter().find(|object| {
            let id = object.id();
            id.kind == *kind && format!("{}/{}", id.namespace, id.name) == full_name
        })
    };
    let mut found = Vec::new();
    for pod in output["pods"].as_array().into_iter().flatten() {
        let name = name_of(pod);
        let written = find(&Kind::new("Pod"), &name);
        let node = written.and_then(|pod| pod.value().pointer("/spec/nodeName"));
        if node.unwrap_or(&Value::Null) != &pod["node"] {
            found.push(format!(
                "-o yaml: {name} is on {node:?} instead of {}",
                pod["node"]
            ));
        }
    }
    for AtEnd {
        claim,
        reserved_for,
    } in &expected.at_end
    {
        let written = find(&Kind::new("ResourceClaim.resource.k8s.io"), claim);
        let consumers = written.and_then(|claim| claim.value().pointer("/status/reservedFor"));
        let consumers = consumers.and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = consumers.map(|one| text(&one["name"])).collect();
        if names != *reserved_for {
            found.push(format!(
                "{claim} is reserved for {names:?} instead of {reserved_for:?}"
            ));
        }
    }
    found
}
