//! Short texts: limits, quantities, node selectors, and which name is nearest to another.

use crate::api::{Attribute, NodeSelector, NodeSelectorRequirement};
use crate::nearest::edit_distance;
use crate::status::Code;

/// Longest name or value in an answer, in bytes.
const LONGEST_NAME: usize = 320;
/// Longest text of an error.
const LONGEST_MESSAGE: usize = 2_048;
/// Longest expression, which is upstream's limit.
const LONGEST_EXPRESSION: usize = 10 * 1024;
/// Names that are told as the nearest ones.
const NEAREST: usize = 4;
/// Names that are compared at most.
const COMPARED: usize = 1_024;
/// Longest names that are compared.
const LONGEST_COMPARED: usize = 256;
/// One unit of a quantity.
const UNIT: i128 = 1_000_000_000;

/// A name or value.
pub fn name(text: &str) -> String {
    shortened(text, LONGEST_NAME)
}

/// The text of an error.
pub fn message(text: &str) -> String {
    shortened(text, LONGEST_MESSAGE)
}

/// An expression.
pub fn expression(text: &str) -> String {
    shortened(text, LONGEST_EXPRESSION)
}

fn shortened(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let mut end = longest - 3;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

/// As the contract spells it.
pub fn code(code: Code) -> &'static str {
    match code {
        Code::Success => "success",
        Code::Error => "error",
        Code::Unschedulable => "unschedulable",
        Code::UnschedulableAndUnresolvable => "unschedulable-and-unresolvable",
        Code::Skip => "skip",
        Code::Pending => "pending",
        Code::InvalidObject => "invalid-object",
    }
}

/// A quantity, given in billionths.
pub fn quantity(billionths: i128) -> String {
    if billionths % UNIT != 0 {
        let (whole, rest) = (billionths / UNIT, (billionths % UNIT).abs());
        let sign = if billionths < 0 && whole == 0 {
            "-"
        } else {
            ""
        };
        let text = format!("{sign}{whole}.{rest:09}");
        return text.trim_end_matches('0').to_owned();
    }
    let units = billionths / UNIT;
    let suffixes = [("Ei", 60), ("Pi", 50), ("Ti", 40), ("Gi", 30), ("Mi", 20)];
    for (suffix, shift) in suffixes {
        if units != 0 && units % (1 << shift) == 0 {
            return format!("{}{suffix}", units >> shift);
        }
    }
    units.to_string()
}

/// An attribute's value as CEL writes it.
pub fn value(value: &Attribute) -> String {
    let one = |value: &Attribute| {
        crate::allocator::survey::text_of(value).unwrap_or_else(|| "of unknown kind".to_owned())
    };
    name(&match value {
        Attribute::List(values) => {
            let values: Vec<String> = values.iter().take(NEAREST * 4).map(one).collect();
            format!("[{}]", values.join(", "))
        }
        other => one(other),
    })
}

/// A node selector: `key in [a, b] and other exists or third notin [c]`.
pub fn selector(selector: &NodeSelector) -> String {
    let requirement = |requirement: &NodeSelectorRequirement| {
        let NodeSelectorRequirement {
            key,
            operator,
            values,
        } = requirement;
        match operator.as_str() {
            "In" | "NotIn" => format!("{key} {} [{}]", operator.to_lowercase(), values.join(", ")),
            "Exists" => format!("{key} exists"),
            "DoesNotExist" => format!("{key} does not exist"),
            _ => format!("{key} {operator} {}", values.join(", ")),
        }
    };
    let terms = selector.terms.iter().map(|term| {
        let all = term.match_expressions.iter().chain(&term.match_fields);
        let all: Vec<String> = all.map(requirement).collect();
        match all.is_empty() {
            true => "nothing".to_owned(),
            false => all.join(" and "),
        }
    });
    let terms: Vec<String> = terms.collect();
    match terms.is_empty() {
        true => "nothing".to_owned(),
        false => name(&terms.join(" or ")),
    }
}

/// Those that are nearest to a name, the nearest first.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names = names
        .take(COMPARED)
        .filter(|name| name.len().max(wanted.len()) <= LONGEST_COMPARED);
    let mut rated: Vec<(usize, &str)> = names
        .map(|name| (edit_distance(wanted, name), name))
        .collect();
    rated.sort_unstable();
    rated.dedup();
    rated
        .into_iter()
        .take(NEAREST)
        .map(|(_, text)| name(text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (billionths, text) in [
            (0, "0"),
            (3 * UNIT, "3"),
            (1024 * UNIT, "1024"),
            ((40 << 30) * UNIT, "40Gi"),
            ((1536 << 20) * UNIT, "1536Mi"),
            (500_000_000, "0.5"),
            (-500_000_000, "-0.5"),
            (2_250_000_000, "2.25"),
        ] {
            assert_eq!(quantity(billionths), text);
        }
    }

    #[test]
    fn nearest_names() {
        let names = ["model", "memory", "Family", "cores"];
        let nearest = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(nearest("modle")[0], "model");
        assert_eq!(nearest("family")[0], "Family");
        assert_eq!(nearest("core")[0], "cores");
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let text = name(&"é".repeat(400));
        assert!(
            text.len() <= LONGEST_NAME && text.ends_with("é..."),
            "{text}"
        );
    }
}
