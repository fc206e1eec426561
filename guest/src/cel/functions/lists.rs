//! List functions: Kubernetes' own, sets, the lists extension version 3, map insertion and `includes`.

use std::cmp::Ordering;
use std::sync::Arc;

use super::operators::list_contains;
use super::{Function, new_list, no_overload};
use crate::cel::eval::Run;
use crate::cel::macros::{MAP_INSERT, SORT_BY_KEYS};
use crate::cel::value::{self, Fail, Map, Outcome, Value};

pub(super) const TABLE: &[(&str, Function)] = &[
    ("isSorted", is_sorted),
    ("sum", sum),
    ("max", |run, args| {
        extreme(run, args, "max", Ordering::is_gt)
    }),
    ("min", |run, args| {
        extreme(run, args, "min", Ordering::is_lt)
    }),
    ("sets.contains", sets_contains),
    ("sets.equivalent", sets_equivalent),
    ("sets.intersects", sets_intersects),
    ("includes", includes),
    ("lists.range", range),
    ("slice", slice),
    ("flatten", flatten),
    ("sort", |run, args| match args {
        [Value::List(list)] => sort_by(run, list, list),
        _ => no_overload(),
    }),
    (SORT_BY_KEYS, |run, args| match args {
        [Value::List(list), Value::List(keys)] => sort_by(run, list, keys),
        _ => no_overload(),
    }),
    ("distinct", distinct),
    ("reverse", |run, args| match args {
        [Value::List(list)] => new_list(run, list.iter().rev().cloned().collect()),
        _ => no_overload(),
    }),
    (MAP_INSERT, map_insert),
];

/// `indexOf` and `lastIndexOf` on a list.
pub(super) fn position(run: &mut Run<'_>, list: &[Value], value: &Value, last: bool) -> Outcome {
    let mut found = -1;
    for (i, element) in list.iter().enumerate() {
        match value::equal(element, value, &mut run.budget) {
            Ok(true) => found = i as i64,
            Err(Fail::Cancelled) => return Err(Fail::Cancelled),
            _ => continue,
        }
        if !last {
            break;
        }
    }
    Ok(Value::Int(found))
}

/// Order of two elements; upstream takes those that have none for equal.
fn compare(run: &mut Run<'_>, a: &Value, b: &Value) -> Result<Ordering, Fail> {
    run.budget.work(2)?;
    Ok(value::compare(a, b).unwrap_or(Ordering::Equal))
}

fn is_sorted(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(list)] = args else {
        return no_overload();
    };
    for pair in list.windows(2) {
        if let [a, b] = pair
            && compare(run, a, b)?.is_gt()
        {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// `sum` where the type says that an empty list is one of durations.
pub(crate) fn sum_durations(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::List(list)] if list.is_empty() => Ok(Value::Duration(0)),
        args => sum(run, args),
    }
}

fn sum(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(list)] = args else {
        return no_overload();
    };
    let Some(first) = list.first() else {
        return Ok(Value::Int(0));
    };
    let add = super::find("_+_").ok_or(Fail::NoOverload)?;
    if !matches!(
        first,
        Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Duration(_)
    ) {
        return no_overload();
    }
    let mut total = first.clone();
    for value in list.iter().skip(1) {
        run.budget.work(1)?;
        total = add(run, &[total, value.clone()])?;
    }
    Ok(total)
}

fn extreme(run: &mut Run<'_>, args: &[Value], name: &str, better: fn(Ordering) -> bool) -> Outcome {
    let [Value::List(list)] = args else {
        return no_overload();
    };
    let Some(mut best) = list.first() else {
        return Err(Fail::new(format!("{name} called on empty list")));
    };
    for value in list.iter().skip(1) {
        if better(compare(run, value, best)?) {
            best = value;
        }
    }
    Ok(best.clone())
}

fn all_in(run: &mut Run<'_>, list: &[Value], within: &[Value]) -> Result<bool, Fail> {
    for value in list {
        if !list_contains(run, within, value)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sets_contains(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(list), Value::List(part)] = args else {
        return no_overload();
    };
    Ok(Value::Bool(all_in(run, part, list)?))
}

fn sets_equivalent(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(a), Value::List(b)] = args else {
        return no_overload();
    };
    Ok(Value::Bool(all_in(run, a, b)? && all_in(run, b, a)?))
}

fn sets_intersects(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(a), Value::List(b)] = args else {
        return no_overload();
    };
    for value in a.iter() {
        if list_contains(run, b, value)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

/// Whether a list attribute has the value, or a scalar one is it.
fn includes(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    match args {
        [Value::List(list), value] => Ok(Value::Bool(list_contains(run, list, value)?)),
        [scalar, value] => Ok(Value::Bool(list_contains(
            run,
            std::slice::from_ref(scalar),
            value,
        )?)),
        _ => no_overload(),
    }
}

fn range(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::Int(count)] = args else {
        return no_overload();
    };
    let count = usize::try_from(*count).unwrap_or(0);
    run.budget
        .memory(count.saturating_mul(size_of::<Value>()))?;
    Ok(Value::list((0..count as i64).map(Value::Int).collect()))
}

fn slice(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(list), Value::Int(start), Value::Int(end)] = args else {
        return no_overload();
    };
    let refuse = |why: String| Err(Fail::new(format!("cannot slice({start}, {end}), {why}")));
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return refuse("negative indexes not supported".to_string());
    };
    if from > to {
        return refuse("start index must be less than or equal to end index".to_string());
    }
    match list.get(from..to) {
        Some(part) => new_list(run, part.to_vec()),
        None => refuse(format!("list is length {}", list.len())),
    }
}

fn flatten(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        _ => return no_overload(),
    };
    if depth < 0 {
        return Err(Fail::new("level must be non-negative"));
    }
    let mut flat = Vec::new();
    // A list shared by its elements can be far longer flat than it is.
    let mut pending: Vec<(Value, i64)> = list
        .iter()
        .rev()
        .map(|value| (value.clone(), depth))
        .collect();
    while let Some((value, depth)) = pending.pop() {
        run.budget.memory(size_of::<Value>())?;
        match value {
            Value::List(inner) if depth > 0 => {
                run.budget.work(inner.len() as u64)?;
                pending.extend(inner.iter().rev().map(|value| (value.clone(), depth - 1)));
            }
            value => flat.push(value),
        }
    }
    Ok(Value::list(flat))
}

/// Sorts by keys of one comparable type; `sort` uses the elements themselves.
fn sort_by(run: &mut Run<'_>, list: &[Value], keys: &[Value]) -> Outcome {
    if list.len() != keys.len() {
        return Err(Fail::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} \
             elements respectively",
            list.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else {
        return Ok(Value::list(Vec::new()));
    };
    if value::compare(first, first).is_none() && !matches!(first, Value::Double(_)) {
        return Err(Fail::new("list elements must be comparable"));
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) {
        return Err(Fail::new("list elements must have the same type"));
    }
    let steps = keys.len() as u64 * u64::from(usize::BITS - keys.len().leading_zeros());
    run.budget.work(steps)?;
    let mut pairs: Vec<(&Value, &Value)> = keys.iter().zip(list).collect();
    pairs.sort_by(|(a, _), (b, _)| total_order(a, b));
    new_list(
        run,
        pairs.into_iter().map(|(_, value)| value.clone()).collect(),
    )
}

/// The order of values, with NaN at the end so that sorting has a total order.
fn total_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a
            .partial_cmp(b)
            .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        _ => value::compare(a, b).unwrap_or(Ordering::Equal),
    }
}

fn distinct(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::List(list)] = args else {
        return no_overload();
    };
    let mut kept: Vec<Value> = Vec::new();
    for value in list.iter() {
        if !list_contains(run, &kept, value)? {
            kept.push(value.clone());
        }
    }
    new_list(run, kept)
}

fn map_insert(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let (target, entries) = match args {
        [Value::Map(target), Value::Map(entries)] => (target, Map::clone(entries)),
        [Value::Map(target), key, value] => {
            let key = key.to_key().ok_or(Fail::NoOverload)?;
            (target, Map::from([(key, value.clone())]))
        }
        _ => return no_overload(),
    };
    run.budget
        .memory((target.len() + entries.len()) * 2 * size_of::<Value>())?;
    let mut merged = Map::clone(target);
    insert_all(&mut merged, entries)?;
    Ok(Value::Map(Arc::new(merged)))
}

/// Adds entries whose keys must be new.
pub(crate) fn insert_all(target: &mut Map, entries: Map) -> Result<(), Fail> {
    for (key, value) in entries {
        if value::find(target, &key).is_some() {
            return Err(Fail::new(format!(
                "insert failed: key {key} already exists"
            )));
        }
        target.insert(key, value);
    }
    Ok(())
}
