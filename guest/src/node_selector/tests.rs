//! Node selectors term by term, with the texts of what does not parse.

use super::*;
use crate::api;

fn requirement(key: &str, operator: &str, values: &[&str]) -> api::NodeSelectorRequirement {
    let values = values.iter().map(|value| value.to_string()).collect();
    api::NodeSelectorRequirement {
        key: key.into(),
        operator: operator.into(),
        values,
    }
}

fn labels(requirements: &[(&str, &str, &[&str])]) -> api::NodeSelectorTerm {
    let match_expressions = requirements
        .iter()
        .map(|(key, operator, values)| requirement(key, operator, values))
        .collect();
    api::NodeSelectorTerm {
        match_expressions,
        match_fields: Vec::new(),
    }
}

fn fields(requirements: &[(&str, &str, &[&str])]) -> api::NodeSelectorTerm {
    let match_fields = requirements
        .iter()
        .map(|(key, operator, values)| requirement(key, operator, values))
        .collect();
    api::NodeSelectorTerm {
        match_expressions: Vec::new(),
        match_fields,
    }
}

fn node() -> api::Node {
    let labels = [
        ("zone", "a"),
        ("gpus", "8"),
        ("empty", ""),
        ("text", "x1"),
        ("example.com/big", "9223372036854775807"),
    ];
    api::Node {
        name: "n1".into(),
        labels: labels
            .iter()
            .map(|(key, value)| (key.to_string(), value.to_string()))
            .collect(),
        number: None,
    }
}

#[track_caller]
fn check(terms: &[api::NodeSelectorTerm], expect: Result<bool, &str>) {
    let parsed = NodeSelector::parse(&api::NodeSelector {
        terms: terms.to_vec(),
    });
    let got = parsed.map(|selector| selector.matches(&node()));
    assert_eq!(
        got.as_ref().map_err(String::as_str),
        expect.as_ref().map_err(|text| *text)
    );
}

#[track_caller]
fn check_error_at(term: api::NodeSelectorTerm, path: &str) {
    let error =
        NodeSelector::parse(&api::NodeSelector { terms: vec![term] }).expect_err("must not parse");
    assert!(error.starts_with(&format!("{path}: ")), "{error}");
}

#[test]
fn in_and_not_in() {
    check(&[labels(&[("zone", "In", &["b", "a"])])], Ok(true));
    check(&[labels(&[("zone", "In", &["b"])])], Ok(false));
    check(&[labels(&[("absent", "In", &["b"])])], Ok(false));
    check(&[labels(&[("zone", "NotIn", &["b"])])], Ok(true));
    check(&[labels(&[("zone", "NotIn", &["b", "a"])])], Ok(false));
    // T17: absent label.
    check(&[labels(&[("absent", "NotIn", &["b"])])], Ok(true));
    check(&[labels(&[("empty", "In", &[""])])], Ok(true));
}

#[test]
fn exists_and_does_not_exist() {
    check(&[labels(&[("zone", "Exists", &[])])], Ok(true));
    check(&[labels(&[("absent", "Exists", &[])])], Ok(false));
    check(&[labels(&[("zone", "DoesNotExist", &[])])], Ok(false));
    check(&[labels(&[("absent", "DoesNotExist", &[])])], Ok(true));
}

#[test]
fn greater_and_less() {
    check(&[labels(&[("gpus", "Gt", &["7"])])], Ok(true));
    check(&[labels(&[("gpus", "Gt", &["8"])])], Ok(false));
    check(&[labels(&[("gpus", "Lt", &["9"])])], Ok(true));
    check(&[labels(&[("gpus", "Lt", &["8"])])], Ok(false));
    check(&[labels(&[("text", "Gt", &["1"])])], Ok(false));
    check(&[labels(&[("text", "Lt", &["1"])])], Ok(false));
    check(&[labels(&[("absent", "Lt", &["1"])])], Ok(false));
    check(
        &[labels(&[(
            "example.com/big",
            "Gt",
            &["9223372036854775806"],
        )])],
        Ok(true),
    );
}

#[test]
fn terms_and_requirements() {
    let yes = labels(&[("zone", "In", &["a"])]);
    let no = labels(&[("zone", "In", &["b"])]);
    check(&[], Ok(false));
    check(&[api::NodeSelectorTerm::default()], Ok(false));
    check(&[api::NodeSelectorTerm::default(), yes.clone()], Ok(true));
    check(&[no.clone(), yes.clone()], Ok(true));
    check(
        &[labels(&[("zone", "In", &["a"]), ("zone", "In", &["b"])])],
        Ok(false),
    );
    let mut both = yes;
    both.match_fields = vec![requirement("metadata.name", "In", &["n2"])];
    check(&[both], Ok(false));
}

#[test]
fn node_fields() {
    check(&[fields(&[("metadata.name", "In", &["n1"])])], Ok(true));
    check(&[fields(&[("metadata.name", "In", &["n2"])])], Ok(false));
    check(&[fields(&[("metadata.name", "NotIn", &["n1"])])], Ok(false));
    check(&[fields(&[("metadata.name", "NotIn", &["n2"])])], Ok(true));
    check(&[fields(&[("metadata.uid", "In", &["x"])])], Ok(false));
    check(&[fields(&[("metadata.uid", "NotIn", &["x"])])], Ok(true));
    check(&[fields(&[("metadata.uid", "In", &[""])])], Ok(true));
}

#[test]
fn unknown_operator() {
    let known = r#"supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt""#;
    let first = format!(
        r#"nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "X": {known}"#
    );
    check(&[labels(&[("zone", "X", &["a"])])], Err(&first));
    let second = format!(
        r#"nodeSelectorTerms[1].matchExpressions[1].operator: Unsupported value: "Y": {known}"#
    );
    let bad = [
        labels(&[("zone", "X", &["a"])]),
        labels(&[("zone", "Exists", &[]), ("zone", "Y", &[])]),
    ];
    check(&bad, Err(&format!("[{first}, {second}]")));
}

#[test]
fn bad_requirements_name_their_field() {
    let expressions = "nodeSelectorTerms[0].matchExpressions[0]";
    check_error_at(
        labels(&[("zone", "In", &[])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "NotIn", &[])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "Exists", &["a"])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "DoesNotExist", &["a"])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "Gt", &[])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "Lt", &["1", "2"])]),
        &format!("{expressions}.values"),
    );
    check_error_at(
        labels(&[("zone", "Lt", &["x"])]),
        &format!("{expressions}.values[0]"),
    );
    check_error_at(
        labels(&[("zone", "Gt", &["9223372036854775808"])]),
        &format!("{expressions}.values[0]"),
    );
    check_error_at(
        labels(&[("a/b/c", "Exists", &[])]),
        &format!("{expressions}.key"),
    );
    check_error_at(
        labels(&[("", "Exists", &[])]),
        &format!("{expressions}.key"),
    );
    check_error_at(
        labels(&[("Upper.com/x", "Exists", &[])]),
        &format!("{expressions}.key"),
    );
    check_error_at(
        labels(&[("-x", "Exists", &[])]),
        &format!("{expressions}.key"),
    );
    check_error_at(
        labels(&[("zone", "In", &["ok", "not ok"])]),
        &format!("{expressions}.values[1][zone]"),
    );
    check_error_at(
        labels(&[("zone", "In", &[&"x".repeat(64)])]),
        &format!("{expressions}.values[0][zone]"),
    );
    let fields_path = "nodeSelectorTerms[0].matchFields[0]";
    check_error_at(
        fields(&[("metadata.name", "Exists", &[])]),
        &format!("{fields_path}.operator"),
    );
    check_error_at(
        fields(&[("metadata.name", "In", &["a", "b"])]),
        &format!("{fields_path}.values"),
    );
}

#[test]
fn one_bad_term_spoils_all() {
    let bad = labels(&[("zone", "Lt", &["x"])]);
    let good = labels(&[("zone", "Exists", &[])]);
    assert!(
        NodeSelector::parse(&api::NodeSelector {
            terms: vec![good, bad]
        })
        .is_err()
    );
}

#[test]
fn key_and_value_syntax() {
    let long = "x".repeat(63);
    for key in ["a", "A_b.c-d9", "example.com/x", "a.b-c.d/X", long.as_str()] {
        assert_eq!(check_label_key(key), Ok(()), "{key}");
    }
    for key in ["/x", "x/", "a b", "x.", "_x", "a..b/x", "-a/x", "é"] {
        assert!(check_label_key(key).is_err(), "{key}");
    }
    for value in ["", "a", "A-1_2.b", long.as_str()] {
        assert_eq!(check_label_value(value), Ok(()), "{value}");
    }
    for value in ["-5", "+5", "a ", ".a", "a/b"] {
        assert!(check_label_value(value).is_err(), "{value}");
    }
}

/// The texts of the API machinery's own validation, which the plugin hands on.
#[test]
fn texts_of_bad_requirements() {
    let at = "nodeSelectorTerms[0].matchExpressions[0]";
    let form = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
                character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let value_form = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
                      start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used \
                      for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let cases: [(&str, &str, &[&str], String); 9] = [
        (
            "zone",
            "In",
            &[],
            format!(
                "{at}.values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty"
            ),
        ),
        (
            "zone",
            "Exists",
            &["a", "b"],
            format!(
                "{at}.values: Invalid value: []string{{\"a\", \"b\"}}: values set must be empty for exists and does not exist"
            ),
        ),
        (
            "zone",
            "Gt",
            &[],
            format!(
                "{at}.values: Invalid value: []string(nil): for 'Gt', 'Lt' operators, exactly one value is required"
            ),
        ),
        (
            "zone",
            "Lt",
            &["x"],
            format!(
                "{at}.values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
        // Negative numbers are integers, but no label values.
        (
            "zone",
            "Gt",
            &["-1"],
            format!("{at}.values[0][zone]: Invalid value: \"-1\": {value_form}"),
        ),
        (
            "-x",
            "Exists",
            &[],
            format!("{at}.key: Invalid value: \"-x\": name part {form}"),
        ),
        (
            "",
            "Exists",
            &[],
            format!("{at}.key: Invalid value: \"\": name part must be non-empty; name part {form}"),
        ),
        (
            "a/b/c",
            "Exists",
            &[],
            format!(
                "{at}.key: Invalid value: \"a/b/c\": a qualified name {form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ),
        ),
        (
            "/x",
            "Exists",
            &[],
            format!("{at}.key: Invalid value: \"/x\": prefix part must be non-empty"),
        ),
    ];
    for (key, operator, values, text) in cases {
        check(&[labels(&[(key, operator, values)])], Err(&text));
    }
    check(
        &[fields(&[("metadata.name", "In", &[])])],
        Err(
            "nodeSelectorTerms[0].matchFields[0].values: Invalid value: []string(nil): must have one element",
        ),
    );
    check(
        &[labels(&[("zone", "Lt", &["x", "1"])])],
        Err(&format!(
            "[{at}.values: Invalid value: []string{{\"x\", \"1\"}}: for 'Gt', 'Lt' operators, exactly one value is required, \
             {at}.values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer]"
        )),
    );
    let long = "x".repeat(64);
    check(
        &[labels(&[(&long, "Exists", &[])])],
        Err(&format!(
            "{at}.key: Invalid value: \"{long}\": name part must be no more than 63 characters"
        )),
    );
}
