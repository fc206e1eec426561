//! The lexer against CEL's grammar, as the language definition has it.

use super::tokens::{self, Kind};

/// The tokens of a text, without spaces, up to what is none.
fn cut(text: &str) -> (Vec<&str>, Option<&str>) {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match tokens::next(text, at) {
            Ok((kind, end)) => {
                if kind != Kind::Space {
                    tokens.push(&text[at..end]);
                }
                at = end;
            }
            Err(end) => return (tokens, Some(&text[at..end])),
        }
    }
    (tokens, None)
}

#[test]
fn texts_are_cut_as_the_grammar_says() {
    for (text, tokens) in [
        ("1.5e-3u", vec!["1.5e-3", "u"]),
        ("1u.a", vec!["1u", ".", "a"]),
        ("1.a", vec!["1", ".", "a"]),
        ("1e a", vec!["1", "e", "a"]),
        ("0x1fU 0xg", vec!["0x1fU", "0", "xg"]),
        ("a.5", vec!["a", ".5"]),
        ("a<=b==c!d", vec!["a", "<=", "b", "==", "c", "!", "d"]),
        (r#"r'\' "\"" bR'a\'"#, vec![r"r'\'", r#""\"""#, r"bR'a\'"]),
        ("'''a'b\n''''c'", vec!["'''a'b\n'''", "'c'"]),
        (
            r"'\x4f\101\u00e9\U0001F600\?\`'",
            vec![r"'\x4f\101\u00e9\U0001F600\?\`'"],
        ),
        ("rb'x'", vec!["rb", "'x'"]),
        ("a//b\nc", vec!["a", "//b", "c"]),
        ("`a.b/c-d e`", vec!["`a.b/c-d e`"]),
    ] {
        assert_eq!(cut(text), (tokens, None), "{text}");
    }
}

/// As ANTLR reports it: with the first character that cannot be part of a token.
#[test]
fn what_is_no_token_is_found() {
    for (text, wrong) in [
        ("1 =! 2", "=!"),
        ("a & b", "& "),
        ("a |", "|"),
        ("é", "é"),
        ("'ab\nc'", "'ab\n"),
        ("'ab", "'ab"),
        (r"'a\z'", r"'a\z"),
        (r"'\18'", r"'\18"),
        (r"'\u12é'", r"'\u12é"),
        ("'''a''", "'''a''"),
        ("``", "``"),
        ("#", "#"),
    ] {
        assert_eq!(cut(text).1, Some(wrong), "{text}");
    }
}
