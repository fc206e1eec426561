//! What stands between a pod and one node, from the basic filters and from the plugin's document.

use crate::explain::NodeAnswer;
use crate::filters::Obstacle;
use crate::scheduler::outcome::{Ended, PodOutcome};

use super::document::{Claim, Constraint, Document, Reason, Request};
use super::phrase::Phrase;
use super::{native, reasons};

/// Weight of what no change of the cluster's pods helps against.
const FAR: u64 = 60;

/// One thing that stands in the way.
#[derive(Clone, Debug)]
pub struct Found {
    /// A filter, or the plugin.
    pub source: String,
    /// Type of the reason.
    pub kind: String,
    /// The pod's name of the claim; empty for none.
    pub claim: String,
    /// Request; empty for none.
    pub request: String,
    /// In words.
    pub phrase: Phrase,
    /// How far it is from fitting.
    pub weight: u64,
    /// It is the same on every node.
    pub everywhere: bool,
    /// What would make it go away.
    pub fixes: Vec<String>,
}

/// One node.
#[derive(Clone, Debug)]
pub struct View {
    /// Name.
    pub name: String,
    /// The plugin's document, if there is one that can be read.
    pub document: Option<Document>,
    /// What stands in the way; nothing if the node fits.
    pub found: Vec<Found>,
}

impl View {
    /// Of one node. `said` is what the plugin's decision says where there is no document.
    pub fn of(answer: &NodeAnswer, plugin: &str, said: Option<Said>) -> Self {
        let name = answer.name.to_string();
        let mut found: Vec<Found> = answer
            .native
            .iter()
            .map(|obstacle| Found {
                source: native::filter(obstacle).to_owned(),
                kind: kind_of(obstacle).to_owned(),
                claim: String::new(),
                request: String::new(),
                phrase: native::sentence(obstacle),
                weight: native::weight(obstacle),
                everywhere: false,
                fixes: native::fix(obstacle, &name).into_iter().collect(),
            })
            .collect();
        let document: Option<Document> = answer.document.as_ref().and_then(Document::read);
        match (&document, &answer.document) {
            (Some(document), _) => found.extend(of_document(document, plugin)),
            (None, Some(_)) => found.push(Found {
                phrase: Phrase::of("what the plugin says cannot be understood"),
                ..plain(plugin, "unknown", FAR)
            }),
            (None, None) => found.extend(said.map(|said| Found {
                phrase: Phrase::of(said.message),
                everywhere: said.everywhere,
                ..plain(plugin, "status", 20)
            })),
        }
        Self {
            name,
            document,
            found,
        }
    }

    /// How far the node is from fitting; 0 if it does.
    pub fn distance(&self) -> u64 {
        self.found.iter().map(|found| found.weight).sum()
    }
}

/// What the decision says about a node.
pub struct Said {
    /// The plugin's text.
    pub message: String,
    /// It is about the pod as a whole.
    pub everywhere: bool,
}

impl Said {
    /// By the outcome of a pod's attempt.
    pub fn of(outcome: &PodOutcome, plugin: &str, node: &str) -> Option<Self> {
        let refusals = outcome.refusals.iter();
        let of_plugin = refusals.filter(|refusal| &*refusal.plugin == plugin);
        let mut concerned =
            of_plugin.filter(|one| one.count == 0 || one.nodes.iter().any(|name| &**name == node));
        if let Some(refusal) = concerned.next() {
            return Some(Self {
                message: refusal.status.message(),
                everywhere: refusal.count == 0,
            });
        }
        let bound = matches!(outcome.ended, Ended::Bound { .. });
        let fits = outcome.feasible.iter().any(|name| &**name == node);
        (bound && !fits).then(|| Self {
            message: "refused without a reason".to_owned(),
            everywhere: false,
        })
    }
}

/// As in the JSON output.
fn kind_of(obstacle: &Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Unschedulable => "unschedulable",
        Obstacle::NodeName { .. } => "node-name",
        Obstacle::Taint { .. } => "node-taint",
        Obstacle::Label { .. } => "label",
        Obstacle::Resource { .. } => "resource",
        Obstacle::Unreadable(_) => "node-unreadable",
    }
}

fn plain(plugin: &str, kind: &str, weight: u64) -> Found {
    Found {
        source: plugin.to_owned(),
        kind: kind.to_owned(),
        claim: String::new(),
        request: String::new(),
        phrase: Phrase::default(),
        weight,
        everywhere: false,
        fixes: Vec::new(),
    }
}

fn of_document(document: &Document, plugin: &str) -> Vec<Found> {
    if document.verdict.at.is_none() {
        return Vec::new();
    }
    let labels = Labels::of(document);
    let mut found = Vec::new();
    for claim in &document.claims {
        found.extend(claim.reasons.iter().map(|reason| of_claim(claim, reason)));
        for alternatives in by_parent(&claim.requests) {
            let short = of_alternatives(claim, alternatives, &labels);
            found.extend(short.map(|short| with_constraints(short, claim)));
        }
        let blocking = claim.constraints.iter().filter(|one| blocks(one, claim));
        found.extend(blocking.map(|one| of_constraint(claim, one)));
    }
    if document.verdict.code == "error" {
        let errors = errors(document, &labels);
        if !errors.is_empty() {
            found = errors;
        }
    }
    if found.is_empty() {
        found.push(of_search(document));
    }
    for one in &mut found {
        plugin.clone_into(&mut one.source);
    }
    found
}

/// How a request is called where there are several.
struct Labels {
    claims: usize,
    requests: usize,
}

impl Labels {
    fn of(document: &Document) -> Self {
        let requests = document.claims.iter().map(|claim| claim.requests.len());
        Self {
            claims: document.claims.len(),
            requests: requests.sum(),
        }
    }

    fn label(&self, claim: &Claim, request: &str) -> String {
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
        fixes: reasons::claim_fix(claim, reason).into_iter().collect(),
        ..plain("", &reason.kind, if everywhere { 30 } else { 15 })
    }
}

/// A request that cannot be served, or of whose alternatives none can.
fn of_alternatives(claim: &Claim, alternatives: &[Request], labels: &Labels) -> Option<Found> {
    let each: Vec<Found> = alternatives
        .iter()
        .map(|request| of_request(claim, request, labels))
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

fn of_request(claim: &Claim, request: &Request, labels: &Labels) -> Option<Found> {
    if request.missing == 0 {
        return None;
    }
    let label = labels.label(claim, &request.name);
    let (phrase, weight, kind) = shortage(request);
    let fixable = request.reasons.iter().filter(|reason| {
        // What belongs to another class or another node is nobody's mistake.
        !matches!(reason.kind.as_str(), "class-selector" | "other-nodes")
            || request.matching == 0 && !reason.hints.is_empty()
    });
    let fixes = fixable.filter_map(|reason| reasons::device_fix(reason, request.missing));
    Some(Found {
        claim: claim.name.clone(),
        request: request.name.clone(),
        phrase: Phrase::of(label).then(phrase),
        fixes: fixes.collect(),
        ..plain("", &kind, weight)
    })
}

/// Why there are too few devices, how far that is from enough, and the type that says most.
fn shortage(request: &Request) -> (Phrase, u64, String) {
    let special = request
        .reasons
        .iter()
        .find_map(|reason| Some((reasons::of_request(request, reason)?, reason)));
    let of = |kinds: &[&str]| {
        let some = request.reasons.iter();
        some.filter(|reason| kinds.contains(&reason.kind.as_str()))
            .map(|reason| reason.count)
            .sum::<u64>()
    };
    let foreign = of(&["class-selector", "other-nodes", "content-missing"]);
    let of_class = request.looked.saturating_sub(foreign);
    let mut blamed: Vec<&Reason> = request
        .reasons
        .iter()
        .filter(|reason| reason.count > 0)
        .filter(|reason| of_class == 0 || !is_foreign(reason))
        .collect();
    blamed.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    let leading = blamed
        .first()
        .map_or("short", |reason| reason.kind.as_str());
    if let Some((phrase, reason)) = special {
        let others = blamed.iter().filter(|reason| !is_foreign(reason));
        let why = Phrase::joined(others.map(|reason| share(reason)), ", ");
        let phrase = match why.is_empty() {
            true => phrase,
            false => phrase.text(": ").then(why),
        };
        return (phrase, 10, reason.kind.clone());
    }
    let class = &request.class;
    if of_class == 0 {
        let why = blamed.iter().filter(|reason| {
            reason.kind.starts_with("class-selector") && !reason.part.contains("device.driver")
        });
        let why = Phrase::joined(why.map(|reason| share(reason)), ", ");
        let phrase = Phrase::of(format!("no device of class {class}"));
        let phrase = match why.is_empty() || request.looked == 0 {
            true => phrase,
            false => phrase
                .text(" among ")
                .counted(request.looked, "device", "devices")
                .text(": ")
                .then(why),
        };
        return (phrase, FAR, "no-device-of-class".to_owned());
    }
    // What could still become free.
    let hopeful = of(&["in-use", "counter", "taint", "pool-incomplete"]);
    let wanted = request
        .count
        .map_or(1, |count| u64::try_from(count).unwrap_or_default());
    let hopeless = wanted.saturating_sub(request.free + hopeful);
    let taints = if of(&["taint"]) > 0 { 1 } else { 0 };
    let weight = request.missing + taints + 10 * hopeless;
    if request.matching == 0 {
        let only = blamed.len() == 1 && blamed[0].kind == "request-selector";
        let phrase = match only {
            true => none_satisfies(request, of_class, blamed[0]),
            false => Phrase::default()
                .text("0 of ")
                .counted(of_class, "device", "devices")
                .text(format!(" of class {class} match: "))
                .then(Phrase::joined(
                    blamed.iter().map(|reason| share(reason)),
                    ", ",
                )),
        };
        return (phrase, weight, leading.to_owned());
    }
    let phrase = Phrase::default()
        .number(request.free)
        .text(" of ")
        .counted(request.matching, "matching device", "matching devices")
        .text(" free")
        .text(match request.count {
            Some(count) if count > 1 => format!(", {count} needed"),
            _ => String::new(),
        });
    let why = Phrase::joined(blamed.iter().map(|reason| share(reason)), ", ");
    let phrase = match why.is_empty() {
        true => phrase,
        false => phrase.text(": ").then(why),
    };
    (phrase, weight, leading.to_owned())
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
    let phrase = Phrase::of("none of ")
        .counted(of_class, "device", "devices")
        .text(format!(
            " of class {} satisfies `{}`",
            request.class,
            reasons::one_line(text)
        ));
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

/// Devices that are to be freed have to suit the constraints as well.
fn with_constraints(mut short: Found, claim: &Claim) -> Found {
    let suits = claim.constraints.iter().filter(|constraint| {
        constraint.needed > 1 && (constraint.requests.is_empty() || constraint.requests.contains(&short.request))
    });
    if !short.fixes.is_empty() && matches!(short.kind.as_str(), "in-use" | "taint" | "counter") {
        short.fixes.extend(suits.map(|constraint| {
            let how = if constraint.distinct { "different" } else { "equal" };
            format!(
                "{} devices must then be free with {how} {}",
                constraint.needed, constraint.attribute
            )
        }));
    }
    short
}

/// Whether a constraint says more than that its requests have too few devices.
fn blocks(constraint: &Constraint, claim: &Claim) -> bool {
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

fn of_constraint(claim: &Claim, constraint: &Constraint) -> Found {
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
    let fix = match constraint.distinct {
        true => format!("ask for at most {largest}, or give up the constraint on {attribute}"),
        false => format!(
            "{needed} free devices with equal {attribute}; or ask for at most {largest}, or give up the constraint"
        ),
    };
    Found {
        claim: claim.name.clone(),
        request: constraint.requests.join(","),
        phrase,
        fixes: vec![fix],
        ..plain("", "constraint", 5 * needed.saturating_sub(*largest).max(1))
    }
}

/// Selectors that failed: one such device ends the attempt.
fn errors(document: &Document, labels: &Labels) -> Vec<Found> {
    let mut found = Vec::new();
    for claim in &document.claims {
        for request in &claim.requests {
            let failed = request
                .reasons
                .iter()
                .filter(|reason| reason.kind.ends_with("selector-error"));
            found.extend(failed.map(|reason| {
                Found {
                    claim: claim.name.clone(),
                    request: request.name.clone(),
                    phrase: Phrase::of(labels.label(claim, &request.name))
                        .counted(reason.count, "device", "devices")
                        .text(" ")
                        .then(reasons::of_devices(reason)),
                    fixes: reasons::device_fix(reason, 1).into_iter().collect(),
                    ..plain("", &reason.kind, 15)
                }
            }));
        }
    }
    found
}

/// Nothing by itself is in the way.
fn of_search(document: &Document) -> Found {
    match &document.search {
        Some(search) if search.exhausted => Found {
            phrase: Phrase::of(format!(
                "the search was given up after {} devices",
                search.limit
            )),
            fixes: vec!["raise the limit with --search-steps".to_owned()],
            ..plain("", "budget", 4)
        },
        Some(search) if search.stuck.is_some() => {
            let stuck = search.stuck.clone().unwrap_or_default();
            Found {
                phrase: Phrase::of("enough devices for each request, but not for all at once: ")
                    .number(search.placed)
                    .text(format!(
                        " can be had, then none is left for {}",
                        stuck.request
                    )),
                request: stuck.request,
                ..plain("", "together", 4)
            }
        }
        _ => Found {
            phrase: Phrase::of(document.verdict.message.clone()),
            ..plain("", "status", 20)
        },
    }
}
