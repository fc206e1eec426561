//! What somebody may have meant by a field of another name, or by a quantity with another suffix.

use crate::nearest::distance;

/// Names under which people know a field.
const OTHER_NAMES: [(&str, &str); 3] = [
    ("claims", "resourceClaims"),
    ("toleration", "tolerations"),
    ("scheduler", "schedulerName"),
];

/// The field that was meant: a letter or two are wrong, or the one is the beginning of the other.
pub(super) fn field_meant<'a>(
    name: &str,
    fields: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    const SHORTEST: usize = 3;
    let most = if name.len() < 6 { 1 } else { 2 };
    let nearest = fields
        .clone()
        .min_by_key(|field| distance(name, field))
        .filter(|field| distance(name, field) <= most);
    let begins = |long: &str, short: &str| {
        short.len() >= SHORTEST
            && long
                .get(..short.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(short))
    };
    let alike = fields
        .clone()
        .filter(|field| begins(field, name) || begins(name, field));
    let mut fields = fields;
    nearest
        .or_else(|| alike.min_by_key(|field| field.len()))
        .or_else(|| fields.find(|field| OTHER_NAMES.contains(&(name, field))))
}

/// How a text that is no quantity was probably meant: `1GB` as `1G or 1Gi`.
pub(super) fn quantity_meant(text: &str) -> Option<String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    if number.is_empty() || number.len() > 20 {
        return None;
    }
    let suffix = suffix.trim().to_ascii_lowercase();
    let letters = suffix
        .trim_end_matches("bytes")
        .trim_end_matches("byte")
        .trim_end_matches('b');
    let (decimal, binary) = match letters.trim_end_matches('i') {
        "k" => ("k", "Ki"),
        "m" => ("M", "Mi"),
        "g" => ("G", "Gi"),
        "t" => ("T", "Ti"),
        "p" => ("P", "Pi"),
        "" | "cpu" | "cpus" | "core" | "cores" => return Some(number.to_owned()),
        _ => return None,
    };
    Some(match letters.ends_with('i') {
        true => format!("{number}{binary}"),
        false => format!("{number}{decimal} or {number}{binary}"),
    })
}
