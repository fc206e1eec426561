//! Which object a text was to be that cannot be parsed, from its lines.

/// Kind, namespace and name, as far as lines say them; empty where none does.
pub(super) fn header(text: &str) -> (&str, &str, &str) {
    let (mut kind, mut namespace, mut name) = ("", "", "");
    let mut in_metadata = false;
    for line in text.lines() {
        let is_top = !line.starts_with([' ', '\t', '-', '#', '}']);
        let Some((key, value)) = line.trim().split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'', ',']);
        let key = key.trim_matches('"');
        match (is_top, key) {
            (true, "kind") => kind = value,
            (true, "metadata") => {
                in_metadata = true;
                name = in_braces(value, "name");
                namespace = in_braces(value, "namespace");
            }
            (true, _) => in_metadata = false,
            (false, "name") if in_metadata && name.is_empty() => name = value,
            (false, "namespace") if in_metadata && namespace.is_empty() => namespace = value,
            _ => {}
        }
    }
    // Kinds are words; anything else is part of what is wrong.
    match kind.bytes().all(|c| c.is_ascii_alphanumeric()) && !kind.is_empty() {
        true => (kind, namespace, name),
        false => ("", "", ""),
    }
}

/// The value of a key in `{key: value, ...}`.
fn in_braces<'t>(text: &'t str, key: &str) -> &'t str {
    let pieces = text.split(['{', '}', ',']);
    let pairs = pieces.filter_map(|piece| piece.split_once(':'));
    let trimmed = |text: &'t str| text.trim().trim_matches(['"', '\'']);
    let mut values = pairs.filter(|(other, _)| trimmed(other) == key);
    values.next().map_or("", |(_, value)| trimmed(value))
}
