//! Selectors for the allocator: CEL programs compiled once per expression, and verdicts kept per device (design section 8).
//!
//! A selector is a pure function of what it can see of a device, so its verdict holds for all pods and nodes, and for all
//! devices that look the same. What is kept is bounded: see [`SelectorCache::make_room`].

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::selectors::{
    Content, DeviceRef, ExpressionId, Recalled, SelectorError, Selectors,
};
use crate::cel::{Environment, Program, malformed};
use crate::profile::Profile;

mod device_values;
#[cfg(test)]
mod tests;

use device_values::DeviceValues;

/// Expressions kept at most. A cluster has a few dozen; the bound is for pods that each bring their own.
const EXPRESSIONS_LIMIT: usize = 1_024;

/// Verdicts kept at most, at eight bytes each: 50 expressions for 40,000 devices none of which is like another.
const VERDICTS_LIMIT: usize = 2_000_000;

/// Compiled expressions and their verdicts.
pub struct SelectorCache {
    /// Made when the first expression comes: most instances serve one binding call and never see any.
    environment: LazyCell<Environment, Box<dyn FnOnce() -> Environment>>,
    ids: BTreeMap<Arc<str>, ExpressionId>,
    expressions: Vec<Expression>,
    /// Over all expressions, entries without a verdict included.
    verdicts: usize,
    errors: BTreeMap<(ExpressionId, u32), Box<str>>,
    values: DeviceValues,
    /// Off: every question is answered anew.
    remembers: bool,
    evaluations: u64,
}

struct Expression {
    program: Result<Program, String>,
    /// By number of the content.
    verdicts: Vec<Known>,
    /// By number of the site: what was recalled of it, and at which of those that have had the number.
    sites: Vec<(u64, Recalled)>,
}

/// A verdict, and of which content that has had the number.
#[derive(Clone, Copy, Default)]
struct Known {
    birth: u32,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    #[default]
    Unknown,
    Match,
    NoMatch,
    /// The text is kept apart: there are few.
    Error,
}

impl SelectorCache {
    /// Nothing known yet. One that does not remember gives the same answers, more slowly.
    pub fn new(profile: &Profile, remembers: bool) -> Self {
        let profile = profile.clone();
        Self {
            environment: LazyCell::new(Box::new(move || Environment::new(&profile))),
            ids: BTreeMap::new(),
            expressions: Vec::new(),
            verdicts: 0,
            errors: BTreeMap::new(),
            values: DeviceValues::default(),
            remembers,
            evaluations: 0,
        }
    }

    /// Forgets everything if too many expressions came together. Ids become invalid: only between two cycles.
    pub fn make_room(&mut self) {
        if self.expressions.len() > EXPRESSIONS_LIMIT {
            self.forget_verdicts();
            self.ids.clear();
            self.expressions.clear();
        }
    }

    fn forget_verdicts(&mut self) {
        for expression in &mut self.expressions {
            expression.verdicts = Vec::new();
            expression.sites = Vec::new();
        }
        self.errors.clear();
        self.verdicts = 0;
    }

    /// What expressions and devices are made with, for those who ask why.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// How many times an expression was evaluated.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// What is remembered.
    #[inline]
    fn verdict(&self, id: ExpressionId, content: Content) -> Verdict {
        let expression = self.expressions.get(id.0 as usize);
        let known =
            expression.and_then(|expression| expression.verdicts.get(content.number as usize));
        match known {
            Some(known) if known.birth == content.birth => known.verdict,
            _ => Verdict::Unknown,
        }
    }

    fn recall_again(
        &mut self,
        id: ExpressionId,
        (number, stamp): (u32, u64),
        contents: impl Iterator<Item = Content>,
    ) -> Recalled {
        let recalled = Recalled::new(contents.map(|content| self.remembered(id, content)));
        if let Some(expression) = self.expressions.get_mut(id.0 as usize) {
            let index = number as usize;
            if expression.sites.len() <= index {
                // Three times as large as a verdict.
                self.verdicts += 3 * (index + 1 - expression.sites.len());
                expression.sites.resize(index + 1, Default::default());
            }
            expression.sites[index] = (stamp, recalled);
        }
        recalled
    }

    fn evaluate_or_fail_again(
        &mut self,
        id: ExpressionId,
        device: &DeviceRef<'_>,
    ) -> Result<bool, SelectorError> {
        match self.errors.get(&(id, device.content.number)) {
            Some(text) if self.verdict(id, device.content) == Verdict::Error => {
                Err(SelectorError::Runtime(text.to_string()))
            }
            _ => self.evaluate(id, device),
        }
    }

    fn remember(&mut self, id: ExpressionId, content: Content, verdict: &Result<bool, String>) {
        if !self.remembers {
            return;
        }
        if self.verdicts > VERDICTS_LIMIT {
            self.forget_verdicts();
        }
        let Some(expression) = self.expressions.get_mut(id.0 as usize) else {
            return;
        };
        let index = content.number as usize;
        if expression.verdicts.len() <= index {
            self.verdicts += index + 1 - expression.verdicts.len();
            expression.verdicts.resize(index + 1, Known::default());
        }
        let verdict = match verdict {
            Ok(true) => Verdict::Match,
            Ok(false) => Verdict::NoMatch,
            Err(text) => {
                self.errors
                    .insert((id, content.number), text.as_str().into());
                Verdict::Error
            }
        };
        expression.verdicts[index] = Known {
            birth: content.birth,
            verdict,
        };
    }

    fn evaluate(
        &mut self,
        id: ExpressionId,
        device: &DeviceRef<'_>,
    ) -> Result<bool, SelectorError> {
        let Some(expression) = self.expressions.get(id.0 as usize) else {
            return Err(SelectorError::Runtime("selector is not known".into()));
        };
        let program = match &expression.program {
            Ok(program) => program,
            Err(text) => return Err(SelectorError::Compile(text.clone())),
        };
        // `device.driver == "literal"` decides without a conversion.
        let other_driver = |driver: &str| *driver != **device.driver;
        let verdict = if program.required_driver().is_some_and(other_driver)
            && malformed(device.device).is_none()
        {
            Ok(false)
        } else {
            self.evaluations += 1;
            let value = self.values.get(&self.environment, device, self.remembers);
            program.matches(&value).map_err(|error| error.to_string())
        };
        self.remember(id, device.content, &verdict);
        verdict.map_err(SelectorError::Runtime)
    }
}

impl Selectors for SelectorCache {
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId {
        if let Some(id) = self.ids.get(text).filter(|_| self.remembers) {
            return *id;
        }
        let id = ExpressionId(u32::try_from(self.expressions.len()).unwrap_or(u32::MAX));
        let program = self
            .environment
            .compile(text)
            .map_err(|error| error.to_string());
        self.expressions.push(Expression {
            program,
            verdicts: Vec::new(),
            sites: Vec::new(),
        });
        self.ids.insert(Arc::clone(text), id);
        id
    }

    #[inline]
    fn matches(&mut self, id: ExpressionId, device: DeviceRef<'_>) -> Result<bool, SelectorError> {
        match self.verdict(id, device.content) {
            Verdict::Match => Ok(true),
            Verdict::NoMatch => Ok(false),
            Verdict::Error | Verdict::Unknown => self.evaluate_or_fail_again(id, &device),
        }
    }

    #[inline]
    fn remembered(&self, id: ExpressionId, content: Content) -> Option<bool> {
        match self.verdict(id, content) {
            Verdict::Match => Some(true),
            Verdict::NoMatch => Some(false),
            Verdict::Error | Verdict::Unknown => None,
        }
    }

    #[inline]
    fn recall<C: Iterator<Item = Content>>(
        &mut self,
        id: ExpressionId,
        (number, stamp): (u32, u64),
        anew: bool,
        contents: impl FnOnce() -> C,
    ) -> Recalled {
        let expression = self.expressions.get(id.0 as usize);
        let kept = expression.and_then(|expression| expression.sites.get(number as usize));
        match kept {
            Some((at, recalled)) if *at == stamp && !anew => *recalled,
            _ => self.recall_again(id, (number, stamp), contents()),
        }
    }
}
