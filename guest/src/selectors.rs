//! Selectors for the allocator: CEL programs compiled once per expression, and verdicts kept per device (design section 8).
//!
//! A selector is a pure function of the device, so its verdict holds for all pods and nodes until the slice changes. What is
//! kept is bounded: see [`SelectorCache::make_room`].

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::selectors::{DeviceRef, ExpressionId, SelectorError, Selectors};
use crate::cel::{Environment, Program, malformed};
use crate::profile::Profile;

mod device_values;
#[cfg(test)]
mod tests;

use device_values::DeviceValues;

/// Expressions kept at most. A cluster has a few dozen; the bound is for pods that each bring their own.
const EXPRESSIONS_LIMIT: usize = 1_024;

/// Compiled expressions and their verdicts.
pub struct SelectorCache {
    /// Made when the first expression comes: most instances serve one binding call and never see any.
    environment: LazyCell<Environment, Box<dyn FnOnce() -> Environment>>,
    ids: BTreeMap<Arc<str>, ExpressionId>,
    expressions: Vec<Expression>,
    values: DeviceValues,
    evaluations: u64,
}

struct Expression {
    program: Result<Program, String>,
    /// By slot of the slice.
    rows: Vec<Row>,
}

/// Verdicts for the devices of one slice.
#[derive(Default)]
struct Row {
    /// Of the slice; another one means that the verdicts are stale.
    version: u64,
    verdicts: Vec<Verdict>,
}

#[derive(Clone, Default)]
enum Verdict {
    #[default]
    Unknown,
    Match,
    NoMatch,
    Error(Box<str>),
}

impl SelectorCache {
    /// Nothing known yet.
    pub fn new(profile: &Profile) -> Self {
        let profile = profile.clone();
        Self {
            environment: LazyCell::new(Box::new(move || Environment::new(&profile))),
            ids: BTreeMap::new(),
            expressions: Vec::new(),
            values: DeviceValues::default(),
            evaluations: 0,
        }
    }

    /// Forgets everything if too many expressions came together. Ids become invalid: only between two cycles.
    pub fn make_room(&mut self) {
        if self.expressions.len() > EXPRESSIONS_LIMIT {
            self.ids.clear();
            self.expressions.clear();
        }
    }

    /// The slice in this slot is another one now.
    pub fn forget_slice(&mut self, slot: u32) {
        for expression in &mut self.expressions {
            if let Some(row) = expression.rows.get_mut(slot as usize) {
                *row = Row::default();
            }
        }
        self.values.forget(slot);
    }

    /// All slots were given away anew.
    pub fn forget_slices(&mut self) {
        for expression in &mut self.expressions {
            expression.rows = Vec::new();
        }
        self.values = DeviceValues::default();
    }

    /// What expressions and devices are made with, for those who ask why.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// How many times an expression was evaluated.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    fn evaluate(&mut self, id: ExpressionId, device: &DeviceRef<'_>) -> Verdict {
        let Some(expression) = self.expressions.get(id.0 as usize) else {
            return Verdict::Error("selector is not known".into());
        };
        let Ok(program) = &expression.program else {
            return Verdict::Unknown;
        };
        // `device.driver == "literal"` decides without a conversion.
        let other_driver = |driver: &str| *driver != **device.driver;
        if program.required_driver().is_some_and(other_driver) && malformed(device.device).is_none()
        {
            return Verdict::NoMatch;
        }
        self.evaluations += 1;
        let value = self.values.get(&self.environment, device);
        match program.matches(&value) {
            Ok(true) => Verdict::Match,
            Ok(false) => Verdict::NoMatch,
            Err(error) => Verdict::Error(error.to_string().into()),
        }
    }
}

impl Selectors for SelectorCache {
    fn expression(&mut self, text: &Arc<str>) -> ExpressionId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = ExpressionId(u32::try_from(self.expressions.len()).unwrap_or(u32::MAX));
        let program = self
            .environment
            .compile(text)
            .map_err(|error| error.to_string());
        self.expressions.push(Expression {
            program,
            rows: Vec::new(),
        });
        self.ids.insert(Arc::clone(text), id);
        id
    }

    fn matches(&mut self, id: ExpressionId, device: DeviceRef<'_>) -> Result<bool, SelectorError> {
        let (slot, index) = (device.slot as usize, device.index as usize);
        let known = self.expressions.get(id.0 as usize).and_then(|expression| {
            let row = expression
                .rows
                .get(slot)
                .filter(|row| row.version == device.version)?;
            row.verdicts.get(index)
        });
        match known {
            Some(Verdict::Match) => return Ok(true),
            Some(Verdict::NoMatch) => return Ok(false),
            Some(Verdict::Error(text)) => return Err(SelectorError::Runtime(text.to_string())),
            Some(Verdict::Unknown) | None => {}
        }
        if let Some(Err(text)) = self
            .expressions
            .get(id.0 as usize)
            .map(|expression| &expression.program)
        {
            return Err(SelectorError::Compile(text.clone()));
        }
        let verdict = self.evaluate(id, &device);
        if let Some(expression) = self.expressions.get_mut(id.0 as usize) {
            if expression.rows.len() <= slot {
                expression.rows.resize_with(slot + 1, Row::default);
            }
            let row = &mut expression.rows[slot];
            if row.version != device.version {
                *row = Row {
                    version: device.version,
                    verdicts: Vec::new(),
                };
            }
            if row.verdicts.len() <= index {
                row.verdicts.resize(index + 1, Verdict::Unknown);
            }
            row.verdicts[index] = verdict.clone();
        }
        match verdict {
            Verdict::Match => Ok(true),
            Verdict::NoMatch => Ok(false),
            Verdict::Error(text) => Err(SelectorError::Runtime(text.into())),
            Verdict::Unknown => Err(SelectorError::Runtime("selector was not evaluated".into())),
        }
    }
}
