//! What would make a reason of the plugin go away, one sentence per type.

use crate::explain::target::distance;
use crate::filters::Quantity;

use super::document::{Claim, Constraint, Counter, Hint, Holder, Reason, Taint};
use super::phrase::some_of;
use super::reasons::{attribute, class_of, counter_name, holders, names, shown, taint_text};
use super::standing::awaited;

/// How many devices or values a sentence shows.
const SHOWN: usize = 3;

/// What to do about a reason of a claim; the same on every node.
pub fn of_claim(claim: &Claim, reason: &Reason) -> Option<String> {
    let name = claim.claim.as_deref().unwrap_or(&claim.name);
    Some(match reason.kind.as_str() {
        "claim-missing" => {
            format!("create ResourceClaim {name}, or the template that it is made from")
        }
        "claim-not-owned" => {
            format!("delete ResourceClaim {name}, so that one is made for this pod")
        }
        "claim-deleted" => format!("wait until ResourceClaim {name} is gone, and create it anew"),
        "claim-reserved" | "claim-full" | "claim-elsewhere" if over(claim, reason) => {
            format!(
                "wait until the reservations of ResourceClaim {name} are taken off: none of its pods uses it any more"
            )
        }
        "claim-reserved" | "claim-full" | "claim-elsewhere" | "claim-in-flight" => {
            format!("let the pods that use ResourceClaim {name} end, or use another claim")
        }
        "class-missing" => format!(
            "create DeviceClass {}, or name one that exists",
            class_of(reason)
        ),
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

/// What to do about devices that cannot be had, if `missing` of them are needed.
pub fn of_devices(reason: &Reason, missing: u64) -> Option<String> {
    let devices = || some_of(&names(&reason.devices), SHOWN, count(reason));
    Some(match reason.kind.as_str() {
        "in-use" => {
            let which = match missing.cmp(&reason.count) {
                std::cmp::Ordering::Less => format!("{missing} of {}", devices()),
                _ => devices(),
            };
            match (awaited(&reason.holders), idle(&reason.holders)) {
                (Some(how), _) => {
                    format!("wait for {which}, held by {}: {how}", holders(reason))
                }
                (None, Some(claims)) => {
                    format!("free {which}, held by {}: delete {claims}", holders(reason))
                }
                (None, None) => format!("free {which}, held by {}", holders(reason)),
            }
        }
        "counter" => return of_counter(reason, missing),
        "taint" => {
            let taint = reason.taint.clone().unwrap_or_default();
            let rule = taint.rule.clone();
            let plain = Taint {
                rule: None,
                ..taint
            };
            let off = match rule {
                Some(rule) => format!("change DeviceTaintRule {rule}"),
                None => format!("take the taint off {}", devices()),
            };
            let mut text = format!("tolerate {} in the request, or {off}", taint_text(&plain));
            let others = reason.also.iter();
            for other in others.filter_map(|other| of_devices(other, other.count)) {
                text += &format!("; besides, {other}");
            }
            text
        }
        "pool-incomplete" if reason.have > reason.needed => format!(
            "have the driver correct {}: its slices must be as many as their resourceSliceCount says",
            if reason.pool.is_empty() {
                "the pool"
            } else {
                &reason.pool
            }
        ),
        "pool-incomplete" => format!(
            "have the driver publish all slices of {}",
            if reason.pool.is_empty() {
                "the pool"
            } else {
                &reason.pool
            }
        ),
        "all-spoiled" if reason.devices.is_empty() && reason.message.starts_with("incomplete") => {
            format!("have the driver publish all slices of {}", reason.pool)
        }
        "all-spoiled" if reason.devices.is_empty() => {
            format!("have the driver correct {}", reason.pool)
        }
        "pool-invalid" => format!("have the driver correct {}", reason.pool),
        "request-selector"
        | "class-selector"
        | "request-selector-error"
        | "class-selector-error" => return hint(reason).or_else(|| other_value(reason)),
        "constraint-alone" => {
            format!(
                "have the driver publish {} for {}",
                attribute(reason),
                devices()
            )
        }
        _ => return None,
    })
}

/// What has to be freed of a counter, if `missing` devices are needed.
fn of_counter(reason: &Reason, missing: u64) -> Option<String> {
    let counter = reason.counter.clone().unwrap_or_default();
    let name = counter_name(&counter);
    let needed = missing.min(reason.count.max(1));
    let much = match &counter.short {
        Some(_) if too_little(&counter, needed) => return at_most(&counter),
        Some(short) => {
            let all = short_of(&counter, needed).unwrap_or_else(|| short.clone());
            format!("at least {all} of counter {name}")
        }
        None => format!("some of counter {name}"),
    };
    Some(match awaited(&reason.holders) {
        _ if reason.holders.is_empty() => return None,
        Some(how) => format!("wait for {much}, held by {}: {how}", holders(reason)),
        None => format!("free {much}, held by {}", holders(reason)),
    })
}

/// Which devices would have to become free for a request to get its devices with equal values.
pub fn completing(claim: &Claim, request: &str) -> Option<String> {
    let covers =
        |one: &&Constraint| !one.distinct && one.requests.iter().any(|name| name == request);
    completing_of(claim, claim.constraints.iter().find(covers)?, request)
}

/// The same for a constraint that is the only one of its claim.
pub fn completing_of(claim: &Claim, constraint: &Constraint, request: &str) -> Option<String> {
    let nearest = constraint
        .nearest
        .as_ref()
        .filter(|_| claim.constraints.len() == 1)?;
    let missing = constraint.needed.saturating_sub(nearest.have);
    let is_single = constraint.requests.as_slice() == [request.to_owned()];
    // Of several requests nobody says here which of them lacks what.
    let missing = if is_single { missing } else { u64::MAX };
    let free = of_devices(&nearest.held, missing)?;
    Some(format!(
        "{free}: then {} have equal {} ({})",
        constraint.needed, constraint.attribute, nearest.value
    ))
}

/// A whole number of units.
fn whole(text: &str) -> Option<i128> {
    let quantity = Quantity::parse(text)?;
    let units = quantity.units();
    (units.checked_mul(1000)? == quantity.milli_units()).then_some(units)
}

/// What several devices take of a counter.
fn taken(counter: &Counter, devices: u64) -> Option<i128> {
    whole(&counter.needed)?.checked_mul(i128::from(devices))
}

/// Whether the counter is not enough for these devices even if nobody else had any of it.
fn too_little(counter: &Counter, devices: u64) -> bool {
    let total = whole(&counter.total);
    matches!((taken(counter, devices), total), (Some(taken), Some(total)) if taken > total)
}

/// For how many the whole counter is enough.
fn at_most(counter: &Counter) -> Option<String> {
    let most = whole(&counter.total)?.checked_div(whole(&counter.needed)?)?;
    (most > 0).then(|| {
        format!(
            "first: ask for fewer devices (all of counter {}, {}, is enough for {most}), then see what is left",
            counter_name(counter),
            counter.total
        )
    })
}

/// What has to be freed of a counter for several devices.
fn short_of(counter: &Counter, devices: u64) -> Option<String> {
    let short = taken(counter, devices)?.checked_sub(whole(&counter.left)?)?;
    let units = [("Ti", 40), ("Gi", 30), ("Mi", 20), ("Ki", 10)];
    let mut fitting = units
        .into_iter()
        .filter(|(_, bits)| short % (1 << bits) == 0);
    Some(match fitting.next() {
        _ if devices < 2 => return None,
        Some((suffix, bits)) => format!("{}{suffix}", short >> bits),
        None => short.to_string(),
    })
}

/// Claims that nobody uses, if all are such.
fn idle(holders: &[Holder]) -> Option<&'static str> {
    let all = !holders.is_empty() && holders.iter().all(|holder| holder.standing.is_idle);
    all.then_some(if holders.len() == 1 {
        "that claim"
    } else {
        "those claims"
    })
}

fn count(reason: &Reason) -> usize {
    usize::try_from(reason.count)
        .unwrap_or(usize::MAX)
        .max(reason.devices.len())
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

/// What the hints of the plugin say; a guard helps against every error, and comes last.
fn hint(reason: &Reason) -> Option<String> {
    let mut hints: Vec<&Hint> = reason.hints.iter().collect();
    hints.sort_by_key(|hint| hint.kind == "guard");
    let mut texts: Vec<String> = Vec::new();
    for hint in hints {
        let nearest = some_of(&hint.nearest, SHOWN, hint.nearest.len());
        let name = &hint.name;
        let or = if texts.is_empty() { "" } else { "or " };
        let near = match nearest.as_str() {
            "" => String::new(),
            one if hint.nearest.len() == 1 => format!(" (did you mean {one}?)"),
            some => format!(" (the nearest are {some})"),
        };
        match hint.kind.as_str() {
            "guard" if !hint.guard.is_empty() => {
                texts.push(format!("{or}put `{} && ` before it", hint.guard));
            }
            "unknown-attribute" => texts.push(format!("no device publishes {name}{near}")),
            "unknown-domain" => {
                texts.push(format!("no device publishes anything under {name}{near}"));
            }
            // Another driver's devices are not what anybody wants.
            "near-value" if reason.part.contains("device.driver") => {
                texts.push(format!("no device of driver {name} is in reach: see to its driver"));
            }
            "near-value" if !nearest.is_empty() => texts.push(format!(
                "the selector wants {name}, devices here have {nearest}: write that, or add such a device"
            )),
            _ => {}
        }
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// How far the value that is wanted is from the nearest one that is there.
pub fn closeness(reason: &Reason) -> usize {
    let near = reason.hints.iter().filter(|hint| hint.kind == "near-value");
    let bare = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let distances = near.filter_map(|hint| {
        let value = hint.nearest.first()?;
        Some(distance(&bare(&hint.name), &bare(value)))
    });
    distances.min().unwrap_or(usize::MAX)
}
