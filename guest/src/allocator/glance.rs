//! Decides a node at a glance: whether a search would find something, told from sets that are kept from pod to pod, for plain
//! requests at simple nodes (see `inventory::sites`). Where the sets do not say for certain what the search would say, there is
//! no answer, and the search decides.
//!
//! *No.* The first want, or the first two together, match fewer free devices than they need, and all that could be evaluated on
//! the way is known: the search evaluates nothing for the third want before it has something for the first two.
//!
//! *Yes.* The first device that is not known not to match is known to match, for each device that is wanted: this is the first
//! path of the search. Or there are at most two wants, all is known, and there are enough devices for each and for both: then
//! there is a solution (Hall), and the search, which counts in the same way before each step, comes to it within a few
//! thousand steps.
//!
//! *Equal values.* With one constraint that covers at most two wants the same holds within some set of devices with equal values.

use super::inventory::Inventory;
use super::inventory::sites::{GroupsAt, Site};
use super::requests::{Plan, Selector};
use super::selectors::{ExpressionId, Selectors};

/// Fewer steps than these might not be enough for the search.
pub(crate) const ENOUGH_STEPS: u64 = 1 << 16;
/// Wants at most.
const WANTS: usize = 4;

/// What a pod wants, if sets can say whether it gets that.
#[derive(Debug)]
pub(crate) struct Glance {
    wants: Box<[Want]>,
    /// There is one constraint, which covers all wants: where the groups of its attribute are.
    groups: Option<GroupsAt>,
}

#[derive(Debug)]
struct Want {
    needed: u32,
    expressions: Box<[ExpressionId]>,
}

impl Glance {
    /// `None`: too much is asked for.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let is_special = plan.has_all || plan.has_admin || plan.has_alternatives;
        if is_special || !plan.checks.is_empty() {
            return None;
        }
        let requests = plan.requests.iter();
        let wanted = requests.filter(|request| request.count.is_some_and(|count| count > 0));
        let wants: Option<Box<[Want]>> = wanted
            .clone()
            .map(|request| {
                let expression = |selector: &Selector| selector.expression;
                Some(Want {
                    needed: u32::try_from(request.count?).ok()?,
                    expressions: request
                        .selectors
                        .iter()
                        .map(expression)
                        .collect::<Option<_>>()?,
                })
            })
            .collect();
        let wants = wants.filter(|wants| (1..=WANTS).contains(&wants.len()))?;
        let groups = match &plan.constraints[..] {
            [] => None,
            [constraint] => {
                let mut covered = wanted.map(|request| request.covered_by.len());
                let simple = !constraint.is_distinct() && wants.len() <= 2;
                if !simple || !covered.all(|constraints| constraints == 1) {
                    return None;
                }
                Some(GroupsAt::default())
            }
            _ => return None,
        };
        Some(Self { wants, groups })
    }

    /// Whether the search would find something at the site, if that is certain.
    #[inline]
    pub(crate) fn decide(
        &self,
        site: Site,
        plan: &Plan,
        inventory: &Inventory,
        selectors: &mut impl Selectors,
    ) -> Option<bool> {
        let mut decide = |anew| {
            self.decide_by(site, plan, inventory, |want: &Want| {
                want.recall(site, inventory, selectors, anew)
            })
        };
        decide(false).or_else(|| decide(true))
    }

    #[inline]
    fn decide_by(
        &self,
        site: Site,
        plan: &Plan,
        inventory: &Inventory,
        mut recall: impl FnMut(&Want) -> Known,
    ) -> Option<bool> {
        let mut wants = [Known::default(); WANTS];
        let wants = &mut wants[..self.wants.len()];
        for (known, want) in wants.iter_mut().zip(&self.wants) {
            *known = recall(want);
        }
        let Some(at) = &self.groups else {
            return counted(wants, site.free).or_else(|| first_path(wants, site.free));
        };
        // What is not known might be an error.
        if wants.iter().any(|want| site.free & !want.known != 0) {
            return None;
        }
        let constraint = plan.constraints.first()?;
        inventory.any_group(site, constraint, at, |group| {
            counted(wants, site.free & group) == Some(true)
        })
    }
}

/// What is known of the devices of a site for one want.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    needed: u32,
    known: u64,
    matching: u64,
}

impl Want {
    #[inline]
    fn recall(
        &self,
        site: Site,
        inventory: &Inventory,
        selectors: &mut impl Selectors,
        anew: bool,
    ) -> Known {
        let (mut known, mut matching) = (u64::MAX, u64::MAX);
        for &expression in &self.expressions {
            let contents = || inventory.contents_at(site.number);
            let at = (site.number, site.stamp);
            let recalled = selectors.recall(expression, at, anew, contents);
            // One that is known not to match is not looked at again.
            known &= !matching | recalled.known;
            matching &= recalled.matching;
        }
        Known {
            needed: self.needed,
            known,
            matching,
        }
    }
}

/// Counts for the first wants.
#[inline]
fn counted(wants: &[Known], free: u64) -> Option<bool> {
    let (mut union, mut needed) = (0, 0);
    for want in wants.iter().take(2) {
        if free & !want.known != 0 {
            return None;
        }
        let own = free & want.matching;
        union |= own;
        needed += want.needed;
        if own.count_ones() < want.needed || union.count_ones() < needed {
            return Some(false);
        }
    }
    (wants.len() <= 2).then_some(true)
}

/// The search without ever going back.
fn first_path(wants: &[Known], mut free: u64) -> Option<bool> {
    for want in wants {
        let mut open = free & (!want.known | want.matching);
        for _ in 0..want.needed {
            let first = open & open.wrapping_neg();
            if first & want.known == 0 {
                return None;
            }
            open &= !first;
            free &= !first;
        }
    }
    Some(true)
}
