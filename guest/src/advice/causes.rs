//! Why an expression may be true for no device: names, values, types and drivers that nobody publishes.

use super::findings::some_of;
use super::published::{Published, Type, Values};
use crate::cel::{Program, Reference};
use crate::nearest::{meant, meant_qualified};

/// One reason.
pub(super) struct Cause {
    pub message: String,
    pub remedy: String,
    /// A name that nobody publishes and that is looked up without a guard.
    pub is_name: bool,
    /// Something published is so near that this one must be a slip.
    pub is_slip: bool,
}

/// All that can be told from what the expression spells out.
pub(super) fn causes(program: &Program, published: &Published) -> Vec<Cause> {
    let mut causes: Vec<Cause> = driver(program, published).into_iter().collect();
    // That a guard holds everything back may be meant: what else there is to say comes first.
    let mut guarded = Vec::new();
    for (reference, usage) in program.references() {
        let (capacity, domain) = (reference.capacity, reference.domain.as_str());
        let id = reference.id.as_deref();
        if let Some(unknown) = published.unknown(capacity, domain, id) {
            let cause = Cause {
                message: unknown.message,
                remedy: unknown.remedy,
                is_name: !usage.guarded,
                is_slip: false,
            };
            match usage.guarded {
                true => guarded.push(cause),
                false => causes.push(cause),
            }
            continue;
        }
        let Some(values) = id.and_then(|id| published.values(capacity, domain, id)) else {
            continue;
        };
        let known = |wanted: &String| values.texts.contains(wanted);
        if !usage.wanted.is_empty() && !usage.wanted.iter().any(known) && !values.is_cut {
            causes.push(value(&reference, &usage.wanted, values));
        }
    }
    causes.append(&mut guarded);
    causes
}

/// None of the drivers that the expression names has a slice.
fn driver(program: &Program, published: &Published) -> Option<Cause> {
    let wanted = program.drivers();
    let is_known = wanted
        .iter()
        .any(|driver| published.drivers.contains(*driver));
    if is_known || published.drivers.is_empty() {
        return None;
    }
    let first = wanted.first()?;
    let known = || published.drivers.iter().map(String::as_str);
    let nearest = meant_qualified(first, known());
    Some(Cause {
        message: format!("no slice is of the driver {first:?}"),
        remedy: match nearest {
            Some(nearest) => format!("did you mean {nearest:?}?"),
            None => format!("drivers that publish are {}", some_of(known())),
        },
        is_name: false,
        is_slip: nearest.is_some(),
    })
}

fn value(reference: &Reference, wanted: &[String], values: &Values) -> Cause {
    let name = full_name(reference);
    let published = format!("published are {}", some_of(&values.texts));
    let other_type = wanted.iter().all(|wanted| !fits(wanted, values));
    if let Some(typed) = typed(reference, values).filter(|_| other_type) {
        return Cause {
            message: format!("no device has {name} {}", wanted.join(" or ")),
            remedy: typed,
            is_name: false,
            is_slip: true,
        };
    }
    let nearest = wanted
        .iter()
        .find_map(|wanted| meant(wanted, values.texts.iter().map(String::as_str)));
    Cause {
        message: format!("no device has {name} {}", wanted.join(" or ")),
        remedy: match nearest {
            Some(nearest) if values.texts.len() > 1 && nearest.starts_with('"') => {
                format!("{published}; did you mean {nearest}?")
            }
            _ => published,
        },
        is_name: false,
        is_slip: false,
    }
}

/// `domain/id`.
pub(super) fn full_name(reference: &Reference) -> String {
    match &reference.id {
        Some(id) => format!("{}/{id}", reference.domain),
        None => reference.domain.clone(),
    }
}

/// Whether a literal has a type in which the values are published; numbers of other types than int are not told apart.
fn fits(literal: &str, values: &Values) -> bool {
    let kind = match literal {
        "true" | "false" => Type::Bool,
        text if text.starts_with('"') => Type::Text,
        _ => Type::Int,
    };
    values.types.contains(&kind) || values.types.contains(&Type::List)
}

/// In which type something is published, and how it is compared; nothing if there are several.
pub(super) fn typed(reference: &Reference, values: &Values) -> Option<String> {
    let mut types = values.types.iter();
    let (Some(only), None) = (types.next(), types.next()) else {
        return None;
    };
    let name = full_name(reference);
    let example = values.texts.first().map_or("", String::as_str);
    Some(match only {
        Type::Int => format!(
            "{name} is an integer: compare it with a number without quotes, for example {example}"
        ),
        Type::Bool => {
            format!("{name} is a boolean: compare it with true or false without quotes")
        }
        Type::Text => {
            format!("{name} is a string: compare it with a text in quotes, for example {example}")
        }
        Type::Version => format!(
            "{name} is a version: compare it with semver({example:?}), by ==, isGreaterThan, isLessThan or compareTo"
        ),
        Type::Quantity => format!(
            "{name} is a quantity: compare it with quantity({example:?}), by isGreaterThan, isLessThan or compareTo(...) >= 0"
        ),
        Type::List => format!("{name} is a list: use `in` or exists"),
    })
}
