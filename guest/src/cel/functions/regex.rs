//! Regular expressions with RE2's syntax and meaning, on the crate `regex`: the same linear-time guarantee, another
//! dialect. `translate` turns one into the other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use super::{Function, new_string, no_overload};
use crate::cel::eval::Run;
use crate::cel::value::{Fail, Outcome, Value};

mod refusal;
#[cfg(test)]
mod tests;
mod translate;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("matches", |run, args| with_pattern(run, args)),
    ("find", |run, args| with_pattern(run, args)),
    ("findAll", |run, args| with_pattern(run, args)),
];

/// Bytes that a compiled pattern may take: a second limit behind that on the weight.
const MOST_COMPILED_BYTES: usize = 8 << 20;
/// Compiled patterns that are not literals, kept for the next device.
const MOST_CACHED: usize = 64;

/// What is done with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Matches,
    Find,
    FindAll,
}

impl Use {
    pub(crate) fn of(function: &str) -> Option<Self> {
        match function {
            "matches" => Some(Use::Matches),
            "find" => Some(Use::Find),
            "findAll" => Some(Use::FindAll),
            _ => None,
        }
    }
}

/// Most weight of a pattern, and of all literal patterns of an expression: about 10 ms to compile.
pub(crate) const MOST_WEIGHT: u32 = 30_000;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// About its number of states.
    pub(crate) weight: u32,
}

/// Compiles a pattern.
///
/// # Errors
/// If RE2 would refuse it, or if it is too big.
pub(crate) fn compile(pattern: &str) -> Result<Pattern, String> {
    let error = |why: String| format!("error parsing regexp: {why}: `{pattern}`");
    let (translated, weight) =
        translate::translate(pattern).map_err(|why| error(why.to_string()))?;
    if weight > MOST_WEIGHT {
        return Err(error("expression too large".to_string()));
    }
    RegexBuilder::new(&translated)
        .size_limit(MOST_COMPILED_BYTES)
        .dfa_size_limit(MOST_COMPILED_BYTES)
        .nest_limit(1000)
        .build()
        .map(|regex| Pattern { regex, weight })
        .map_err(|_| error("invalid regular expression".to_string()))
}

/// Patterns that are computed rather than written down.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<BTreeMap<Arc<str>, Compiled>>);

/// A pattern, or why it is none.
type Compiled = Result<Arc<Pattern>, Arc<str>>;

impl Cache {
    fn get(&self, pattern: &Arc<str>) -> Compiled {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.get(pattern) {
            return known.clone();
        }
        if cached.len() >= MOST_CACHED {
            cached.clear();
        }
        let compiled = compile(pattern).map(Arc::new).map_err(Arc::from);
        cached.insert(pattern.clone(), compiled.clone());
        compiled
    }
}

/// The functions when the pattern is not a literal; the evaluator calls [`apply`] itself otherwise.
fn with_pattern(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (Some(Value::String(_)), Some(Value::String(pattern))) = (args.first(), args.get(1)) else {
        return no_overload();
    };
    run.budget.work(20_000 + 100 * pattern.len() as u64)?;
    let compiled = run.regexes.get(pattern).map_err(Fail::Error)?;
    // Whether it was cached or not, so that the answer does not depend on it.
    run.budget.work(100 * u64::from(compiled.weight))?;
    let name = run.function;
    match Use::of(name) {
        Some(purpose) => apply(run, purpose, &compiled, args),
        None => no_overload(),
    }
}

/// Applies a compiled pattern; the arguments are those of the call, pattern included.
pub(crate) fn apply(run: &mut Run<'_>, purpose: Use, pattern: &Pattern, args: &[Value]) -> Outcome {
    let Some(Value::String(text)) = args.first() else {
        return if purpose == Use::Matches {
            Err(Fail::no_such_overload())
        } else {
            no_overload()
        };
    };
    // Mostly linear in the text alone, at worst in the states too.
    run.budget
        .work((text.len() as u64).saturating_mul(1 + u64::from(pattern.weight) / 4))?;
    let regex = &pattern.regex;
    match (purpose, args.get(2)) {
        (Use::Matches, _) => Ok(Value::Bool(regex.is_match(text))),
        (Use::Find, _) => new_string(
            run,
            regex.find(text).map(|m| m.as_str()).unwrap_or_default(),
        ),
        (Use::FindAll, None) => find_all(run, regex, text, usize::MAX),
        (Use::FindAll, Some(Value::Int(limit))) => find_all(
            run,
            regex,
            text,
            usize::try_from(*limit).unwrap_or(usize::MAX),
        ),
        _ => no_overload(),
    }
}

fn find_all(run: &mut Run<'_>, regex: &Regex, text: &str, limit: usize) -> Outcome {
    let mut found = Vec::new();
    for part in regex.find_iter(text).take(limit) {
        run.budget.memory(part.len() + size_of::<Value>())?;
        found.push(Value::string(part.as_str()));
    }
    Ok(Value::list(found))
}
