//! One sentence per type of reason that the plugin gives (`guest/schemas/explain.schema.json`).
//! [`super::advice`] says what to do about those that nobody can try to take away. A type that is not known here is shown with its fields.

use serde_json::Value;

use super::phrase::{Phrase, some_of};
use crate::explain::document::{Claim, Counter, Observed, Reason, Request, Taint, Unreachable};

/// How many devices, holders or names a sentence shows.
const SHOWN: usize = 3;
/// How much of an expression a sentence shows.
const EXPRESSION: usize = 160;
/// How much of an unknown reason is shown.
const UNKNOWN: usize = 200;

/// Reasons of a claim that are the same on every node.
const EVERYWHERE: [&str; 11] = [
    "claim-missing",
    "claim-not-owned",
    "claim-deleted",
    "claim-reserved",
    "claim-full",
    "claim-in-flight",
    "class-missing",
    "invalid-object",
    "gate-disabled",
    "too-many-devices",
    "bad-request",
];

/// Whether a reason has nothing to do with the node.
pub fn is_everywhere(reason: &Reason) -> bool {
    EVERYWHERE.contains(&reason.kind.as_str())
}

/// What is wrong with a claim as a whole.
pub fn of_claim(claim: &Claim, reason: &Reason) -> Phrase {
    let name = match &claim.claim {
        Some(name) => format!("claim {name}"),
        None => format!("claim {}", claim.name),
    };
    let said = |fallback: &str| match reason.message.as_str() {
        "" => format!("{name} {fallback}"),
        message if message.contains(claim.claim.as_deref().unwrap_or(&claim.name)) => {
            message.to_owned()
        }
        message => format!("{name}: {message}"),
    };
    let pods = reason
        .pods
        .iter()
        .map(|pod| match claim.standing.pods.get(pod) {
            Some(fate) => format!("{pod}, which {}", fate.text()),
            None => pod.clone(),
        });
    let pods = some_of(&pods.collect::<Vec<_>>(), SHOWN, reason.pods.len());
    Phrase::of(match reason.kind.as_str() {
        "claim-missing" => match &claim.claim {
            Some(_) => format!("{name} does not exist"),
            None => format!("{name} does not exist yet"),
        },
        "claim-not-owned" => format!("{name} was made for another pod"),
        "claim-deleted" => format!("{name} is being deleted"),
        "claim-reserved" if pods.is_empty() => format!("{name} is in use by another pod"),
        "claim-reserved" => format!("{name} is in use by {pods}"),
        "claim-full" => match reason.have.or(reason.needed) {
            Some(limit) => format!("{name} is reserved for {limit} pods, and no more may share it"),
            None => format!("{name} is reserved for as many pods as may share it"),
        },
        "claim-in-flight" if pods.is_empty() => {
            format!("{name} is being allocated for another pod at this moment")
        }
        "claim-in-flight" => format!("{name} is being allocated for {pods} at this moment"),
        "claim-elsewhere" => {
            let users = match reason.pods.as_slice() {
                [] => String::new(),
                [_] => format!(", in use by pod {pods}"),
                _ => format!(", in use by pods {pods}"),
            };
            let only = reason.nodes.strip_prefix("metadata.name in [");
            let only = only.and_then(|rest| rest.strip_suffix(']'));
            if let Some(node) = only.filter(|node| !node.contains([',', ']'])) {
                return Phrase::of(format!("{name} is allocated on node {node}{users}"));
            }
            match reason.nodes.as_str() {
                "" => format!("{name} is allocated on another node{users}"),
                nodes => format!("{name} is allocated on a node with {nodes}{users}"),
            }
        }
        "class-missing" => format!("DeviceClass {} does not exist", reason.missing_class()),
        "gate-disabled" => match reason.gate.as_str() {
            "" => said("needs a feature that is off"),
            gate => format!("{name} needs the feature gate {gate}, which is off"),
        },
        "classic-waiting" => format!("{name} waits for its resource driver to allocate it"),
        "classic-unsuitable" => {
            format!("{name} is refused by its resource driver (unsuitable)")
        }
        "classic-class-nodes" => format!("the class of {name} does not allow this node"),
        "deallocation-requested" => {
            format!("{name} has to be freed first, which was asked of its driver")
        }
        "too-many-devices" => match (reason.needed, reason.have) {
            (Some(needed), Some(limit)) => {
                format!("{name} asks for {needed} devices, and a claim may have {limit}")
            }
            _ => said("asks for more devices than a claim may have"),
        },
        "invalid-object" | "bad-request" => said("cannot be used as it is"),
        _ => return unknown(reason),
    })
}

/// Why some devices cannot serve a request; goes on after their number, as in `3 in use`.
pub fn of_devices(reason: &Reason) -> Phrase {
    match reason.kind.as_str() {
        "content-missing" => Phrase::of("with content that cannot be read"),
        "other-nodes" => Phrase::of("for other nodes"),
        "class-selector" => Phrase::of("not of the class").then(because(reason)),
        "request-selector" => Phrase::of("not what ")
            .then(selector(reason))
            .text(" wants")
            .then(because(reason)),
        "class-selector-error" | "request-selector-error" => error(reason),
        "pool-incomplete" => {
            let phrase = Phrase::of("in a pool that is incomplete");
            let number = |count: i64| u64::try_from(count).unwrap_or_default();
            match (reason.have, reason.needed) {
                (Some(have), Some(needed)) if have > needed => phrase
                    .text(" (")
                    .number(number(have))
                    .text(" slices published, and a resourceSliceCount of ")
                    .number(number(needed))
                    .text(")"),
                (Some(have), Some(needed)) => phrase
                    .text(" (")
                    .number(number(have))
                    .text(" of ")
                    .number(number(needed))
                    .text(" slices published)"),
                _ => phrase,
            }
        }
        "pool-invalid" => match reason.message.as_str() {
            "" => Phrase::of("in a pool that contradicts itself (lint says how)"),
            message => Phrase::of(format!("in an invalid pool: {message}")),
        },
        "taint" => match &reason.taint {
            Some(taint) => also(Phrase::of(format!("tainted {}", taint_text(taint))), reason),
            None => Phrase::of("tainted"),
        },
        "in-use" => Phrase::of("in use"),
        "counter" => match &reason.counter {
            Some(counter) => Phrase::of(format!(
                "needing {} of counter {} ({} left)",
                takes(counter),
                counter_name(counter),
                counter.left
            )),
            None => Phrase::of("share a counter that is used up"),
        },
        "constraint-alone" => Phrase::of(format!("without {}", attribute(reason))),
        _ => unknown(reason),
    }
}

/// What else keeps these devices from the request.
fn also(phrase: Phrase, reason: &Reason) -> Phrase {
    let others = reason.also.iter().map(|other| {
        Phrase::of("also ")
            .number(other.count)
            .text(" ")
            .then(of_devices(other))
    });
    let others = Phrase::joined(others, ", ");
    match others.is_empty() {
        true => phrase,
        false => phrase.text(" (").then(others).text(")"),
    }
}

/// `set/name`.
pub fn counter_name(counter: &Counter) -> String {
    format!("{}/{}", counter.set, counter.name)
}

/// What devices take of a counter: `20Gi to 40Gi`.
pub fn takes(counter: &Counter) -> String {
    match &counter.needed_at_most {
        Some(most) => format!("{} to {most}", counter.needed),
        None => counter.needed.clone(),
    }
}

/// What a constraint wants of values.
pub fn how(distinct: bool) -> &'static str {
    if distinct { "different" } else { "equal" }
}

/// The nodes that slices are for.
pub fn for_whom(slices: &Unreachable) -> String {
    match slices.cause.as_str() {
        "other-node" => format!("for node {}", slices.nodes),
        "selector" => format!("for nodes with {}", slices.nodes),
        "device-nodes" => "whose devices name other nodes".to_owned(),
        "nowhere" => "which names no nodes at all".to_owned(),
        other => other.to_owned(),
    }
}

/// The attribute that devices lack.
pub fn attribute(reason: &Reason) -> &str {
    match reason.attribute.as_str() {
        "" => "an attribute that a constraint compares",
        attribute => attribute,
    }
}

/// The expression as far as it decided.
fn selector(reason: &Reason) -> Phrase {
    let text = match (reason.part.as_str(), reason.expression.as_str()) {
        ("", "") => return Phrase::of("a selector"),
        ("", expression) => expression,
        (part, _) => part,
    };
    Phrase::of(format!("`{}`", shown(text)))
}

/// What that expression saw.
fn because(reason: &Reason) -> Phrase {
    let seen = observed(&reason.values);
    match seen.is_empty() {
        true => seen,
        false => Phrase::of(": ").then(seen),
    }
}

/// `family is "Arc" (2x) and "Flex" (1x)`.
pub fn observed(values: &[Observed]) -> Phrase {
    let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "not there".to_owned());
    let single = |observed: &Observed| match observed.saw.as_slice() {
        [seen] => Some(seen.expression.clone()),
        _ => None,
    };
    let name = values.first().and_then(single);
    if let Some(name) = name.filter(|name| {
        values
            .iter()
            .all(|observed| single(observed).as_ref() == Some(name))
    }) {
        let values = values
            .iter()
            .filter_map(|observed| Some((shown(&observed.saw.first()?.value), observed.count)));
        return Phrase::of(format!("{} is ", short(&name))).values(values.collect());
    }
    let sets = values.iter().filter(|observed| !observed.saw.is_empty());
    let sets: Vec<(String, u64)> = sets
        .map(|observed| {
            let seen = observed
                .saw
                .iter()
                .map(|seen| format!("{} is {}", short(&seen.expression), shown(&seen.value)));
            (seen.collect::<Vec<_>>().join(", "), observed.count)
        })
        .collect();
    match sets.is_empty() {
        true => Phrase::default(),
        false => Phrase::default().values(sets),
    }
}

/// The last name of `device.attributes["domain"].name`; other expressions as they are.
fn short(expression: &str) -> String {
    let rest = ["device.attributes[", "device.capacity["]
        .iter()
        .find_map(|start| expression.strip_prefix(start));
    let name = rest
        .and_then(|rest| rest.split_once("]."))
        .map(|(_, name)| name);
    let plain = |name: &&str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match name.filter(plain) {
        Some(name) => name.to_owned(),
        None => one_line(expression),
    }
}

fn error(reason: &Reason) -> Phrase {
    let (whose, how) = failure(reason);
    Phrase::of(format!("on which {whose} fails{how}"))
}

/// The same, when it ends the attempt.
pub fn of_failure(reason: &Reason) -> Phrase {
    let (whose, how) = failure(reason);
    Phrase::of(format!("{whose} fails on "))
        .counted(reason.count, "device", "devices")
        .text(how)
}

fn failure(reason: &Reason) -> (String, String) {
    let index = reason.index.map(|index| format!(" #{index}"));
    let index = index.unwrap_or_default();
    let whose = match reason.kind.as_str() {
        "class-selector-error" => format!("selector{index} of the class"),
        _ => format!("selector{index}"),
    };
    let part = match reason.part.as_str() {
        "" => String::new(),
        part => format!(" at `{}`", shown(part)),
    };
    (whose, format!("{part}: {}", reason.message))
}

/// Where all devices are wanted, or the search gave up: what has no devices of its own.
pub fn of_request(request: &Request, reason: &Reason) -> Option<Phrase> {
    let devices = some_of(&names(&reason.devices), SHOWN, reason.devices.len());
    Some(match reason.kind.as_str() {
        "all-spoiled" if devices.is_empty() => Phrase::of(format!(
            "every matching device is wanted, and pool {} is not to be used: {}",
            reason.pool, reason.message
        )),
        "all-spoiled" => Phrase::of(format!(
            "every matching device is wanted, and {devices} cannot be had"
        )),
        "all-without-device" => Phrase::of(format!(
            "every matching device of class {} is wanted, and there is none",
            request.class
        )),
        "budget" => match reason.steps {
            Some(steps) => Phrase::of(format!(
                "the search was given up after {steps} steps; --search-steps raises the limit"
            )),
            None => Phrase::of("the search was given up; --search-steps raises the limit"),
        },
        "short" => return None,
        _ => return None,
    })
}

/// `claim a/b (pod a/p, which has ended) and claim a/c`.
pub fn holders(reason: &Reason) -> String {
    let texts: Vec<String> = reason
        .holders
        .iter()
        .take(SHOWN)
        .map(|holder| {
            // The name of a claim that was made for a pod says nothing more.
            let fate = |pod: &String| match holder.standing.pods.get(pod) {
                Some(fate) => format!(", which {}", fate.text()),
                None => String::new(),
            };
            if let [pod] = holder.pods.as_slice()
                && holder
                    .claim
                    .strip_prefix(pod.as_str())
                    .is_some_and(|rest| rest.starts_with('-'))
            {
                return format!("pod {pod}{}", fate(pod));
            }
            let deleted = match holder.standing.is_deleted {
                true => ", which is being deleted",
                false => "",
            };
            let pods = holder.pods.iter().map(|pod| format!("{pod}{}", fate(pod)));
            let pods: Vec<String> = pods.collect();
            let pods = some_of(&pods, SHOWN, pods.len());
            let pods = match (pods.as_str(), holder.in_flight) {
                ("", true) => " (being written)".to_owned(),
                ("", false) if holder.standing.is_idle => " (reserved for nobody)".to_owned(),
                ("", false) => " (no pod)".to_owned(),
                (pods, _) if holder.pods.len() == 1 => format!(" (pod {pods})"),
                (pods, _) => format!(" (pods {pods})"),
            };
            format!("claim {}{deleted}{pods}", holder.claim)
        })
        .collect();
    match texts.is_empty() {
        true => "claims that are not named".to_owned(),
        false => some_of(&texts, SHOWN, reason.holders.len()),
    }
}

/// `key=value:effect`, with the rule that it comes from.
pub fn taint_text(taint: &Taint) -> String {
    let value = match taint.value.as_str() {
        "" => String::new(),
        value => format!("={value}"),
    };
    let rule = taint.rule.as_ref().map(|rule| format!(" (by rule {rule})"));
    format!(
        "{}{value}:{}{}",
        taint.key,
        taint.effect,
        rule.unwrap_or_default()
    )
}

/// Devices by their last name, unless that leaves two the same.
pub fn names(devices: &[String]) -> Vec<String> {
    let last: Vec<String> = devices
        .iter()
        .map(|device| device.rsplit('/').next().unwrap_or(device).to_owned())
        .collect();
    let mut distinct = last.clone();
    distinct.sort_unstable();
    distinct.dedup();
    match distinct.len() == last.len() {
        true => last,
        false => devices.to_vec(),
    }
}

/// A reason of another plugin, or of a newer one: its type and its fields.
fn unknown(reason: &Reason) -> Phrase {
    let mut text = reason.kind.clone();
    if !reason.message.is_empty() {
        text += &format!(": {}", reason.message);
    }
    for (name, value) in &reason.rest {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        text += &format!(", {name} {value}");
    }
    if text.chars().count() > UNKNOWN {
        text = text.chars().take(UNKNOWN).chain("...".chars()).collect();
    }
    Phrase::of(text)
}

/// An expression in a sentence: one that is too long is cut where a word ends.
pub fn shown(text: &str) -> String {
    let line = one_line(text);
    let Some((end, _)) = line.char_indices().nth(EXPRESSION) else {
        return line;
    };
    let head = &line[..end];
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{head} ...")
}

/// Expressions may have lines.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
