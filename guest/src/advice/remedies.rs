//! What to do about an expression that does not compile or that fails: one remedy per kind of error.

use super::causes::{Cause, full_name, typed};
use super::findings::some_of;
use super::published::{Published, Type};
use crate::cel::Program;
use crate::nearest::{meant, quantity_meant};

/// Fields of `device`.
const FIELDS: [&str; 4] = [
    "driver",
    "attributes",
    "capacity",
    "allowMultipleAllocations",
];

/// Functions that selectors use.
const FUNCTIONS: [&str; 23] = [
    "all",
    "compareTo",
    "contains",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "has",
    "int",
    "isGreaterThan",
    "isLessThan",
    "isQuantity",
    "isSemver",
    "lowerAscii",
    "map",
    "matches",
    "orValue",
    "quantity",
    "semver",
    "size",
    "split",
    "startsWith",
    "string",
];

const COMPARE_QUANTITY: &str = "a quantity is compared with another by isGreaterThan, isLessThan or compareTo, for example .compareTo(quantity(\"40Gi\")) >= 0";
const COMPARE_VERSION: &str = "a version is compared with another by ==, isGreaterThan, isLessThan or compareTo, for example .isGreaterThan(semver(\"1.2.0\"))";

/// What to say of an expression that compiles with a feature only.
pub(super) const GATED: [&str; 2] = [
    "the function includes is not supported (gate DRAListTypeAttributes)",
    "use --feature DRAListTypeAttributes=true if the cluster has that feature on",
];

/// Whether the error is about such a function. Where the feature is on, that is known.
pub(super) fn is_gated(error: &str) -> bool {
    error.contains("undeclared reference to 'includes'")
}

/// The first error with its place, without the source line.
pub(super) fn one_line(text: &str) -> String {
    let text = text.strip_prefix("compilation failed: ").unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    let Some(rest) = first.strip_prefix("ERROR: <input>:") else {
        return first.to_owned();
    };
    let mut parts = rest.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(line), Some(column), Some(message)) => {
            // What is found before parsing has no place.
            match line.parse::<u32>() {
                Ok(1..) => format!("{} (line {line}, column {column})", message.trim()),
                _ => message.trim().to_owned(),
            }
        }
        _ => rest.to_owned(),
    }
}

/// For an expression that does not compile, from its first error.
pub(super) fn for_compiling(error: &str, source: &str, published: &Published) -> String {
    let error = one_line(error);
    if let Some(name) = between(&error, "undeclared reference to '", "'") {
        return undeclared(name, source);
    }
    if let Some(field) = between(&error, "undefined field '", "'") {
        return match meant(field, FIELDS.into_iter()) {
            Some(nearest) => format!("did you mean {nearest:?}?"),
            None => format!("device has {}", some_of(FIELDS)),
        };
    }
    if error.contains("no matching overload") {
        let of_capacity = error.contains("kubernetes.Quantity");
        let attribute = of_capacity.then(|| published.taken_for_capacity(source));
        return attribute.flatten().unwrap_or_else(|| overload(&error));
    }
    if error.contains("Syntax error") {
        return syntax(&error);
    }
    if error.contains("must evaluate to bool") {
        "compare with something, so that the result is true or false".to_owned()
    } else if error.contains("kubernetes.Quantity' does not support field selection") {
        format!("a quantity has no fields; {COMPARE_QUANTITY}")
    } else if error.contains("invalid matches argument") {
        "correct the regular expression (RE2)".to_owned()
    } else if error.contains("too complex") || error.contains("recursion limit") {
        "split it into several selectors, all of which must be true".to_owned()
    } else {
        "correct the expression at this place".to_owned()
    }
}

fn undeclared(name: &str, source: &str) -> String {
    let is_function = source.contains(&format!("{name}("));
    if is_function {
        return match meant(name, FUNCTIONS.into_iter()) {
            Some(nearest) => format!("there is no function {name}; did you mean {nearest}?"),
            None => format!(
                "there is no function {name}; use startsWith, matches, quantity, semver and the like"
            ),
        };
    }
    if meant(name, ["device"].into_iter()).is_some() {
        return "the variable is device: write it so".to_owned();
    }
    format!(
        "write {name:?} with quotes if a text is meant: strings need quotes, and the only variable is device"
    )
}

fn overload(error: &str) -> String {
    let has = |part: &str| error.contains(part);
    if has("map(string") {
        return "domain and name are two steps: device.attributes[\"DOMAIN\"].NAME".to_owned();
    }
    if has("kubernetes.Quantity") {
        return COMPARE_QUANTITY.to_owned();
    }
    if has("kubernetes.Semver") {
        return COMPARE_VERSION.to_owned();
    }
    if ["'compareTo'", "'isGreaterThan'", "'isLessThan'"]
        .into_iter()
        .any(has)
    {
        return "compare with quantity(\"...\") or semver(\"...\"), as the value is published"
            .to_owned();
    }
    if has("'any.(") {
        return "the function takes another type: texts need quotes, numbers have none".to_owned();
    }
    "both sides must have one type: texts need quotes, numbers have none".to_owned()
}

fn syntax(error: &str) -> String {
    if let Some(token) = between(error, "token recognition error at: '", "' (line") {
        return match token.trim_start().chars().next() {
            Some('=') => "write == to compare".to_owned(),
            Some('"' | '\'') => "add the quote that ends the text".to_owned(),
            Some('&') => "write &&".to_owned(),
            Some('|') => "write ||".to_owned(),
            _ => "remove what does not belong there".to_owned(),
        };
    }
    let found = between(error, "input '", "'").unwrap_or_default();
    match found.to_ascii_lowercase().as_str() {
        "and" => "write &&".to_owned(),
        "or" => "write ||".to_owned(),
        "not" => "write !".to_owned(),
        "<eof>" => {
            "the expression ends too early: add what the last operator or bracket needs".to_owned()
        }
        "" => "correct the expression at this place".to_owned(),
        _ => format!(
            "an operator such as == or && is missing before {found:?}, or a bracket is not closed"
        ),
    }
}

/// For an expression that fails on devices, on all of them or on some.
pub(super) fn for_running(
    error: &str,
    source: &str,
    program: &Program,
    published: &Published,
    causes: &[Cause],
) -> String {
    if error.contains("cost limit") {
        return "look at fewer things: avoid all, exists, filter and map within each other, and long lists or texts".to_owned();
    }
    if let Some(key) = error.strip_prefix("no such key: ") {
        return missing_key(key, program, published, causes);
    }
    if error.contains("quantities must match") || error.contains("quantity") {
        return wrong_quantity(source);
    }
    if error.contains("Major.Minor.Patch") || error.contains("found in m") {
        return wrong_version(source);
    }
    if error.contains("converted to bool") {
        return compared_with_value(program, published);
    }
    if error.contains("no such overload") {
        return types(program, published);
    }
    match causes.first() {
        Some(cause) => cause.remedy.clone(),
        None => values(program, published, false),
    }
}

fn missing_key(key: &str, program: &Program, published: &Published, causes: &[Cause]) -> String {
    let named = causes.iter().find(|cause| cause.is_name);
    if let Some(cause) = named {
        return cause.remedy.clone();
    }
    let references = program.references();
    let at = references
        .keys()
        .find(|reference| reference.id.as_deref() == Some(key));
    let Some(reference) = at else {
        return match key {
            "string" | "int" | "bool" | "version" | "value" => {
                format!("leave out .{key}: the attribute is its value")
            }
            _ => "guard the look-up with has(...), or make it optional (.?)".to_owned(),
        };
    };
    let map = match reference.capacity {
        true => "capacity",
        false => "attributes",
    };
    let place = format!("device.{map}[{:?}]", reference.domain);
    let default = published
        .values(reference.capacity, &reference.domain, key)
        .and_then(|values| values.types.first());
    let default = match default {
        Some(Type::Text) => "\"\"",
        Some(Type::Bool) => "false",
        Some(Type::Int) => "-1",
        _ => return format!("guard the look-up: has({place}.{key}) && ..."),
    };
    format!("guard the look-up: has({place}.{key}) && ..., or {place}.?{key}.orValue({default})")
}

/// The arguments of a function that are literal texts.
fn literals<'s>(source: &'s str, function: &str) -> impl Iterator<Item = &'s str> {
    let begin = format!("{function}(");
    let pieces: Vec<&str> = source.split(begin.as_str()).skip(1).collect();
    pieces.into_iter().filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
        rest[1..].split_once(quote).map(|(text, _)| text)
    })
}

fn wrong_quantity(source: &str) -> String {
    let wrong = literals(source, "quantity").find_map(|text| Some((text, quantity_meant(text)?)));
    match wrong {
        Some((text, meant)) => format!("{text:?} is no quantity: write {meant}"),
        None => "write a number with one of the suffixes k, M, G, T or Ki, Mi, Gi, Ti, for example quantity(\"40Gi\")".to_owned(),
    }
}

fn wrong_version(source: &str) -> String {
    let is_full = |text: &str| {
        let core = text.split(['-', '+']).next().unwrap_or_default();
        let parts: Vec<&str> = core.split('.').collect();
        parts.len() == 3
            && parts
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit()))
    };
    let wrong = literals(source, "semver").find(|text| !is_full(text));
    let Some(text) = wrong else {
        return "a version is MAJOR.MINOR.PATCH, for example semver(\"1.2.0\")".to_owned();
    };
    let mut parts: Vec<&str> = text.trim_start_matches(['v', 'V']).split('.').collect();
    while parts.len() < 3 {
        parts.push("0");
    }
    match parts.join(".") {
        filled if is_full(&filled) => {
            format!("{text:?} is no version: write semver({filled:?})")
        }
        _ => format!("{text:?} is no version: write MAJOR.MINOR.PATCH in numbers"),
    }
}

fn compared_with_value(program: &Program, published: &Published) -> String {
    let references = program.references();
    let example = references.keys().find_map(|reference| {
        let values = published.values(
            reference.capacity,
            &reference.domain,
            reference.id.as_deref()?,
        )?;
        values.texts.first().cloned()
    });
    match example {
        Some(value) => format!(
            "compare with something, so that the result is true or false; published is {value}"
        ),
        None => "compare with something, so that the result is true or false".to_owned(),
    }
}

/// The types in which everything that the expression looks at is published.
fn types(program: &Program, published: &Published) -> String {
    let references = program.references();
    let types = references.keys().filter_map(|reference| {
        let id = reference.id.as_deref()?;
        let values = published.values(reference.capacity, &reference.domain, id)?;
        Some(typed(reference, values).unwrap_or_else(|| {
            format!(
                "{} is published in several types: {}",
                full_name(reference),
                some_of(&values.texts)
            )
        }))
    });
    let types: Vec<String> = types.take(3).collect();
    match types.is_empty() {
        true => "use the function that fits the type".to_owned(),
        false => types.join("; "),
    }
}

/// The values that there are of what the expression looks at.
/// Some of them may be those of devices that were left out before.
pub(super) fn values(program: &Program, published: &Published, of_others: bool) -> String {
    let references = program.references();
    let known = references.keys().filter_map(|reference| {
        let id = reference.id.as_deref()?;
        let values = published.values(reference.capacity, &reference.domain, id)?;
        Some(format!(
            "{} is {}",
            full_name(reference),
            some_of(&values.texts)
        ))
    });
    let known: Vec<String> = known.take(3).collect();
    match known.is_empty() {
        true if program.drivers().is_empty() => {
            "compare device.driver, an attribute or a capacity: what is written looks at nothing of a device".to_owned()
        }
        true => format!("drivers that publish are {}", some_of(&published.drivers)),
        false if of_others => format!(
            "published by all devices, also by those that were left out before: {}",
            known.join("; ")
        ),
        false => format!("published: {}", known.join("; ")),
    }
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(begin)?;
    rest.split_once(end).map(|(found, _)| found)
}
