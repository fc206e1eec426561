//! Arithmetic, order, equality, membership and size.

use std::cmp::Ordering;

use super::{Function, new_list, new_string, no_overload};
use crate::cel::eval::Run;
use crate::cel::time::Timestamp;
use crate::cel::value::{self, Fail, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("_+_", add),
    ("_-_", subtract),
    ("_*_", multiply),
    ("_/_", divide),
    ("_%_", modulo),
    ("-_", negate),
    ("!_", not),
    ("_==_", |run, args| equality(run, args, true)),
    ("_!=_", |run, args| equality(run, args, false)),
    ("_<_", |_, args| order("_<_", args, Ordering::is_lt)),
    ("_<=_", |_, args| order("_<=_", args, Ordering::is_le)),
    ("_>_", |_, args| order("_>_", args, Ordering::is_gt)),
    ("_>=_", |_, args| order("_>=_", args, Ordering::is_ge)),
    ("@in", contains),
    ("size", size),
    ("type", |_, args| match args {
        [value] => Ok(Value::Type(value.type_name())),
        _ => no_overload(),
    }),
    ("dyn", |_, args| {
        args.first().cloned().ok_or(Fail::NoOverload)
    }),
];

fn overflow() -> Fail {
    Fail::new("integer overflow")
}

fn unsigned_overflow() -> Fail {
    Fail::new("unsigned integer overflow")
}

fn duration(nanos: Option<i64>) -> Outcome {
    nanos
        .map(Value::Duration)
        .ok_or_else(|| Fail::new("duration overflow"))
}

fn timestamp(moment: Option<Timestamp>) -> Outcome {
    moment
        .map(Value::Timestamp)
        .ok_or_else(|| Fail::new("timestamp overflow"))
}

fn int(value: Option<i64>) -> Outcome {
    value.map(Value::Int).ok_or_else(overflow)
}

fn uint(value: Option<u64>) -> Outcome {
    value.map(Value::Uint).ok_or_else(unsigned_overflow)
}

/// Operators name themselves only where the left operand cannot do such a thing with any right operand.
fn unfit(name: &str, left: Option<&Value>, able: fn(&Value) -> bool) -> Outcome {
    match left {
        // These have a catch-all for member calls in cel-go.
        Some(Value::String(_) | Value::Timestamp(_) | Value::Duration(_)) => {
            Err(Fail::no_such_overload())
        }
        Some(left) if able(left) => Err(Fail::no_such_overload()),
        _ => Err(Fail::new(format!("no such overload: {name}"))),
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Uint(_) | Value::Double(_))
}

fn add(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_add(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_add(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a + b)),
        [Value::String(a), Value::String(b)] => {
            run.budget.memory(a.len() + b.len())?;
            new_string(run, &[&**a, &**b].concat())
        }
        [Value::Bytes(a), Value::Bytes(b)] => {
            run.budget.memory(a.len() + b.len())?;
            Ok(Value::Bytes([&**a, &**b].concat().into()))
        }
        [Value::List(a), Value::List(b)] => {
            run.budget
                .memory((a.len() + b.len()) * size_of::<Value>())?;
            new_list(run, a.iter().chain(b.iter()).cloned().collect())
        }
        [Value::Duration(a), Value::Duration(b)] => duration(a.checked_add(*b)),
        [Value::Duration(a), Value::Timestamp(b)] | [Value::Timestamp(b), Value::Duration(a)] => {
            timestamp(b.add(*a))
        }
        _ => unfit("_+_", args.first(), |v| {
            is_number(v) || matches!(v, Value::Bytes(_) | Value::List(_))
        }),
    }
}

fn subtract(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_sub(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_sub(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a - b)),
        [Value::Duration(a), Value::Duration(b)] => duration(a.checked_sub(*b)),
        [Value::Timestamp(a), Value::Duration(b)] => {
            timestamp(b.checked_neg().and_then(|b| a.add(b)))
        }
        [Value::Timestamp(a), Value::Timestamp(b)] => duration(a.since(*b)),
        _ => unfit("_-_", args.first(), is_number),
    }
}

fn multiply(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(a), Value::Int(b)] => int(a.checked_mul(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_mul(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a * b)),
        _ => unfit("_*_", args.first(), is_number),
    }
}

fn divide(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Fail::new("division by zero"))
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_div(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_div(*b)),
        [Value::Double(a), Value::Double(b)] => Ok(Value::Double(a / b)),
        _ => unfit("_/_", args.first(), is_number),
    }
}

fn modulo(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(_), Value::Int(0)] | [Value::Uint(_), Value::Uint(0)] => {
            Err(Fail::new("modulus by zero"))
        }
        [Value::Int(a), Value::Int(b)] => int(a.checked_rem(*b)),
        [Value::Uint(a), Value::Uint(b)] => uint(a.checked_rem(*b)),
        _ => unfit("_%_", args.first(), |v| {
            matches!(v, Value::Int(_) | Value::Uint(_))
        }),
    }
}

fn negate(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Int(a)] => int(a.checked_neg()),
        [Value::Double(a)] => Ok(Value::Double(-a)),
        _ => unfit("-_", args.first(), |v| {
            matches!(v, Value::Uint(_) | Value::Bool(_))
        }),
    }
}

fn not(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Bool(b)] => Ok(Value::Bool(!b)),
        _ => Err(Fail::no_such_overload()),
    }
}

fn equality(run: &mut Run<'_>, args: &[Value], wanted: bool) -> Outcome {
    match args {
        [a, b] => Ok(Value::Bool(value::equal(a, b, &mut run.budget)? == wanted)),
        _ => no_overload(),
    }
}

fn order(name: &str, args: &[Value], holds: fn(Ordering) -> bool) -> Outcome {
    let [a, b] = args else { return no_overload() };
    match value::compare(a, b) {
        Some(ordering) => Ok(Value::Bool(holds(ordering))),
        None if is_number(a) && is_number(b) => Err(Fail::new("NaN values cannot be ordered")),
        None => unfit(name, Some(a), |v| {
            is_number(v) || matches!(v, Value::Bool(_) | Value::Bytes(_))
        }),
    }
}

/// `value in container`.
pub(crate) fn contains(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [value, Value::List(list)] => Ok(Value::Bool(list_contains(run, list, value)?)),
        [key, Value::Map(map)] => {
            let found = key
                .to_key()
                .and_then(|key| value::find(map, &key))
                .is_some();
            Ok(Value::Bool(found))
        }
        [Value::String(key), Value::Domains(kind, device)] => {
            Ok(Value::Bool(device.domains(*kind).contains_key(&**key)))
        }
        [_, Value::Domains(..)] => Ok(Value::Bool(false)),
        _ => Err(Fail::no_such_overload()),
    }
}

/// Membership by `==`; an element that cannot be compared is not the one.
pub(crate) fn list_contains(
    run: &mut Run<'_>,
    list: &[Value],
    value: &Value,
) -> Result<bool, Fail> {
    for element in list {
        match value::equal(value, element, &mut run.budget) {
            Ok(true) => return Ok(true),
            Err(Fail::Cancelled) => return Err(Fail::Cancelled),
            _ => {}
        }
    }
    Ok(false)
}

fn size(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [
            value @ (Value::String(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Domains(..)),
        ] => {
            if let Value::String(text) = value {
                run.budget.work(text.len() as u64 / 16)?;
            }
            Ok(Value::Int(value.size() as i64))
        }
        _ => Err(Fail::new("no such overload: size")),
    }
}
