//! What a constraint could put together, where it alone makes a node impossible, and what would help.

use super::document::{Claim, Constraint, Request};
use super::node::Found;
use super::phrase::Phrase;
use super::{fixes, reasons};

/// Devices that could still become free have to suit the constraints as well, and nobody knows whether they will.
pub fn with_constraints(mut short: Found, claim: &Claim) -> Found {
    let suits = claim.constraints.iter().filter(|constraint| {
        let covers = constraint.requests.is_empty() || constraint.requests.contains(&short.request);
        constraint.needed > 1 && covers
    });
    let hopeful = matches!(
        short.kind.as_str(),
        "in-use" | "taint" | "counter" | "pool-incomplete"
    );
    for constraint in suits.filter(|_| hopeful) {
        if constraint.blocks {
            short.weight += 5;
        }
        if short.kind == "in-use" && fixes::completing(claim, &short.request).is_some() {
            continue;
        }
        if short.kind == "in-use" && is_hopeless(claim, constraint) {
            short.weight += 10;
            short.fixes.push(format!(
                "give up the constraint as well: no {} here have equal {}",
                constraint.needed, constraint.attribute
            ));
            continue;
        }
        short.fixes.push(format!(
            "{} devices must then be free with {} {}",
            constraint.needed,
            reasons::how(constraint.distinct),
            constraint.attribute
        ));
    }
    short
}

/// Whether a constraint says more than that its requests have too few devices.
pub fn blocks(constraint: &Constraint, claim: &Claim) -> bool {
    let covers = |request: &Request| {
        constraint.requests.is_empty()
            || constraint.requests.iter().any(|name| {
                *name == request.name || request.name.split('/').next() == Some(name.as_str())
            })
    };
    constraint.blocks
        && !claim
            .requests
            .iter()
            .any(|request| covers(request) && request.missing > 0)
}

/// What it can put together, and what is wanted.
pub fn of_constraint(claim: &Claim, constraint: &Constraint) -> Found {
    let Constraint {
        attribute,
        needed,
        largest,
        ..
    } = constraint;
    let single = match constraint.requests.as_slice() {
        [name] => claim.requests.iter().find(|request| request.name == *name),
        _ if claim.requests.len() == 1 => claim.requests.first(),
        _ => None,
    };
    let phrase = match constraint.distinct {
        true => Phrase::of("only ")
            .counted(*largest, "value", "different values")
            .text(format!(
                " of {attribute} among free devices, {needed} needed"
            )),
        false => match single {
            Some(request) => Phrase::default()
                .counted(request.free, "device", "devices")
                .text(" free, but at most "),
            None => Phrase::of(format!(
                "enough devices free for {}, but at most ",
                constraint.requests.join(" and ")
            )),
        }
        .number(*largest)
        .text(format!(" with equal {attribute}, {needed} needed")),
    };
    let ask = match (single, *largest) {
        (Some(request), 1..) if request.count.is_some() => {
            format!("ask for at most {largest}, or ")
        }
        _ => String::new(),
    };
    let name = single.map_or("", |request| request.name.as_str());
    let completing = match constraint.distinct {
        true => None,
        false => fixes::completing_of(claim, constraint, name),
    };
    let wants_all = single.is_some_and(|request| request.count.is_none());
    let fix = match completing {
        None if wants_all => {
            format!("select devices that suit the constraint on {attribute}, or give it up")
        }
        Some(completing) => format!("{completing}, or {ask}give up the constraint"),
        None if constraint.distinct => format!("{ask}give up the constraint on {attribute}"),
        None if is_hopeless(claim, constraint) => format!(
            "{ask}give up the constraint: freeing devices does not help, no {needed} here have equal {attribute}"
        ),
        None => format!(
            "{ask}give up the constraint; freeing devices helps where {needed} have equal {attribute}"
        ),
    };
    Found {
        claim: claim.name.clone(),
        request: constraint.requests.join(","),
        phrase,
        fixes: vec![fix],
        ..Found::new("", "constraint", 5 * needed.saturating_sub(*largest).max(1))
    }
}

/// Whether no value has enough devices, whoever holds them; asked where devices in use do not complete any.
fn is_hopeless(claim: &Claim, constraint: &Constraint) -> bool {
    claim.constraints.len() == 1
        && constraint.blocks
        && !constraint.distinct
        && constraint.nearest.is_none()
        && !might_be_had(claim)
}

/// Whether devices that are not in use might be had if something changed.
fn might_be_had(claim: &Claim) -> bool {
    let mut reasons = claim.requests.iter().flat_map(|request| &request.reasons);
    reasons.any(|reason| {
        matches!(
            reason.kind.as_str(),
            "taint" | "counter" | "pool-incomplete" | "pool-invalid"
        )
    })
}
