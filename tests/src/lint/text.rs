//! The output for people.

use expect_test::expect;

use super::CLUSTER;
use crate::command::dractl_with;

#[test]
fn object_path_sentence_and_remedy_within_a_hundred_columns() {
    let input = CLUSTER
        .replace("      constraints:\n", "      contraints:\n")
        .replace("model == \"large\"", "model == \"Large\"")
        .replace("        mode: shared\n", "        mode: on\n")
        .replace(
            "    generation: 2\n    resourceSliceCount: 1\n",
            "    generation: 2\n    resourceSliceCount: 2\n",
        );
    let finished = dractl_with(&["lint", "-"], input.into());
    assert_eq!(finished.status, 1);
    assert!(
        finished
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 100)
    );
    expect![[r#""#]].assert_eq(&finished.stdout);
    assert_eq!(
        finished.stderr,
        "1 error, 3 warnings and 0 hints in 14 objects\n"
    );
}

#[test]
fn nothing_found_is_said() {
    let finished = dractl_with(&["lint", "-"], CLUSTER.into());
    assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
    assert_eq!(finished.stdout, "nothing found in 12 objects\n");
}
