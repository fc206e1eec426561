//! The commands as a user meets them: what they say to bad input, their outputs, and the program with its streams.

mod bad_input;
mod output;
mod program;
mod soak;

/// An example that the repository brings along; every pod of it is placed.
fn example() -> String {
    let folder = crate::repository::root().join("tests/scenarios/example-gpu-test1/input");
    folder.display().to_string()
}

/// Every way to look at it.
const OUTPUTS: [&str; 5] = ["table", "wide", "json", "yaml", "html"];
