//! What a constraint could put together, where it alone makes a node impossible.

use super::node::Found;
use super::phrase::Phrase;
use super::reasons;
use crate::explain::document::{Claim, Constraint, Reason, Request};

/// How many taints a sentence names.
const TAINTS: usize = 2;

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
        if short.kind == "in-use" && is_hopeless(claim, constraint) {
            short.weight += 10;
        }
    }
    short
}

/// Whether a constraint is about a request.
pub fn covers(constraint: &Constraint, request: &Request) -> bool {
    constraint.requests.is_empty()
        || constraint.requests.iter().any(|name| {
            *name == request.name || request.name.split('/').next() == Some(name.as_str())
        })
}

/// Whether a constraint says more than that its requests have too few devices.
pub fn blocks(constraint: &Constraint, claim: &Claim) -> bool {
    constraint.blocks
        && !claim
            .requests
            .iter()
            .any(|request| covers(constraint, request) && request.missing > 0)
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
    let tainted = tainted(claim, constraint);
    let phrase = Phrase::joined(
        std::iter::once(phrase).chain(tainted.iter().map(|one| {
            Phrase::default()
                .number(one.count)
                .text(" more ")
                .then(reasons::of_devices(one))
        })),
        ", ",
    );
    Found {
        claim: claim.name.clone(),
        request: constraint.requests.join(","),
        phrase,
        ..Found::new("", "constraint", 5 * needed.saturating_sub(*largest).max(1))
    }
}

/// The taints of devices that a constraint could use.
fn tainted<'c>(claim: &'c Claim, constraint: &Constraint) -> Vec<&'c Reason> {
    let covered = claim
        .requests
        .iter()
        .filter(|request| covers(constraint, request));
    let mut taints: Vec<&Reason> = Vec::new();
    for reason in covered.flat_map(|request| &request.reasons) {
        let is_known = taints.iter().any(|one| one.devices == reason.devices);
        if reason.kind == "taint" && !is_known && taints.len() < TAINTS {
            taints.push(reason);
        }
    }
    taints
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
