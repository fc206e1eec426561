//! The format library: named string formats of Kubernetes and what is wrong with a string that does not follow one.

use super::{Function, no_overload, url::Url};
use crate::cel::eval::Run;
use crate::cel::time::Timestamp;
use crate::cel::value::{Outcome, Value};

/// A named format.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    name: &'static str,
    /// Length of the expression that upstream would match, for the cost.
    pub(crate) regex_size: u64,
    /// What is wrong with a string; nothing if it is valid.
    validate: fn(&str) -> Vec<String>,
}

static FORMATS: [NamedFormat; 13] = [
    NamedFormat {
        name: "dns1123Label",
        regex_size: 30,
        validate: dns1123_label,
    },
    NamedFormat {
        name: "dns1123Subdomain",
        regex_size: 60,
        validate: dns1123_subdomain,
    },
    NamedFormat {
        name: "dns1035Label",
        regex_size: 30,
        validate: dns1035_label,
    },
    NamedFormat {
        name: "qualifiedName",
        regex_size: 60,
        validate: qualified_name,
    },
    NamedFormat {
        name: "dns1123LabelPrefix",
        regex_size: 30,
        validate: |s| dns1123_label(&mask_dash(s)),
    },
    NamedFormat {
        name: "dns1123SubdomainPrefix",
        regex_size: 60,
        validate: |s| dns1123_subdomain(&mask_dash(s)),
    },
    NamedFormat {
        name: "dns1035LabelPrefix",
        regex_size: 30,
        validate: |s| dns1035_label(&mask_dash(s)),
    },
    NamedFormat {
        name: "labelValue",
        regex_size: 40,
        validate: label_value,
    },
    NamedFormat {
        name: "uri",
        regex_size: 992,
        validate: |s| Url::parse_request(s).err().into_iter().collect(),
    },
    NamedFormat {
        name: "uuid",
        regex_size: 84,
        validate: |s| unless(is_uuid(s), "does not match the UUID format"),
    },
    NamedFormat {
        name: "byte",
        regex_size: 84,
        validate: |s| unless(is_base64(s), "invalid base64"),
    },
    NamedFormat {
        name: "date",
        regex_size: 147,
        validate: |s| unless(is_date(s), "invalid date"),
    },
    NamedFormat {
        name: "datetime",
        regex_size: 147,
        validate: |s| unless(is_datetime(s), "invalid datetime"),
    },
];

fn named(name: &str) -> Option<&'static NamedFormat> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The functions: `format.named`, `validate`, and `format.NAME` for each format.
pub(super) fn find(function: &str) -> Option<Function> {
    match function {
        "format.named" => Some(|_, args| match args {
            [Value::String(name)] => {
                Ok(named(name).map_or(Value::Optional(None), |f| Value::some(Value::Format(f))))
            }
            _ => no_overload(),
        }),
        "validate" => Some(validate),
        _ => named(function.strip_prefix("format.")?).map(|_| constant as Function),
    }
}

fn constant(run: &mut Run<'_>, _: &[Value]) -> Outcome {
    let name = run.function.strip_prefix("format.").unwrap_or_default();
    named(name).map_or_else(no_overload, |format| Ok(Value::Format(format)))
}

fn validate(run: &mut Run<'_>, args: &[Value]) -> Outcome {
    let [Value::Format(format), Value::String(text)] = args else {
        return no_overload();
    };
    run.budget.memory(text.len())?;
    let problems = (format.validate)(text);
    if problems.is_empty() {
        return Ok(Value::Optional(None));
    }
    Ok(Value::some(Value::list(
        problems.iter().map(Value::string).collect(),
    )))
}

fn unless(valid: bool, problem: &str) -> Vec<String> {
    if valid {
        Vec::new()
    } else {
        vec![problem.to_string()]
    }
}

/// A prefix may end in a dash, because something follows.
fn mask_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(head) if text.len() > 1 => format!("{head}a"),
        _ => text.to_string(),
    }
}

fn too_long(text: &str, most: usize) -> Option<String> {
    (text.len() > most).then(|| format!("must be no more than {most} characters"))
}

fn is_label(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

fn regex_problem(what: &str, example: &[&str], regex: &str) -> String {
    let examples: Vec<String> = example.iter().map(|e| format!("'{e}'")).collect();
    format!(
        "{what} (e.g. {}, regex used for validation is '{regex}')",
        examples.join(",  or ")
    )
}

fn dns1123_label(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) {
        problems.push(regex_problem(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character",
            &["my-name", "123-abc"],
            "[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        ));
    }
    problems
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn dns1123_subdomain(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 253).into_iter().collect();
    if !is_subdomain(text) {
        problems.push(regex_problem(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            &["example.com"],
            r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        ));
    }
    problems
}

fn dns1035_label(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        problems.push(regex_problem(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character",
            &["my-name", "abc-123"],
            "[a-z]([-a-z0-9]*[a-z0-9])?",
        ));
    }
    problems
}

/// Alphanumeric at both ends, `-_.` between.
fn is_name(text: &str) -> bool {
    let edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    edge(bytes.first())
        && edge(bytes.last())
        && bytes
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn qualified_name(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_string());
            } else {
                problems.extend(
                    dns1123_subdomain(prefix)
                        .into_iter()
                        .map(|p| format!("prefix part {p}")),
                );
            }
            *name
        }
        _ => {
            return vec![regex_problem(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
                 an alphanumeric character with an optional DNS subdomain prefix and '/'",
                &["MyName", "my.name", "123-abc"],
                "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_string());
    } else {
        problems.extend(too_long(name, 63).map(|p| format!("name part {p}")));
    }
    if !is_name(name) {
        problems.push(regex_problem(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
             alphanumeric character",
            &["MyName", "my.name", "123-abc"],
            "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
        ));
    }
    problems
}

fn label_value(text: &str) -> Vec<String> {
    let mut problems: Vec<String> = too_long(text, 63).into_iter().collect();
    if !text.is_empty() && !is_name(text) {
        problems.push(regex_problem(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
             start and end with an alphanumeric character",
            &["MyValue", "my_value", "12345"],
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
        ));
    }
    problems
}

/// Eight, four, four, four and twelve hexadecimal digits; the dashes may be missing.
fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (i, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.split_at_checked(digits) {
            Some((head, tail)) if head.bytes().all(|b| b.is_ascii_hexdigit()) => rest = tail,
            _ => return false,
        }
    }
    rest.is_empty()
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some()
}

/// RFC 3339, also in lower case and without or with a shorter zone.
fn is_datetime(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let complete = if text.ends_with('Z') || text.len() < 20 {
        text.clone()
    } else {
        text.replace(' ', "T")
    };
    Timestamp::parse(&complete).is_some() || Timestamp::parse(&format!("{complete}Z")).is_some()
}
