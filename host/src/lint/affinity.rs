//! Node selectors and affinity of pods.
//!
//! Upstream: `validateAffinity`, `ValidateNodeSelector` and `ValidateNodeSelectorRequirement` of the core API's validation.

use serde_json::Value;

use super::core_fields::{Walk, entries};
use super::labels::{
    KEY_REMEDY, VALUE_REMEDY, not_a_list, not_a_map, not_a_text, pairs, wrong_key, wrong_value,
};
use super::tolerations::one_of;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const AFFINITY: &[&str] = &["nodeAffinity", "podAffinity", "podAntiAffinity"];
const TIMES: &[&str] = &[PREFERRED, REQUIRED];
const TERM: &[&str] = &["matchExpressions", "matchFields"];
const REQUIREMENT: &[&str] = &["key", "operator", "values"];
const OPERATORS: [&str; 6] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
const POD_TERM: &[&str] = &[
    "labelSelector",
    "matchLabelKeys",
    "mismatchLabelKeys",
    "namespaceSelector",
    "namespaces",
    "topologyKey",
];

/// What a pod's spec says of the nodes that it may go to.
pub(super) fn check(spec: &Value, path: &str, walk: &mut Walk) {
    pairs(&spec["nodeSelector"], &format!("{path}.nodeSelector"), walk);
    let path = format!("{path}.affinity");
    let affinity = &spec["affinity"];
    if not_a_map(affinity, &path, walk) {
        return;
    }
    walk.keys(affinity, &path, AFFINITY);
    for kind in AFFINITY {
        let path = format!("{path}.{kind}");
        let affinity = &affinity[*kind];
        if not_a_map(affinity, &path, walk) {
            continue;
        }
        walk.keys(affinity, &path, TIMES);
        let (required, preferred) = (&affinity[REQUIRED], &affinity[PREFERRED]);
        let required_at = format!("{path}.{REQUIRED}");
        match *kind {
            "nodeAffinity" => required_node(required, &required_at, walk),
            _ => {
                if !not_a_list(required, &required_at, walk) {
                    for (i, term) in entries(required) {
                        pod_term(term, &format!("{required_at}[{i}]"), walk);
                    }
                }
            }
        }
        self::preferred(kind, preferred, &format!("{path}.{PREFERRED}"), walk);
    }
}

fn required_node(required: &Value, path: &str, walk: &mut Walk) {
    if required.is_null() {
        return;
    }
    if required.is_array() {
        return walk.error(
            path,
            "this is a list, not a node selector",
            "write the list below nodeSelectorTerms",
        );
    }
    if not_a_map(required, path, walk) {
        return;
    }
    walk.keys(required, path, &["nodeSelectorTerms"]);
    let path = format!("{path}.nodeSelectorTerms");
    let terms = &required["nodeSelectorTerms"];
    if not_a_list(terms, &path, walk) {
        return;
    }
    if entries(terms).next().is_none() {
        walk.error(
            &path,
            "there is no term: the pod fits on no node",
            "add a term with matchExpressions",
        );
    }
    for (i, one) in entries(terms) {
        term(one, &format!("{path}[{i}]"), walk);
    }
}

fn preferred(kind: &str, preferred: &Value, path: &str, walk: &mut Walk) {
    if not_a_list(preferred, path, walk) {
        return;
    }
    let inner = match kind {
        "nodeAffinity" => "preference",
        _ => "podAffinityTerm",
    };
    for (i, entry) in entries(preferred) {
        let path = format!("{path}[{i}]");
        if not_a_map(entry, &path, walk) {
            continue;
        }
        walk.keys(entry, &path, &["weight", inner]);
        match entry["weight"].as_i64() {
            Some(1..=100) => {}
            _ => walk.error(
                format!("{path}.weight"),
                "the weight is no number from 1 to 100",
                "write such a number, without quotes",
            ),
        }
        let path = format!("{path}.{inner}");
        match (kind, &entry[inner]) {
            (_, Value::Null) => walk.error(
                &path,
                format!("the entry has no {inner}"),
                format!("write the term below {inner}"),
            ),
            ("nodeAffinity", one) => term(one, &path, walk),
            (_, one) => pod_term(one, &path, walk),
        }
    }
}

fn pod_term(term: &Value, path: &str, walk: &mut Walk) {
    if not_a_map(term, path, walk) {
        return;
    }
    walk.keys(term, path, POD_TERM);
    if term["topologyKey"].as_str().unwrap_or_default().is_empty() {
        walk.error(
            format!("{path}.topologyKey"),
            "the term has no topologyKey",
            "name the label of nodes that makes two of them neighbours, for example kubernetes.io/hostname",
        );
    }
}

fn term(term: &Value, path: &str, walk: &mut Walk) {
    if not_a_map(term, path, walk) {
        return;
    }
    walk.keys(term, path, TERM);
    if term.as_object().is_some_and(serde_json::Map::is_empty) {
        walk.warning(
            path,
            "a term without requirements matches no node",
            "add matchExpressions, or remove the term",
        );
    }
    for list in TERM {
        let path = format!("{path}.{list}");
        if not_a_list(&term[*list], &path, walk) {
            continue;
        }
        for (i, one) in entries(&term[*list]) {
            let path = format!("{path}[{i}]");
            if !not_a_map(one, &path, walk) {
                walk.keys(one, &path, REQUIREMENT);
                requirement(one, *list == "matchFields", &path, walk);
            }
        }
    }
}

fn requirement(requirement: &Value, is_field: bool, path: &str, walk: &mut Walk) {
    let text = |key: &str| requirement[key].as_str().unwrap_or_default();
    let (key, operator) = (text("key"), text("operator"));
    for field in ["key", "operator"] {
        not_a_text(&requirement[field], &format!("{path}.{field}"), walk);
    }
    let allowed = if is_field {
        &OPERATORS[..2]
    } else {
        &OPERATORS[..]
    };
    let operator_at = format!("{path}.operator");
    match requirement["operator"] {
        Value::Null => walk.error(
            &operator_at,
            "the requirement has no operator",
            format!("write one of {}", allowed.join(", ")),
        ),
        _ => one_of(operator, allowed, "operator", &operator_at, walk),
    }
    let key_at = format!("{path}.key");
    if is_field && key != "metadata.name" {
        walk.error(
            &key_at,
            format!("{key:?} is no field that nodes are selected by"),
            "write metadata.name, or use matchExpressions for labels",
        );
    } else if !is_field
        && let Some(problem) = wrong_key(key).filter(|_| !requirement["key"].is_number())
    {
        walk.error(&key_at, problem, KEY_REMEDY);
    }
    values(&requirement["values"], operator, is_field, path, walk);
}

fn values(values: &Value, operator: &str, is_field: bool, path: &str, walk: &mut Walk) {
    let path = format!("{path}.values");
    if not_a_list(values, &path, walk) {
        return;
    }
    let mut is_sound = true;
    for (i, value) in entries(values) {
        let path = format!("{path}[{i}]");
        if not_a_text(value, &path, walk) {
            is_sound = false;
        } else if let Some(problem) = value.as_str().and_then(wrong_value).filter(|_| !is_field) {
            walk.error(&path, problem, VALUE_REMEDY);
        }
    }
    let count = entries(values).count();
    match operator {
        "In" | "NotIn" if count == 0 => walk.error(
            &path,
            format!("the operator {operator} needs values"),
            "add one, or use Exists or DoesNotExist",
        ),
        "In" | "NotIn" if is_field && count > 1 => {
            walk.error(
                &path,
                "matchFields takes one name",
                "use a term of its own for each node",
            );
        }
        "Exists" | "DoesNotExist" if count > 0 => walk.error(
            &path,
            format!("the operator {operator} takes no values"),
            "remove them, or use In or NotIn",
        ),
        "Gt" | "Lt" if is_sound => {
            let number = values[0]
                .as_str()
                .is_some_and(|text| text.parse::<i64>().is_ok());
            if count != 1 || !number {
                walk.error(
                    &path,
                    format!("the operator {operator} compares with one whole number"),
                    "write one, in quotes",
                );
            }
        }
        _ => {}
    }
}
