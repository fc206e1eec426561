//! Node selectors: parsing with upstream's error texts, and matching against a node.
//!
//! Spec section 11; upstream's counterpart is the scheduler's node affinity helper. Terms are ORed, the requirements of a
//! term are ANDed, and a term without requirements matches nothing.

use crate::api;
use crate::go_quote::quoted;

/// A parsed node selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSelector {
    /// Terms that are not empty; empty ones match nothing and are dropped.
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    labels: Vec<LabelRequirement>,
    fields: Vec<FieldRequirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelRequirement {
    key: String,
    test: LabelTest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum LabelTest {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    Greater(i64),
    Less(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldRequirement {
    key: String,
    value: String,
    equal: bool,
}

impl NodeSelector {
    /// Parses a selector; every requirement of every term must be valid.
    ///
    /// The error is the field path, a colon and what is wrong; several errors print as `[e1, e2]`.
    pub fn parse(selector: &api::NodeSelector) -> Result<Self, String> {
        let mut terms = Vec::with_capacity(selector.terms.len());
        let mut errors = Errors::default();
        for (i, term) in selector.terms.iter().enumerate() {
            if term.match_expressions.is_empty() && term.match_fields.is_empty() {
                continue;
            }
            let path = format!("nodeSelectorTerms[{i}]");
            terms.push(Term {
                labels: parse_each(
                    &term.match_expressions,
                    &format!("{path}.matchExpressions"),
                    &mut errors,
                    parse_label,
                ),
                fields: parse_each(
                    &term.match_fields,
                    &format!("{path}.matchFields"),
                    &mut errors,
                    parse_field,
                ),
            });
        }
        errors.into_result()?;
        Ok(Self { terms })
    }

    /// Whether the node is selected.
    pub fn matches(&self, node: &api::Node) -> bool {
        self.terms.iter().any(|term| term.matches(node))
    }
}

impl Term {
    fn matches(&self, node: &api::Node) -> bool {
        self.labels
            .iter()
            .all(|requirement| requirement.matches(node))
            && self
                .fields
                .iter()
                .all(|requirement| requirement.matches(node))
    }
}

impl LabelRequirement {
    fn matches(&self, node: &api::Node) -> bool {
        let value = node.labels.get(&self.key);
        let is_one_of = |values: &[String]| {
            value.is_some_and(|value| values.iter().any(|wanted| wanted == value))
        };
        match &self.test {
            LabelTest::In(values) => is_one_of(values),
            LabelTest::NotIn(values) => !is_one_of(values),
            LabelTest::Exists => value.is_some(),
            LabelTest::DoesNotExist => value.is_none(),
            LabelTest::Greater(bound) => value
                .and_then(|value| value.parse::<i64>().ok())
                .is_some_and(|value| value > *bound),
            LabelTest::Less(bound) => value
                .and_then(|value| value.parse::<i64>().ok())
                .is_some_and(|value| value < *bound),
        }
    }
}

impl FieldRequirement {
    fn matches(&self, node: &api::Node) -> bool {
        // The only field that nodes have; any other one reads as empty.
        let value = if self.key == "metadata.name" {
            node.name.as_str()
        } else {
            ""
        };
        (value == self.value) == self.equal
    }
}

/// Collected parse errors; no two are equal, since each names its own path.
#[derive(Default)]
struct Errors(Vec<String>);

impl Errors {
    fn add(&mut self, path: &str, message: &str) {
        self.0.push(format!("{path}: {message}"));
    }

    fn into_result(mut self) -> Result<(), String> {
        match self.0.len() {
            0 => Ok(()),
            1 => Err(self.0.remove(0)),
            _ => Err(format!("[{}]", self.0.join(", "))),
        }
    }
}

fn parse_each<T>(
    requirements: &[api::NodeSelectorRequirement],
    path: &str,
    errors: &mut Errors,
    parse: impl Fn(&api::NodeSelectorRequirement, &str, &mut Errors) -> Option<T>,
) -> Vec<T> {
    requirements
        .iter()
        .enumerate()
        .filter_map(|(i, requirement)| parse(requirement, &format!("{path}[{i}]"), errors))
        .collect()
}

fn parse_label(
    requirement: &api::NodeSelectorRequirement,
    path: &str,
    errors: &mut Errors,
) -> Option<LabelRequirement> {
    let values = &requirement.values;
    let before = errors.0.len();
    let known = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
    if !known.contains(&requirement.operator.as_str()) {
        errors.add(
            &format!("{path}.operator"),
            &unsupported(&requirement.operator, &known),
        );
        return None;
    }
    if let Err(message) = check_label_key(&requirement.key) {
        errors.add(
            &format!("{path}.key"),
            &invalid(&quoted(&requirement.key), &message),
        );
    }
    let number_of_values = match requirement.operator.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            Err("for 'in', 'notin' operators, values set can't be empty")
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            Err("values set must be empty for exists and does not exist")
        }
        "Gt" | "Lt" if values.len() != 1 => {
            Err("for 'Gt', 'Lt' operators, exactly one value is required")
        }
        _ => Ok(()),
    };
    if let Err(message) = number_of_values {
        errors.add(
            &format!("{path}.values"),
            &invalid(&go_list(values), message),
        );
    }
    let mut bound = 0;
    if matches!(requirement.operator.as_str(), "Gt" | "Lt") {
        for (i, value) in values.iter().enumerate() {
            match value.parse() {
                Ok(number) => bound = number,
                Err(_) => errors.add(
                    &format!("{path}.values[{i}]"),
                    &invalid(
                        &quoted(value),
                        "for 'Gt', 'Lt' operators, the value must be an integer",
                    ),
                ),
            }
        }
    }
    for (i, value) in values.iter().enumerate() {
        if let Err(message) = check_label_value(value) {
            errors.add(
                &format!("{path}.values[{i}][{}]", requirement.key),
                &invalid(&quoted(value), &message),
            );
        }
    }
    let test = match requirement.operator.as_str() {
        "In" => LabelTest::In(values.clone()),
        "NotIn" => LabelTest::NotIn(values.clone()),
        "Exists" => LabelTest::Exists,
        "DoesNotExist" => LabelTest::DoesNotExist,
        "Gt" => LabelTest::Greater(bound),
        _ => LabelTest::Less(bound),
    };
    (errors.0.len() == before).then(|| LabelRequirement {
        key: requirement.key.clone(),
        test,
    })
}

fn parse_field(
    requirement: &api::NodeSelectorRequirement,
    path: &str,
    errors: &mut Errors,
) -> Option<FieldRequirement> {
    let equal = match requirement.operator.as_str() {
        "In" => true,
        "NotIn" => false,
        operator => {
            errors.add(
                &format!("{path}.operator"),
                &unsupported(operator, &["In", "NotIn"]),
            );
            return None;
        }
    };
    let [value] = requirement.values.as_slice() else {
        errors.add(
            &format!("{path}.values"),
            &invalid(&go_list(&requirement.values), "must have one element"),
        );
        return None;
    };
    Some(FieldRequirement {
        key: requirement.key.clone(),
        value: value.clone(),
        equal,
    })
}

fn invalid(value: &str, message: &str) -> String {
    format!("Invalid value: {value}: {message}")
}

/// A list of strings as Go's `%#v` prints it; an empty one is taken for an absent one.
fn go_list(values: &[String]) -> String {
    if values.is_empty() {
        return "[]string(nil)".into();
    }
    let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
    format!("[]string{{{}}}", values.join(", "))
}

fn unsupported(operator: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|name| quoted(name)).collect();
    format!(
        "Unsupported value: {}: supported values: {}",
        quoted(operator),
        known.join(", ")
    )
}

/// What upstream says of a text that has another form than it should.
fn malformed(rule: &str, examples: &[&str], regex: &str) -> String {
    let examples: Vec<String> = examples
        .iter()
        .map(|example| format!("'{example}', "))
        .collect();
    format!(
        "{rule} (e.g. {}regex used for validation is '{regex}')",
        examples.join(" or ")
    )
}

const NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character";
const NAME_EXAMPLES: [&str; 3] = ["MyName", "my.name", "123-abc"];
const NAME_REGEX: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const NAME_LIMIT: usize = 63;
const SUBDOMAIN_LIMIT: usize = 253;

/// A label key: a name, optionally after a DNS subdomain and a slash. The error lists all that is wrong.
fn check_label_key(key: &str) -> Result<(), String> {
    let mut parts = key.split('/');
    let (prefix, name) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) => (None, name),
        (Some(prefix), Some(name), None) => (Some(prefix), name),
        _ => {
            return Err(format!(
                "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                malformed(NAME_RULE, &NAME_EXAMPLES, NAME_REGEX)
            ));
        }
    };
    let mut wrong = match prefix {
        None => Vec::new(),
        Some("") => vec!["prefix part must be non-empty".to_owned()],
        Some(prefix) => check_dns_subdomain(prefix),
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_LIMIT {
        wrong.push(format!("name part {}", too_long(NAME_LIMIT)));
    }
    if !is_label_text(name) {
        let text = malformed(NAME_RULE, &NAME_EXAMPLES, NAME_REGEX);
        wrong.push(format!("name part {text}"));
    }
    none_wrong(wrong)
}

fn check_label_value(value: &str) -> Result<(), String> {
    let mut wrong = Vec::new();
    if value.len() > NAME_LIMIT {
        wrong.push(too_long(NAME_LIMIT));
    }
    if !value.is_empty() && !is_label_text(value) {
        wrong.push(malformed(
            &format!(
                "a valid label must be an empty string or {}",
                &NAME_RULE["must ".len()..]
            ),
            &["MyValue", "my_value", "12345"],
            &format!("({NAME_REGEX})?"),
        ));
    }
    none_wrong(wrong)
}

fn check_dns_subdomain(text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if text.len() > SUBDOMAIN_LIMIT {
        wrong.push(format!("prefix part {}", too_long(SUBDOMAIN_LIMIT)));
    }
    if !is_dns_subdomain(text) {
        let text = malformed(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
             and end with an alphanumeric character",
            &["example.com"],
            r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        );
        wrong.push(format!("prefix part {text}"));
    }
    wrong
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn none_wrong(wrong: Vec<String>) -> Result<(), String> {
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ")),
    }
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(inner)
}

fn is_dns_subdomain(text: &str) -> bool {
    let lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let label = |label: &str| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(lower)
            && bytes.last().is_some_and(lower)
            && bytes.iter().all(|byte| lower(byte) || *byte == b'-')
    };
    text.split('.').all(label)
}

#[cfg(test)]
mod tests;
