//! What cannot be had together on a node where everything by itself can: asked of `allocator::survey` where a search found
//! nothing, and told with names.

use crate::allocator::Progress;
use crate::allocator::survey::{Answer, Asked, Together};
use crate::host::Slot;
use crate::plugin::Instance;

use super::claims::Facts;
use super::report::{self, Reason, Report, Verdict};
use super::requests::Telling;
use super::words;

/// Devices that the searches for one node may visit, and those of a call.
const MOST_STEPS: u64 = 100_000;
pub const MOST_STEPS_TOGETHER: u64 = 2_000_000;
/// Requests, constraints and counters that are told, of each.
const MOST_TOLD: usize = 16;

impl super::OnePod<'_> {
    /// What cannot be had together, if a search came to an end without finding anything.
    pub fn together(
        &mut self,
        instance: &mut Instance,
        (slot, report): (Slot, &Report),
        progress: Option<&Progress>,
        answers: &[Vec<Answer>],
    ) -> Option<Together> {
        if progress?.exhausted.is_some() || !is_refused(&report.verdict) {
            return None;
        }
        let asked: Vec<Asked<'_>> = asked(&self.facts, answers).map(|(one, _)| one).collect();
        let profile = instance.profile().clone();
        let most = MOST_STEPS.min(self.steps_left);
        let mut left = most;
        let (survey, steps) = (&self.survey, &mut left);
        let found =
            instance
                .view
                .with_allocator_input(slot, |node, inventory, classes, selectors| {
                    let cluster = (node, inventory, classes, selectors);
                    survey.together(&asked, cluster, &profile, steps)
                });
        self.steps_left -= most - left;
        found.flatten()
    }
}

/// Whether it was the search that refused the node.
fn is_refused(verdict: &Verdict) -> bool {
    verdict.at == Some("Filter") && verdict.code.starts_with("unschedulable")
}

/// The claims that are to be allocated, and their names.
fn asked<'a>(
    facts: &'a [Facts],
    answers: &'a [Vec<Answer>],
) -> impl Iterator<Item = (Asked<'a>, String)> {
    facts.iter().zip(answers).filter_map(|(facts, answers)| {
        let claim = facts.claim.as_ref()?;
        let asked = Asked {
            claim,
            questions: facts.questions.as_ref()?,
            answers,
        };
        let name = format!("{}/{}", claim.meta.namespace, claim.meta.name);
        Some((asked, words::name(&name)))
    })
}

/// The same with names.
pub fn told(
    found: &Together,
    facts: &[Facts],
    answers: &[Vec<Answer>],
    telling: &Telling<'_>,
) -> report::Together {
    let claims: Vec<_> = asked(facts, answers).collect();
    let requests = found.requests.iter().take(MOST_TOLD);
    let requests = requests.filter_map(|(claim, group)| {
        let (asked, name) = claims.get(*claim)?;
        Some(report::Stuck {
            claim: name.clone(),
            request: words::name(&asked.claim.requests.get(*group)?.name),
        })
    });
    let constraints = found.constraints.iter().take(MOST_TOLD);
    let constraints = constraints.filter_map(|(claim, index)| {
        let (asked, name) = claims.get(*claim)?;
        let constraint = asked.questions.constraints.get(*index)?.as_ref()?;
        Some(report::Tied {
            claim: name.clone(),
            index: *index,
            attribute: words::name(constraint.attribute()),
            distinct: constraint.is_distinct(),
        })
    });
    let counters = found.counters.iter().take(MOST_TOLD);
    let counters = counters.map(|shared| {
        let mut reason = Reason {
            count: Some(shared.devices.len()),
            devices: telling.devices(&shared.devices),
            ..Reason::new("counter")
        };
        let (least, most) = shared.takes;
        telling.counter(&mut reason, shared.number, (least, most, shared.short));
        reason
    });
    report::Together {
        requests: requests.collect(),
        constraints: constraints.collect(),
        counters: counters.collect(),
        needed: found.needed,
        most: found.most,
    }
}
