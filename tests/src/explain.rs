//! `dractl explain`: its verdict is the decision, its sentences name the cause, and both forms keep what they promise.

use serde_json::Value;

use crate::command::{Finished, dractl, dractl_with};
use crate::schema::check_against;

mod agreement;
mod own;
mod published;
mod remedies;
mod together;

const SCHEMA: &str = include_str!("../../host/schemas/explain.schema.json");
const PLUGIN_SCHEMA: &str = include_str!("../../guest/schemas/explain.schema.json");

/// What is wrong with the form of an answer: its own, and that of the plugin's documents in it.
fn violations(output: &Value) -> Vec<String> {
    let mut found = check_against(SCHEMA, output);
    for node in output["nodes"].as_array().into_iter().flatten() {
        if node["document"].is_object() {
            found.extend(check_against(PLUGIN_SCHEMA, &node["document"]));
        }
    }
    found
}

/// Runs the command on an input of the test.
fn explain_text(pod: &[&str], input: &str) -> Finished {
    let mut arguments = vec!["explain"];
    arguments.extend(pod);
    arguments.push("-");
    dractl_with(&arguments, input.into())
}

/// The same, with files.
fn explain(arguments: &[&str]) -> Finished {
    let mut all = vec!["explain"];
    all.extend(arguments);
    dractl(&all)
}

/// Nothing is wider than a terminal.
fn assert_narrow(text: &str) {
    // An object's name that is too long stands alone.
    let wide = text
        .lines()
        .filter(|line| line.chars().count() > 100 && line.trim().contains(' '));
    assert_eq!(wide.collect::<Vec<_>>(), Vec::<&str>::new());
}
