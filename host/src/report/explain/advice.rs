//! What to do about reasons that no program can take away: words for people, which nobody has tried.
//! What can be tried is in [`crate::explain::remedies`].

use crate::explain::document::{Claim, Hint, Reason, Request};
use crate::nearest::{class_meant, meant, remoteness};

use super::phrase::some_of;
use super::reasons::{attribute, counter_name, names, shown};

/// How many devices or values a sentence shows.
const SHOWN: usize = 3;

/// What to do about a reason of a claim; the same on every node.
pub fn of_claim(claim: &Claim, reason: &Reason) -> Option<String> {
    let name = claim.claim.as_deref().unwrap_or(&claim.name);
    Some(match reason.kind.as_str() {
        "claim-missing" => {
            format!("create ResourceClaim {name}, or the template that it is made from")
        }
        "claim-deleted" => format!("wait until ResourceClaim {name} is gone, and create it anew"),
        "claim-reserved" | "claim-full" | "claim-elsewhere" if over(claim, reason) => {
            format!(
                "wait until the reservations of ResourceClaim {name} are taken off: none of its pods uses it any more"
            )
        }
        "claim-in-flight" => format!("wait until ResourceClaim {name} is allocated"),
        "class-missing" => missing_class(reason),
        "gate-disabled" if !reason.gate.is_empty() => {
            format!("turn the gate on (here: --feature {}=true)", reason.gate)
        }
        "classic-unsuitable" => "see the log of the driver: its answer is in the unsuitableNodes of the pod's PodSchedulingContext".to_owned(),
        "classic-waiting" => "wait for the driver; --classic-driver stands in for it".to_owned(),
        "invalid-object" if named(&reason.message).is_some() => {
            format!("correct {}", named(&reason.message).unwrap_or_default())
        }
        "bad-request" | "invalid-object" => {
            format!("correct ResourceClaim {name}, or the template that it is made from")
        }
        _ => return None,
    })
}

/// What is there may be meant, if it is near; else it is at least known.
fn missing_class(reason: &Reason) -> String {
    let name = reason.missing_class();
    let near = class_meant(name, reason.there.iter().map(String::as_str));
    let instead = match (near, reason.there.as_slice()) {
        (Some(near), _) => format!("or name {near}, which is there"),
        (None, []) => "as no class is there".to_owned(),
        (None, there) => format!(
            "or name one that is there: {}",
            some_of(there, SHOWN, there.len())
        ),
    };
    format!("create DeviceClass {name}, {instead}")
}

/// Whether all pods that use a claim are over.
fn over(claim: &Claim, reason: &Reason) -> bool {
    let mut pods = reason.pods.iter();
    !reason.pods.is_empty() && pods.all(|pod| claim.standing.pods.contains_key(pod))
}

/// The object that a message begins with: `Kind name: what is wrong`.
fn named(message: &str) -> Option<&str> {
    let (object, _) = message.split_once(": ")?;
    let (kind, name) = object.split_once(' ')?;
    let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase());
    // A claim may come from a template: that is said below.
    (is_kind && kind != "ResourceClaim" && !name.contains(' ')).then_some(object)
}

/// What to do about the devices that a request cannot have.
pub fn of_request(request: &Request) -> Vec<String> {
    let wanted = request.count.map(u64::try_from);
    let wanted = wanted.map_or(1, Result::unwrap_or_default);
    let enough = request.matching >= wanted;
    let reasons = request
        .reasons
        .iter()
        .filter(|reason| match reason.kind.as_str() {
            // What belongs to another class or another node is nobody's mistake.
            "class-selector" => request.matching == 0 && !reason.hints.is_empty(),
            // Where enough devices match, freeing those is what is meant.
            "request-selector" => !enough,
            "pool-invalid" => enough,
            _ => true,
        });
    reasons.filter_map(of_devices).collect()
}

/// What to do about devices that cannot be had.
pub fn of_devices(reason: &Reason) -> Option<String> {
    Some(match reason.kind.as_str() {
        "all-spoiled" if reason.devices.is_empty() && !reason.message.starts_with("incomplete") => {
            format!("have the driver correct {}", reason.pool)
        }
        "pool-invalid" => format!("have the driver correct {}", reason.pool),
        "request-selector"
        | "class-selector"
        | "request-selector-error"
        | "class-selector-error" => return hint(reason).or_else(|| other_value(reason)),
        "constraint-alone" => {
            let count = usize::try_from(reason.count).unwrap_or(usize::MAX);
            let count = count.max(reason.devices.len());
            let devices = some_of(&names(&reason.devices), SHOWN, count);
            format!(
                "have the driver publish {} for {devices}",
                attribute(reason)
            )
        }
        "counter" if reason.holders.is_empty() => return spent(reason),
        _ => return None,
    })
}

/// A counter of which nobody holds anything, and which is too small all the same.
fn spent(reason: &Reason) -> Option<String> {
    let counter = reason.counter.as_ref()?;
    Some(format!(
        "have the driver correct {}: a device takes {} of counter {}, which has {} in all",
        reason.pool,
        counter.needed,
        counter_name(counter),
        counter.total
    ))
}

fn other_value(reason: &Reason) -> Option<String> {
    let is_error = reason.kind.ends_with("error");
    let part = [&reason.part, &reason.expression]
        .into_iter()
        .find(|text| !text.is_empty())?;
    let whose = match reason.kind.starts_with("class") {
        true => "the class's selector",
        false => "the selector",
    };
    Some(match is_error {
        true => format!("correct {whose} `{}`", shown(part)),
        false => format!(
            "change {whose}, or add a device for which `{}` is true",
            shown(part)
        ),
    })
}

/// Whether a selector refuses devices, and the plugin knows what may be wrong with it.
pub fn is_hinted(reason: &Reason) -> bool {
    reason.kind.starts_with("request-selector") && hint(reason).is_some()
}

/// What the hints of the plugin say; a guard helps against every error, and comes last.
fn hint(reason: &Reason) -> Option<String> {
    let mut hints: Vec<&Hint> = reason.hints.iter().collect();
    hints.sort_by_key(|hint| hint.kind == "guard");
    let mut texts: Vec<String> = Vec::new();
    for hint in hints {
        let nearest = some_of(&hint.nearest, SHOWN, hint.nearest.len());
        let name = &hint.name;
        let near = match nearest.as_str() {
            "" => String::new(),
            one if hint.nearest.len() == 1 => match meant(name, std::iter::once(one)) {
                Some(_) => format!(" (did you mean {one}?)"),
                None => format!(" (there is {one})"),
            },
            some => format!(" (the nearest are {some})"),
        };
        match hint.kind.as_str() {
            "guard" if !hint.guard.is_empty() => {
                texts.push(format!("put `{} && ` before it", hint.guard));
            }
            "unknown-attribute" => texts.push(format!("no device publishes {name}{near}")),
            "unknown-domain" => {
                texts.push(format!("no device publishes anything under {name}{near}"));
            }
            // Another driver's devices are not what anybody wants.
            "near-value" if reason.is_about_driver() => {
                texts.push(format!("no device of driver {name} is in reach{near}: see to its driver or to the class"));
            }
            "near-value" if !nearest.is_empty() => texts.push(format!(
                "the selector wants {name}, devices here have {nearest}: write that, or add such a device"
            )),
            _ => {}
        }
    }
    (!texts.is_empty()).then(|| texts.join("; or "))
}

/// How far the value that is wanted is from the nearest one that is there.
pub fn closeness(reason: &Reason) -> usize {
    let near = reason.hints.iter().filter(|hint| hint.kind == "near-value");
    let bare = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let distances = near.filter_map(|hint| {
        let value = hint.nearest.first()?;
        Some(remoteness(&bare(&hint.name), &bare(value)))
    });
    distances.min().unwrap_or(usize::MAX)
}
