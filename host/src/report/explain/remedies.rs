//! What would have to change for a request to get its devices, as far as its reasons tell. A step that may not be enough says so.

use super::constraints::covers;
use super::document::{Claim, Reason, Request};
use super::findings::{Context, wanted};
use super::fixes;

/// All of it is needed.
pub fn of(claim: &Claim, request: &Request, context: &Context<'_>) -> Vec<String> {
    let enough = request.matching >= wanted(request);
    let fixable = request
        .reasons
        .iter()
        .filter(|reason| match reason.kind.as_str() {
            // What belongs to another class or another node is nobody's mistake.
            "class-selector" | "other-nodes" => request.matching == 0 && !reason.hints.is_empty(),
            // Where enough devices match, freeing those is what is meant.
            "request-selector" => !enough,
            // What the pod's own claims hold is for its own good.
            "in-use" => enough && !context.is_own(reason),
            "taint" | "counter" | "pool-incomplete" | "pool-invalid" => enough,
            _ => true,
        });
    let fix = |reason: &Reason| match reason.kind.as_str() {
        "in-use" => fixes::completing(claim, &request.name)
            .or_else(|| fixes::of_devices(reason, request.missing)),
        _ => fixes::of_devices(reason, request.missing),
    };
    // Where enough devices have one reason, that alone may go away; else all have to.
    let (alone, all): (Vec<&Reason>, Vec<&Reason>) = fixable.partition(|reason| {
        let is_hopeful = matches!(reason.kind.as_str(), "in-use" | "counter" | "taint");
        is_hopeful && request.count.is_some() && reason.count >= request.missing
    });
    let ways: Vec<String> = alone.into_iter().filter_map(fix).collect();
    let mut steps: Vec<String> = match ways.is_empty() {
        true => all.into_iter().filter_map(fix).collect(),
        false => vec![ways.join(", or ")],
    };
    if !enough && request.matching > 0 {
        steps.extend(fewer(claim, request, context));
    }
    steps
}

/// Fewer devices match than are asked for: how many may be asked for as things are, and how many if more become free.
fn fewer(claim: &Claim, request: &Request, context: &Context<'_>) -> Option<String> {
    let blocking = request.reasons.iter().filter(|reason| {
        let kinds = [
            "in-use",
            "taint",
            "counter",
            "pool-incomplete",
            "pool-invalid",
        ];
        kinds.contains(&reason.kind.as_str()) && !context.is_own(reason)
    });
    let blocking: Vec<&Reason> = blocking.collect();
    // More slices may bring more devices.
    let broken = blocking
        .iter()
        .find(|reason| reason.kind.starts_with("pool-"));
    if let Some(fix) = broken.and_then(|reason| fixes::of_devices(reason, reason.count)) {
        return Some(format!("first: {fix}, then see what is left"));
    }
    let tied = claim.constraints.iter().filter(|one| covers(one, request));
    let tied: Vec<_> = tied.collect();
    // Of several requests nobody says here how many devices each of them gets.
    let is_shared = tied
        .iter()
        .any(|one| one.requests.as_slice() != [request.name.as_str()])
        && claim.requests.len() > 1;
    let largest = tied.iter().map(|one| one.largest).min();
    let now = match largest.filter(|_| !is_shared) {
        Some(largest) => request.free.min(largest),
        None => request.free,
    };
    let mut ways: Vec<String> = Vec::new();
    match (now, is_shared || tied.len() > 1) {
        (0, _) => {}
        (now, false) => ways.push(format!("ask for at most {now}")),
        (now, true) => ways.push(format!(
            "first: ask for at most {now}, then see what is left"
        )),
    }
    let free: Vec<String> = blocking
        .iter()
        .filter_map(|reason| fixes::of_devices(reason, reason.count))
        .collect();
    let count: u64 = blocking.iter().map(|reason| reason.count).sum();
    let is_sure = tied.is_empty()
        && free.len() == blocking.len()
        && request.free.saturating_add(count) == request.matching
        && blocking.iter().all(|reason| reason.kind != "counter");
    match (free.is_empty(), is_sure) {
        (true, _) => {}
        (false, true) => ways.push(format!(
            "ask for at most {} and {}",
            request.matching,
            free.join(" and ")
        )),
        (false, false) => ways.push(format!(
            "first: ask for at most {} and {}, then see what is left",
            request.matching,
            free.join(" and ")
        )),
    }
    (!ways.is_empty()).then(|| ways.join(", or "))
}
