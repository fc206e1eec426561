//! Tables of the structured allocator.

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

/// Runs one case.
pub fn run_random(_file: &str, _number: usize, _case: &Value) -> Outcome {
    Outcome {
        verdict: Verdict::Differs("not run yet"),
        component: false,
        native: false,
    }
}
