//! One remedy per kind of error in an expression, and when an expression that no device satisfies is an error.

use super::{CLUSTER, Found, lint};

const PATH: &str = "spec.spec.devices.requests[0].exactly.selectors[0].cel.expression";

/// The cluster, where all devices have a version and a boolean too, with another expression in its template.
fn with(expression: &str) -> String {
    let more =
        "      vers: {version: 1.2.3}\n      healthy: {bool: true}\n      model:\n        string:";
    CLUSTER
        .replace("      model:\n        string:", more)
        .replace(
            "        value: 80Gi\n",
            "        value: 80Gi\n      frame: {value: 1Gi}\n",
        )
        .replace(
            "device.attributes[\"gpu.example.com\"].model == \"large\"",
            &format!("'{}'", expression.replace('\'', "''")),
        )
}

fn about(expression: &str) -> Vec<Found> {
    let found = lint(&with(expression), &[]);
    found
        .into_iter()
        .filter(|found| found.path == PATH)
        .collect()
}

#[test]
fn one_remedy_per_kind_of_error() {
    for (expression, message, remedy) in [
        // Names.
        (
            "A.modle == \"large\"",
            "no such key: modle",
            "did you mean \"model\"?",
        ),
        (
            "A.model.string == \"large\"",
            "no such key: string",
            "leave out .string",
        ),
        (
            "A.numa == 0",
            "fails on 1 of the 3",
            "has(A.numa) && ..., or A.?numa.orValue(-1)",
        ),
        (
            "C.frame.compareTo(quantity(\"1Gi\")) == 0",
            "fails on 2 of the 3",
            "has(C.frame) && ...",
        ),
        // Types.
        (
            "A.model > 3",
            "no such overload",
            "gpu.example.com/model is a string",
        ),
        (
            "A.numa > \"0\"",
            "no such overload",
            "gpu.example.com/numa is an integer",
        ),
        (
            "A.vers >= \"1.2.3\"",
            "no such overload",
            "compare it with semver(\"1.2.3\"), by ==, isGreaterThan",
        ),
        (
            "A.healthy == \"true\"",
            "true for none of the 3",
            "gpu.example.com/healthy is a boolean",
        ),
        (
            "A.model == 3",
            "true for none of the 3",
            "gpu.example.com/model is a string",
        ),
        ("A.model", "converted to bool", "compare with something"),
        (
            "C.memory >= 40",
            "no matching overload",
            "compareTo(quantity(\"40Gi\")) >= 0",
        ),
        (
            "C.memory == \"40Gi\"",
            "no matching overload",
            "compareTo(quantity(\"40Gi\")) >= 0",
        ),
        (
            "C.memory.isGreaterThan(\"40Gi\")",
            "no matching overload",
            "isGreaterThan",
        ),
        (
            "A.vers.compareTo(\"1.2.3\") >= 0",
            "no matching overload",
            "semver(\"...\")",
        ),
        (
            "device.attributes[\"gpu.example.com/model\"] == \"a\"",
            "no matching overload",
            "two steps",
        ),
        // Texts that are no quantity or version.
        (
            "C.memory.compareTo(quantity(\"40GB\")) >= 0",
            "quantities must match",
            "\"40GB\" is no quantity: write \"40G\" or \"40Gi\"",
        ),
        (
            "A.vers.isGreaterThan(semver(\"1.2\"))",
            "Major.Minor.Patch",
            "write semver(\"1.2.0\")",
        ),
        (
            "A.vers.isGreaterThan(semver(\"v1.2.0\"))",
            "Invalid character",
            "write semver(\"1.2.0\")",
        ),
        // Compile errors, with their place.
        ("A.model = \"large\"", "(line 1, column 44)", "write =="),
        (
            "A.model == \"large",
            "token recognition error",
            "add the quote",
        ),
        (
            "A.model == large",
            "undeclared reference to 'large'",
            "strings need quotes",
        ),
        (
            "A.model == \"large\" and true",
            "mismatched input 'and'",
            "write &&",
        ),
        (
            "A.model == \"large\" &&",
            "mismatched input '<EOF>'",
            "ends too early",
        ),
        (
            "devices.driver == \"a\"",
            "undeclared reference to 'devices'",
            "the variable is device",
        ),
        (
            "device.attribute[\"a\"].b == 1",
            "undefined field 'attribute'",
            "did you mean \"attributes\"?",
        ),
        (
            "A.model.startWith(\"l\")",
            "undeclared reference to 'startWith'",
            "did you mean startsWith?",
        ),
        (
            "C.memory.value > 3",
            "does not support field selection",
            "a quantity has no fields",
        ),
        (
            "A.model.matches(\"[\")",
            "invalid matches argument",
            "regular expression",
        ),
        // Drivers.
        (
            "device.driver == \"gpu.exmaple.com\"",
            "no slice is of the driver \"gpu.exmaple.com\"",
            "did you mean \"gpu.example.com\"?",
        ),
    ] {
        let long = |text: &str| {
            text.replace("A.", "device.attributes[\"gpu.example.com\"].")
                .replace("C.", "device.capacity[\"gpu.example.com\"].")
        };
        let found = about(&long(expression));
        let is_it =
            |found: &Found| found.message.contains(message) && found.remedy.contains(&long(remedy));
        assert!(
            found.len() == 1 && is_it(&found[0]),
            "{expression}\n{found:#?}"
        );
    }
}

const NEVER: &str = "device.attributes[\"gpu.example.com\"].model == \"huge\"";

fn severity(input: &str) -> String {
    let found = lint(input, &[]);
    let mut found = found.into_iter().filter(|found| found.path == PATH);
    found
        .next()
        .unwrap_or_else(|| panic!("nothing about it in {input}"))
        .severity
}

/// A pod that waits for a device that is not there, with everything there that is published.
#[test]
fn a_claim_that_can_never_be_allocated_is_an_error() {
    let input = with(NEVER);
    assert_eq!(severity(&input), "error");
    // More slices of the pool may come.
    let incomplete = input.replace(
        "    generation: 2\n    resourceSliceCount: 1\n",
        "    generation: 2\n    resourceSliceCount: 2\n",
    );
    assert_eq!(severity(&incomplete), "warning");
    // What the slice says cannot be known; another driver's is not in question.
    let with_bad = |driver: &str| {
        format!(
            "{input}---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: bad}}\nspec: {{driver: {driver}, devices: 7}}\n"
        )
    };
    assert_eq!(severity(&with_bad("d")), "error");
    let found = lint(&with_bad("gpu.example.com"), &[]);
    assert!(!found.iter().any(|found| found.path == PATH), "{found:#?}");
    // No pod wants it.
    let unused = input.replace(
        "resourceClaimTemplateName: pair",
        "resourceClaimTemplateName: other",
    );
    assert_eq!(severity(&unused), "warning");
    // The driver publishes nothing here, and the class is for another one.
    let absent = with(
        "device.driver == \"nic.other.org\" && device.attributes[\"nic.other.org\"].model == \"huge\"",
    );
    assert_eq!(severity(&absent), "error");
}

/// A claim that holds its devices, and alternatives of which another may do.
#[test]
fn what_does_not_keep_anybody_waiting_is_none() {
    let never = format!("selectors: [{{cel: {{expression: '{NEVER}'}}}}]");
    let held = CLUSTER.replace(
        "        deviceClassName: gpu\nstatus:",
        &format!("        deviceClassName: gpu\n        {never}\nstatus:"),
    );
    let alternative = CLUSTER.replace(
        "      - name: large\n        deviceClassName: gpu\n",
        &format!("      - name: large\n        deviceClassName: gpu\n        {never}\n"),
    );
    for (input, severity) in [(held, "warning"), (alternative, "hint")] {
        let found = lint(&input, &[]);
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].severity, severity, "{found:#?}");
        assert!(found[0].message.contains("true for none"), "{found:#?}");
    }
}

/// No alternative at all is like no device at all.
#[test]
fn alternatives_none_of_which_can_be_had() {
    let never = format!("selectors: [{{cel: {{expression: '{NEVER}'}}}}]");
    let none = CLUSTER.replace(
        "      - name: large\n        deviceClassName: gpu\n      - name: small\n        deviceClassName: gpu\n",
        &format!("      - name: large\n        deviceClassName: gpu\n        {never}\n      - name: small\n        deviceClassName: gpu\n        {never}\n"),
    );
    let found = lint(&none, &[]);
    let errors: Vec<&Found> = found
        .iter()
        .filter(|found| found.severity == "error")
        .collect();
    assert_eq!(errors.len(), 1, "{found:#?}");
    assert_eq!(errors[0].path, "spec.devices.requests[0].firstAvailable");
    assert!(
        errors[0]
            .message
            .contains("none of the 3 devices published")
    );
}

/// Which selector left how many.
#[test]
fn what_was_left_is_told_of_the_one_that_left_it() {
    let two = CLUSTER.replace(
        "expression: device.attributes[\"gpu.example.com\"].model == \"large\"\n",
        "expression: device.attributes[\"gpu.example.com\"].model == \"small\"\n          - cel:\n              expression: device.attributes[\"gpu.example.com\"].numa == 1\n",
    );
    let found = lint(&two, &[]);
    assert!(
        found.iter().any(|found| found
            .message
            .contains("true for none of the 1 device that the selectors before it leave")),
        "{found:#?}"
    );
    assert!(
        !found
            .iter()
            .any(|found| found.message.contains("DeviceClass gpu leaves")),
        "{found:#?}"
    );
}
