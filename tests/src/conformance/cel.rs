//! Tables of CEL expressions.

use serde_json::Value;

use super::{Outcome, Verdict};

/// Runs one case.
pub fn run(_file: &str, _number: usize, _case: &Value) -> Outcome {
    Outcome {
        verdict: Verdict::Differs("not run yet"),
        component: false,
        native: false,
    }
}
