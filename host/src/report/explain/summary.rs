//! The answer in a paragraph. The first sentence names what the pod needs and what keeps it from running, in facts.

use std::cmp::Reverse;

use crate::cycle::Point;
use crate::explain::target::short_name;
use crate::explain::{Answer, Standing};
use crate::filters::{Held, held};
use crate::report::{ClaimReport, PodReport, Verdict};

use super::ahead::{self, AheadReport};
use super::groups::Group;
use super::needs::{self, Need};
use super::node::View;
use super::phrase::{Phrase, counted, some_of};
use super::reach;

/// How many letters the first sentence has, if that can be: four lines.
const ROOM: usize = 400;
/// How many of them may say what it needs.
const LONGEST: usize = 200;
/// How many nodes a sentence names.
const NAMES: usize = 3;

/// Everything that is known.
pub struct Facts<'a> {
    /// What was answered.
    pub answer: &'a Answer,
    /// What became of the pod, or would.
    pub report: Option<&'a PodReport>,
    /// Claims of a pod that has a node already.
    pub before: &'a [ClaimReport],
    /// All nodes.
    pub views: &'a [View],
    /// The same, together.
    pub groups: &'a [Group],
    /// What it asks for.
    pub needs: &'a [Need],
    /// Who is tried before.
    pub ahead: &'a [AheadReport],
}

impl Facts<'_> {
    /// Whether it has a node, or gets one.
    pub fn is_placed(&self) -> bool {
        let scheduled = |report: &PodReport| report.verdict == Verdict::Scheduled;
        self.answer.standing != Standing::Pending || self.report.is_some_and(scheduled)
    }

    /// Whether it finds a node alone, and none behind those ahead of it.
    pub fn is_alone(&self) -> bool {
        let mut report = self.report.into_iter();
        report.any(|report| super::is_alone(self.answer, report))
    }

    /// The groups that keep the pod from running: after an error those where it happened, else all that do not fit.
    pub fn causes(&self) -> Vec<&Group> {
        let failed = |group: &&Group| {
            let first = group.nodes.first().and_then(|&index| self.views.get(index));
            let document = first.and_then(|view| view.document.as_ref());
            document.is_some_and(|document| document.verdict.code == "error")
        };
        if self
            .report
            .is_some_and(|report| report.verdict == Verdict::Error)
        {
            let failed: Vec<&Group> = self.groups.iter().filter(failed).collect();
            if !failed.is_empty() {
                return failed;
            }
        }
        self.groups.iter().filter(|group| !group.fits()).collect()
    }

    /// Its name in a sentence.
    pub fn pod(&self) -> String {
        short_name(&self.answer.pod.id().to_string())
    }
}

/// All sentences.
pub fn sentences(facts: &Facts<'_>) -> Vec<String> {
    let mut sentences = match &facts.answer.standing {
        Standing::Pending => pending(facts),
        Standing::Placed(node) => placed(facts, node),
        Standing::Ended(phase) => vec![format!(
            "{} has ended ({phase}): nobody places it any more.",
            facts.pod()
        )],
        Standing::Deleted => vec![format!(
            "{} is being deleted: nobody places it any more.",
            facts.pod()
        )],
    };
    sentences.extend(ahead::sentence(facts).filter(|_| !facts.is_alone()));
    sentences
}

fn pending(facts: &Facts<'_>) -> Vec<String> {
    if let Some(held) = held(&facts.answer.pod) {
        let why = match held {
            Held::Gates(gates) => format!(
                "is held before the queue by its scheduling gates {}: whoever put them there has to take them off.",
                needs::join(&gates, " and ")
            ),
            Held::OtherScheduler(name) => format!(
                "is left to the scheduler {name} (spec.schedulerName): the default scheduler does not look at it."
            ),
        };
        return vec![format!("{} {why}", facts.pod()), apart_from_that(facts)];
    }
    match facts.report {
        Some(report) if report.verdict == Verdict::Scheduled => fits(facts, report),
        report => refused(facts, report),
    }
}

/// Where it would fit if nothing held it.
fn apart_from_that(facts: &Facts<'_>) -> String {
    let fitting = facts.views.iter().filter(|view| view.found.is_empty());
    let fitting: Vec<&str> = fitting.map(|view| view.name.as_str()).collect();
    match fitting.is_empty() {
        true => "Apart from that no node has what it needs.".to_owned(),
        false => format!(
            "Apart from that it would fit on {}.",
            some_of(&fitting, NAMES, fitting.len())
        ),
    }
}

/// What it needs, as the beginning of a sentence.
fn subject(facts: &Facts<'_>) -> String {
    match needs::sentence(facts.needs) {
        Some(needs) => format!("{} needs {needs} on one node", facts.pod()),
        None if facts.needs.is_empty() => format!("{} asks for no devices", facts.pod()),
        None => facts.pod(),
    }
}

/// The same in a few words.
fn subject_in_short(facts: &Facts<'_>) -> String {
    match needs::sentence(facts.needs) {
        Some(_) => format!(
            "{} needs {} on one node",
            facts.pod(),
            needs::in_short(facts.needs)
        ),
        None => subject(facts),
    }
}

fn refused(facts: &Facts<'_>, report: Option<&PodReport>) -> Vec<String> {
    let message = report.map_or("", |report| report.message.as_str());
    if report.is_some_and(|report| report.verdict == Verdict::InputError) {
        return vec![format!("{} cannot be judged: {message}.", facts.pod())];
    }
    let everywhere = everywhere(facts);
    if !everywhere.is_empty() {
        let waits = match report.and_then(|report| report.at.as_deref()) {
            Some("PreEnqueue") => "is held before the queue",
            _ => "cannot run on any node",
        };
        let asks = match needs::sentence(facts.needs) {
            Some(needs) if needs.len() <= ROOM / 2 => format!(" (it needs {needs})"),
            Some(_) => format!(" (it needs {})", needs::in_short(facts.needs)),
            None => String::new(),
        };
        return vec![format!(
            "{} {waits}: {}{asks}.",
            facts.pod(),
            needs::join(&everywhere, ", and ")
        )];
    }
    let causes = facts.causes();
    if causes.is_empty() {
        let at = report.and_then(|report| report.at.as_deref());
        return vec![match at {
            Some(at) => format!(
                "{}; {}, but {at} said: {message}.",
                subject(facts),
                would_do(facts)
            ),
            None => format!("{}: {message}.", subject(facts)),
        }];
    }
    if let Some(at) = report.and_then(|report| past_filter(report)) {
        let elsewhere = because(facts, None, &causes, DETAILS[1]);
        let elsewhere = elsewhere.trim_start_matches("but ");
        return vec![
            format!(
                "{}; {}, but {at} said: {message}.",
                subject(facts),
                would_do(facts)
            ),
            format!("It cannot run elsewhere: {elsewhere}."),
        ];
    }
    let mut sentences = vec![briefly(facts, report, &causes)];
    sentences.extend(reach::unreached(facts).or_else(|| reach::no_slices(facts)));
    sentences
}

/// The extension point that refused after a node was found.
fn past_filter(report: &PodReport) -> Option<&str> {
    let at = report.at.as_deref()?;
    let late = [
        Point::Reserve,
        Point::PreBind,
        Point::Bind,
        Point::PreScore,
        Point::Score,
    ];
    late.iter()
        .any(|point| point.to_string() == at)
        .then_some(at)
}

/// `n1 and n2 would do`.
fn would_do(facts: &Facts<'_>) -> String {
    let fitting = facts.views.iter().filter(|view| view.found.is_empty());
    let fitting: Vec<&str> = fitting.map(|view| view.name.as_str()).collect();
    match fitting.as_slice() {
        [] => "a node was found".to_owned(),
        some => format!("{} would do", some_of(some, NAMES, some.len())),
    }
}

/// How much a sentence says: groups of nodes, and reasons of each.
#[derive(Clone, Copy)]
struct Detail {
    groups: usize,
    reasons: usize,
}

/// The most first.
const DETAILS: [Detail; 5] = {
    const fn detail(groups: usize, reasons: usize) -> Detail {
        Detail { groups, reasons }
    }
    [
        detail(3, usize::MAX),
        detail(3, 2),
        detail(2, 1),
        detail(1, 2),
        detail(1, 1),
    ]
};

/// The sentence with as much as there is room for.
fn briefly(facts: &Facts<'_>, report: Option<&PodReport>, causes: &[&Group]) -> String {
    let long = subject(facts);
    let subject = match long.chars().count() {
        ..=LONGEST => long,
        _ => subject_in_short(facts),
    };
    let mut last = String::new();
    for detail in DETAILS {
        last = format!("{subject}, {}.", because(facts, report, causes, detail));
        if last.chars().count() <= ROOM {
            break;
        }
    }
    last
}

/// Which nodes do not have that, and why.
fn because(
    facts: &Facts<'_>,
    report: Option<&PodReport>,
    causes: &[&Group],
    detail: Detail,
) -> String {
    let all = facts.views.len();
    // What most nodes say is the cause; nodes that have nothing to do with it come last.
    let mut causes: Vec<&Group> = causes.to_vec();
    causes.sort_by_key(|group| (group.is_far(), Reverse(group.nodes.len())));
    let mut parts: Vec<String> = causes
        .iter()
        .take(detail.groups)
        .map(|group| {
            let why = group.brief(detail.reasons);
            format!("{} {why}", who(group, facts, all))
        })
        .collect();
    let rest: usize = causes
        .iter()
        .skip(detail.groups)
        .map(|group| group.nodes.len())
        .sum();
    if rest > 0 {
        let nodes = counted(rest as u64, "more node", "more nodes");
        parts.push(format!("{nodes} for other reasons"));
    }
    let fit = facts.groups.iter().filter(|group| group.fits());
    let fit: usize = fit.map(|group| group.nodes.len()).sum();
    let lead = match report.map(|report| report.verdict) {
        Some(Verdict::Error) if fit > 0 => format!(
            "but the attempt is aborted, though {} would do: ",
            counted(fit as u64, "node", "nodes")
        ),
        Some(Verdict::Error) => "but the attempt is aborted: ".to_owned(),
        Some(Verdict::Waiting) => "and waits: ".to_owned(),
        _ if parts.len() == 1 => "but ".to_owned(),
        _ if facts.needs.is_empty() => "but no node takes it: ".to_owned(),
        _ => "but no node has that: ".to_owned(),
    };
    lead + &parts.join("; ")
}

/// What stands in the way whatever the node.
fn everywhere(facts: &Facts<'_>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let missing = facts.needs.iter().filter_map(needs::missing);
    texts.extend(missing.map(|phrase| phrase.to_string()));
    for found in facts.groups.iter().flat_map(|group| &group.found) {
        let told = matches!(found.kind.as_str(), "claim-missing" | "status") && !texts.is_empty();
        let text = found.phrase.to_string();
        if found.everywhere && !told && !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

fn who(group: &Group, facts: &Facts<'_>, all: usize) -> String {
    let first = group
        .nodes
        .first()
        .and_then(|&index| facts.views.get(index));
    match (group.nodes.len(), first) {
        (1, Some(view)) => format!("on {}", view.name),
        (2, _) if all == 2 => "on both nodes".to_owned(),
        (count, _) if count == all => format!("on all {count} nodes"),
        (count, _) => format!("on {count} nodes"),
    }
}

fn fits(facts: &Facts<'_>, report: &PodReport) -> Vec<String> {
    let node = report.node.as_deref().unwrap_or_default();
    let would = format!("would run on {node}{}", with_devices(&report.claims, node));
    let mut sentences = match facts.is_alone() {
        false => vec![format!("{}; it fits, and {would}.", subject(facts))],
        true => vec![
            ahead::behind(facts),
            match needs::sentence(facts.needs) {
                Some(needs) => format!("It needs {needs} on one node; alone it {would}."),
                None => format!("Alone it {would}."),
            },
        ],
    };
    sentences.extend(choice(facts, node));
    sentences
}

/// ` with gpu-0 and gpu-1 (gpu.example.com)`.
fn with_devices(claims: &[ClaimReport], node: &str) -> String {
    let mut by_source: Vec<(String, Vec<String>)> = Vec::new();
    for device in claims.iter().flat_map(|claim| &claim.devices) {
        let source = match device.pool == node {
            true => device.driver.clone(),
            false => format!("{}/{}", device.driver, device.pool),
        };
        match by_source.iter_mut().find(|(known, _)| *known == source) {
            Some((_, devices)) => devices.push(device.device.clone()),
            None => by_source.push((source, vec![device.device.clone()])),
        }
    }
    let texts: Vec<String> = by_source
        .iter()
        .map(|(source, devices)| format!("{} ({source})", some_of(devices, 16, devices.len())))
        .collect();
    match texts.is_empty() {
        true => String::new(),
        false => format!(" with {}", needs::join(&texts, " and ")),
    }
}

/// Why this node and not another that fits.
fn choice(facts: &Facts<'_>, node: &str) -> Option<String> {
    let fitting: Vec<&View> = facts
        .views
        .iter()
        .filter(|view| view.found.is_empty())
        .collect();
    let others: Vec<&str> = fitting
        .iter()
        .filter(|view| view.name != node)
        .map(|view| view.name.as_str())
        .collect();
    let refused = facts.views.len() - fitting.len();
    if others.is_empty() {
        return (refused > 0).then(|| "No other node has what it needs.".to_owned());
    }
    let score = |view: &View| {
        let document = view.document.as_ref();
        document.map_or(0, |document| document.verdict.score)
    };
    let best = fitting.iter().map(|view| score(view)).max();
    let best = best.unwrap_or_default();
    let of_best: Vec<&&View> = fitting.iter().filter(|view| score(view) == best).collect();
    let equal = of_best.len();
    let is_first = of_best.iter().map(|view| view.name.as_str()).min() == Some(node);
    let looked = facts
        .answer
        .outcome
        .as_ref()
        .map_or(0, |outcome| outcome.feasible.len());
    let why = match (equal, equal == fitting.len()) {
        // A scheduler does not look at all nodes of a large cluster.
        _ if !is_first => format!("{node} was chosen among the {looked} that were looked at"),
        (1, _) => format!("it has the highest score ({best})"),
        (_, true) => "scores are equal, and its name comes first".to_owned(),
        (_, false) => {
            format!("of the {equal} with the highest score ({best}) its name comes first")
        }
    };
    Some(format!(
        "{} would do as well: {}; {why}.",
        capital(&counted(others.len() as u64, "other node", "other nodes")),
        some_of(&others, NAMES, others.len())
    ))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn placed(facts: &Facts<'_>, node: &str) -> Vec<String> {
    let open: Vec<String> = facts
        .before
        .iter()
        .filter(|claim| claim.allocation.is_null())
        .map(|claim| claim.claim.clone().unwrap_or_else(|| claim.name.clone()))
        .collect();
    let needs = needs::sentence(facts.needs);
    let asks = |before: &str, after: &str| match &needs {
        Some(needs) => format!("{before}{needs}{after}"),
        None => String::new(),
    };
    let (first, anew) = match open.is_empty() {
        true => (
            format!(
                "{} has node {node} already{}{}.",
                facts.pod(),
                with_devices(facts.before, node),
                asks("; it needs ", "")
            ),
            "Placed anew, with its own devices free, it",
        ),
        // A scheduler allocates for the pods that it places, and nobody else does.
        false => (
            format!(
                "{} names its node itself (spec.nodeName is {node}): no scheduler looks at it, so nobody allocates {}{}. Take nodeName out and select the node by affinity.",
                facts.pod(),
                needs::join(&open, " and "),
                asks(" (", ")")
            ),
            "Placed by the scheduler it",
        ),
    };
    let mut sentences = vec![first];
    let own = facts.views.iter().find(|view| view.name == node);
    sentences.push(match own {
        None => format!("There is no node {node} in the input."),
        Some(view) if view.found.is_empty() => {
            format!("{anew} would fit on {node}.")
        }
        Some(view) => {
            let phrases = view.found.iter().map(|found| found.phrase.clone());
            format!(
                "{anew} would not fit on {node}: {}.",
                Phrase::joined(phrases, ", and ")
            )
        }
    });
    let fitting = facts.views.iter().filter(|view| view.found.is_empty());
    let others: Vec<&str> = fitting
        .filter(|view| view.name != node)
        .map(|view| view.name.as_str())
        .collect();
    sentences.push(match others.is_empty() {
        true => "No other node has what it needs.".to_owned(),
        false => format!(
            "{} would do as well: {}.",
            capital(&counted(others.len() as u64, "other node", "other nodes")),
            some_of(&others, NAMES, others.len())
        ),
    });
    sentences
}
