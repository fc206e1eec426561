//! The functions of the dialect by name. An implementation takes any arguments: if they fit no overload it says so, and
//! the caller makes cel-go's message of it.

use super::eval::Run;
use super::value::{Fail, Outcome, Value};

pub(crate) mod convert;
pub(crate) mod format;
pub(crate) mod lists;
pub(crate) mod net;
pub(crate) mod operators;
pub(crate) mod optional;
pub(crate) mod quantities;
pub(crate) mod regex;
pub(crate) mod strings;
pub(crate) mod templates;
pub(crate) mod times;
pub(crate) mod url;
pub(crate) mod versions;

/// An implementation. The receiver of a member call is the first argument.
pub(crate) type Function = fn(&mut Run<'_>, &[Value]) -> Outcome;

/// The implementation of a declared function; control flow (`&&`, `?:`, `or` and so on) is not among them.
pub(crate) fn find(name: &str) -> Option<Function> {
    let tables: [&[(&str, Function)]; 11] = [
        operators::TABLE,
        convert::TABLE,
        strings::TABLE,
        lists::TABLE,
        regex::TABLE,
        optional::TABLE,
        quantities::TABLE,
        versions::TABLE,
        net::TABLE,
        times::TABLE,
        url::TABLE,
    ];
    let in_tables = tables
        .iter()
        .flat_map(|table| table.iter())
        .find(|(n, _)| *n == name)
        .map(|(_, f)| *f);
    in_tables.or_else(|| format::find(name))
}

/// For arguments that no overload takes.
pub(crate) fn no_overload() -> Outcome {
    Err(Fail::NoOverload)
}

/// Makes a string after asking for its memory.
pub(crate) fn new_string(run: &mut Run<'_>, text: &str) -> Outcome {
    run.budget.memory(text.len())?;
    Ok(Value::string(text))
}

/// Makes a list after asking for its memory.
pub(crate) fn new_list(run: &mut Run<'_>, values: Vec<Value>) -> Outcome {
    run.budget
        .memory(values.len().saturating_mul(size_of::<Value>()))?;
    Ok(Value::list(values))
}
