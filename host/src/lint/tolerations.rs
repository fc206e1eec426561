//! Tolerations of pods and taints of nodes.
//!
//! Upstream: `ValidateTolerations` and `validateNodeTaints` of the core API's validation.

use std::collections::BTreeSet;

use serde_json::Value;

use super::core_fields::{Walk, entries};
use super::labels::{
    KEY_REMEDY, VALUE_REMEDY, not_a_list, not_a_map, not_a_text, wrong_key, wrong_value,
};
use crate::nearest::meant;

const TOLERATION: &[&str] = &["effect", "key", "operator", "tolerationSeconds", "value"];
const TAINT: &[&str] = &["effect", "key", "timeAdded", "value"];
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
/// The last two since Kubernetes 1.35.
const OPERATORS: [&str; 4] = ["Equal", "Exists", "Lt", "Gt"];

/// Tolerations.
pub(super) fn of_pod(tolerations: &Value, path: &str, walk: &mut Walk) {
    if not_a_list(tolerations, path, walk) {
        return;
    }
    for (i, toleration) in entries(tolerations) {
        let path = format!("{path}[{i}]");
        if not_a_map(toleration, &path, walk) {
            continue;
        }
        walk.keys(toleration, &path, TOLERATION);
        self::toleration(toleration, &path, walk);
    }
}

fn toleration(toleration: &Value, path: &str, walk: &mut Walk) {
    let text = |key: &str| toleration[key].as_str().unwrap_or_default();
    for key in ["effect", "key", "operator", "value"] {
        not_a_text(&toleration[key], &format!("{path}.{key}"), walk);
    }
    let (key, operator, value, effect) =
        (text("key"), text("operator"), text("value"), text("effect"));
    one_of(
        operator,
        &OPERATORS,
        "operator",
        &format!("{path}.operator"),
        walk,
    );
    one_of(effect, &EFFECTS, "effect", &format!("{path}.effect"), walk);
    if key.is_empty() && operator != "Exists" && !toleration["key"].is_number() {
        walk.error(
            format!("{path}.operator"),
            "a toleration without a key tolerates everything, and needs the operator Exists",
            "set the key, or write operator: Exists",
        );
    }
    if operator == "Exists" && !value.is_empty() {
        walk.error(
            format!("{path}.value"),
            "the operator Exists takes no value",
            "remove the value, or write operator: Equal",
        );
    }
    if effect != "NoExecute" && !toleration["tolerationSeconds"].is_null() {
        walk.error(
            format!("{path}.tolerationSeconds"),
            "only the effect NoExecute can be tolerated for a time",
            "write effect: NoExecute, or remove tolerationSeconds",
        );
    }
    syntax(key, value, path, walk);
}

/// Taints.
pub(super) fn of_node(taints: &Value, path: &str, walk: &mut Walk) {
    let mut seen = BTreeSet::new();
    for (i, taint) in entries(taints) {
        let path = format!("{path}[{i}]");
        if not_a_map(taint, &path, walk) {
            continue;
        }
        walk.keys(taint, &path, TAINT);
        let text = |key: &str| taint[key].as_str().unwrap_or_default();
        let (key, effect) = (text("key"), text("effect"));
        for key in ["effect", "key", "value"] {
            not_a_text(&taint[key], &format!("{path}.{key}"), walk);
        }
        for (field, value) in [("key", key), ("effect", effect)] {
            if value.is_empty() && (taint[field].is_null() || taint[field].is_string()) {
                let remedy = match field {
                    "key" => "name the taint".to_owned(),
                    _ => format!("write one of {}", EFFECTS.join(", ")),
                };
                walk.error(
                    format!("{path}.{field}"),
                    format!("the taint has no {field}"),
                    remedy,
                );
            }
        }
        one_of(effect, &EFFECTS, "effect", &format!("{path}.effect"), walk);
        if !key.is_empty() && !seen.insert((key, effect)) {
            walk.error(
                &path,
                format!("the node has two taints {key:?} with the effect {effect}"),
                "remove one of them",
            );
        }
        syntax(key, text("value"), &path, walk);
    }
}

fn syntax(key: &str, value: &str, path: &str, walk: &mut Walk) {
    if let Some(problem) = wrong_key(key).filter(|_| !key.is_empty()) {
        walk.error(format!("{path}.key"), problem, KEY_REMEDY);
    }
    if let Some(problem) = wrong_value(value) {
        walk.error(format!("{path}.value"), problem, VALUE_REMEDY);
    }
}

/// Complains about a word that is none of these.
pub(super) fn one_of(word: &str, known: &[&str], what: &str, path: &str, walk: &mut Walk) {
    if word.is_empty() || known.contains(&word) {
        return;
    }
    let begins = || {
        let mut known = known.iter().copied();
        known.find(|known| {
            word.to_ascii_lowercase()
                .starts_with(&known.to_ascii_lowercase())
        })
    };
    let remedy = match meant(word, known.iter().copied()).or_else(begins) {
        Some(nearest) => format!("write {nearest}"),
        None => format!("write one of {}", known.join(", ")),
    };
    walk.error(path, format!("unknown {what} {word:?}"), remedy);
}
