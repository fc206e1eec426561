//! What a request finds on a node, as the answer tells it: devices grouped by the reason that keeps them from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::Inventory;
use crate::allocator::survey::{Answer, ClaimQuestions, Fate, Question, Survey};
use crate::api::DeviceTaint;
use crate::cel::Environment;

use super::holders::{DeviceName, Holders};
use super::report::{Counter, Reason, Request, Taint};
use super::selectors::{Expressions, Published};
use super::words;

/// Devices that a reason names: all of a slice.
const MOST_DEVICES: usize = 128;
/// Reasons that are told beside one.
const MOST_BESIDE: usize = 8;
/// Reasons that differ in more than type and index.
const MOST_KINDS: usize = 32;

/// What all requests on one node are told with.
pub struct Telling<'a> {
    pub survey: &'a Survey,
    pub inventory: &'a Inventory,
    pub environment: &'a Environment,
    pub expressions: &'a mut Expressions,
    pub published: Published<'a>,
    /// Only what is counted is told any more.
    pub is_brief: bool,
    /// Made when a device in use is met.
    pub holders: &'a dyn Fn() -> &'a Holders,
}

/// Devices with one reason; the order is that of the schema's types.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    kind: Kind,
    /// Of a selector, a counter or a constraint.
    index: usize,
    /// What else tells reasons apart.
    text: String,
    part: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    ContentMissing,
    OtherNodes,
    ClassSelector,
    RequestSelector,
    ClassSelectorError,
    RequestSelectorError,
    PoolIncomplete,
    PoolInvalid,
    Taint,
    InUse,
    Counter,
    ConstraintAlone,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::ContentMissing => "content-missing",
            Kind::OtherNodes => "other-nodes",
            Kind::ClassSelector => "class-selector",
            Kind::RequestSelector => "request-selector",
            Kind::ClassSelectorError => "class-selector-error",
            Kind::RequestSelectorError => "request-selector-error",
            Kind::PoolIncomplete => "pool-incomplete",
            Kind::PoolInvalid => "pool-invalid",
            Kind::Taint => "taint",
            Kind::InUse => "in-use",
            Kind::Counter => "counter",
            Kind::ConstraintAlone => "constraint-alone",
        }
    }
}

impl Telling<'_> {
    /// A request with what it found.
    pub fn request(
        &mut self,
        claim: &ClaimQuestions,
        question: &Question,
        answer: &Answer,
    ) -> Request {
        let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (position, fate) in answer.fates.iter().enumerate() {
            let Some(mut key) = self.key(question, position, fate) else {
                continue;
            };
            if groups.len() >= MOST_KINDS && !groups.contains_key(&key) {
                (key.text, key.part) = (String::new(), None);
            }
            groups.entry(key).or_default().push(position);
        }
        let mut reasons: Vec<Reason> = groups
            .iter()
            .map(|(key, positions)| Reason {
                also: self.beside(question, answer, key, positions),
                ..self.reason(claim, question, answer, key, positions)
            })
            .collect();
        reasons.extend(in_all(question, answer, self));
        Request {
            name: words::name(&question.name),
            class: words::name(&question.class),
            count: question.count,
            admin_access: question.admin,
            looked: answer.fates.len(),
            matching: answer.matching,
            free: answer.free,
            missing: answer.missing,
            reasons,
        }
    }

    fn key(&mut self, question: &Question, position: usize, fate: &Fate) -> Option<Key> {
        let key = |kind, index, text| Key {
            kind,
            index,
            text,
            part: None,
        };
        Some(match fate {
            Fate::Free => return None,
            Fate::ContentMissing => key(Kind::ContentMissing, 0, String::new()),
            Fate::OtherNodes => key(Kind::OtherNodes, 0, String::new()),
            Fate::Selector(index) => {
                let (of_class, at, text) = question.selector(*index)?;
                let kind = match of_class {
                    true => Kind::ClassSelector,
                    false => Kind::RequestSelector,
                };
                let part = text.and_then(|text| self.refusing(text, position, false));
                Key {
                    part,
                    ..key(kind, at, String::new())
                }
            }
            Fate::SelectorError(index, message) => {
                let (of_class, at, text) = question.selector(*index)?;
                let kind = match of_class {
                    true => Kind::ClassSelectorError,
                    false => Kind::RequestSelectorError,
                };
                let part = text.and_then(|text| self.refusing(text, position, true));
                Key {
                    part,
                    ..key(kind, at, message.clone())
                }
            }
            Fate::PoolIncomplete => key(Kind::PoolIncomplete, 0, self.pool(position)),
            Fate::PoolInvalid => key(Kind::PoolInvalid, 0, self.pool(position)),
            Fate::Taint(index) => {
                let taint = self.survey.taints_of(position).get(*index)?;
                let rule = self.rule(position, taint).unwrap_or_default();
                let effect = taint.effect.name();
                let text = format!("{}={}:{effect}/{rule}", taint.key, taint.value);
                key(Kind::Taint, *index, text)
            }
            Fate::InUse => key(Kind::InUse, 0, String::new()),
            Fate::Counter(counter, _) => key(Kind::Counter, *counter as usize, String::new()),
            Fate::ConstraintAlone(index) => key(Kind::ConstraintAlone, *index, String::new()),
        })
    }

    /// What else keeps tainted devices from a request.
    fn beside(
        &mut self,
        question: &Question,
        answer: &Answer,
        key: &Key,
        positions: &[usize],
    ) -> Vec<Reason> {
        let mut groups: BTreeMap<Key, (Fate, Vec<usize>)> = BTreeMap::new();
        for &position in positions {
            let Fate::Taint(told) = answer.fates[position] else {
                continue;
            };
            if self.is_brief || key.kind != Kind::Taint {
                break;
            }
            for fate in self.survey.beside(question, position, told, self.inventory) {
                let Some(key) = self.key(question, position, &fate) else {
                    continue;
                };
                if groups.len() < MOST_BESIDE || groups.contains_key(&key) {
                    let group = groups.entry(key).or_insert((fate, Vec::new()));
                    group.1.push(position);
                }
            }
        }
        let told = groups.values().map(|(fate, positions)| match fate {
            Fate::Taint(index) => self.tainted(*index, positions),
            _ => self.in_use(positions),
        });
        told.collect()
    }

    /// Devices whose taint with this number is the same.
    fn tainted(&self, index: usize, positions: &[usize]) -> Reason {
        let taint = self.survey.taints_of(positions[0]).get(index);
        Reason {
            count: Some(positions.len()),
            devices: self.devices(positions),
            taint: taint.map(|taint| Taint {
                key: words::name(&taint.key),
                value: words::name(&taint.value),
                effect: taint.effect.name(),
                rule: self.rule(positions[0], taint).map(words::name),
            }),
            ..Reason::new(Kind::Taint.name())
        }
    }

    fn refusing(&mut self, expression: &Arc<str>, position: usize, failed: bool) -> Option<usize> {
        if self.is_brief {
            return None;
        }
        let found = (position, self.survey.found(position, self.inventory));
        self.expressions
            .refusing(self.environment, expression, found, failed)
    }

    fn pool(&self, position: usize) -> String {
        let slice = self.survey.found(position, self.inventory).slice;
        words::name(&format!("{}/{}", slice.driver, slice.pool))
    }

    fn rule(&self, position: usize, taint: &DeviceTaint) -> Option<&str> {
        let found = self.survey.found(position, self.inventory);
        self.inventory.rule_of(taint, found.slice, found.device)
    }

    fn reason(
        &mut self,
        claim: &ClaimQuestions,
        question: &Question,
        answer: &Answer,
        key: &Key,
        positions: &[usize],
    ) -> Reason {
        if self.is_brief {
            return counted(answer, key, positions);
        }
        let first = positions[0];
        let mut reason = Reason {
            count: Some(positions.len()),
            devices: self.devices(positions),
            ..Reason::new(key.kind.name())
        };
        match (key.kind, &answer.fates[first]) {
            (_, Fate::Selector(index)) => {
                self.selector(&mut reason, question, *index, key, positions)
            }
            (_, Fate::SelectorError(index, message)) => {
                reason.message = Some(words::message(message));
                self.selector(&mut reason, question, *index, key, positions);
            }
            (Kind::PoolIncomplete | Kind::PoolInvalid, _) => reason.pool = Some(self.pool(first)),
            (_, Fate::Taint(index)) => reason = self.tainted(*index, positions),
            (Kind::InUse, _) => reason = self.in_use(positions),
            (_, Fate::Counter(counter, _)) => {
                let needed = positions
                    .iter()
                    .filter_map(|at| answer.fates.get(*at)?.needed());
                let needed: Vec<i128> = needed.collect();
                let least = needed.iter().min().copied().unwrap_or_default();
                let most = needed.iter().max().copied().unwrap_or_default();
                let facts = self.survey.counter(*counter, self.inventory);
                let left = facts.and_then(|facts| facts.left);
                let short = left.map_or(0, |left| least - left);
                self.counter(&mut reason, *counter, (least, most, short));
            }
            (_, Fate::ConstraintAlone(index)) => {
                let constraint = claim.constraints.get(*index).and_then(Option::as_ref);
                reason.index = Some(*index);
                reason.attribute = constraint.map(|one| words::name(one.attribute()));
            }
            _ => {}
        }
        reason
    }

    /// Devices by name, as many as are told.
    pub fn devices(&self, positions: &[usize]) -> Vec<String> {
        let devices = positions.iter().take(MOST_DEVICES);
        devices
            .map(|position| words::name(&self.survey.found(*position, self.inventory).to_string()))
            .collect()
    }

    fn name(&self, position: usize) -> DeviceName {
        let found = self.survey.found(position, self.inventory);
        [&found.slice.driver, &found.slice.pool, &found.device.name].map(Arc::clone)
    }

    fn selector(
        &self,
        reason: &mut Reason,
        question: &Question,
        index: usize,
        key: &Key,
        positions: &[usize],
    ) {
        let Some((of_class, at, text)) = question.selector(index) else {
            return;
        };
        reason.index = Some(at);
        reason.class = of_class.then(|| words::name(&question.class));
        let Some(text) = text else { return };
        reason.expression = Some(words::expression(text));
        let Some(part) = key.part.and_then(|part| self.expressions.part(text, part)) else {
            return;
        };
        let failed = reason.message.is_some();
        reason.part = Some(words::expression(&part.text));
        reason.values = self.published.seen_by(part, positions);
        reason.hints = self.published.hints(part, positions, failed);
    }

    /// Tells of a counter: what it has, what devices take of it at least and at most, and who holds some.
    pub fn counter(
        &self,
        reason: &mut Reason,
        counter: u32,
        (least, most, short): (i128, i128, i128),
    ) {
        let Some(facts) = self.survey.counter(counter, self.inventory) else {
            return;
        };
        reason.pool = Some(words::name(&facts.pool));
        reason.counter = Some(Counter {
            set: words::name(&facts.set),
            name: words::name(&facts.name),
            needed: words::quantity(least),
            needed_at_most: (most > least).then(|| words::quantity(most)),
            left: words::quantity(facts.left.unwrap_or(0)),
            total: words::quantity(facts.total),
            short: (short > 0).then(|| words::quantity(short)),
        });
        reason.holders = (self.holders)().of(facts.held.iter());
    }

    /// Devices in use and who holds them.
    pub fn in_use(&self, positions: &[usize]) -> Reason {
        let names = positions.iter().map(|position| self.name(*position));
        let names: Vec<DeviceName> = names.collect();
        Reason {
            count: Some(positions.len()),
            devices: self.devices(positions),
            holders: (self.holders)().of(names.iter()),
            ..Reason::new("in-use")
        }
    }
}

/// A reason without what is only shown.
fn counted(answer: &Answer, key: &Key, positions: &[usize]) -> Reason {
    let has_index = matches!(
        answer.fates[positions[0]],
        Fate::Selector(_) | Fate::SelectorError(..) | Fate::ConstraintAlone(_)
    );
    Reason {
        count: Some(positions.len()),
        index: has_index.then_some(key.index),
        ..Reason::new(key.kind.name())
    }
}

/// Reasons of the request as a whole.
fn in_all(question: &Question, answer: &Answer, telling: &Telling<'_>) -> Option<Reason> {
    if answer.missing == 0 {
        return None;
    }
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Some(match question.count {
        Some(count) => Reason {
            needed: Some(count),
            have: Some(number(answer.free as u64)),
            ..Reason::new("short")
        },
        None if answer.bad_pool.is_some() || !answer.spoilers.is_empty() => Reason {
            pool: answer.bad_pool.as_deref().map(words::name),
            devices: telling.devices(&answer.spoilers),
            needed: Some(number(answer.takes)),
            have: Some(number(answer.free as u64)),
            ..Reason::new("all-spoiled")
        },
        None => Reason::new("all-without-device"),
    })
}
