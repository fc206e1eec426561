//! Calendar and clock functions.

use super::{Function, no_overload};
use crate::cel::time::{self, Civil, Timestamp};
use crate::cel::value::{Fail, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("getFullYear", |_, args| field(args, |c| c.year)),
    ("getMonth", |_, args| field(args, |c| c.month - 1)),
    ("getDayOfYear", |_, args| field(args, |c| c.day_of_year)),
    ("getDate", |_, args| field(args, |c| c.day)),
    ("getDayOfMonth", |_, args| field(args, |c| c.day - 1)),
    ("getDayOfWeek", |_, args| field(args, |c| c.weekday)),
    ("getHours", |_, args| {
        clock(args, 3_600_000_000_000, |c, _| c.hour)
    }),
    ("getMinutes", |_, args| {
        clock(args, 60_000_000_000, |c, _| c.minute)
    }),
    ("getSeconds", |_, args| {
        clock(args, 1_000_000_000, |c, _| c.second)
    }),
    ("getMilliseconds", |_, args| {
        clock(args, 1_000_000, |_, t| i64::from(t.nanos() / 1_000_000))
    }),
];

fn civil(args: &[Value]) -> Result<(Civil, Timestamp), Fail> {
    match args {
        [Value::Timestamp(t)] => Ok((t.civil(0), *t)),
        [Value::Timestamp(t), Value::String(zone)] => {
            let offset = time::zone_offset(zone, *t).map_err(Fail::new)?;
            Ok((t.civil(offset), *t))
        }
        _ => Err(Fail::NoOverload),
    }
}

fn field(args: &[Value], get: fn(Civil) -> i64) -> Outcome {
    civil(args).map(|(civil, _)| Value::Int(get(civil)))
}

/// Of a timestamp the field; of a duration the whole of it in that unit.
fn clock(args: &[Value], unit: i64, get: fn(Civil, Timestamp) -> i64) -> Outcome {
    match args {
        [Value::Duration(nanos)] => Ok(Value::Int(nanos / unit)),
        [] => no_overload(),
        _ => civil(args).map(|(civil, moment)| Value::Int(get(civil, moment))),
    }
}
