//! Type conversions.

use std::sync::Arc;

use super::{Function, new_string, no_overload};
use crate::cel::eval::Run;
use crate::cel::time::{self, Timestamp};
use crate::cel::value::{Fail, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("bool", to_bool),
    ("bytes", to_bytes),
    ("double", to_double),
    ("duration", to_duration),
    ("int", to_int),
    ("string", to_string),
    ("timestamp", to_timestamp),
    ("uint", to_uint),
];

/// Conversions of a literal are done when the program is made: a failure is a compile error.
pub(crate) fn is_folded(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "bytes"
            | "double"
            | "duration"
            | "dyn"
            | "int"
            | "string"
            | "timestamp"
            | "type"
            | "uint"
    )
}

fn failure(from: &str, to: &str) -> Fail {
    Fail::new(format!("type conversion error from '{from}' to '{to}'"))
}

fn to_bool(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Bool(b)] => Ok(Value::Bool(*b)),
        [Value::String(s)] => match &**s {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => Err(failure("string", "bool")),
        },
        _ => no_overload(),
    }
}

fn to_bytes(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Bytes(b)] => Ok(Value::Bytes(b.clone())),
        [Value::String(s)] => {
            run.budget.memory(s.len())?;
            Ok(Value::Bytes(Arc::from(s.as_bytes())))
        }
        _ => no_overload(),
    }
}

fn to_double(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Double(d)] => Ok(Value::Double(*d)),
        [Value::Int(i)] => Ok(Value::Double(*i as f64)),
        [Value::Uint(u)] => Ok(Value::Double(*u as f64)),
        [Value::String(s)] => parse_double(s)
            .map(Value::Double)
            .ok_or_else(|| failure("string", "double")),
        _ => no_overload(),
    }
}

/// Go's ParseFloat for what both languages read alike; a number out of range is an error there.
fn parse_double(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let named = text.bytes().any(|b| matches!(b, b'i' | b'I' | b'n' | b'N'));
    (number.is_finite() || named).then_some(number)
}

fn to_duration(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Duration(d)] => Ok(Value::Duration(*d)),
        [Value::Int(nanos)] => Ok(Value::Duration(*nanos)),
        [Value::String(s)] => time::parse_duration(s)
            .map(Value::Duration)
            .ok_or_else(|| failure("string", "google.protobuf.Duration")),
        _ => no_overload(),
    }
}

fn to_timestamp(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::Timestamp(t)] => Ok(Value::Timestamp(*t)),
        [Value::Int(seconds)] => Timestamp::new(*seconds, 0)
            .map(Value::Timestamp)
            .ok_or_else(|| Fail::new("timestamp overflow")),
        [Value::String(s)] => Timestamp::parse(s)
            .map(Value::Timestamp)
            .ok_or_else(|| failure("string", "google.protobuf.Timestamp")),
        _ => no_overload(),
    }
}

fn to_int(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    let overflow = || Fail::new("integer overflow");
    match args {
        [Value::Int(i)] => Ok(Value::Int(*i)),
        [Value::Uint(u)] => i64::try_from(*u).map(Value::Int).map_err(|_| overflow()),
        // The bounds themselves are refused as well.
        [Value::Double(d)] if *d > -9.223_372_036_854_776e18 && *d < 9.223_372_036_854_776e18 => {
            Ok(Value::Int(*d as i64))
        }
        [Value::Double(_)] => Err(overflow()),
        [Value::String(s)] => parse_int(s)
            .map(Value::Int)
            .ok_or_else(|| failure("string", "int")),
        [Value::Timestamp(t)] => Ok(Value::Int(t.seconds())),
        [Value::Duration(nanos)] => Ok(Value::Int(*nanos)),
        _ => no_overload(),
    }
}

fn parse_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn to_uint(_: &mut Run<'_>, args: &[Value]) -> Outcome {
    let overflow = || Fail::new("unsigned integer overflow");
    match args {
        [Value::Uint(u)] => Ok(Value::Uint(*u)),
        [Value::Int(i)] => u64::try_from(*i).map(Value::Uint).map_err(|_| overflow()),
        [Value::Double(d)] if *d >= 0.0 && *d < 18_446_744_073_709_551_616.0 => {
            Ok(Value::Uint(*d as u64))
        }
        [Value::Double(_)] => Err(overflow()),
        [Value::String(s)] if !s.starts_with('+') => s
            .parse()
            .map(Value::Uint)
            .map_err(|_| failure("string", "uint")),
        [Value::String(_)] => Err(failure("string", "uint")),
        _ => no_overload(),
    }
}

fn to_string(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let text = match args {
        [Value::String(s)] => return Ok(Value::String(s.clone())),
        [Value::Bytes(bytes)] => match std::str::from_utf8(bytes) {
            Ok(text) => return new_string(run, text),
            Err(_) => {
                return Err(Fail::new(
                    "invalid UTF-8 in bytes, cannot convert to string",
                ));
            }
        },
        [value] => plain_text(value).ok_or(Fail::NoOverload)?,
        _ => return no_overload(),
    };
    new_string(run, &text)
}

/// What `string()` makes of a value that is neither text nor a container.
pub(crate) fn plain_text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => u.to_string(),
        Value::Double(d) => double_text(*d),
        Value::Duration(nanos) => time::duration_text(*nanos),
        Value::Timestamp(t) => t.to_string(),
        Value::Ip(ip) => ip.to_string(),
        Value::Cidr(cidr) => cidr.to_string(),
        _ => return None,
    })
}

/// Go's shortest form (`%g`): exponents below -4 and from 6.
pub(crate) fn double_text(d: f64) -> String {
    if d.is_nan() {
        return "NaN".to_string();
    }
    if d.is_infinite() {
        return if d > 0.0 { "+Inf" } else { "-Inf" }.to_string();
    }
    let scientific = format!("{d:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if d != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    format!("{d}")
}
