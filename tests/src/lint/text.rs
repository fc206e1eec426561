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
    expect![[r#"
        DeviceClass gpu (standard input:11)
          warning spec.config[0].opaque.parameters.mode
            kubectl reads on as a boolean, and YAML 1.2 as a text
            -> write true or false, or put it in quotes

        ResourceClaimTemplate default/pair (standard input:98)
          error spec.spec.devices.contraints
            unknown field "contraints"
            -> write "constraints"
          warning spec.spec.devices.requests[0].exactly.selectors[0].cel.expression
            the expression is true for none of the 3 devices published: no device has gpu.example.com/model
            "Large"
            -> published are "large", "small"; did you mean "large"?

        ResourceSlice slice-n1 (standard input:25)
          warning spec.pool.resourceSliceCount
            the pool gpu.example.com/n1 is incomplete: 1 slice of generation 2 where it says 2; its devices
            are not used
            -> publish exactly as many slices as it says, or wait until the driver has
    "#]].assert_eq(&finished.stdout);
    assert_eq!(
        finished.stderr,
        "1 error, 3 warnings and 0 hints in 12 objects\n"
    );
}

#[test]
fn nothing_found_is_said() {
    let finished = dractl_with(&["lint", "-"], CLUSTER.into());
    assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
    assert_eq!(finished.stdout, "nothing found in 12 objects\n");
}
