//! The quantity library.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Function, no_overload, versions};
use crate::cel::eval::Run;
use crate::cel::value::{Fail, Outcome, Value};
use crate::quantity::Quantity;

pub(super) const TABLE: &[(&str, Function)] = &[
    ("quantity", |run, args| match args {
        [Value::String(text)] => {
            run.budget.memory(text.len())?;
            match Quantity::parse(text) {
                Ok(quantity) => Ok(Value::Quantity(Arc::new(quantity))),
                Err(error) => Err(Fail::new(error.to_string())),
            }
        }
        _ => no_overload(),
    }),
    ("isQuantity", |_, args| match args {
        [Value::String(text)] => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        _ => no_overload(),
    }),
    ("sign", |run, args| match args {
        [Value::Quantity(q)] => Ok(Value::Int(run.budget.quantity(q).sign())),
        _ => no_overload(),
    }),
    ("asInteger", |run, args| match args {
        [Value::Quantity(q)] => match run.budget.quantity(q).as_int64() {
            Some(value) => Ok(Value::Int(value)),
            None => Err(Fail::new("cannot convert value to integer")),
        },
        _ => no_overload(),
    }),
    ("isInteger", |run, args| match args {
        [Value::Quantity(q)] => Ok(Value::Bool(run.budget.quantity(q).as_int64().is_some())),
        _ => no_overload(),
    }),
    ("asApproximateFloat", |run, args| match args {
        [Value::Quantity(q)] => Ok(Value::Double(run.budget.quantity(q).as_approximate_f64())),
        _ => no_overload(),
    }),
    ("add", |run, args| sum(run, args, Quantity::checked_add)),
    ("sub", |run, args| sum(run, args, Quantity::checked_sub)),
    // Shared with the semver library.
    ("isGreaterThan", |run, args| {
        compare(run, args, |o| Value::Bool(o.is_gt()))
    }),
    ("isLessThan", |run, args| {
        compare(run, args, |o| Value::Bool(o.is_lt()))
    }),
    ("compareTo", |run, args| {
        compare(run, args, |o| Value::Int(o as i64))
    }),
];

fn compare(run: &mut Run<'_>, args: &[Value], answer: fn(Ordering) -> Value) -> Outcome {
    match args {
        [Value::Quantity(a), Value::Quantity(b)] => {
            Ok(answer(run.budget.quantity(a).cmp(&run.budget.quantity(b))))
        }
        _ => versions::compare(args).map(answer).ok_or(Fail::NoOverload),
    }
}

fn sum(
    run: &mut Run<'_>,
    args: &[Value],
    op: fn(&Quantity, &Quantity) -> Option<Quantity>,
) -> Outcome {
    let (receiver, operand) = match args {
        [Value::Quantity(a), Value::Quantity(b)] => (a, run.budget.quantity(b).into_owned()),
        [Value::Quantity(a), Value::Int(b)] => (a, Quantity::from_int(*b)),
        _ => return no_overload(),
    };
    let current = run.budget.quantity(receiver).into_owned();
    run.budget.work(100)?;
    let result = op(&current, &operand).ok_or(Fail::Cancelled)?;
    if run.add_changes_receiver && current.is_big() {
        run.budget.change_quantity(receiver, result);
        return Ok(Value::Quantity(receiver.clone()));
    }
    Ok(Value::Quantity(Arc::new(result)))
}
