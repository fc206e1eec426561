//! One node in full: the plugin's document as indented lines.

use super::advice;
use super::native;
use super::node::View;
use super::phrase::{counted, some_of};
use super::reasons::{self, holders, names, of_claim, of_devices};
use super::together;
use crate::explain::document::{Claim, Constraint, Document, Pool, Reason, Request};

/// How many devices or groups a line names.
const SHOWN: usize = 8;

/// What there is to say about one node, indented by two for each level.
pub fn lines(view: &View) -> Vec<String> {
    let mut lines = Vec::new();
    let native = view.found.iter().filter(|found| {
        // Filters have names of their own; what the plugin says follows in full.
        native::is_filter(&found.source)
    });
    lines.extend(native.map(|found| format!("{}: {}", found.source, found.phrase)));
    let Some(document) = &view.document else {
        let others = view.found.iter().filter(|found| found.kind == "status");
        lines.extend(others.map(|found| format!("{}: {}", found.source, found.phrase)));
        return lines;
    };
    lines.push(decision(document));
    for claim in &document.claims {
        of_one_claim(claim, &mut lines);
    }
    together::lines(document, &mut lines);
    let odd: Vec<&Pool> = document
        .pools
        .iter()
        .filter(|pool| pool.state != "usable" || !pool.stale.is_empty())
        .collect();
    let usable: Vec<String> = document
        .pools
        .iter()
        .filter(|pool| pool.state == "usable")
        .map(|pool| {
            let devices = counted(pool.devices, "device", "devices");
            format!("{}/{} ({devices})", pool.driver, pool.pool)
        })
        .collect();
    if !usable.is_empty() {
        lines.push(format!("pools: {}", some_of(&usable, SHOWN, usable.len())));
    }
    lines.extend(odd.into_iter().map(of_pool));
    for slices in &document.unreachable {
        let why = reasons::for_whom(slices);
        lines.push(format!(
            "not reached: {} of driver {} with {}, for example {} {why}",
            counted(slices.slices, "slice", "slices"),
            slices.driver,
            counted(slices.devices, "device", "devices"),
            slices.example
        ));
    }
    lines
}

fn decision(document: &Document) -> String {
    let verdict = &document.verdict;
    let search = document.search.as_ref().map(|search| {
        let stuck = search.stuck.as_ref().map(|stuck| {
            format!(
                ", most picked at once {}, then none for {} of {}",
                search.placed, stuck.request, stuck.claim
            )
        });
        format!(
            " ({} visited{})",
            counted(search.steps, "device", "devices"),
            stuck.unwrap_or_default()
        )
    });
    let search = search.unwrap_or_default();
    match &verdict.at {
        Some(at) => format!("{at}: {}, {}{search}", verdict.code, verdict.message),
        None => {
            let picks = verdict.devices.iter().map(|pick| {
                format!(
                    "{} = {}/{}/{}",
                    pick.request, pick.driver, pick.pool, pick.device
                )
            });
            let picks: Vec<String> = picks.collect();
            let score = match verdict.score {
                0 => String::new(),
                score => format!(", score {score}"),
            };
            match picks.is_empty() {
                true => format!("fits{score}; nothing is to be allocated"),
                false => format!(
                    "fits{score}; would take {}{search}",
                    some_of(&picks, SHOWN, picks.len())
                ),
            }
        }
    }
}

fn of_one_claim(claim: &Claim, lines: &mut Vec<String>) {
    let object = claim.claim.as_deref().unwrap_or("not there yet");
    lines.push(format!("claim {} ({object}): {}", claim.name, claim.state));
    for reason in &claim.reasons {
        lines.push(format!("  {}", of_claim(claim, reason)));
    }
    for request in &claim.requests {
        of_request(request, lines);
    }
    for constraint in &claim.constraints {
        of_constraint(constraint, lines);
    }
}

fn of_request(request: &Request, lines: &mut Vec<String>) {
    let wanted = match request.count {
        Some(count) => count.to_string(),
        None => "all".to_owned(),
    };
    let admin = if request.admin_access {
        ", admin access"
    } else {
        ""
    };
    lines.push(format!(
        "  request {} ({wanted} of class {}{admin}): {} looked at, {} match, {} free{}",
        request.name,
        request.class,
        counted(request.looked, "device", "devices"),
        request.matching,
        request.free,
        match request.missing {
            0 => String::new(),
            missing => format!(", {missing} missing"),
        }
    ));
    // The line above says how many are missing.
    for reason in request
        .reasons
        .iter()
        .filter(|reason| reason.kind != "short")
    {
        lines.push(format!("    {}", of_reason(request, reason)));
        let selects = reason.kind.contains("selector");
        let whole = reasons::one_line(&reason.expression);
        let is_shown = reasons::shown(&reason.part) == whole;
        if selects && !whole.is_empty() && !is_shown {
            let index = reason.index.map(|index| format!(" #{index}"));
            lines.push(format!(
                "      in selector{}: `{whole}`",
                index.unwrap_or_default()
            ));
        }
        if !reason.holders.is_empty() {
            lines.push(format!("      held by {}", holders(reason)));
        }
        if let Some(fix) = advice::of_devices(reason).filter(|_| !reason.hints.is_empty()) {
            lines.push(format!("      hint: {fix}"));
        }
    }
}

fn of_reason(request: &Request, reason: &Reason) -> String {
    if let Some(phrase) = reasons::of_request(request, reason) {
        return phrase.to_string();
    }
    let devices = names(&reason.devices);
    let listed = match devices.is_empty() {
        true => String::new(),
        false => format!(
            " [{}]",
            some_of(
                &devices,
                SHOWN,
                usize::try_from(reason.count).unwrap_or(usize::MAX)
            )
        ),
    };
    format!("{} {}{listed}", reason.count, of_devices(reason))
}

fn of_constraint(constraint: &Constraint, lines: &mut Vec<String>) {
    let how = reasons::how(constraint.distinct);
    let covered = match constraint.requests.is_empty() {
        true => "all requests".to_owned(),
        false => constraint.requests.join(", "),
    };
    lines.push(format!(
        "  constraint: {how} {} for {covered}: {} needed, {} at most{}",
        constraint.attribute,
        constraint.needed,
        constraint.largest,
        if constraint.blocks {
            ": impossible here"
        } else {
            ""
        }
    ));
    let groups: Vec<String> = constraint
        .groups
        .iter()
        .map(|group| {
            let value = group.value.as_deref().unwrap_or("not there");
            format!("{value} ({} free)", group.free)
        })
        .collect();
    if !groups.is_empty() {
        lines.push(format!("    {}", some_of(&groups, SHOWN, groups.len())));
    }
}

fn of_pool(pool: &Pool) -> String {
    let stale = match pool.stale.as_slice() {
        [] => String::new(),
        stale => format!(
            "; {} of an older generation ignored: {}",
            counted(stale.len() as u64, "slice", "slices"),
            some_of(stale, SHOWN, stale.len())
        ),
    };
    let state = pool.state_in_words();
    format!(
        "pool {}/{}: {state}, generation {}{stale}",
        pool.driver, pool.pool, pool.generation
    )
}
