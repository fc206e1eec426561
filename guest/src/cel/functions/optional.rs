//! Optional values; `or` and `orValue` are control flow and live in the evaluator.

use super::{Function, no_overload};
use crate::cel::value::{Fail, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("optional.of", |_, args| {
        args.first()
            .cloned()
            .map(Value::some)
            .ok_or(Fail::NoOverload)
    }),
    ("optional.ofNonZeroValue", |_, args| match args {
        [value] if is_zero(value) => Ok(Value::Optional(None)),
        [value] => Ok(Value::some(value.clone())),
        _ => no_overload(),
    }),
    ("optional.none", |_, _| Ok(Value::Optional(None))),
    ("hasValue", |_, args| match args {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => no_overload(),
    }),
    ("value", |_, args| match args {
        [Value::Optional(Some(value))] => Ok(Value::clone(value)),
        [Value::Optional(None)] => Err(Fail::new("optional.none() dereference")),
        _ => no_overload(),
    }),
];

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(0) => {
            true
        }
        Value::Double(d) => *d == 0.0,
        Value::String(s) => s.is_empty(),
        Value::Bytes(b) => b.is_empty(),
        Value::List(l) => l.is_empty(),
        Value::Map(m) => m.is_empty(),
        Value::Domains(kind, device) => device.domains(*kind).is_empty(),
        Value::Optional(o) => o.is_none(),
        _ => false,
    }
}
