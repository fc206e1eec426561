//! Just enough of Rust's syntax for the rules: comments, the part of a file that ships, functions, paths into `std`.
//!
//! All of it relies on rustfmt's layout, which the continuous integration enforces.

/// The text without comments. Line numbers stay.
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        // Two slashes inside a string are an address: a comment has a space or nothing before it.
        let comment = match line.trim_start().starts_with("//") {
            true => Some(0),
            false => line.find(" // "),
        };
        code.push_str(&line[..comment.unwrap_or(line.len())]);
        code.push('\n');
    }
    code
}

/// The text before the tests at its end.
pub fn shipped(text: &str) -> &str {
    text.find("\n#[cfg(test)]")
        .map_or(text, |end| &text[..=end])
}

/// Numbers (from 1) of the lines that contain a word, which is not part of a longer one.
pub fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let named = |(_, line): &(usize, &str)| contains_word(line, word);
    text.lines()
        .enumerate()
        .filter(named)
        .map(|(index, _)| index + 1)
        .collect()
}

fn contains_word(line: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    let open = |side: Option<char>, edge: Option<char>| {
        !(side.is_some_and(part) && edge.is_some_and(part))
    };
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        open(before, word.chars().next()) && open(after, word.chars().next_back())
    })
}

/// The modules of the standard library that a text names, `use std::{a, b::c}` included.
pub fn std_modules(code: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for (start, _) in code.match_indices("std::") {
        let rest = &code[start + "std::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => modules.extend(top_level(group)),
            None => modules.push(identifier(rest)),
        }
    }
    modules
}

/// The first identifier of each item of a group whose opening brace was just read.
fn top_level(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut items = vec![String::new()];
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(String::new()),
            _ if depth == 0 => items.last_mut().expect("never empty").push(character),
            _ => {}
        }
    }
    items
        .iter()
        .map(|item| identifier(item.trim()))
        .filter(|name| !name.is_empty())
        .collect()
}

fn identifier(text: &str) -> String {
    text.chars()
        .take_while(|character| character.is_alphanumeric() || *character == '_')
        .collect()
}

/// Name and number of lines of each function.
pub fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let body = lines[start..]
            .iter()
            .position(|line| *line == end || declaration_or_one_liner(line, indent));
        functions.push((name, body.map_or(lines.len() - start, |length| length + 1)));
    }
    functions
}

/// A line at the function's own depth that ends it: `fn f();` or `fn f() {}`.
fn declaration_or_one_liner(line: &str, indent: &str) -> bool {
    let own_depth = line
        .strip_prefix(indent)
        .is_some_and(|rest| !rest.starts_with(' '));
    own_depth && (line.ends_with(';') || line.ends_with('}'))
}

fn function_name(line: &str) -> Option<String> {
    const BEFORE: [&str; 7] = [
        "pub",
        "pub(crate)",
        "pub(super)",
        "const",
        "async",
        "unsafe",
        "fn",
    ];
    let (head, rest) = line.trim_start().split_once("fn ")?;
    let plain = head.split_whitespace().all(|word| BEFORE.contains(&word));
    plain
        .then(|| identifier(rest))
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_addresses_stay() {
        assert_eq!(code("a // b\n/// c\n\"d://e\"\n"), "a\n\n\"d://e\"\n");
    }

    #[test]
    fn tests_do_not_ship() {
        assert_eq!(shipped("a\n#[cfg(test)]\nmod tests;\n"), "a\n");
        assert_eq!(shipped("a\n"), "a\n");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(lines_with("Host\nHosts\nxHost\n(Host)", "Host"), [1, 4]);
        assert_eq!(lines_with("x.y\nax.yb", "x.y"), [1]);
    }

    #[test]
    fn std_modules_are_found_in_groups() {
        let code = "use std::{fmt, fs::File, collections::{BTreeMap, net}};\nstd::env::var";
        assert_eq!(std_modules(code), ["fmt", "fs", "collections", "env"]);
    }

    #[test]
    fn functions_are_measured() {
        let text = "fn a() {}\nimpl X {\n    pub(crate) const fn b(\n        x: u8,\n    ) -> u8 {\n        x\n    }\n    fn c();\n}\nlet fn_ = 1;\n";
        let expected = [("a", 1), ("b", 5), ("c", 1)].map(|(name, lines)| (name.to_owned(), lines));
        assert_eq!(functions(text), expected);
    }
}
