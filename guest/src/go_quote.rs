//! Go's `%q`, which many texts of the plugin use and one patch body must match byte for byte.

/// The text as a Go string literal in double quotes, as `strconv.Quote` writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push(&mut out, c);
    }
    out.push('"');
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
        ' '..='\x7e' => out.push(c),
        _ if is_printable(c) => out.push(c),
        _ if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        _ => out.push_str(&format!("\\U{:08x}", u32::from(c))),
    }
}

/// Letters, marks, numbers, punctuation and symbols. Rust's debug output escapes the same characters; in front of the
/// tested one stands another, because a mark that begins a string would be escaped too.
fn is_printable(c: char) -> bool {
    let pair: String = ['x', c].iter().collect();
    pair.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn escapes_as_go_does() {
        // Expected values follow the documentation of Go's strconv.Quote.
        let cases = [
            ("plain", r#""plain""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\x07\x08\x0c\n\r\t\x0b", r#""\a\b\f\n\r\t\v""#),
            ("\0\x1f\x7f", r#""\x00\x1f\x7f""#),
            ("héllo ☺ 日本", r#""héllo ☺ 日本""#),
            ("e\u{301}", "\"e\u{301}\""),
            ("\u{a0}\u{200b}\u{feff}", r#""\u00a0\u200b\ufeff""#),
            ("\u{85}", r#""\u0085""#),
            ("\u{e0001}\u{10ffff}", r#""\U000e0001\U0010ffff""#),
            ("'", r#""'""#),
        ];
        for (text, expected) in cases {
            assert_eq!(quoted(text), expected);
        }
    }
}
