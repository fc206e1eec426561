//! What might be changed about a selector that refuses devices: the literal or name that comes nearest, a guard against what is
//! not there, the part that was false, or all of it.

use crate::explain::document::{Hint, Reason, Request};
use crate::nearest::meant;
use crate::stand_ins::change::{Change, Specified};

use super::candidates::{Candidate, Class};

/// What a reason suggests, the least first.
pub fn of(of: Specified, request: &Request, reason: &Reason) -> Vec<Candidate> {
    let fails = reason.kind == "request-selector-error";
    let wanted = request.count.map_or(Ok(1), u64::try_from);
    let is_short = request.matching < wanted.unwrap_or_default();
    let index = reason.index.and_then(|index| usize::try_from(index).ok());
    let Some(index) = index.filter(|_| fails || (reason.kind == "request-selector" && is_short))
    else {
        return Vec::new();
    };
    let whole = reason.expression.as_str();
    let part = match reason.part.as_str() {
        "" => whole,
        part => part,
    };
    let change = |expression: Option<String>, part: &str, instead: Option<String>| {
        vec![Change::ChangeSelector {
            of: of.clone(),
            request: request.name.clone(),
            index,
            expression,
            part: part.to_owned(),
            instead,
        }]
    };
    let mut found = Vec::new();
    for Corrected { part, what, with } in
        reason.hints.iter().filter_map(|hint| corrected(part, hint))
    {
        if let Some(expression) = once(whole, &part.0, &part.1) {
            let change = change(Some(expression), &what, Some(with));
            found.push(Candidate::new(Class::Correct, change));
        }
    }
    if part != whole.trim()
        && let Some(expression) = once(whole, part, "true")
    {
        let expression = without_true(&expression);
        found.push(Candidate::new(
            Class::Selector,
            change(Some(expression), part, None),
        ));
    }
    found.push(Candidate::new(Class::Selector, change(None, whole, None)));
    found
}

/// What a hint makes of a part.
#[derive(Debug, PartialEq, Eq)]
struct Corrected {
    /// The part, and what stands in its place.
    part: (String, String),
    /// What is changed of it.
    what: String,
    /// What that is then.
    with: String,
}

/// The part as a hint has it.
fn corrected(part: &str, hint: &Hint) -> Option<Corrected> {
    let nearest = hint.nearest.first().map(String::as_str);
    let replaced = |what: String, with: String| {
        let part = (part.to_owned(), once(part, &what, &with)?);
        Some(Corrected { part, what, with })
    };
    match hint.kind.as_str() {
        "guard" if hint.guard.is_empty() => None,
        "guard" => {
            let with = match part.contains("||") || part.contains('?') {
                true => format!("{} && ({part})", hint.guard),
                false => format!("{} && {part}", hint.guard),
            };
            replaced(part.to_owned(), with)
        }
        // What is wanted may be in single quotes.
        "near-value" => {
            let single = |text: &str| {
                let bare = text.strip_prefix('"')?.strip_suffix('"')?;
                (!bare.contains(['\'', '\\'])).then(|| format!("'{bare}'"))
            };
            let nearest = nearest?;
            replaced(hint.name.clone(), nearest.to_owned()).or_else(|| {
                let instead = single(nearest).unwrap_or_else(|| nearest.to_owned());
                replaced(single(&hint.name)?, instead)
            })
        }
        "unknown-attribute" | "unknown-domain" => {
            let near = meant(&hint.name, nearest.into_iter())?;
            replaced(hint.name.clone(), near.to_owned())
        }
        _ => None,
    }
}

/// With another text for one that is there exactly once, and not within a longer word.
fn once(text: &str, what: &str, instead: &str) -> Option<String> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + what.len()..]);
        let goes_on_before = what.starts_with(of_word) && before.ends_with(of_word);
        let goes_on_after = what.ends_with(of_word) && after.starts_with(of_word);
        !goes_on_before && !goes_on_after
    };
    let mut places = text.match_indices(what).map(|(at, _)| at).filter(is_whole);
    let (at, None) = (places.next()?, places.next()) else {
        return None;
    };
    let (before, after) = (&text[..at], &text[at + what.len()..]);
    (!what.is_empty()).then(|| format!("{before}{instead}{after}"))
}

/// Of a conjunction, without what is always true.
fn without_true(expression: &str) -> String {
    let text = expression.trim();
    let less = text.strip_prefix("true && ");
    let less = less.or_else(|| text.strip_suffix(" && true"));
    less.map_or_else(|| text.replacen(" && true && ", " && ", 1), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_once() {
        assert_eq!(once("a == 'Z'", "'Z'", "'A'"), Some("a == 'A'".to_owned()));
        assert_eq!(
            once("x.modle == modlez", "modle", "model").as_deref(),
            Some("x.model == modlez")
        );
        assert_eq!(once("a == 4 || b == 4", "4", "5"), None);
        assert_eq!(once("a", "b", "c"), None);
        assert_eq!(once("a", "", "c"), None);
    }

    #[test]
    fn parts_are_left_out() {
        for (with, without) in [
            ("true && b", "b"),
            ("a && true", "a"),
            ("a && true && c", "a && c"),
            (
                "cel.bind(d, device, true && b)",
                "cel.bind(d, device, true && b)",
            ),
        ] {
            assert_eq!(without_true(with), without);
        }
    }

    #[test]
    fn hints_become_expressions() {
        let hint = |kind: &str, name: &str, nearest: &str, guard: &str| Hint {
            kind: kind.to_owned(),
            name: name.to_owned(),
            nearest: vec![nearest.to_owned()],
            guard: guard.to_owned(),
        };
        let becomes = |part: &str, hint: &Hint| corrected(part, hint).map(|found| found.part.1);
        let near = hint("near-value", "\"Z\"", "\"A\"", "");
        assert_eq!(becomes("m == 'Z'", &near).as_deref(), Some("m == 'A'"));
        assert_eq!(becomes("m == \"Z\"", &near).as_deref(), Some("m == \"A\""));
        let number = hint("near-value", "\"4\"", "4", "");
        assert_eq!(becomes("m == '4'", &number).as_deref(), Some("m == 4"));
        let name = hint("unknown-attribute", "modle", "model", "");
        assert_eq!(
            becomes("d.modle == 'Z'", &name).as_deref(),
            Some("d.model == 'Z'")
        );
        // What is not near is another attribute.
        let other = hint("unknown-attribute", "modle", "cores", "");
        assert_eq!(becomes("d.modle == 'Z'", &other), None);
        let guard = hint("guard", "", "", "has(d.m)");
        assert_eq!(
            becomes("d.m == 1", &guard).as_deref(),
            Some("has(d.m) && d.m == 1")
        );
        assert_eq!(
            becomes("d.m == 1 || true", &guard).as_deref(),
            Some("has(d.m) && (d.m == 1 || true)")
        );
    }
}
