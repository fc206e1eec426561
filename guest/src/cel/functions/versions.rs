//! The semver library; comparisons are reached through the quantity library, with which it shares their names.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Function, no_overload};
use crate::cel::value::{Fail, Outcome, Value};
use crate::semver::Version;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("semver", |run, args| {
        if let Some(Value::String(text)) = args.first() {
            run.budget.memory(text.len())?;
        }
        match parse(args) {
            Some(Ok(version)) => Ok(Value::Semver(Arc::new(version))),
            Some(Err(error)) => Err(Fail::new(error)),
            None => no_overload(),
        }
    }),
    ("isSemver", |_, args| {
        parse(args)
            .map(|version| Value::Bool(version.is_ok()))
            .ok_or(Fail::NoOverload)
    }),
    ("major", |_, args| part(args, |v| v.major)),
    ("minor", |_, args| part(args, |v| v.minor)),
    ("patch", |_, args| part(args, |v| v.patch)),
];

fn parse(args: &[Value]) -> Option<Result<Version, String>> {
    match args {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => {
            Some(Version::parse(text))
        }
        [Value::String(text), Value::Bool(true)] => Some(Version::parse_normalized(text)),
        _ => None,
    }
}

/// Numbers above an int's range wrap around, as in Go.
fn part(args: &[Value], get: fn(&Version) -> u64) -> Outcome {
    match args {
        [Value::Semver(version)] => Ok(Value::Int(get(version) as i64)),
        _ => no_overload(),
    }
}

pub(super) fn compare(args: &[Value]) -> Option<Ordering> {
    match args {
        [Value::Semver(a), Value::Semver(b)] => Some(a.cmp(b)),
        _ => None,
    }
}
