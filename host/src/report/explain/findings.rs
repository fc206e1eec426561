//! What a plugin's document says against a node: the reasons sorted, weighed and put together.

use super::constraints::{blocks, covers, of_constraint, with_constraints};
use super::node::{FAR, Found};
use super::phrase::Phrase;
use super::{advice, reasons, together};
use crate::explain::document::{Claim, Constraint, Document, Reason, Request, Unreachable};

/// How many drivers out of reach a sentence names.
const OUT_OF_REACH: usize = 2;

/// Everything that a document says against its node, nothing if the pod fits.
pub fn of(document: &Document, plugin: &str) -> Vec<Found> {
    if document.verdict.at.is_none() {
        return Vec::new();
    }
    let context = Context::of(document);
    let mut found = Vec::new();
    for claim in &document.claims {
        found.extend(claim.reasons.iter().map(|reason| of_claim(claim, reason)));
        // What follows from that is no reason of its own.
        if claim.reasons.iter().any(reasons::is_everywhere) {
            continue;
        }
        for alternatives in by_parent(&claim.requests) {
            let short = of_alternatives(claim, alternatives, &context);
            found.extend(short.map(|short| with_constraints(short, claim)));
        }
        let blocking = claim.constraints.iter().filter(|one| blocks(one, claim));
        found.extend(blocking.map(|one| of_constraint(claim, one)));
    }
    if let Some(impossible) = &document.together {
        found.push(together::of(document, impossible, &context));
    }
    if document.verdict.code == "error" {
        let errors = errors(document, &context);
        if !errors.is_empty() {
            found = errors;
        }
    }
    if found.is_empty() {
        found.push(of_search(document));
    }
    let mut told: Vec<Found> = Vec::new();
    for one in found {
        let is_told = |known: &Found| known.claim == one.claim && known.phrase == one.phrase;
        if !told.iter().any(is_told) {
            told.push(Found {
                source: plugin.to_owned(),
                ..one
            });
        }
    }
    told
}

/// What else the document says: how requests are called where there are several, and what is out of reach.
pub struct Context<'d> {
    unreachable: &'d [Unreachable],
    claims: usize,
    requests: usize,
}

impl<'d> Context<'d> {
    /// Of a document.
    pub fn of(document: &'d Document) -> Self {
        let requests = document.claims.iter().map(|claim| claim.requests.len());
        Self {
            unreachable: &document.unreachable,
            claims: document.claims.len(),
            requests: requests.sum(),
        }
    }

    /// `request: `, with the claim if there are several; nothing if there is no other.
    pub fn label(&self, claim: &Claim, request: &str) -> String {
        match (self.requests, self.claims, claim.requests.len()) {
            (0 | 1, ..) => String::new(),
            (_, 0 | 1, _) => format!("{request}: "),
            (_, _, 1) => format!("{}: ", claim.name),
            _ => format!("{}/{request}: ", claim.name),
        }
    }
}

/// Requests one by one, alternatives of one request together.
fn by_parent(requests: &[Request]) -> impl Iterator<Item = &[Request]> {
    let parent = |request: &Request| {
        let (parent, _) = request.name.split_once('/')?;
        Some(parent.to_owned())
    };
    requests.chunk_by(move |a, b| parent(a).is_some() && parent(a) == parent(b))
}

fn of_claim(claim: &Claim, reason: &Reason) -> Found {
    let everywhere = reasons::is_everywhere(reason);
    Found {
        claim: claim.name.clone(),
        phrase: reasons::of_claim(claim, reason),
        everywhere,
        advice: advice::of_claim(claim, reason).into_iter().collect(),
        ..Found::new("", &reason.kind, if everywhere { 30 } else { 15 })
    }
}

/// A request that cannot be served, or of whose alternatives none can.
fn of_alternatives(
    claim: &Claim,
    alternatives: &[Request],
    context: &Context<'_>,
) -> Option<Found> {
    let each: Vec<Found> = alternatives
        .iter()
        .map(|request| of_request(claim, request, context))
        .collect::<Option<_>>()?;
    let nearest = each.iter().min_by_key(|found| found.weight)?.clone();
    if each.len() == 1 {
        return Some(nearest);
    }
    let phrases = each.into_iter().map(|found| found.phrase);
    Some(Found {
        phrase: Phrase::joined(phrases, "; "),
        ..nearest
    })
}

/// A request that cannot be served by itself.
pub fn of_request(claim: &Claim, request: &Request, context: &Context<'_>) -> Option<Found> {
    if request.missing == 0 {
        return None;
    }
    let label = context.label(claim, &request.name);
    let (phrase, weight, kind) = shortage(request, context);
    Some(Found {
        claim: claim.name.clone(),
        request: request.name.clone(),
        advice: labelled(&label, advice::of_request(request)),
        corrects: request.reasons.iter().any(advice::is_hinted),
        phrase: Phrase::of(label).then(phrase),
        closeness: request
            .reasons
            .iter()
            .map(advice::closeness)
            .min()
            .unwrap_or(usize::MAX),
        ..Found::new("", &kind, weight)
    })
}

/// What to do, with the request that it is about; a driver does the same for all.
fn labelled(label: &str, advice: Vec<String>) -> Vec<String> {
    let each = advice.into_iter();
    each.map(|advice| match advice.starts_with("have the driver") {
        true => advice,
        false => format!("{label}{advice}"),
    })
    .collect()
}

/// Why there are too few devices, how far that is from enough, and the type that says most.
fn shortage(request: &Request, context: &Context<'_>) -> (Phrase, u64, String) {
    let foreign: u64 = request
        .reasons
        .iter()
        .filter(|reason| is_foreign(reason))
        .map(|reason| reason.count)
        .sum();
    let of_class = request.looked.saturating_sub(foreign);
    let mut blamed: Vec<&Reason> = request
        .reasons
        .iter()
        .filter(|reason| reason.count > 0 && !is_foreign(reason))
        .collect();
    blamed.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    let leading = blamed.first().map_or("short", |reason| &reason.kind);
    let special = request
        .reasons
        .iter()
        .find_map(|reason| Some((reasons::of_request(request, reason)?, reason)));
    if let Some((phrase, reason)) = special {
        return (with_reasons(phrase, &blamed), 10, reason.kind.clone());
    }
    if of_class == 0 {
        return (
            no_device(request, context),
            FAR,
            "no-device-of-class".to_owned(),
        );
    }
    let phrase = match blamed.as_slice() {
        [only] if request.matching == 0 && only.kind == "request-selector" => {
            none_satisfies(request, of_class, only)
        }
        _ if request.matching == 0 => with_reasons(
            Phrase::of("0 of ")
                .counted(of_class, "device", "devices")
                .text(format!(" of class {} match", request.class)),
            &blamed,
        ),
        // Those that do not match are no news then.
        _ => {
            blamed.retain(|reason| !reason.kind.starts_with("request-selector"));
            with_reasons(too_few(request), &blamed)
        }
    };
    (phrase, weight(request), leading.to_owned())
}

/// What is needed, and where that cannot be had by freeing devices much more.
fn weight(request: &Request) -> u64 {
    let hopeful = request.reasons.iter().filter(|reason| {
        matches!(
            reason.kind.as_str(),
            "in-use" | "counter" | "taint" | "pool-incomplete"
        )
    });
    let hopeful: u64 = hopeful.map(|reason| reason.count).sum();
    let tainted = request.reasons.iter().any(|reason| reason.kind == "taint");
    let hopeless = wanted(request).saturating_sub(request.free.saturating_add(hopeful));
    request
        .missing
        .saturating_add(u64::from(tainted))
        .saturating_add(hopeless.saturating_mul(10))
}

/// How many devices are asked for; one at least where all are.
pub fn wanted(request: &Request) -> u64 {
    let count = request.count.map(u64::try_from);
    count.map_or(1, Result::unwrap_or_default)
}

fn with_reasons(phrase: Phrase, reasons: &[&Reason]) -> Phrase {
    let why = Phrase::joined(reasons.iter().map(|reason| share(reason)), ", ");
    match why.is_empty() {
        true => phrase,
        false => phrase.text(": ").then(why),
    }
}

/// Devices of other drivers are no news; devices that a class refuses for another reason are.
fn no_device(request: &Request, context: &Context<'_>) -> Phrase {
    let refusing: Vec<&Reason> = request
        .reasons
        .iter()
        .filter(|reason| reason.kind.starts_with("class-selector") && !reason.is_about_driver())
        .collect();
    let phrase = Phrase::of(format!("no device of class {}", request.class));
    match refusing.is_empty() {
        true => phrase.then(out_of_reach(context)),
        false => with_reasons(
            phrase
                .text(" among ")
                .counted(request.looked, "device", "devices"),
            &refusing,
        ),
    }
}

/// Slices that choose their nodes, and not this one. That a slice is for another node is no news.
fn out_of_reach(context: &Context<'_>) -> Phrase {
    let slices = context.unreachable.iter();
    let slices: Vec<&Unreachable> = slices.filter(|one| one.cause != "other-node").collect();
    if slices.is_empty() || slices.len() > OUT_OF_REACH {
        return Phrase::default();
    }
    let each = slices.into_iter().map(|one| {
        Phrase::default()
            .counted(one.slices, "slice", "slices")
            .text(format!(
                " of driver {} {}",
                one.driver,
                reasons::for_whom(one)
            ))
    });
    Phrase::of(" (").then(Phrase::joined(each, ", ")).text(")")
}

fn too_few(request: &Request) -> Phrase {
    Phrase::default()
        .number(request.free)
        .text(" of ")
        .counted(request.matching, "matching device", "matching devices")
        .text(" free")
        .text(match request.count {
            Some(count) if count > 1 => format!(", {count} needed"),
            _ => String::new(),
        })
}

fn is_foreign(reason: &Reason) -> bool {
    matches!(
        reason.kind.as_str(),
        "class-selector" | "other-nodes" | "content-missing"
    )
}

fn none_satisfies(request: &Request, of_class: u64, reason: &Reason) -> Phrase {
    let text = match reason.part.as_str() {
        "" => reason.expression.as_str(),
        part => part,
    };
    let phrase = Phrase::of(format!(
        "no device of class {} satisfies `{}` (",
        request.class,
        reasons::shown(text)
    ))
    .number(of_class)
    .text(" looked at)");
    let seen = reasons::observed(&reason.values);
    match seen.is_empty() {
        true => phrase,
        false => phrase.text(": ").then(seen),
    }
}

/// `3 in use`.
fn share(reason: &Reason) -> Phrase {
    Phrase::default()
        .number(reason.count)
        .text(" ")
        .then(reasons::of_devices(reason))
}

/// Selectors that failed: one such device ends the attempt.
fn errors(document: &Document, context: &Context<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for claim in &document.claims {
        for request in &claim.requests {
            let failed = request
                .reasons
                .iter()
                .filter(|reason| reason.kind.ends_with("selector-error"));
            found.extend(failed.map(|reason| {
                let label = context.label(claim, &request.name);
                let advice = advice::of_devices(reason).into_iter().collect();
                Found {
                    claim: claim.name.clone(),
                    request: request.name.clone(),
                    advice: labelled(&label, advice),
                    corrects: advice::is_hinted(reason),
                    phrase: Phrase::of(label).then(reasons::of_failure(reason)),
                    ..Found::new("", &reason.kind, 15)
                }
            }));
        }
    }
    found
}

/// Alternatives of one request are one.
fn requests(document: &Document) -> usize {
    let claims = document.claims.iter();
    claims.map(|claim| by_parent(&claim.requests).count()).sum()
}

/// A constraint that is about the request at which the search was stuck.
fn tying<'d>(document: &'d Document, request: &str) -> Option<&'d Constraint> {
    document.claims.iter().find_map(|claim| {
        let request = claim.requests.iter().find(|one| one.name == request)?;
        claim.constraints.iter().find(|one| covers(one, request))
    })
}

/// Nothing by itself is in the way.
fn of_search(document: &Document) -> Found {
    match &document.search {
        Some(search) if search.exhausted => Found {
            phrase: Phrase::of(format!(
                "the search was given up after {} devices",
                search.limit
            )),
            advice: vec!["raise the limit with --search-steps".to_owned()],
            ..Found::new("", "budget", 4)
        },
        Some(search) if search.stuck.is_some() => {
            let stuck = search.stuck.clone().unwrap_or_default();
            Found {
                phrase: Phrase::of(match requests(document) {
                    1 => "enough devices one by one, but not together, for their constraints or counters: ",
                    _ => "enough devices for each request, but not for all at once: ",
                })
                    .number(search.placed)
                    .text(format!(
                        " can be had, then none{} is left for {}",
                        match tying(document, &stuck.request) {
                            Some(one) => format!(" that suits the constraint on {}", one.attribute),
                            None => String::new(),
                        },
                        stuck.request
                    )),
                request: stuck.request,
                ..Found::new("", "together", 4)
            }
        }
        _ => Found {
            phrase: Phrase::of(document.verdict.message.clone()),
            ..Found::new("", "status", 20)
        },
    }
}
