//! RE2's syntax page and Go's parser decide what is right here.

use super::compile;

fn is_match(pattern: &str, text: &str) -> bool {
    compile(pattern)
        .unwrap_or_else(|e| panic!("{pattern}: {e}"))
        .regex
        .is_match(text)
}

#[test]
fn classes_are_ascii() {
    assert!(is_match(r"^\w\d\s$", "a1 "));
    assert!(!is_match(r"^\w$", "é"));
    assert!(is_match(r"^\W$", "é"));
    assert!(!is_match(r"^\d$", "٣"));
    assert!(!is_match(r"^\s$", "\u{a0}"));
    assert!(is_match(r"^[\d\-x]+$", "1-x"));
    assert!(is_match(r"^[^\w]$", "é"));
    assert!(is_match(r"^[[:alpha:]_]+$", "ab_"));
    assert!(is_match(r"^\pL+ . x$", "Zoë ☃ x"));
    assert!(is_match(r"^\p{^Greek}\P{L}$", "a1"));
    assert!(is_match(r"a\b", "é a"));
}

#[test]
fn what_go_takes_literally() {
    for (pattern, text) in [
        ("a{", "a{"),
        ("a{,5}", "a{,5}"),
        ("a{x}", "a{x}"),
        ("]", "]"),
        ("[]a]", "]"),
        ("[a&&b]", "&"),
        ("[[a]", "["),
        ("[a-]", "-"),
        ("[--a]", "a"),
        (r"\Q.*\E", ".*"),
        (r"\_\<", "_<"),
        (r"\x41\x{42}\103", "ABC"),
        ("(?P<n>a)(?<m>b)", "ab"),
        ("(?i)K", "k"),
        ("(?s).", "\n"),
        ("a{2,3}?", "aa"),
        (r"\z|x", ""),
        ("#", "#"),
    ] {
        assert!(
            is_match(&format!("^(?:{pattern})$"), text),
            "{pattern} on {text}"
        );
    }
}

#[test]
fn what_go_refuses() {
    for pattern in [
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        r"(a)\1",
        "a**",
        "a*+",
        "a+??",
        "*a",
        "a|*",
        "(",
        ")",
        "[a",
        "a{1001}",
        "a{2,1}",
        "(a{100}){100}",
        r"\Z",
        r"\u0041",
        r"\k<n>",
        "(?x)a",
        "(?u)a",
        "[b-a]",
        r"\p{Alphabetic}",
        r"\p{sc=Greek}",
        r"a\",
        "(?P<>a)",
        r"\8",
    ] {
        assert!(compile(pattern).is_err(), "{pattern}");
    }
    assert!(compile("a{1000}").is_ok());
    assert!(compile("(a{10}){100}").is_ok());
}

#[test]
fn big_patterns_are_refused() {
    for pattern in [
        r"\pL{1000}",
        "(.{100}){10}.{1000}.{1000}.{1000}.{1000}",
        "((a{10}){10}){11}",
    ] {
        assert!(compile(pattern).is_err(), "{pattern}");
    }
    assert!(compile(r"^\pL{1,64}$").is_ok());
    assert!(compile(r"^(https?://)?[a-z0-9.-]{1,253}(:\d+)?(/.*)?$").is_ok());
}
