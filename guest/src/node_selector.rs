//! Node selectors: parsing with upstream's error texts, and matching against a node.
//!
//! Spec section 11; upstream's counterpart is the scheduler's node affinity helper. Terms are ORed, the requirements of a
//! term are ANDed, and a term without requirements matches nothing.

use crate::api;

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
        match &self.test {
            LabelTest::In(values) => value.is_some_and(|value| values.contains(value)),
            LabelTest::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
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
            &format!("Invalid value: {:?}: {message}", requirement.key),
        );
    }
    let test = match requirement.operator.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            errors.add(
                &format!("{path}.values"),
                "Invalid value: []: must not be empty for operators In and NotIn",
            );
            None
        }
        "In" => Some(LabelTest::In(values.clone())),
        "NotIn" => Some(LabelTest::NotIn(values.clone())),
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            errors.add(
                &format!("{path}.values"),
                "Invalid value: must be empty for operators Exists and DoesNotExist",
            );
            None
        }
        "Exists" => Some(LabelTest::Exists),
        "DoesNotExist" => Some(LabelTest::DoesNotExist),
        operator => parse_bound(values, path, errors).map(|bound| {
            if operator == "Gt" {
                LabelTest::Greater(bound)
            } else {
                LabelTest::Less(bound)
            }
        }),
    };
    for (i, value) in values.iter().enumerate() {
        if let Err(message) = check_label_value(value) {
            errors.add(
                &format!("{path}.values[{i}]"),
                &format!("Invalid value: {value:?}: {message}"),
            );
        }
    }
    if errors.0.len() > before {
        return None;
    }
    test.map(|test| LabelRequirement {
        key: requirement.key.clone(),
        test,
    })
}

fn parse_bound(values: &[String], path: &str, errors: &mut Errors) -> Option<i64> {
    let [value] = values else {
        errors.add(
            &format!("{path}.values"),
            "Invalid value: exactly one value is needed for operators Gt and Lt",
        );
        return None;
    };
    let bound = value.parse::<i64>().ok();
    if bound.is_none() {
        errors.add(
            &format!("{path}.values[0]"),
            &format!("Invalid value: {value:?}: must be an integer for operators Gt and Lt"),
        );
    }
    bound
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
            "Invalid value: exactly one value is needed",
        );
        return None;
    };
    Some(FieldRequirement {
        key: requirement.key.clone(),
        value: value.clone(),
        equal,
    })
}

fn unsupported(operator: &str, known: &[&str]) -> String {
    let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
    format!(
        "Unsupported value: {operator:?}: supported values: {}",
        known.join(", ")
    )
}

/// A label key: a name, optionally after a DNS subdomain and a slash.
fn check_label_key(key: &str) -> Result<(), &'static str> {
    let mut parts = key.split('/');
    let (prefix, name) = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) => (None, name),
        (Some(prefix), Some(name), None) => (Some(prefix), name),
        _ => return Err("a label key has at most one slash"),
    };
    if prefix.is_some_and(|prefix| !is_dns_subdomain(prefix)) {
        return Err("the part of a label key before the slash must be a DNS subdomain");
    }
    if name.is_empty() || !is_label_text(name) {
        return Err(
            "the name of a label key must be 1 to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends",
        );
    }
    Ok(())
}

fn check_label_value(value: &str) -> Result<(), &'static str> {
    if value.is_empty() || is_label_text(value) {
        return Ok(());
    }
    Err(
        "a label value must be empty or up to 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends",
    )
}

fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bytes.len() <= 63
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
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
    text.len() <= 253 && text.split('.').all(label)
}

#[cfg(test)]
mod tests;
