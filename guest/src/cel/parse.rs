//! From text to tree, with the crate's parser behind our guard.

use cel_interpreter::common::ast::{IdedExpr, SourceInfo};
use cel_interpreter::parser::ParseError;

use super::guard::{self, Refusal};
use super::{issues, macros};

/// The crate's limit is above cel-go's, which the guard keeps.
const PARSER_DEPTH: u16 = 1_000;

/// The crate's environment: our macros, no functions of its own.
pub(crate) fn environment(minor: u32) -> cel_interpreter::Env {
    let mut env = cel_interpreter::Env::default();
    for m in macros::macros(minor) {
        // Only a duplicate is refused, and there is none.
        let _added = env.add_macro(m);
    }
    env
}

/// Parses an expression.
///
/// # Errors
/// cel-go's issues, one block each.
pub(crate) fn parse(
    env: &cel_interpreter::Env,
    source: &str,
) -> Result<(IdedExpr, SourceInfo), String> {
    guard::check(source).map_err(|refusal| match refusal {
        Refusal::Limit(message) => format!("ERROR: <input>:-1:0: {message}\n | \n | ^"),
        Refusal::NoToken(start, end) => {
            let text = source.get(start..end).unwrap_or_default().escape_default();
            let message = format!("Syntax error: token recognition error at: '{text}'");
            issues::at_offset(source, start as u32, &message)
        }
    })?;
    let parser = env.parser().max_recursion_depth(PARSER_DEPTH);
    parser.parse_with_source_info(source).map_err(|errors| {
        // Consequences of a syntax error, in the crate's own words.
        let is_consequence = |error: &&ParseError| error.msg.starts_with("Incomplete ");
        let all = errors.errors.iter();
        let causes = all.clone().filter(|error| !is_consequence(error));
        let none = causes.clone().next().is_none();
        let blocks: Vec<String> = if none {
            all.take(1).map(|e| block(source, e)).collect()
        } else {
            causes
                .take(issues::MOST_ISSUES)
                .map(|e| block(source, e))
                .collect()
        };
        blocks.join("\n")
    })
}

fn block(source: &str, error: &ParseError) -> String {
    let place = |n: isize| usize::try_from(n).unwrap_or(0);
    issues::at(source, place(error.pos.0), place(error.pos.1), &error.msg)
}
