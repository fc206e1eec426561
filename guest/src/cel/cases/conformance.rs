//! The recorded compile tables of upstream (`cel-compile-*.jsonl`) and their comparison rules.

use serde_json::Value as Json;

use super::{device_input, flag, text};
use crate::cel::Environment;
use crate::profile::Profile;

/// Runs a table and returns the number of passed cases, and a line for each failed one.
///
/// # Errors
/// If a line is not a case.
pub fn run(table: &str, profile: &Profile) -> Result<(usize, Vec<String>), String> {
    let plain = Environment::new(profile);
    let lists = Environment::with_list_type_attributes(profile);
    let (mut passed, mut failed) = (0, Vec::new());
    for (number, line) in table
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let case: Json =
            serde_json::from_str(line).map_err(|e| format!("line {}: {e}", number + 1))?;
        let env = if flag(&case, "enableListTypeAttributes") {
            &lists
        } else {
            &plain
        };
        match judge(&case, env) {
            Ok(()) => passed += 1,
            Err(problem) => failed.push(format!(
                "{}: {problem}: {}",
                text(&case, "name"),
                text(&case, "expression")
            )),
        }
    }
    Ok((passed, failed))
}

fn judge(case: &Json, env: &Environment) -> Result<(), String> {
    let program = match env.compile(text(case, "expression")) {
        Ok(program) => program,
        Err(error) => {
            return same_error(
                &error.to_string(),
                case,
                "expectCompileErrorContains",
                "actualCompileError",
            );
        }
    };
    let input = device_input(case)?;
    let evaluation = program.evaluate(&env.device_from(&input));
    let recorded_error = !text(case, "actualCompileError").is_empty();
    match evaluation.verdict {
        _ if recorded_error => Err(format!(
            "compiles, expected {}",
            text(case, "actualCompileError")
        )),
        Err(error) => same_error(
            &error.to_string(),
            case,
            "expectMatchErrorContains",
            "actualMatchError",
        ),
        Ok(verdict) if !text(case, "actualMatchError").is_empty() => Err(format!(
            "{verdict}, expected {}",
            text(case, "actualMatchError")
        )),
        Ok(verdict) if verdict != flag(case, "actualMatch") => Err(format!("match is {verdict}")),
        Ok(_) => match case.get("actualCost").and_then(Json::as_u64) {
            Some(cost) if cost != evaluation.cost => {
                Err(format!("cost is {}, expected {cost}", evaluation.cost))
            }
            _ => Ok(()),
        },
    }
}

/// The expected part of the text, and its first line without the position in the source. What upstream's table does not
/// expect to fail must not.
fn same_error(got: &str, case: &Json, expected: &str, recorded: &str) -> Result<(), String> {
    let (part, whole) = (text(case, expected), text(case, recorded));
    if part.is_empty() || !got.contains(part) || first_line(got) != first_line(whole) {
        return Err(format!(
            "{:?}, expected {:?}",
            first_line(got),
            first_line(whole)
        ));
    }
    Ok(())
}

fn first_line(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    match line.split_once("<input>:") {
        Some((head, tail)) => format!("{head}{}", tail.splitn(3, ':').nth(2).unwrap_or_default()),
        None => line.to_string(),
    }
}
