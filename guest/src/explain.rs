//! Why a pod may not run on a node: the contract's `explain`. Structured facts as `guest/schemas/explain.schema.json` has them.
//!
//! Two parts that cannot disagree. The verdict comes from the functions that decide in a cycle, on a state that is thrown away;
//! how its search went, from the observer of [`crate::allocator::Observer`]. The survey afterwards looks at all that the node
//! reaches (`allocator::survey`), and changes nothing. Nothing is written, and nothing but caches is kept.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::selectors::Selectors;
use crate::allocator::survey::{self, Answer, PoolFacts, Survey, Together};
use crate::allocator::{Outcome, Progress, Watcher};
use crate::api::{AllocationResult, Node, Pod};
use crate::cycle::{Scope, State};
use crate::extension_points::{filter, pre_enqueue, pre_filter};
use crate::host::{Host, Slot};
use crate::plugin::Instance;
use crate::status::{Code, Status};

mod claims;
mod holders;
mod pools;
pub mod report;
mod requests;
mod selectors;
#[cfg(test)]
mod tests;
mod together;
mod words;

use self::selectors::{Expressions, Published};
use claims::Facts;
use holders::Holders;
use report::{Claim, Constraint, Group, Pick, Reason, Report, Search, Stuck, Unreachable, Verdict};
use requests::Telling;

/// Values of a constraint that are told.
const MOST_GROUPS: usize = 16;
/// Constraints of a claim that are told.
const MOST_CONSTRAINTS: usize = 32;
/// Requests of a constraint that are told.
const MOST_COVERED: usize = 32;
/// Pools and drivers that are told of a node.
const MOST_POOLS: usize = 128;
/// Devices times requests that are looked at on one node; beyond that requests are left out.
const MOST_WORK: usize = 1 << 17;
/// Bytes that are told of requests, for one node and for all of a call: beyond that reasons lose their details. The host takes
/// 64 MiB for a call.
const MOST_BYTES: usize = 1 << 20;
const MOST_BYTES_TOGETHER: usize = 40 << 20;

/// A pod that could not even be read, or not be judged: the same for every node.
pub fn refused(status: &Status, nodes: &[String]) -> Vec<Report> {
    let verdict = match status.is_success() {
        true => accepted(),
        false => refusal("PreEnqueue", status),
    };
    let report = |node: &String| Report {
        node: node.clone(),
        verdict: verdict.clone(),
        ..Report::default()
    };
    nodes.iter().map(report).collect()
}

/// What is decided about the pod on each node, and why.
pub fn explain(
    instance: &mut Instance,
    host: &dyn Host,
    pod: &Pod,
    nodes: &[String],
) -> Vec<Report> {
    let mut state = State::default();
    let enqueue = pre_enqueue::pre_enqueue(instance, host, pod);
    let early = if enqueue.is_success() {
        match pre_filter::pre_filter(instance, host, pod, &mut state) {
            Scope::AllNodes => None,
            Scope::Skip => Some(accepted()),
            Scope::Rejected(status) => Some(refusal("PreFilter", &status)),
        }
    } else {
        Some(refusal("PreEnqueue", &enqueue))
    };
    let facts = claims::all(instance, host, pod);
    let mut pod = OnePod {
        host,
        early,
        state,
        facts,
        survey: Survey::new(instance.profile()),
        expressions: Expressions::default(),
        holders: OnceCell::new(),
        drivers: pools::drivers(&instance.view.inventory),
        bytes_left: MOST_BYTES_TOGETHER,
        steps_left: together::MOST_STEPS_TOGETHER,
    };
    claims::ask(&mut pod.facts, instance);
    nodes
        .iter()
        .map(|node| pod.explain(instance, node))
        .collect()
}

fn accepted() -> Verdict {
    Verdict {
        code: words::code(Code::Success),
        ..Verdict::default()
    }
}

fn refusal(at: &'static str, status: &Status) -> Verdict {
    Verdict {
        at: Some(at),
        code: words::code(status.code),
        message: words::message(&status.reasons.join(", ")),
        ..Verdict::default()
    }
}

/// A pod on one node after another.
struct OnePod<'a> {
    host: &'a dyn Host,
    /// What was decided before any node was looked at.
    early: Option<Verdict>,
    state: State,
    facts: Vec<Facts>,
    survey: Survey,
    expressions: Expressions,
    holders: OnceCell<Holders>,
    /// What is to be told of the slices of a driver if the node reaches none of them.
    drivers: BTreeMap<Arc<str>, Vec<Unreachable>>,
    /// Of [`MOST_BYTES_TOGETHER`].
    bytes_left: usize,
    /// Of [`together::MOST_STEPS_TOGETHER`].
    steps_left: u64,
}

impl OnePod<'_> {
    fn explain(&mut self, instance: &mut Instance, name: &str) -> Report {
        let slot = instance.view.slot_of_node(name);
        let (verdict, progress) = self.verdict(instance, name, slot);
        let mut report = Report {
            node: words::name(name),
            verdict,
            search: progress.as_ref().map(search),
            ..Report::default()
        };
        let node = slot.and_then(|slot| instance.view.node(slot)).cloned();
        let node = slot.zip(node.as_ref());
        self.tell_claims(instance, node, progress.as_ref(), &mut report);
        report
    }

    /// What a cycle would decide.
    fn verdict(
        &mut self,
        instance: &mut Instance,
        name: &str,
        slot: Option<Slot>,
    ) -> (Verdict, Option<Progress>) {
        let Some(slot) = slot else {
            let status = Status::error(format!("node {name} is not known"));
            return (refusal("Filter", &status), None);
        };
        if let Some(early) = &self.early {
            return (early.clone(), None);
        }
        let (host, state) = (self.host, &mut self.state);
        let mut watcher = Watcher::default();
        let status = filter::filter_node(instance, host, state, slot, &mut watcher);
        if !status.is_success() {
            return (refusal("Filter", &status), watcher.progress);
        }
        let mut verdict = accepted();
        verdict.score = state.scores.get(&slot).copied().unwrap_or_default();
        if let Some(allocator) = &mut state.allocator
            && let Outcome::Allocated(results) = instance.allocate(allocator, slot)
        {
            let named = allocator.claims().iter().map(|claim| &claim.meta);
            let named = named.map(|meta| format!("{}/{}", meta.namespace, meta.name));
            verdict.devices = Some(named.zip(&results).flat_map(picks).collect());
        }
        (verdict, watcher.progress)
    }

    fn tell_claims(
        &mut self,
        instance: &mut Instance,
        node: Option<(Slot, &Node)>,
        progress: Option<&Progress>,
        report: &mut Report,
    ) {
        let mut claims: Vec<Claim> = self
            .facts
            .iter()
            .map(|facts| facts.on(node.map(|(_, node)| node), &self.state))
            .collect();
        if let Some((slot, node)) = node {
            let profile = instance.profile().clone();
            let inventory = &instance.view.inventory;
            let gathered = self.survey.gather(node, inventory, &profile);
            let invalid = inventory.invalid_for(node).map(str::to_owned);
            for problem in gathered.err().iter().chain(&invalid) {
                for claim in claims.iter_mut().filter(|claim| claim.state == "pending") {
                    claim.reasons.push(Reason::text("invalid-object", problem));
                }
            }
            let pools = self.survey.pools(inventory, &profile);
            report.unreachable = self.unreachable(&pools);
            report.pools = pools.iter().take(MOST_POOLS).map(pools::told).collect();
            let answers = self.answers(instance);
            let together = self.together(instance, (slot, report), progress, &answers);
            report.together = self.tell_requests(instance, &answers, together, &mut claims);
        }
        if let Some((claim, request)) = progress.and_then(|progress| progress.exhausted.as_ref()) {
            tell_budget(
                claim,
                request,
                progress.map_or(0, |progress| progress.steps),
                &mut claims,
            );
        }
        report.claims = claims;
    }

    /// What the requests of each claim find.
    fn answers(&self, instance: &mut Instance) -> Vec<Vec<Answer>> {
        let profile = instance.profile().clone();
        let view = &mut instance.view;
        let (inventory, selectors): (_, &mut dyn Selectors) =
            (&view.inventory, &mut view.selectors);
        let mut work = 0;
        let answers = self.facts.iter().map(|facts| {
            let Some(claim) = &facts.questions else {
                return Vec::new();
            };
            work += self.survey.looked() * claim.requests.len();
            if work > MOST_WORK {
                return Vec::new();
            }
            let questions = claim.requests.iter();
            let answers = questions.map(|question| {
                self.survey
                    .answer(claim, question, inventory, selectors, &profile)
            });
            answers.collect()
        });
        answers.collect()
    }

    fn tell_requests(
        &mut self,
        instance: &Instance,
        answers: &[Vec<Answer>],
        together: Option<Together>,
        claims: &mut [Claim],
    ) -> Option<report::Together> {
        let (view, profile) = (&instance.view, instance.profile());
        let (host, holders) = (self.host, &self.holders);
        self.expressions.turn();
        let mut telling = Telling {
            survey: &self.survey,
            inventory: &view.inventory,
            environment: view.selectors.environment(),
            expressions: &mut self.expressions,
            published: Published::new(&self.survey, &view.inventory),
            is_brief: false,
            holders: &|| holders.get_or_init(|| Holders::new(view, host, profile)),
        };
        let most = MOST_BYTES.min(self.bytes_left);
        let mut left = most;
        for ((facts, answers), told) in self.facts.iter().zip(answers).zip(claims) {
            let Some(claim) = &facts.questions else {
                continue;
            };
            for (question, answer) in claim.requests.iter().zip(answers) {
                let mut request = telling.request(claim, question, answer);
                if !telling.is_brief {
                    match left.checked_sub(request.size()) {
                        Some(rest) => left = rest,
                        None => {
                            telling.is_brief = true;
                            request.shorten();
                        }
                    }
                }
                told.requests.push(request);
            }
            for index in 0..claim.constraints.len().min(MOST_CONSTRAINTS) {
                let survey = telling.survey;
                if answers.is_empty() {
                    break;
                }
                let found = survey.conflict(claim, index, answers, &view.inventory, profile);
                let Some(mut one) =
                    found.and_then(|found| constraint(claim, index, found, &telling))
                else {
                    continue;
                };
                match left.checked_sub(one.size()) {
                    Some(rest) if !telling.is_brief => left = rest,
                    _ => one.shorten(),
                }
                told.constraints.push(one);
            }
            let least = survey::least(claim, answers);
            if least > survey::MOST_DEVICES as u64 {
                told.reasons.push(Reason {
                    needed: i64::try_from(least).ok(),
                    have: Some(survey::MOST_DEVICES),
                    ..Reason::new("too-many-devices")
                });
            }
        }
        self.bytes_left -= most - left;
        together.map(|found| together::told(&found, &self.facts, answers, &telling))
    }

    fn unreachable(&self, pools: &[PoolFacts]) -> Vec<Unreachable> {
        let reaches = |driver: &Arc<str>| pools.iter().any(|pool| pool.driver == *driver);
        let drivers = self.drivers.iter().filter(|(driver, _)| !reaches(driver));
        let all = drivers.flat_map(|(_, told)| told.iter().cloned());
        all.take(MOST_POOLS).collect()
    }
}

fn search(progress: &Progress) -> Search {
    Search {
        steps: progress.steps,
        limit: progress.limit,
        exhausted: progress.exhausted.is_some(),
        placed: progress.placed,
        stuck: progress.stuck.as_ref().map(|(claim, request)| Stuck {
            claim: words::name(claim),
            request: words::name(request),
        }),
    }
}

fn tell_budget(claim: &str, request: &str, steps: u64, claims: &mut [Claim]) {
    let (claim, request) = (words::name(claim), words::name(request));
    let mut claims = claims.iter_mut();
    if let Some(told) = claims.find(|told| told.claim.as_ref() == Some(&claim)) {
        let reason = Reason {
            steps: Some(steps),
            ..Reason::new("budget")
        };
        let mut requests = told.requests.iter_mut();
        match requests.find(|one| one.name == request) {
            Some(one) => one.reasons.push(reason),
            None => told.reasons.push(reason),
        }
    }
}

fn picks((claim, result): (String, &AllocationResult)) -> Vec<Pick> {
    let results = result.results.iter();
    let pick = results.map(|device| Pick {
        claim: words::name(&claim),
        request: words::name(&device.request),
        driver: words::name(&device.driver),
        pool: words::name(&device.pool),
        device: words::name(&device.device),
        admin_access: device.admin_access,
    });
    pick.collect()
}

fn constraint(
    claim: &survey::ClaimQuestions,
    index: usize,
    found: survey::Conflict,
    telling: &Telling<'_>,
) -> Option<Constraint> {
    let given = claim.constraints.get(index)?.as_ref()?;
    let covered = found
        .covered
        .iter()
        .filter_map(|index| claim.requests.get(*index))
        .take(MOST_COVERED);
    let groups = found.groups.into_iter().take(MOST_GROUPS);
    Some(Constraint {
        index,
        attribute: words::name(given.attribute()),
        distinct: given.is_distinct(),
        requests: covered
            .map(|question| words::name(&question.name))
            .collect(),
        needed: found.needed,
        groups: groups
            .map(|group| Group {
                value: group.value.as_deref().map(words::name),
                free: group.free,
                requests: group.by_request.into_iter().take(MOST_COVERED).collect(),
            })
            .collect(),
        largest: found.largest,
        blocks: found.blocks,
        nearest: found.nearest.map(|nearest| report::Nearest {
            value: words::name(&nearest.value),
            have: nearest.have,
            held: telling.in_use(&nearest.in_use),
        }),
    })
}
