//! With the scripted plugin there is nothing to swap; the runs with components are in `tests/`.

use super::*;

#[test]
fn a_violation_that_lasts_counts_once() {
    let mut report = Report::default();
    report.violated(vec!["a".into(), "b".into()]);
    report.violated(vec!["a".into()]);
    assert_eq!(report.violations, 2);
    assert!(report.to_string().ends_with("2 violations\n  a\n  b\n"));
}
