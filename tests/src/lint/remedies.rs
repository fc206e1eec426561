//! Remedies that are right when they are followed: what is told to be written is what the API takes.

use super::lint;

/// A node, a class, a slice and a claim, with places for a device's attribute, a count and an expression.
const INPUT: &str = r#"
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: d, attributes: {a: {ATTRIBUTE}}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, labels: {l: LABEL}}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: COUNT, selectors: [{cel: {expression: 'EXPRESSION'}}]}}]}}
"#;

const RIGHT: [[&str; 2]; 4] = [
    ["ATTRIBUTE", "int: 1"],
    ["COUNT", "1"],
    ["EXPRESSION", "true"],
    ["LABEL", "\"1\""],
];

/// What stands at a place instead, the severity, and the remedy.
const ROWS: [[&str; 4]; 14] = [
    ["COUNT", "\"010\"", "error", "write 10, without quotes"],
    ["COUNT", "\"1\"", "error", "remove the quotes"],
    [
        "COUNT",
        "33",
        "error",
        "ask for fewer, or use several claims",
    ],
    [
        "ATTRIBUTE",
        "version: 1.2",
        "error",
        "write \"1.2.0\", in quotes",
    ],
    [
        "ATTRIBUTE",
        "version: 1",
        "error",
        "write \"1.0.0\", in quotes",
    ],
    [
        "ATTRIBUTE",
        "int: 9223372036854775808",
        "error",
        "write a number from -9223372036854775808 to 9223372036854775807",
    ],
    ["ATTRIBUTE", "string: 7", "error", "put it in quotes"],
    ["LABEL", "yes", "error", "put it in quotes"],
    ["LABEL", "1_000", "error", "put it in quotes"],
    ["LABEL", "1", "error", "put it in quotes"],
    ["LABEL", "true", "error", "put it in quotes"],
    [
        "EXPRESSION",
        "false",
        "error",
        "compare device.driver, an attribute or a capacity",
    ],
    [
        "EXPRESSION",
        "device.attributes[\"d.example.com\"].a.includes(1)",
        "warning",
        "--feature DRAListTypeAttributes=true",
    ],
    [
        "EXPRESSION",
        "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, a + b + c + d + e + f > 0))))))",
        "error",
        "look at fewer things",
    ],
];

fn with(place: &str, value: &str) -> String {
    let input = INPUT.replace(place, value);
    RIGHT
        .iter()
        .fold(input, |input, [place, value]| input.replace(place, value))
}

#[test]
fn what_is_told_can_be_written() {
    let found = lint(&with("nothing", ""), &[]);
    assert!(found.is_empty(), "{found:#?}");
    for [place, value, severity, remedy] in ROWS {
        let found = lint(&with(place, value), &[]);
        let [it] = &found[..] else {
            panic!("{value}: {found:#?}");
        };
        assert_eq!(it.severity, severity, "{it:#?}");
        assert!(it.remedy.contains(remedy), "{value}: {it:#?}");
        assert!(!it.message.contains("line -1"), "{it:#?}");
    }
}

#[test]
fn expressions_that_are_not_parsed_have_no_place() {
    let deep = format!("{}true{}", "(".repeat(300), ")".repeat(300));
    let found = lint(&with("EXPRESSION", &deep), &[]);
    let [it] = &found[..] else {
        panic!("{found:#?}");
    };
    assert!(
        it.message.contains("recursion limit") && !it.message.contains("line"),
        "{it:#?}"
    );
    assert!(it.remedy.contains("several selectors"), "{it:#?}");
}

#[test]
fn a_driver_that_the_class_excludes() {
    let class = "metadata: {name: gpu}\nspec: {selectors: [{cel: {expression: \"device.driver == 'd.example.com'\"}}]}";
    let input =
        |expression: &str| with("EXPRESSION", expression).replace("metadata: {name: gpu}", class);
    assert!(lint(&input("device.driver == \"d.example.com\""), &[]).is_empty());
    let found = lint(&input("device.driver == \"other.vendor.org\""), &[]);
    let [it] = &found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!(it.severity, "error");
    assert!(
        it.message
            .contains("DeviceClass gpu is for d.example.com, the expression for other.vendor.org"),
        "{it:#?}"
    );
    // A slip is the better explanation.
    let found = lint(&input("device.driver == \"d.exampel.com\""), &[]);
    assert_eq!(
        [&*found[0].severity, &*found[0].remedy],
        ["error", "did you mean \"d.example.com\"?"]
    );
}

#[test]
fn a_class_that_the_input_lacks_is_told_once() {
    let claim = |i: usize| {
        format!(
            "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {{name: c{i}}}\nspec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: far.away.org}}}}, {{name: s, exactly: {{deviceClassName: far.away.org}}}}]}}}}\n---\n"
        )
    };
    let found = lint(&(claim(0) + &claim(1)), &[]);
    let classes: Vec<&str> = found
        .iter()
        .filter(|found| found.message.contains("DeviceClass"))
        .map(|found| found.message.as_str())
        .collect();
    assert_eq!(
        classes,
        ["there is no DeviceClass \"far.away.org\" in the input (as in 3 other places)"]
    );
}
