//! `dractl simulate` as a user meets it: what it says to bad input, its outputs, and the program with its streams.

mod bad_input;
mod output;
mod program;

/// An example that the repository brings along; every pod of it is placed.
fn example() -> String {
    let folder = crate::repository::root().join("tests/scenarios/example-gpu-test1/input");
    folder.display().to_string()
}

/// Every way to look at it.
const OUTPUTS: [&str; 5] = ["table", "wide", "json", "yaml", "html"];
